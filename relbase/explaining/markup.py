"""Text of a document as text of a page: nothing in it is markup, and all of it can be seen."""

from __future__ import annotations

import re
from html import escape
from typing import Final, NamedTuple

from relbase.bases.layers import Base, Layer

# What changes how text around it is read, or what cannot be seen: controls, formats (bidirectional
# overrides among them), lone surrogates, private use, line and paragraph separators.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffc\U000e0000-\U000e0fff]+"
)

# A URL may be as long as its document.
_LONG: Final = 2_000


def text(value: str) -> str:
    r"""Return a text as markup: escaped, and what cannot be seen as escapes in a `<span>`."""
    escaped = escape(value, quote=False).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub(lambda found: f'<span class="u">{_code(found)}</span>', escaped)


def attribute(value: str) -> str:
    """Return a text as the value of an attribute in double quotes."""
    return escape(_UNSEEN.sub(_code, value)).replace("\n", " ")


def _code(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def url(value: str) -> str:
    """Return a URL as markup: never a link, `""` when it is empty, cut when it is very long."""
    if not value:
        return '<code class="url empty">""</code>'
    more = len(value) - _LONG
    rest = f" <small>and {more:,} characters more</small>" if more > 0 else ""
    return f'<code class="url">{text(value[:_LONG])}</code>{rest}'


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class Shown(NamedTuple):
    """How a layer of RFC 1808 §3 is shown."""

    name: str  # of its CSS class, which also puts a sign before each of its references
    section: str  # of RFC 1808
    title: str  # as the figure of §3 has it
    missing: str  # what is said where nothing states a base in it


_CONTENT: Final = "Base URL embedded in the document's content"
_ENTITY: Final = "Base URL of the encapsulating entity"
_RETRIEVAL: Final = "URL used to retrieve the entity"

SHOWN: Final = {
    Layer.EMBEDDED: Shown("embedded", "3.1", _CONTENT, "the document states none"),
    Layer.ENTITY: Shown("entity", "3.2", _ENTITY, "no header around it states one"),
    Layer.RETRIEVAL: Shown("retrieval", "3.3", _RETRIEVAL, "it is not known"),
    Layer.NONE: Shown("none", "3.4", 'Base URL = "" (undefined)', ""),
}


def badge(base: Base) -> str:
    """Return the sign of the layer that states a base."""
    shown = SHOWN[base.layer]
    return f'<span class="badge {shown.name}">{shown.section}</span>'
