"""Rewrites and lists the links of a tree of BeautifulSoup, lxml or xml.etree, or of a part of one.

The code that rewrites bytes also decides which links of a tree count; only the walk is separate.
The parser that made the tree may have dropped, moved or repaired what `relbase.rewrite` sees in the
bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from relbase.policy import DEFAULT_POLICY, Policy
from relbase.session.options import URL, Replace, as_policy, as_url, with_hints
from relbase.trees.tree import Tree, TreeLink, Value
from relbase.trees.walk import Walk
from relbase.url.credentials import quoted
from relbase.url.profiles import Profile, ProfileName, as_profile

if TYPE_CHECKING:
    from relbase.results import Link

__all__ = [
    "TreeLink",
    "iterlinks",
    "make_links_absolute",
    "resolve_base_href",
    "rewrite_links",
    "tree_links",
]

Failures: TypeAlias = Literal["ignore", "discard"] | None


@with_hints
def make_links_absolute(
    tree: Any,  # noqa: ANN401 (of any package; none is imported)
    base_url: URL | None = None,
    resolve_base_href: bool = True,  # noqa: FBT001, FBT002 (lxml's signature)
    handle_failures: Failures = None,
    *,
    drop_base: bool = False,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> list[TreeLink]:
    """Make every relative reference in a tree absolute, in place.

    The arguments are those of lxml's method of the same name. White space around a URL goes.

    Args:
        tree: A `BeautifulSoup` or a `Tag` in it, an element or an `ElementTree` of lxml or
            `xml.etree`. The links of a part are resolved against the base of its whole tree.
        base_url: The absolute URL that the document was retrieved from. Without it, an lxml tree's
            own URL counts.
        resolve_base_href: Whether `<base href>` in the tree counts.
        handle_failures: What to do with a reference that cannot be resolved: None raises before
            anything changes, "ignore" leaves it, "discard" removes its attribute or text.
        drop_base: Whether to remove `<base>` at the end, for a piece that moves to another page.
            Otherwise it stays, and becomes absolute too.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.

    Returns:
        The links that changed, and those that cannot be resolved, each with its status.

    Raises:
        TypeError: If it is not a tree, or an argument has the wrong type; or if no base URL is
            known for a relative reference and `handle_failures` is not "ignore".
        ValueError: If the URL is not absolute, or the profile is unknown; or if a reference cannot
            be resolved and `handle_failures` is None.

    >>> import lxml.html
    >>> page = lxml.html.fromstring('<p><a href="../x">x</a><img srcset="y 2x"></p>')
    >>> [link.url for link in make_links_absolute(page, "http://h.example/d/p.html")]
    ['http://h.example/x', 'http://h.example/d/y']
    >>> lxml.html.tostring(page)
    b'<p><a href="http://h.example/x">x</a><img srcset="http://h.example/d/y 2x"></p>'
    """
    _check_bool("drop_base", drop_base)
    walk = _walk(tree, base_url, profile, policy, resolve_base_href=resolve_base_href)
    return _made_absolute(walk, handle_failures, drop_base=drop_base)


@with_hints
def resolve_base_href(
    tree: Any,  # noqa: ANN401 (see above)
    handle_failures: Failures = None,
    *,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> list[TreeLink]:
    """Resolve the links of a tree against its `<base href>`, and remove it, as lxml's method does.

    Nothing changes without a `<base>`. A relative one is resolved against an lxml tree's own URL.

    Args:
        tree: A tree, as for `make_links_absolute`.
        handle_failures: As for `make_links_absolute`.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.

    Returns:
        The links that changed, and those that cannot be resolved, each with its status.

    Raises:
        TypeError: As by `make_links_absolute`.
        ValueError: As by `make_links_absolute`.

    >>> import lxml.html
    >>> page = lxml.html.fromstring('<base href="http://h.example/d/"><a href="x">x</a>')
    >>> links = resolve_base_href(page)
    >>> page.find(".//a").get("href"), page.find(".//base")
    ('http://h.example/d/x', None)
    """
    walk = _walk(tree, None, profile, policy, resolve_base_href=True)
    return _made_absolute(walk, handle_failures, drop_base=True) if walk.has_base else []


@with_hints
def rewrite_links(
    tree: Any,  # noqa: ANN401 (see above)
    link_repl_func: Callable[[str], str | None],
    resolve_base_href: bool = True,  # noqa: FBT001, FBT002 (lxml's signature)
    base_href: URL | None = None,
    *,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> None:
    """Write what a function returns for each link of a tree, as lxml's method does.

    The links that the policy keeps, and those that are always local, stay.

    Args:
        tree: A tree, as for `make_links_absolute`.
        link_repl_func: Gets a link as a str, and returns what to write for it; None removes the
            attribute, or empties the text. An exception reaches the caller, and nothing changes.
        resolve_base_href: Whether the function gets links that are resolved against `<base href>`,
            which is then removed.
        base_href: The absolute URL that the function's links are resolved against. Without it and
            a `<base>` it gets them as they stand.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.

    Raises:
        TypeError: If it is not a tree, or an argument or a result has the wrong type.
        ValueError: If the URL is not absolute, or the profile is unknown.

    >>> import lxml.html
    >>> page = lxml.html.fromstring('<p><a href="/x">x</a><img srcset="y, z 2x"></p>')
    >>> rewrite_links(page, lambda link: None if link == "/x" else f"/s/{link}")
    >>> lxml.html.tostring(page)
    b'<p><a>x</a><img srcset="/s/y, /s/z 2x"></p>'
    """
    values: list[Value] = []
    removed = [False]  # for each value, and the next

    def replace(link: Link) -> str | None:
        if resolve_base_href and link.element == "base":
            return None  # it goes
        new = link_repl_func(link.url or link.reference if is_based else link.reference)
        removed[-1] |= new is None
        return link.reference if new is None else new

    walk = _walk(tree, base_href, profile, policy, replace, resolve_base_href=resolve_base_href)
    is_based = bool(base_href) or walk.has_base
    for value in walk.values():
        values.append(value)
        removed.append(False)
    for value, is_removed in zip(values, removed, strict=False):
        if is_removed:
            walk.tree.discard(value)
        elif value.text is not None:
            walk.tree.write(value)
    if resolve_base_href:
        walk.tree.drop_bases()


def iterlinks(tree: Any) -> Iterator[tuple[Any, str | None, str, int]]:  # noqa: ANN401 (see above)
    """Return an iterator over the links of a tree, as lxml's method of the same name does.

    `text[:position] + new + text[position + len(link):]` replaces a link, since those of one value
    or text come from the last to the first.

    Args:
        tree: A tree, as for `make_links_absolute`.

    Returns:
        Tuples of the element, the name of the attribute (None for text), the link as it stands in
        the value or text, and its position there. The elements come in document order. The tree
        may change while you read them. `tree_links` also tells what the references resolve to.

    Raises:
        TypeError: If it is not a tree.

    >>> import lxml.html
    >>> page = lxml.html.fromstring('<img src="a" srcset="b, c 2x">')
    >>> [(attribute, link, position) for _, attribute, link, position in iterlinks(page)]
    [('src', 'a', 0), ('srcset', 'c', 3), ('srcset', 'b', 0)]
    """
    # Which base does not matter, but with one the compiled scanner need not stop at references.
    walk = _walk(tree, "http://h/", resolve_base_href=False, lists=True)
    return iter(
        [
            (element, attribute, written[start:end], start)
            for _, written, _, links in walk.values()
            for element, attribute, _, start, _, _, end in reversed(links)
        ]
    )


@with_hints
def tree_links(
    tree: Any,  # noqa: ANN401 (see above)
    base_url: URL | None = None,
    *,
    resolve_base_href: bool = True,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> Iterator[TreeLink]:
    """Return an iterator over the links of a tree, with what each resolves to.

    They come in document order, and the tree may change while you read them.

    Args:
        tree: A tree, as for `make_links_absolute`.
        base_url: The absolute URL that the document was retrieved from.
        resolve_base_href: Whether `<base href>` in the tree counts.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.

    Raises:
        TypeError: If it is not a tree, or an argument has the wrong type.
        ValueError: If the URL is not absolute, or the profile is unknown.

    >>> import bs4
    >>> soup = bs4.BeautifulSoup('<p style="background:url(x.png)">', "html.parser")
    >>> [(link.url, link.position) for link in tree_links(soup, "http://h.example/")]
    [('http://h.example/x.png', 15)]
    """
    walk = _walk(tree, base_url, profile, policy, resolve_base_href=resolve_base_href, lists=True)
    return iter([link for value in walk.values() for link in value.links])


def _walk(
    tree: object,
    base_url: URL | None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    replace: Replace | None = None,
    *,
    resolve_base_href: bool,
    lists: bool = False,
) -> Walk:
    _check_bool("resolve_base_href", resolve_base_href)
    asked = as_policy(policy)
    opened = _opened(tree, asked)
    by = as_profile(profile)
    return Walk(
        opened,
        as_url(base_url, "base_url", by) if base_url else None,
        by,
        asked,
        resolve_base_href=resolve_base_href,
        replace=replace,
        lists=lists,
    )


def _made_absolute(walk: Walk, handle_failures: Failures, *, drop_base: bool) -> list[TreeLink]:
    if handle_failures not in {"ignore", "discard", None}:
        raise ValueError(
            f"handle_failures is {handle_failures!r}: give 'ignore', 'discard' or None"
        )
    # Find everything before changing anything: the walk follows what would change.
    values = [value for value in walk.values() if value.links]
    is_asked = handle_failures != "ignore"
    failed = [link for value in values for link in value.failed()] if is_asked else []
    if failed and walk.inside.resolve is None:
        raise TypeError("no base URL is known: give base_url, or handle_failures='ignore'")
    if failed and handle_failures is None:
        fix = "give handle_failures='ignore' or 'discard'"
        raise ValueError(f"{quoted(failed[0].reference)} cannot be resolved: {fix}")
    changed: list[TreeLink] = []
    for value in values:
        is_discarded = bool(failed and value.failed())
        changed += walk.tree.discard(value) if is_discarded else walk.tree.write(value)
    if drop_base:
        walk.tree.drop_bases()
    return changed


def _check_bool(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}: give True or False")


def _opened(tree: object, policy: Policy) -> Tree:
    """The tree, wrapped in the class that knows its package."""
    packages = {class_.__module__.partition(".")[0] for class_ in type(tree).__mro__}
    if isinstance(tree, (list, tuple)):
        raise TypeError(f"a {type(tree).__name__} is not a tree: give one tree at a time")
    if "bs4" in packages:
        from relbase.trees.soup import soup_tree  # loads beautifulsoup4

        return soup_tree(tree, policy)
    if "lxml" in packages:
        from relbase.trees.nodes import lxml_tree  # loads lxml

        return lxml_tree(tree, policy)
    if "xml" in packages:
        from relbase.trees.elements import element_tree  # loads xml.etree

        return element_tree(tree, policy)
    fix = _advice(tree, packages)
    raise TypeError(f"a {type(tree).__name__} is not a known kind of tree: {fix}")


def _advice(tree: object, packages: set[str]) -> str:
    if tree is None:
        return "give what BeautifulSoup(...) or lxml.html.fromstring(...) returned"
    if isinstance(tree, (str, bytes)):
        return "give bytes to relbase.rewrite, or a str to relbase.rewrite_text"
    if "parsel" in packages:
        return "give selector.root, the tree of lxml in it"
    return (
        "give one of BeautifulSoup, lxml or xml.etree, or each value to relbase.rewrite_value, "
        "or the document's bytes to relbase.rewrite"
    )
