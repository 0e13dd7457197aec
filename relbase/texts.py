"""Text that a program holds: what converters, template filters and feed generators pass on."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Literal, overload

from relbase.call import DEFAULT_POLICY, URL, Headers, as_kind, as_url, check
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.opening.at_once import edits_at_once
from relbase.pipeline import rewrite
from relbase.references.scanner import spliced
from relbase.url.resolver import Profile, ProfileName
from relbase.view.characters import inner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relbase.policy import Policy

_TextKind = Literal[Kind.HTML, Kind.CSS, Kind.XML, "html", "css", "xml"]


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
    """Make every relative reference of a text absolute, and change no other character.

    Give `url` for a whole document, or for a piece that came from one: a `<base>` in it counts.
    Give `base` for a piece of a page whose base URL is known already: no `<base>` in it counts.
    The text is what `kind` says, and no marks of programs are looked for in it.

    Args:
        text: HTML, CSS or XML, a whole document or a piece.
        url: the absolute URL that the text was retrieved from.
        base: the absolute base URL of the page that the text is a piece of; instead of `url`.
        kind: "html", "css" or "xml".
        redirects: where `url` was redirected to, in order, absolute or relative.
        headers: the header that the text came with: a mapping or pairs of names and values. Its
            charset is not used.
        profile: a `Profile` or its value: the algorithm that resolves.
        policy: what is left alone.

    Returns:
        the text; the same object when nothing in it is relative.

    Raises:
        TypeError: if an argument is of another type, or there is no URL.
        ValueError: if the URL is not absolute, or the kind or the profile not known.

    >>> rewrite_text('<a href="../x">é</a>', url="http://h.example/d/p.html")
    '<a href="http://h.example/x">é</a>'
    >>> rewrite_text('<base href="s/"><a href="x">', base="http://h.example/d/s/")
    '<base href="s/"><a href="http://h.example/d/s/x">'
    """
    if not isinstance(text, str):
        fix = "give bytes to rewrite" if isinstance(text, bytes) else "give str(text)"
        raise TypeError(f"the text is a str, not {type(text).__name__}: {fix}")
    if url is None and base is None:
        raise TypeError(
            "rewrite_text needs the URL that the text belongs to: give url='http://…', or base= of "
            "the page that it is a piece of"
        )
    if base is not None and (url is not None or redirects != () or headers is not None):
        raise TypeError("base is all that a piece needs: give it alone, or url with the others")
    found = as_kind(kind)
    if FORMATS[found].charset is None:
        raise ValueError(f"text of kind {found.value!r} is not rewritten: give bytes to rewrite")
    stated = "" if base is None else as_url(base, "base")
    data = inner(text)
    if stated and stated.isascii() and stated.isprintable() and "#" not in stated:
        # A piece that is done at once has no `<base>`: a URL and a base are the same to it.
        call = check(
            b"",
            url=stated,
            kind=found,
            charset="utf-8",
            profile=profile,
            policy=policy,
            detect=False,
        )
        if (edits := edits_at_once(data, call)) is not None:
            return spliced(data, edits).decode("utf-8", "surrogatepass") if edits else text
    # The first `<base>` decides: this one stands before all others.
    before = FORMATS[found].stating.format(escape(stated)).encode() if stated else b""
    result = rewrite(
        before + data,
        url=url if before or url is not None else stated,
        redirects=redirects,
        headers=headers,
        kind=found,
        charset="utf-8",
        profile=profile,
        policy=policy,
        detect=False,
    )
    if not result.changed:
        return text
    return result.data[len(before) :].decode("utf-8", "surrogatepass")
