"""The comments and start tags of a page before its body: where programs that save leave marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.expressions import expression
from relbase.references import scanner, tags

if TYPE_CHECKING:
    from collections.abc import Iterator


class HeadToken(NamedTuple):
    """A comment or a start tag."""

    name: bytes  # in lower case, b"" for a comment
    start: int  # after `<!--`, or after the name of the tag
    end: int  # of its inside; of a tag after its `>`
    after: int  # where what follows it begins
    raw_end: int  # of the element's raw text, `after` where it has none


_token: Final = expression(rb"<(?:(!--)|[!?]|/|([a-zA-Z][^\t\n\f\r />]*+))")


def head_tokens(text: bytes, pos: int = 0) -> Iterator[HeadToken]:
    """Yield the comments and start tags of a page before its body, in order."""
    end = len(text)
    while found := _token.search(text, pos, end):
        at = found.end()
        if found[1]:
            pos = tags.comment_end(text, at, end)
            yield HeadToken(b"", at, max(at, pos - len("-->")), pos, pos)
        elif found[2] is None:
            pos = tags.bogus_comment_end(text, at, end)
        else:
            name = found[2].lower()
            pos = after = tags.tag_end(text, at, end)
            if after < 0 or name not in tags.IN_HEAD:
                return
            if name in tags.RAW_TEXT:
                pos = tags.raw_text_end(name, text, after, end)
            yield HeadToken(name, at, after, after, pos)


def head(text: bytes) -> tuple[int, bytes]:
    """Return where the last of the head's tokens ends, and the head without its raw text."""
    compiled = scanner.head(text)
    if compiled is not None:
        return compiled
    if len(text) <= _SHORT:  # sooner looked through than read
        return len(text), text
    pieces: list[bytes] = []
    end = 0
    for token in head_tokens(text):
        pieces.append(text[end : token.after])
        end = token.raw_end
    return end, b"".join(pieces)


_SHORT: Final = 1 << 13
