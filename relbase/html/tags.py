"""HTML by spans: tokens, attributes and raw text, by the states of the WHATWG tokenizer.

No function looks beyond `end`. Each regex either matches, or shows that the token is not closed
before `end`; that ends the scan, so the time stays linear.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container, Iterable, Iterator
from typing import Final, NamedTuple

from relbase.expressions import expression, regex
from relbase.html.foreign import IN_HEAD, RAW_TEXT
from relbase.view.characters import decode_inner
from relbase.view.charrefs import attribute_view, needs_view
from relbase.view.runs import Piece


def all_but(excluded: bytes) -> bytes:
    """Return the set of all other bytes, as ranges: faster than `[^"<]` in CPython."""
    ranges = []
    start = 0
    for byte in [*sorted(excluded), 0x100]:
        if start < byte:
            ranges.append(b"\\x%02x-\\x%02x" % (start, byte - 1))
        start = byte + 1
    return b"[%b]" % b"".join(ranges)


WS: Final = rb"[\t\n\f\r ]"

# An attribute after white space and slashes: "before attribute name" to "after attribute value
# (quoted)". A name may begin with `=`. A quoted value must be closed, so that after `=` either a
# value follows or, at `>`, none ("missing-attribute-value").
_NAME: Final = all_but(b"\t\n\f\r />") + all_but(b"\t\n\f\r />=") + b"*+"
_BARE: Final = all_but(b"\t\n\f\r >\"'") + all_but(b"\t\n\f\r >") + b"*+"
_VALUE: Final = rb"""(?:"[^"]*+"|'[^']*+'|""" + _BARE + rb"|(?=>))"
ATTRIBUTE: Final = _NAME + rb"(?:" + WS + rb"*+=" + WS + rb"*+" + _VALUE + rb"|(?!" + WS + rb"*+=))"
# From after the tag name to `>`: the same for start and end tags.
_rest_of_tag: Final = expression(rb"(?:[\t\n\f\r /]++|" + ATTRIBUTE + rb")*+>")

_attributes: Final = expression(
    rb"(" + _NAME + rb")(?:" + WS + rb"*+(=)" + WS
    + rb"""*+(?:"([^"]*+)"|'([^']*+)'|(""" + _BARE + rb")|(?=>)))?"
)  # fmt: skip

_UNQUOTED: Final = 5  # the group of an unquoted value

# Comments end at `-->` and `--!>`; `<!-->` and `<!--->` are empty ones.
_comment_end: Final = expression(rb"--!?>")


class Attribute(NamedTuple):
    """An attribute, with the span of its value without quotes.

    `quote` is b"" if the value is unquoted, and None if there is no value: `start` is then where
    one would be written.
    """

    name: bytes
    start: int
    end: int
    quote: bytes | None
    equals: bool = True


def tag_end(text: bytes, pos: int, end: int) -> int:
    """Return the offset after the `>` of the tag whose name ends at `pos`; -1 if it has none."""
    rest = _rest_of_tag.match(text, pos, end)
    return rest.end() if rest else -1


def attributes(
    text: bytes, pos: int, end: int, names: Container[bytes] | None = None
) -> dict[bytes, Attribute]:
    """Return the attributes of a tag, from the end of its name to after its `>`; the first wins."""
    stated: dict[bytes, Attribute] = {}
    for match in _attributes.finditer(text, pos, end):
        name = match[1].lower()
        if name in stated or (names is not None and name not in names):
            continue
        group = match.lastindex or 0
        start, stop = match.span(group)
        if group == 1:
            stated[name] = Attribute(name, stop, stop, None, equals=False)
        elif group == 2:  # noqa: PLR2004 (the group of `=`)
            stated[name] = Attribute(name, stop, stop, None)
        else:
            quote = b"" if group == _UNQUOTED else text[stop : stop + 1]
            stated[name] = Attribute(name, start, stop, quote)
    return stated


def attribute_text(text: bytes, attribute: Attribute, charset: str) -> str:
    raw = text[attribute.start : attribute.end]
    return decode_inner(attribute_view(raw, b"", charset).inner if needs_view(raw) else raw)


def self_closing(text: bytes, pos: int, end: int) -> bool:
    """Return whether a tag ends in `/>`, where the slash is not part of an unquoted value."""
    if not text.endswith(b"/>", pos, end):
        return False
    last = deque(_attributes.finditer(text, pos, end), maxlen=1)
    return not last or last[0].end(_UNQUOTED) < end - 1


