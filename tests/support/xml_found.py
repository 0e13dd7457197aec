"""What the walk over XML finds, as rows to compare, and the namespaces that the tests write."""

from __future__ import annotations

from typing import Final

from relbase.references import xml
from relbase.references.xml_slots import slots

A: Final = ' xmlns="http://www.w3.org/2005/Atom"'
X: Final = ' xmlns:x="http://www.w3.org/1999/xlink"'
H: Final = ' xmlns="http://www.w3.org/1999/xhtml"'
S: Final = ' xmlns="http://www.w3.org/2000/svg"'
R: Final = ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


def found(document: str | bytes, *, extended: bool = False) -> list[tuple[str, str, str]]:
    """Element, attribute and value of every slot; what ends and what breaks off, by its place."""
    text = document.encode() if isinstance(document, str) else document
    rows = []
    for each in xml.elements(text):
        if isinstance(each, xml.Element):
            for slot in slots(text, each, extended=extended):
                value = text[slot.value.start : slot.value.end]
                rows.append((slot.element.decode(), slot.attribute.decode(), value.decode()))
        elif isinstance(each, xml.Sheet):
            rows.append(("?", "href", text[each.href.start : each.href.end].decode()))
        else:
            rows.append((type(each).__name__, "", str(each[0])))
    return rows
