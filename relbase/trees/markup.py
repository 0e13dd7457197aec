"""What is markup in a tree: namespaces where the parser knows none, what is hidden, what is text.

Parsers differ from browsers: some have no namespaces, some make elements of what a browser takes
for text (the inside of textarea, of iframe). Such elements become text again when the tree is
written, so that they count as `rewrite` counts them: not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.references.foreign import HTML, MATH, SVG, namespace_in_tree, namespace_inside
from relbase.references.tags import RAW_TEXT
from relbase.references.vocabulary import attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

# https://infra.spec.whatwg.org/#namespaces
XHTML_URI: Final = "http://www.w3.org/1999/xhtml"
XLINK_URI: Final = "http://www.w3.org/1999/xlink"
NAMESPACES: Final[Mapping[str, str]] = {
    XHTML_URI: HTML,
    "http://www.w3.org/2000/svg": SVG,
    "http://www.w3.org/1998/Math/MathML": MATH,
}


class Around(NamedTuple):
    """What is around an element.

    Args:
        namespace: whose rules are followed.
        hidden: a `<base>` here does not count.
        opaque: what looks like elements here is text.
    """

    namespace: str
    hidden: bool = False
    opaque: bool = False


TOP: Final = Around(HTML)

# Elements inside of which something else holds than around them.
_HIDING: Final = frozenset((b"template", b"noscript"))
_OPAQUE: Final = RAW_TEXT - _HIDING - {b"style", b"script"}
SPECIAL: Final = frozenset((b"svg", b"math")) | _HIDING | _OPAQUE

# The texts of these may hold references, whatever their attributes are.
TEXTS: Final = frozenset((b"style", b"script"))


def inside(name: bytes, namespace: str, around: Around) -> Around:
    """Return what is around the children of an element.

    Args:
        name: of the element in lower case.
        namespace: of the element.
        around: what is around it.
    """
    hides = name == b"template" or (name == b"noscript" and namespace == HTML)
    return Around(
        namespace_inside(name, namespace),
        around.hidden or hides,
        around.opaque or (namespace == HTML and name in _OPAQUE),
    )


def own_namespace(name: bytes, around: Around) -> str:
    """Return the namespace of an element of a tree that has none.

    Args:
        name: of the element in lower case.
        around: what is around it.
    """
    return namespace_in_tree(name, around.namespace)


def known(*, extended: bool) -> dict[str, bytes]:
    """Return the attributes that may matter: how trees name them, and how the vocabulary does.

    Args:
        extended: whether those of the policy `extended` do.
    """
    names = _CONDITIONS.union(
        *(attributes(namespace, extended=extended) for namespace in (HTML, SVG, MATH))
    )
    found = {name.decode(): name for name in names}
    for name in names:
        prefix, _, local = name.decode().partition(":")
        if prefix == "xlink":
            found[f"{{{XLINK_URI}}}{local}"] = name
    return found


# What rows ask for beside the attributes that are in them.
_CONDITIONS: Final = frozenset(
    b"attributename codebase http-equiv itemprop name property type valuetype".split()
)
