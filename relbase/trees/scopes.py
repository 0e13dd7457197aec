"""The contexts in a tree: on each xml:base that is in force somewhere, on each link of an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.bases.layers import UNKNOWN, Layer, Statement
from relbase.references.values import trimmed
from relbase.rewriting.xml_bases import MAX_XML_BASE_DEPTH

if TYPE_CHECKING:
    from relbase.rewriting.context import Context
    from relbase.trees.markup import Scope


class Scopes:
    """The contexts inside of a document; each is made once."""

    __slots__ = ("_inside", "_linked", "_scoped", "_stated")

    def __init__(self, inside: Context) -> None:
        self._inside = inside
        # The contexts of each link of an item, by those around it.
        self._linked: dict[tuple[int, str], Context] = {}
        # The contexts of each xml:base that is in force somewhere, and how deep it is nested; and
        # those of each that is stated, by the contexts around it.
        self._scoped: dict[int, tuple[Scope, Context, int]] = {}
        self._stated: dict[tuple[int, str], Context] = {}

    def on(self, innermost: Scope | None) -> Context:
        """Return the context where an xml:base is in force, within those around it."""
        left: list[Scope] = []
        scope = innermost
        while scope is not None and id(scope) not in self._scoped:
            left.append(scope)
            scope = scope[1]
        context, depth = self._inside, 0
        if scope is not None:
            _, context, depth = self._scoped[id(scope)]
        while left:
            scope, depth = left.pop(), depth + 1
            context = self._based(trimmed(scope[0]), context, depth)
            self._scoped[id(scope)] = (scope, context, depth)
        return context

    def _based(self, stated: str, around: Context, depth: int) -> Context:
        """The context inside of an xml:base; in one nested too deep nothing is resolved."""
        if not stated:
            return around
        key = (id(around), stated)
        if key not in self._stated:
            base, _ = around.established(Statement(Layer.EMBEDDED, stated, "xml:base"))
            self._stated[key] = around.on(base if depth <= MAX_XML_BASE_DEPTH else UNKNOWN)
        return self._stated[key]

    def on_link(self, link: str, around: Context) -> Context:
        """Return the context of HTML in an item of RSS: on its link (the policy `item_links`)."""
        if not link:
            return around
        key = (id(around), link)
        if key not in self._linked:
            statement = Statement(Layer.EMBEDDED, link, "link of <item>")
            self._linked[key] = around.on(around.established(statement)[0])
        return self._linked[key]
