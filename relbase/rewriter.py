"""Text and single values, and many documents with the same options (`Rewriter`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from relbase.kind import Kind, KindName
from relbase.policy import DEFAULT_POLICY, Policy
from relbase.session import run, values
from relbase.session import texts as text_of
from relbase.session.options import as_url
from relbase.session.session import Call, check
from relbase.session.values import NO_ATTRIBUTES, Attributes, Value
from relbase.url.profiles import Profile, ProfileName
from relbase.url.step import check_text

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.results import Link, Result
    from relbase.session.options import URL, Arguments, Headers, Replace


class Rewriter:
    """Rewrites many documents, texts and values with the same options, which are checked once.

    Args:
        url: The absolute URL of documents for which a call gives no URL.
        base: What texts and values resolve against, instead of `url`: the base of their page.
        kind: A `Kind` or its value. Without it each document's bytes decide; text is HTML.

    The other arguments are those of `relbase.rewrite`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> rewriter = Rewriter(kind="html")
    >>> rewriter.rewrite(b'<a href="x">', url="http://h.example/d/").data
    b'<a href="http://h.example/d/x">'
    """

    __slots__ = ("_base", "_call", "_held_text_call")

    def __init__(
        self,
        url: URL | None = None,
        *,
        base: URL | None = None,
        kind: Kind | KindName | None = None,
        charset: str | None = None,
        profile: Profile | ProfileName = Profile.RFC1808,
        policy: Policy = DEFAULT_POLICY,
        detect: bool = True,
        images_url: URL | None = None,
        replace: Replace | None = None,
    ) -> None:
        self._call = check(
            url=url,
            kind=kind,
            charset=charset,
            profile=profile,
            policy=policy,
            detect=detect,
            images_url=images_url,
            replace=replace,
        )
        self._held_text_call: Call | None = None
        self._base = _as_base(base, self._call)

    def rewrite(self, data: bytes, *, url: URL | None = None) -> Result:
        """Make every relative reference of a document absolute, as `relbase.rewrite` does.

        Without `url`, the rewriter's own URL counts.
        """
        return run.rewrite(_on(self._call, url).opened(data))

    def rewrite_response(self, response: Any) -> Result:  # noqa: ANN401 (of any HTTP client)
        """Rewrite the body of a response, as `relbase.rewrite_response` does.

        The response states its own URL and header fields.
        """
        from relbase.responses import rewrite_response

        options = self._call.options
        own = ("kind", "charset", "profile", "policy", "detect", "images_url")
        given = cast("Arguments", {name: getattr(options, name) for name in own})
        return rewrite_response(response, replace=self._call.replace, **given)

    def links(
        self, data: bytes | str, *, url: URL | None = None, texts: bool = False
    ) -> Iterator[Link]:
        """Return an iterator over every link of a document or text, as `relbase.links` does.

        Without `url`, the rewriter's own URL counts.
        """
        if isinstance(data, str):
            call = _on(self._text_call, url)._replace(replace=None)
            return text_of.text_links(data, call, texts=texts)
        given = _on(self._call, url)._replace(replace=None).opened(data)
        return run.links(given, texts=texts)

    def base(self, data: bytes | str, *, url: URL | None = None) -> Base:
        """Return the base of a document or text, as `relbase.base` does."""
        if isinstance(data, str):
            return text_of.text_base(data, _on(self._text_call, url))
        return _on(self._call, url).base(data)

    def rewrite_text(self, text: str, *, url: URL | None = None, base: URL | None = None) -> str:
        """Make every relative reference of a text absolute, as `relbase.rewrite_text` does.

        Args:
            text: HTML, CSS, XML, a JSON Feed or Markdown, whole or a piece; HTML without a kind.
            url: The URL that it was retrieved from; None for the rewriter's own.
            base: The base URL of the page that a piece is from, instead of a URL.

        Raises:
            TypeError: If the text is not a str, or nothing states its URL.
            ValueError: If the URL is not absolute, or text of this kind cannot be rewritten.

        >>> Rewriter("http://h.example/d/").rewrite_text('<a href="../x">é</a>')
        '<a href="http://h.example/x">é</a>'
        """
        check_text(text, "text", _NOT_TEXT)
        return text_of.rewrite_text(text, *self._against(url, base))

    def rewrite_value(
        self,
        element: str,
        attribute: str,
        value: str,
        *,
        url: URL | None = None,
        base: URL | None = None,
        attrs: Attributes = NO_ATTRIBUTES,
    ) -> str:
        """Make the URLs in one decoded value absolute, as `relbase.rewrite_value` does.

        >>> rewriter = Rewriter("http://h.example/d/")
        >>> rewriter.rewrite_value("img", "srcset", "a.png 1x, /b.png 2x")
        'http://h.example/d/a.png 1x, http://h.example/b.png 2x'
        """
        given = Value(element, attribute, value, attrs)
        return values.rewrite_value(given, *self._against(url, base, self._call))

    def value_links(
        self,
        element: str,
        attribute: str,
        value: str,
        *,
        url: URL | None = None,
        base: URL | None = None,
        attrs: Attributes = NO_ATTRIBUTES,
    ) -> list[Link]:
        """Return the links in one decoded value, as `relbase.value_links` does."""
        given = Value(element, attribute, value, attrs)
        return list(values.value_links(given, *self._against(url, base, self._call)))

    def _against(
        self, url: URL | None, base: URL | None, call: Call | None = None
    ) -> tuple[Call, str]:
        """The call with a URL, and the base that was given; a URL alone is stronger than ours."""
        call = call or self._text_call
        own = "" if url else self._base
        return _on(call, url), _as_base(base, call) or own

    @property
    def _text_call(self) -> Call:
        """The call for text, which is not every kind: one for mail has none."""
        if self._held_text_call is None:
            self._held_text_call = text_of.text_call(self._call)
        return self._held_text_call

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rewriter):
            return NotImplemented
        return (self._call, self._base) == (other._call, other._base)

    def __hash__(self) -> int:
        return hash((self._call, self._base))

    def __repr__(self) -> str:
        kind = None if self._call.options.kind is None else self._call.options.kind.value
        url, profile = self._call.url, self._call.options.profile.value
        return f"Rewriter({url!r}, kind={kind!r}, profile={profile!r})"


def _on(call: Call, url: URL | None) -> Call:
    # Half the time of `_replace`.
    return Call(call[0], as_url(url, "url", call.options.profile), *call[2:]) if url else call


def _as_base(base: URL | None, call: Call) -> str:
    return as_url(base, "base", call.options.profile) if base else ""


_NOT_TEXT: Final = "give a str, or bytes to rewrite"
_TextKind = Literal[
    Kind.HTML,
    Kind.CSS,
    Kind.XML,
    Kind.JSON,
    Kind.MARKDOWN,
    "html",
    "css",
    "xml",
    "json",
    "markdown",
]


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
    images_url: URL | None = None,
    replace: Replace | None = None,
) -> str:
    """Make every relative reference in a text absolute, and change no other character.

    Give `url` for a whole document: a `<base>` in it counts. Give `base` for a piece of a page
    whose base URL is known: a `<base>` in it does not count. Marks that programs leave in saved
    pages are ignored.

    Args:
        text: HTML, CSS, XML, a JSON Feed or Markdown, a whole document or a piece of one.
        url: The absolute URL that the text was retrieved from.
        base: The absolute base URL of the page that the piece is from, instead of `url`.
        kind: "html", "css", "xml", "json" or "markdown".
        redirects: The `Location` values that followed, in order, absolute or relative.
        headers: The response's headers: a mapping, or pairs of names and values. Their
            charset is ignored.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        images_url: The base of images in Markdown, if it is another one.
        replace: A function that returns the URL to write for a link, as in `relbase.rewrite`.

    Returns:
        the text; the same object when nothing in it is relative.

    Raises:
        TypeError: if an argument has the wrong type, or neither an argument nor the text states
            a URL.
        ValueError: if the URL is not absolute, or the kind or profile is unknown.

    >>> rewrite_text('<a href="../x">é</a>', url="http://h.example/d/p.html")
    '<a href="http://h.example/x">é</a>'
    >>> rewrite_text('<base href="s/"><a href="x">', base="http://h.example/d/s/")
    '<base href="s/"><a href="http://h.example/d/s/x">'
    """
    check_text(text, "text", _NOT_TEXT)
    if base and (url or redirects != () or headers is not None):
        raise TypeError("base cannot be combined with url, redirects or headers")
    call = check(
        url=url,
        redirects=redirects,
        headers=headers,
        kind=kind,
        charset="utf-8",
        profile=profile,
        policy=policy,
        detect=False,
        images_url=images_url,
        replace=replace,
    )
    return text_of.rewrite_text(text, text_of.text_call(call), _as_base(base, call))


def rewrite_value(
    element: str,
    attribute: str,
    value: str,
    *,
    url: URL | None = None,
    base: URL | None = None,
    attrs: Attributes = NO_ATTRIBUTES,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    replace: Replace | None = None,
) -> str:
    """Make the URLs in one decoded value of an attribute absolute.

    Args:
        element: The element, in any case; `svg:use` and `math:mi` for SVG and MathML.
        attribute: The attribute, in any case; "" for the text of a style or script element.
        value: The decoded value, as a tree of elements has it.
        url: The absolute URL of the document, which an empty `action` means.
        base: The absolute base URL of the document, if it is another one.
        attrs: The other attributes of the element, which decide about some values: `http-equiv`
            about the `content` of a refresh, `type`, `rel`, `codebase`. Lists are joined, and
            None is an attribute without a value, as some parsers have them.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        replace: A function that returns the URL to write for a link, as in `relbase.rewrite`.

    Returns:
        the value; the same object when nothing in it is relative, or when it holds no URL.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a URL is not absolute, or the profile is unknown.

    >>> rewrite_value("img", "srcset", "a.png, b.png 2x", url="http://h.example/d/")
    'http://h.example/d/a.png, http://h.example/d/b.png 2x'
    >>> rewrite_value("img", "alt", "a.png", url="http://h.example/d/")
    'a.png'
    """
    call = check(url=url, profile=profile, policy=policy, replace=replace)
    return values.rewrite_value(Value(element, attribute, value, attrs), call, _as_base(base, call))


def value_links(
    element: str,
    attribute: str,
    value: str,
    *,
    url: URL | None = None,
    base: URL | None = None,
    attrs: Attributes = NO_ATTRIBUTES,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> list[Link]:
    """Return the links in one decoded value of an attribute.

    The arguments are those of `rewrite_value`.

    Returns:
        the links, with spans in characters of the value.

    >>> [link.reference for link in value_links("a", "ping", "x /y")]
    ['x', '/y']
    """
    call = check(url=url, profile=profile, policy=policy)
    given = Value(element, attribute, value, attrs)
    return list(values.value_links(given, call, _as_base(base, call)))
