"""Whether an XML document is sound; relbase trusts the spans that `structure` found only if it is.

expat decides. It stops at the first declaration of an entity or of an attribute's default, which
relbase does not read. A flaw that leaves spans, names and scopes certain (rule 20) is masked byte
for byte in a copy, and expat reads the copy.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from xml.parsers import expat

from relbase.expressions import regex
from relbase.scan import binding
from relbase.xml.escapes import UNDEFINED, masked, raise_if_out_of_memory
from relbase.xml.structure import MAX_DEPTH, SCOPING, START_TAG, each_attribute
from relbase.xml.vocabulary import deciding_attributes


class Flaw(NamedTuple):
    """What is wrong with a document, as a phrase for people, and where."""

    start: int
    text: str


class Soundness(NamedTuple):
    unsound: Flaw | None  # why nothing in it is trusted
    flaws: tuple[Flaw, ...]  # what is wrong, but harmless
    end: int  # of the part of it that is read


class _Declared(Exception):  # noqa: N818 (it is not an error)
    """The document declares something that relbase does not read."""


def examine(text: bytes) -> Soundness:
    flaws: list[Flaw] = []
    masks = list(_MASKS)
    copy = text
    while True:
        try:
            error = _error(copy)
        except _Declared as declared:
            return Soundness(Flaw(*declared.args), (), len(text))
        if error is None:
            whole = Soundness(None, (), len(text))
            return _judged(text, copy, flaws, len(text)) if flaws else whole
        for mask in masks:
            flaw = mask.tell(text, error) if error.text in mask.errors else None
            if flaw is not None and (better := mask.apply(copy)):
                break
        else:
            end = error.start - (text[error.start - 1 : error.start] == b"<")
            if error.text != _JUNK and not _is_closed(copy, end):
                why = Flaw(error.start, f"it is not well-formed: {error.text}")
                return Soundness(why, (), len(text))
            flaws.append(Flaw(end, "something follows its root"))
            return _judged(text, copy, flaws, end)
        masks.remove(mask)
        flaws.append(flaw)
        copy = better


def _judged(text: bytes, copy: bytes, flaws: Sequence[Flaw], end: int) -> Soundness:
    for value_found in _masked_values(copy, 0, end):
        at, mask = value_found.start(), value_found.end(1) - 1
        name = copy[max(0, at - _LONGEST_NAME) : at].translate(_DELIMITED).split()[-1:]
        if not name or deciding_attributes().isdisjoint(name[0].split(b":")):
            continue
        value = slice(mask, copy.find(value_found[1][:1], mask) % (len(copy) + 1))
        if text[value] != copy[value]:  # its U+007F may be its own
            why = f"it is not well-formed: the value of {_shown(name[0])} is not certain"
            return Soundness(Flaw(mask, why), (), end)
    return Soundness(None, tuple(flaws), end)


# What may be a value, up to its first mask. Every `=` is tried, since one in a text may begin what
# looks like a value up to the next quote.
_masked_values: Final = regex(rb"=[ \t\r\n]*+(?=(\"[^\"\x7f]*+\x7f|'[^'\x7f]*+\x7f))").finditer
_LONGEST_NAME: Final = 1 << 8
_DELIMITED: Final = bytes.maketrans(b"\"'<>/=", b" " * 6)


def _is_closed(text: bytes, end: int) -> bool:
    try:
        return end > 0 and _error(text[:end]) is None
    except _Declared:
        return False


def _error(text: bytes) -> Flaw | None:
    """Return the first error of expat, in its words; raise `_Declared` at a declaration."""
    parser = expat.ParserCreate("utf-8")
    parser.EntityDeclHandler = _entity
    parser.AttlistDeclHandler = _attribute
    if _may_be_deep(text):
        opened: list[str] = []

        def begin(name: str, _attributes: object) -> None:
            opened.append(name)
            if len(opened) > MAX_DEPTH:
                raise _Declared(f"its elements nest deeper than {MAX_DEPTH}")

        parser.StartElementHandler = begin
        parser.EndElementHandler = lambda _: opened.pop()
    try:
        _parse(parser, text)
    except _Declared as declared:
        *at, message = declared.args
        raise _Declared(*(at or [parser.CurrentByteIndex]), message) from None
    except expat.ExpatError as error:
        raise_if_out_of_memory(error)
        return Flaw(max(parser.ErrorByteIndex, 0), expat.ErrorString(error.code))
    return None


def _parse(parser: expat.XMLParserType, text: bytes) -> None:
    view, end, at = memoryview(text), 0, 0
    while len(text) > max(MAX_TOKEN, end + _PIECE):
        parser.Parse(view[end : end + _PIECE], False)
        end += _PIECE
        # Since version 2.6 it is -1 while expat waits for more of a tag.
        at = max(at, parser.CurrentByteIndex)
        if end - at > MAX_TOKEN:
            raise _Declared(at, f"a tag or comment is longer than {MAX_TOKEN >> 20} MB")
    parser.Parse(view[end:], True)


# Before version 2.6, expat reads a tag or comment from its beginning for each megabyte of it.
MAX_TOKEN: Final = 64 << 20
_PIECE: Final = 1 << 20


def _may_be_deep(text: bytes) -> bool:
    # expat keeps something for each open element: at most all those with an end tag, and all those
    # without one. Counting one character is faster than counting two.
    many, tags = _FREE * len(text) // _KEPT_BY_EXPAT, text.count(b"<")
    is_dense = tags > many and not tags - many <= 2 * text.count(b"</") <= 2 * many
    if not is_dense and (tags <= MAX_DEPTH or sum(map(text.count, SCOPING)) <= MAX_DEPTH):
        return False
    # If the scanner can count, expat need not call Python for each element.
    return binding.compiled is None or binding.compiled.depth(text) > MAX_DEPTH


# In bytes: for each element; and for each byte of the document, what expat may take uncounted.
_KEPT_BY_EXPAT: Final = 150
_FREE: Final = 4


def _entity(name: str, *_declaration: object) -> None:
    raise _Declared(f"it declares the entity {name[:40]!r}")


def _attribute(element: str, name: str, _type: str, default: str | None, _required: int) -> None:
    if default is not None:
        raise _Declared(f"it declares a default of the attribute {name[:40]!r} of {element[:40]!r}")


# ---- harmless flaws, and what masks them


class _Mask(NamedTuple):
    errors: tuple[str, ...]  # of expat
    tell: Callable[[bytes, Flaw], Flaw | None]  # what is wrong; None if it is another flaw
    apply: Callable[[bytes], bytes]  # b"" if it cannot


_undefined: Final = regex(UNDEFINED).search
_bare: Final = regex(rb"&[^\x00-\x20<>&\"'=;/]*+").match
# expat reports the end of the name after an ampersand: how far back to search for it.
_BEFORE: Final = 1 << 10
_LONGEST: Final = 4  # bytes of a character in UTF-8


def _entity_flaw(text: bytes, error: Flaw) -> Flaw | None:
    entity = _undefined(text, error.start)
    return entity and Flaw(entity.start(), f"the entity {_shown(entity[0])} is not defined")


def _number_flaw(text: bytes, error: Flaw) -> Flaw | None:
    number = text[error.start : text.find(b";", error.start) + 1]
    return Flaw(error.start, f"{_shown(number)} is not a character of XML")


def _character_flaw(text: bytes, error: Flaw) -> Flaw | None:
    at = error.start
    start = text.rfind(b"&", max(0, at - _BEFORE), at + 1)
    bare = _bare(text, start) if start >= 0 else None
    if bare is not None and bare.end() >= at:
        return Flaw(start, "a bare '&'")
    if masked(text[at : at + _LONGEST])[:1] == text[at : at + 1]:
        return None
    return Flaw(at, f"a character that XML does not allow (byte {text[at]:02X})")


def _declaration_flaw(text: bytes, error: Flaw) -> Flaw | None:
    start = max(0, text.rfind(b"<?xml", 0, error.start + len(b"<?xml")))
    declaration = _declarations.match(text, start)
    if declaration is not None and text[start] == ord("<") and error.start <= declaration.end():
        return Flaw(start, "an XML declaration is malformed or not at the start")
    is_mark = text.startswith(b"\xef\xbb\xbf", error.start)
    return Flaw(error.start, "a second byte order mark") if is_mark else None


_declarations: Final = regex(rb"<\?xml(?=[ \t\r\n?])(?:[^?]++|\?(?!>))*+(?:\?>|\Z)")


def _without_declarations(text: bytes) -> bytes:
    after = text.lstrip(b"\xef\xbb\xbf")  # byte order marks
    return _declarations.sub(lambda declaration: b" " * len(declaration[0]), after).rjust(len(text))


# Start tags, and what may hold `<` without being one, up to its end or that of the document.
_tags: Final = regex(
    rb"<(?:!--(?:[^-]++|-(?!->))*+|!\[CDATA\[(?:[^\]]++|\](?!\]>))*+|\?(?:[^?]++|\?(?!>))*+"
    rb"|" + START_TAG + rb")"
).finditer


def _without_repeated(text: bytes) -> bytes:
    """Blank out repeated attributes; return b"" if one of them decides on others."""
    copy = bytearray(text)
    for tag in _tags(text):
        names: set[bytes] = set()
        for attribute in each_attribute(text, *tag.span(2)) if tag[1] else ():
            if attribute[1] in names:
                if not deciding_attributes().isdisjoint(attribute[1].split(b":")):
                    return b""
                copy[attribute.start() : attribute.end()] = b" " * len(attribute[0])
            names.add(attribute[1])
    return bytes(copy)


def _shown(reference: bytes) -> str:
    return repr(reference[:40].decode("utf-8", "replace"))


_JUNK: Final = "junk after document element"
_INVALID: Final = "not well-formed (invalid token)"
_DECLARATION: Final = (
    "XML or text declaration not at start of entity",
    "XML declaration not well-formed",
    _INVALID,
)
_MASKS: Final = (
    _Mask(("undefined entity",), _entity_flaw, masked),
    _Mask(("reference to invalid character number",), _number_flaw, masked),
    _Mask((_INVALID,), _character_flaw, masked),
    _Mask(_DECLARATION, _declaration_flaw, _without_declarations),
    _Mask(
        ("duplicate attribute",),
        lambda _, error: Flaw(error.start, "an attribute is repeated"),
        _without_repeated,
    ),
)
