"""Documents made at random, of names that the vocabulary knows, and of what is around them.

Links stand everywhere a link may be, in every quoting, and much is broken.
"""

import html
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from relbase.references import tags, vocabulary

_VALUES: Final = (
    *("x", "/x", "../x", "./", "../../a/b", "//h/x", "?q", "#f", "#", "", " x ", "x y"),
    *("http://a/", "HTTP://a/", "https://a/?b&amp;c", "data:,x", "javascript:x()", "mailto:a"),
    *("a:b", "x\x7f", "a&amp;b", "a&copy=1", "&#46;/x", "caf\xe9", "{{ x }}", "%name%/x", "a%%x%%"),
    *("-link-", "[link]", "a[[x]]", "*|x|*", "x/${y}", "#{x}", "%7b%7bx%7d%7d", "x%20y%20", "?-x-"),
    *("%2e./x", "x\n", "foo:a\tb", "http:g", "x 1x, y 2x", "http://a/ 1x, ../y 2x", "a,b, c"),
    *("x (1,2), y", ",x,,", "0;url=x", "refresh", "a:url(x)", "a:url('x')", 'a:url("../x")'),
    *("a:url(&quot;x&quot;)", "a:url( /x )", "a:url(#i)", "a:image-set('x' 1x)", "--x:url(y)"),
    *("a:src('x')", "a:u\\72l(x)", "@import 'x'", "a:url(", "'", "--x:{;url(y)};b:url(z)"),
    *("/* url(x) */ b:url(y)", "a:'url(x)';b:url(y)", "a:url(x y)", "\\", "a:\\:url(x)"),
    *("a:\\66 url(x)", "text/css", "importmap", "image", "href", "fill", "link", "./a b/c d.js"),
    *(" /x ", "\n//h/a b\n", " http://a/ ", "a  b", "?a b", "# c", "\0x ", "a b:c"),
    *("a:url(&#39;../a b&#39;)", "a:url(&quot;x'y&quot;)", "f:&quot;A&quot;;a:url(x)"),
    *("&amp;a:url(y)", "f:&#39;a&quot;b&#39;;b:url(x)", "a:url(&quot;&quot;)"),
    *("a:url( &quot;/x&amp;y&quot; )", "//a.b-c.d/e?f", "//A.b/c", "//a.1/b", "//xn--a/b"),
    *("//a..b/c", "//a.b", "//a.b:8/c", "//a.0x1/", "//1.a/b", "//a.b./c", "//a.b/../c", "//-a/b"),
    *("//a_b/c", "//a%41/b", "//a.b/c%20d", "//0x7f/a", "@import 'http://a/';a:url(x)"),
    *("@import url(x);", "a:url('\"x y\"')", 'a:url("\'x"),url(y)', "f:'\xe9';a:url(x)"),
    *("\xe9x{a:url(/x)}", "a:url(x)\xe9\\", " image", "IMAGE", "imag&#101;", "a:url(http://a/)"),
    *("a:URL(HTTPS://a/)", "<!--url(x)", "a:url(x)}b{c:url(y)", "text/less"),
)
_OTHERS: Final = (
    *("</p>", "</svg>", "</math>", "</style>", "</script>", "</template>", "</noscript>", "</a>"),
    *("<!--", "-->", "<!--[if IE]>", "<![endif]-->", "<!-->", "--!>", "<![CDATA[", "]]>", "<?x?>"),
    *("<!doctype html>", "<", ">", "/>", "'", '"', "=", "a{b:url(x)}", "@import 'x';"),
    '<style>@import url(http://a/);@import "http://b/" x;a{b:url(/c)}</style>',
    "<style>@charset 'x';@import'//a';a{b:url('c \"d\"'),url(e)}</style>",
    *("<input type=image src=", "text", "\n", "<base href='b/'>", "<base>", "<template>"),
    *("<title>", "</title>", "<svg>", "<math><mi>", "<svg><title>", "<svg><style>"),
    *("<svg><use href='#a'/>", "<frameset>", "<plaintext>", "&"),
    '<script type=importmap>{"imports":{"a":"./x","b":"\\u002e/y"},"scopes":{"/z\\/":{}}}</script>',
    '<script type=speculationrules>{"prefetch":[{"urls":["x.js","http://a/"]}]}</script>',
)
# What pieces stand in; `srcdoc` is a document of its own.
_AROUND: Final = (
    *('<iframe srcdoc="{}"></iframe>', "<!--{}-->", "<!--[if mso]>{}<![endif]-->", "<svg>{}</svg>"),
    *("<template>{}</template>", "<svg><![CDATA[{}]]></svg>", "<math><mi>{}</mi></math>"),
    *("<svg><foreignObject>{}</foreignObject></svg>", "<textarea>{}</textarea>"),
)

