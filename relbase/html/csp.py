"""Which bases a Content-Security-Policy forbids: its `base-uri` directives (CSP 3 §6.7.2, §7.5).

What cannot be decided is allowed: `'self'` of an unknown URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from relbase.expressions import expression
from relbase.url import rfc3986

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
    """The parts of a URL that sources are compared with; a default port is filled in."""

    scheme: str
    host: str
    port: str
    path: str


def policies_of(values: Iterable[str]) -> list[str]:
    """Return the policies in header fields; commas separate them (CSP 3 §3.1)."""
    return [policy for value in values for policy in value.split(",")]


def base_uris(values: Iterable[str]) -> Iterator[str]:
    """Yield the `base-uri` directives of policies in header fields, which alone matter here."""
    return _base_uris_of(policies_of(values))


def forbidding(policies: Iterable[str], url: str, own: str | None) -> str | None:
    """Return the `base-uri` directive that forbids a base; None if all policies allow it."""
    base = _place(url)
    for directive in _base_uris_of(policies):
        _, *sources = directive.strip(_SPACE).split()
        if not any(_matches(source, base, own) for source in sources):
            return directive.strip(_SPACE)
    return None


def _base_uris_of(policies: Iterable[str]) -> Iterator[str]:
    for policy in policies:
        for directive in policy.split(";"):
            name, *_ = directive.strip(_SPACE).split() or [""]
            if name.lower() == "base-uri":
                yield directive
                break  # the first of a policy counts


def _place(url: str) -> _Origin:
    scheme, authority, path, *_ = rfc3986.split(url)
    scheme = (scheme or "").lower()
    match = _host_and_port.fullmatch(authority or "")
    host, port = (match[1], match[2]) if match else ("", "")
    return _Origin(scheme, host.lower(), port or _DEFAULT_PORTS.get(scheme, ""), path or "/")


def _matches(source: str, base: _Origin, own: str | None) -> bool:
    """Whether a source expression matches a base (§6.7.2.8); True if that cannot be decided."""
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
    port, path = host[3] or _DEFAULT_PORTS.get(base.scheme, ""), host[4] or "/"
    scheme_part = host[1] or (None if own is None else _place(own).scheme)
    return (
        (scheme_part is None or _is_scheme(scheme_part.lower(), base.scheme))
        and bool(base.host)
        and (base.host.endswith(name[1:]) if name.startswith("*") else base.host == name)
        and (port in {"*", base.port} or (host[3] == "80" and base.port == "443"))
        and (base.path.startswith(path) if path.endswith("/") else base.path == path)
    )


def _is_same_origin(base: _Origin, own: _Origin) -> bool:
    # "'self'" of an http URL also matches https on the same host, if both ports are the default.
    if (base.scheme, base.host, base.port) == (own.scheme, own.host, own.port):
        return True
    is_default = own.port == _DEFAULT_PORTS.get(own.scheme) and base.port == "443"
    return base.host == own.host and (own.scheme, base.scheme) == ("http", "https") and is_default


def _is_scheme(stated: str, scheme: str) -> bool:
    return scheme == stated or (stated, scheme) == ("http", "https")
