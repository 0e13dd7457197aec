"""Documents with `<base>` in every position, of every value, and several of them.

`LINKS` stand on both sides of the place, one for each way in which a browser resolves: properties,
lists, an empty action, CSS as it is parsed. `documents` makes the cross product of positions with
a few values, and of all values and arrangements with a few positions.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

LINKS: Final = (
    "<a href=../x?q ping='p /q'>x</a><img src=y srcset='s, t 2x'><form action><button formaction=f>"
    "</form><p style='background:url(c.png)'></p><svg><use href=#u /><a xlink:href=?v></a></svg>"
)

# Where `{}` is the base element. Sections of the HTML Standard, 13.2.6 "tree construction".
POSITIONS: Final[dict[str, str]] = {
    # 13.2.6.4.1 to 13.2.6.4.6: around the head
    "before doctype": "{}<!doctype html><body>L",
    "before html": "<!doctype html>{}<html><body>L",
    "before head": "<!doctype html><html>{}<head></head><body>L",
    "in head": "<!doctype html><head><title>t</title>{}</head><body>L",
    "after head": "<!doctype html><head></head>{}<body>L",
    "after a style": "<!doctype html><style>p {{ background: url(s.png) }}</style>{}<body>L",
    "after a link": "<!doctype html><link rel=x href=l>{}<body>L",
    # 13.2.6.4.7: in body
    "first in body": "<body>{}L",
    "between links": "<body>L{}L",
    "last": "<body>L{}",
    "in p": "<body>L<p>t{}t</p>L",
    "in a": "<body><a href=o>{}</a>L",
    "in b and i": "<body><b><p><i>{}</b></p></i>L",
    "in li": "<ul><li>{}<li></ul>L",
    "in button": "<button>{}</button>L",
    "in form": "<form action=g>{}</form>L",
    "in object": "<object data=o>{}</object>L",
    "in video": "<video src=v>{}</video>L",
    "in details": "<details>{}</details>L",
    "in dialog": "<dialog>{}</dialog>L",
    "in ruby": "<ruby>a<rt>{}</ruby>L",
    "in custom element": "<x-y>{}</x-y>L",
    "in image map": "<map name=m>{}<area href=r></map>L",
    "in fieldset": "<fieldset><legend>{}</legend></fieldset>L",
    "in hidden": "<div hidden>{}</div>L",
    "after body": "<body>L</body>{}",
    "after html": "<body>L</body></html>{}",
    "after end of head in body": "<body></head>{}L",
    # 13.2.6.4.9 to 13.2.6.4.15: tables, which move what is not theirs before them
    "in table": "L<table>{}<tr><td>L</table>",
    "in tbody": "<table><tbody>{}<tr><td>L</table>L",
    "in tr": "<table><tr>{}<td>L</table>L",
    "in td": "<table><tr><td>{}</table>L",
    "in th": "<table><tr><th>{}</table>L",
    "in caption": "<table><caption>{}</caption><tr><td>L</table>",
    "in colgroup": "<table><colgroup>{}<col></colgroup><tr><td>L</table>",
    "in td and in table": (
        "<table><tr><td><base href=cell/></td></tr>{}<base href=moved/></table>L"
    ),
    "in table in table": "<table><tr><td><table>{}<tr><td></table></table>L",
    # 13.2.6.4.16, 13.2.6.4.17: select
    "in select": "<select>{}<option>a</select>L",
    "in option": "<select><option>{}</select>L",
    "in optgroup": "<select><optgroup>{}<option>a</select>L",
    "in select in table": "<table><tr><td><select>{}</table>L",
    # 13.2.6.4.18: template, whose content is not part of the document
    "in template": "<template>{}L</template>L",
    "in template in head": "<head><template>{}</template></head><body>L",
    "in template in template": "<template><template>{}</template>{}</template>L",
    "in table in template": "<template><table>{}<tr><td></table></template>L",
    "in template in table": "<table><template>{}</template><tr><td>L</table>",
    "in template that is not closed": "<template>{}L",
    "after a template": "<template>L</template>{}L",
    "in a shadow tree": "<div><template shadowrootmode=open>{}L</template></div>L",
    "in a stray </template>": "</template>{}L",
    # 13.2.6.4.20, 13.2.6.4.21: frameset
    "before frameset": "{}<frameset><frame src=r></frameset>",
    "in frameset": "<frameset>{}<frame src=r></frameset>",
    "after frameset": "<frameset><frame src=r></frameset>{}",
    "in noframes": "<frameset><noframes>{}</noframes><frame src=r></frameset>",
    # 13.2.6.5: foreign content
    "in svg": "<svg>{}</svg>L",
    "in svg g": "<svg><g>{}</g></svg>L",
    "in svg foreignObject": "<svg><foreignObject>{}</foreignObject></svg>L",
    "in svg desc": "<svg><desc>{}</desc></svg>L",
    "in svg title": "<svg><title>{}</title></svg>L",
    "in svg style": "<svg><style>{}</style></svg>L",
    "in svg script": "<svg><script>{}</script></svg>L",
    "in svg template": "<svg><template>{}</template></svg>L",
    "in svg CDATA": "<svg><![CDATA[{}]]></svg>L",
    "in svg after a breakout": "<svg><p>{}</svg>L",
    "in svg after </p>": "<svg></p>{}</svg>L",
    "in svg in table": "<table><svg>{}</svg><tr><td>L</table>",
    "after svg that closes itself": "<svg/>{}L",
    "after svg that td closes": "<table><tr><td><svg></td></tr>{}</table>L",
    "in math": "<math>{}</math>L",
    "in math mi": "<math><mi>{}</mi></math>L",
    "in math mglyph": "<math><mi><mglyph>{}</mi></math>L",
    "in annotation-xml": "<math><annotation-xml>{}</annotation-xml></math>L",
    "in annotation-xml of HTML": (
        "<math><annotation-xml encoding=text/html>{}</annotation-xml></math>L"
    ),
    "in svg in annotation-xml": "<math><annotation-xml><svg>{}</svg></annotation-xml></math>L",
    "in math in foreignObject": "<svg><foreignObject><math>{}</math></foreignObject></svg>L",
    # 13.2.5: what is not markup
    "in comment": "<!-- {} -->L",
    "in unclosed comment": "L<!-- {}",
    "after <!-->": "<!-->{}-->L",
    "in conditional comment": "<!--[if IE]>{}<![endif]-->L",
    "in revealed conditional comment": "<![if !IE]>{}<![endif]>L",
    "in bogus comment": "<?x {}?>L",
    "in HTML CDATA": "<![CDATA[{}]]>L",
    "in title": "<title>{}</title>L",
    "in textarea": "<textarea>{}</textarea>L",
    "in style": "<style>{}</style>L",
    "in script": "<script>{}</script>L",
    "in escaped script": "<script><!--<script>{}</script>--></script>L",
    "in xmp": "<xmp>{}</xmp>L",
    "in iframe": "<iframe>{}</iframe>L",
    "in noembed": "<noembed>{}</noembed>L",
    "in plaintext": "L<plaintext>{}",
    "in noscript in head": "<head><noscript>{}</noscript></head><body>L",
    "in noscript in body": "<body><noscript>{}</noscript>L",
    "in an attribute": "<p title='{}'></p>L",
    "in a tag that is not closed": "L<p title={}",
    # 4.8.5: srcdoc, a document of its own
    "in srcdoc": '<iframe srcdoc="{}L"></iframe>L',
    "in srcdoc between links": '<iframe srcdoc="L{}L"></iframe>L',
    "after srcdoc": '<iframe srcdoc="L"></iframe>{}L',
}

# What `href` says, as written in double quotes.
VALUES: Final = (
    # absolute
    *("http://b.example/e/", "http://b.example", "http://b.example?q", "http://b.example/;p?q#f"),
    *("HTTP://B.EXAMPLE/E/", "http://u:p@b.example:81/e/", "http://b.example:80/e", "ftp://f/e/"),
    *("http://b\u00fc.example/\u00e9/?\u00e9", "file:///e/f", "ws://w.example/e/"),
    *("http://b.example/a/../b/./", "x-a://h/e/f", "x-a:/e/f", "http:/e/f", "http:///b.example/e"),
    # relative
    *("e/", "./e", "../e/", "/", "/e/", ".", "..", "?q", "#f", "//c.example", "//c.example/e?q#f"),
    *("\\\\c.example\\e\\", "\\e", "http:e/", "http:", "e;p/", "%2e%2e/e/", "/e f/", "e:f/g"),
    # empty
    *("", " ", "\n"),
    # no base: data and javascript, then those that decide although nothing resolves on them
    *("data:,x", "DATA:text/html,x", "javascript:x", " javascript:x", "jav\nascript:x"),
    *("mailto:a@b", "about:blank", "blob:x", "tel:1", "urn:x:y", "x-a:e", "C:\\e\\f", "c:/e/f"),
    # not to be parsed
    *("http://[bad", "http://a b/", "http://a:x/", "//", "http://%zz/", "http://", "https://?q"),
    # in other letters
    *("&#104;ttp://b.example/e/", "http:&sol;&sol;b.example/e/", "http&colon;//b.example/e/"),
    *(" http://b.example/e/ ", "http://b.ex\nample/e/", "\thttp://b.example/e/\r\n", "/e&amp;f/"),
)
# One of each kind, for the cross product with the positions.
KINDS: Final = ("http://b.example/e/", "e/", "?q", "", "data:,x", "http://[bad", "mailto:a@b")

# Several base elements, and one in other spellings; `{0}` is the value.
ARRANGEMENTS: Final[dict[str, str]] = {
    "one": '<base href="{0}">',
    "twice": '<base href="{0}"><base href="http://second.example/s/">',
    "second": '<base href="http://first.example/f/"><base href="{0}">',
    "after a target": '<base target=_top><base href="{0}">',
    "in a base": '<base href="{0}"><base href=n/></base></base>',
    "two hrefs": '<base href="{0}" href="http://second.example/s/">',
    "after no value": '<base href><base href="{0}">',
    "upper case": '<BASE HREF="{0}">',
    "slashes": '<base/href="{0}"/>',
    "white space": '<base\n\thref\n=\n"{0}"\n>',
    "single quotes": "<base href='{0}'>",
    "end tag": '<base href="{0}"></base>',
    "of another name": '<basefont href="http://no.example/"><base href="{0}">',
    "in data": '<base data-href="http://no.example/" xlink:href="http://no.example/" href="{0}">',
}
# Where all values and arrangements are tried.
PLACES: Final = ("in head", "between links", "in table", "in template", "in srcdoc")


def documents() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each document."""
    triples = [
        *product(POSITIONS, ("one", "twice"), KINDS),
        *product(PLACES[:2], ("one",), VALUES),
        *product(PLACES, ARRANGEMENTS, KINDS[:4]),
    ]
    for position, arrangement, value in dict.fromkeys(triples):
        tags = ARRANGEMENTS[arrangement].format(value)
        if position in _IN_QUOTES:
            tags = tags.replace('"', "&quot;").replace("'", "&#39;")
        text = POSITIONS[position].replace("L", LINKS).format(tags, tags)
        yield f"{arrangement}, {position}: {value!r}", text


_IN_QUOTES: Final = ("in srcdoc", "in srcdoc between links", "in an attribute")
