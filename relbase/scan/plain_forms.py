"""What becomes of plain references with a given base, by their forms.

Most relative references have a plain form (`tables.PlainForm`): resolving puts the same
text, the prefix, in front of every reference of that form. A sample determines the prefix when a
form first occurs. If it resolves to anything else, such references are resolved one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.bases.layers import Layer
from relbase.expressions import regex
from relbase.rewriting.budget import weight
from relbase.rewriting.context import BaseResolver
from relbase.rewriting.outcomes import plain_in_css, plain_in_quotes, plain_unquoted
from relbase.scan import binding, tables
from relbase.scan.binding import Prefix
from relbase.scan.tables import EDITS, IN_CSS, UNQUOTED, PlainForm
from relbase.url.plain import HOST, NET_LOC, UNRESERVED, WEB_PATTERN
from relbase.url.profiles import PROFILES, Profile
from relbase.url.resolver import has_net_loc
from relbase.view.charset import DEFAULT

if TYPE_CHECKING:
    from relbase.rewriting.context import Context


class PlainBase(NamedTuple):
    """A base of plain names, from which prefixes are cut without samples."""

    url: str
    root: str  # what precedes its path
    directory: str  # its path up to the last slash; "" if it has no path
    is_whole: bool  # whether it has a path, and no query


class Prefixes(dict[int, Prefix | None]):
    """What becomes of references of each form, for one base and one depth of nesting."""

    __slots__ = ("_base", "_depth", "_plain", "resolve")

    def __init__(
        self,
        resolve: Callable[[str], str] | None,
        depth: int,
        plain: PlainBase | None = None,
        base: tuple[str, Profile, str] | None = None,
    ) -> None:
        self.resolve = resolve  # None if samples prove nothing
        self._depth = depth
        self._plain = plain
        # The base, if it is not looked at yet: many documents have no plain reference.
        self._base = base

    def __missing__(self, form: int) -> Prefix | None:
        if self._base is not None:
            self._look_at(*self._base)
        edit = None if self._plain is None else _cut(form, self._plain)
        if edit is None and self.resolve is not None:
            edit = self._edit(form, self.resolve)
        self[form] = edit
        return edit

    def _look_at(self, url: str, profile: Profile, encoding: str) -> None:
        self._base, self._plain = None, base_of_names(url, profile)
        # Not the one of the context, which keeps these prefixes: a cycle would be freed late.
        self.resolve = BaseResolver(url, profile, encoding)
        # The WHATWG parser has special rules for the paths of file and of other schemes. Without a
        # net_loc, resolving may change how a path is written.
        is_odd = PROFILES[profile].normalizes and not url.startswith(("http:", "https:"))
        if self._plain is None and (is_odd or not has_net_loc(url)):
            self.resolve = None

    def _edit(self, form: int, resolve: Callable[[str], str]) -> Prefix | None:
        sample = binding.SAMPLES.get(form)
        if sample is None:
            return None
        try:
            url = resolve(sample)
        except ValueError:
            return None
        if form >= PlainForm.HERE:
            # Climbing above the root needs a note. A dot at the end of the directory is shared.
            until = len(sample) - 1
            is_alike = url.endswith("/") and not url.endswith("./") and "/../" not in url
        else:
            until = 0
            is_alike = url.endswith(sample)
        if not is_alike:
            return None
        text = url[: len(url) - len(sample) + until]
        new = text.encode("utf-8", "surrogatepass")
        if _means_itself(text):
            return Prefix(until, new, max(0, len(text) - until), UNQUOTED | IN_CSS)
        if not plain_in_quotes(new):
            return None
        fits = (UNQUOTED if plain_unquoted(new) else 0) | (IN_CSS if plain_in_css(new) else 0)
        return Prefix(until, new, max(0, weight(text, self._depth) - until), fits)


NO_EDITS: Final = Prefixes(None, 0)

# Needs no escape in any place, at any depth: the usual case.
_means_itself: Final = regex(r"[A-Za-z0-9/:.?#_~%+@!$*-]*+").fullmatch


def _cut(form: int, base: PlainBase) -> Prefix | None:
    """Return the prefix of a form for a base of plain names; None if a sample has to tell."""
    url, root, directory, is_whole = base
    until = 0
    if form == PlainForm.PATH:
        new = root + (directory or "/")
    elif form == PlainForm.ROOT:
        new = root
    elif form == PlainForm.DOT and directory:
        new, until = root + directory, 1
    elif form >= PlainForm.HERE:
        up = form - PlainForm.HERE
        if up >= directory.count("/"):
            return None
        new, until = root + directory.rsplit("/", up + 1)[0], max(1, up * 3 - 1)
        if new.endswith("."):  # which the dots of the reference share
            return None
    elif is_whole and form in _ON_WHOLE:
        new = url
    else:
        return None
    return Prefix(until, new.encode(), max(0, len(new) - until), UNQUOTED | IN_CSS)


def base_of_names(url: str, profile: Profile) -> PlainBase | None:
    """Return the parts of a base of plain names; None for any other base."""
    simple = _simple.fullmatch(url)
    if simple is None or (PROFILES[profile].normalizes and not _lower_host(url)):
        return None
    root, path, query = simple.groups()
    return PlainBase(url, root, path or "", path is not None and query is None)


# The WHATWG parser reads `%2e` as a dot.
_NAME: Final = rf"(?!%2[Ee])[{UNRESERVED}%](?:[{UNRESERVED}.]|%(?!2[Ee]))*+"
_simple: Final = regex(rf"({NET_LOC})(?:(/(?:{_NAME}/)*+)(?:{_NAME})?+(\?[!$-?A-~]*+)?+)?+")
_lower_host: Final = regex(rf"{WEB_PATTERN}{HOST}(?:/|\Z)").match
_ON_WHOLE: Final = frozenset((PlainForm.FRAGMENT, PlainForm.QUERY, PlainForm.EMPTY))


def edits_on(url: str, profile: Profile, encoding: str = "utf-8", depth: int = 0) -> Prefixes:
    """Return what becomes of plain references with a base."""
    return Prefixes(None, depth, None, (url, profile, encoding))


def prefixes_of(context: Context) -> Prefixes:
    """Return what becomes of plain references in a context."""
    resolve = context.resolve
    # References to files beside the page may stay.
    if resolve is None or context.local_files is not None:
        return NO_EDITS
    key = Prefixes, context.depth
    prefixes: Prefixes | None = resolve.ready.get(key)
    if prefixes is None:
        how = context.base.url, context.task.profile, context.encoding
        prefixes = edits_on(*how, context.depth)
        resolve.ready[key] = prefixes
    return prefixes


def walk_for(context: Context, walk: str, mode: int = EDITS, more: int = 0) -> Callable[..., Any]:
    """Return a walk of the compiled scanner for the documents of a context, perhaps more flags."""
    resolve = context.resolve
    ready: dict[object, Any] = {} if resolve is None else resolve.ready
    extended, depth, base = context.extended, context.depth, context.base
    is_own = walk in _OF_TAGS and not depth and base.layer is not Layer.EMBEDDED
    key = walk, mode, more, extended, context.charset, depth, context.local_files is None, is_own
    scan: Callable[..., Any] | None = ready.get(key)
    if scan is None:
        flags = (
            PROFILES[context.task.profile].normalizes * tables.NORMALIZES
            | is_same_in_css(context) * tables.CSS_TOO
            | (walk not in _OF_TAGS or _keeps_ascii(context.charset)) * tables.ASCII_STANDS
            | (is_own and "#" not in base.url) * tables.OWN_IS_BASE
            | more
        )
        set_up = binding.scanning(walk, mode, flags, extended)
        scan = ready[key] = partial(set_up, prefixes_of(context))
    return scan


def _keeps_ascii(charset: str) -> bool:
    """Whether each byte of ASCII stands for itself in a charset."""
    if charset in {"utf-8", DEFAULT.name}:  # most are
        return True
    from relbase.view.characters import MULTI_BYTE

    return charset not in MULTI_BYTE


_OF_TAGS: Final = frozenset((binding.HTML_WALK, binding.LINKS_WALK))


def is_same_in_css(context: Context) -> bool:
    """Whether the base is the same for references in CSS, which encodes queries in UTF-8."""
    return context.encoding == "utf-8" or context.base.url.isascii()
