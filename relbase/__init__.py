"""Makes every relative link of a document absolute, and changes no other byte.

RFC 1808 says how a document's base URL is established (§3) and how a relative reference is resolved
against it (§4). `rewrite` does both, `base` tells the base and why, `links` lists the references.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Base",
    "Components",
    "Edit",
    "Entity",
    "Kind",
    "Layer",
    "Link",
    "Note",
    "Policy",
    "Profile",
    "Reason",
    "Resolver",
    "Result",
    "Rewriter",
    "Span",
    "Status",
    "Step",
    "Url",
    "Violation",
    "__version__",
    "base",
    "entities",
    "explain",
    "links",
    "parse_url",
    "resolve",
    "response_base",
    "response_links",
    "rewrite",
    "rewrite_response",
    "rewrite_text",
    "scanner",
    "split",
    "unsplit",
    "violations",
]

# What programs import is loaded when it is first asked for (PEP 562): the start of a process is
# what a small page costs. Type checkers read the imports, and a test compares the two.
if TYPE_CHECKING:
    from relbase import spark as spark
    from relbase import trees as trees
    from relbase import warc as warc
    from relbase.bases.layers import Base as Base
    from relbase.bases.layers import Layer as Layer
    from relbase.edit import Edit as Edit
    from relbase.edit import Span as Span
    from relbase.explaining import explain as explain
    from relbase.kind import Kind as Kind
    from relbase.notes import Note as Note
    from relbase.notes import Reason as Reason
    from relbase.pipeline import base as base
    from relbase.pipeline import entities as entities
    from relbase.pipeline import links as links
    from relbase.pipeline import rewrite as rewrite
    from relbase.policy import Policy as Policy
    from relbase.references.scanner import NAME as scanner  # noqa: N811 (what a caller asks for)
    from relbase.responses import response_base as response_base
    from relbase.responses import response_links as response_links
    from relbase.responses import rewrite_response as rewrite_response
    from relbase.results import Entity as Entity
    from relbase.results import Link as Link
    from relbase.results import Result as Result
    from relbase.rewriter import Rewriter as Rewriter
    from relbase.rewriting.items import Status as Status
    from relbase.texts import rewrite_text as rewrite_text
    from relbase.url.grammar import Url as Url
    from relbase.url.grammar import parse_url as parse_url
    from relbase.url.grammar import violations as violations
    from relbase.url.grammar.characters import Violation as Violation
    from relbase.url.resolver import Profile as Profile
    from relbase.url.resolver import Resolver as Resolver
    from relbase.url.resolver import resolve as resolve
    from relbase.url.rfc1808 import Components as Components
    from relbase.url.rfc1808 import split as split
    from relbase.url.rfc1808 import unsplit as unsplit
    from relbase.url.step import Step as Step
else:
    _NAMES = {
        "bases.layers": "Base Layer",
        "edit": "Edit Span",
        "explaining": "explain",
        "kind": "Kind",
        "notes": "Note Reason",
        "pipeline": "base entities links rewrite",
        "policy": "Policy",
        "references.scanner": "scanner",
        "responses": "response_base response_links rewrite_response",
        "results": "Entity Link Result",
        "rewriter": "Rewriter",
        "rewriting.items": "Status",
        "texts": "rewrite_text",
        "url.grammar": "Url parse_url violations",
        "url.grammar.characters": "Violation",
        "url.resolver": "Profile Resolver resolve",
        "url.rfc1808": "Components split unsplit",
        "url.step": "Step",
    }
    _MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
    # Packages that are loaded when they are first asked for: `import relbase; relbase.trees`.
    _PACKAGES = {"spark", "trees", "warc"}
    # Functions that answer a mistaken argument with what to write instead.
    _ADVISED = {
        *("base", "entities", "explain", "links", "rewrite", "rewrite_text"),
        *("response_base", "response_links", "rewrite_response"),
    }

    def __getattr__(name: str) -> object:
        """Load a public name from the module that defines it."""
        if name in _PACKAGES:
            return import_module(f"relbase.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module 'relbase' has no attribute {name!r}")
        found = import_module(f"relbase.{_MODULES[name]}")
        value = getattr(found, "NAME" if name == "scanner" else name)
        if name in _ADVISED:
            value = import_module("relbase.call").advised(value)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*__all__, *_PACKAGES})
