"""How deep elements nest: the compiled scanner counts as expat does."""

import re
from random import Random
from typing import Any, Final
from xml.parsers import expat

import pytest

from relbase.references import scanner

pytestmark = pytest.mark.skipif(scanner.compiled is None, reason="not built, or not wanted")

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


def test_the_depth_is_that_of_expat() -> None:
    random = Random(1)
    depths = set()
    for _ in range(2_000):
        document = _document(random)
        depths.add(_depth_by_expat(document))
        assert scanner.compiled.depth(document) == _depth_by_expat(document), document
    assert len(depths) > 10


@pytest.mark.parametrize("piece", [b"<!--", b"<![CDATA[", b"<?", b"<a '", b"<!", b"<", b"</"])
def test_what_is_unclosed_is_looked_at_once(piece: bytes) -> None:
    # Quadratic, this would take hours.
    assert scanner.compiled.depth(b"<a>" + piece * (1 << 20)) == 1
