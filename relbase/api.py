"""The public functions on bytes: rewrite a document, list its links, tell its base and entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Unpack

from relbase.policy import DEFAULT_POLICY, Policy
from relbase.session import run
from relbase.session import texts as text_of
from relbase.session.options import (
    URL,
    Arguments,
    Headers,
    MessageUrls,
    Replace,
)
from relbase.session.session import check
from relbase.url.profiles import Profile, ProfileName

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.kind import Kind, KindName
    from relbase.results import Entity, Link, Result


def rewrite(
    data: bytes,
    *,
    url: URL | None = None,
    redirects: Iterable[URL] = (),
    headers: Headers | None = None,
    kind: Kind | KindName | None = None,
    name: str | None = None,
    charset: str | None = None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    detect: bool = True,
    message_urls: MessageUrls | None = None,
    images_url: URL | None = None,
    replace: Replace | None = None,
) -> Result:
    """Make every relative reference of a document absolute, and change no other byte.

    Args:
        data: The document's bytes.
        url: The URL that was requested, absolute: a string, or an object whose `str()` is the URL.
        redirects: The `Location` values that followed, in order, absolute or relative.
        headers: The response's headers: a mapping, or pairs of names and values.
        kind: A `Kind` or its value. Without it the Content-Type, the name or the bytes decide.
        name: File name, used only to guess the kind. The file is not opened.
        charset: The charset label that the response states.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        detect: Whether to read the URL from marks that programs leave in saved pages.
        message_urls: The URL of each message of a mailbox: a mapping from Message-ID
            (`<id@host>`), List-Id, address or domain (`@host`) to URLs, or a function that gets
            the header fields as pairs and returns a URL or None. It counts before `url`.
        images_url: The base of images in Markdown, and of `img` and `source` in its HTML, if it is
            another than `url`.
        replace: A function that is called once for each link in document order, except those
            that the policy keeps or that are always local. It gets the `Link` and returns the URL
            to write, None for what relbase would write, or `link.reference` for no edit.

    Returns:
        The new bytes (the same object if nothing is relative), the edits, the base and the notes.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    Implements RFC 1808 §3 and §4, RFC 3986 §5, and the WHATWG URL and HTML Standards.

    >>> rewrite(b'<a href="../x?a=1&amp;b=2">', url="http://h.example/d/p.html").data
    b'<a href="http://h.example/x?a=1&amp;b=2">'
    """
    call = check(
        url=url,
        redirects=redirects,
        headers=headers,
        kind=kind,
        name=name,
        charset=charset,
        profile=profile,
        policy=policy,
        detect=detect,
        message_urls=message_urls,
        images_url=images_url,
        replace=replace,
    )
    return run.rewrite(call.opened(data))


def links(data: bytes | str, *, texts: bool = False, **call: Unpack[Arguments]) -> Iterator[Link]:
    """Return an iterator over every link of a document, in order.

    Args:
        data: The document's bytes. Or text, as for `rewrite_text`; spans and columns are then in
            characters.
        texts: Whether to fill in `text` and `rel` of each link, which takes a second walk. In
            Markdown they stay empty.
        **call: The arguments of `rewrite`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> [link.url for link in links(b"<img src=a srcset='b 2x'>", url="http://h/d/")]
    ['http://h/d/a', 'http://h/d/b']
    >>> [(link.text, link.rel) for link in links(b"<a href=x rel=next>1 &gt; 0</a>", texts=True)]
    [('1 > 0', 'next')]
    """
    if isinstance(data, str):
        return text_of.text_links(data, text_of.text_call(check(**call)), texts=texts)
    return run.links(check(**call).opened(data), texts=texts)


def base(data: bytes | str, **call: Unpack[Arguments]) -> Base:
    """Return the base of a document, with the layers around it (RFC 1808 §3).

    HTML is read up to its first `<base>`; the bases of `entities` also name those after it.

    Args:
        data: The document's bytes, or text as for `rewrite_text`.
        **call: The arguments of `rewrite`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> found = base(b"<base href=sub/>", url="http://h/d/")
    >>> found.url, found.layer.value, found.outer.url
    ('http://h/d/sub/', 'embedded', 'http://h/d/')
    """
    if isinstance(data, str):
        return text_of.text_base(data, text_of.text_call(check(**call)))
    return check(**call).base(data)


def entities(data: bytes, **call: Unpack[Arguments]) -> Iterator[Entity]:
    """Return an iterator over a document and the message parts in it, the outermost first.

    Args:
        data: The document's bytes.
        **call: The arguments of `rewrite`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> [(entity.part, entity.type) for entity in entities(b"<p>", url="http://h/")]
    [('', 'text/html')]
    """
    return run.entities(check(**call).opened(data))
