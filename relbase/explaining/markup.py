"""Texts and bases of a document as markup in which nothing can run, and nothing is invisible."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, NamedTuple

from relbase.bases.layers import Base, Layer, outward
from relbase.containers.header_fields import States
from relbase.containers.known_fields import bases
from relbase.expressions import regex
from relbase.notes import Note
from relbase.results import Entity, Link
from relbase.rewriting.outcomes import Status

# Characters that are invisible, or change how the text around them is shown: controls, formats
# (such as bidirectional overrides and tags), lone surrogates, line and paragraph separators.
_UNSEEN: Final = regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffc\U000e0000-\U000e0fff]+"
)

# In characters: a URL may be as long as its document.
_LONG: Final = 2_000


def text(value: str) -> str:
    r"""Return a text as markup, with invisible characters as escapes in a `<span>`."""
    escaped = escape(value, quote=False).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub(lambda match: f'<span class="u">{_code(match)}</span>', escaped)


def attribute(value: str) -> str:
    """Return a text as the value of an attribute in double quotes."""
    return escape(_UNSEEN.sub(_code, value)).replace("\n", " ")


def _code(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


def url(value: str) -> str:
    """Return a URL as markup: never a link, `""` when it is empty, cut when it is very long."""
    if not value:
        return '<code class="url empty">""</code>'
    more = len(value) - _LONG
    rest = f" <small>and {more:,} characters more</small>" if more > 0 else ""
    return f'<code class="url">{text(value[:_LONG])}</code>{rest}'


def counted(number: int, singular: str, plural: str = "") -> str:
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


class Shown(NamedTuple):
    section: str  # of RFC 1808
    title: str  # as the figure of §3 has it
    missing: str  # what to say if nothing in this layer states a base


_CONTENT: Final = "Base URL embedded in the document's content"
_ENTITY: Final = "Base URL of the encapsulating entity"
_RETRIEVAL: Final = "URL used to retrieve the entity"

SHOWN: Final = {
    Layer.EMBEDDED: Shown("3.1", _CONTENT, "the document states none"),
    Layer.ENTITY: Shown("3.2", _ENTITY, "no header around it states one"),
    Layer.RETRIEVAL: Shown("3.3", _RETRIEVAL, "unknown"),
    Layer.NONE: Shown("3.4", 'Base URL = "" (undefined)', ""),
}


def badge(base: Base) -> str:
    return f'<span class="badge {base.layer.value}">{SHOWN[base.layer].section}</span>'


# ---- The nested boxes of RFC 1808 §3, as its figure draws them: each has its label below its
# content. A document is drawn with all layers; a message with its parts, each with the bases that
# it states.

# A mailbox may have very many parts. Nobody can read that many, so the rest is only counted.
MAX_DRAWN: Final = 1_000

_OUTSIDE: Final = (Layer.RETRIEVAL, Layer.NONE)


def boxes(entities: Sequence[Entity], links: Iterable[Link]) -> str:
    counts: dict[str, Counter[Status]] = defaultdict(Counter)
    for link in links:
        counts[link.part][link.status] += 1
    outermost = entities[0]
    if len(entities) == 1:
        inner = f'<p class="leaf">{text(outermost.type)}: {summed(counts[outermost.part])}</p>'
        return _layers(outermost.base, inner, tuple(SHOWN), outermost.base)
    around = [base for base in outward(outermost.base) if base.layer in _OUTSIDE]
    inner = _drawn(entities[:MAX_DRAWN], set(map(_key, around)), counts)
    if len(entities) > MAX_DRAWN:
        inner += f"<p>{counted(len(entities) - MAX_DRAWN, 'more part')} not drawn here.</p>"
    return _layers(around[0] if around else None, inner, _OUTSIDE, outermost.base)


def summed(counts: Counter[Status]) -> str:
    if not counts:
        return "no references"
    each = ", ".join(f"{counts[status]:,} {status.value}" for status in Status if counts[status])
    return f"{counted(counts.total(), 'reference')}: {each}"


def _layers(base: Base | None, inner: str, layers: Sequence[Layer], deciding: Base) -> str:
    """The boxes of the layers around `inner`, the innermost layer first."""
    stated = [*outward(base)]
    refused = [note for statement in stated for note in statement.refused]
    for layer in layers:
        notes = [note for note in refused if _layer_of(note) is layer]
        own = [statement for statement in stated if statement.layer is layer]
        for statement in own or (None,):
            inner = _box(layer, inner, statement, notes, decides=statement is deciding)
            notes = []
    return inner


def _box(
    layer: Layer, inner: str, base: Base | None, refused: Sequence[Note], *, decides: bool
) -> str:
    shown = SHOWN[layer]
    body = '<p class="verdict">Decides for everything inside</p>' if decides else ""
    if base is None:
        missing = "no statement here counts" if refused else shown.missing
        body += f'<p class="quiet">{missing}</p>' if missing else ""
    elif layer is not Layer.NONE:
        body += f"<p>{url(base.url)}</p><p>{text(base.source)}</p>"
    state = " decides" if decides else "" if base else " missing"
    return (
        f'<div class="box {layer.value}{state}" role="group" '
        f'aria-label="{attribute(f"({shown.section}) {shown.title}")}">'
        f'{inner}<div class="about"><p class="label"><span class="section">{shown.section}</span> '
        f"{text(shown.title)}</p>{body}{_refused(refused)}</div></div>"
    )


def _refused(notes: Iterable[Note]) -> str:
    return "".join(f'<p class="refused">Refused: {text(note.text)}</p>' for note in notes)


_HEADERS: Final = frozenset(row.name for row in bases(States.MAIL))


def _layer_of(note: Note) -> Layer:
    """The layer that a refused statement belongs to, by the source that its text begins with."""
    source = note.text.partition(": ")[0]
    if source.startswith(("<", "xml:base")):
        return Layer.EMBEDDED
    # Sources of marks contain " of ", too: "the mark of a browser", "HostUrl of Zone.Identifier".
    return Layer.ENTITY if source.partition(" of ")[0] in _HEADERS else Layer.RETRIEVAL


def _key(base: Base) -> tuple[str, str]:
    # Without the layer: a header's base is §3.1 for the message, and §3.2 for the parts inside.
    return base.url, base.source


# ---- the parts of a message, the messages of a mailbox

# Names of entities that have parts, by the first half of their type.
_WHOLE: Final = {"message": "The message", "multipart": "The message", "application": "The mailbox"}


def _drawn(
    entities: Sequence[Entity], shown: set[tuple[str, str]], counts: dict[str, Counter[Status]]
) -> str:
    """The boxes of a message and its parts; `shown` are the bases of the boxes around it.

    It does not recurse, since parts nest deeper than Python's calls can.
    """
    around = _around(entities)
    known: list[set[tuple[str, str]]] = []
    own: list[list[Base]] = []
    for index, entity in enumerate(entities):
        before = known[around[index]] if index else shown
        own.append([base for base in outward(entity.base) if _key(base) not in before])
        known.append(before | set(map(_key, own[-1])))
    inner: list[list[str]] = [[] for _ in entities]  # the last one first
    for index in range(len(entities) - 1, 0, -1):
        inner[around[index]].append(_part(entities[index], own[index], inner[index], counts))
    return _part(entities[0], own[0], inner[0], counts)


def _around(entities: Sequence[Entity]) -> list[int]:
    """The index of the nearest part around each: of "3/1.2" that is "3/1", "3" or "".

    A multipart, or a message in base64, has the number of the part that holds it.
    """
    known: dict[str, int] = {}
    numbers: list[int] = []
    for index, entity in enumerate(entities):
        number = entity.part
        while number and number not in known:
            number = number[: max(number.rfind("."), number.rfind("/"), 0)]
        numbers.append(known.get(number, 0))
        known[entity.part] = index
    return numbers


def _part(
    entity: Entity, own: Sequence[Base], boxes: Sequence[str], counts: dict[str, Counter[Status]]
) -> str:
    inner = "".join(reversed(boxes)) or f'<p class="leaf">{summed(counts[entity.part])}</p>'
    refused = [note for note in entity.base.refused if note.part == entity.part]
    for base in own:
        if base.layer is not Layer.NONE:
            inner = _box(base.layer, inner, base, refused, decides=base is own[0])
            refused = []
    if not own:
        same = '<p class="quiet">Same base as the enclosing box.</p>'
        inner += f"{_refused(refused)}{same}"
    major = entity.type.partition("/")[0]
    name = f"Part {entity.part}" if entity.part else _WHOLE.get(major, "The document")
    return (
        f'<div class="part" role="group" aria-label="{attribute(name)}">'
        f'<p class="name">{text(name)} <small>{text(entity.type)}</small></p>{inner}</div>'
    )
