"""Documents made at random, of names that the vocabulary knows, and of what is around them.

Links stand everywhere a link may be, in every quoting, and much is broken.
"""

import html
import random
from collections.abc import Callable, Mapping, Sequence
from html.entities import html5
from pathlib import Path
from typing import Final

from rows import rows

from relbase.html import foreign
from relbase.html.places import PLACES

_TABLES: Final = Path(__file__).with_name("soup.txt")


def _listed(title: str) -> list[str]:
    return [item for (items,) in rows(_TABLES, title, list[str]) for item in items]


_VALUES: Final = _listed("values")
_OTHERS: Final = _listed("others")
_AROUND: Final = _listed("around")
_IN_BRACKETS: Final = _listed("in brackets")
_TAME: Final = _listed("tame")
_BEFORE_URL: Final = _listed("before url")
_OF_SHEETS: Final = _listed("of sheets")
_STYLES: Final = _listed("styles")
_XML_ATTRIBUTES: Final = _listed("xml attributes")
_ODD_XML: Final = _listed("odd xml")
_MARKUP: Final = _listed("markup")
_BEGINNINGS: Final = _listed("beginnings")
_VOCABULARIES: Final = rows(_TABLES, "vocabularies", list[str], list[str])
_SPELLED_IN: Final = _listed("spelled in")
_UNCLOSED: Final = _listed("unclosed")
_TAIL: Final = _listed("tail")
_OF_ATTRIBUTES: Final = _listed("of attributes")
_NAMES_OF: Final[Mapping[str, Sequence[str]]] = {
    character: [f"&{name}" for name, meant in html5.items() if meant == character]
    for character in map(chr, range(128))
}
_FLAWS: Final = (b"&", b"&nbsp;", b"&x", b"\x01", b"\xe9", b"\xef\xbf\xbe", b"\r\n", b"<x/>")


class Soup:
    """Makes documents of the names that the vocabulary knows, and of what is around them."""

    def __init__(self, random_: random.Random, kept: Sequence[bytes] = ()) -> None:
        """`kept` are documents of others, pieces of which are changed."""
        self.random = random_
        self.pieces = 8  # at most in a document
        self._kept = kept
        places = PLACES
        self._elements = sorted(
            {element.decode().replace("*", "p") for _, element, _ in places}
            | {name.decode() for name in foreign.RAW_TEXT}
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
            "references": self._references,
        }

    def _references(self) -> bytes:
        """Attributes in which single characters stand as character references."""
        choose = self.random
        pieces = []
        for _ in range(self._several(8)):
            around = choose.choice(_SPELLED_IN)
            if "style" in around or "fill" in around:
                value = "".join(choose.choice(_UNCLOSED) for _ in range(choose.randrange(5)))
                value += self._sheet("") if choose.random() < 0.5 else choose.choice(_TAIL)
            else:
                value = choose.choice(_VALUES if choose.random() < 0.3 else _OF_ATTRIBUTES)
            quote = around[around.index("{}") - 1]
            spelled = "".join(map(self._reference, value)).replace(quote, f"&#{ord(quote)};")
            pieces.append(around.format(html.escape(spelled) if "srcdoc" in around else spelled))
        return "".join(pieces).encode()

    def _reference(self, character: str) -> str:
        """A character as it is, or in one of twelve as a character reference."""
        choose = self.random
        if choose.random() > 1 / 12:
            return character
        code = ord(character)
        numbers = [f"&#{code};", f"&#x{code:x};", f"&#X{code:04X};", f"&#{code}"]
        return choose.choice([*numbers, *_NAMES_OF.get(character, ()), f"&amp;{character}"])

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
