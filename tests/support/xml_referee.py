"""A referee for XML: lxml's tree before and after, and where xml:base puts each element.

It knows namespaces and xml:base by its own walk over lxml's tree, and no spans: what relbase wrote
has to be what a reference resolves to there, and everything else has to be as it was. Which values
are references is asked in one direction only: some places have to be changed (`MUST`).
"""

import html
from collections.abc import Iterator
from typing import Final

from lxml import etree

import relbase
from relbase.url.profiles import ProfileName

XML: Final = "{http://www.w3.org/XML/1998/namespace}"
XLINK: Final = "{http://www.w3.org/1999/xlink}"
XHTML: Final = "{http://www.w3.org/1999/xhtml}"
SVG: Final = "{http://www.w3.org/2000/svg}"
ATOM: Final = "{http://www.w3.org/2005/Atom}"
MATH: Final = "{http://www.w3.org/1998/Math/MathML}"
OPF: Final = "{http://www.idpf.org/2007/opf}"
NCX: Final = "{http://www.daisy.org/z3986/2005/ncx/}"
MEDIA: Final = "{http://search.yahoo.com/mrss/}"
RSS_1: Final = "{http://purl.org/rss/1.0/}"
SITEMAP: Final = "{http://www.sitemaps.org/schemas/sitemap/0.9}"

# Attributes and texts that hold one URL, whatever else there is.
MUST: Final = {
    (f"{ATOM}link", "href"),
    (f"{ATOM}content", "src"),
    (f"{XHTML}a", "href"),
    (f"{XHTML}img", "src"),
    (f"{XHTML}link", "href"),
    (f"{XHTML}script", "src"),
    (f"{OPF}item", "href"),
    (f"{NCX}content", "src"),
    (f"{MEDIA}content", "url"),
    (f"{MEDIA}thumbnail", "url"),
    ("enclosure", "url"),
    ("outline", "xmlUrl"),
    (f"{ATOM}icon", ""),
    (f"{ATOM}logo", ""),
    (f"{ATOM}uri", ""),
    (f"{RSS_1}link", ""),
    (f"{SITEMAP}loc", ""),
}
RSS: Final = {("link", ""), ("url", ""), ("docs", ""), ("comments", "")}

PARSER: Final = etree.XMLParser(
    resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, strip_cdata=False
)


def parsed(data: bytes) -> etree._ElementTree | None:
    """The tree of a document, None where lxml takes it for none."""
    try:
        return etree.fromstring(data, PARSER).getroottree()
    except etree.XMLSyntaxError:
        return None


def differences(
    before: etree._ElementTree, after: etree._ElementTree, url: str, profile: ProfileName
) -> Iterator[str]:
    """Yield what is not as it should be in the document after."""
    nodes = [(one, other) for one, other in zip(before.iter(), after.iter(), strict=True)]
    bases = Bases(before, url, profile)
    is_rss = before.getroot().tag == "rss"
    for one, other in nodes:
        if one.tag != other.tag or one.tail != other.tail or one.nsmap != other.nsmap:
            yield f"{one.tag}: not the same node"
            continue
        if not isinstance(one.tag, str):
            if one.text != other.text:
                yield f"{one.text!r}: a comment or instruction changed"
            continue
        if list(one.attrib) != list(other.attrib):
            yield f"{one.tag}: other attributes"
            continue
        for name, value in one.attrib.items():
            base = bases.around(one) if name == f"{XML}base" else bases.of(one)
            if one.tag == f"{XHTML}base":
                base = bases.outside
            must = (one.tag, name) in MUST or name == f"{XML}base"
            must = must or (name == f"{XLINK}href" and not value.startswith("#"))
            yield from _compared(
                value, other.attrib[name], base, profile, f"{one.tag}@{name}", must=must
            )
        if len(one) == 0 or not (one.text or "").isspace():
            must = (one.tag, "") in MUST or (is_rss and (one.tag, "") in RSS)
            yield from _compared(
                one.text or "", other.text or "", bases.of(one), profile, one.tag, must=must
            )


def _compared(
    before: str, after: str, base: str, profile: ProfileName, place: str, *, must: bool
) -> Iterator[str]:
    bare = before.strip(" \t\r\n")
    if before == after:
        if must and bare and _resolved(base, bare, profile) not in {None, bare}:
            yield f"{place}: {bare!r} was left"
        return
    start = before.index(bare) if bare else len(before)
    expected = before[:start] + str(_resolved(base, bare, profile)) + before[start + len(bare) :]
    if after == expected:
        return
    if after not in set(_as_others(before, base, profile)):
        yield f"{place}: {before[:200]!r} became {after[:200]!r} on {base}, not {expected[:200]!r}"


def _resolved(base: str, reference: str, profile: ProfileName) -> str | None:
    """What a reference resolves to, where it is relative; itself where it is not."""
    try:
        resolved = relbase.resolve(base, reference, profile)
        is_absolute = relbase.resolve("http://other.example/x/y", reference, profile) == resolved
    except ValueError:
        return None
    return reference if is_absolute else resolved


def _as_others(before: str, base: str, profile: ProfileName) -> Iterator[str]:
    """What a value becomes as HTML, as CSS, as a list of URLs, as a refresh."""
    for kind in ("html", "css"):
        data = before.encode()
        yield relbase.rewrite(
            data, url=base, kind=kind, charset="utf-8", profile=profile
        ).data.decode()
    for opening in ("<img srcset=", "<a ping=", "<div style=", "<meta http-equiv=refresh content="):
        markup = f'{opening}"{html.escape(before)}">'
        result = relbase.rewrite(
            markup.encode(), url=base, kind="html", charset="utf-8", profile=profile
        )
        yield html.unescape(result.data.decode()[len(opening) + 1 : -2])


class Bases:
    """The base of each element: XML Base §4, and `<base>` in XHTML."""

    def __init__(self, tree: etree._ElementTree, url: str, profile: ProfileName) -> None:
        root = tree.getroot()
        shown = str(root.tag).startswith((XHTML, SVG, MATH))
        self.profile = profile
        self.counts = not (shown and profile == "whatwg")
        self.outside = self.document = url.partition("#")[0]  # a retrieval URL has no fragment
        if shown:
            for element in root.iter(f"{XHTML}base"):
                if (
                    "href" in element.attrib
                    and next(element.iterancestors(f"{XHTML}template"), None) is None
                ):
                    self.document = relbase.base(
                        f'<base href="{html.escape(element.attrib["href"])}">'.encode(),
                        url=url,
                        kind="html",
                        profile=profile,
                        charset="utf-8",
                    ).url
                    break

    def of(self, element: etree._Element) -> str:
        """The base of the references of an element."""
        return self._chain(element) if self.counts else self.document

    def around(self, element: etree._Element) -> str:
        """The base of an element's own xml:base."""
        parent = element.getparent()
        return self.document if parent is None else self._chain(parent)

    def _chain(self, element: etree._Element) -> str:
        base = self.document
        for each in (*reversed(list(element.iterancestors())), element):
            stated = each.get(f"{XML}base")
            if stated is not None and stated.strip():
                base = relbase.resolve(base, stated.strip(), self.profile)
        return base
