"""The same call for many documents: what depends on the call alone is checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.call import DEFAULT_POLICY, URL, Call, as_url, check
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.pipeline import links_called, rewrite_called
from relbase.url.resolver import Profile, ProfileName
from relbase.view.characters import inner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.call import KindName
    from relbase.policy import Policy
    from relbase.results import Link, Result


class Rewriter:
    """Rewrites many documents by one call.

    Args:
        url: The URL of all documents that are given none of their own, absolute.
        kind: A `Kind` or its value; otherwise each document's bytes decide.
        charset: The transport's charset label.
        profile: A `Profile` or its value: the algorithm that resolves.
        policy: What is left alone.
        detect: Whether marks that programs leave in saved pages may state the URL.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If the URL is not absolute, or the kind, the charset or the profile not known.

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
            b"",
            url=url,
            kind=kind,
            charset=charset,
            profile=profile,
            policy=policy,
            detect=detect,
        )
        self._text_call = self._call._replace(
            kind=self._call.kind or Kind.HTML, charset="utf-8", detect=False
        )

    def rewrite(self, data: bytes, *, url: URL | None = None) -> Result:
        """Make every relative reference of a document absolute, as `relbase.rewrite` does.

        Without `url` that of all documents counts.
        """
        return rewrite_called(_bytes(data), _on(self._call, url))

    def links(self, data: bytes, *, url: URL | None = None) -> Iterator[Link]:
        """Return an iterator over every reference of a document, as `relbase.links` does.

        Without `url` that of all documents counts.
        """
        return links_called(_bytes(data), _on(self._call, url))

    def rewrite_text(self, text: str, *, url: URL | None = None) -> str:
        """Make every relative reference of a text absolute, as `relbase.rewrite_text` does.

        Args:
            text: HTML, CSS or XML, a whole document or a piece; HTML where no kind was given.
            url: The URL that it was retrieved from; None for that of all documents.

        Raises:
            TypeError: If the text is not a str, or there is no URL.
            ValueError: If the URL is not absolute, or text of the kind is not rewritten.

        >>> Rewriter("http://h.example/d/").rewrite_text('<a href="../x">é</a>')
        '<a href="http://h.example/x">é</a>'
        """
        if not isinstance(text, str):
            raise TypeError(f"the text is a str, not {type(text).__name__}: give bytes to rewrite")
        call = _on(self._text_call, url)
        if call.url is None:
            raise TypeError("the text needs its URL: give url= here or to Rewriter")
        assert call.kind is not None
        if FORMATS[call.kind].charset is None:
            raise ValueError(f"text of kind {call.kind.value!r} is not rewritten: give bytes")
        result = rewrite_called(inner(text), call)
        return result.data.decode("utf-8", "surrogatepass") if result.edits else text

    def __eq__(self, other: object) -> bool:
        return self._call == other._call if isinstance(other, Rewriter) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._call)

    def __repr__(self) -> str:
        kind = None if self._call.kind is None else self._call.kind.value
        url, profile = self._call.url, self._call.profile.value
        return f"Rewriter({url!r}, kind={kind!r}, profile={profile!r})"


def _on(call: Call, url: URL | None) -> Call:
    return call if url is None else call._replace(url=as_url(url))


def _bytes(data: bytes) -> bytes:
    if not isinstance(data, bytes):
        kind = type(data).__name__
        raise TypeError(f"the document is bytes, not {kind}: give text to rewrite_text")
    return data
