"""The site of the documentation: it loads nothing from elsewhere, and its playground works.

The site is built once. The playground needs pyodide, which `python -m tools.playground` fetches:
without it the rest is tested, and its tests are skipped with the reason.
"""

import html
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Final

import pytest
from browsing import screen, violations
from rows import lines
from served import Answer, Site

import relbase
from tools import manual, playground, sample, screenshots

ROOT: Final = Path(__file__).parents[2]
HOST: Final = "http://docs.example.com.test/"
TABLES: Final = Path(__file__).with_name("site.txt")
_SECONDS: Final = 120


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; without a playground if its parts are missing."""
    pytest.importorskip("mkdocstrings", reason="mkdocs: extra `docs`")
    directory = tmp_path_factory.mktemp("site")
    try:
        playground.tarball(fetch=False)
        wanted = os.environ.get("RELBASE_PLAYGROUND", "1")
    except playground.PlaygroundError:
        wanted = "0"
    # As `mkdocs` itself runs, the root of the repository is not on the path.
    start = "import sys; sys.path[:] = [p for p in sys.path if p not in ('', sys.argv[1])]; "
    start += "sys.argv[1:2] = []; from mkdocs.__main__ import cli; cli()"
    command = [sys.executable, "-c", start, str(ROOT), "build", "-q", "--strict"]
    command += ["--site-dir", str(directory)]
    environment = {**os.environ, "RELBASE_PLAYGROUND": wanted, "PYTHONWARNINGS": ""}
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return directory


@pytest.fixture(scope="module")
def published(built: Path, site: Site) -> Iterator[Site]:
    """The built site, served."""
    for path in built.rglob("*"):
        if path.is_file():
            name = path.relative_to(built).as_posix()
            kind = guess_type(path.name)[0] or "application/octet-stream"
            answer = Answer(path.read_bytes(), {"Content-Type": kind})
            site.answers[HOST + name] = answer
            site.answers[HOST + name.removesuffix("index.html")] = answer
    yield site
    for url in [url for url in site.answers if url.startswith(HOST)]:
        del site.answers[url]


def elsewhere(path: Path) -> Iterator[str]:
    """What a page or a style sheet loads from another site."""
    for link in relbase.links(path.read_bytes(), url=HOST, kind=path.suffix[1:], profile="whatwg"):  # type: ignore[arg-type]
        leads_on = (link.element, link.attribute) in {("a", "href"), ("a", "ping")}
        if link.url and not leads_on and not link.url.startswith((HOST, "data:", "#")):
            yield f"{path.name}: <{link.element} {link.attribute}> {link.url}"


def test_no_page_and_no_style_sheet_loads_anything_from_elsewhere(built: Path) -> None:
    looked_at = [*built.rglob("*.html"), *built.rglob("*.css")]
    assert len(looked_at) > 15
    assert [found for path in looked_at for found in elsewhere(path)] == []


def test_each_table_of_speeds_is_a_chart_of_the_same_numbers(built: Path) -> None:
    page = (built / "speed" / "index.html").read_text("utf-8")
    tables = (ROOT / "docs" / "speed.md").read_text("utf-8").count("MB/s   ratio")
    charts = re.findall(r"<svg role=.*?</svg>", page)
    assert len(charts) == tables > 20
    for chart in charts:
        widths = [float(width) for width in re.findall(r'width="([\d.]+)" height', chart)]
        speeds = [
            float(speed.replace(",", "")) for speed in re.findall(r">([\d.,]+)</text>", chart)
        ]
        assert max(widths) == 320
        for width, speed in zip(widths, speeds, strict=True):
            assert width == pytest.approx(320 * speed / max(speeds), abs=0.1)


NEVER_LOADED: Final = frozenset(lines(TABLES, "never loaded"))
_NAMESPACES: Final = ("http://www.w3.org/", "http://www.example.org/", "http://w3.org/")


def test_scripts_hold_no_address_that_they_load(built: Path) -> None:
    scripts = [*built.rglob("*.js"), *built.rglob("*.mjs")]
    assert len(scripts) > 3
    found = {
        address
        for path in scripts
        if path.parent.name != "lunr" and path.name not in {"examples.js", "pyodide.asm.mjs"}
        for address in re.findall(r"https?://[^\"'`\s)<>]*", path.read_text("utf-8"))
        if not address.startswith(_NAMESPACES)
    }
    assert found <= NEVER_LOADED


CHROMIUMS_OWN: Final = frozenset(lines(TABLES, "chromium's own"))


def asked_elsewhere(site: Site) -> set[str]:
    """The hosts of what was asked for that is not of the documentation, by http or https."""
    asked = {url.split("/")[2] for url in site.requests if not url.startswith(HOST)}
    return (asked | {name.partition(":")[0] for name in site.refused}) - CHROMIUMS_OWN


def test_every_page_asks_its_own_site_alone(browser: Any, built: Path, published: Site) -> None:
    pages = sorted(built.rglob("*.html"))
    browser.get_log("browser")
    for path in pages:
        published.requests.clear()
        published.refused.clear()
        browser.get(HOST + path.relative_to(built).as_posix())
        assert browser.execute_script("return document.styleSheets.length") > 1, path
        assert published.requests
        assert asked_elsewhere(published) == set(), path
        own = {url for url in published.requests if url.startswith(HOST)}
        assert own <= published.answers.keys() | {f"{HOST}favicon.ico"}, path
        # What the policy of the page refuses is not asked for, but logged.
        assert [entry["message"] for entry in browser.get_log("browser")] == [], path


FOUND: Final = {
    "--keep-fragments": "reference/command-line/#rewrite--keep-fragments",
    "--message-map": "reference/command-line/#rewrite--message-map",
    "split --json": "reference/command-line/#split--json",
    "base-none": "notes/#base-none",
    "[base-relative]": "notes/#base-relative",
}


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("typed", FOUND)
def test_the_search_finds_options_and_notes(browser: Any, typed: str) -> None:
    results = """const [typed, done] = arguments;
    const box = document.querySelector(".md-search__input");
    document.querySelector("#__search").checked = true;
    box.focus(); box.value = typed; box.dispatchEvent(new Event("input"));
    box.dispatchEvent(new Event("keyup"));
    const look = () => {
        const links = document.querySelectorAll(".md-search-result__link");
        if (links.length) done([...links].map(link => link.href.split("?")[0] + link.hash));
        else setTimeout(look, 50);
    };
    look();"""
    browser.get(HOST)
    links = browser.execute_async_script(results, typed)
    assert HOST + FOUND[typed] in links[:3]


def test_each_option_of_the_help_has_an_anchor(built: Path) -> None:
    page = (built / "reference" / "command-line" / "index.html").read_text("utf-8")
    options = manual.options()
    assert len(options) > 150
    for option in options:
        assert page.count(f'id="{option["location"].partition("#")[2]}"') == 1
        assert re.fullmatch(r"relbase [a-z]+ .+", option["title"])
        assert option["text"]


def test_the_first_page_shows_a_page_before_and_after() -> None:
    before, after = re.findall(r"<code>(.*?)</code>", sample.before_and_after())
    assert (before.count("<mark>"), after.count("<ins>")) == (5, 5)
    text = [html.unescape(re.sub(r"<[^>]+>", "", code)) for code in (before, after)]
    assert text[0] == sample.PAGE
    assert text[1] == relbase.rewrite_text(sample.PAGE, url=sample.URL)
    assert f"relbase rewrite page.html --url {sample.URL}\n" in (ROOT / "docs/index.md").read_text()


def test_the_pictures_show_what_explain_draws_today() -> None:
    taken = screenshots.DIGESTS.read_text("utf-8").strip()
    assert taken == screenshots.digest(), "run python -m tools.screenshots"


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_axe_finds_nothing_in_any_page(browser: Any, built: Path, width: int, scheme: str) -> None:
    found = []
    with screen(browser, width, scheme):
        for path in sorted(built.rglob("index.html")):
            browser.get(HOST + path.relative_to(built).as_posix())
            found += [(path.parent.name, *one) for one in violations(browser)]
    assert found == []


class Playground:
    """The playground as a visitor uses it."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def explain(self, document: str, url: str, kind: str = "", profile: str = "rfc1808") -> None:
        """Paste, press, and wait."""
        self._browser.execute_script(
            """const at = id => document.getElementById(id);
            at('document').value = arguments[0]; at('url').value = arguments[1];
            at('kind').value = arguments[2]; at('profile').value = arguments[3];""",
            *(document, url, kind, profile),
        )
        self.press()

    def press(self) -> None:
        button = self._browser.find_element("css selector", "#playground [type=submit]")
        self._browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()
        ready = "return !document.querySelector('#playground [type=submit]').disabled"
        self._wait(lambda: self.script(ready))

    def shown(self) -> None:
        """Wait for the page in the frame."""
        whole = "return document.readyState === 'complete' && document.querySelector('footer')"
        self._wait(lambda: self.inside(whole))

    def _wait(self, is_done: Callable[[], Any]) -> None:
        until = time.monotonic() + _SECONDS
        while not is_done():
            assert time.monotonic() < until, self.script("return at('state').textContent")
            time.sleep(0.05)

    def script(self, text: str) -> Any:
        return self._browser.execute_script(f"const at = id => document.getElementById(id);{text}")

    def inside(self, text: str) -> Any:
        """Ask the page that is shown in the frame."""
        self._browser.switch_to.frame("result")
        try:
            return self._browser.execute_script(text)
        finally:
            self._browser.switch_to.default_content()


