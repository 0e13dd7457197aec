"""Conversion records: pages with absolute links, as WARC/1.1 §6.8 describes them.

Equal input gives equal bytes: ids are derived from the input, and the date is an argument.
"""

from __future__ import annotations

import re
import time
import uuid
import zlib
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import lru_cache, partial
from hashlib import sha1
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from relbase.bases.layers import unsuitable
from relbase.compression.codings import fast_zlib
from relbase.expressions import regex
from relbase.formats.recognition import kind_of_bytes
from relbase.formats.rows import FORMATS
from relbase.notes import Note, Reason
from relbase.policy import DEFAULT_POLICY, Policy
from relbase.rewriting.outcomes import Status
from relbase.savers.rows import LocalFile
from relbase.session import run
from relbase.session.options import OptionArguments, Origin, Replace, as_policy, as_url
from relbase.session.session import ADVICE_ON_MARK, Call, check
from relbase.url.credentials import masked
from relbase.url.profiles import Profile, ProfileName, as_profile
from relbase.url.step import check_text
from relbase.version import __version__
from relbase.warc.page import Page, file_beside

if TYPE_CHECKING:
    from relbase.edit import Edit
    from relbase.results import Result

Packing = Literal["", "gz", "zst"]

_DATE: Final = regex(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](?:\.[0-9]{1,9})?Z"
)


class Conversion(NamedTuple):
    """The conversion of a page.

    Args:
        record: The conversion record, not compressed; None if no link changed.
        edits: The changes, as offsets in the page's body.
        notes: Remarks: what was left unchanged, and why.
    """

    record: bytes | None
    edits: Sequence[Edit]
    notes: tuple[Note, ...]


def conversion(
    page: Page,
    *,
    date: str,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    info: str = "",
    replace: Replace | None = None,
) -> Conversion:
    """Return the conversion record of a page with its links made absolute.

    Args:
        page: A page of an archive.
        date: Time of the conversion in UTC, as WARC writes it: 2026-01-02T03:04:05Z.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        info: Id of the warcinfo record that describes it, or "".
        replace: A function that returns the URL to write for a link, as in `relbase.rewrite`.

    Raises:
        ValueError: If the date is malformed.

    Implements WARC/1.1 §6.8.

    >>> from relbase.warc import Page
    >>> page = Page(0, "<urn:x>", "http://h/d/", "", 200, (), b"<a href=x>", "", ())
    >>> conversion(page, date="2026-01-02T03:04:05Z").record.splitlines()[-2]
    b'<a href=http://h/d/x>'
    """
    check_date(date)
    check_text(info, "info", "give the id that warcinfo returns first, or ''")
    result = run.rewrite(call_of(page, profile, policy, replace).opened(page.body))
    notes = tuple(notes_on(page, result))
    if not result.changed:
        return Conversion(None, (), notes)
    digest = f"sha1:{b32encode(sha1(result.data, usedforsecurity=False).digest()).decode()}"
    # A page of an ARC file has no id of its own.
    source = page.record_id or f"{page.url} {page.date} {page.offset}"
    source += f" {digest}" if replace else ""  # what the function does is known only by its result
    head = [
        ("WARC-Type", "conversion"),
        ("WARC-Target-URI", page.url),
        ("WARC-Date", date),
        ("WARC-Record-ID", derived_id(as_profile(profile), policy, source)),
        ("WARC-Refers-To", page.record_id),
        ("WARC-Warcinfo-ID", info),
        ("WARC-Block-Digest", digest),
        ("WARC-Payload-Digest", digest),
        ("WARC-Truncated", page.truncated),
        ("Content-Type", page.content_type or FORMATS[kind_of_bytes(page.body)].types[0]),
    ]
    edits = result.edits  # before the record, which is as long as the page
    return Conversion(_record(head, result.data), edits, notes)


def notes_on(page: Page, result: Result) -> Iterator[Note]:
    """Yield the notes on a page of an archive that was rewritten."""
    yield from (_on_record(note, page) for note in result.notes)
    links = result.links if len(page.files) > 1 else ()
    stay = sum(
        link.status is Status.KEPT and link.element != "base"
        for link in links
        if file_beside(page, link.reference)
    )
    if stay:
        yield Note(Reason.LOCAL_UNKNOWN, "", None, f"{stay} link{'s' * (stay > 1)} {_BESIDE}")


_BESIDE: Final = (
    "to files in the archive left unchanged: the URLs of those files are unknown (unzip the "
    "archive to have them beside the page)"
)


def _on_record(note: Note, page: Page) -> Note:
    """Return a note on a page of an archive, where nobody can give a URL."""
    what = "the record's target URI" if page.record_id else "the URL that the file states for it"
    why = f"{what}, {masked(page.url)[:200]!a}, cannot be a base"
    if not page.url:
        why = "the record has no target URI" if page.record_id else "the file states no URL for it"
    for advice in _ADVICE:
        note = note._replace(text=note.text.replace(advice, why))
    return note


_ADVICE: Final = sorted({ADVICE_ON_MARK, *(row.advice for row in FORMATS.values())})


def warcinfo(
    name: str,
    *,
    date: str,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> tuple[str, bytes]:
    """Return the id of a warcinfo record that describes conversions, and the record.

    Args:
        name: Name of the archive, or "".
        date: Time of the conversion, as for `conversion`.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.

    Implements WARC/1.1 §6.2.

    >>> b"software: relbase" in warcinfo("x.warc", date="2026-01-02T03:04:05Z")[1]
    True
    """
    check_date(date)
    check_text(name, "name", "give the archive's name, or ''")
    known = as_profile(profile)
    record_id = derived_id(known, as_policy(policy), f"warcinfo {name} {date}")
    block = (
        f"software: relbase/{__version__}\r\nformat: WARC File Format 1.1\r\n"
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/\r\n"
        f"description: relative links made absolute, profile {known.value}\r\n"
    ).encode()
    head = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Date", date),
        ("WARC-Record-ID", record_id),
        ("WARC-Filename", name),
        ("Content-Type", "application/warc-fields"),
    ]
    return record_id, _record(head, block)


