"""examples/: each does its work in the program that it is for."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from web import Page, serving

if TYPE_CHECKING:
    from types import ModuleType

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

def show(item):
    print(json.dumps(item))

process = CrawlerProcess()
crawler = process.create_crawler(Spider)
crawler.signals.connect(show, scrapy.signals.item_scraped)
process.crawl(crawler)
process.start()
"""


def test_scrapy(tmp_path: Path) -> None:
    pytest.importorskip("scrapy")
    page = Page(b"<base href=/s/><article><a href=x>y</a></article>")
    with serving({"/d/p": page}) as port:
        printed = run("-c", SPIDER, f"http://127.0.0.1:{port}/d/p", cwd=tmp_path)
    assert json.loads(printed) == {
        "html": f'<article><a href="http://127.0.0.1:{port}/s/x">y</a></article>',
        "title": "<a href=x>",
    }


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def test_pelican(tmp_path: Path) -> None:
    pytest.importorskip("pelican")
    write(
        tmp_path,
        {
            "content/first.md": "",
            "content/first.html": "<html><head><title>First</title><meta name=date content="
            "'2020-01-01'></head><body><a href='../x.html'>x</a></body></html>",
            "conf.py": "SITENAME = 'S'\nSITEURL = 'http://h.example'\nPATH = 'content'\n"
            "FEED_ALL_ATOM = 'all.xml'\nPLUGINS = ['pelican_plugin']\n"
            "ARTICLE_URL = 'a/{slug}.html'\nARTICLE_SAVE_AS = 'a/{slug}.html'\n",
        },
    )
    run("-m", "pelican", "-s", "conf.py", "-q", cwd=tmp_path)
    feed = (tmp_path / "output" / "all.xml").read_text("utf-8")
    assert "http://h.example/x.html" in feed
    assert "../x.html" not in feed


def test_mkdocs(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    write(
        tmp_path,
        {
            "docs/index.md": "[other](d/other.md)",
            "docs/d/other.md": "# O\n\n[up](../index.md)",
            "mkdocs.yml": "site_name: S\nsite_url: http://h.example/doc/\n"
            f"hooks: ['{EXAMPLES / 'mkdocs_hook.py'}']\n",
        },
    )
    run("-m", "mkdocs", "build", "-q", cwd=tmp_path)
    assert 'href="http://h.example/doc/d/other/"' in (tmp_path / "site/index.html").read_text()
    assert 'href="http://h.example/doc/"' in (tmp_path / "site/d/other/index.html").read_text()


def test_sphinx(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    write(
        tmp_path,
        {
            "index.rst": "I\n=\n\n:doc:`d/other`\n\n.. toctree::\n\n   d/other\n",
            "d/other.rst": "O\n=\n\n:doc:`/index`\n",
            "conf.py": "extensions = ['sphinx_extension']\nhtml_baseurl = 'http://h.example/doc/'\n",
        },
    )
    run("-m", "sphinx", "-q", "-b", "html", ".", "out", cwd=tmp_path)
    assert 'href="http://h.example/doc/d/other.html"' in (tmp_path / "out/index.html").read_text()
    assert 'href="http://h.example/doc/index.html"' in (tmp_path / "out/d/other.html").read_text()


def test_each_example_is_short() -> None:
    found: dict[str, Any] = {path.name: path.read_text() for path in EXAMPLES.glob("*.py")}
    assert len(found) == 5
    assert all(text.count("\n") < 45 for text in found.values())