def comment_end(text: bytes, pos: int, end: int) -> int:
    """Return the offset after the comment whose `<!--` ends at `pos`; `end` if not closed."""
    if text.startswith((b">", b"->"), pos, end):
        return text.index(b">", pos) + 1
    close = _comment_end.search(text, pos, end)
    return close.end() if close else end


def bogus_comment_end(text: bytes, pos: int, end: int) -> int:
    """Return the offset after the `>` that closes `<?`, `<!x`, `</ ` or a doctype, or `end`."""
    close = text.find(b">", pos, end)
    return end if close < 0 else close + 1


def cdata_end(text: bytes, pos: int, end: int) -> int:
    """Return the offset of the `]]>` that closes a CDATA section; `end` if there is none."""
    close = text.find(b"]]>", pos, end)
    return end if close < 0 else close


# A comment, a tag with its name, or anything else that begins with `<` and is not text.
_TOKEN: Final = rb"(?:(!--)|(/?)([a-zA-Z][^\t\n\f\r />]*+)|[!?/])"
token: Final = regex(rb"<" + _TOKEN).search
# The same without most end tags, but not without that of a template; a `<` may be part of a name.
_token_that_counts: Final = regex(rb"<(?!/(?![tT][eE])[a-zA-Z][^\t\n\f\r /><]*+>)" + _TOKEN).search

CDATA: Final = b"<![CDATA["

START_TAG, END_TAG, COMMENT, OTHER = range(4)  # kinds of tokens; other: a doctype, section, `<?x>`


class Token(NamedTuple):
    """A token that is not text, as offsets."""

    kind: int
    name: bytes  # of a tag, in lower case
    start: int  # of the `<`
    inside: int  # after the name of a tag, or after the `<!--`
    end: int


def read(
    text: bytes, pos: int, end: int, *, cdata: bool = False, skip: bool = False
) -> Token | None:
    """Return the next token that is not text, or None; a tag without a `>` is none.

    `skip` passes over end tags that say nothing while no foreign content is open.
    """
    match = (_token_that_counts if skip else token)(text, pos, end)
    if match is None:
        return None
    start, inside = match.span()
    name = match[3]
    if name is None:
        kind = OTHER if match[1] is None else COMMENT
        return Token(kind, b"", start, inside, no_tag_end(text, match, end, cdata=cdata))
    closed = _rest_of_tag.match(text, inside, end)
    if closed is None:
        return None
    kind = END_TAG if match[2] else START_TAG
    return Token(kind, name.lower(), start, inside, closed.end())


# <!--[if gte mso 9]> ... <![endif]-->
_conditional: Final = expression(rb"\[if[^\]>]*+\]>", re.IGNORECASE)
_comment_close: Final = expression(rb"--!?>\Z")


def conditional_content(text: bytes, token: Token) -> tuple[int, int] | None:
    """Return where the markup in a conditional comment begins and ends; None for other tokens."""
    if token.kind != COMMENT or not (condition := _conditional.match(text, *token[3:])):
        return None
    close = _comment_close.search(text, token.end - len("--!>"), token.end)
    return condition.end(), close.start() if close else token.end


def no_tag_end(text: bytes, match: re.Match[bytes], end: int, *, cdata: bool) -> int:
    """Return where a comment ends, or a CDATA section if `cdata` allows some."""
    if cdata and text.startswith(CDATA, match.start(), end):
        return min(cdata_end(text, match.start() + len(CDATA), end) + len(b"]]>"), end)
    return (comment_end if match[1] else bogus_comment_end)(text, match.end(), end)


def text_end(text: bytes, pos: int, end: int) -> int:
    """Return where text in SVG ends: at a tag. Comments and CDATA sections only interrupt it."""
    while (match := token(text, pos, end)) and match[3] is None:
        pos = no_tag_end(text, match, end, cdata=True)
    return match.start() if match else end


def pieces(text: bytes) -> Iterator[Piece]:
    at, end = 0, len(text)
    while begun := token(text, at, end):
        start = begun.start()
        if at < start:
            yield Piece(at, start, is_cdata=False)
        at = no_tag_end(text, begun, end, cdata=True)
        content = start + len(CDATA)
        if text.startswith(CDATA, start) and (stop := cdata_end(text, content, end)) > content:
            yield Piece(content, stop, is_cdata=True)
    if at < end:
        yield Piece(at, end, is_cdata=False)


