"""How destinations are written: backslash escapes and character references (CommonMark §2.4, §2.5).

New text changes no structure, wherever the link stands. A character that could end something that
begins before it (a code span, a tag, a cell of a table) is encoded, and so is each line end.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from markdown_it.common.utils import unescapeAll

from relbase.expressions import expression
from relbase.view.characters import encode_inner
from relbase.view.runs import Run, RunView

if TYPE_CHECKING:
    import re


def destination_view(raw: bytes, *, in_brackets: bool) -> RunView:
    """Return the view of a destination, without its angle brackets."""
    return RunView(raw, _escapes, partial(spelled, in_brackets=in_brackets), _joins)


_escape: Final = expression(
    rb"\\[!-/:-@\[-`{-~]|&(?:#[Xx][0-9A-Fa-f]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});|\0"
)


def _escapes(raw: bytes) -> Iterator[Run]:
    for escape in _escape.finditer(raw):
        meant = encode_inner(unescapeAll(escape[0].decode().replace("\0", "\ufffd")))
        if meant != escape[0]:
            yield Run(escape.start(), escape.end(), meant)


def _joins(raw: bytes, at: int) -> int:
    """Return where text begins that new text may combine with: a backslash, `&am`."""
    begun = _begun.search(raw, 0, at)
    return begun.start(1) if begun else at


_begun: Final = expression(rb"(?<!\\)(?:\\\\)*+(\\|&\#?[A-Za-z0-9]*+)\Z")


_bare: Final = expression(rb"""[\0-\x20"'()<>\\`|\x7f]|&(?=\#?[A-Za-z0-9]*+(?:;|\Z))""")
_angle: Final = expression(rb"""[\0-\x20"'<>\\`|\x7f]|&(?=\#?[A-Za-z0-9]*+(?:;|\Z))""")


def spelled(new: bytes, *, in_brackets: bool) -> bytes:
    return (_angle if in_brackets else _bare).sub(_replaced, new)


def _replaced(match: re.Match[bytes]) -> bytes:
    character = match[0]
    if character in b"()\\":
        return b"\\" + character
    return b"&#%d;" % character[0] if character in b"&'<>`|" else b"%%%02X" % character[0]


def in_tag(new: bytes) -> bytes:
    """Return new text of an attribute, if its tag stands in a paragraph or a cell of a table."""
    return _unsafe_in_tag.sub(lambda match: b"&#%d;" % match[0][0], new)


_unsafe_in_tag: Final = expression(rb"['`|]")
