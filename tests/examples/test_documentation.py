"""docs/: every command in the guides runs, and the manual has every command."""

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Final

import console
import pytest

from tools.manual import commands, help_of, manual

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
COMMANDS: Final = [
    (str(path.relative_to(DOCS)), line)
    for path in sorted(DOCS.rglob("*.md"))
    for block in re.findall(r"```sh\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    for line in block.splitlines()
]

PAGE: Final = b"<title>t</title><a href='../x'><img srcset='a.png, /b.png 2x'>"
MESSAGE: Final = b"X-RSS-URL: http://h.example/e\nContent-Type: text/html\n\n" + PAGE
FILES: Final = {
    "page.html": PAGE,
    "newsletter.html": b"<title>t</title><a href='x'><a href='{{ unsubscribe }}'>",
    "headers.txt": b"HTTP/1.1 301 Moved\r\nLocation: /news/\r\n\r\nHTTP/1.1 200 OK\r\n"
    b"Content-Type: text/html\r\n\r\n",
    "letter-ready.html": b"<title>t</title><a href='http://h/'><a href='{{ unsubscribe }}'>",
    "public/feed.xml": b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://h/"/></feed>',
    "public/index.html": PAGE,
    "mail-templates/letter.html": b"<title>t</title><a href='http://h/'><a href='#top'>",
    "feed.xml": b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="x"/></feed>',
    "absolute.xml": b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://h/"/></feed>',
    "message.eml": b"Subject: x\nContent-Base: http://b.example/\nContent-Type: text/html\n\n"
    + PAGE,
    "inbox.mbox": b"From a@b Thu Jan  1 00:00:00 2020\nFrom: a@b.example\n"
    b"Content-Type: text/html\n\n" + PAGE + b"\n",
    "senders.tsv": b"a@b.example\thttp://b.example/\n",
    "feeds.mbox": b"From a@b Thu Jan  1 00:00:00 2020\n"
    + MESSAGE
    + b"\n\nFrom a@b Thu Jan  1 00:00:00 2020\nList-Id: <other.example>\n"
    + b"Content-Type: text/html\n\n"
    + PAGE
    + b"\n",
    "feeds.tsv": b"planet.localhost\thttps://planet.example/\n",
    "Maildir/.feeds/cur/1:2,S": MESSAGE,
    "Maildir/.feeds/new/2": MESSAGE,
    "Maildir/.feeds/tmp/3": b"",
    "saved/page.html": b"<!-- saved from url=(0019)https://s.example/a -->\n" + PAGE,
    "crawl.warc.gz": (ROOT / "fixtures" / "warc" / "crawl.warc.gz").read_bytes(),
}


def test_the_commands_are_found() -> None:
    assert len(COMMANDS) >= 15
    assert {name.split("/")[-1] for name, _ in COMMANDS} >= {"index.md", "mail.md", "site.md"}


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_of_the_guides_runs(
    page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    line = command.partition(" > ")[0]
    program, *arguments = shlex.split(line)
    assert program == "relbase", page
    monkeypatch.chdir(tmp_path)
    ran = console.run(line)
    assert (ran.status, b"Error" in ran.stderr) == (0, False)
    if "-o" in arguments:
        output = tmp_path / arguments[arguments.index("-o") + 1]
        written = [output] if output.is_file() else list(output.rglob("*.html"))
        assert written
        assert not {path.read_bytes() for path in written} & {*FILES.values()}
    elif "-i" in arguments:
        assert any(
            not (tmp_path / name).exists() or (tmp_path / name).read_bytes() != content
            for name, content in FILES.items()
        )
    else:
        assert ran.stdout or "--check" in arguments


def test_no_command_is_hidden_from_the_tests() -> None:
    # those in blocks that are indented, or of another language, are not run
    for path in sorted(DOCS.rglob("*.md")):
        page = re.sub(r"```sh\n.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
        assert not re.search(r"^(?: {4}|\$ )\S*relbase [a-z]", page, re.MULTILINE), path.name


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