_LETTERS: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz")


def any_case(name: bytes) -> bytes:
    """Return the expression for a lower-case name in any case: faster than a flag."""
    return b"".join(
        b"[%c%c]" % (byte, byte - 32) if byte in _LETTERS else re.escape(b"%c" % byte)
        for byte in name
    )


def any_of(names: Iterable[bytes]) -> bytes:
    """Return the expression for names in any case; the test of one letter rules out most."""
    rests: dict[bytes, list[bytes]] = {}
    for name in sorted(names):
        rests.setdefault(name[:1], []).append(any_case(name[1:]))
    groups = b"|".join(any_case(letter) + b"(?:%b)" % b"|".join(rests[letter]) for letter in rests)
    return rb"(?:%b)(?=[\t\n\f\r =/>])" % groups


_raw_text_end: Final = {
    name: expression(rb"</" + any_case(name) + rb"(?=[\t\n\f\r />])") for name in RAW_TEXT
}

# In a script, what changes the state of "script data" (escaped and double escaped).
_script_data: Final = expression(rb"<!--|</[sS][cC][rR][iI][pP][tT](?=[\t\n\f\r />])")
_script_escaped: Final = expression(rb"-->|<(/?)[sS][cC][rR][iI][pP][tT](?=[\t\n\f\r />])")
_script_double_escaped: Final = expression(rb"-->|</[sS][cC][rR][iI][pP][tT](?=[\t\n\f\r />])")


def raw_text_end(name: bytes, text: bytes, pos: int, end: int) -> int:
    """Return the offset of the `</name` that ends the raw text at `pos`; `end` if there is none."""
    if name == b"plaintext":
        return end
    # Most texts have at most one `<`, that of the end tag, and a single byte is found fastest.
    pos = text.find(b"<", pos, end)
    if pos < 0:
        return end
    ends = _raw_text_end[name]
    if ends.match(text, pos, end):
        return pos
    if name == b"script":
        return _script_end(text, pos, end)
    close = ends.search(text, pos, end)
    return close.start() if close else end


def _script_end(text: bytes, pos: int, end: int) -> int:
    """Script data with its escapes: `<!--<script>` hides the next `</script>`."""
    while match := _script_data.search(text, pos, end):
        if text.startswith(b"</", match.start()):
            return match.start()
        # `<!-->` and `<!--->` leave the escaped states at once: the dashes belong to both.
        pos = match.start() + 2
        while match := _script_escaped.search(text, pos, end):
            pos = match.end()
            if match[0].endswith(b">"):
                break
            if match[1]:
                return match.start()
            if not (match := _script_double_escaped.search(text, pos, end)):
                return end
            pos = match.end()
            if match[0].endswith(b">"):
                break
        else:
            return end
    return end


# ---- Comments and start tags before the body, where programs that save pages leave marks


class HeadToken(NamedTuple):
    name: bytes  # in lower case, b"" for a comment
    start: int  # after `<!--`, or after the name of the tag
    end: int  # of its inside; of a tag after its `>`
    after: int  # the end of the token
    raw_end: int  # of the element's raw text, `after` where it has none


def head_token(text: bytes, start: int, inside: int, after: int, raw_end: int) -> HeadToken:
    """Return the token of a head that begins at `start`: `inside` is after its name or `<!--`."""
    if text[start + 1] != _EXCLAMATION:
        return HeadToken(text[start + 1 : inside].lower(), inside, after, after, raw_end)
    return HeadToken(b"", inside, max(inside, after - len("-->")), after, after)


_EXCLAMATION: Final = 0x21


def head_tokens(text: bytes) -> Iterator[HeadToken]:
    """Yield the comments and start tags of a page before its body, in order."""
    pos, end = 0, len(text)
    while match := token(text, pos, end):
        at = match.end()
        if match[1]:
            pos = comment_end(text, at, end)
            yield head_token(text, match.start(), at, pos, pos)
        elif match[3] is None:
            pos = bogus_comment_end(text, at, end)
        elif match[2]:
            pos = tag_end(text, at, end)
            if pos < 0:
                return
        else:
            name = match[3].lower()
            pos = after = tag_end(text, at, end)
            if after < 0 or name not in IN_HEAD:
                return
            if name in RAW_TEXT:
                pos = raw_text_end(name, text, after, end)
            yield head_token(text, match.start(), at, after, pos)
