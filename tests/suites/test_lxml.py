"""lxml's own tests of links in HTML, with `relbase.trees` in the place of its two methods."""

import doctest
from pathlib import Path
from typing import Any, Final

import lxml.html
import pytest
from counts import Counts
from lxml.doctestcompare import LHTMLOutputChecker

from relbase.trees import iterlinks, make_links_absolute

FILE: Final = "html/lxml-html/test_rewritelinks.txt"

# The first lines of what an example expects, and why that is another thing here.
DIFFER: Final = {
    "<html><head><style>": "`rewrite_links` patches texts from their end, as lxml lists them: links"
    " come in the order of the document",
    'meta content="/redirect"@6': "the links of a style sheet come in their order, imports too",
    "<html><body><div>": "by RFC 1808 `http://fancybase.com]Buy` is absolute, and nothing fails",
    "<html>": "a refresh without a time is none, so that its content stays; white space in url()"
    " stays",
}


class Runner(doctest.DocTestRunner):
    """Collects the examples that fail, by the first line that they expect."""

    def __init__(self) -> None:
        super().__init__(checker=LHTMLOutputChecker(), verbose=False)
        self.differ: dict[str, str] = {}

    def report_failure(self, _out: Any, _test: Any, example: doctest.Example, got: str) -> None:
        """Remember an example of which something else came out."""
        self.differ[example.want.split("\n", 1)[0].strip()] = got

    def report_unexpected_exception(
        self, _out: Any, _test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        """Remember an example that raised."""
        self.differ[example.source] = repr(exc_info[1])


def method(tree: Any, *arguments: Any, **options: Any) -> None:
    make_links_absolute(tree, *arguments, **options)


def test_of_rewriting_links(data: Path, counts: Counts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lxml.html.HtmlMixin, "iterlinks", iterlinks)
    monkeypatch.setattr(lxml.html.HtmlMixin, "make_links_absolute", method)
    if not (data / FILE).exists():
        pytest.skip(f"{FILE} is not fetched: python -m tools.fetch_data")
    # `usedoctest` sets the checker of the runner that it finds, which is there already.
    text = (data / FILE).read_text("utf-8").replace("import usedoctest, ", "import ")
    runner = Runner()
    run = runner.run(doctest.DocTestParser().get_doctest(text, {}, "lxml", FILE, 0))
    assert run.attempted > 15
    counts("lxml: links of HTML", run.attempted, len(runner.differ))
    assert runner.differ.keys() == DIFFER.keys(), runner.differ
