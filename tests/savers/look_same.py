"""Saved pages look the same before and after `--local keep`: `python tests/savers/look_same.py`.

Pages saved as Chrome's "complete" and by `wget -p -k -E` are opened in Chromium by their `file:`
names, with the site gone, before and after: the pictures of the window are compared byte by byte.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from local_site import served
from savers import SAVERS, complete
from screen import chromium


def pictures(pages: list[Path], driver: Any) -> list[bytes]:
    """A picture of each page."""
    return [driver.get(page.as_uri()) or driver.get_screenshot_as_png() for page in pages]


def main() -> int:
    """Save, take pictures, rewrite, take pictures again; return the exit status."""
    different = 0
    with (
        tempfile.TemporaryDirectory() as directory,
        chromium("--headless=new", "--window-size=800,600") as driver,
    ):
        rooms = [Path(directory, "complete"), Path(directory, "wget")]
        for room in rooms:
            room.mkdir()
        with served() as (host, site):
            complete(host, site, rooms[0])
            SAVERS["wget -p -k -E"](host, site, rooms[1])
        for room, more in zip(rooms, ((), ("--mirror", ".=http")), strict=True):
            pages = sorted(room.rglob("*.html"))
            before = pictures(pages, driver)
            command = [sys.executable, "-m", "relbase", "rewrite", "-r", ".", "-i", *more]
            ran = subprocess.run(command, cwd=room, capture_output=True, text=True, check=True)
            pairs = zip(before, pictures(pages, driver), strict=True)
            unlike = [
                page.name for page, (old, new) in zip(pages, pairs, strict=True) if old != new
            ]
            different += len(unlike)
            print(f"{room.name}: {len(pages)} pages, {len(unlike)} look different {unlike}")
            print(f"    {ran.stderr.splitlines()[-1]}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
