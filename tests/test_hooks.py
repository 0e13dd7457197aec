"""The hooks of pre-commit and the example workflow: their commands run, and fail as they should."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
from running import run

ROOT: Final = Path(__file__).parent.parent
HOOKS: Final = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
WORKFLOW: Final = (ROOT / "examples" / "relative-links.yml").read_text(encoding="utf-8")

ENTRIES: Final = re.findall(r"^  entry: relbase (.*)$", HOOKS, re.MULTILINE)
STEPS: Final = re.findall(r"^          arguments: (.*)$", WORKFLOW, re.MULTILINE)
ACTION: Final = (ROOT / "action.yml").read_text(encoding="utf-8")

MAIL: Final = b"Content-Type: text/html\n\n<a href=%b>"
FEED: Final = (
    b'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link href="%b"/></feed>'
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for directory in ("public", "mail-templates"):
        Path(directory).mkdir()


@pytest.mark.parametrize(("link", "status"), [(b"/x", 1), (b"http://h/x", 0)])
def test_the_hooks(link: bytes, status: int) -> None:
    assert len(ENTRIES) == 2
    Path("mail.eml").write_bytes(MAIL % link)
    Path("feed.atom").write_bytes(FEED % link)
    Path("page.html").write_bytes(b"<a href=%b><a href=#top>" % link)
    first, second = map(shlex.split, ENTRIES)
    assert run(*first, "mail.eml", "feed.atom").exit_code == status
    assert run(*second, "page.html").exit_code == status


@pytest.mark.parametrize(("link", "status"), [(b"x", 1), (b"http://h/x", 0)])
def test_the_workflow(link: bytes, status: int) -> None:
    assert len(STEPS) == 2
    Path("public/index.html").write_bytes(b"<a href=relative.html>")
    Path("public/feed.xml").write_bytes(FEED % link)
    Path("mail-templates/a.html").write_bytes(b"<a href=%b>" % link)
    [command] = re.findall(r"relbase (rewrite .*) \$ARGUMENTS$", ACTION, re.MULTILINE)
    for step in STEPS:
        assert run(*shlex.split(f"{command} {step}")).exit_code == status


def test_the_configuration_names_the_hooks() -> None:
    configuration = (ROOT / "examples" / "pre-commit-config.yaml").read_text(encoding="utf-8")
    ids = r"^ *- id: (.*)$"
    assert re.findall(ids, configuration, re.MULTILINE) == re.findall(ids, HOOKS, re.MULTILINE)
