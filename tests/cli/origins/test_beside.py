"""What stands beside a file: extended attributes, Zone.Identifier, index.json."""

from __future__ import annotations

import json
import os
import plistlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from relbase.cli import files
from relbase.cli.files import Input
from relbase.cli.origins.paths import beside, side_file

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.fixture(autouse=True)
def here() -> None:
    Path("page.html").write_bytes(b"<p>")


def stated() -> list[tuple[str, str]]:
    with files.opened(Input("page.html")) as source:
        return [(one.url, one.source) for one in beside(source)]


def set_attributes(values: Mapping[str, bytes]) -> None:
    try:
        for name, value in values.items():
            os.setxattr("page.html", name, value)
    except OSError:
        pytest.skip("the file system has no extended attributes")


WHERE_FROMS = "user.com.apple.metadata:kMDItemWhereFroms"
ITEMS = ["http://h/a", "http://referrer/"]


@pytest.mark.parametrize(
    ("name", "value", "url"),
    [
        ("user.xdg.origin.url", b"http://h/\xc3\xa9", "http://h/\u00e9"),
        ("user.xdg.origin.url", b" http://h/\0", "http://h/"),
        ("user.xdg.referrer.url", b"http://h/", None),
        (WHERE_FROMS, plistlib.dumps(ITEMS, fmt=plistlib.FMT_BINARY), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps(ITEMS), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps([], fmt=plistlib.FMT_BINARY), None),
        (WHERE_FROMS, plistlib.dumps({"a": "http://h/"}), None),
        (WHERE_FROMS, b"bplist00\xff\xff\xff", None),
        (WHERE_FROMS, b"", None),
    ],
)
def test_attributes(name: str, value: bytes, url: str | None) -> None:
    set_attributes({name: value})
    assert [one for one, _ in stated()] == ([url] if url else [])


@pytest.mark.parametrize(
    ("content", "url"),
    [
        (
            b"[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=http://r/\r\nHostUrl=http://h/a\r\n",
            "http://h/a",
        ),
        ("[ZoneTransfer]\r\nhosturl = http://h/a\r\n".encode("utf-16"), "http://h/a"),
        (b"\xef\xbb\xbf[zonetransfer]\nHOSTURL=http://h/a", "http://h/a"),
        (b"[ZoneTransfer]\r\nHostUrl=about:internet\r\n", None),
        (b"[A]\nHostUrl=http://a/\n[ZoneTransfer]\nZoneId=3\n[B]\nHostUrl=http://b/\n", None),
        (b"HostUrl=http://h/a\r\n", None),
        (b"\xff\xfe\x00", None),
    ],
)
def test_zone_identifier(content: bytes, url: str | None) -> None:
    Path("page.html:Zone.Identifier").write_bytes(content)
    assert stated() == ([(url, "Zone.Identifier")] if url else [])


@pytest.mark.parametrize(
    ("content", "url"),
    [
        (json.dumps({"url": "http://h/", "timestamp": "1"}).encode(), "http://h/"),
        (json.dumps({"url": "http://h/"}).encode(), None),
        (json.dumps({"url": 1, "timestamp": "1"}).encode(), None),
        (b"[" * 100_000, None),
        (b"\xff", None),
    ],
)
def test_archive_box(content: bytes, url: str | None) -> None:
    Path("index.json").write_bytes(content)
    assert stated() == ([(url, "index.json of ArchiveBox")] if url else [])


def test_a_side_file_that_is_a_link_or_too_long_is_not_read() -> None:
    Path("secret").write_bytes(b"[ZoneTransfer]\nHostUrl=http://h/")
    Path("page.html:Zone.Identifier").symlink_to("secret")
    assert stated() == []
    Path("long").write_bytes(b" " * ((1 << 20) + 1))
    Path("just").write_bytes(b" " * (1 << 20))
    one = Input("page.html")
    assert (side_file(one, "long"), len(side_file(one, "just") or b"")) == (None, 1 << 20)
