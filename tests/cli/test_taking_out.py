"""The names of pages that are taken out (threat W7), and what is written of them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from held import enex, entry, har, note
from hypothesis import given
from hypothesis import strategies as st
from running import run

import relbase
from relbase.cli import windows
from relbase.cli.taking_out import Names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("", "index.html"),
        ("/", "index.html"),
        ("/a/b", "b.html"),
        ("/a/b/", "b.html"),
        ("/a/b.HTM", "b.HTM"),
        ("/a/b.html", "b.html"),
        ("/b.xhtml?c.html#d", "b.xhtml"),
        ("/index.php", "index.php.html"),
        ("/%D0%B0%20b", "а b.html"),
        ("/..", "index.html"),
        ("/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "_.._etc_passwd.html"),
        ("/a%5Cb%00c:d%7C", "a_b_c_d_.html"),
        ("/-rf", "rf.html"),
        ("/.hidden", "hidden.html"),
        ("/a.html%20.", "a.html"),
        ("/" + "x" * 999 + ".html", "x" * 60 + ".html"),
        ("/\N{RIGHT-TO-LEFT OVERRIDE}a", "_a.html"),
    ],
)
def test_names(path: str, name: str) -> None:
    assert Names().of(f"http://h{path}") == name


def test_no_two_names_are_one_name() -> None:
    names = Names()
    given = ["a", "a.html", "A", "a-2", "a", "é", "e\u0301", "a-2.html"]
    made = [names.of(f"http://h/{name}") for name in given]
    assert made == [
        "a.html", "a-2.html", "A-3.html", "a-2-2.html", "a-4.html", "é.html", "e_.html",
        "a-2-3.html",
    ]  # fmt: skip


@given(st.lists(st.text(max_size=12) | st.sampled_from(["CON", "a", "A", "NUL.html", "%00"])))
def test_names_are_safe_on_every_system(paths: list[str]) -> None:
    names = Names()
    made = [names.of(f"http://h/{path}") for path in paths]
    assert len({name.casefold() for name in made}) == len(made)
    for name in made:
        assert name == Path(name).name
        assert not name.startswith((".", "-"))
        assert len(name.encode()) < 256
        assert windows._forbidden.search(name) is None  # noqa: SLF001 (as on Windows)


def test_a_page_whose_charset_its_header_states_gets_a_warning(tmp_path: Path) -> None:
    path, types = tmp_path / "x.har", ("text/html; charset=windows-1251", "text/html")
    path.write_bytes(har(*(entry(f"http://h/{n}", "я<a href=x>", t) for n, t in enumerate(types))))
    result = run("rewrite", path, "-o", f"{tmp_path}/out/", "-v")
    assert result.exit_code == 0
    assert result.stderr.count("[charset-unstated]") == 1
    assert "0.html: warning: the page does not state its charset, windows-1251" in result.stderr
    assert (tmp_path / "out" / "0.html").read_bytes() == "я<a href=http://h/x>".encode("cp1251")
    assert (tmp_path / "out" / "1.html").read_text("utf-8-sig") == "я<a href=http://h/x>"


def test_a_report_counts_the_links(tmp_path: Path) -> None:
    path, report = tmp_path / "x.har", tmp_path / "report"
    path.write_bytes(har(entry("http://h/", "<a href=x><a href=http://k/>")))
    assert run("rewrite", path, "-o", f"{tmp_path}/out/", "--report", report).exit_code == 0
    row = json.loads(report.read_bytes())
    assert (row["state"], row["links"]) == ("rewritten", {"rewritten": 1, "absolute": 1})


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.har"
    path.write_bytes(har(entry("http://h/", "<a href=x>")))
    monkeypatch.setattr("relbase.cli.archives.MAX_FILE", 99)
    result = run("links", path)
    assert (result.exit_code, "MiB: not read" in result.stderr) == (3, True)


def test_replace_is_for_pages_too(tmp_path: Path) -> None:
    path = tmp_path / "x.har"
    path.write_bytes(har(entry("http://h/", "<a href=x>")))
    result = run("rewrite", path, "-o", f"{tmp_path}/out/", "--replace", "^http:", "https:")
    assert result.exit_code == 0
    assert (tmp_path / "out" / "index.html").read_bytes() == b"<a href=https://h/x>"


def test_the_library_says_how_to_take_pages_out() -> None:
    [note] = relbase.rewrite(har(), name="x.har").notes
    assert "'relbase rewrite FILE -o DIR/' extracts them" in note.text


def test_what_is_not_read_of_an_export_counts_for_its_hash(tmp_path: Path) -> None:
    path, report = tmp_path / "x.enex", tmp_path / "report"
    path.write_bytes(enex(note("<a href=x>", url="http://h/"), "\v", "x" * (1 << 20)))
    assert run("rewrite", path, "-o", f"{tmp_path}/out/", "--report", report).exit_code == 3
    assert (tmp_path / "out" / "A note.html").read_bytes() == b"<a href=http://h/x>"
    row = json.loads(report.read_bytes())
    assert row["sha256_before"] == hashlib.sha256(path.read_bytes()).hexdigest()
