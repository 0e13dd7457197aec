"""Rewriting text (`rewrite_text`), and many documents with the same options (`Rewriter`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Final, Literal, overload

from relbase.formats.rows import FORMATS
from relbase.kind import Kind, KindName
from relbase.session import run
from relbase.session.options import DEFAULT_POLICY, as_data, as_kind, as_url
from relbase.session.session import Call, check
from relbase.url.profiles import Profile, ProfileName, as_profile
from relbase.url.step import check_text
from relbase.view.characters import encode_inner

if TYPE_CHECKING:
    from relbase.policy import Policy
    from relbase.results import Link, Result
    from relbase.session.options import URL, Headers


class Rewriter:
    """Rewrites many documents with the same options, which are checked once.

    Args:
        url: The absolute URL of documents for which a call gives no URL.
        kind: A `Kind` or its value. Without it each document's bytes decide.
        charset: The charset label that the response states.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        detect: Whether to read the URL from marks that programs leave in saved pages.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> rewriter = Rewriter(kind="html")
    >>> rewriter.rewrite(b'<a href="x">', url="http://h.example/d/").data
    b'<a href="http://h.example/d/x">'
    """

    __slots__ = ("_call", "_text_call")

    def __init__(
        self,
        url: URL | None = None,
        *,
        kind: Kind | KindName | None = None,
        charset: str | None = None,
        profile: Profile | ProfileName = Profile.RFC1808,
        policy: Policy = DEFAULT_POLICY,
        detect: bool = True,
    ) -> None:
        self._call = check(
            b"", url=url, kind=kind, charset=charset, profile=profile, policy=policy, detect=detect
        )
        self._text_call = self._call.with_options(
            kind=self._call.options.kind or Kind.HTML, charset="utf-8", detect=False
        )

    def rewrite(self, data: bytes, *, url: URL | None = None) -> Result:
        """Make every relative reference of a document absolute, as `relbase.rewrite` does.

        Without `url`, the rewriter's own URL counts.
        """
        return run.rewrite(as_data(data), _on(self._call, url))

    def links(self, data: bytes, *, url: URL | None = None) -> Iterator[Link]:
        """Return an iterator over every reference of a document, as `relbase.links` does.

        Without `url`, the rewriter's own URL counts.
        """
        return run.links(as_data(data), _on(self._call, url))

    def rewrite_text(self, text: str, *, url: URL | None = None) -> str:
        """Make every relative reference of a text absolute, as `relbase.rewrite_text` does.

        Args:
            text: HTML, CSS, XML or a JSON Feed, whole or a piece; HTML if no kind was given.
            url: The URL that it was retrieved from; None for the rewriter's own.

        Raises:
            TypeError: If the text is not a str, or there is no URL.
            ValueError: If the URL is not absolute, or text of this kind cannot be rewritten.

        >>> Rewriter("http://h.example/d/").rewrite_text('<a href="../x">é</a>')
        '<a href="http://h.example/x">é</a>'
        """
        check_text(text, "text", _NOT_TEXT)
        call = self._text_call if url is None else _on(self._text_call, url)
        if call.url is None:
            raise TypeError("the text needs its URL: give url= here or to Rewriter")
        return _rewritten(text, call)

    def __eq__(self, other: object) -> bool:
        return self._call == other._call if isinstance(other, Rewriter) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._call)

    def __repr__(self) -> str:
        kind = None if self._call.options.kind is None else self._call.options.kind.value
        url, profile = self._call.url, self._call.options.profile.value
        return f"Rewriter({url!r}, kind={kind!r}, profile={profile!r})"


def _on(call: Call, url: URL | None) -> Call:
    if url is None:
        return call
    return call._replace(url=as_url(url, "url", call.options.profile))


_NOT_TEXT: Final = "give a str, or bytes to rewrite"
_TextKind = Literal[Kind.HTML, Kind.CSS, Kind.XML, Kind.JSON, "html", "css", "xml", "json"]


@overload
def rewrite_text(
    text: str,
    *,
    url: URL,
    kind: _TextKind = Kind.HTML,
    redirects: Iterable[URL] = (),
    headers: Headers | None = None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> str: ...
@overload
def rewrite_text(
    text: str,
    *,
    base: URL,
    kind: _TextKind = Kind.HTML,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> str: ...
def rewrite_text(
    text: str,
    *,
    url: URL | None = None,
    base: URL | None = None,
    kind: _TextKind = Kind.HTML,
    redirects: Iterable[URL] = (),
    headers: Headers | None = None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> str:
    """Make every relative reference in a text absolute, and change no other character.

    Give `url` for a whole document: a `<base>` in it counts. Give `base` for a piece of a page
    whose base URL is known: a `<base>` in it does not count. Marks that programs leave in saved
    pages are ignored.

    Args:
        text: HTML, CSS, XML or a JSON Feed, a whole document or a piece of one.
        url: The absolute URL that the text was retrieved from.
        base: The absolute base URL of the page that the piece is from, instead of `url`.
        kind: "html", "css", "xml" or "json".
        redirects: The `Location` values that followed, in order, absolute or relative.
        headers: The response's headers: a mapping, or pairs of names and values. Their
            charset is ignored.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.

    Returns:
        the text; the same object when nothing in it is relative.

    Raises:
        TypeError: if an argument has the wrong type, or there is no URL.
        ValueError: if the URL is not absolute, or the kind or profile is unknown.

    >>> rewrite_text('<a href="../x">é</a>', url="http://h.example/d/p.html")
    '<a href="http://h.example/x">é</a>'
    >>> rewrite_text('<base href="s/"><a href="x">', base="http://h.example/d/s/")
    '<base href="s/"><a href="http://h.example/d/s/x">'
    """
    check_text(text, "text", _NOT_TEXT)
    if not url and not base:
        raise TypeError("rewrite_text needs a URL: give url=, or base= for a piece of a page")
    if base is not None and (url is not None or redirects != () or headers is not None):
        raise TypeError("base cannot be combined with url, redirects or headers")
    found = as_kind(kind)
    stated = "" if base is None else as_url(base, "base", as_profile(profile))
    call = check(
        b"",
        url=stated or url,
        redirects=redirects,
        headers=headers,
        kind=found,
        charset="utf-8",
        profile=profile,
        policy=policy,
        detect=False,
    )
    return _rewritten(text, call, stated)


def _rewritten(text: str, call: Call, base: str = "") -> str:
    """The rewritten text, as a whole document or as a piece with a known base."""
    kind = call.options.kind
    assert kind is not None
    row = FORMATS[kind]
    if row.charset is None:
        raise ValueError(f"text of kind {kind.value!r} is not rewritten: give bytes to rewrite")
    # The first `<base>` decides, so put this one before all others.
    before = row.stating.format(escape(base)).encode() if base else b""
    result = run.rewrite(before + encode_inner(text), call._replace(url=None) if before else call)
    return result.data[len(before) :].decode("utf-8", "surrogatepass") if result.edits else text
