"""The encoders of relbase.view.transcode, and the indexes of relbase.view.characters.

Every character of the Basic Multilingual Plane outside ASCII in every label, and what Big5 and
gb18030 have beyond, compared with digests of what Chromium writes: in the query of a link, in a
page of that charset. Where a browser runs, it is asked whether the digests are its own.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from rows import rows
from served import Answer

from relbase.url.whatwg import PreparedBase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from served import Site

DIGESTS: Final = dict(rows(Path(__file__).with_name("encoders.txt"), "digests", str, str))

PLANES: Final = (
    range(0x80, 0xD800),
    range(0xE000, 0x10000),
    range(0x20000, 0x20400),
    range(0x29000, 0x29400),
)
CHUNK: Final = 64

IN_A_LINK: Final = """
const link = document.createElement('a');
return arguments[0].map(text => (link.href = 'http://h.test/?' + text, link.search));
"""


def chunks() -> Iterator[str]:
    """The characters, a few at a time, so that ISO-2022-JP changes between its states."""
    for plane in PLANES:
        for at in range(plane.start, plane.stop, CHUNK):
            yield "".join(map(chr, range(at, min(at + CHUNK, plane.stop))))


CHUNKS: Final = list(chunks())


def digest(queries: list[str]) -> str:
    return hashlib.sha256("\n".join(queries).encode("ascii")).hexdigest()[:16]


@pytest.mark.parametrize("label", DIGESTS)
def test_every_character(label: str) -> None:
    resolve = PreparedBase("http://h.test/", label).resolve
    queries = [resolve(f"?{chunk}").removeprefix("http://h.test/") for chunk in CHUNKS]
    assert digest(queries) == DIGESTS[label], "to see where: compare with what a browser writes"


def test_the_digests_are_those_of_the_browser(site: Site, browser: Any) -> None:
    for label in DIGESTS:
        url = f"http://charsets.test/{label}"
        site.answers[url] = Answer(b"<p>", {"Content-Type": f"text/html; charset={label}"})
        browser.get(url)
        assert browser.execute_script("return document.characterSet").lower() == label
        assert digest(browser.execute_script(IN_A_LINK, CHUNKS)) == DIGESTS[label], label
