"""One headless Chromium for all tests with a browser, which reaches nothing but a `Site`; and axe.

axe-core finds what people with disabilities cannot use. It is not installed with the tests: `npm
install axe-core` in the root of the repository, or RELBASE_AXE names its axe.min.js.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
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


_PATIENCE: Final = 300  # seconds for a script, on a machine with much else to do


def start(site: Site, *, logs: bool = False) -> Any:
    """Return a selenium driver whose browser asks `site` for everything, or skip."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium: extra `browser`")
    binary = executable(EXECUTABLES)
    chromedriver = executable(("chromedriver",))
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    options.page_load_strategy = "normal"
    if logs:
        options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    for argument in _ARGUMENTS:
        options.add_argument(f"--{argument}")
    options.add_argument(f"--proxy-server={site.address}")
    options.add_argument("--proxy-bypass-list=<-loopback>")
    driver = webdriver.Chrome(options, webdriver.chrome.service.Service(chromedriver))
    driver.set_script_timeout(_PATIENCE)
    return driver


def executable(names: Sequence[str]) -> str:
    """Return the path of the first program that is installed, or skip."""
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.skip(f"{names[0]} is not installed")


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The network of the browser."""
    with Site() as opened:
        yield opened


@pytest.fixture(scope="session")
def browser(site: Site) -> Iterator[Any]:
    """A browser that reaches nothing but `site`; skips where none is installed."""
    driver = start(site)
    yield driver
    driver.quit()


@contextmanager
def screen(browser: Any, width: int, scheme: str) -> Iterator[None]:
    """Show pages that wide, dark or light."""
    sizes = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


_RUN: Final = """
const [selector, done] = arguments;
axe.run(selector, {resultTypes: ['violations']}).then(found => done(found.violations.map(
  one => [one.id, one.help, one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))])));
"""


def violations(browser: Any, selector: str = "html") -> list[Any]:
    """Return what axe finds in the page that is open, or skip."""
    beside = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
    path = Path(os.environ.get("RELBASE_AXE") or beside)
    if not path.is_file():
        pytest.skip("axe-core is not there: npm install axe-core, or set RELBASE_AXE")
    browser.execute_script(path.read_text(encoding="utf-8"))
    found: list[Any] = browser.execute_async_script(_RUN, selector)
    return found
