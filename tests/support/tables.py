"""Tables of RELBASE_DATA that are facts taken from other people's tests, and no file of theirs.

`tools/fetch_data.py` fetches what stands in public repositories; these it cannot.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

Rows = list[dict[str, Any]]


def load_table(path: Path) -> Rows:
    """Return the rows of a table, or skip where it is not there."""
    if not path.is_file():
        pytest.skip(f"{path.parent.name}/{path.name} stands in no public repository")
    rows: Rows = json.loads(path.read_text("utf-8"))
    return rows


def retrieval_urls(root: Path) -> dict[str, str]:
    """Return the URLs of saved pages by their names, as far as they are known."""
    path = root / "MANIFEST.json"
    rows: Rows = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return {row["file"]: row["retrieval_url"] for row in rows if row.get("retrieval_url")}


WPT: Final = "http://web-platform.test:8000"


def by_wpt(document: bytes) -> bytes:
    """Return a document of Web Platform Tests with the host names that its server fills in."""
    named = document.replace(b"{{domains[www]}}", b"www.web-platform.test")
    return named.replace(b"{{ports[http][0]}}", b"8000")
