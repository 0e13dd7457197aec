"""Documents with `<base>` in every position, of every value, and several of them.

`LINKS` stand on both sides of the place, one for each way in which a browser resolves: properties,
lists, an empty action, CSS as it is parsed. `documents` makes the cross product of positions with
a few values, and of all values and arrangements with a few positions.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

from rows import rows

LINKS: Final = (
    "<a href=../x?q ping='p /q'>x</a><img src=y srcset='s, t 2x'><form action><button formaction=f>"
    "</form><p style='background:url(c.png)'></p><svg><use href=#u /><a xlink:href=?v></a></svg>"
)

_TABLES: Final = Path(__file__).with_name("constructions.txt")
POSITIONS: Final[dict[str, str]] = dict(rows(_TABLES, "positions", str, str))
ARRANGEMENTS: Final[dict[str, str]] = dict(rows(_TABLES, "arrangements", str, str))

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
        tags = ARRANGEMENTS[arrangement].replace("{}", value)
        if position in _IN_QUOTES:
            tags = tags.replace('"', "&quot;").replace("'", "&#39;")
        text = POSITIONS[position].replace("L", LINKS).replace("{}", tags)
        yield f"{arrangement}, {position}: {value!r}", text


_IN_QUOTES: Final = ("in srcdoc", "in srcdoc between links", "in an attribute")