def pack(record: bytes, packing: Packing = "gz", level: int | None = None) -> bytes:
    """Return a record compressed as one member, as indexes need it.

    Args:
        record: The record, not compressed.
        packing: "gz", "zst" (needs the extra `warc`), or "" for none.
        level: Compression level; None for a fast one.

    >>> import gzip
    >>> gzip.decompress(pack(b"record"))
    b'record'
    """
    if not isinstance(record, bytes):
        fix = "give the record of a conversion, if it has one"
        raise TypeError(f"record must be bytes, not {type(record).__name__}: {fix}")
    if packing == "gz":
        module, fast = fast_zlib(), _ISAL_LEVEL
        if level is not None or module is zlib:
            module, fast = zlib, _GZIP_LEVEL if level is None else level
        compressor = module.compressobj(fast, zlib.DEFLATED, 31)
        return bytes(compressor.compress(record) + compressor.flush())
    if packing == "zst":
        try:
            import zstandard  # of the extra `warc`
        except ImportError:
            raise ImportError(_MISSING) from None
        compressed = zstandard.ZstdCompressor(_ZSTD_LEVEL if level is None else level)
        return bytes(compressed.compress(record))
    if packing == "":
        return record
    raise ValueError(f"{packing!r:.80} is not a packing: give 'gz', 'zst' or ''")


_MISSING: Final = "the package zstandard is needed to write .zst: pip install 'relbase[warc]'"

# Measured on pages: 4 takes 1.3 times as long as 3 and saves 6 %, 6 twice as long and saves 10 %.
_GZIP_LEVEL: Final = 3
# For isal: it takes a fifth of that time, and 3 % more space.
_ISAL_LEVEL: Final = 2
_ZSTD_LEVEL: Final = 3


def check_date(date: str) -> None:
    check_text(date, "date", "give one as 2026-01-02T03:04:05Z")
    if _DATE.fullmatch(date) is None:
        raise ValueError(f"{date[:40]!r} is not a WARC date: give one as 2026-01-02T03:04:05Z")


def date_of_run(epoch: str) -> str:
    """Return the date of a run, as WARC writes it, from SOURCE_DATE_EPOCH ("" for now)."""
    if not epoch:
        at = time.time()
    elif _EPOCH.fullmatch(epoch):
        at = int(epoch)
    else:
        text = "is not a time: give seconds since 1970, as 1767323045"
        raise ValueError(f"SOURCE_DATE_EPOCH={epoch[:40]!r} {text}")
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


# Up to the year 5138, since WARC writes a year in four digits.
_EPOCH: Final = regex(r"[0-9]{1,11}")


def call_of(
    page: Page,
    profile: Profile | ProfileName,
    policy: Policy,
    replace: Replace | None = None,
) -> Call:
    """Return the call that reads a page: with its URL, and what else the archive says of it."""
    if not isinstance(page, Page):
        raise TypeError(f"page must be a Page, not {type(page).__name__}: skip what is not a Page")
    url: str | None = None
    with suppress(ValueError):
        url = as_url(page.url, profile=as_profile(profile))
    if unsuitable(page.url) or page.url[: len("file:")].lower() == "file:":
        url = None
    # Without a usable URL, what a program left in the page may state one.
    how = OptionArguments(headers=page.fields, profile=profile, policy=policy, detect=not url)
    call = check(redirects=page.redirects if url else (), replace=replace, **how)
    call = call._replace(url=url or None)
    if len(page.files) < 2:  # noqa: PLR2004 (no other file than its own)
        return call
    return call._replace(origin=Origin("retrieval URL", local_files=partial(_beside, page)))


def _beside(page: Page, reference: str, element: str) -> LocalFile | None:
    """Keep a reference to a file in the archive, and the `<base>`, on which it may depend."""
    if element == "base":
        return LocalFile()
    return None if file_beside(page, reference) is None else LocalFile()


def derived_id(profile: Profile, policy: Policy, source: str) -> str:
    """Return the id of a record made from a source; equal arguments give equal ids."""
    # Another version may make another record.
    name = f"relbase {__version__} {profile.value} {_chosen(policy)} {source}"
    # Surrogates stand for bytes that are not UTF-8.
    plain = name.encode("utf-8", "backslashreplace").decode()
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, plain)}>"


@lru_cache(maxsize=16)
def _chosen(policy: Policy) -> str:
    return " ".join(
        f"{field.name}={_told(getattr(policy, field.name))}" for field in fields(policy)
    )


def _told(value: object) -> str:
    if isinstance(value, re.Pattern):
        return f"{value.pattern!r} {value.flags}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_told, value))}{',' * (len(value) == 1)})"
    return repr(value)


# Characters that would end a line of a header, or fold it; values come from archives.
_breaks: Final = regex(r"[\x00-\x1f\x7f]+").sub


def _record(head: Iterable[tuple[str, str]], block: bytes) -> bytes:
    lines = ["WARC/1.1"]
    lines += [f"{name}: {_breaks(' ', value).strip()}" for name, value in head if value]
    lines += [f"Content-Length: {len(block)}", "", ""]
    written = "\r\n".join(lines).encode("utf-8", "surrogateescape")
    return b"".join((written, block, b"\r\n\r\n"))  # a sum would copy the block twice
