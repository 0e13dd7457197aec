"""docs/: every command in the guides prints what it says, and the manual has every command."""

import re
from importlib import import_module
from pathlib import Path
from typing import Final

import console
import guides
import pytest

from tools.manual import commands, help_of, manual

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
GUIDES: Final = [*(DOCS / "guides").glob("*.md"), DOCS / "saved-pages.md", DOCS / "archives.md"]


def test_every_guide_shows_what_comes_out() -> None:
    without = {path.stem for path in GUIDES} - {path.stem for path in guides.PAGES}
    assert without == {"lxml"}  # its examples are in Python
    assert len(guides.PAGES) >= 15


@pytest.mark.parametrize("path", guides.PAGES, ids=lambda path: path.stem)
def test_a_guide_shows_what_its_commands_print(path: Path) -> None:
    page = path.read_text("utf-8")
    with guides.folder():
        assert console.guided(page) == page, "python tests/support/console.py writes it again"


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_a_guide_begins_with_the_situation(path: Path) -> None:
    begin = path.read_text("utf-8").split("\n\n")[1]
    assert re.match(r"(?:You|Your|Pages)\b.+?[.:] ", begin.replace("\n", " ") + " ")


def test_a_command_of_a_guide_fails_only_where_its_page_says_so() -> None:
    failing = {path.stem for path in guides.PAGES if "# exit status" in path.read_text("utf-8")}
    assert failing == {"ci", "csv", "readme", "saved-pages", "standards"}
    assert not any("Traceback" in path.read_text("utf-8") for path in guides.PAGES)


def test_a_command_that_prints_otherwise_is_noticed() -> None:
    page = "```console\n$ relbase resolve http://a/ b\n{}```\n"
    printed = page.format("http://a/b\n")
    with guides.folder():
        assert console.guided(page.format("http://a/c\n")) == console.guided(printed) == printed


def test_the_command_of_the_first_page_runs() -> None:
    [block] = re.findall(r"```sh\n(.*?)\n```", (DOCS / "index.md").read_text("utf-8"), re.DOTALL)
    with guides.folder():
        ran = console.run(block)
    assert (ran.status, ran.stdout.count(b"http://h.example/")) == (0, 3)


def test_no_command_is_hidden_from_the_tests() -> None:
    # those in blocks that are indented, or of another language, are not run
    for path in sorted(DOCS.rglob("*.md")):
        page = re.sub(r"```console\n.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
        assert path.name == "index.md" or "```sh\n" not in page, path.name
        assert not re.search(r"^(?: {4}|\$ )\S*relbase [a-z]", page, re.MULTILINE), path.name


# Examples of these languages run, or are compared with a file that runs; of others not, because ...
RUN: Final = {"console", "sh", "python", "sql", "html", "py", "yaml", "toml"}
NOT_RUN: Final = {
    "": "it is output",
    "text": "it is output, needs Docker, or another program reads it (cron, procmail, Sieve, cmd)",
    "bash": "it needs a mirror by wget, Spark, or a package from PyPI",
    "dockerfile": "it needs Docker",
}
BLOCKS: Final = [
    (path.stem, language, block)
    for path in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    for language, block in re.findall(
        r"^```(\w*)[^\n]*\n(.*?)^```$", path.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
]


def test_every_example_runs_or_is_of_a_language_that_says_why_not() -> None:
    assert len(BLOCKS) > 80
    assert {language for _, language, _ in BLOCKS} == RUN | {*NOT_RUN}


WRITTEN: Final = [
    (page, command)
    for page, language, block in BLOCKS
    if language in NOT_RUN and page not in {"proof", "speed"}  # tables
    for command in re.findall(
        rf'\brelbase ((?:{"|".join(commands())})\b[^|>"\n]*(?:"[^"]*"[^|>"\n]*)*)', block
    )
]


@pytest.mark.parametrize(("page", "command"), WRITTEN)
def test_a_command_that_does_not_run_has_options_that_exist(page: str, command: str) -> None:
    ran = console.run(f"relbase {command.strip()} --help")
    assert (ran.status, ran.stderr) == (0, b""), page


def test_the_commands_that_do_not_run_are_found() -> None:
    assert {page for page, _ in WRITTEN} >= {"mail", "feed-mail", "inbox", "saved-pages"}


# What is public and not described one by one: values, and names of columns.
VALUES: Final = {
    "relbase": {"__version__", "scanner"},
    "relbase.trees": set[str](),
    "relbase.warc": set[str](),
    "relbase.spark": {"COLUMNS", "ERROR"},
}


@pytest.mark.parametrize("name", VALUES)
def test_the_reference_of_the_library_has_all_of_it(name: str) -> None:
    if name == "relbase.spark":
        pytest.importorskip("pyspark", reason="Spark: extra `spark`")
    page = (DOCS / "reference" / "library.md").read_text("utf-8")
    names = {f"{name}.{one}" for one in {*import_module(name).__all__} - VALUES[name]}
    assert names <= {*re.findall(r"^::: (\S+)$", page, re.MULTILINE)}


def test_the_manual_has_the_help_of_every_command() -> None:
    page = manual()
    assert page.startswith(".TH RELBASE 1 ")
    for name in commands():
        assert f".SH RELBASE {name.upper()}\n" in page
        assert help_of(name).startswith(f"Usage: relbase {name}")
    assert "--keep\\-templates" in page or "\\-\\-keep\\-templates" in page
    assert not re.search(r"^(?!\.(?:TH|SH|nf|fi)\b)[.']", page, re.MULTILINE)
