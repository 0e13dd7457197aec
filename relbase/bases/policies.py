"""Content-Security-Policy: whether a page's policy forbids its `<base>` (CSP 3 §7.5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.expressions import expression
from relbase.url import rfc3986

if TYPE_CHECKING:
    from collections.abc import Iterable

POLICY_FIELD: Final = "content-security-policy"

_SPACE: Final = " \t\n\r\f"
_DEFAULT_PORTS: Final = {"http": "80", "https": "443", "ftp": "21"}

# scheme-source = scheme-part ":"   (§2.3.1)
_scheme_source: Final = expression(r"([A-Za-z][A-Za-z0-9+.-]*+):")
# host-source = [ scheme-part "://" ] host-part [ ":" port-part ] [ path-part ]
_host_source: Final = expression(
    r"""(?:([A-Za-z][A-Za-z0-9+.-]*+)://)?+ (\*|(?:\*\.)?+[A-Za-z0-9_.-]++)
    (?::([0-9]++|\*))?+ (/.*+)?+""",
    re.VERBOSE,
)
_host_and_port: Final = expression(r"(?:.*@)?+ (.*?) (?::([0-9]*+))?+", re.VERBOSE)


class _Origin(NamedTuple):
    """What sources are compared with: of a URL, its default port written out."""

    scheme: str
    host: str
    port: str
    path: str


def policies_of(values: Iterable[str]) -> list[str]:
    """Return the policies that the fields of a header state: commas stand between (CSP 3 §3.1)."""
    return [policy for value in values for policy in value.split(",")]


def forbidding(policies: Iterable[str], url: str, own: str | None) -> str | None:
    """Return the `base-uri` that forbids a base; None where all policies allow it."""
    base = _place(url)
    for policy in policies:
        for directive in policy.split(";"):
            name, *sources = directive.strip(_SPACE).split() or [""]
            if name.lower() == "base-uri":
                if not any(_matches(source, base, own) for source in sources):
                    return directive.strip(_SPACE)
                break
    return None


def _place(url: str) -> _Origin:
    scheme, authority, path, *_ = rfc3986.split(url)
    scheme = (scheme or "").lower()
    found = _host_and_port.fullmatch(authority or "")
    host, port = (found[1], found[2]) if found else ("", "")
    return _Origin(scheme, host.lower(), port or _DEFAULT_PORTS.get(scheme, ""), path or "/")


def _matches(source: str, base: _Origin, own: str | None) -> bool:
    """Whether a source expression matches a base (§6.7.2.8); one that cannot be decided does."""
    if source.lower() == "'none'":
        return False
    if source.lower() == "'self'":
        return own is None or _is_same_origin(base, _place(own))
    if source == "*":
        return base.scheme in _DEFAULT_PORTS
    if scheme := _scheme_source.fullmatch(source):
        return _is_scheme(scheme[1].lower(), base.scheme)
    host = _host_source.fullmatch(source)
    if host is None:
        return False
    name = host[2].lower()
    scheme_part = host[1] or (None if own is None else _place(own).scheme)
    return (
        (scheme_part is None or _is_scheme(scheme_part.lower(), base.scheme))
        and bool(base.host)
        and (base.host.endswith(name[1:]) if name.startswith("*") else base.host == name)
        and _is_port(host[3], base)
        and _is_path(host[4], base.path)
    )


def _is_same_origin(base: _Origin, own: _Origin) -> bool:
    # "'self'" holds for the secure scheme of the same host too, on the default ports.
    if (base.scheme, base.host, base.port) == (own.scheme, own.host, own.port):
        return True
    is_default = own.port == _DEFAULT_PORTS.get(own.scheme) and base.port == "443"
    return base.host == own.host and (own.scheme, base.scheme) == ("http", "https") and is_default


def _is_scheme(stated: str, scheme: str) -> bool:
    return scheme == stated or (stated, scheme) == ("http", "https")


def _is_port(stated: str | None, base: _Origin) -> bool:
    if stated is None:
        return base.port == _DEFAULT_PORTS.get(base.scheme, "")
    return stated in {"*", base.port} or (stated == "80" and base.port == "443")


def _is_path(stated: str | None, path: str) -> bool:
    if stated is None or stated == "/":
        return True
    return path.startswith(stated) if stated.endswith("/") else path == stated
