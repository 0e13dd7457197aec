"""Extended attributes in which browsers and macOS leave the URL of a file."""

from __future__ import annotations

import json
import os
import plistlib
from pathlib import Path
from typing import Final

import pytest
from running import done

WHERE_FROMS: Final = "user.com.apple.metadata:kMDItemWhereFroms"
ITEMS: Final = ["http://h/a", "http://referrer/"]


@pytest.mark.parametrize(
    ("name", "value", "url"),
    [
        ("user.xdg.origin.url", b"http://h/\xc3\xa9", "http://h/%C3%A9"),
        ("user.xdg.origin.url", b" http://h/\0", "http://h/"),
        ("user.xdg.referrer.url", b"http://h/", ""),
        (WHERE_FROMS, plistlib.dumps(ITEMS, fmt=plistlib.FMT_BINARY), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps(ITEMS), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps([], fmt=plistlib.FMT_BINARY), ""),
        (WHERE_FROMS, plistlib.dumps({"a": "http://h/"}), ""),
        (WHERE_FROMS, b"bplist00\xff\xff\xff", ""),
        (WHERE_FROMS, b"", ""),
    ],
)
def test_attributes(name: str, value: bytes, url: str) -> None:
    Path("page.html").write_bytes(b"<p>")
    try:
        os.setxattr("page.html", name, value)
    except OSError:
        pytest.skip("the file system has no extended attributes")
    assert json.loads(done("base", "page.html", "--json").stdout)["base"]["url"] == url
