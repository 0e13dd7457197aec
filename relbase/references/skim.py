"""Skimming: one regex that passes over the HTML tokens that hold nothing to rewrite.

Strategy: most tokens of a page are end tags, or tags without an attribute that holds a reference,
or with absolute references only. One loop within the regex passes over such tokens and the text
between them (`skim_tokens`). It ends in front of anything else: a tag whose one reference has a
plain `Shape`, so that its edit is known without a look at it; a style sheet; or just a place. There
the tag is read value by value (`skim_tags`), or `html` goes on with the exact tokenizer.

To mind: what a failed arm has read is no more than what the exact tokenizer then passes in one go,
so that the time stays linear.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit
from relbase.references.bytesets import all_but
from relbase.references.foreign import HTML
from relbase.references.plain import BEGINNINGS, RFC, WHATWG, Plain, in_brackets, one_url
from relbase.references.shapes import DOTS, MAX_UP, SAMPLES, Shape
from relbase.references.skim_css import read_sheet
from relbase.references.skim_names import Watched, plain, watched
from relbase.references.skim_reading import Reading
from relbase.references.skim_rows import SPECIAL, names_of
from relbase.references.skim_tags import read_tag
from relbase.references.skim_tokens import (
    SCRIPT,
    TAG_CLOSE,
    TAG_NAME,
    boring_attribute,
    passed,
    passed_over,
    style_tag,
)
from relbase.references.tags import WS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from relbase.references.shapes import Becomes, Keeps, Skim


# The last group of a plain reference: `../`, as often as it stands there.
_LAST_GROUP: Final = Shape.HERE + 1
# The group of the tag of a style sheet; after it come those of a style attribute.
_STYLE_GROUP: Final = _LAST_GROUP + 1

# So many edits are handed over at once: a list of all would outgrow a hostile document.
_BATCH: Final = 4096


def _either(frequent: Iterable[bytes], names: Iterable[bytes], fenced: Iterable[bytes]) -> bytes:
    """Names, those first that are frequent; in lower case, as they most often are.

    Those that are fenced have no value that begins with `#`.
    """
    order = dict.fromkeys(name for name in frequent if name in names)
    arms = (
        name + _NO_FRAGMENT if name in fenced else name
        for name in dict.fromkeys([*order, *sorted(names)])
    )
    return b"|".join(arms) or rb"(?!)"


_NO_FRAGMENT: Final = (
    rb"(?!(?:[^>\"'=]++|=" + WS + rb"*+(?![\"']?\#)(?:\"[^\"]*+\"|'[^']*+'|)|[\"'])*+="
    + WS + rb"*+[\"']?\#)"
)  # fmt: skip


# The elements with plain references in real pages, the most frequent first.
_LINKING: Final = (b"img", b"a", b"link", b"form")


def _plain_elements(attribute: bytes, *, extended: bool) -> tuple[bytes, bytes]:
    """The elements with a plain reference in an attribute: with `empty` ones, and others."""
    found = plain(attribute, extended=extended)
    return (
        _either(_LINKING, found.empty - SPECIAL, found.fenced),
        _either(_LINKING, found.others - SPECIAL, found.fenced),
    )


def _simple(shapes: Plain, quote: bytes, html: Watched, *, dots: bool, extended: bool) -> bytes:
    """A tag with one reference, of a plain shape: dot segments at its start only."""
    href_empty, href = _plain_elements(b"href", extended=extended)
    _, src = _plain_elements(b"src", extended=extended)
    _, action = _plain_elements(b"action", extended=extended)
    texts = plain(b"src", extended=extended).others
    raw = b"|".join(
        [SCRIPT if b"script" in texts else rb"(?!)", *([b"iframe"] if b"iframe" in texts else [])]
    )
    before = rb"(?:" + WS + rb"++(?:" + boring_attribute(html) + rb"))*+"
    rest = shapes.rest
    segment = rb"(?![\"'/.?#;-])(?:" + shapes.segment + rb")*+"
    # A name ends where white space begins.
    return (
        rb"(?:(" + href_empty + rb")|(" + src + rb"|(" + raw + rb"))|(" + action + rb")|(?:" + href
        + rb"))(?=" + WS + rb")" + before
        + WS + rb"++(?(2)src|(?(4)action|href))=(" + quote + rb")(?![\t\n\f\r >])(?:"
        rb"/()(?![/.])" + rest
        + rb"|#()" + rest
        + rb"|\?()(?![\"'#\t\n\f\r >])" + rest
        + rb"|" + shapes.network + rb"()" + rest
        + rb"|()" + segment + rb"(?!:)" + rest
        + rb"|(?(1)(?<=[\"'])()|(?!))|"
        + (rb"(?:()\./|((?:\.\./){1,%d}+))(?:(?=\5)|" % MAX_UP if dots else rb"(?!)()()(?:")
        + segment + rb"(?!:)" + rest + rb")"
        rb")\5" + passed(html) + TAG_CLOSE + rb"(?(3)[^<]*+</\3>)"
    )  # fmt: skip


# As many groups, none of which ever matches.
_NO_SIMPLE: Final = rb"(?!)" + rb"()" * _LAST_GROUP


def skimming(
    becomes: Becomes,
    *,
    whatwg: bool,
    unquoted: bool = False,
    in_css: bool = False,
    ascii_stands: bool = False,
    extended: bool = False,
    keeps: Keeps | None = None,
) -> Skim:
    """Return the way to the next place that has to be looked at."""
    insertions = all(becomes[shape] is not None for shape in SAMPLES)
    dots = insertions and all(becomes[shape] is not None for shape in DOTS)
    pattern = _pattern(
        insertions=insertions,
        whatwg=whatwg,
        unquoted=unquoted,
        dots=dots,
        in_css=dots and in_css,
        extended=extended,
    )
    names = names_of(extended=extended)
    reading = Reading(becomes, keeps, whatwg, unquoted, in_css, ascii_stands, names)
    return partial(_skim, pattern.finditer, reading, _from_groups(becomes))


# What stands before the group of a shape: an arm that begins with a byte is tried there alone.
_BEFORE: Final[Mapping[int, int]] = {
    Shape.ROOT: 1,
    Shape.FRAGMENT: 1,
    Shape.QUERY: 1,
    Shape.NETWORK: 2,
}


def _from_groups(becomes: Becomes) -> Becomes:
    """What becomes of references, in offsets of the groups of their shapes."""
    return tuple(
        edit and (edit[0] - _BEFORE.get(shape, 0), edit[1] - _BEFORE.get(shape, 0), edit[2])
        for shape, edit in enumerate(becomes)
    )


@cache
def _pattern(
    *, insertions: bool, whatwg: bool, unquoted: bool, dots: bool, in_css: bool, extended: bool
) -> re.Pattern[bytes]:
    html = watched(HTML, extended=extended)
    quote = rb"[\"']?" if unquoted else rb"[\"']"
    shapes = WHATWG if whatwg else RFC
    simple = _NO_SIMPLE
    if insertions:
        simple = _simple(shapes, quote, html, dots=dots, extended=extended)
    return re.compile(
        rb"[^<]*+(?:<(?:" + passed_over(extended=extended) + rb")[^<]*+)*+(?:<(?:" + simple
        + rb"|" + style_tag(extended=extended)
        + (rb"|" + _styled(html, whatwg=whatwg) if in_css else b"") + rb")|)"
    )  # fmt: skip


def _styled(html: Watched, *, whatwg: bool) -> bytes:
    """A tag with one reference, in a style attribute."""
    # The first of a name counts: no style is passed over before it.
    before = passed(html._replace(css=frozenset()))
    return (
        TAG_NAME + before + WS + rb"++(?:" + (b"|".join(sorted(html.css)) or rb"(?!)") + rb")=\""
        + one_url(whatwg=whatwg) + rb"\"" + passed(html) + TAG_CLOSE
    )  # fmt: skip


def _skim(  # noqa: C901, PLR0912, PLR0917 (one loop over what the expression stops at)
    finditer: Callable[[bytes, int, int], Iterator[re.Match[bytes]]],
    reading: Reading,
    placed: Becomes,
    text: bytes,
    pos: int,
    end: int,
    _in_noscript: bool = False,  # noqa: FBT001, FBT002 (there are no noscript elements in one,
    _in_comment: bool = False,  # noqa: FBT001, FBT002  nor whole comments in a comment)
) -> tuple[list[Edit], int]:
    becomes, keeps = reading.becomes, reading.keeps
    batch: list[Edit] = []
    while len(batch) < _BATCH:
        for found in finditer(text, pos, end):
            shape = found.lastindex
            if shape is None:
                at = found.end()
                if at == end:
                    return batch, -1
                pos = read_tag(text, at, end, reading, batch)
                if pos < 0:
                    return batch, at
                break
            at = found.start(shape)
            if shape > _STYLE_GROUP:
                edit = becomes[BEGINNINGS[found[shape]]]
                assert edit is not None
                if edit and not (keeps and keeps(in_brackets(text[at : found.end()]))):
                    batch.append(Edit(at + edit[0], at + edit[1], edit[2]))
                    if len(batch) == _BATCH:
                        return batch, found.end()
                continue
            if shape == _STYLE_GROUP:
                pos = read_sheet(text, at + len(b"style"), found.end(), end, reading, batch)
                if pos < 0:
                    return batch, at - 1
                break
            if shape == _LAST_GROUP:
                shape += (found.end(shape) - at) // len("../") - 1
            edit = placed[shape]
            if edit and not (
                keeps and keeps(_value(text, at - _BEFORE.get(shape, 0), found.end()))
            ):
                batch.append(tuple.__new__(Edit, (at + edit[0], at + edit[1], edit[2])))
                if len(batch) == _BATCH:
                    return batch, found.end()
    return batch, pos


_unquoted_value: Final = re.compile(all_but(b"\t\n\f\r >") + rb"*+").match


def _value(text: bytes, start: int, end: int) -> bytes:
    """The rest of a value that begins at `start`, in a tag that ends at `end`."""
    quote = text[start - 1 : start]
    if quote in {b'"', b"'"}:
        return text[start : text.index(quote, start, end)]
    found = _unquoted_value(text, start, end)
    return found[0] if found else b""
