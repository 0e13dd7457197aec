"""What the system and other programs keep of a file beside its content: attributes, side files.

Strategy: each place is a row that reads one URL. Nothing is believed that is not http or https.

To mind: what stands beside a file may be written by anybody who could write the file. Sizes are
limited before anything is parsed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.cli.directories import opened_below
from relbase.cli.inputs import STDIN
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.cli.files import OpenInput
    from relbase.cli.inputs import Input

# A URL, some lines, or a short list: nothing beside a page is longer in good faith.
_LIMIT: Final = 1 << 20


class Stated(NamedTuple):
    """A URL that is stated outside of a document, and where."""

    url: str
    source: str  # for people
    sure: bool = True  # otherwise its directory is right, and its end a guess
    remark: str = ""  # what the user should know of it
    given: bool = False  # by the user


def beside(source: OpenInput) -> Iterator[Stated]:
    """Yield the URLs that are stated beside an input, strongest first."""
    if source.name == STDIN or source.status is None:
        return
    for name, read in _ATTRIBUTES:
        value = _attribute(source, name)
        if value is not None and (url := read(value)):
            yield Stated(url, f"the attribute {name}")
    zone = side_file(source.input, source.input.parts[-1] + ":Zone.Identifier")
    if zone is not None and (url := _host_url(zone)):
        yield Stated(url, "Zone.Identifier")
    index = side_file(source.input, "index.json")
    if index is not None and (url := _archive_box(index)):
        yield Stated(url, "index.json of ArchiveBox")


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
    if isinstance(items, list) and items and isinstance(items[0], str):
        return items[0]
    return ""


_host_url_line: Final = expression(
    r"^[ \t]*HostUrl[ \t]*=[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE
)
_zone_transfer: Final = expression(r"^[ \t]*\[ZoneTransfer\]", re.IGNORECASE | re.MULTILINE)
_section: Final = expression(r"^[ \t]*\[", re.MULTILINE)


def _host_url(value: bytes) -> str:
    """Windows: `[ZoneTransfer]` and `HostUrl=` of the stream or file Zone.Identifier."""
    utf_16 = value.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = value.decode("utf-16" if utf_16 else "utf-8-sig", "replace").replace("\r", "\n")
    section = _zone_transfer.search(text)
    if section is None:
        return ""
    following = _section.search(text, section.end())
    end = following.start() if following else len(text)
    found = _host_url_line.search(text, section.end(), end)
    return "" if found is None or found[1].lower().startswith("about:") else found[1]


def _archive_box(value: bytes) -> str:
    """ArchiveBox: the key `url` of the snapshot's index.json, which tells `archive_path` too."""
    import json  # noqa: PLC0415 (start-up time)

    try:
        index = json.loads(value)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(index, dict) or "timestamp" not in index:
        return ""
    url = index.get("url")
    return url if isinstance(url, str) else ""


_ATTRIBUTES: Final[tuple[tuple[str, Callable[[bytes], str]], ...]] = (
    ("user.xdg.origin.url", _plain),
    ("user.com.apple.metadata:kMDItemWhereFroms", _where_froms),
    ("com.apple.metadata:kMDItemWhereFroms", _where_froms),
    ("user.Zone.Identifier", _host_url),
)
