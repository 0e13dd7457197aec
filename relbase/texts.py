"""Text that a program holds: what converters, template filters and feed generators pass on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from relbase.call import DEFAULT_POLICY, URL, as_kind
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.pipeline import rewrite
from relbase.url.resolver import Profile, ProfileName
from relbase.view.characters import inner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relbase.policy import Policy

_TextKind = Literal["html", "css", "xml"]


def rewrite_text(
    text: str,
    *,
    url: URL,
    kind: Literal[Kind.HTML, Kind.CSS, Kind.XML] | _TextKind = Kind.HTML,
    redirects: Iterable[URL] = (),
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> str:
    """Make every relative reference of a text absolute, and change no other character.

    Nothing is guessed: the text is what `kind` says, has no charset, and no marks of programs are
    looked for in it. A `<base>` in it counts.

    Args:
        text: HTML, CSS or XML, a whole document or a piece.
        url: the absolute URL that the text belongs to: text carries no other sign of it.
        kind: "html", "css" or "xml".
        redirects: where `url` was redirected to, in order, absolute or relative.
        profile: a `Profile` or its value: the algorithm that resolves.
        policy: what is left alone.

    Returns:
        the text; the same object when nothing in it is relative.

    Raises:
        TypeError: if an argument is of another type, or there is no URL.
        ValueError: if the URL is not absolute, or the kind or the profile not known.

    >>> rewrite_text('<a href="../x">é</a>', url="http://h.example/d/p.html")
    '<a href="http://h.example/x">é</a>'
    """
    if not isinstance(text, str):
        fix = "give bytes to rewrite" if isinstance(text, bytes) else "give str(text)"
        raise TypeError(f"the text is a str, not {type(text).__name__}: {fix}")
    if url is None:
        raise TypeError("rewrite_text needs the URL that the text belongs to: give url='http://…'")
    found = as_kind(kind)
    if FORMATS[found].charset is None:
        raise ValueError(f"text of kind {found.value!r} is not rewritten: give bytes to rewrite")
    result = rewrite(
        inner(text),
        url=url,
        redirects=redirects,
        kind=found,
        charset="utf-8",
        profile=profile,
        policy=policy,
        detect=False,
    )
    return result.data.decode("utf-8", "surrogatepass") if result.changed else text
