"""examples/: each does its work in the program that it is for."""

import email
import email.policy
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
import running
from extras import needed
from web import Page, serving

EXAMPLES: Final = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command: str, cwd: Path) -> str:
    """What a command prints; the examples can be imported by it."""
    ran = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={
            "PYTHONPATH": f"{EXAMPLES}:{EXAMPLES.parent}",
            "PATH": "/usr/bin:/bin",
            "HOME": str(cwd),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-1000:] + ran.stderr[-3000:]
    return ran.stdout


def test_jinja() -> None:
    jinja2 = pytest.importorskip("jinja2")
    environment = jinja2.Environment(autoescape=True)
    example("jinja_filter").install(environment)
    template = environment.from_string("{{ html | absolute_links('http://h.example/d/') }}")
    assert template.render(html="<a href='x'>&amp;</a>") == (
        "<a href='http://h.example/d/x'>&amp;</a>"
    )


SPIDER: Final = """
import json, sys, scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "pages"
    start_urls = sys.argv[1:]
    custom_settings = {
        "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
        "SPIDER_MIDDLEWARES": {"scrapy_middleware.AbsoluteLinks": 500},
        "ABSOLUTE_LINKS_FIELDS": ["html"],
    }
    def parse(self, response):
        yield {"html": response.css("article").get(), "title": "<a href=x>"}
        yield {"html": response.text, "title": None}

def show(item):
    print(json.dumps(item))

process = CrawlerProcess()
crawler = process.create_crawler(Spider)
crawler.signals.connect(show, scrapy.signals.item_scraped)
process.crawl(crawler)
process.start()
"""


def test_scrapy(tmp_path: Path) -> None:
    needed("scrapy")
    page = "<base href=s/><article><a href=x>y</a></article>"
    with serving({"/d/p": Page(page.encode())}) as port:
        urls = f"http://127.0.0.1:{port}/d/p", f"data:text/html,{page}"
        printed = run("-c", SPIDER, *urls, cwd=tmp_path)
    found = sorted(map(json.loads, printed.splitlines()), key=str)
    link = f"http://127.0.0.1:{port}/d/s/x"
    # A field may hold the page: its <base> is in the base already.
    whole = page.replace("href=x", f"href={link}")
    article = '<article><a href="{}">y</a></article>'
    expected = [
        {"html": article.format(link), "title": "<a href=x>"},
        {"html": whole, "title": None},
        # the URL of a data: response is no base: its items pass
        {"html": article.format("x"), "title": "<a href=x>"},
        {"html": page, "title": None},
    ]
    assert found == sorted(expected, key=str)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.mark.long
@pytest.mark.parametrize("site", ["http://h.example", "http://h.example/s", ""])
def test_pelican(tmp_path: Path, site: str) -> None:
    pytest.importorskip("pelican")
    write(
        tmp_path,
        {
            "content/first.md": "",
            "content/first.html": "<html><head><title>First</title><meta name=date content="
            "'2020-01-01'></head><body><a href='../x.html'>x</a></body></html>",
            "conf.py": f"SITENAME = 'S'\nSITEURL = '{site}'\nPATH = 'content'\n"
            "FEED_ALL_ATOM = 'all.xml'\nPLUGINS = ['pelican_plugin']\n"
            "ARTICLE_URL = 'a/{{slug}}.html'\nARTICLE_SAVE_AS = 'a/{{slug}}.html'\n",
        },
    )
    run("-m", "pelican", "-s", "conf.py", "-q", cwd=tmp_path)
    feed = (tmp_path / "output" / "all.xml").read_text("utf-8")
    link = f"{site}/x.html" if site else "../x.html"
    assert f'href="{link}"' in unescape(feed)


@pytest.mark.long
@pytest.mark.parametrize("site", ["http://h.example/doc/", "http://h.example/doc", ""])
def test_mkdocs(tmp_path: Path, site: str) -> None:
    pytest.importorskip("mkdocs")
    write(
        tmp_path,
        {
            "docs/index.md": "[other](d/other.md)",
            "docs/d/other.md": "# O\n\n[up](../index.md)",
            "mkdocs.yml": f"site_name: S\nsite_url: '{site}'\n"
            f"hooks: ['{EXAMPLES / 'mkdocs_hook.py'}']\n",
        },
    )
    run("-m", "mkdocs", "build", "-q", cwd=tmp_path)
    above, below = ("http://h.example/doc/",) * 2 if site else ("../../", "")
    assert f'href="{below}d/other/"' in (tmp_path / "site/index.html").read_text()
    assert f'<a href="{above}">up</a>' in (tmp_path / "site/d/other/index.html").read_text()


