"""Where relbase and a browser differ by a rule: the only reasons that excuse a difference.

Some leave out a whole document, as its base is another (`of_base`). The others excuse one
reference: one that resolves to something else in the output (`of_reference`), one that relbase does
not list (`of_unlisted`), one that the browser does not see (`of_unseen`). What none of them excuses
is a difference.
"""

import re
from enum import Enum
from typing import Final

from cases import Case, normal, parses
from resolved import Opened, Reference

from relbase import Link, Reason, Status


class Rule(Enum):
    """Why a difference is none: the number of the rule in the design, and what it says."""

    LATE = "rule 4, law 10: what precedes <base> may be fetched from the base outside"
    FOSTERED = "rule 4, law 10: a <base> is moved before a table, and so before another"
    UNPARSABLE = "rule 4, law 10: the first <base> does not parse"
    NOSCRIPT_BASE = "rule 4: in noscript there is no <base>, scripting or not"
    UNSUITABLE = "rule 5: nothing can be resolved against this base"
    PRIVATE = "rule 5, law 10: only one program or computer can use this base"
    EMPTY = "rule 6: an empty value is not a reference here"
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
    reasons = {note.reason for note in case.base.refused}
    if Reason.BASE_PRIVATE in reasons:
        return Rule.PRIVATE
    if Reason.BASE_UNPARSABLE in reasons:
        return Rule.UNPARSABLE
    if case.base.url.startswith("file:"):
        return Rule.STANDARD  # of "file:/C|/x" Chromium makes about:blank
    stating = [
        link
        for link in case.bases
        if _frozen(case, case.resolved(link.reference, link.base)) == seen.base
    ]
    if case.within(_NOSCRIPT, stating):
        return Rule.NOSCRIPT_BASE
    return Rule.FOSTERED if case.within(_TABLE, stating) else None


_NOSCRIPT: Final = re.compile(rb"<noscript.*?(?:</noscript|\Z)", re.DOTALL | re.IGNORECASE)
_TABLE: Final = re.compile(rb"<table.*?(?:</table|\Z)", re.DOTALL | re.IGNORECASE)


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
    """A URL that Chromium made, as the URL Standard has it.

    Chromium keeps localhost ("file host state"), `C|` ("path state") and, in data URLs, newlines.
    """
    if url.startswith("data:"):
        return url.replace("%0A", "").replace("%0D", "")
    return _drive.sub(r"\1:", url.replace("file://localhost/", "file:///"))


_drive: Final = re.compile(r"(?<=^file:///)([A-Za-z])%7C(?=/)")


def _has_query_in_charset(case: Case) -> bool:
    return case.charset != "utf-8" and any(not link.reference.isascii() for link in case.bases)


# --- References ---


def of_reference(case: Case, seen: Opened, before: Reference, after: Reference) -> Rule | None:
    """Return why a reference resolves to something else in the output, None where nothing says."""
    if before.computed:
        return _of_computed(case, before.url)
    if _standard(before.url) == after.url:
        return Rule.STANDARD
    for link in case.at(before):
        rule = _of_link(case, link, before.namespace)
        if rule is not None:
            return rule
        if _is_escaped(before.url, after.url, _ESCAPED.get(link.syntax, "")):
            return Rule.ESCAPED
        if link.reference.startswith("#") and _has_query_in_charset(case):
            return Rule.STANDARD
        if before.url in _on_the_other_base(case, link):
            return Rule.LATE
        if has(case, Reason.BASE_UNPARSABLE) and not parses(before.url):
            return Rule.UNPARSABLE
    if _is_empty(before) and not case.at(before):
        return Rule.EMPTY
    return _of_charset(case, seen, before)


def _is_empty(seen: Reference) -> bool:
    """Whether something is not a reference, as it is empty."""
    if seen.reference != "":
        return False
    if seen.namespace == "html":
        is_link = seen.element in {"a", "area"} and seen.attribute == "href"
        return not is_link and seen.attribute not in {"action", "formaction"}
    return (seen.namespace, seen.element) != ("svg", "a")


def has(case: Case, reason: Reason) -> bool:
    return any(note.reason is reason for note in case.result.notes)


# What cannot stand in a URL of these (`relbase.values.syntaxes.spell`), beside white space: that
# the browser has encoded before it tells a URL.
_ESCAPED: Final = {"refresh": "'\"", "srcset": ",", "comma list": ",", "semicolon list": ";"}