# What stands in a url(), in quotes or not, and what sheets and declarations are made of.
_IN_BRACKETS: Final = (
    *("x", "../x", "/x", "?q", "#f", "", "#", "//h/x", "./", "x/./y", "x//.", "x?/."),
    *("../../a//./b", "http://a/", "HTTP://a", "https://a/x'y", "http:", "http:g", "data:,x"),
    *("DATA:a;b,c", "data:", "a b", "x y", "{{x}}", "%7bx", "a%2eb", "\\66", "x\\", "\xe9"),
    *("x\xe9@", "a:b", "-x", ";x", ":x", "x\ny", "http://a/\xe9", "data:,\xe9", "http://a b/"),
    *("data:,<p>", "x{y", "x[", "x|", "x`", "x^", "a,b", "x;y"),
)  # fmt: skip
_TAME: Final = (
    *("x", "../x.png", "/a/b", "//h/x?y", "?q", "#f", "", "x;y,z", "./a", "../../a/b", "a/."),
    *("http://a/b", "https://a/?b=c", "data:image/png;base64,AA==", "HTTP://a/", "data:,x"),
)
_BEFORE_URL: Final = (
    *("a:", "a{b:", ".c #d>e{f:", "@import ", ";@import ", "}@import ", "--x:", ",", ";a:", ""),
    *("a{b:calc(1px)}c[d='e']{f:", "@media (a:b){c{d:", "--a b{c:", "a{--b:c;d:", "/*u*/a{b:"),
)
_OF_SHEETS: Final = (
    *("<![CDATA[", " <![CDATA[ ", "]]>", "/*<![CDATA[*/", "/*]]>*/", "<!--", "-->", "<!-", "<"),
    *(">", "/*", "*/", "a{", "}", "};", ";", "{}", "a{b:c}", "--x a{", "--x:", "--x{", "--x :{"),
    *("--x;", "--", "--x/**/:", "-\\-x:", "--active, b{c:d}", "--x:{;", "--a:b;", "@media x{"),
    *("@supports (--a:", "@container x{", "@namespace ", "@x ", "@import ", "@IMPORT"),
    *("@import/**/", "@import'x'", "@importx", "@im\\port 'x'", "@charset 'x';", "x@import "),
    *("[", "]", "[a=']']", "[a^=x]", "(", ")", "((", "f(", "calc(1)", "not(a[b=c])", "((((x))))"),
    *("src('x')", "'", '"', "'x'", '"y"', "'\\'", '"http://a/"', "'HTTPS://a/b' x;", "'data:,x'"),
    *("'#f'", "''", "\\", "\\66", "\xe9", "\xe9\\", "image-set('x')", "image-set(", "#url(x)"),
    *("@url(x)", "-url(x)", "url (x)", "u\\72l(x)", "URL(/x)", "\0", "\n", "&quot;", "&quot"),
    *("&amp;", "&#39;", "&lt;", "format('x')", "url(x", "url('x", "<p>", "</p>", "</sty"),
    *("</stylex", "%"),
)  # fmt: skip
_STYLES: Final = (
    *("<style>", "<STYLE>", "<style type=text/css>", "<style media='x' type='TEXT/CSS'>"),
    "<style type=x>",
)
# Vocabularies of XML: start tags, and those of the root.
_FEED: Final = ("title", "link", "url", "guid", "guid isPermaLink='true'", "description", "item")
_VOCABULARIES: Final = (
    (
        (*_FEED, "item", "description", "content:encoded", "enclosure", "x:y", "channel"),
        ("rss", "rss xmlns:content='http://purl.org/rss/1.0/modules/content/'"),
    ),
    (
        (
            *("entry", "link", "content type='html'", "content", "summary type='html'", "title"),
            *("title type='html'", "link rel='alternate'", "entry xml:base='http://e/'", "id"),
            *("entry xml:base='../f/'", "logo", "a:link", "link xmlns='x'", "x xmlns:a='y'"),
        ),
        ("feed xmlns='http://www.w3.org/2005/Atom'", "feed"),
    ),
    (
        ("a", "use", "g", "path", "image", "style", "text", "a xml:base='b/'", "svg", "title"),
        ("svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'",),
    ),
    (
        ("a", "p", "img", "base", "template", "style", "div", "form", "input", "link", "video"),
        ("html xmlns='http://www.w3.org/1999/xhtml'",),
    ),
    (("url", "loc", "lastmod", "image:loc"), ("urlset", "sitemapindex")),
)
_XML_ATTRIBUTES: Final = (
    *("href", "src", "url", "uri", "id", "class", "type", "rel", "style", "xlink:href", "xml:base"),
    *("srcset", "action", "poster", "x:href", "xmlns:x", "xml:lang", "content", "codebase"),
)
_ODD_XML: Final = (
    *("<!-- x -->", "<!---->", "<![CDATA[x]]>", "<?x y?>", "</x>", "<", "&", "&nbsp;", "<x"),
    *("<a b>", "<a b='c' b='d'/>", "<a href='x' href='y'/>", "<!DOCTYPE x>", "]]>", "<!-- -- -->"),
    *("<a/ >", "<x y=z>", "text", "<p>x</P>", "<![CDATA[", "<!--", "<?", "<a href='<'/>"),
    "<a\fhref='x'/>",
)
_MARKUP: Final = (
    *("<p>", "</p>", "text", '<a href="/x">', "<a href='../y?a&amp;b'>", '<img src="i/j.png">'),
    *("<a href=z>", '<a href="http://a/">', "<br/>", '<img srcset="a 1x, /b 2x">', "&nbsp;"),
    *('<p style="a:url(x)">', "<style>a{b:url('/c')}</style>", "\n", "&amp;", '<a href="./q">'),
)

