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

VALUES: Final = [value for _, value in rows(_TABLES, "values", str, str)]
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
