"""Hostile documents through `relbase.rewrite`: the time grows with the document, no faster.

The rows are those of the threat model for HTML (H1 to H8, H13) and for what is inside of attributes
(A1 to A3, A8). Sizes are small so that the whole file is quick; quadratic time shows at any size.
"""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import growth
import pytest
from growth import assert_linear, assert_linear_from_10_ms
from memory import SLACK, memory_of, needs_status
from rows import rows

import relbase
from relbase.html import own_base

Make = Callable[[int], bytes]

URL: Final = "http://h.example/d/p.html"


def repeated(unit: bytes, before: bytes = b"", after: bytes = b"") -> Make:
    """Return a maker of documents that repeat a unit up to a size."""
    return lambda size: before + unit * (size // len(unit)) + after


def numbered(unit: bytes, before: bytes = b"", after: bytes = b"") -> Make:
    """Return a maker of documents that repeat a unit with ever another number for each `%d`."""
    count = unit.count(b"%d")
    length = len(unit) + 4 * count
    unit = unit.replace(b"%", b"%%").replace(b"%%d", b"%d")
    return lambda size: (
        before + b"".join(unit % ((i,) * count) for i in range(size // length)) + after
    )


def srcdocs(size: int) -> bytes:
    """Nest srcdoc attributes, each of which escapes the ones inside it."""
    text = b"<a href=x>"
    while len(text) < size:
        inside = text.replace(b"&", b"&amp;").replace(b'"', b"&quot;")
        text = b'<iframe srcdoc="' + inside + b'"></iframe>'
    return text


ROWS: Final[dict[str, Make]] = {
    **{
        f"{threat} {unit.decode()}": repeated(unit, before, after)
        for threat, before, unit, after in rows(
            Path(__file__).with_name("growth.txt"), "repeated", str, bytes, bytes, bytes
        )
    },
    "H3 distinct attributes": numbered(b"b%d=1 ", b"<a ", b" href=x>"),
    "H5 misnested": numbered(b"<b %d><i></b>"),
    "H13 srcdoc": srcdocs,
}


def rewrite(data: bytes, url: str = URL) -> relbase.Result:
    return relbase.rewrite(data, url=url, kind="html")


@pytest.mark.parametrize("name", ROWS)
def test_time_is_linear(name: str) -> None:
    assert_linear_from_10_ms(rewrite, ROWS[name])


# The measure itself: by a clock that functions put on, from a cost of 1 µs each.
@pytest.mark.parametrize(
    ("cost", "passes"),
    [
        (lambda size: size, True),
        (lambda size: size + 20_000, True),  # what is loaded
        (lambda size: size * size.bit_length(), True),
        (lambda size: size * size / 256, False),
        (lambda size: size + size * size / 8192, False),  # what is linear hides the rest at first
    ],
)
def test_what_is_quadratic_is_seen(
    cost: Callable[[int], float],
    passes: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]

    def run(size: int) -> None:
        clock[0] += cost(size) / 1_000_000

    monkeypatch.setattr(growth, "process_time", lambda: clock[0])
    monkeypatch.setattr(growth, "sleep", lambda _seconds: None)
    expected = nullcontext() if passes else pytest.raises(AssertionError, match="the time grows by")
    with expected:
        assert_linear_from_10_ms(run, int)
    with expected:
        assert_linear(run, int, (20_000, 40_000))


# N1: a base that is as long as all of the references on it.
BASES: Final = {"a/../": "../x", "./": "../x", "aaaa": "../x", "../": "/x", "a/": "/x"}


@pytest.mark.parametrize("profile", list(relbase.Profile))
@pytest.mark.parametrize("repeated_in_base", BASES)
def test_n1_time_is_linear_with_dot_segments_in_the_base(
    repeated_in_base: str, profile: relbase.Profile
) -> None:
    def make(size: int) -> bytes:
        base = repeated_in_base * (size // 2 // len(repeated_in_base))
        links = f'<a href="{BASES[repeated_in_base]}">' * (size // 30)
        return f'<base href="http://h.example/{base}/">{links}'.encode()

    def rewrite_it(data: bytes) -> None:
        relbase.rewrite(data, kind="html", profile=profile)

    # Of shorter ones the output, of references as long as the base, is within the limit of growth.
    assert_linear_from_10_ms(rewrite_it, make, 1 << 17)


def test_n9_time_is_linear_with_redirects() -> None:
    def base(redirects: list[str]) -> None:
        relbase.base(b"", url="http://h.example/", redirects=redirects)

    assert_linear_from_10_ms(base, lambda size: ["a/"] * size)


@pytest.mark.parametrize("length", [1 << 10, 60_000, 1 << 20])  # the last is refused
def test_a8_time_is_linear_with_a_long_base(length: int) -> None:
    url = f"http://h.example/{'d' * length}/"
    assert_linear(lambda data: rewrite(data, url), ROWS["H8 <a href='x'>"], (1 << 14, 1 << 15), 3)


@pytest.mark.parametrize("call", [relbase.rewrite, lambda *a, **k: [*relbase.links(*a, **k)]])
def test_a8_past_the_budget_nothing_more_is_resolved(call: Callable[..., object]) -> None:
    """A long base, and many references: kept ones are not resolved either."""

    def make(size: int) -> bytes:
        base = b"<base href='http://h.example/" + b"d" * 60_000 + b"/'>"
        return base + b"<a href='x'><a href='#k'>" * (size // 25)

    policy = relbase.Policy(keep_fragments=True)
    assert_linear(lambda data: call(data, kind="html", policy=policy), make, (1 << 20, 1 << 21), 3)


def test_a8_a_long_policy_is_not_tested_in_each_nested_document_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tested = []

    def forbidding(policies: list[str], *_: object) -> None:
        tested.append(policies)

    monkeypatch.setattr(own_base, "forbidding", forbidding)
    headers = {"Content-Security-Policy": "base-uri " + "h.a " * 16_000}
    page = b"<iframe srcdoc='<base href=/x/><a href=y>'></iframe>" * 200
    assert relbase.rewrite(page, url=URL, kind="html", headers=headers).changed
    assert 10 < len(tested) < 50


_LONG: Final = f"http://h.example/{'d' * 60_000}/"

# name: maker, MB, URL. What takes long is smaller.
MEMORY: Final[dict[str, tuple[Make, float, str]]] = {
    **{
        name: (ROWS[name], 2, URL)
        for name in (
            *("H1 <a ", "H2 <!--", "H3 in a tag b ", "H4 escapes <script", "H5 <div>"),
            *("H7 &", "H7 &amp;", "H8 closed x", "H8 closed ../", "H8 <a href='x'>", "A1  "),
        )
    },
    **{
        name: (ROWS[name], 0.5, URL)
        for name in ("H5 svg <g>", "A1 a 1x,", "A2 a{b:url(x)}", "H13 one srcdoc &lt;a href=x>")
    },
    "A8 quoted": (ROWS["H8 <a href='x'>"], 2, _LONG),
    "A8 unquoted": (ROWS["H8 <a href=x>"], 0.5, _LONG),
    "benign": (repeated(b"<div class='a'>text <a href='/x/y'>text</a></div>\n" * 10), 2, URL),
}


@needs_status
@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_bounded(name: str, tmp_path: Path) -> None:
    """Law 9: at most 6 times what comes in and goes out, and what does not grow."""
    make, megabytes, url = MEMORY[name]
    used = memory_of(tmp_path, make(int(megabytes * (1 << 20))), url, "html")
    assert used.taken > 1 << 18
    assert used.grown <= 6 * (used.taken + used.given) + SLACK


@needs_status
@pytest.mark.parametrize("begin", [b"<![CDATA[", b"<!-- -->"])
def test_memory_is_bounded_in_the_pieces_of_a_feed_s_text(begin: bytes, tmp_path: Path) -> None:
    link = b"<a href='x'>" if b"[" in begin else b"&lt;a href='x'>"
    feed = b"<rss><description>" + begin + link * 200_000
    feed += (b"]]>" if b"[" in begin else b"") + b"</description></rss>"
    used = memory_of(tmp_path, feed, URL, "xml")
    assert used.given > len(feed)
    assert used.grown <= 6 * (used.taken + used.given) + SLACK


@needs_status
def test_what_is_nested_is_held_as_far_as_the_limit(tmp_path: Path) -> None:
    """Each of 16 levels would be nearly as long as the document."""
    used = memory_of(tmp_path, ROWS["H13 srcdoc"](6 << 20), URL, "html")
    assert used.grown <= 6 * used.taken + SLACK


@needs_status
def test_edits_of_one_letter_urls_are_packed_as_they_are_found(tmp_path: Path) -> None:
    """An `Edit` for each would take as much as 6 bytes a byte."""
    used = memory_of(tmp_path, ROWS["A1 ping x "](1 << 21), URL, "html")
    assert 0 < used.grown < 5 * (used.taken + used.given)


_HTML: Final = b"Content-Type: text/html\n"

# What one element, rule, field or body holds many of: (maker, kind).
LISTED: Final = {
    "srcset": (ROWS["A1 a 1x,"], "html"),
    "ping": (ROWS["A1 ping x "], "html"),
    "style": (ROWS["A2 a{b:url(x)}"], "html"),
    "speculation rules": (
        repeated(
            b'"x",', b'<script type=speculationrules>{"prefetch":[{"urls":[', b'"y"]}]}</script>'
        ),
        "html",
    ),
    "Link": (repeated(b"<x>;rel=a,", b"HTTP/1.1 200 OK\r\nLink: ", b"<x>\r\n\r\n<p>"), "http"),
    "ISO-2022-JP": (
        repeated(b'<a href="x">\x1b$B$"\x1b(B</a>', b"<meta charset=iso-2022-jp>"),
        "html",
    ),
    "7bit": (
        repeated(
            b"<p>text, quite much of it, more of it, and <a href='/x'>a link at its end</a></p>\n",
            _HTML + b"\n",
        ),
        "mail",
    ),
    "quoted-printable": (
        repeated(b"<a href=3Dx>\n", _HTML + b"Content-Transfer-Encoding: quoted-printable\n\n"),
        "mail",
    ),
    "base64": (
        repeated(b"PGEgaHJlZj14eT4g\n", _HTML + b"Content-Transfer-Encoding: base64\n\n"),
        "mail",
    ),
    "sections of SVG": (
        repeated(b"<![CDATA[a{b:url(x)}]]>", b"<svg><style>"),
        "html",
    ),
    "List-Help": (repeated(b"<x>,", b"From: a@b.example\nList-Help: ", b"<x>\n\nx"), "mail"),
}


# What is read in pieces of some 100 KB shows its slope only from more of them on.
IN_PIECES: Final = {
    "srcset": 17,
    "style": 18,
    "ISO-2022-JP": 18,
    "7bit": 18,
    "quoted-printable": 17,
    "base64": 18,
    "sections of SVG": 19,
}


@needs_status
@pytest.mark.parametrize("name", LISTED)
def test_memory_is_bounded_where_links_are_listed(name: str, tmp_path: Path) -> None:
    """Law 9 by its slope: what one element or field holds is handed on as it is found."""
    make, kind = LISTED[name]
    least = 1 << IN_PIECES.get(name, 16)
    small, large = (
        memory_of(tmp_path, make(size), URL, kind, "links") for size in (least, 3 * least)
    )
    assert 0 < large.grown <= 6 * large.taken + SLACK
    assert large.grown - small.grown <= 6 * (large.taken - small.taken)
