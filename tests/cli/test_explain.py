"""`relbase explain`: where pages go, their index, exit statuses."""

from __future__ import annotations

from pathlib import Path

from running import done, run, told

from relbase import explain

PAGE = b"<a href=x>"


def test_standard_input_to_standard_output() -> None:
    result = run("explain", "--url", "http://h/d/", stdin=PAGE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "&lt;stdin&gt;</h1>" in result.stdout
    shown = result.stdout.replace("&lt;stdin&gt;", "document").replace("--url", "retrieval URL")
    assert shown == explain(PAGE, url="http://h/d/")


def test_strict_counts_what_the_page_notes() -> None:
    assert run("explain", "--strict", "--url", "http://h/", stdin=PAGE).exit_code == 0
    assert run("explain", "--strict", stdin=PAGE).exit_code == 1  # no base
    result = run("explain", stdin=PAGE)
    assert (result.exit_code, "URL is unknown (pass --url)" in result.stdout) == (0, True)


def test_one_file() -> None:
    page, out = Path("page.html"), Path("out.html")
    page.write_bytes(PAGE)
    result = run("explain", page, "-o", out, "--url", "http://h/d/", "--profile", "whatwg")
    assert (result.exit_code, result.stdout) == (0, "")
    markup = out.read_text(encoding="utf-8")
    assert "http://h/d/x" in markup
    assert "profile whatwg" in markup
    assert str(page) in markup
    assert page.read_bytes() == PAGE


def test_why_a_link_into_the_companion_folder_stays() -> None:
    Path("p_files").mkdir()
    Path("p.html").write_bytes(b"<img src=p_files/a.png>")
    result = run("explain", "p.html", "--url", "http://h/")
    assert "it leads to a file that was saved with the page" in result.stdout


def test_several_into_a_directory_with_an_index() -> None:
    names = ["a.html", "index", "m.eml"]
    for name in names:
        Path(name).write_bytes(PAGE)
    out = Path("out")
    done("explain", *(Path(name) for name in names), "-o", out)
    # an input that is called index does not lose its page to the index
    made = sorted(path.name for path in out.iterdir())
    assert made == ["_index.html", "a.html.html", "index.html", "m.eml.html"]
    index = (out / "index.html").read_text(encoding="utf-8")
    assert "What the links of 3 documents mean" in index
    assert 'href="./a.html.html"' in index
    assert 'href="./_index.html"' in index


def test_what_is_there_is_not_replaced() -> None:
    Path("a").write_bytes(PAGE)
    out = Path("out")
    out.mkdir()
    (out / "index.html").write_bytes(b"mine")
    assert "is there already: give --force" in told(2, "explain", "a", "-o", out)
    (out / "index.html").rename(out / "a.html")
    assert run("explain", "a", "-o", out).exit_code == 3
    assert (out / "a.html").read_bytes() == b"mine"
    assert run("explain", "a", "-o", out, "--force").exit_code == 0
    assert b"<!doctype" in (out / "a.html").read_bytes()


def test_a_tree_keeps_its_directories(tmp_path: Path) -> None:
    (tmp_path / "site" / "b c").mkdir(parents=True)
    (tmp_path / "site" / "b c" / "p.html").write_bytes(b"<a href=../x>")
    (tmp_path / "site" / "q.html").write_bytes(PAGE)
    out = tmp_path / "out"
    root = f"{tmp_path / 'site'}=http://h.example/s/"
    result = run("explain", "-r", tmp_path / "site", "--root", root, "-o", out)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "http://h.example/s/x" in (out / "b c" / "p.html.html").read_text(encoding="utf-8")
    assert 'href="./b%20c/p.html.html"' in (out / "index.html").read_text(encoding="utf-8")


def test_a_mailbox_is_one_page() -> None:
    message = b"From a@b Thu Jan  1 00:00:00 2015\nContent-Type: text/html\n\n<a href=x>\n\n"
    Path("in.mbox").write_bytes(message * 2)
    result = done("explain", "in.mbox", "--url", "http://h/d/")
    assert "The mailbox" in result.stdout
    assert result.stdout.count("http://h/d/x") > 1


def test_the_pages_of_a_web_archive() -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=x>"
    record = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        b"WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: http://h/d/%d\r\n"
        b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
    )
    archive = Path("a.warc")
    archive.write_bytes(b"".join(record % (n, len(block), block) for n in range(2)))
    out = Path("out")
    result = run("explain", archive, "-o", f"{out}/")
    assert (result.exit_code, result.stderr) == (0, "")
    made = sorted(path.name for path in out.iterdir())
    assert made == ["a.warc.1.html", "a.warc.2.html", "index.html"]
    assert "http://h/d/x" in (out / "a.warc.1.html").read_text(encoding="utf-8")
    assert "give -o DIRECTORY/" in told(3, "explain", archive)


def test_one_into_a_directory() -> None:
    Path("a").write_bytes(PAGE)
    out = Path("out")
    assert run("explain", "a", "-o", f"{out}/").exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["a.html", "index.html"]


def test_an_input_that_fails_leaves_the_others() -> None:
    Path("a").write_bytes(PAGE)
    out = Path("out")
    assert run("explain", "a", "nowhere", "-o", out).exit_code == 3
    assert (out / "a.html").is_file()
