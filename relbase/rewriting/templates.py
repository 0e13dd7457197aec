"""References with placeholders of a template, where they were made absolute: that is said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.edit import Span
from relbase.notes import Note, Reason
from relbase.policy import is_template

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relbase.edit import Edit

# What an opening of a placeholder is, as `policy.is_template` has them.
_OPENING: Final = rb"(?:\{[{%!]|[$\#]\{|<[%?]|%%|\*\||\[\[|%7[Bb]%7[Bb])"
# From behind an edit on: the rest of the reference, up to an opening.
_opens: Final = re.compile(
    rb"(?:[^\0-\x20\"'<>{%%$\#*\[]++|(?!%b)[{%%$\#*\[])*+%b" % (_OPENING, _OPENING)
).match
_rest: Final = re.compile(rb"[^\"'>\r\n]{0,2048}+").match


def template_note(data: bytes, edits: Iterable[Edit]) -> Note | None:
    """Return a note on references with placeholders among those that were changed, if any were.

    What is encoded (base64, character references) is not looked into.

    Args:
        data: the input.
        edits: of it.
    """
    found = [edit for edit in edits if _opens(data, edit.end) and _is_template(data, edit.end)]
    if not found:
        return None
    references = "a reference with a placeholder of a template was"
    if len(found) > 1:
        references = f"{len(found)} references with placeholders of a template were"
    text = (
        f"{references} made absolute: where another program is still to fill them in, keep them by "
        "the policy keep_templates (--keep-templates)"
    )
    return Note(Reason.REFERENCE_TEMPLATE, "", Span(found[0].start, found[0].end), text)


def _is_template(data: bytes, at: int) -> bool:
    rest = _rest(data, at)
    return rest is not None and is_template(rest[0].decode("latin-1"))