@pytest.fixture(scope="module")
def opened(browser: Any, built: Path, published: Site) -> Playground:
    if not (built / "playground" / "pyodide").is_dir():
        pytest.skip("pyodide is not there: run python -m tools.playground")
    published.requests.clear()
    published.refused.clear()
    browser.get(f"{HOST}playground/")
    return Playground(browser)


def test_paste_press_and_the_boxes_appear(opened: Playground, published: Site) -> None:
    page = '<base href="/d/"><a href="../x">x</a><img src=y onerror="parent.ran = 1">'
    opened.explain(page, "http://h.example/a/p.html")
    assert opened.script("return at('trouble').hidden")
    opened.shown()
    boxes = "return [...document.querySelectorAll('.box')].map(one => one.className)"
    assert opened.inside(boxes) == [
        "box none",
        "box retrieval",
        "box entity missing",
        "box embedded decides",
    ]
    assert "http://h.example/x" in opened.inside("return document.body.textContent")
    border = "return getComputedStyle(document.querySelector('.box')).borderTopStyle"
    assert opened.inside(border) == "solid"

    # a second document is explained by the Python that is there, and is shown as text
    before = len(published.requests)
    opened.explain("<script>parent.ran = 1</script><title>t</title><a href=z>", "")
    assert "give the URL it came from" in opened.inside("return document.body.textContent")
    assert len(published.requests) == before
    assert opened.script("return window.ran") is None

    # nothing leaves the browser: of this site the page and Python were asked, and nothing else
    assert asked_elsewhere(published) == set()
    assert {url for url in published.requests if url.startswith(HOST)} <= published.answers.keys()


