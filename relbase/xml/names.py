"""Namespaces in XML: which prefixes are bound where, and what an element's name means there."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from relbase.html.foreign import HTML, SHOWN
from relbase.html.places import ElementRows, element_rows
from relbase.html.tags import Attribute
from relbase.html.vocabulary import Nested, Row
from relbase.policy import XML_ROW
from relbase.values.syntaxes import Syntax
from relbase.xml.vocabulary import (
    CASED,
    CUSTOMARY,
    ITEMS,
    KEYS,
    ROOTS,
    TEMPLATE,
    UNCASED,
    UNKNOWN,
    VOCABULARIES,
    XSLT,
    tables,
)

_XML = b"http://www.w3.org/XML/1998/namespace"

# The most names kept: a hostile document has a million.
_REMEMBERED: Final = 1 << 12

# Prefixes and the namespaces that they are bound to; None if they are not bound.
Bindings: TypeAlias = "tuple[tuple[bytes, bytes | None], ...]"


class Named(NamedTuple):
    vocabulary: str | None  # None for an unknown one
    local: bytes
    attributes_of: ElementRows
    is_item: bool  # of a feed: its link may be the base of its HTML
    is_base: bool  # of XHTML
    is_template: bool  # its inside is not part of the document's tree (rule 4)


class Names:
    """The namespaces in scope, from the start tag of the root on."""

    def __init__(self, rows: tuple[str, ...] = ()) -> None:
        self._rows = rows
        self.bound: dict[bytes, bytes] = {b"xml": _XML}
        self._named: dict[bytes, Named] = {}
        self._keys: dict[bytes, bytes | None] = {}
        self._plain: str | None = None
        self.changes = 0  # how often names may have changed their meaning

    def plant(self, root: bytes) -> None:
        """Set the root; if it has no default namespace, its name decides on the vocabulary."""
        self._plain = None if b"" in self.bound else ROOTS.get(root)
        self._named.clear()

    def bind(self, declared: Mapping[bytes, bytes]) -> Bindings:
        """Bind prefixes (b"": the default) to namespaces; return their former bindings."""
        before = tuple(zip(declared, map(self.bound.get, declared), strict=True))
        self.change(tuple(declared.items()))
        return before

    def change(self, bindings: Bindings) -> None:
        if not bindings:
            return
        for prefix, namespace in bindings:
            # The empty namespace is none (Namespaces in XML §6.2).
            if namespace:
                self.bound[prefix] = namespace
            else:
                self.bound.pop(prefix, None)
        self._named.clear()
        self._keys.clear()
        self.changes += 1

    def of_element(self, name: bytes) -> Named:
        known = self._named.get(name)
        if known is None:
            if len(self._named) >= _REMEMBERED:
                self._named.clear()
            prefix, colon, local = name.partition(b":")
            if not colon:
                prefix, local = b"", name
            namespace = self.bound.get(prefix) or CUSTOMARY.get(prefix)
            if namespace is None:
                vocabulary = None if colon else self._plain
            else:
                vocabulary = VOCABULARIES.get(namespace)
            known = self._named[name] = Named(
                vocabulary,
                local,
                held_with(self._rows, vocabulary, namespace or b"", local),
                (vocabulary, local) in ITEMS,
                vocabulary == HTML and local == b"base",
                vocabulary == HTML and local == b"template",
            )
        return known

    def asked(
        self, each: Iterable[re.Match[bytes]], named: Named
    ) -> tuple[dict[bytes, Attribute], frozenset[bytes]]:
        """Return the attributes that the rows of an element ask for, and which occur twice."""
        asked, is_shown = named.attributes_of.asked, named.vocabulary in SHOWN
        attributes: dict[bytes, Attribute] = {}
        repeated: frozenset[bytes] = frozenset()
        for attribute in each:
            name = key = attribute[1]
            if is_shown or b":" in name:
                key = self._key(name, named.vocabulary)
            if key is not None and key in asked:
                if key in attributes:
                    repeated |= {key}
                attributes[key] = attribute_of(attribute)
        return attributes, repeated

    def _key(self, name: bytes, vocabulary: str | None) -> bytes | None:
        """Return the key of an attribute on an element of a vocabulary; None if it has no row."""
        if b":" not in name:
            if vocabulary in SHOWN:
                return CASED.get(name, None if name in UNCASED else name)
            return name
        if name not in self._keys:
            if len(self._keys) >= _REMEMBERED:
                self._keys.clear()
            prefix, _, local = name.partition(b":")
            namespace = self.bound.get(prefix) or CUSTOMARY.get(prefix, b"")
            self._keys[name] = KEYS.get((namespace, local))
        return self._keys[name]

    def unbound(self, names: Iterable[bytes]) -> tuple[bytes, ...]:
        """Return the prefixes of names that are unbound, and read as customary."""
        return tuple(
            [
                prefix
                for name in names
                if b":" in name
                and (prefix := name.partition(b":")[0]) in CUSTOMARY
                and prefix not in self.bound
            ]
        )


def attribute_of(match: re.Match[bytes]) -> Attribute:
    """Return the attribute that `structure.each_attribute` matched."""
    start, end = match.span(match.lastindex or 0)
    return Attribute(match[1], start, end, match.string[end : end + 1])


# ---- Rows that a user adds: `{namespace}element@attribute=syntax`. Without a namespace a row is
# for elements in none; without an attribute, for the text of the element.

_SYNTAXES: Final[Mapping[str, Syntax | Nested]] = {
    "url": Syntax.URL,
    "list": Syntax.SPACE_LIST,
    "srcset": Syntax.SRCSET,
    "css": Nested.CSS,
    "html": Nested.HTML,
}


def held_with(
    rows: tuple[str, ...], vocabulary: str | None, namespace: bytes, local: bytes
) -> ElementRows:
    """Return what an element holds, also by rows of a user."""
    if vocabulary is None:
        rows_of_element = UNKNOWN
    elif vocabulary == XSLT:
        rows_of_element = TEMPLATE
    else:
        name, known = local, tables()
        if vocabulary in SHOWN:
            is_known = local == local.lower() and local not in UNCASED
            name = CASED.get(local, local if is_known else b"")
        rows_of_element = known.get((vocabulary, name)) or known[vocabulary, b"*"]
    for name in (b"*", local) if rows else ():
        rows_of_element = _with_rows(rows_of_element, _rows_of(rows).get((namespace, name)))
    return rows_of_element


@lru_cache(maxsize=16)
def _rows_of(written: tuple[str, ...]) -> Mapping[tuple[bytes, bytes], ElementRows]:
    """Return what elements hold by the rows of a user, by namespace and name."""
    by_name: dict[tuple[bytes, bytes], ElementRows] = {}
    for spelled in written:
        parts = XML_ROW.fullmatch(spelled)
        assert parts is not None  # the policy has checked it
        namespace, element, attribute, syntax = (part or "" for part in parts.groups())
        key, row = (namespace.encode(), element.encode()), Row(_SYNTAXES[syntax])
        own = element_rows({attribute.encode(): (row,)}) if attribute else element_rows({}, (row,))
        by_name[key] = _with_rows(by_name.get(key, element_rows({})), own)
    return by_name


def _with_rows(attributes_of: ElementRows, own: ElementRows | None) -> ElementRows:
    """Return what an element holds together with rows of a user, which come first."""
    if own is None:
        return attributes_of
    return element_rows({**attributes_of.rows, **own.rows}, own.text + attributes_of.text)
