"""How deep elements nest, which the compiled scanner counts as expat does, and long tokens."""

import re
from collections.abc import Callable
from random import Random
from typing import Any, Final
from xml.parsers import expat

import pytest

from relbase.scan import binding
from relbase.xml import escapes, well_formed
from relbase.xml.well_formed import Flaw, examine

_needs_compiled = pytest.mark.skipif(binding.compiled is None, reason="not built, or not wanted")

_PROLOGS: Final = (
    *("", "<?xml version='1.0'?>", "<!-- <a> -->", "<!DOCTYPE a SYSTEM '</a></a>'>"),
    "<!DOCTYPE a [<!ELEMENT a ANY><!-- <a> --><!NOTATION n SYSTEM 'n'><?p </a>?>]>",
)
_TAGS: Final = (
    *(
        "<a>",
        "<é x='1' >",
        '<a x="/>">',
        "<a x='>' y = '&lt;/a>'>",
        "<a\nx='/'>",
        "<p:a p:x='\"/>'>",
    ),
)
_OTHERS: Final = (
    *("<a/>", "<a x='/>'/>", '<a x="1" />', "<!--<a><a>-->", "<!--</a>-->", "<!---->"),
    *("<![CDATA[<a></a></a>]]>", "<?p <a> </a>?>", "text > ' \" />", "&lt;a>"),
)


def _document(random: Random) -> bytes:
    written, opened = [random.choice(_PROLOGS), "<r>"], ["r"]
    for _ in range(random.randrange(40)):
        if random.random() < 0.4 and len(opened) > 1:
            written.append(f"</{opened.pop()} >")
        elif random.random() < 0.5:
            written.append(random.choice(_TAGS))
            opened.append(re.split(r"[\s>]", written[-1][1:])[0])
        else:
            written.append(random.choice(_OTHERS))
    return "".join([*written, *(f"</{name}>" for name in reversed(opened))]).encode()


def _depth_by_expat(document: bytes) -> int:
    depth = most = 0

    def begin(*_: Any) -> None:
        nonlocal depth, most
        depth += 1
        most = max(most, depth)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.Parse(document, True)
    return most


@_needs_compiled
def test_the_depth_is_that_of_expat() -> None:
    random = Random(1)
    depths = set()
    for _ in range(2_000):
        document = _document(random)
        depths.add(_depth_by_expat(document))
        assert binding.compiled.depth(document) == _depth_by_expat(document), document
    assert len(depths) > 10


@_needs_compiled
@pytest.mark.parametrize("piece", [b"<!--", b"<![CDATA[", b"<?", b"<a '", b"<!", b"<", b"</"])
def test_what_is_unclosed_is_looked_at_once(piece: bytes) -> None:
    # Quadratic, this would take hours.
    assert binding.compiled.depth(b"<a>" + piece * (1 << 20)) == 1


_TOKENS: Final = {
    "comment": (b"<a><!--", b"--></a>"),
    "instruction": (b"<a><?x ", b"?></a>"),
    "attribute": (b"<a b='", b"'/>"),
    "unclosed": (b"<a><!--", b""),
}


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(well_formed, "MAX_TOKEN", 1 << 16)
    monkeypatch.setattr(well_formed, "_PIECE", 1 << 12)
    return 1 << 16


@pytest.mark.parametrize("token", _TOKENS)
def test_a_token_has_a_limit(token: str, small_limit: int) -> None:
    before, after = _TOKENS[token]
    within = before + b"x" * (small_limit - 100) + after
    beyond = before + b"x" * (small_limit + (1 << 13)) + after
    expected = "it is not well-formed: unclosed token" if token == "unclosed" else None
    unsound = examine(within).unsound
    assert (unsound and unsound.text) == expected
    assert examine(beyond).unsound == Flaw(
        before.rfind(b"<"), "a tag or comment is longer than 0 MB"
    )


def test_a_token_of_several_pieces_is_within_the_limit_anywhere(small_limit: int) -> None:
    """The place that expat states while it waits for the rest of a token is none."""
    document = b"<a>" + b"text " * small_limit + b"<!--" + b"x" * (small_limit // 2) + b"--></a>"
    assert examine(document).unsound is None


@pytest.mark.parametrize("document", [b"<a>%s</a>", b"<a><![CDATA[%s]]></a>", b"<a>%s</b></a>"])
@pytest.mark.parametrize("inside", [b"text", b"<b>text</b>"])
def test_what_is_read_in_pieces_is_read_alike(
    document: bytes, inside: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = document % (inside * 99_999)
    expected = examine(text)
    for piece in (1 << 12, 99_991):
        monkeypatch.setattr(well_formed, "MAX_TOKEN", 1 << 16)
        monkeypatch.setattr(well_formed, "_PIECE", piece)
        assert examine(text) == expected


@pytest.mark.parametrize("read", [examine, escapes._parsed])  # noqa: SLF001
def test_expat_without_memory_says_nothing_about_a_document(
    read: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Parser:
        ErrorByteIndex = 0

        def Parse(self, *_: object) -> None:  # noqa: N802 (as expat's)
            error = expat.ExpatError(expat.ErrorString(1))
            error.code = 1
            raise error

    assert expat.ErrorString(1) == expat.errors.XML_ERROR_NO_MEMORY
    monkeypatch.setattr(expat, "ParserCreate", lambda _: Parser())
    with pytest.raises(MemoryError):
        read(b"<a>&amp;</a>")