# Names that begin as those do that are told by their first letters.
_BEGINNINGS: Final = (
    *("styl", "styles", "base2", "bas", "p", "sx", "t", "xm", "xmpx", "s", "n", "nosc"),
    *("noframesx", "titl", "x", "svgx", "ma", "mathx", "templ", "frames", "iframes", "scrip"),
    *("scripts", "plaint", "text", "b", "i", "se"),
)  # fmt: skip


_FLAWS: Final = (b"&", b"&nbsp;", b"&x", b"\x01", b"\xe9", b"\xef\xbf\xbe", b"\r\n", b"<x/>")


class Soup:
    """Makes documents of the names that the vocabulary knows, and of what is around them."""

    def __init__(self, random_: random.Random, kept: Sequence[bytes] = ()) -> None:
        """`kept` are documents of others, pieces of which are changed."""
        self.random = random_
        self.pieces = 8  # at most in a document
        self._kept = kept
        places = vocabulary.PLACES
        self._elements = sorted(
            {element.decode().replace("*", "p") for _, element, _ in places}
            | {name.decode() for name in tags.RAW_TEXT}
            | {"p", "div", "g", "path", "use", "text", "filter", "mrow", "mi", "template"}
        )
        deciding = {
            name.decode()
            for rows in places.values()
            for row in rows
            if row.when
            for name in row.when.asks
        }
        self._attributes = sorted(
            {attribute.decode() for _, _, attribute in places} | deciding | {"id", "class"}
        )
        # What always counts three times as often as what only some readers take for URLs.
        self._pairs = sorted(
            (element.decode().replace("*", "p"), attribute.decode())
            for (_, element, attribute), rows in places.items()
            for _ in range(1 if rows[0].extended else 3)
        )
        self.documents: Mapping[str, Callable[[], bytes]] = {
            "html": self._html,
            "css": self._style_sheet,
            "xml": self._xml,
        }

    def _style_sheet(self) -> bytes:
        begin = self.random.choice(("", "", "", "\ufeff", "@charset 'x';", "\n"))
        sheets = [self._sheet("") for _ in range(self._several(5))]
        return (begin + self.random.choice(("", "\n", ";", "}")).join(sheets)).encode()

    def page(self) -> str:
        """A page of tags, raw text, comments, foreign content, and pieces that end too early."""
        return "".join(self._piece() for _ in range(self._several(8)))

    def _several(self, most: int) -> int:
        return self.random.randrange(1, min(most, self.pieces) + 1)

    def _html(self) -> bytes:
        choose = self.random
        if self._kept and choose.random() < 0.3:
            return self._mutated()
        document = self.page().encode(choose.choice(("utf-8", "latin-1")))
        while choose.random() < 0.2:
            at = choose.randrange(len(document) + 1)
            document = document[:at] + bytes([choose.randrange(0x80, 0x100)]) + document[at:]
        return document

    def _xml(self) -> bytes:
        choose = self.random
        names, roots = choose.choice(_VOCABULARIES)
        odd = choose.choice((0, 0, 0, 0.05, 0.2))
        inside = "".join(self._element(names, odd, 0) for _ in range(self._several(7)))
        before = choose.choice(("", "", "<?xml version='1.0'?>", "<!DOCTYPE x>", "<!-- <a -->"))
        root = choose.choice(roots)
        document = f"{before}<{root}>{inside}</{root.split()[0]}>".encode()
        while choose.random() < 0.3:
            at = choose.randrange(len(document) + 1)
            document = document[:at] + choose.choice(_FLAWS) + document[at:]
        return document

    def _element(self, names: Sequence[str], odd: float, depth: int) -> str:
        choose = self.random
        if choose.random() < odd:
            return choose.choice(_ODD_XML)
        written = choose.choice(names)
        name = written.split()[0]
        attributes = "".join(
            choose.choice((" ", " ", "\n"))
            + choose.choice(_XML_ATTRIBUTES)
            + choose.choice(("=", "=", " = "))
            + self._xml_value(choose.choice(('"', "'")), odd)
            for _ in range(choose.choice((0, 0, 1, 2)))
        )
        if choose.random() < 0.2:
            return f"<{written}{attributes}{choose.choice(('/>', ' />'))}"
        which = choose.random()
        if which < 0.35 and depth < 4:
            inside = "".join(
                self._element(names, odd, depth + 1) for _ in range(choose.randrange(4))
            )
        elif which < 0.7:
            inside = self._xml_markup(odd)
        else:
            inside = choose.choice(("", " ", "\n")) + html.escape(
                choose.choice(_VALUES if choose.random() < odd else _TAME), quote=False
            )
        return f"<{written}{attributes}>{inside}</{name}{choose.choice(('', '', ' '))}>"

    def _xml_value(self, quote: str, odd: float) -> str:
        choose = self.random
        if choose.random() < 0.2:
            value = self._sheet("")
        else:
            value = choose.choice(_VALUES if choose.random() < odd else _TAME)
        value = html.escape(value, quote=False) if choose.random() > odd else value
        return quote + value.replace(quote, "&quot;" if quote == '"' else "&apos;") + quote

    def _xml_markup(self, odd: float) -> str:
        choose = self.random
        markup = "".join(
            self._piece() if choose.random() < odd else choose.choice(_MARKUP)
            for _ in range(choose.randrange(4))
        )
        space = choose.choice(("", "", " ", "\n"))
        if choose.random() < 0.4:
            return f"{space}<![CDATA[{markup.replace(']]>', '')}]]>{space}"
        spelled = html.escape(markup, quote=choose.random() < 0.5)
        if choose.random() < 0.2:
            spelled = spelled.replace("&#x27;", choose.choice(("&apos;", "&#39;", "'")))
        return spelled + choose.choice(("", "", "", space, "<!-- x -->", "&nbsp;", "\r\n", "]]"))

    def _piece(self) -> str:
        choose = self.random
        which = choose.random()
        if which < 0.08:
            inside = "".join(self._piece() for _ in range(choose.randrange(1, 4)))
            around = choose.choice(_AROUND)
            return around.format(html.escape(inside) if "srcdoc" in around else inside)
        if which < 0.3:
            return choose.choice(_OTHERS)
        if which < 0.45:
            return f"{choose.choice(_STYLES)}{self._sheet('')}</style>"
        element, attribute = choose.choice(self._pairs)
        if choose.random() < 0.2:
            element = choose.choice(self._elements)
        if choose.random() < 0.1:
            element = choose.choice(_BEGINNINGS)
        attributes = [attribute, *choose.sample(self._attributes, choose.randrange(3))]
        if choose.random() < 0.2:
            attributes.append(self._cut(choose.choice(self._attributes)))
        if choose.random() < 0.15:
            attributes.append("style")
        choose.shuffle(attributes)
        close = choose.choice((">", ">", ">", "/>", " >", f">{choose.choice(_VALUES)}</{element}>"))
        return f"<{self._case(element)}{''.join(map(self._attribute, attributes))}{close}"

    def _case(self, name: str) -> str:
        choose = self.random
        if choose.random() < 0.05:
            return "".join(choose.choice((one, one.upper())) for one in name)
        return name.upper() if choose.random() < 0.1 else name

    def _cut(self, name: str) -> str:
        """A name that begins as one does that is told by its first letters."""
        return name[: self.random.randrange(1, 4)] + self.random.choice(("", "", "x", "-", "1"))

    def _sheet(self, quote: str) -> str:
        """What stands in a style element or attribute; quotes as character references in one."""
        choose = self.random
        odd = choose.choice((0, 0, 0.1, 0.3, 0.6))  # most odd things end what is read at once
        pieces = [
            choose.choice(_OF_SHEETS)
            if choose.random() < odd
            else self._url_of_css(_IN_BRACKETS if choose.random() < odd else _TAME)
            for _ in range(choose.randrange(1, 8))
        ]
        if choose.random() < 0.2:
            pieces.insert(0, choose.choice((" <![CDATA[", "<![CDATA[", "@charset 'x';", "--x a{")))
        sheet = "".join(pieces)
        return sheet.replace(quote, "&quot;" if quote == '"' else "&#39;") if quote else sheet

    def _url_of_css(self, values: Sequence[str]) -> str:
        choose = self.random
        value, quote = choose.choice(values), choose.choice(("", "", '"', "'"))
        before = choose.choice(_BEFORE_URL)
        if "import" in before and choose.random() < 0.5:
            quote = quote or '"'
            return f"{before}{quote}{value}{quote};"
        space, name = choose.choice(("", "", "", " ", "\n")), choose.choice(("url", "url", "URL"))
        after = choose.choice((";", "}", "", " "))
        return f"{before}{name}({space}{quote}{value}{quote}{space}){after}"

    def _attribute(self, name: str) -> str:
        choose = self.random
        value, quote = choose.choice(_VALUES), choose.choice(('"', '"', "'", ""))
        if name == "style" and choose.random() < 0.7:
            value = self._sheet(quote)
        elif choose.random() < 0.1:
            value = choose.choice(_IN_BRACKETS)
        equals = choose.choice(("=", "=", "=", " = ", "=\n"))
        space = choose.choice((" ", " ", "\n", "/", ""))
        return f"{space}{self._case(name)}" + (
            f"{equals}{quote}{value}{quote}" if choose.random() < 0.95 else ""
        )

    def _mutated(self) -> bytes:
        choose = self.random
        kept = choose.choice(self._kept)
        start = choose.randrange(len(kept) + 1)
        text = bytearray(kept[start : start + choose.randrange(2, 100 * self.pieces)])
        for _ in range(choose.randrange(4)):
            at = choose.randrange(len(text) + 1)
            piece = choose.choice((choose.choice(_VALUES), choose.choice(_OTHERS), self._piece()))
            text[at : at + choose.randrange(3)] = piece.encode()
        return bytes(text)
