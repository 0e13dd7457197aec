"""Which attribute of which element holds a URL: every row, and what is in none.

`@` stands where the base's directory is written: `<a href="@x">` says that `<a href="x">` becomes
`<a href="http://h.example/d/x">`, and `<p href="x">` that it stays.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import cases

from relbase import Policy, Profile, links, rewrite
from relbase.references.vocabulary import PLACES

TABLES = Path(__file__).with_name("vocabulary.txt")

URL = "http://h.example/d/p.html"
DIRECTORY = "http://h.example/d/"


def words(text: str) -> list[str]:
    return text.split()


def each(elements: str, attribute: str, value: str = "@x") -> list[str]:
    return [f"<{element} {attribute}='{value}'>" for element in elements.split()]


HTML_ROWS = [
    # WHATWG HTML, attributes of each element; HTML 4.01 §13 (objects), §16 (frames)
    *each("a area link base", "href"),
    *each("a area", "ping", "@x @y"),
    *each("a area img script", "attributionsrc", "@x @y"),
    *each("img script iframe embed audio video source track frame bgsound", "src"),
    *each("layer ilayer xml fencedframe portal model", "src"),
    *each("img source", "srcset", "@x 2x, @y"),
    "<link imagesrcset='@x 2x, @y'>",
    *each("img iframe frame", "longdesc"),
    *each("img input", "lowsrc"),
    *each("img input", "dynsrc"),
    *each("video audio", "poster"),
    *each("form isindex", "action"),
    *each("button input", "formaction"),
    *each("blockquote q ins del", "cite"),
    *each("object", "data"),
    *each("object", "classid"),
    *each("object applet", "codebase"),
    "<object archive='@x @y'>",
    "<object archive='@x,y'>",
    "<applet archive='@x, @y'>",
    "<object archive='@x @y' classid='@c'>",
    *each("embed", "href"),
    *each("embed", "pluginspage"),
    *each("embed", "pluginurl"),
    *each("body table td th tr thead tbody tfoot colgroup col layer ilayer", "background"),
    "<head profile='@x'>",
    "<html manifest='@x'>",
    *each("menuitem command", "icon"),
    "<script xlink:href='@x'></script>",
    "<xmp href='@x'></xmp>",
    "<iframe srcdoc='<a href=@x>'></iframe>",
    "<p style='a:url(@x)'>",
    "<x-y style='a:url(@x)'>",
    # <image> is <img>
    "<image src='@x' srcset='@y' lowsrc='@z' dynsrc='@w' longdesc='@v' attributionsrc='@u'>",
    # VML
    *each("v:fill v:imagedata v:background V:Stroke v:x", "src"),
    "<v:rect href='@x'>",
]

FOREIGN_ROWS = [
    # SVG 2 §16 (links), §8 (painting), SMIL animation; XLink as SVG 1.1 had it
    *[
        f"<svg>{row}</svg>"
        for row in each("a image use feImage script pattern textPath mpath x", "href")
    ],
    *[
        f"<svg>{row}</svg>"
        for row in each("a image use linearGradient radialGradient filter x", "xlink:href")
    ],
    "<svg><a ping='@x @y'></a></svg>",
    *[
        f"<svg>{row}</svg>"
        for row in each("script image feImage video audio source track iframe", "src")
    ],
    *[
        f"<svg><g {attribute}='url(@x#y)'/></svg>"
        for attribute in words(
            "fill stroke filter clip-path mask cursor marker marker-start marker-mid marker-end "
            "style"
        )
    ],
    *[
        f"<svg><{element} attributeName='{name}' {attribute}='@x'/></svg>"
        for element in ("animate", "set")
        for name in ("href", "xlink:href", "HREF")
        for attribute in ("to", "from", "by")
    ],
    "<svg><animate attributeName='href' values='@x; @y;@z'/></svg>",
    # SMIL animation of presentation attributes, which take CSS
    *[
        f"<svg><{element} attributeName='{name}' {attribute}='url(@x#y)'/></svg>"
        for element in ("animate", "set")
        for name in ("mask", "marker-end", "FILL")
        for attribute in ("to", "from", "by")
    ],
    "<svg><animate attributeName='filter' values='none; url(@x#y);url(\"@z#y\")'/></svg>",
    # MathML 3 §2.1.6, §4.2.5 (csymbol), §3.2.1.2 (mglyph)
    *[f"<math>{row}</math>" for row in each("math mi mrow semantics", "href")],
    *[f"<math>{row}</math>" for row in each("math mi", "xlink:href")],
    "<math altimg='@x'></math>",
    "<math><csymbol definitionURL='@x' cdgroup='@y'/></math>",
    "<math><mglyph src='@x'/></math>",
    "<math style='a:url(@x)'></math>",
]

CONDITIONS = [
    # both ways
    "<input type=image src='@x'>",
    "<input type=IMAGE src='@x'>",
    "<input type=' image ' src='x'>",
    "<input type='&#105;mage' src='@x'>",
    "<input src='x'>",
    "<input type=text src='x'>",
    "<input type=images src='x'>",
    "<meta http-equiv=refresh content='0;url=@x'>",
    "<meta content='0;url=@x' http-equiv=REFRESH>",
    "<meta http-equiv='refre&#115;h' content='0;url=@x'>",
    "<meta content='0;url=x'>",
    "<meta http-equiv=refreshed content='0;url=x'>",
    "<meta name=refresh content='0;url=x'>",
    "<meta http-equiv=link content='<@x>; rel=y, <@z>'>",
    "<meta http-equiv=default-style content='x'>",
    "<svg><animate attributeName='x' to='x' from='x' by='x' values='x'/></svg>",
    "<svg><animate to='x' values='x'/></svg>",
    "<svg><animate attributeName='hr&#101;f' to='@x'/></svg>",
    "<svg><animateTransform attributeName='href' to='x'/></svg>",
    "<svg><animate attributeName='href' to='#x' values='#x;@y'/></svg>",
    "<svg><animate attributeName='fill' to='url(#x)' values='url(#x);x'/></svg>",
    "<svg><animate attributeName='x' to='url(x)' values='url(x)'/></svg>",
    "<svg><animateTransform attributeName='fill' to='url(x)'/></svg>",
    "<style>a{b:url(@x)}</style>",
    "<style type=''>a{b:url(@x)}</style>",
    "<style type='text/CSS'>a{b:url(@x)}</style>",
    "<style type='text/c&#115;s'>a{b:url(@x)}</style>",
    "<style type='text/x'>a{b:url(x)}</style>",
    "<style type='text/css;x'>a{b:url(x)}</style>",
    "<svg><style>a{b:url(@x)}</style></svg>",
    "<math><style>a{b:url(x)}</style></math>",
    '<svg><script type=importmap>{"imports":{"a":"./x"}}</script></svg>',
    "<meta http-equiv=re\u017fresh content='0;url=x'>",
    "<svg><v:rect src='x'/></svg>",
]

NEVER = [
    # microdata and RDFa terms, names, relative class names, what is local
    "<p itemtype=x itemprop=x property=x typeof=x datatype=x vocab=x>",
    "<script for=x event=x></script>",
    "<applet code=x object=x></applet>",
    *each("img input object", "usemap", "x"),
    "<img usemap='#x'>",
    "<p xml:base=x><svg xml:base=x></svg>",
    "<p onclick=x onerror='location=\"x\"'>",
    "<a href='javascript:x'>",
    '<script type="application/ld+json">{"@id":"x","url":"/y"}</script>',
    "<script>x('/y')</script>",
    # attributes of other elements
    *each("p div span", "href", "x"),
    *each("p div a link", "src", "x"),
    *each("p input textarea", "cite", "x"),
    *each("p button input", "action", "x"),
    *each("form a", "formaction", "x"),
    *each("p img iframe", "data", "x"),
    *each("p video input", "srcset", "x"),
    *each("p img", "poster", "x"),
    *each("p div span", "background", "x"),
    *each("html body", "profile", "x"),
    *each("head body", "manifest", "x"),
    *each("a link", "xlink:href", "x"),
    *each("p", "fill", "url(x)"),
    *each("p div iframex", "srcdoc", "<a href=x>"),
    *each("a area", "hrefx", "x"),
    "<svg><image srcset='x'/><rect src='x'/></svg>",
    "<math><mi src='x'/></math>",
    "<meta charset=x name=x content=x>",
]

EXTENDED = [
    # HTML 4.01 §13.3.2: values of param are passed as they are
    "<param name=movie value='@x.y'>",
    "<param name=SRC value='@x.y'>",
    "<param name=x valuetype=ref value='@x.y'>",
    "<param name=x value='x'>",
    "<param name=quality valuetype=data value='x'>",
    # microdata, RDFa Core §7.4
    "<p itemid='@x'>",
    "<svg itemid='@x'></svg>",
    "<p about='@x' resource='@y'>",
    "<p about='[x:y]' resource='_:z'>",
    "<p about=' [x:y]' resource='&#91;x:y]'>",
    # lazy loading
    *[
        f"<img data-{name}='@x.y'>"
        for name in words(
            "src lazy lazy-src original href url bg background poster image thumb full lazyload "
            "flickity-lazyload lazy-background hi-res orig-file medium-file large-file "
            "rocket-src media pin-media pin-url permalink"
        )
    ],
    *[
        f"<img data-{name}='@x 2x, @y'>"
        for name in words("srcset lazy-srcset bgset flickity-lazyload-srcset")
    ],
    "<p data-src='@x.y' data-x='x.y' data-srcs='x.y'>",
    # metadata for social media, tiles, microdata
    *[
        f"<meta property='{name}' content='@x.y'>"
        for name in words(
            "og:url og:image og:audio og:video og:see_also og:image:url og:image:secure_url "
            "OG:Image twitter:url twitter:image twitter:image:src twitter:player "
            "twitter:player:stream"
        )
    ],
    *[
        f"<meta name='{name}' content='@x.y'>"
        for name in words(
            "og:image twitter:image msapplication-TileImage msapplication-starturl "
            "msapplication-config msapplication-square70x70logo thumbnail"
        )
    ],
    *[
        f"<meta itemprop='{name}' content='@x.y'>"
        for name in words("image url logo thumbnailUrl contentUrl embedUrl sameAs")
    ],
    "<meta property='og:title' content='x'><meta name=twitter:card content='x'>",
    "<meta property='og:image:width' content='x'><meta name=description content='x'>",
    "<meta itemprop=name content='x'><meta property='xog:image' content='x'>",
    # Open Graph: a profile's URL, or somebody's name
    "<meta property='article:author' content='@people/x'>",
    "<meta property='article:author' content='Jo Do'><meta name=article:author content='Jo'>",
    "<meta property='article:author' content='Jo / Al'>",
    # AMP
    "<amp-story publisher-logo-src='@x' poster-portrait-src='@y'>",
    "<amp-story poster-square-src='@x' poster-landscape-src='@y'>",
    *each("amp-img amp-anim amp-video amp-audio amp-iframe", "src"),
    *each("amp-img amp-video", "poster"),
    *each("amp-img amp-anim", "srcset", "@x 2x, @y"),
    "<amp-list src='@x'><form action-xhr='@y'>",
    "<model-viewer src='@x' poster='@y' ios-src='@z'>",
    "<amp-x src=x>",
]


def html(row: str) -> bytes:
    return row.replace("@", "").encode()


def expected(row: str) -> bytes:
    return row.replace("@", DIRECTORY).encode()


@pytest.mark.parametrize("row", HTML_ROWS + FOREIGN_ROWS + CONDITIONS)
@pytest.mark.parametrize("extended", [False, True])
def test_rows(row: str, extended: bool) -> None:  # noqa: FBT001
    policy = Policy(extended=extended)
    assert rewrite(html(row), url=URL, kind="html", policy=policy).data == expected(row)


@pytest.mark.parametrize("row", NEVER)
@pytest.mark.parametrize("extended", [False, True])
def test_what_is_in_no_row_stays(row: str, extended: bool) -> None:  # noqa: FBT001
    document = html(row)
    assert (
        rewrite(document, url=URL, kind="html", policy=Policy(extended=extended)).data is document
    )


@pytest.mark.parametrize("row", EXTENDED)
def test_extended_rows(row: str) -> None:
    document = html(row)
    assert rewrite(document, url=URL, kind="html").data is document
    assert rewrite(document, url=URL, kind="html", policy=Policy(extended=True)).data == expected(
        row
    )


@cases(TABLES, "codebase", row=str, added=str)
def test_codebase(row: str, added: str) -> None:
    """Rule 7: a base for rfc1808 and rfc3986, none for browsers."""
    for profile, base in zip(Profile, (added, added, "@"), strict=True):
        result = rewrite(html(row.replace("%", "")), url=URL, kind="html", profile=profile)
        assert result.data == expected(row.replace("%", base)), profile


# Rule 6: (element with an empty value, whether that is a reference)
EMPTY = [
    ("<a href='{}'>", URL),
    ("<area href='{}'>", URL),
    ("<base href='{}'>", URL),
    ("<svg><a href='{}'/></svg>", URL),
    ("<svg><a xlink:href='{}'/></svg>", URL),
    ("<form action='{}'>", URL),
    ("<button formaction='{}'>", URL),
    ("<input formaction='{}'>", URL),
    *[
        (row.replace("@x", "{}"), "")
        for row in HTML_ROWS
        if row.count("@") == 1
        and "'@x'" in row
        and not row.startswith(
            ("<a ", "<area href", "<base", "<form", "<button", "<input formaction")
        )
    ],
    ("<svg><image href='{}'/><use xlink:href='{}'/></svg>", ""),
    ("<math href='{}'></math>", ""),
    ("<a ping='{}' attributionsrc='{}'>", ""),
    ("<img srcset='{}'>", ""),
    ("<meta http-equiv=refresh content='0;url={}'>", ""),
    ("<p style='a:url({})'>", ""),
    ("<p style='a:url(\"{}\")'>", ""),
    ('<script type=speculationrules>{{"prefetch":[{{"urls":["{}"]}}]}}</script>', ""),
    ('<script type=importmap>{{"imports":{{"{}":"{}"}}}}</script>', ""),
    ('<script type=importmap>{{"scopes":{{"{}":{{}}}}}}</script>', URL),
]


@pytest.mark.parametrize(("template", "written"), EMPTY)
@pytest.mark.parametrize("blank", ["", " "])
def test_where_an_empty_value_is_a_reference(template: str, written: str, blank: str) -> None:
    document = template.format(blank, blank).encode()
    becomes = template.format(blank + written, blank + written).encode()
    result = rewrite(document, url=URL, kind="html")
    assert result.data == becomes
    assert result.changed == bool(written)


LOCAL = [
    *[f"<svg><{element} href='#x'/></svg>" for element in ("use", "image", "script", "x")],
    *[f"<svg><{element} xlink:href=' #x '/></svg>" for element in ("use", "pattern", "mpath")],
    *[f"<svg><g {name}='url(#x)'/></svg>" for name in ("fill", "filter", "marker-end")],
    "<p style='filter:url(#x)'>",
    "<style>a{b:url('#x')}</style>",
    "<img usemap='#x'>",
]


@pytest.mark.parametrize("row", LOCAL)
def test_local_references_stay(row: str) -> None:
    """Rule 8."""
    document = row.encode()
    result = rewrite(document, url=URL, kind="html")
    assert result.data is document
    assert result.notes == ()
    assert [link.status.value for link in result.links] == ["kept"] * ("usemap" not in row)


@pytest.mark.parametrize(
    "row",
    [
        *("<a href='{}#x'>", "<area href='{}#x'>", "<svg><a href='{}#x'/></svg>"),
        *("<svg><a xlink:href='{}#x'/></svg>", "<math href='{}#x'></math>", "<img src='{}#x'>"),
        "<link href='{}#x'>",
    ],
)
def test_other_fragments_are_resolved(row: str) -> None:
    """Rule 8."""
    assert rewrite(row.format("").encode(), url=URL, kind="html").data == row.format(URL).encode()


def test_every_attribute_of_the_vocabulary_is_in_a_row_here() -> None:
    documents = [html(row) for row in HTML_ROWS + FOREIGN_ROWS + CONDITIONS + EXTENDED]
    seen = {
        link.attribute.encode()
        for document in documents
        for link in links(document, url=URL, kind="html", policy=Policy(extended=True))
    }
    seen.add(b"srcdoc")  # its links are those of the document in it
    assert seen - {b"", b"style"} == {attribute for _, _, attribute in PLACES} - {b"style"}
