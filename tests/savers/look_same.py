"""Saved pages look the same before and after `--local keep`: `python tests/savers/look_same.py`.

Pages saved as Chrome's "complete" and by `wget -p -k -E` are opened in Chromium by their `file:`
names, with the site gone, before and after: the pictures of the window are compared byte by byte.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from local_site import served
from savers import complete, wget_converted_without_originals


def pictures(pages: list[Path], driver: Any) -> list[bytes]:
    """A picture of each page."""
    found = []
    for page in pages:
        driver.get(page.as_uri())
        found.append(driver.get_screenshot_as_png())
    return found


def main() -> int:
    """Save, take pictures, rewrite, take pictures again; return the exit status."""
    from selenium import webdriver  # noqa: PLC0415 (of the browser alone)
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415 (likewise)

    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=800,600"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    different = 0
    try:
        with tempfile.TemporaryDirectory() as directory:
            rooms = [Path(directory, "complete"), Path(directory, "wget")]
            for room in rooms:
                room.mkdir()
            with served() as (host, site):
                complete(host, site, rooms[0])
                wget_converted_without_originals(host, site, rooms[1])
            for room, more in zip(rooms, ((), ("--mirror", ".=http")), strict=True):
                pages = sorted(room.rglob("*.html"))
                before = pictures(pages, driver)
                command = [sys.executable, "-m", "relbase", "rewrite", "-r", ".", "-i", *more]
                ran = subprocess.run(command, cwd=room, capture_output=True, text=True, check=True)
                after = pictures(pages, driver)
                unlike = [
                    page.name
                    for page, old, new in zip(pages, before, after, strict=True)
                    if old != new
                ]
                different += len(unlike)
                print(f"{room.name}: {len(pages)} pages, {len(unlike)} look different {unlike}")
                print(f"    {ran.stderr.splitlines()[-1]}")
    finally:
        driver.quit()
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
