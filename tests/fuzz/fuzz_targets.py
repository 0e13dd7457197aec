"""The targets of fuzzing: each takes bytes and asserts what holds for all of them.

The first bytes of an input choose the call (`Options`), the rest is the document. A target raises
AssertionError where a law is broken; any other exception is a defect as well (law 6).
"""

from __future__ import annotations

import gzip
import io
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from laws import assert_links_alike, law_2_outside_of_the_edits_every_byte_is_the_same
from markdown_pieces import CHEAP_LAWS, DEAR_LAWS, PIECES

import relbase
import relbase.grammar
from relbase import warc
from relbase.edit import Edit, splice
from relbase.view.base64 import base64_view
from relbase.view.quoted_printable import QuotedPrintableView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.view.runs import View

ROOT: Final = Path(__file__).resolve().parents[2]
_FIXTURES: Final = ROOT / "fixtures"
HEAD: Final = 2

_URLS: Final = (
    *("http://h.example/d/p.html?q", None, "https://u@h/a'b\"<c>/", "http://h/", "file:///d/p"),
    *("http://h.example/%7B/--%3E/]]>/", "ftp://h/d;type=a", "http://h/\xe9/?\xe9"),
)
_POLICIES: Final = (
    relbase.Policy(),
    relbase.Policy(extended=True),
    relbase.Policy(keep_fragments=True),
    relbase.Policy(keep_templates=True, item_links=True),
)
_CHARSETS: Final = (
    *(None, None, "utf-8", "shift_jis", "gbk", "iso-2022-jp", "windows-1252", "utf-16"),
)


def options(head: bytes) -> dict[str, Any]:
    """The arguments of a call, chosen by two bytes."""
    first, second = head.ljust(HEAD, b"\0")
    return {
        "url": _URLS[first & 7],
        "profile": list(relbase.Profile)[(first >> 3) % 3],
        "policy": _POLICIES[(first >> 5) & 3],
        "charset": _CHARSETS[second & 7],
        "detect": bool(second & 8),
    }


def document(kind: str | None, data: bytes) -> None:
    """One law of a document of some kind, which the bytes choose; with None they tell the kind."""
    call = options(data[:HEAD]) | ({"kind": kind} if kind else {})
    law = LAWS[crc32(data) % len(LAWS)]
    law(data[HEAD:], call)


def _edits(data: bytes, call: dict[str, Any]) -> None:
    result = relbase.rewrite(data, **call)
    assert result.changed == bool(result.edits)
    if not result.edits:
        assert result.data is data
    law_2_outside_of_the_edits_every_byte_is_the_same(data, call, result)


def _again(data: bytes, call: dict[str, Any]) -> None:
    result = relbase.rewrite(data, **call)
    if _is_whole(result):
        again = relbase.rewrite(result.data, **call)
        assert again.edits == (), (again.edits[:3], result.edits[:3])


def _links(data: bytes, call: dict[str, Any]) -> None:
    result = relbase.rewrite(data, **call)
    listed = list(result.links)
    for link in listed:
        assert 0 <= link.span.start <= link.span.end <= len(data)
        assert link.line >= 1 <= link.column
    # `=?` in a field is escaped, lest it be an encoded word: the URL is spelled otherwise then.
    if _is_whole(result) and result.edits and b"=?" not in data:
        assert_links_alike(listed, list(relbase.links(result.data, **call)))


def _is_whole(result: relbase.Result) -> bool:
    """Whether no limit was exceeded, and the charset is still where browsers look for it."""
    reasons = [note.reason.value for note in result.notes]
    return not any(reason.startswith("limit") or reason == "charset-moved" for reason in reasons)


def _entities(data: bytes, call: dict[str, Any]) -> None:
    relbase.base(data, **call)
    for entity in relbase.entities(data, **call):
        assert 0 <= entity.span.start <= entity.span.end <= len(data)


# An input asserts one: what is found is found again, and four times as many are tried.
LAWS: Final = (_edits, _again, _links, _entities)


