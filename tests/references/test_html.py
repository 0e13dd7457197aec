"""What is markup in an HTML document, and what holds references there. [C]: seen in Chromium."""

from __future__ import annotations

import pytest

import relbase
from relbase.references import html

URL = "http://h.example/d/p.html"


def found(text: str) -> str:
    """Return the references of a document: element@attribute=reference."""
    links = relbase.links(text.encode(), url=URL, kind="html")
    return " ".join(f"{link.element}@{link.attribute}={link.reference}" for link in links)


# (document, its references)
ROWS = [
    ("<a href=x>", "a@href=x"),
    ("<A HREF=x>", "a@href=x"),
    ("<a\nhref\n=\n'x'\n>", "a@href=x"),
    ("<a/href=x>", "a@href=x"),
    ("<a href=x", ""),
    ("< a href=x>", ""),
    ("<1 href=x>", ""),
    ("</a href=x>", ""),
    ("<a href=x href=y>", "a@href=x"),
    ("<a href=x =y><a = href=y>", "a@href=x a@href=y"),  # [C]
    ('<a href="x"b href=z>', "a@href=x"),  # [C]
    ('<a b"=><a href=x>', "a@href=x"),
    ("<a\x0bhref=x>", ""),
    ("<a\u00a0href=x>", ""),
    # threat H10: ASCII case only
    ("<ba\u017fe href=y><lin\u212a href=x><a hre\u0192=x>", ""),
    # comments [C]
    ("<!--><a href=x>-->", "a@href=x"),
    ("<!---><a href=x>-->", "a@href=x"),
    ("<!----!><a href=x>-->", "a@href=x"),
    ("<!--a--!><a href=x>-->", "a@href=x"),
    ("<!-- -- ><a href=x>--><a href=y>", "a@href=y"),
    ("<!--<a href=x>", ""),
    # bogus comments, doctypes and end tags [C]
    ('<!a"><a href=x>', "a@href=x"),
    ('<!doctype html "><a href=x>">', "a@href=x"),
    ('<?a "><a href=x>', "a@href=x"),
    ('</ "><a href=x>', "a@href=x"),
    ('</a "><a href=x>">', "a@href=x"),
    ('</a b="><a href=x>"><a href=y>', "a@href=y"),
    ("</ ><a href=x>", "a@href=x"),
    ("</><a href=x>", "a@href=x"),
    ("<![CDATA[<a href=x>]]><a href=y>", "a@href=y"),
    # raw text
    ("<title><a href=x></title><a href=y>", "a@href=y"),
    ("<textarea><a href=x></textarea><a href=y>", "a@href=y"),
    ("<xmp><a href=x></xmp><a href=y>", "a@href=y"),
    ("<noembed><a href=x></noembed><a href=y>", "a@href=y"),
    ("<noframes><a href=x></noframes><a href=y>", "a@href=y"),
    ("<iframe src=x><a href=x></iframe><a href=y>", "iframe@src=x a@href=y"),
    ("<style><a href=x></style><a href=y>", "a@href=y"),
    ("<script><a href=x></script><a href=y>", "a@href=y"),
    ("<plaintext><a href=x></plaintext>", ""),
    ("<title/><a href=x></title><a href=y>", "a@href=y"),  # `/>` closes nothing in HTML
    ("<script src=x /><a href=x></script>", "script@src=x"),
    ("</title><a href=x>", "a@href=x"),
    # no special parsing in select [C]
    ("<select><style><a href=x></style><a href=y>", "a@href=y"),
    ("<select><xmp><a href=x></xmp><a href=y>", "a@href=y"),
    ("<select><textarea><a href=x></textarea><a href=y>", "a@href=y"),
    ("<select><title><a href=x></title><a href=y>", "a@href=y"),
    ("<select><option><noembed><a href=x></noembed><a href=y>", "a@href=y"),
    ("<select><svg><style><a href=x></style></svg><a href=y>", "a@href=x a@href=y"),
    # noscript: rule 14
    ("<noscript><a href=x></noscript><a href=y>", "a@href=x a@href=y"),
    ("<noscript><!--</noscript><a href=y>", "a@href=y"),
    ("<noscript><style>@import 'x'</noscript><a href=y>", "style@=x a@href=y"),
    ("<noscript><textarea></noscript><a href=y>", "a@href=y"),
    ("<noscript><a href='</noscript><a href=y>", "a@href=y"),
    ("<noscript><noscript><a href=x></noscript><a href=y></noscript>", "a@href=x a@href=y"),
    ("<noscript><a href=x>", "a@href=x"),
    # template
    ("<template><a href=x></template><a href=y>", "a@href=x a@href=y"),
    # conditional comments
    ("<!--[if IE]><a href=x><![endif]--><a href=y>", "a@href=x a@href=y"),
    ("<!--[IF (gte mso 9)|(IE)]><a href=x><![endif]-->", "a@href=x"),
    ("<!--[if !IE]><!--><a href=x><!--<![endif]-->", "a@href=x"),
    ("<!--[if !IE]>--><a href=x><!--<![endif]-->", "a@href=x"),
    ("<![if !IE]><a href=x><![endif]>", "a@href=x"),
    ("<!-- [if IE]><a href=x><![endif]-->", ""),
    ("<!--[if IE]><style>@import 'x'<![endif]--><a href=y>", "style@=x a@href=y"),
    ("<!--[if IE]><a href='<![endif]--><a href=y>", "a@href=y"),
    ("<!--[if IE]><style>@import url(--></style><a href=y>", "a@href=y"),
    ("<!--[if IE]><style>@import url(x--!></style><a href=y>", "style@=x a@href=y"),
    ("<!--[if IE]><a href=x--><a href=y>", "a@href=y"),
    ("<!--[if IE]><a href=x>", "a@href=x"),
    ("<!--[if IE]><!--[if mso]><a href=x><![endif]-->", ""),  # a comment in a comment
    ("<noscript><!--[if IE]><a href=x><![endif]--></noscript>", "a@href=x"),
    (
        "<!--[if mso]><v:fill src=x /><v:imagedata src='y'/><![endif]-->",
        "v:fill@src=x v:imagedata@src=y",
    ),
    # frameset pages [C]
    ("<frameset><frame src=x></frameset>", "frame@src=x"),
    ("<frameset><xmp><frame src=x></xmp><frame src=y>", "frame@src=x frame@src=y"),
    ("<frameset><style><frame src=x></style><frame src=y>", "frame@src=x frame@src=y"),
    ("<frameset><textarea><frame src=x>", "frame@src=x"),
    ("<svg><g></g></svg><frameset><textarea><frame src=x>", "frame@src=x"),
    ("<svg>t</svg><frameset><textarea><frame src=x>", ""),
    ("<frameset><noframes><frame src=x></noframes><frame src=y>", "frame@src=y"),
    ("<frameset><a href=x><frame src=y>", "frame@src=y"),
    ("<frameset><svg><frame src=x></svg>", "frame@src=x"),
    ("<p><frameset><textarea><frame src=y></textarea>", "frame@src=y"),
    ("<title>t</title><frameset><xmp><frame src=x>", "frame@src=x"),
    ("<!-- c --> <script>s</script><frameset><xmp><frame src=x>", "frame@src=x"),
    ("x<frameset><xmp><frame src=x></xmp>", ""),
    ("<table><frameset><xmp><frame src=x></xmp>", ""),
    ("<body><frameset><xmp><frame src=x></xmp>", ""),
    ("<br><frameset><xmp><frame src=x></xmp>", ""),
    # foreign content [C]
    ("<svg><style><a href=x></style></svg>", "a@href=x"),
    ("<svg><script><a href=x></script></svg>", "a@href=x"),
    ("<svg><title><style><a href=x></style></title></svg>", ""),
    ("<svg><![CDATA[<a href=x>]]><a href=y>", "a@href=y"),
    ("<svg><!--[if IE]><link href=x><![endif]-->", "link@href=x"),
    ("<svg><![CDATA[<a href=x>", ""),
    ("<svg><desc><![CDATA[<a href=x>]]><a href=y>", "a@href=y"),
    ("<svg><desc><b><![CDATA[<a href=x>]]><a href=y>", "a@href=y"),
    ("<svg><foreignObject></svg><![CDATA[<a href=x>]]><a href=y>", "a@href=y"),
    ("<svg><a><image href=x></svg>", "image@href=x"),
    ("<svg><image src=x srcset=y></svg>", "image@src=x"),
    ("<image src=x srcset='y 2x'>", "image@src=x image@srcset=y"),
    ("<svg><use xlink:href=#s /><use href=x#s />", "use@xlink:href=#s use@href=x#s"),
    ("<svg><style>a{b:url(x)}</style>", "style@=x"),
    ("<svg><style><![CDATA[a{b:url(x)}]]></style><a href=y>", "style@=x a@href=y"),
    # the text of a style element of SVG: character references, and what interrupts it [C]
    ("<svg><style>a{b:url(&quot;x&quot;)}@import '&#x2f;y?&amp;'</style>", "style@=x style@=/y?&"),
    ("<svg><style><![CDATA[a{b:url(x?&amp;)}]]></style>", "style@=x?&amp;"),
    ("<style>a{b:url(x?&amp;)}</style>", "style@=x?&amp;"),
    ("<svg><style><!-- url(w) -->a{b:url(x)}</style>url(y)", "style@=x"),
    # comments and strings of CSS go over comments of SVG [C]
    ("<svg><style>a{b:url(x) /* <!-- c --> url(y) */}</style>", "style@=x"),
    ("<svg><style>a{b:'<!-- c -->url(x)'; c:url(y)}</style>", "style@=y"),
    ("<svg><style>a{b:url(x<![CDATA[/y&amp;)}c{d:url(z]]>&amp;)}", "style@=x/y&amp; style@=z&"),
    (
        "<svg><style>a{b:url(x)}<!--url(w)-->c{d:url(y)}<![CDATA[]]>e{f:url(z)}",
        "style@=x style@=y style@=z",
    ),
    ("<svg><style>a{b:url(x)}<g/>c{d:url(y)}</style>", "style@=x style@=y"),
    ("<svg><style>a < b{c:url(x)}</style>", "style@=x"),
    ("<svg><style><g>a{b:url(x)}</g></style>", ""),
    ("<svg><style type=text/less>@a:<!-- -->url(x)<![CDATA[a{b:url(y)}]]></style>", ""),
    ("<svg><style type='text/css'><!-- -->a{b:url(x)}</style>", "style@=x"),
    ("<svg><style/>url(x)</svg><a href=y>", "a@href=y"),
    ("<svg><style href=x />url(y)<style>a{b:url(z)}", "style@href=x style@=z"),
    ("<math><style>@import 'x'</style></math><a href=y>", "a@href=y"),
    ("<math href=x><mi><a href=y>", "math@href=x a@href=y"),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_references(text: str, expected: str) -> None:
    assert found(text) == expected


# (document, the base that counts; None where none does). Rule 4, threat H11.
BASES = [
    ("<base href=http://b/>", "http://b/"),
    ("<BASE HREF='http://b/'>", "http://b/"),
    ("<base><base href=http://b/>", "http://b/"),
    ("<base target=x><base href=http://b/><base href=http://c/>", "http://b/"),
    ("<body><p><base href=http://b/>", "http://b/"),
    ("<table><base href=http://b/>", "http://b/"),
    ("<select><base href=http://b/>", "http://b/"),
    # </select> ends foreign content where a select is open: another one, and input, close it [C]
    ("<select><svg></select><base href=http://b/></svg>", "http://b/"),
    ("<select><select><svg></select><base href=http://b/></svg>", None),
    ("<select><input><svg></select><base href=http://b/></svg>", None),
    ("<select><select><select><svg></select><base href=http://b/></svg>", "http://b/"),
    ("<object><base href=http://b/></object>", "http://b/"),
    ("<a href=x><base href=http://b/>", "http://b/"),
    ("</head></body></html><base href=http://b/>", "http://b/"),
    ("<base href=http&#58;//b/>", "http://b/"),
    ("<base href=' http://\nb/ '>", "http://b/"),
    ("<svg><foreignObject><base href=http://b/>", "http://b/"),  # [C]
    ("<svg><base href=http://b/>", None),
    ("<math><base href=http://b/>", None),
    ("<template><base href=http://b/></template>", None),
    ("<template><template></template><base href=http://b/></template>", None),
    ("<template></template><base href=http://b/>", "http://b/"),
    ("</template><template></template><base href=http://b/>", "http://b/"),
    ("<template><svg></template><base href=http://b/>", "http://b/"),
    ("<svg><template></svg><base href=http://b/>", "http://b/"),
    ("<svg><desc><template><base href=http://b/></template></svg>", None),
    ("<svg><desc><template></template><base href=http://b/>", "http://b/"),
    ("<noscript><base href=http://b/></noscript>", None),
    ("<!--<base href=http://b/>-->", None),
    ("<!--[if IE]><base href=http://b/><![endif]-->", None),
    ("<style><base href=http://b/></style>", None),
    ("<script>'<base href=http://b/>'</script>", None),
    ("<title><base href=http://b/></title>", None),
    ("<textarea><base href=http://b/></textarea>", None),
    ("<xmp><base href=http://b/></xmp>", None),
    ("<iframe><base href=http://b/></iframe>", None),
    ("<iframe srcdoc='<base href=http://b/>'></iframe>", None),
    ("<frameset><base href=http://b/>", None),
    ("<plaintext><base href=http://b/>", None),
    ("<base href=http://b/", None),
    ("<basefont href=http://b/>", None),
    ("<base\x0bhref=http://b/>", None),
    ("<ba\u017fe href=http://b/>", None),
]


@pytest.mark.parametrize(("text", "expected"), BASES)
def test_embedded_base(text: str, expected: str | None) -> None:
    assert relbase.base(text.encode(), url=URL, kind="html").url == (expected or URL)


def test_nothing_is_seen_beyond_the_end() -> None:
    text = b"<a href=x><a href=y>"
    assert [element[2:5] for element in html.elements(text, 0, 10)] == [(0, 2, 10)]
    assert list(html.elements(text, 10, 19)) == []
