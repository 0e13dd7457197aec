"""Documents to try laws on: HTML by a grammar, with links everywhere a link may be, and broken.

What comes out is bytes in UTF-8. A document is a list of pieces in any order: tags with attributes
in every quoting, raw text, comments, foreign content, and pieces that end too early. A value is
made as its author means it and then written for its place, with escapes where they are needed and
sometimes where they are not.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

# References as authors mean them. Most are relative; the others have to be left alone.
RELATIVE: Final = (
    *("x", "x.png", "../x", "./x/y", "/x", "//other.example/x", "?a=1&b=2", "#f", "x#f", "g;p?q#f"),
    *(
        ".",
        "..",
        "../../../g",
        "x?a=1&copy=2",
        "x y",
        " x ",
        "\tx\n",
        "x,y",
        "a(b)'c\"d",
        "é/ü",
        "x\\y",
    ),
    *("<b>", "x>y", "a\nb", "%41%zz", "x:y/z", "\u2028", "&amp;", "a=b", "`", "-->", "]]>", "x?é"),
)
ABSOLUTE: Final = (
    *("http://h.example/", "https://a/b?c=d&e=f#g", "mailto:a@b", "data:,x", "javascript:f('x')"),
    *("cid:1@x", "about:blank", "urn:x:y", "HTTP://A/"),
)
references = st.one_of(
    st.sampled_from(RELATIVE), st.sampled_from(RELATIVE), st.sampled_from(ABSOLUTE), st.just("")
)

# Base URLs that try to end the value they are written into (threat A4).
HOSTILE: Final = (
    *('http://h.example/"><script src=//evil.example/>/', "http://h.example/'onload='x'/"),
    *("http://h.example/a)b(c/d", "http://h.example/a,b, c 2x/", "http://h.example/&copy=1&lt;/"),
    *("http://h.example/</style></script></noscript>-->]]>/", "http://h.example/\\22 );x:url(/"),
    *(
        "http://h.example/a b\tc\nd\re\x00f/",
        "http://h.example/é\u202e\udc80/",
        "http://h.example/;'\"/",
    ),
    *(
        "http://h.example/`=<>/",
        "http://u:p@h.example/d/",
        "http://h.example?q",
        "http://h.example",
    ),
    *("x-a://h/,;'\"()<>&amp;\\/", "http://h.example/" + "d/" * 40),
)
PLAIN: Final = "http://h.example/d/p.html"
# Of one that is plain a few examples are enough.
bases = st.sampled_from((PLAIN, PLAIN, PLAIN, *HOSTILE))


@st.composite
def _attribute_text(draw: st.DrawFn, value: str) -> bytes:
    """Write a value with its quotes, or without, as an author would."""
    quote = draw(st.sampled_from(('"', '"', "'", "")))
    if not quote and (not value or set(value) & set(" \t\n\f\r\"'=<>`\0")):
        quote = '"'
    escapes = draw(st.sampled_from(("needed", "named", "numeric")))
    written = []
    for character in value:
        if character == quote or (character == "&" and escapes != "needed"):
            written.append(f"&#{ord(character)};" if escapes == "numeric" else _NAMED[character])
        elif escapes == "numeric" and character in "/.:?":
            written.append(f"&#x{ord(character):x};")
        else:
            written.append(character)
    return f"{quote}{''.join(written)}{quote}".encode("utf-8", "surrogatepass")


_NAMED: Final = {'"': "&quot;", "'": "&#39;", "&": "&amp;"}

_equals = st.sampled_from((b"=", b"=", b"=", b" = ", b"=\n"))
_space = st.sampled_from((b" ", b" ", b" ", b"\n", b"\t", b"/", b" / ", b"  "))


@st.composite
def attribute(draw: st.DrawFn, name: str, value: st.SearchStrategy[str]) -> bytes:
    """Draw an attribute; now and then in upper case or without a value."""
    written = name.upper() if draw(st.integers(0, 9)) == 0 else name
    if draw(st.integers(0, 19)) == 0:
        return written.encode()
    return written.encode() + draw(_equals) + draw(value.flatmap(_attribute_text))


@st.composite
def css(draw: st.DrawFn, *, declarations: bool = True) -> str:
    """Draw declarations or a style sheet."""
    pieces = []
    for _ in range(draw(st.integers(1, 3))):
        reference = draw(references).replace("\n", " ").replace("\\", "")
        bare = reference.translate(dict.fromkeys(map(ord, "\"'() \t\u2028"), ""))
        url = draw(
            st.sampled_from(
                (f"url({bare})", f'url("{_q(reference)}")', f"url( '{_s(reference)}' )")
            )
        )
        pieces.append(
            draw(
                st.sampled_from(
                    (
                        f"background: {url};",
                        f"--x: {url};",
                        f'/* {url} */ content: "{_q(url)}";',
                        f"background: image-set({url} 1x, '{_s(reference)}' 2x);",
                        f"src: src('{_s(reference)}') format('woff');",
                        rf"background: \75rl({bare});",
                    )
                )
                if declarations
                else st.sampled_from(
                    (
                        f"@import {url};",
                        f'@import "{_q(reference)}" print;',
                        f"a {{ background: {url} }}",
                        f"@namespace {url};",
                        f"<!-- @font-face {{ src: {url} }} -->",
                        f"/* {url} */ a > b {{}}",
                    )
                )
            )
        )
    return "".join(pieces)


def _q(value: str) -> str:
    return value.replace('"', r"\"")


def _s(value: str) -> str:
    return value.replace("'", r"\'")


@st.composite
def srcset(draw: st.DrawFn) -> str:
    """Draw a srcset."""
    candidates = [
        "".join(draw(references).split()) + draw(st.sampled_from((" 1x", " 200w", "", " 2x (a,b)")))
        for _ in range(draw(st.integers(1, 3)))
    ]
    return draw(st.sampled_from((", ", " , ", ",\n", ","))).join(candidates)


@st.composite
def refresh(draw: st.DrawFn) -> str:
    """Draw the content of a refresh."""
    reference = draw(references)
    form = draw(
        st.sampled_from(("0;url={}", "5; URL = '{}'", '0,url="{}', "1 {}", "0; {}", "0;url='{}' x"))
    )
    return form.format(reference)


lists = st.lists(references, min_size=1, max_size=3).map(" ".join)

# (element, attribute, value): each syntax of the vocabulary, and places that hold no link.
_PLACES: Final[tuple[tuple[str, str, st.SearchStrategy[str]], ...]] = (
    ("a", "href", references),
    ("a", "href", references),
    ("a", "ping", lists),
    ("area", "href", references),
    ("img", "src", references),
    ("image", "src", references),
    ("img", "srcset", srcset()),
    ("source", "srcset", srcset()),
    ("link", "href", references),
    ("link", "imagesrcset", srcset()),
    ("form", "action", references),
    ("button", "formaction", references),
    ("input type=image", "src", references),
    ("input", "src", references),
    ("object codebase=o/", "data", references),
    ("object", "archive", lists),
    ("applet", "archive", st.lists(references, min_size=1, max_size=2).map(",".join)),
    ("blockquote", "cite", references),
    ("td", "background", references),
    ("meta http-equiv=refresh", "content", refresh()),
    ("meta http-equiv=Link", "content", references.map("<{}>; rel=x".format)),
    ("meta name=og:url", "content", references),
    ("p", "style", css()),
    ("svg", "href", references),
    ("use", "xlink:href", references),
    ("circle", "fill", references.map("url({})".format)),
    ("image", "href", references),
    ("animate attributeName=href", "values", st.lists(references, max_size=3).map(";".join)),
    ("a", "data-src", references),
    ("a", "title", references),
    ("amp-img", "src", references),
    ("v:fill", "src", references),
)


@st.composite
def start_tag(draw: st.DrawFn) -> bytes:
    """Draw a start tag with one or two attributes, perhaps one of them twice."""
    element, name, value = draw(st.sampled_from(_PLACES))
    parts = [element.encode(), draw(attribute(name, value))]
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(attribute("style", css())))
    if draw(st.integers(0, 9)) == 0:
        parts.append(draw(attribute(name, value)))
    end = draw(st.sampled_from((b">", b">", b">", b" >", b" />")))
    return b"<" + draw(_space).join(parts) + end


_NAMES: Final = (
    *("a", "p", "div", "span", "table", "tr", "td", "select", "option", "b", "font", "form", "li"),
    *("svg", "math", "foreignObject", "desc", "title", "style", "script", "mi", "annotation-xml"),
    *(
        "template",
        "noscript",
        "textarea",
        "xmp",
        "iframe",
        "noembed",
        "noframes",
        "frameset",
        "object",
    ),
)
end_tag = st.sampled_from(_NAMES).map(lambda name: f"</{name}>".encode())
bare_tag = st.sampled_from(_NAMES).map(lambda name: f"<{name}>".encode())

_text = st.sampled_from(
    (
        b"text ",
        b"&amp;",
        b"&lt;a href=x>",
        b"\xc3\xa9",
        b"\xff",
        b"\0",
        b"\r\n",
        b"<",
        b"< a href=x>",
        b">",
    )
)
_broken = st.sampled_from(
    (
        *(
            b"<a href=x",
            b'<a href="x',
            b"<a href='",
            b"<a href",
            b"<!--",
            b"<!-",
            b"<!",
            b"</",
            b"<?x",
        ),
        *(
            b"<![CDATA[",
            b"]]>",
            b"--!>",
            b"-->",
            b'"',
            b"'>",
            b"=",
            b"<a =x href==y>",
            b"<a 'b' href=x>",
        ),
        *(
            b"<A HREF=x/>",
            b"<a\x0bhref=x>",
            b"<a href=x\0y>",
            b"<ba\xc5\xbfe href=//evil/>",
            b"</a href=x>",
        ),
        *(
            b"<!--[if IE]>",
            b"<![endif]-->",
            b"<!--<script>",
            b"</script >",
            b"</style/x>",
            b"<plaintext>",
        ),
    )
)


@st.composite
def base_tag(draw: st.DrawFn) -> bytes:
    """Draw a base element, most often a good one."""
    href = draw(
        st.one_of(
            st.sampled_from(
                ("http://b.example/e/", "sub/", "/", "../", "//c.example", "", "?q", "#f")
            ),
            st.sampled_from(HOSTILE).filter(lambda url: "\udc80" not in url),
            st.sampled_from(
                ("data:,x", "javascript:x", "http://[bad", "mailto:x@y", "C:\\x", "about:blank")
            ),
        )
    )
    return b"<base href=" + draw(_attribute_text(href)) + b">"


_RAW_TEXT: Final = (
    *("title", "textarea", "xmp", "iframe", "noembed", "noframes", "script"),
    *("noscript", "noscript"),
)


@st.composite
def raw_text(draw: st.DrawFn, inside: st.SearchStrategy[bytes]) -> bytes:
    """Draw an element whose text is not markup, with markup in it."""
    name = draw(st.sampled_from(_RAW_TEXT)).encode()
    return b"<%b>%b</%b>" % (name, draw(inside), name)


@st.composite
def style_element(draw: st.DrawFn) -> bytes:
    """Draw a style element."""
    text = draw(css(declarations=False)).encode("utf-8", "surrogatepass")
    return draw(st.sampled_from((b"<style>%b</style>", b"<style type=text/css>%b</STYLE >"))) % text


@st.composite
def json_script(draw: st.DrawFn) -> bytes:
    """Draw an import map or speculation rules."""
    form = draw(
        st.sampled_from(
            (
                b'<script type=importmap>{"imports": {"a": "./%b"}, "scopes": {"%b": {}}}</script>',
                b'<script type=speculationrules>{"prefetch": [{"urls": ["%b", "%b"]}]}</script>',
            )
        )
    )
    words = st.sampled_from((b"x.js", b"\\u002e/y", b"/z\\/", b"http://a/", b"<b>"))
    return form % (draw(words), draw(words))


@st.composite
def srcdoc(draw: st.DrawFn, inside: st.SearchStrategy[bytes]) -> bytes:
    """Draw a document within an attribute."""
    text = draw(inside).decode("utf-8", "replace").replace("\0", "")
    return b"<iframe srcdoc=" + draw(_attribute_text(text)) + b"></iframe>"


_simple = st.one_of(
    start_tag(), start_tag(), start_tag(), style_element(), json_script(), bare_tag, end_tag
)
_few = st.lists(st.one_of(_simple, _text, base_tag()), min_size=1, max_size=4).map(b"".join)
_nested = st.one_of(
    raw_text(_few),
    srcdoc(_few),
    srcdoc(srcdoc(_few)),
    _few.map(lambda text: b"<!--%b-->" % text),
    _few.map(lambda text: b"<!--[if mso]>%b<![endif]-->" % text),
    _few.map(lambda text: b"<template>%b</template>" % text),
    _few.map(lambda text: b"<svg>%b</svg>" % text),
    _few.map(lambda text: b"<svg><![CDATA[%b]]></svg>" % text),
    _few.map(lambda text: b"<svg><foreignObject>%b</foreignObject></svg>" % text),
    _few.map(lambda text: b"<math><mi>%b</mi></math>" % text),
)
pages = st.lists(
    st.one_of(_simple, _simple, _simple, _simple, _nested, _text, base_tag(), _broken), max_size=8
).map(b"".join)
