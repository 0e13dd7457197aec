"""What the system and other programs keep of a file beside its content: attributes, side files."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from relbase.cli.directories import opened_below
from relbase.cli.files import STDIN
from relbase.cli.origins.paths import Stated
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.cli.files import Input, OpenInput

# Anybody may write beside a page: nothing there is longer in good faith.
_LIMIT: Final = 1 << 20


def beside(source: OpenInput) -> Iterator[Stated]:
    """Yield the URLs that are stated beside an input, strongest first."""
    if source.name == STDIN or source.status is None:
        return
    for name, read in _ATTRIBUTES:
        value = _attribute(source, name)
        if value is not None and (url := read(value)):
            yield Stated(url, f"the attribute {name}")
    for pattern, read, shown in _FILES:
        content = side_file(source.input, pattern.format(source.input.parts[-1]))
        if content is not None and (url := read(content)):
            yield Stated(url, shown)


def side_file(one: Input, name: str) -> bytes | None:
    """Return the content of a file beside an input, None where it is not there or too long."""
    directory = os.path.dirname(one.name)  # noqa: PTH120
    root, steps = (one.root, one.parts[:-1]) if one.root else (directory, [])
    with suppress(OSError), opened_below(root, steps) as parent:
        with os.fdopen(parent.open_old(name), "rb") as file:
            data = file.read(_LIMIT + 1)
        return data if len(data) <= _LIMIT else None
    return None


def _attribute(source: OpenInput, name: str) -> bytes | None:
    if not hasattr(os, "getxattr") or source.descriptor is None:
        return None
    try:
        value = os.getxattr(source.descriptor, name)
    except OSError:
        return None
    return value if len(value) <= _LIMIT else None


# ---- the rows


def _plain(value: bytes) -> str:
    """Wget and curl --xattr: the URL itself."""
    return value.rstrip(b"\0").decode("utf-8", "surrogateescape").strip()


def _where_froms(value: bytes) -> str:
    """macOS: a property list, an array whose first item is the URL of the file."""
    import plistlib  # noqa: PLC0415 (start-up time: it brings a parser of XML)

    try:
        items = plistlib.loads(value)
    except Exception:  # noqa: BLE001 (it may be anything; what plistlib raises is not documented)
        return ""
    is_list = isinstance(items, list) and items and isinstance(items[0], str)
    return items[0] if is_list else ""


_zone: Final = expression(
    r"^[ \t]*\[ZoneTransfer\](?:(?!^[ \t]*\[).)*?^[ \t]*HostUrl[ \t]*=[ \t]*(\S+)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def _host_url(value: bytes) -> str:
    """Windows: `[ZoneTransfer]` and `HostUrl=` of the stream or file Zone.Identifier."""
    utf_16 = value.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = value.decode("utf-16" if utf_16 else "utf-8-sig", "replace").replace("\r", "\n")
    found = _zone.search(text)
    return "" if found is None or found[1].lower().startswith("about:") else found[1]


def _archive_box(value: bytes) -> str:
    """ArchiveBox: the key `url` of the snapshot's index.json, which tells `archive_path` too."""
    import json  # noqa: PLC0415 (start-up time)

    try:
        index = json.loads(value)
    except (ValueError, RecursionError):
        return ""
    url = index.get("url") if isinstance(index, dict) and "timestamp" in index else None
    return url if isinstance(url, str) else ""


_ATTRIBUTES: Final[tuple[tuple[str, Callable[[bytes], str]], ...]] = (
    ("user.xdg.origin.url", _plain),
    ("user.com.apple.metadata:kMDItemWhereFroms", _where_froms),
    ("com.apple.metadata:kMDItemWhereFroms", _where_froms),
    ("user.Zone.Identifier", _host_url),
)
_FILES: Final[tuple[tuple[str, Callable[[bytes], str], str], ...]] = (
    ("{}:Zone.Identifier", _host_url, "Zone.Identifier"),
    ("index.json", _archive_box, "index.json of ArchiveBox"),
)


# ---- what the page says itself, where --canonical asks

# The element, the attribute and its value that say so, where the URL is, and the source.
_CANONICAL: Final = (
    (b"link", b"rel", b"canonical", b"href", "<link rel=canonical>"),
    (b"meta", b"property", b"og:url", b"content", "<meta property=og:url>"),
)


def canonical(data: bytes) -> Iterator[Stated]:
    """Yield the addresses that a page calls its own; many pages of a site may state one."""
    from relbase.references.heads import head_tokens  # noqa: PLC0415 (start-up time)
    from relbase.references.tags import attributes  # noqa: PLC0415
    from relbase.references.values import clean  # noqa: PLC0415
    from relbase.view.characters import text  # noqa: PLC0415
    from relbase.view.charrefs import attribute_view  # noqa: PLC0415

    tokens = list(head_tokens(data))
    for element, tells, value, url, source in _CANONICAL:
        for token in tokens:
            if token.name != element:
                continue
            found = attributes(data, token.start, token.end, frozenset((tells, url)))
            read = {one.name: (data[one.start : one.end], one.quote or b"") for one in found}
            if tells in read and url in read and read[tells][0].strip().lower() == value:
                raw, quote = read[url]
                yield Stated(clean(text(attribute_view(raw, quote, "utf-8").inner)), source)
                return
