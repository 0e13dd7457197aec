"""css-parsing-tests and WPT's documents on URLs in CSS: which tokens are URLs, and which none.

css-parsing-tests tells the component values of a text. Those that hold a URL by rule 9 are
walked here: url tokens, the string of a function `url`, the string or url after `@import`.
An empty URL is not a reference (rule 6).
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from counts import Counts

import relbase
from relbase.css.escapes import css_view
from relbase.css.statements import references

# A component value as the suite writes it: a string for a delimiter, else its kind and content.
Value = str | list[Any]

# Which files say what URLs a text holds, and at least how many texts were in each.
FILES: Final = {"component_value_list": 25, "declaration_list": 5, "stylesheet": 8}


def found(text: str) -> list[str]:
    """Return the references of a style sheet as they are meant."""
    data = text.encode()
    return [
        css_view(data[each.start : each.end], each.quote).inner.decode()
        for each in references(data)
    ]


def expected(values: Sequence[Value], *, in_url: bool = False) -> Iterator[str]:
    """Walk component values, rules and declarations."""
    behind_import = False
    for value in values:
        kind = value[0] if isinstance(value, list) else ""
        if kind == "url" or (kind == "string" and (in_url or behind_import)):
            yield value[1]
        elif kind == "function":
            yield from expected(value[2:], in_url=value[1].lower() == "url")
        else:
            yield from expected(inside(kind, value))
        if value != " ":
            behind_import = kind == "at-keyword" and value[1].lower() == "import"


def inside(kind: str, value: Value) -> list[Value]:
    """Return the component values in a rule, a declaration or a block."""
    if kind == "at-rule":
        return [["at-keyword", value[1]], *value[2], *(value[3] or [])]
    if kind == "qualified rule":
        return [*value[1], *value[2]]
    if kind == "declaration":
        return list(value[2])
    return list(value[1:]) if kind in {"()", "[]", "{}"} else []


def test_css_parsing_tests(data: Path, counts: Counts) -> None:
    rows = []
    for name, least in FILES.items():
        flat = json.loads((data / f"html/css-parsing-tests/{name}.json").read_text("utf-8"))
        assert len(flat) // 2 >= least, name
        for text, values in zip(flat[::2], flat[1::2], strict=True):
            rows.append((text, found(text), [url for url in expected(values) if url.strip()]))
    assert sum(len(urls) for *_, urls in rows) >= 14
    counts.compare("css-parsing-tests", rows, least=38)


# --- WPT: documents of css/, for which a reference or a script says what is shown

WPT_SHEETS: Final = {
    # match: escaped-url-001-ref.xht: all six are green
    "CSS2/syntax/escaped-url-001.xht": ["support/1x1-green.png"] * 6,
    # "URLs in style attributes are relative to the specified base"
    "css-style-attr/style-attr-urls-002.xht": ["swatch-lime.png"],
    # "Unclosed url token at EOF is valid", "Unclosed empty url token at EOF is valid"
    "css-syntax/unclosed-url-at-eof.html": ["foo", "foo"],
    # an empty URL is about:invalid
    "css-values/urls/empty.html": [],
    # "The cascade is as follows", in the comment at its end: the sheet imports 002k
    "CSS2/cascade-import/cascade-import-002.xht": ["support/cascade-import-002k.css"],
}


def test_wpt_documents(data: Path, counts: Counts) -> None:
    root = data / "html/wpt/css"
    seen = {}
    for path in sorted(root.rglob("*.*ht*")):
        document = path.read_bytes()
        links = relbase.links(document, url="http://h.example/d/", kind="html")
        urls = [link.reference for link in links if link.syntax.startswith("css")]
        # A sheet that a script writes is none of the document.
        if urls or b"url(" in re.sub(rb"<script\b.*?</script>", b"", document, flags=re.DOTALL):
            seen[str(path.relative_to(root))] = urls
    assert seen == WPT_SHEETS
    counts("WPT: URLs in CSS", len(seen), 0)