def markdown(data: bytes) -> None:
    """Laws of a document of Markdown that is made of pieces, one for each byte.

    What takes as long as the rewriting is asserted of one document in four.
    """
    call = options(data[:HEAD]) | {"kind": "markdown", "charset": None}
    text = b"".join(PIECES[byte % len(PIECES)] for byte in data[HEAD : HEAD + _MOST_PIECES])
    result = relbase.rewrite(text, **call)
    for law in CHEAP_LAWS:
        law(text, call, result)
    number = crc32(data) % (4 * len(DEAR_LAWS))
    if number < len(DEAR_LAWS) and _is_whole(result):
        DEAR_LAWS[number](text, call, result)


_MOST_PIECES: Final = 16


def explained(data: bytes) -> None:
    """Whatever the bytes are, `explain` draws a page."""
    page = relbase.explain(data[HEAD:], **options(data[:HEAD]))
    assert page.lower().startswith("<!doctype html>")


def view(made: Callable[[bytes], View | None], data: bytes) -> None:
    """Law 5 with the view's own decoder: edits inside, lowered and spliced, read back."""
    places, raw = data[:4].ljust(4, b"\0"), data[4:]
    seen = made(raw)
    if seen is None:  # it does not decode
        return
    size = len(seen.inner)
    start, end = sorted((places[0] * size // 256, places[1] * size // 256))
    edits = [Edit(start, end, b"http://h.example/"[: places[2] % 18])]
    edited = splice(raw, seen.lower(edits))
    again = made(edited)
    assert again is not None
    assert again.inner == splice(seen.inner, edits)


def urls(data: bytes) -> None:
    """Each algorithm gives a URL or a ValueError; its steps end in the same; a split URL joins."""
    base, _, reference = data.decode("utf-8", "surrogateescape").partition("\n")
    for profile in relbase.Profile:
        try:
            resolver = relbase.Resolver(base, profile)
            url = resolver.resolve(reference)
        except ValueError:
            continue
        assert url == relbase.resolve(base, reference, profile)
        assert list(resolver.steps(reference))
    assert relbase.grammar.unsplit(relbase.grammar.split(reference)) == reference
    with suppress(ValueError):
        relbase.grammar.parse_url(reference)


def archives(data: bytes) -> None:
    """Whatever an archive holds, its pages and faults come, and rows and a conversion of each."""
    chunks = iter(partial(io.BytesIO(data).read, 1 + len(data) // 3), b"")
    for page in warc.pages(chunks):
        if isinstance(page, warc.Page):
            for row in warc.link_rows(page, "fuzz.warc"):
                assert 0 <= row.start <= row.end
            warc.conversion(page, date="2026-01-02T03:04:05Z")


def value(template: bytes, data: bytes) -> None:
    """The grammar of one value, in an attribute."""
    inside = data[HEAD:].replace(b"&", b"&amp;").replace(b'"', b"&quot;")
    document("html", data[:HEAD].ljust(HEAD, b"\0") + template.replace(b"VALUE", inside))


@dataclass(frozen=True, slots=True)
class Target:
    """What is fuzzed, and what it begins with: fixtures, or pieces of the grammar."""

    run: Callable[[bytes], None]
    seeds: str | tuple[bytes, ...]
    head: int = HEAD

    def corpus(self) -> Iterator[bytes]:
        """The inputs to begin with, behind the bytes that choose a call."""
        for number, seed in enumerate(self._found()):
            yield bytes([number * 37 % 256, number * 5 % 256] * 2)[: self.head] + seed

    def _found(self) -> Iterator[bytes]:
        if isinstance(self.seeds, tuple):
            yield from self.seeds
            return
        for path in sorted(_FIXTURES.glob(self.seeds)):
            if path.suffix not in {".toml", ".md"} and ".expected" not in path.name:
                data = path.read_bytes()
                yield gzip.decompress(data) if path.suffix == ".gz" else data


_MARKDOWN: Final = (
    b"---\na: b\n---\n# [a](b 'c') ![d](<e f>) #\n\n> - [g]\n\n[g]: h\n[^i]: j",
    b"<p>\n<img src=a>\n</p>\n\nb <a\nhref='c'>`d`</a> https://x[e](f\\)&amp;g) $$[h](i)$$",
    b"| a | [b](c\\|d) |\n|---|---|\n| `|` | ![e][] |\n\n[e]: <f>\n'g'\n",
)
_RANDOM: Final = Random(0)
_MADE: Final = tuple(_RANDOM.randbytes(2 + number % _MOST_PIECES) for number in range(500))
_HTTP: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nBase: <URL:http://b/c/>\r\n\r\n<a href=x>",
    b"HTTP/1.0 301 M\nLocation: ../x\nLink: <a>; rel=next, </b>; rel=x\n\n<p>",
    b"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<a \r\n7\r\nhref=x>\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nRefresh: 0; url=x\r\nContent-Length: 4\r\n\r\n<p>\n",
)
_RECORDS: Final = tuple(
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/b/\r\n"
    b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (len(one), one)
    for one in _HTTP
)
_ARCHIVES: Final = (
    *_RECORDS,
    b"".join(_RECORDS),
    b"".join(gzip.compress(one, mtime=0) for one in _RECORDS),
    b"filedesc://a 0.0.0.0 20260102030405 text/plain 15\n1 0 x\nURL IP a\n\n"
    b"http://a/b/ 1.2.3.4 20260102030405 text/html %d\n%b\n" % (len(_HTTP[0]), _HTTP[0]),
)
_SETS: Final = (b"a.png, b.png 2x", b"a,b 1x,, c (d,e) 2w", b" ,x", b"data:,x 1x, /y")
_REFRESHES: Final = (b"0;url=x", b"1.5, URL = '/a b'", b"0;x", b';url="x')
_STYLES: Final = (
    b"background:url(x)",
    b"--x:{;url(/y)};b:url('z')",
    b"a:image-set('x' 1x type('y'),url(z) 2x)",
    b'/* url(x) */ a:u\\72l("y")',
)
_SCRIPTS: Final = (
    b'{"imports":{"a":"./b.js","c/":"../d/"},"scopes":{"e/":{"f":"g"}}}',
    b'{"prefetch":[{"urls":["a","b"],"where":{"href_matches":"/x/*"}}]}',
)
_BODIES: Final = (
    b'<a href=3D=\r\n"x">caf=E9 =20\r\nFrom x\r\n',
    b"PGEgaHJlZj14PmZvbyBiYXIgYmF6IHF1dXg8L2E+\r\nPGEgaHJlZj15Pg==\r\n",
    b"=3Ca href=3D'x'=3E=\n=\n..\n--b\n",
)
_URLS_OF_EACH: Final = (
    b"http://a/b/c/d;p?q#f\n../g;x=1/../y",
    b"http://a/b?c/../d\n?y/./x#s",
    b"ftp://u:p@h:21/a;type=i\n//g",
    b"file:///C:/x\n/d|/y",
    b"foo:bar\nhttp:g",
)


def _qp(raw: bytes) -> View:
    return QuotedPrintableView(raw, (b"b",), b"\r\n")


TARGETS: Final = {
    "html": Target(partial(document, "html"), "h*/*"),  # html and hostile
    **{
        kind: Target(partial(document, kind), f"{kind}/*")
        for kind in ("css", "xml", "mail", "mbox")
    },
    "markdown": Target(partial(document, "markdown"), _MARKDOWN),
    "markdown-pieces": Target(markdown, _MADE),
    "http": Target(partial(document, "http"), _HTTP),
    "any": Target(partial(document, None), "*/*"),
    "explain": Target(explained, "*/*"),
    "srcset": Target(partial(value, b'<img srcset="VALUE">'), _SETS),
    "refresh": Target(partial(value, b'<meta http-equiv=refresh content="VALUE">'), _REFRESHES),
    "style": Target(partial(value, b'<p style="VALUE">'), _STYLES),
    "script": Target(partial(value, b"<script type=importmap>VALUE</script>"), _SCRIPTS),
    "quoted-printable": Target(partial(view, _qp), _BODIES, 4),
    "base64": Target(partial(view, base64_view), _BODIES, 4),
    "url": Target(urls, _URLS_OF_EACH, 0),
    "warc": Target(archives, _ARCHIVES, 0),
}
