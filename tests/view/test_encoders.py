"""The encoders of relbase.view.transcode, and the indexes of relbase.view.characters.

Every character of the Basic Multilingual Plane outside ASCII in every label, and what Big5 and
gb18030 have beyond, compared with digests of what Chromium writes: in the query of a link, in a
page of that charset. Where a browser runs, it is asked whether the digests are its own.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import pytest
from served import Answer

from relbase.url.whatwg import PreparedBase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from served import Site

# What Chromium 156 wrote for `chunks()`, joined by LF. The charsets of several bytes were compared
# with encoders made from the standard's index files (of 2026-05-21) too.
DIGESTS: Final = {
    "gbk": "f10e1b75e1fa7932",
    "gb18030": "655c9bb3a49416ac",
    "big5": "078eb684fd1b82dd",
    "euc-jp": "19af1e4cde6f17b1",
    "iso-2022-jp": "2432c44dad82fb6c",
    "shift_jis": "e85cb7dade4c651e",
    "euc-kr": "bbce0fbcad67d9f3",
    "ibm866": "16a22e6917ada6b2",
    "iso-8859-2": "ae14d95300e7a9d1",
    "iso-8859-3": "4794858b8496d5ce",
    "iso-8859-4": "252e065e79049272",
    "iso-8859-5": "b7bd7f374ad3cc78",
    "iso-8859-6": "09c33150879887ea",
    "iso-8859-7": "9d51c70939ef7756",
    "iso-8859-8": "b4aa9a4a98ff580c",
    "iso-8859-8-i": "b4aa9a4a98ff580c",
    "iso-8859-10": "1c9f8e33bd0ddeb8",
    "iso-8859-13": "4a45a84a5d119099",
    "iso-8859-14": "e234713456474bc0",
    "iso-8859-15": "70c0c5b8fa66fa2c",
    "iso-8859-16": "4676990b1fef81a6",
    "koi8-r": "2d2bc831a6dc44db",
    "koi8-u": "a18d43b32cd4b401",
    "macintosh": "486682c597f2778b",
    "windows-874": "7fe8c5e8a17817d9",
    "windows-1250": "102f319848d943df",
    "windows-1251": "b97b03bc85e1ee94",
    "windows-1252": "a754a7875456427e",
    "windows-1253": "f9c1d92f18c742c5",
    "windows-1254": "d25ff00e064b99da",
    "windows-1255": "4e2eafb6daa3dc69",
    "windows-1256": "a116f0223fb82c96",
    "windows-1257": "39dc284182fb9a1d",
    "windows-1258": "7e423ff11ae92723",
    "x-mac-cyrillic": "83d5bc83b573aadb",
    "x-user-defined": "9280d200d899e9f1",
}

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
