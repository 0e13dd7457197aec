"""The README's examples are executed: its commands, its library, its before and after."""

import doctest
import re
import textwrap
from pathlib import Path

import click
import console
import counts
import pytest

import relbase
from relbase.cli.group import relbase as command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROOF = (ROOT / "docs" / "proof.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", blocks("console"))
def test_commands(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    transcript = textwrap.indent(block, "  ")
    assert console.played(transcript) == transcript


def test_there_are_commands() -> None:
    assert "\n".join(blocks("console")).count("$ relbase ") == 2
    assert README.count("\n") <= 150


def test_library() -> None:
    block = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert len(test.examples) > 5
    results = doctest.DocTestRunner().run(test)
    assert results.failed == 0


def test_before_and_after() -> None:
    before, after = blocks("html")
    url = "http://h.example/d/p.html"
    assert f"`relbase rewrite page.html --url {url}`" in README
    assert relbase.rewrite(before.encode(), url=url).data == after.encode()


def test_first_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    install = "python3 -m pip --python .venv/bin/python install -q -e"
    shown, tested = (block.strip().split(" && ") for block in blocks("sh"))
    assert shown[:2] == ["python3 -m venv --without-pip .venv", f"{install} ."]
    assert tested == [f"{install} '.[test]'", ".venv/bin/python -m pytest -n auto"]
    assert "\n\n    ".join(["", " && ".join(shown[:1] + tested[:1])]) in CONTRIBUTING
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all(f"\n{step}\n" in run for step in [shown[0], *tested])
    ran = console.run(shown[2].removeprefix(".venv/bin/"))
    assert (ran.status, ran.stdout.count(b"\n+") > 5) == (0, True)


def test_every_command_and_option_of_the_policy_is_named() -> None:
    for name in command.list_commands(click.Context(command)):
        assert f"| `relbase {name} " in README
    for flag in (
        *("--keep-fragments", "--keep REGEX", "--extended", "--no-attachments"),
        *("--no-dkim-signed", "--keep-templates", "--item-links"),
    ):
        assert flag in README


def test_where_to_change_what_names_what_is_there() -> None:
    _, _, section = CONTRIBUTING.partition("## Where to change things")
    names = re.findall(r"`(relbase/[\w/.]+)`", section)
    assert len(names) > 8
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_table_of_counts_has_every_suite() -> None:
    (table,) = blocks("text", PROOF)
    rows = {re.split(r"  +", line)[0] for line in table.splitlines()[1:-1]}
    named = {directory: suites(ROOT / "tests" / directory) for directory in ("suites", "browser")}
    assert len(named["suites"]) > 30
    assert len(named["browser"]) > 5
    assert rows == named["suites"] | named["browser"]
    titles = re.findall(r"\n\n(.+)\n  ", counts.LISTED.read_text("utf-8"))
    assert len(titles) > 10
    assert {*titles} <= rows


def test_what_is_counted_in_the_proof_names_its_command() -> None:
    for section in PROOF.split("\n## "):
        if re.search(r"\b\d[\d,]{2,}\b", section):
            command = r"^    .*python |`RELBASE_REAL_PAGES|^\| folder "
            assert re.search(command, section, re.MULTILINE), section


def test_the_table_of_counts_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELBASE_REAL_PAGES", raising=False)
    (table,) = blocks("text", PROOF)
    lines = table.splitlines()
    assert counts.differing(lines) == []
    row = next(line for line in lines if line.startswith("lxml"))
    other = row.replace(" 26 ", " 27 ")
    rows = [f"page: {' '.join(row.split())}", f"ran: {' '.join(other.split())}"]
    assert counts.differing([other if line == row else line for line in lines]) == rows
    # What one suite lacks says nothing of the others; what most lack is no run of all.
    lacking = [line for line in lines if line != row]
    assert counts.differing(lacking) == []
    spoilt = [line.replace(" 455 ", " 456 ") for line in lacking]
    assert [row.split(":")[0] for row in counts.differing(spoilt)] == ["page", "ran"]
    assert counts.differing(spoilt[:20]) == []


def test_what_differs_is_what_is_listed() -> None:
    suite, told = "html5lib: trees, attributes", []
    compare = counts.Counts(lambda _, row: told.append(row)).compare
    rows = [(case, 1, 2) for case in counts.known(suite)]
    compare(suite, [*rows, ("other", 1, 1)], least=9)
    assert told == [(suite, 9, 8, "")]
    for wrong, least in ((rows[1:], 0), ([*rows, ("other", 1, 2)], 0), (rows, 9)):
        with pytest.raises(AssertionError):
            compare(suite, wrong, least=least)
    assert counts.known("XML: infosets", "whatwg") < counts.known("XML: infosets", "rfc1808")


def suites(directory: Path) -> set[str]:
    """Return the names that the tests of a directory count under."""
    sources = (path.read_text(encoding="utf-8") for path in sorted(directory.glob("*.py")))
    return {name for source in sources for name in _counted(source)}


_counted = re.compile(r'\bcounts(?:\.compare\(|\(|,)\s*"([^"]+)"').findall


def test_the_total_of_the_counts_is_their_sum() -> None:
    (table,) = blocks("text", PROOF)
    *rows, total = [
        [int(number) for number in re.findall(r"  +(\d+)(?= |$)", line)[:2]]
        for line in table.splitlines()[1:]
    ]
    assert [sum(column) for column in zip(*rows, strict=True)] == total
