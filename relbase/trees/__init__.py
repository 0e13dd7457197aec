"""Rewrites and lists the links of a tree of BeautifulSoup or lxml, or of a part of one.

The code that rewrites bytes also decides which links of a tree count; only the walk is separate.
The parser that made the tree may have dropped, moved or repaired what `relbase.rewrite` sees in the
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from relbase.policy import Policy
from relbase.session.options import DEFAULT_POLICY, URL, as_policy, as_url, with_hints
from relbase.trees.tree import Tree, TreeLink
from relbase.trees.walk import Walk
from relbase.url.profiles import Profile, ProfileName, as_profile

__all__ = ["TreeLink", "iterlinks", "make_links_absolute", "tree_links"]


@with_hints
def make_links_absolute(
    tree: Any,  # noqa: ANN401 (of either package; neither is imported)
    base_url: URL | None = None,
    resolve_base_href: bool = True,  # noqa: FBT001, FBT002 (lxml's signature)
    handle_failures: Literal["ignore", "discard"] | None = "ignore",
    *,
    drop_base: bool = False,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> list[TreeLink]:
    """Make every relative reference in a tree absolute, in place.

    The arguments are those of lxml's method of the same name; trees may be lxml's or soups.

    Args:
        tree: A `BeautifulSoup` or a `Tag` in it, an lxml element or an `ElementTree`. The links
            of a part are resolved against the base of its whole tree.
        base_url: The absolute URL that the document was retrieved from. Without it, an lxml tree's
            own URL counts.
        resolve_base_href: Whether `<base href>` in the tree counts.
        handle_failures: What to do with a reference that cannot be resolved: "ignore" leaves it,
            "discard" removes its attribute or text, None raises before anything changes.
        drop_base: Whether to remove `<base>` at the end, for a piece that moves to another page.
            Otherwise it stays, and becomes absolute too.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.

    Returns:
        The links that changed, and those that cannot be resolved, each with its status.

    Raises:
        TypeError: If it is not a tree, or an argument has the wrong type; or if no base URL is
            known and `handle_failures` is not "ignore".
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
    if handle_failures not in {"ignore", "discard", None}:
        raise ValueError(
            f"handle_failures is {handle_failures!r}: give 'ignore', 'discard' or None"
        )
    walk = _walk(tree, base_url, profile, policy, resolve_base_href=resolve_base_href)
    # Find everything before changing anything: the walk follows what would change.
    values = [value for value in walk.values(all_=False) if value.links]
    is_asked = handle_failures != "ignore"
    failed = [link for value in values for link in value.failed()] if is_asked else []
    if failed and walk.inside.resolve is None:
        raise TypeError("no base URL is known: give base_url, or handle_failures='ignore'")
    if failed and handle_failures is None:
        shown = repr(failed[0].reference[:200])
        fix = "give handle_failures='ignore' or 'discard'"
        raise ValueError(f"{shown} cannot be resolved: {fix}")
    changed: list[TreeLink] = []
    for value in values:
        changed += walk.discarded(value) if failed and value.failed() else walk.written(value)
    if drop_base:
        walk.drop_base()
    return changed


def iterlinks(tree: Any) -> Iterator[tuple[Any, str | None, str, int]]:  # noqa: ANN401 (see above)
    """Return an iterator over the links of a tree, as lxml's method of the same name does.

    Args:
        tree: A tree, as for `make_links_absolute`.

    Returns:
        Tuples of the element, the name of the attribute (None for text), the reference, and its
        position in the value or text, in document order. The tree may change while you read
        them. `tree_links` also tells what the references resolve to.

    Raises:
        TypeError: If it is not a tree.

    >>> import lxml.html
    >>> page = lxml.html.fromstring('<img src="a" srcset="b 2x">')
    >>> [(attribute, link, position) for _, attribute, link, position in iterlinks(page)]
    [('src', 'a', 0), ('srcset', 'b', 0)]
    """
    return (link[:4] for link in tree_links(tree))


@with_hints
def tree_links(
    tree: Any,  # noqa: ANN401 (of either package; neither is imported)
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
    walk = _walk(tree, base_url, profile, policy, resolve_base_href=resolve_base_href)
    return iter([link for value in walk.values(all_=True) for link in value.links])


def _walk(
    tree: object,
    base_url: URL | None,
    profile: Profile | ProfileName,
    policy: Policy,
    *,
    resolve_base_href: bool,
) -> Walk:
    _check_bool("resolve_base_href", resolve_base_href)
    return Walk(
        _opened(tree, as_policy(policy)),
        None if base_url is None else as_url(base_url, "base_url", as_profile(profile)),
        as_profile(profile),
        as_policy(policy),
        resolve_base_href=resolve_base_href,
    )


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
    raise TypeError(f"a {type(tree).__name__} is not a known kind of tree: {_advice(tree)}")


def _advice(tree: object) -> str:
    if tree is None:
        return "give what BeautifulSoup(...) or lxml.html.fromstring(...) returned"
    if isinstance(tree, (str, bytes)):
        return "give bytes to relbase.rewrite, or a str to relbase.rewrite_text"
    if hasattr(tree, "root"):
        return "give selector.root, the tree of lxml in it"
    if type(tree).__module__.startswith("xml."):
        return "parse the document with lxml.etree"
    return "parse the document with BeautifulSoup or lxml, or give its bytes to relbase.rewrite"