def test_a_mark_leads_to_its_row_within_the_frame(opened: Playground, browser: Any) -> None:
    opened.explain("<title>t</title><a href=x>" + "<p>\n" * 300, "http://h.example/")
    opened.shown()
    opened.inside("document.querySelector('.source a').click()")
    assert opened.inside("return document.querySelector(':target').id") == "r1"
    assert browser.current_url == f"{HOST}playground/"


def test_every_example_is_explained(opened: Playground) -> None:
    count = opened.script("return document.querySelectorAll('[data-example]').length")
    decided = []
    for number in range(count):
        opened.script(f"document.querySelectorAll('[data-example]')[{number}].click()")
        opened.press()
        assert opened.script("return at('trouble').hidden")
        opened.shown()
        decided.append(opened.inside("return document.querySelectorAll('.box').length"))
        assert opened.inside("return document.querySelectorAll('.source a').length") > 1
    assert count >= 4
    assert decided == [4, 6, 4, 4]


def test_axe_finds_nothing_in_the_form(opened: Playground, browser: Any) -> None:
    opened.explain("<a href=x>", "")
    assert violations(browser, "#playground") == []


def test_a_bad_call_and_a_profile_that_is_not_there_are_told(opened: Playground) -> None:
    opened.explain("<a href=x>", "h.example/x")
    assert "not absolute" in opened.script("return at('trouble').textContent")
    assert opened.script("return at('result').hidden")
    opened.explain("<a href=x>", "http://h.example/", profile="whatwg")
    assert "ada-url" in opened.script("return at('trouble').textContent")
    opened.explain("<a href=x>", "http://h.example/", kind="html")
    assert opened.script("return at('trouble').hidden")


@pytest.mark.usefixtures("opened")
def test_the_policy_of_the_page_holds_in_its_worker(browser: Any) -> None:
    """What reached elsewhere would be refused by the browser, also by Python in its worker."""
    asked = """const done = arguments[0];
    const source = `fetch("http://elsewhere.example.com.test/").then(
        () => postMessage("left"), () => postMessage("stayed"))`;
    const blob = new Blob([source], {type: "text/javascript"});
    const worker = new Worker(URL.createObjectURL(blob), {type: "module"});
    worker.onmessage = event => done(event.data);"""
    assert browser.execute_async_script(asked) == "stayed"


def test_no_digest_no_playground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "pyodide.tgz"
    other.write_bytes(b"something else")
    monkeypatch.setenv("RELBASE_PYODIDE", str(other))
    with pytest.raises(
        playground.PlaygroundError, match=r"is not pyodide .*: its digest is sha512-"
    ):
        playground.files()
    monkeypatch.setenv("RELBASE_PYODIDE", str(tmp_path / "missing"))
    with pytest.raises(playground.PlaygroundError, match="RELBASE_PLAYGROUND=0"):
        playground.files()
    monkeypatch.delenv("RELBASE_PYODIDE")
    monkeypatch.setattr(playground, "CACHE", tmp_path)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(playground.PlaygroundError, match="needs npm: install it"):
        playground.files()
