"""What is compared of trees of every parser."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any, NamedTuple

import bs4
import lxml.etree

from relbase.values.syntaxes import C0_AND_SPACE


class Value(NamedTuple):
    """What is compared of a tree: an attribute, a text, or a conditional comment."""

    element: str
    name: str
    value: str


def values(tree: Any) -> list[Value]:
    return list(_of_soup(tree) if isinstance(tree, bs4.Tag) else _of_lxml(tree))


def _of_soup(tree: bs4.Tag) -> Iterator[Value]:
    for node in tree.descendants:
        if isinstance(node, bs4.Tag):
            for name, value in node.attrs.items():
                yield Value(node.name, str(name), str(value).strip(C0_AND_SPACE))
        elif isinstance(node, bs4.element.Comment):
            yield Value("", "", str(node))
        elif node.parent is not None and node.parent.name in {"style", "script"}:
            yield Value(node.parent.name, "", str(node))


def _of_lxml(tree: Any) -> Iterator[Value]:
    whole = tree if isinstance(tree, ET.Element) else tree.getroottree()
    for node in whole.iter():
        if isinstance(node.tag, str):
            for name, value in node.items():
                yield Value(node.tag, name, value.strip(C0_AND_SPACE))
            if node.tag in {"style", "script"}:
                yield Value(node.tag, "", node.text or "")
        elif node.tag in {lxml.etree.Comment, ET.Comment}:
            yield Value("", "", node.text or "")
