"""Makes every relative link of a document absolute, and changes no other byte.

RFC 1808 says how a document's base URL is established (§3) and how a relative reference is resolved
against it (§4). `rewrite` does both, `base` returns the base and its source, `links` all links.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "Base",
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
    "__version__",
    "base",
    "entities",
    "explain",
    "links",
    "resolve",
    "response_base",
    "response_links",
    "rewrite",
    "rewrite_response",
    "rewrite_text",
    "rewrite_value",
    "scanner",
    "value_links",
]

# Public names are loaded on first access (PEP 562), since a small page takes less time than the
# imports. Type checkers read the imports here; a test checks that both lists agree.
if TYPE_CHECKING:
    from relbase import grammar as grammar
    from relbase import spark as spark
    from relbase import trees as trees
    from relbase import warc as warc
    from relbase.api import base, entities, links, rewrite
    from relbase.bases.layers import Base, Layer
    from relbase.edit import Edit, Span
    from relbase.explaining.page import explain
    from relbase.kind import Kind
    from relbase.notes import Note, Reason
    from relbase.policy import Policy
    from relbase.responses import response_base, response_links, rewrite_response
    from relbase.results import Entity, Link, Result
    from relbase.rewriter import Rewriter, rewrite_text, rewrite_value, value_links
    from relbase.rewriting.outcomes import Status
    from relbase.scan.binding import NAME as scanner  # noqa: N811 (its public name)
    from relbase.url.profiles import Profile
    from relbase.url.resolver import Resolver, resolve
    from relbase.version import __version__
else:
    _NAMES = {
        "bases.layers": "Base Layer",
        "edit": "Edit Span",
        "explaining.page": "explain",
        "kind": "Kind",
        "notes": "Note Reason",
        "api": "base entities links rewrite",
        "policy": "Policy",
        "scan.binding": "scanner",
        "responses": "response_base response_links rewrite_response",
        "results": "Entity Link Result",
        "rewriter": "Rewriter rewrite_text rewrite_value value_links",
        "rewriting.outcomes": "Status",
        "url.profiles": "Profile",
        "url.resolver": "Resolver resolve",
        "version": "__version__",
    }
    _MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
    # Packages that are loaded on first access: `import relbase; relbase.trees`.
    _PACKAGES = {"grammar", "spark", "trees", "warc"}
    # Functions whose TypeError for a wrong argument says what to write instead.
    _WITH_HINTS = {
        *("base", "entities", "explain", "links", "rewrite", "rewrite_text"),
        *("response_base", "response_links", "rewrite_response"),
    }

    def __getattr__(name: str) -> object:
        """Load a public name from the module that defines it."""
        if name in _PACKAGES:
            return import_module(f"relbase.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module 'relbase' has no attribute {name!r}")
        module = import_module(f"relbase.{_MODULES[name]}")
        value = getattr(module, "NAME" if name == "scanner" else name)
        if name in _WITH_HINTS:
            value = import_module("relbase.session.options").with_hints(value)
            value.__module__ = "relbase"  # so that it can be pickled by its name
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*__all__, *_PACKAGES})
