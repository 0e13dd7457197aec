"""A headless Chromium that reaches nothing but a `Site`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from served import Site

EXECUTABLES: Final = ("chromium", "chromium-browser", "google-chrome")

_ARGUMENTS: Final = (
    "headless",
    "no-sandbox",  # it runs as root in containers
    "disable-gpu",
    "disable-dev-shm-usage",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-default-apps",
    "disable-quic",
    "disable-sync",
    # http stays http: the site serves nothing else.
    "disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,OptimizationHints",
)


def start(site: Site) -> Any:
    """Return a selenium driver whose browser asks `site` for everything, or skip."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium: extra `browser`")
    binary = executable(EXECUTABLES)
    chromedriver = executable(("chromedriver",))
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    options.page_load_strategy = "normal"
    for argument in _ARGUMENTS:
        options.add_argument(f"--{argument}")
    options.add_argument(f"--proxy-server={site.address}")
    options.add_argument("--proxy-bypass-list=<-loopback>")
    return webdriver.Chrome(options, webdriver.chrome.service.Service(chromedriver))


def executable(names: Sequence[str]) -> str:
    """Return the path of the first program that is installed, or skip."""
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.skip(f"{names[0]} is not installed")