@pytest.mark.long
@pytest.mark.parametrize("builder", ["html", "dirhtml"])
@pytest.mark.parametrize("site", ["http://h.example/doc/", "http://h.example/doc", ""])
def test_sphinx(tmp_path: Path, site: str, builder: str) -> None:
    pytest.importorskip("sphinx")
    write(
        tmp_path,
        {
            "index.rst": "I\n=\n\n:doc:`d/other`\n\n.. toctree::\n\n   d/other\n",
            "d/other.rst": "O\n=\n\n:doc:`/index`\n",
            "conf.py": f"extensions = ['sphinx_extension']\nhtml_baseurl = '{site}'\n",
        },
    )
    run("-m", "sphinx", "-q", "-b", builder, ".", "out", cwd=tmp_path)
    below = "http://h.example/doc/" if site else ""
    ending = ".html" if builder == "html" else "/"
    link = f'class="reference internal" href="{below}d/other{ending}"'
    assert link in (tmp_path / "out/index.html").read_text()


LETTER: Final = (
    "<html><head><style>p { background: url(p.png) }</style></head><body><p>Dear {{ name }}</p>"
    '<a href="../x">x</a><a href="#top">top</a><a href="{{ unsubscribe }}">bye</a></body></html>'
)


@pytest.mark.parametrize(
    ("package", "name"), [("premailer", "transform"), ("css_inline", "inline")]
)
def test_newsletter(package: str, name: str) -> None:
    inline = getattr(pytest.importorskip(package), name)
    made = example("newsletter").message(LETTER, "https://site.example/letters/1", inline)
    assert made.get_content_type() == "multipart/alternative"
    html = made.get_payload()[1].get_content()
    assert 'href="https://site.example/x"' in html
    assert "url(https://site.example/letters/p.png)" in html.partition("<p")[2].replace(
        "&quot;", ""
    )
    assert 'href="#top"' in html
    assert "unsubscribe }}" in html.replace("%20", " ").replace("%7D", "}")
    assert email.message_from_bytes(made.as_bytes(), policy=email.policy.default)


def test_each_example_is_short() -> None:
    found: dict[str, Any] = {path.name: path.read_text() for path in EXAMPLES.glob("*.py")}
    assert len(found) == 6
    assert all(text.count("\n") < 45 for text in found.values())


# ---- the hooks of pre-commit and the example workflow: their commands run, and fail as they should

HOOKS: Final = (EXAMPLES.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
WORKFLOW: Final = (EXAMPLES / "relative-links.yml").read_text(encoding="utf-8")

ENTRIES: Final = re.findall(r"^  entry: relbase (.*)$", HOOKS, re.MULTILINE)
STEPS: Final = re.findall(r"^          arguments: (.*)$", WORKFLOW, re.MULTILINE)
ACTION: Final = (EXAMPLES.parent / "action.yml").read_text(encoding="utf-8")

MAIL: Final = b"Content-Type: text/html\n\n<a href=%b>"
FEED: Final = (
    b'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link href="%b"/></feed>'
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for directory in ("public", "mail-templates"):
        Path(directory).mkdir()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("link", "status"), [(b"/x", 1), (b"http://h/x", 0)])
def test_the_hooks(link: bytes, status: int) -> None:
    assert len(ENTRIES) == 2
    Path("mail.eml").write_bytes(MAIL % link)
    Path("feed.atom").write_bytes(FEED % link)
    Path("page.html").write_bytes(b"<a href=%b><a href=#top>" % link)
    first, second = map(shlex.split, ENTRIES)
    assert running.run(*first, "mail.eml", "feed.atom").exit_code == status
    assert running.run(*second, "page.html").exit_code == status


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("link", "status"), [(b"x", 1), (b"http://h/x", 0)])
def test_the_workflow(link: bytes, status: int) -> None:
    assert len(STEPS) == 2
    Path("public/index.html").write_bytes(b"<a href=relative.html>")
    Path("public/feed.xml").write_bytes(FEED % link)
    Path("mail-templates/a.html").write_bytes(b"<a href=%b>" % link)
    [command] = re.findall(r"relbase (rewrite .*) \$ARGUMENTS$", ACTION, re.MULTILINE)
    for step in STEPS:
        assert running.run(*shlex.split(f"{command} {step}")).exit_code == status


def test_the_configuration_names_the_hooks() -> None:
    configuration = (EXAMPLES / "pre-commit-config.yaml").read_text(encoding="utf-8")
    ids = r"^ *- id: (.*)$"
    assert re.findall(ids, configuration, re.MULTILINE) == re.findall(ids, HOOKS, re.MULTILINE)
