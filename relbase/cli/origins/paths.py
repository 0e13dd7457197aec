"""URLs from paths: `--root DIR=URL`, and the layout of mirrors, `host/path`.

To mind: a path is not a URL. It is percent-encoded here, and what a program renamed is undone only
where the name can mean one thing. Whose name can mean several has none here.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable

# What stands for itself in a path: RFC 3986 §3.3 pchar, without "%".
_SAFE: Final = "/!$&'()*+,;=:@-._~"
_SAFE_QUERY: Final = _SAFE + "?"

# Servers show these for their directory.
INDEXES: Final = frozenset(("index.html", "index.htm", "index.xhtml", "index.shtml", "index.php"))


class Root(NamedTuple):
    """What --root says: a directory, and its URL with a slash at the end."""

    directory: str
    url: str


_root: Final = expression(r"(.+?)=([A-Za-z][A-Za-z0-9+.-]+:/.*)", re.DOTALL)


def read_root(text: str) -> Root | None:
    """Return what `DIR=URL` says, None where it says nothing."""
    found = _root.fullmatch(text)
    if found is None:
        return None
    url = found[2]
    return Root(found[1], url if url.endswith("/") else f"{url}/")


def inside(path: str, directory: str) -> list[str] | None:
    """Return the steps from a directory to a path inside of it, None where it is outside."""
    relative = os.path.relpath(os.path.abspath(path), os.path.abspath(directory))  # noqa: PTH100
    steps = relative.split(os.sep)  # noqa: PTH206
    return None if steps[0] in {os.pardir, os.curdir} else steps


def url_of_steps(steps: list[str]) -> str:
    """Return a path as a URL's: an index page is its directory."""
    *directories, name = steps
    path = "/".join((*directories, "" if name in INDEXES else name))
    return quote(os.fsencode(path), _SAFE)


def url_on_root(path: str, roots: tuple[Root, ...]) -> tuple[str, str] | None:
    """Return the URL of a file by --root, and which, None where no root is around it."""
    around = sorted(roots, key=lambda root: len(os.path.abspath(root.directory)))  # noqa: PTH100
    for root in reversed(around):
        steps = inside(path, root.directory)
        if steps is not None:
            return root.url + url_of_steps(steps), f"--root {root.directory}"
    return None


# ---- mirrors


class Mirror(NamedTuple):
    """What --mirror says."""

    directory: str  # that holds those of the hosts
    scheme: str | None = None  # of the URLs, where the path does not say
    adds: bool = False  # whether its program added ends to names


_mirror: Final = expression(r"(.+)=(https?)", re.DOTALL)


def read_mirror(text: str) -> Mirror:
    """Return what `DIR` or `DIR=https` says; a directory may have a name like that."""
    found = None if os.path.isdir(text) else _mirror.fullmatch(text)  # noqa: PTH112
    return Mirror(found[1], found[2]) if found else Mirror(text)


_SCHEMES: Final = frozenset(("http", "https", "ftp"))

# A name with a dot, an address, or localhost; wget writes ":port", on Windows "+port".
_host: Final = expression(
    r"((?:[A-Za-z0-9_-]+\.)+[A-Za-z0-9_-]+|localhost|\[[0-9A-Fa-f:.]+\])(?:[:+]([0-9]{1,5}))?"
)

# What wget -E adds to a name that does not end so: "a.php.html", "style.css?v=1.css".
_added: Final = expression(r".*(?:\?.*|\.(?:php[0-9]?|aspx?|jsp|cgi|pl|cfm|do))\.(?:html|css)")


# What `wget -E` adds to names.
_ENDS: Final = (".html", ".css")


def original_name(name: str, is_there: Callable[[str], bool]) -> str | None:
    """Return the name that a file had before `wget -E`, None where no original tells."""
    for suffix in ("", *_ENDS):
        before = name.removesuffix(suffix)
        if name.endswith(suffix) and is_there(f"{before}.orig"):
            return before
    return None


class Mirrored(NamedTuple):
    """The URL of a file of a mirror, as its path has it."""

    url: str
    sure: bool  # whether the name can mean only this
    doubt: str = ""
    guessed: bool = False  # nothing says that its scheme is http


def url_in_mirror(path: str, mirror: Mirror) -> Mirrored | None:
    """Return the URL of a file in a mirror, None where no host is on its path."""
    steps = inside(path, mirror.directory)
    if steps is None:
        return None
    scheme = mirror.scheme
    if steps[0] in _SCHEMES and len(steps) > 1 and _host.fullmatch(steps[1]):
        scheme, *steps = steps
    host = _host.fullmatch(steps[0])
    if host is None or len(steps) == 1:
        return None
    doubt = "" if scheme else "its scheme is not known: taken for http"
    authority = host[1] + (f":{host[2]}" if host[2] else "")
    *directories, name = steps[1:]
    folder = os.path.dirname(path)  # noqa: PTH120
    before = original_name(name, lambda other: os.path.isfile(os.path.join(folder, other)))  # noqa: PTH113, PTH118
    url = _joined(scheme, authority, directories, before or name)
    if before is None and _is_doubtful(name, mirror):
        text = f"{doubt}; " if doubt else ""
        text += "the end of its name may be added by the program that saved it"
        return Mirrored(url, sure=False, doubt=text, guessed=scheme is None)
    return Mirrored(url, sure=True, doubt=doubt, guessed=scheme is None)


# What people call directories of their own, and no host.
_domain: Final = expression(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?", re.IGNORECASE)


def mirror_in(tree: str) -> str | None:
    """Return the directory that looks like a mirror by `wget -m`: a tree, or the one around it.

    Each host has a directory of its name there, with an index page in it.
    """
    inside = os.path.dirname(os.path.abspath(tree))  # noqa: PTH100, PTH120
    hosts = [os.path.join(tree, name) for name in sorted(os.listdir(tree))]  # noqa: PTH118, PTH208
    for directory, host in [(inside, os.path.abspath(tree)), *((tree, host) for host in hosts)]:  # noqa: PTH100
        if _domain.fullmatch(os.path.basename(host)) and _has_index(host):  # noqa: PTH119
            return directory
    return None


def _has_index(directory: str) -> bool:
    return any(os.path.isfile(os.path.join(directory, name)) for name in INDEXES)  # noqa: PTH113, PTH118


def _is_doubtful(name: str, mirror: Mirror) -> bool:
    if name in INDEXES:
        return False
    return _added.fullmatch(name) is not None or (mirror.adds and name.endswith((".html", ".css")))


def adds(directory: str) -> bool:
    """Return whether the names in a mirror show that its program adds ends to them (wget -E)."""
    return any(_added.fullmatch(name) for _, _, names in os.walk(directory) for name in names)


def _joined(scheme: str | None, authority: str, directories: list[str], name: str) -> str:
    file, mark, query = name.partition("?")
    path = "/".join((*directories, "" if file in INDEXES else file))
    url = f"{scheme or 'http'}://{authority}/{quote(os.fsencode(path), _SAFE)}"
    return f"{url}?{quote(os.fsencode(query), _SAFE_QUERY)}" if mark else url
