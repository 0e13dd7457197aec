"""Which attributes and element texts of XML hold URLs, by namespace and case.

Attributes in no namespace have their name as key, others a fixed key: `xlink:href` for any prefix.

These are never references, so they have no row (rule 20): Atom's `id`, `link/@rel`,
`category/@scheme`, RSS's `category/@domain`, `xsi:schemaLocation`, `rdf:ID`, system identifiers,
`xlink:role`, `rootfile/@full-path` of EPUB, and what is in a template of XSLT.

Sources: RFC 4287, the draft of Atom 0.3, RSS 0.9x, 1.0 and 2.0, RDF 1.1 XML Syntax, Media RSS
1.5.1, Apple's and Google's podcast modules, the podcast namespace, Google's data elements and
product feeds, WordPress's export (WXR 1.2), Feedly's webfeeds, sitemaps.org and Google's
extensions, OPML 2.0, OpenSearch 1.1, KML 2.3, GPX 1.0 and 1.1, OPF 3.3 and 2.0, NCX 2005, DocBook
4.5 and 5.1, XLink 1.1, XML Base 2.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from relbase.html import places
from relbase.html.foreign import HTML, MATH, SVG
from relbase.html.places import PLACES, ElementRows, by_place, element_rows
from relbase.html.vocabulary import TEXT_ROWS, Condition, Nested, Row, Table, one_of
from relbase.notes import Reason
from relbase.values.syntaxes import Syntax

ATOM: Final = "atom"
RSS: Final = "rss"
SITEMAP: Final = "sitemap"
OPML: Final = "opml"
DOCBOOK: Final = "docbook"
XSLT: Final = "xslt"
ATOM_03: Final = "atom 0.3"
_RDF: Final = "rdf"
_MEDIA: Final = "media rss"
_PODCAST: Final = "podcast"
_PACKAGE: Final = "package"
_NCX: Final = "ncx"
_KML: Final = "kml"
_GPX: Final = "gpx"

# The namespaces of each vocabulary; some are written in several ways.
_NAMESPACES: Final = {
    HTML: "http://www.w3.org/1999/xhtml",
    SVG: "http://www.w3.org/2000/svg",
    MATH: "http://www.w3.org/1998/Math/MathML",
    ATOM: "http://www.w3.org/2005/Atom",
    ATOM_03: "http://purl.org/atom/ns#",
    "threading": "http://purl.org/syndication/thread/1.0",
    "publishing": "http://www.w3.org/2007/app",
    RSS: "http://purl.org/rss/1.0/ http://my.netscape.com/rdf/simple/0.9/"
    " http://channel.netscape.com/rdf/simple/0.9/ http://backend.userland.com/rss2"
    " http://blogs.law.harvard.edu/tech/rss http://backend.userland.com/rss"
    " http://cyber.law.harvard.edu/rss/rss.html",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "comments": "http://wellformedweb.org/CommentAPI/",
    "trackback": "http://madskills.com/public/xml/rss/module/trackback/",
    "licence": "http://backend.userland.com/creativeCommonsRssModule",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    _RDF: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    _MEDIA: "http://search.yahoo.com/mrss/ http://search.yahoo.com/mrss",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd http://www.itunes.com/DTDs/Podcast-1.0.dtd"
    " http://www.itunes.com/DTDs/PodCast-1.0.dtd",
    "play": "http://www.google.com/schemas/play-podcasts/1.0",
    _PODCAST: "https://podcastindex.org/namespace/1.0"
    " https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md",
    SITEMAP: "http://www.sitemaps.org/schemas/sitemap/0.9 https://www.sitemaps.org/schemas/sitemap/0.9"
    " http://www.google.com/schemas/sitemap/0.9 http://www.google.com/schemas/sitemap/0.84",
    "sitemap image": "http://www.google.com/schemas/sitemap-image/1.1",
    "sitemap video": "http://www.google.com/schemas/sitemap-video/1.1",
    "google data": "http://schemas.google.com/g/2005",
    "product": "http://base.google.com/ns/1.0",
    "export": "http://wordpress.org/export/1.2/ http://wordpress.org/export/1.1/"
    " http://wordpress.org/export/1.0/",
    "excerpt": "http://wordpress.org/export/1.2/excerpt/ http://wordpress.org/export/1.1/excerpt/"
    " http://wordpress.org/export/1.0/excerpt/",
    "webfeeds": "http://webfeeds.org/rss/1.0",
    "opensearch": "http://a9.com/-/spec/opensearch/1.1/",
    _KML: "http://www.opengis.net/kml/2.2 http://www.opengis.net/kml/2.3"
    " http://earth.google.com/kml/2.2 http://earth.google.com/kml/2.1"
    " http://earth.google.com/kml/2.0",
    _GPX: "http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/0",
    _PACKAGE: "http://www.idpf.org/2007/opf http://openebook.org/namespaces/oeb-package/1.0/",
    _NCX: "http://www.daisy.org/z3986/2005/ncx/",
    DOCBOOK: "http://docbook.org/ns/docbook",
    XSLT: "http://www.w3.org/1999/XSL/Transform",
}
XHTML: Final = _NAMESPACES[HTML].encode()
VOCABULARIES: Final[Mapping[bytes, str]] = {
    namespace.encode(): name for name, all_ in _NAMESPACES.items() for namespace in all_.split()
}

# Prefixes that, if unbound, are read as bound to their customary namespace (rule 20).
_PREFIXES: Final = {
    HTML: "xhtml html",
    SVG: "svg",
    ATOM: "atom atom10 a10",
    "threading": "thr",
    "publishing": "app",
    "content": "content",
    "comments": "wfw",
    "trackback": "trackback",
    "licence": "creativeCommons",
    "feedburner": "feedburner",
    _MEDIA: "media",
    "itunes": "itunes",
    "play": "googleplay",
    _PODCAST: "podcast",
    "google data": "gd",
    "product": "g",
    "export": "wp",
    "excerpt": "excerpt",
    "webfeeds": "webfeeds",
    "sitemap image": "image",
    "sitemap video": "video",
}
_XLINK: Final = "http://www.w3.org/1999/xlink"
CUSTOMARY: Final[Mapping[bytes, bytes]] = {
    **{
        prefix.encode(): _NAMESPACES[name].split()[0].encode()
        for name, prefixes in _PREFIXES.items()
        for prefix in prefixes.split()
    },
    b"xlink": _XLINK.encode(),
    b"rdf": _NAMESPACES[_RDF].encode(),
}

# In documents without a namespace, the root decides on the vocabulary.
_ROOTS: Final = {
    RSS: "rss",
    ATOM: "feed entry",
    OPML: "opml",
    SITEMAP: "urlset sitemapindex",
    _KML: "kml",
    _GPX: "gpx",
    DOCBOOK: "book article chapter section sect1 refentry set part appendix preface glossary",
}
ROOTS: Final[Mapping[bytes, str]] = {
    root.encode(): name for name, all_ in _ROOTS.items() for root in all_.split()
}

# Elements with a link that some readers take as the base of the HTML in them.
ITEMS: Final = frozenset(((RSS, b"item"), (ATOM, b"entry"), (ATOM_03, b"entry")))

XML_BASE: Final = b"xml:base"
# The keys of attributes in a namespace that count.
KEYS: Final[Mapping[tuple[bytes, bytes], bytes]] = {
    (b"http://www.w3.org/XML/1998/namespace", b"base"): XML_BASE,
    (_XLINK.encode(), b"href"): b"xlink:href",
    **{
        (_NAMESPACES[_RDF].encode(), name.encode()): f"rdf:{name}".encode()
        for name in ("about", "resource", "datatype")
    },
}

# HTML folds case, so its tables are in lower case; XML writes these names differently.
CASED: Final = {b"feImage": b"feimage", b"attributeName": b"attributename"} | {
    b"definitionURL": b"definitionurl"
}
UNCASED: Final = frozenset(CASED.values())


def _encoded(mode: bytes, *types: bytes) -> Condition:
    """Atom 0.3 §3.1: only `mode` marks encoded markup; early feeds of Atom 1.0 use it too."""
    return Condition(
        (b"mode", b"type"), lambda value: value(b"mode") == mode and value(b"type") in types
    )


_URL: Final = Row(Syntax.URL)
_HTML: Final = Row(Nested.HTML)
_TYPED: Final = Row(Nested.HTML, when=one_of(b"type", b"html", b"text/html"))
_ESCAPED: Final = Row(Nested.HTML, when=_encoded(b"escaped", b"text/html", b"html"))
# Only its elements count, which some feeds write without their namespace.
_BARE: Final = Row(Nested.HTML, when=one_of(b"type", b"xhtml"), only=(b"</",))
_BASE64: Final = _encoded(b"base64", b"text/html", b"application/xhtml+xml")
_IN_BASE64: Final = Row(Nested.HTML, when=_BASE64, stays=Reason.XML_BASE64)
# The empty reference is the base: RFC 3986 §4.4, RDF 1.1 XML Syntax §5.3.
_SAME: Final = Row(Syntax.URL, empty=True)
# Readers identify an item by this string (RSS 2.0: they "must view it as a string"). If it changed,
# every item would be new.
_PERMALINK: Final = Row(Syntax.URL, when=one_of(b"isPermaLink", b"true"), stays=Reason.FEED_GUID)
_PATH: Final = Row(
    Syntax.URL, when=one_of(b"isPermaLink", b""), only=(b"/", b"./", b"../"), stays=Reason.FEED_GUID
)

# (elements, attributes, row), by vocabulary; the attribute "" stands for the text. Of several rows
# of a text, the first whose condition holds counts.
_TABLE: Final[Table] = {
    ATOM: (
        ("link", "href", _SAME),
        ("content", "src", _SAME),
        ("generator", "uri", _URL),
        ("icon logo uri", "", _URL),
        ("title subtitle summary rights content", "", _TYPED),
        ("title subtitle summary rights content", "", _ESCAPED),
        ("title subtitle summary rights content", "", _BARE),
    ),
    ATOM_03: (
        ("link", "href", _URL),
        ("generator", "url", _URL),
        ("url", "", _URL),
        ("title tagline info summary copyright content", "", _ESCAPED),
        ("title tagline info summary copyright content", "", _IN_BASE64),
    ),
    "threading": (("in-reply-to", "href source", _URL),),
    "publishing": (("collection categories", "href", _URL),),
    RSS: (
        ("enclosure source", "url", _URL),
        ("link url docs comments", "", _URL),
        ("guid", "", _PERMALINK),
        ("guid", "", _PATH),
        ("description fullitem", "", _HTML),
    ),
    "content": (("encoded", "", _HTML),),
    "comments": (("comment commentRss commentRSS", "", _URL),),
    "trackback": (("ping", "", _URL),),
    "licence": (("license", "", _URL),),
    "feedburner": (("origLink origEnclosureLink", "", _URL),),
    _RDF: (("*", "about resource", _SAME),),  # of the first drafts, without prefix
    _MEDIA: (
        ("content thumbnail player embed copyright", "url", _URL),
        ("peerLink license subTitle", "href", _URL),
        ("description title", "", _TYPED),
        ("backLink response", "", _URL),
    ),
    "itunes": (("image", "href", _URL), ("new-feed-url", "", _URL), ("summary", "", _HTML)),
    "play": (("image", "href", _URL),),
    _PODCAST: (
        ("*", "url href", _URL),
        ("person", "img", _URL),
        ("source socialInteract", "uri", _URL),
        ("socialInteract", "accountUrl", _URL),
        ("remoteItem", "feedUrl", _URL),
        ("images", "srcset", Row(Syntax.SRCSET)),
    ),
    SITEMAP: (("loc", "", _URL),),
    "sitemap image": (("loc license", "", _URL),),
    "sitemap video": (
        ("uploader", "info", _URL),
        ("thumbnail_loc content_loc player_loc gallery_loc", "", _URL),
    ),
    "google data": (("image", "src", _URL),),
    "product": (("link mobile_link image_link additional_image_link", "", _URL),),
    "export": (("attachment_url", "", _URL),),
    "excerpt": (("encoded", "", _HTML),),
    "webfeeds": (("cover", "image", _URL), ("icon logo", "", _URL)),
    "opensearch": (("Url", "template", Row(Syntax.TEMPLATE)), ("Image", "", _URL)),
    _KML: (
        ("href sourceHref targetHref", "", _URL),
        ("styleUrl", "", Row(Syntax.URL, local=True)),
        ("description", "", _HTML),
    ),
    _GPX: (("link", "href", _URL), ("url", "", _URL)),
    OPML: (("outline", "xmlUrl htmlUrl url", _URL), ("docs ownerId", "", _URL)),
    _PACKAGE: (("item reference link site", "href", _URL),),
    _NCX: (("content img audio", "src", _URL),),
    DOCBOOK: (
        ("imagedata audiodata videodata textdata graphic inlinegraphic", "fileref", _URL),
        ("ulink", "url", _URL),
    ),
}

# What counts on every element.
_EVERYWHERE: Final[dict[bytes, tuple[Row, ...]]] = {
    XML_BASE: (_URL,),
    b"xlink:href": (_URL,),
    **dict.fromkeys((b"rdf:about", b"rdf:resource", b"rdf:datatype"), (_SAME,)),
}


# The vocabulary is bounded, so it is kept; names of a document are not.
@cache
def tables() -> dict[tuple[str, bytes], ElementRows]:
    known: dict[tuple[str, bytes], dict[bytes, tuple[Row, ...]]] = {
        (name, b"*"): {} for name in (*_NAMESPACES, OPML)
    }
    for (name, element, attribute), rows in by_place(_TABLE).items():
        known.setdefault((name, element), {})[attribute] = rows
    for place in {*(place[:2] for place in PLACES), *TEXT_ROWS}:
        html = places.attributes_of(*place)
        known[place] = {**html.rows, b"": html.text}
    tables = {}
    for place, own in known.items():
        by_attribute = {**_EVERYWHERE, **known[place[0], b"*"], **own}
        by_attribute.pop(b"", ())
        tables[place] = element_rows(by_attribute, own.get(b"", ()))
    return tables


UNKNOWN: Final = element_rows(_EVERYWHERE)
TEMPLATE: Final = element_rows({XML_BASE: (_URL,)})


@cache
def deciding_attributes() -> frozenset[bytes]:
    """Return the names of attributes that decide on others: for conditions, bases, item links."""
    names: set[bytes] = {b"xmlns", b"base", b"rel"}
    for held_ in (*tables().values(), UNKNOWN):
        names |= held_.asked - frozenset(held_.rows)
    return frozenset(names)