def _is_escaped(url: str, other: str, characters: str) -> bool:
    """Whether another URL is the same but for some characters that are percent-encoded there."""
    pattern = (
        f"(?:{re.escape(letter)}|%{ord(letter):02X})" if letter in characters else re.escape(letter)
        for letter in url
    )
    return re.fullmatch("".join(pattern), other) is not None


def _of_link(case: Case, link: Link, namespace: str) -> Rule | None:
    if link.status is Status.UNRESOLVED and not link.base.usable:
        return Rule.UNSUITABLE
    if link.status is not Status.KEPT:
        return None
    is_fragment = link.reference.startswith("#")
    if (case.policy.keep_fragments and is_fragment) or case.policy.keeps(link.reference):
        return Rule.POLICY
    if is_fragment and (link.syntax == "css" or _is_local(link, namespace)):
        return Rule.LOCAL
    return Rule.CUSTOM if _is_custom(case, link) else None


def _is_local(link: Link, namespace: str) -> bool:
    return namespace == "svg" and link.element != "a" and link.attribute in _LOCAL


# Where SVG refers to something; `animate` and `set` do it for another element.
_LOCAL: Final = frozenset(("href", "xlink:href", "to", "from", "by", "values"))


def _is_custom(case: Case, link: Link) -> bool:
    remark = Reason.REFERENCE_CUSTOM_PROPERTY
    return link.syntax == "css" and any(
        note.reason is remark and note.span == link.span for note in case.result.notes
    )


def _of_computed(case: Case, url: str) -> Rule | None:
    """A computed style does not tell the reference: it is known by what it resolved to."""
    for link in case.links:
        if link.syntax != "css":
            continue
        rule = _of_link(case, link, "")
        if rule is Rule.UNSUITABLE or (rule is not None and url == link.url):
            return rule
        if url in _on_the_other_base(case, link):
            return Rule.LATE
        if has(case, Reason.BASE_UNPARSABLE) and url == link.reference:
            return Rule.UNPARSABLE
    return None


def _on_the_other_base(case: Case, link: Link) -> set[str]:
    """What a reference before `<base>` resolves to before, or after that is seen."""
    bases = [link.base.outer] if has(case, Reason.BASE_LATE) else []
    if link.base == case.base.outer and link.element != "base":
        bases.append(case.base)  # it was fetched at once; the tree resolves it anew
    return {case.resolved(link.reference, base) for base in bases if base is not None}


def of_unlisted(case: Case, seen: Opened, before: Reference) -> Rule | None:
    """Return why relbase does not list what a browser resolves, None where nothing says."""
    if before.computed:
        return _of_computed(case, before.url)
    if _is_empty(before) and not case.at(before):
        return Rule.EMPTY
    meant = {url for link in case.at(before) for url in case.meant(link)}
    seen_url = _standard(before.url)
    if any(_is_escaped(url, seen_url, "|'") for url in meant):
        return Rule.STANDARD  # more is percent-encoded: `|` in paths, `'` in queries
    return _of_charset(case, seen, before)


def _of_charset(case: Case, seen: Opened, before: Reference) -> Rule | None:
    if seen.charset != case.charset and not before.reference.isascii():
        return Rule.CHARSET
    return None


def of_unseen(case: Case, link: Link, seen: Opened) -> Rule | None:
    """Return why a browser does not see what relbase rewrites, None where nothing says."""
    before = case.data[: link.span.start].lower()
    if link.element in _DROPPED:
        return Rule.DROPPED
    if seen.is_framed and (b"<frameset" in before or link.element not in _OF_HEAD):
        return Rule.DROPPED  # with the body, which was there before
    if b"<template" in before and case.within(_SRCDOC, (link,)):
        return Rule.INERT
    if seen.charset != case.charset and not link.reference.isascii():
        return Rule.CHARSET
    return None


# Where they cannot stand the tree has none of these, or merges them with another.
_DROPPED: Final = frozenset(
    (
        *("html", "head", "body", "frame", "form"),
        *("caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"),
    )
)
# The frameset takes the place of the body alone.
_OF_HEAD: Final = frozenset(("base", "link", "meta", "script", "style"))

_SRCDOC: Final = re.compile(
    rb"\ssrcdoc\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>][^\s>]*)", re.IGNORECASE
)
