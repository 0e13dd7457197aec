"""What is measured on: sets of pages, real ones of `--data` and generated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Corpus(NamedTuple):
    """A set of pages of one sort."""

    name: str
    pages: list[bytes]

    @property
    def megabytes(self) -> float:
        """The size of all of them."""
        return sum(map(len, self.pages)) / 1e6


_TIDIED: Final = "real-pages/mozilla-readability"
_RAW: Final = "real-pages/htmlparser-benchmark"
_LARGEST: Final = 25
_ELEMENTS: Final = 4_000
SMALL: Final = "real pages of 0.5 to 2 KB"
_SMALL: Final = range(500, 2049)

# One element again and again: what is not a plain link must not fall off a cliff.
_REPEATED: Final = {
    "../x in every element": b'<a href="../x">text</a>\n',
    "/x in every element": b'<a href="/x">text</a>\n',
    "style=url(x) in every element": b'<p style="background:url(x)">text</p>\n',
    "srcset in every element": b'<img srcset="a.png 1x, b.png 2x" alt="x">\n',
}
_DOCUMENTATION: Final = (
    b'<li class="toctree-l1"><a class="reference internal" href="../../library/%d.html">Library'
    b' %d</a></li>\n<p>See <a class="reference internal" href="../glossary.html#term-%d"><span'
    b' class="xref std std-term">a term</span></a> and <code class="literal">x</code>.</p>\n'
)


def corpora(data: Path | None) -> Iterator[Corpus]:
    """Yield each set of pages; those of real pages only where there are some.

    Args:
        data: the directory that has real-pages/.
    """
    if data is not None:
        yield from _real(data)
    yield Corpus("documentation (../)", [_documentation()] * 4)
    for name, element in _REPEATED.items():
        yield Corpus(name, [b"<!doctype html><body>\n" + element * _ELEMENTS])
    sheet = b"<style>\n" + b"a{background:url(x.png)}\n" * _ELEMENTS + b"</style>"
    yield Corpus("a style sheet of url()", [sheet])
    pages = [_documentation()[at : at + 1000] for at in range(0, 20_000, 1000)]
    # Often enough that what the collection of garbage before a round left cold does not count.
    yield Corpus("1 KB", pages * 20)
    yield Corpus("a fragment with one link", [b'<a href="../x">text</a>'] * 2_000)


def _real(data: Path) -> Iterator[Corpus]:
    for name, folder in (("tidied", _TIDIED), ("raw", _RAW)):
        yield Corpus(name, [path.read_bytes() for path in sorted((data / folder).rglob("*.html"))])
    pages = [path.read_bytes() for path in sorted((data / "real-pages").rglob("*.htm*"))]
    yield Corpus(f"the {_LARGEST} largest", sorted(pages, key=len)[-_LARGEST:])
    yield Corpus(SMALL, [page for page in pages if len(page) in _SMALL] * 10)


def _documentation() -> bytes:
    """A page as Sphinx writes it: most of its links go up."""
    items = b"".join(_DOCUMENTATION % (number, number, number) for number in range(400))
    return b'<!doctype html><html><head><link href="../_static/a.css">\n' + items
