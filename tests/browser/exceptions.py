"""Where relbase and a browser differ by a rule: the only reasons that excuse a difference.

Some leave out a whole document, as its base is another (`of_base`). The others excuse one
reference: one that resolves to something else in the output (`of_reference`), one that relbase does
not list (`of_unlisted`), one that the browser does not see (`of_unseen`). What none of them excuses
is a difference.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from cases import normal, parses

from relbase import Reason, Status

if TYPE_CHECKING:
    from cases import Case
    from resolved import Opened, Reference

    from relbase import Link


class Rule(Enum):
    """Why a difference is none: the number of the rule in the design, and what it says."""

    LATE = "rule 4, law 10: CSS before <base> resolves on the base outside"
    FOSTERED = "rule 4, law 10: a <base> is moved before a table, and so before another"
    UNPARSABLE = "rule 4, law 10: the first <base> does not parse"
    NOSCRIPT_BASE = "rule 4: in noscript there is no <base>, scripting or not"
    UNSUITABLE = "rule 5: on this base nothing can be resolved"
    EMPTY = "rule 6: an empty value is no reference here"
    STANDARD = "rule 7: the browser departs from the URL or HTML Standard"
    POLICY = "rule 8: the caller's policy keeps it"
    LOCAL = "rule 8: a fragment in SVG is local"
    CUSTOM = "rule 9: url() in a custom property is kept"
    ESCAPED = "rule 10: escaped for where it stands"
    NOSCRIPT = "rule 14: noscript ends at the first </noscript"
    COMMENT = "vocabulary: conditional comments are markup"
    DROPPED = "section 1: no tree is built, and so no tag is dropped for where it stands"
    INERT = "section 1: srcdoc in a template is rewritten, although it opens no document"
    CHARSET = "threat E3: no charset is stated, and the browser guesses another"


# --- The base ---


def of_base(case: Case, seen: Opened) -> Rule | None:
    """Return why the base of a document is another in the browser, None where nothing says so."""
    if Reason.BASE_UNPARSABLE in {note.reason for note in case.base.refused}:
        return Rule.UNPARSABLE
    if case.base.url.startswith("file:"):
        return Rule.STANDARD  # of "file:/C|/x" Chromium makes about:blank
    stated = {case.resolved(link.reference, link.base) for link in case.bases}
    if seen.base not in {_frozen(case, url) for url in stated}:
        return None
    if b"<noscript" in case.data.lower():
        return Rule.NOSCRIPT_BASE
    return Rule.FOSTERED if b"<table" in case.data.lower() else None


def _frozen(case: Case, url: str) -> str:
    """The base that the browser makes of what a `<base>` states ("frozen base URL")."""
    if not parses(url):
        return "about:blank"  # the standard has the document's URL
    return normal(case.url) if url.startswith(("data:", "javascript:")) else url


def is_same_base(case: Case, seen: Opened) -> bool:
    """Whether the bases are the same but for what Chromium does otherwise than the standards.

    localhost is the empty host of a file URL ("file host state"); the query of `<base>` is in the
    document's charset ("frozen base URL": parsed with "document's character encoding").
    """
    if case.base.url == _standard(seen.base):
        return True
    if not _has_query_in_charset(case):
        return False
    return seen.base in {case.resolved(link.reference, link.base, "utf-8") for link in case.bases}


def _standard(url: str) -> str:
    return url.replace("file://localhost/", "file:///")


def _has_query_in_charset(case: Case) -> bool:
    return case.charset != "utf-8" and any(not link.reference.isascii() for link in case.bases)


# --- References ---


def of_reference(case: Case, seen: Opened, before: Reference, after: Reference) -> Rule | None:
    """Return why a reference resolves to something else in the output, None where nothing says.

    Args:
        case: the document.
        seen: the document in the browser.
        before: a reference of it.
        after: the same reference of the output.
    """
    if before.computed:
        return _of_computed(case, before.url)
    if _standard(before.url) == after.url:
        return Rule.STANDARD
    for link in case.at(before):
        rule = _of_link(case, link)
        if rule is not None:
            return rule
        if link.syntax in _GRAMMARS and _unquoted(before.url) == _unquoted(after.url):
            return Rule.ESCAPED
        if link.reference.startswith("#") and _has_query_in_charset(case):
            return Rule.STANDARD
        if before.url == _before_base(case, link):
            return Rule.LATE
        if has(case, Reason.BASE_UNPARSABLE) and not parses(before.url):
            return Rule.UNPARSABLE
    if before.reference == "" and not case.at(before):
        return Rule.EMPTY
    return _of_charset(case, seen, before)


def has(case: Case, reason: Reason) -> bool:
    return any(note.reason is reason for note in case.result.notes)


# What stands in these has more to mind than quotes, which references and escapes stand for.
_GRAMMARS: Final = frozenset(("refresh", "srcset", "space list", "comma list", "semicolon list"))


def _of_link(case: Case, link: Link) -> Rule | None:
    if link.status is Status.UNRESOLVED and not link.base.usable:
        return Rule.UNSUITABLE
    if link.status is not Status.KEPT:
        return None
    keep = case.policy.keep
    if case.policy.keep_fragments or (keep and keep.search(link.reference)):
        return Rule.POLICY
    return Rule.LOCAL if link.reference.startswith("#") else Rule.CUSTOM


def _of_computed(case: Case, url: str) -> Rule | None:
    """A computed style does not tell the reference: it is known by what it resolved to."""
    for link in case.links:
        if link.syntax != "css":
            continue
        rule = _of_link(case, link)
        if rule is Rule.UNSUITABLE or (rule is not None and url == link.url):
            return rule
        if url == _before_base(case, link):
            return Rule.LATE
        if has(case, Reason.BASE_UNPARSABLE) and url == link.reference:
            return Rule.UNPARSABLE
    return None


def _before_base(case: Case, link: Link) -> str | None:
    """What a reference resolves to before `<base>` is seen, which decides for it too."""
    base = link.base.outer
    if base is None or not has(case, Reason.BASE_LATE):
        return None
    return case.resolved(link.reference, base)


def of_unlisted(case: Case, seen: Opened, before: Reference) -> Rule | None:
    """Return why relbase does not list what a browser resolves, None where nothing says."""
    if before.computed:
        return _of_computed(case, before.url)
    if before.reference == "" and not case.at(before):
        return Rule.EMPTY
    if any(_unquoted(link.url or "") == _unquoted(before.url) for link in case.at(before)):
        return Rule.STANDARD  # more is percent-encoded: `|` in paths, `'` in queries
    return _of_charset(case, seen, before)


def _of_charset(case: Case, seen: Opened, before: Reference) -> Rule | None:
    if seen.charset != case.charset and not before.reference.isascii():
        return Rule.CHARSET
    return None


def of_unseen(case: Case, link: Link, charset: str) -> Rule | None:
    """Return why a browser does not see what relbase rewrites, None where nothing says."""
    markup = case.data.lower()
    if link.element in _DROPPED or b"<frameset" in markup:
        return Rule.DROPPED
    if b"<template" in markup and b"srcdoc" in markup:
        return Rule.INERT
    if charset != case.charset and not link.reference.isascii():
        return Rule.CHARSET
    return None


# Where they cannot stand the tree has none of these, or merges them with another.
_DROPPED: Final = frozenset(
    (
        *("html", "head", "body", "frame", "form"),
        *("caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"),
    )
)


def _unquoted(url: str) -> bytes:
    return unquote_to_bytes(url)
