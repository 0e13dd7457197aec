"""A document, where it is served, and what relbase makes of it in profile whatwg."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import ada_url
from resolved import Reference

import relbase
from relbase import Link
from relbase.view.charset import sniff

HTML: Final = "text/html"

_charset: Final = re.compile(r"charset=([^;]+)").search
# Of a document, in srcdoc, or in UTF-16.
_base_tags: Final = re.compile(
    rb"(<|&lt;)(\0?)b\0?a\0?s\0?e(?=\0?[\t\n\f\r />])", re.IGNORECASE
).finditer


class Case:
    """A document for the referee, served at a URL of http, as a type that relbase is told."""

    def __init__(
        self,
        name: str,
        data: bytes,
        url: str,
        content_type: str = HTML,
        policy: relbase.Policy | None = None,
    ) -> None:
        self.name = name
        self.data = data
        self.url = url
        self.content_type = content_type
        self.policy = policy or relbase.Policy()

    def _rewritten(self, data: bytes) -> relbase.Result:
        return relbase.rewrite(
            data,
            url=self.url,
            headers={"Content-Type": self.content_type},
            kind="html",
            profile="whatwg",
            policy=self.policy,
            detect=False,
        )

    @cached_property
    def result(self) -> relbase.Result:
        return self._rewritten(self.data)

    @property
    def base(self) -> relbase.Base:
        return self.result.base

    @cached_property
    def links(self) -> tuple[Link, ...]:
        return self.result.links

    @cached_property
    def bases(self) -> tuple[Link, ...]:
        return _bases(self.links)

    @cached_property
    def charset(self) -> str:
        label = _charset(self.content_type)
        return sniff(self.data, label and label[1]).name

    @cached_property
    def output(self) -> bytes:
        """The output without its base elements: each is another that the parser treats alike."""
        data = self.result.data
        pieces, at = [], 0
        for link in _bases(self._rewritten(data).links) if self.bases else ():
            if tags := [*_base_tags(data, at, link.span.start)]:
                less, zero = tags[-1].groups()
                name = zero.join(b"%c" % letter for letter in b"bgsound")
                pieces += [data[at : tags[-1].start()], less, zero, name]
                at = tags[-1].end()
        return b"".join((*pieces, data[at:]))

    def resolved(self, reference: str, base: relbase.Base, charset: str | None = None) -> str:
        """What a reference resolves to on a base, itself where that fails."""
        try:
            return relbase.Resolver(base.url, "whatwg", charset or self.charset).resolve(reference)
        except ValueError:
            return reference

    def meant(self, link: Link) -> frozenset[str]:
        """What a browser may make of the URL of a link, which is listed as it is written.

        The query is in the document's charset, or in UTF-8 as in CSS.
        """
        url = link.url or ""
        return frozenset((self.resolved(url, link.base), normal(url)))

    @cached_property
    def _places(self) -> dict[tuple[str, str, str], list[Link]]:
        places = defaultdict(list)
        for link in self.links:
            places[place(link)].append(link)
        return places

    def at(self, reference: Reference) -> Sequence[Link]:
        """The links that a reference of the browser may be."""
        return self._places.get(place(reference), ())

    def within(self, pattern: re.Pattern[bytes], links: Iterable[Link]) -> list[Link]:
        """Those links that stand in what an expression finds."""
        spans = [found.span() for found in pattern.finditer(self.data)]
        return [link for link in links if any(a < link.span.start < b for a, b in spans)]

    @cached_property
    def commented(self) -> list[Link]:
        """The links in conditional comments."""
        return self.within(_COMMENT, self.links)

    @cached_property
    def noscript_runs_over(self) -> bool:
        """Whether a noscript, as markup, does not end at the first `</noscript`."""
        return any(map(_unclosed, _noscripts(self.data)))

    @cached_property
    def css(self) -> frozenset[str]:
        """What the references in CSS resolve to."""
        links = (link for link in self.links if link.syntax == "css")
        return frozenset(normal(link.url) for link in links if link.url is not None)


def numbered(documents: Iterable[tuple[str, bytes]]) -> list[Case]:
    """Documents in UTF-8, at URLs of their own at one host."""
    return [
        Case(name, text, f"http://h.example/{number}/d/p.html", f"{HTML}; charset=utf-8")
        for number, (name, text) in enumerate(documents)
    ]


_COMMENT: Final = re.compile(rb"<!--\[if[^\]>]*\]>.*?(?:--!?>|\Z)", re.DOTALL | re.IGNORECASE)
_noscripts: Final = re.compile(rb"<noscript(.*?)</noscript", re.DOTALL | re.IGNORECASE).findall
_unclosed: Final = re.compile(
    rb"<(script|style|title|textarea|xmp|iframe|noembed|noframes)(?![a-z])(?!.*</\1)"
    rb"|<plaintext|<!--(?!.*-->)|<[a-z][^>]*\Z",
    re.DOTALL | re.IGNORECASE,
).search


def _bases(links: Sequence[Link]) -> tuple[Link, ...]:
    return tuple(link for link in links if (link.element, link.attribute) == ("base", "href"))


def normal(url: str) -> str:
    """A URL as the URL Standard serialises it, itself where it does not parse."""
    try:
        return str(ada_url.normalize_url(url))
    except ValueError:
        return url


def parses(url: str) -> bool:
    """Whether a URL is absolute by the URL Standard."""
    return bool(ada_url.check_url(url))


_BROKEN: Final = re.compile("[\ufffd\udc80-\udcff]+")
_DROPPED: Final = re.compile("[\t\n\r]")
_ENDS: Final = "".join(map(chr, range(0x21)))


def place(of: Link | Reference) -> tuple[str, str, str]:
    """The element, the attribute and the reference as relbase and the browser both tell them.

    HTML's `<image>` is img in the tree, and how many U+FFFD stand for broken bytes is a matter of
    its own. An empty value of SVG and MathML is a reference in SVG's `a` only (rule 6): else
    it is nothing that relbase could tell, whatever an element of that name is in HTML.
    """
    reference = _DROPPED.sub("", of.reference.strip(_ENDS)).replace("\0", "\ufffd")
    element = "img" if of.element == "image" else of.element
    namespace = getattr(of, "namespace", "html")
    if reference == "" and namespace != "html" and (namespace, element) != ("svg", "a"):
        element = f"{namespace}:{element}"
    return element, of.attribute, _BROKEN.sub("\ufffd", reference)
