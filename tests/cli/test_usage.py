"""Wrong usage: what is refused before anything is read or written, with what to type instead."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Final

import pytest
from archives import gz, http, response
from running import run

BOXES: Final = ("cur", "new", "tmp")
EACH: Final = "give each its own with --map FILE, --root DIR=URL or --mirror DIR"
FETCH: Final = (
    "'https://h/a?b' is a URL, and relbase fetches nothing. Try: curl -sL -D headers.txt "
    "'https://h/a?b' | relbase rewrite --url 'https://h/a?b' --headers headers.txt"
)
QUERY: Final = "paths cannot follow a query or a fragment"

# A command line, and what is told.
WRONG: Final = [
    # where outputs go
    ("rewrite a b", "several inputs need a directory for their output: give -o DIR, -i"),
    ("rewrite a -o ''", "-o is empty"),
    ("rewrite a -o a", "the output 'a' is the input 'a'"),
    ("rewrite a -o .", "the output './a' is the input 'a'"),
    ("rewrite - -o x/", "standard input has no name for an output in a directory"),
    ("rewrite site -o site", "is the tree 'site' itself: give -i"),
    ("rewrite site -o site/out", "is inside of the tree 'site'"),
    ("rewrite site -o link/out", "is inside of the tree 'site'"),
    ("rewrite Maildir", "goes into a directory: give -o DIRECTORY"),
    ("rewrite Maildir a -o out", "rewrite it with a command of its own"),
    ("rewrite Maildir -o Maildir", "is the tree 'Maildir' itself: give -i"),
    ("rewrite Maildir -o Maildir/x/y", "the output 'Maildir/x/y' is inside of the tree"),
    ("rewrite Maildir -o a", "'a' is not a directory"),
    ("explain a b", "several inputs need a directory for their output: give -o DIR"),
    ("explain a -o ''", "-o is empty"),
    ("explain a -o a", "is the input"),
    ("rewrite one/a two/a -o out", "'one/a' and 'two/a' would have one output"),
    ("rewrite one/a one/a -o out", "would have one output"),
    ("rewrite one/a -o ./one/a", "is the input 'one/a': give -i"),
    ("rewrite one/a -o hard", "is the input 'one/a': give -i"),
    ("rewrite one/a -o soft", "is the input 'one/a': give -i"),
    ("rewrite one/a -o one", "is the input 'one/a': give -i"),
    ("rewrite b one/a -o there", "the output 'there/b' is the input 'one/a'"),
    ("rewrite b -o nowhere", "is a symbolic link: leave -o out"),
    ("rewrite b -o /dev/null", "is not a regular file"),
    ("rewrite a -o there", "'there/a' is a directory"),
    ("rewrite one/a b -o hard", "'hard' is not a directory: several inputs need one"),
    # what excludes each other
    ("rewrite a --diff --check", "--diff and --check exclude each other"),
    ("rewrite a -i --check", "--check and --in-place exclude each other"),
    ("rewrite a --diff -o x", "--diff shows what would change, so it excludes -o"),
    ("rewrite a --check -o x", "--check only looks, so it excludes -o"),
    ("rewrite a -i -o x", "--in-place replaces the inputs, so it excludes -o"),
    ("rewrite a -q -v", "-q and -v exclude each other"),
    ("rewrite a --format json", "--format is for --check"),
    ("rewrite a --backup .bak", "--backup is for files that are replaced: give -i"),
    ("rewrite a --follow-symlinks", "--follow-symlinks is for files that are replaced: give -i"),
    ("rewrite a --break-hardlinks", "--break-hardlinks is for files that are replaced: give -i"),
    ("rewrite - -i", "standard input cannot be replaced"),
    ("links c --wat --json", "--wat and --json exclude each other"),
    ("links c --violations --parquet x", "--parquet and --violations exclude each other"),
    ("links c --json --parquet x", "--parquet and --json exclude each other"),
    ("links c --unresolved-by sender --json", "--unresolved-by and --json exclude each other"),
    ("links c --columns url", "give --parquet FILE"),
    ("links c --no-data-urls", "give --parquet FILE"),
    ("links c --parquet x --columns url,x", "there is no column 'x': give some of warc,"),
    (
        "rewrite Maildir -i --backup .bak",
        "--backup adds messages to the Maildir 'Maildir': copy it",
    ),
    # inputs
    ("rewrite a new.html", "new.html does not exist: to write to it give -o new.html"),
    ("rewrite a new.html --url http://h/", "to write to it give -o new.html"),
    ("explain a new.html", "to write to it give -o new.html"),
    ("rewrite - -", "'-' is standard input, which can be read once"),
    ("rewrite - - --check", "'-' is standard input, which can be read once"),
    ("links - a -", "give it once"),
    ("rewrite site --check site", "is found twice: give each tree once"),
    ("rewrite --files-from nul -o out", "has NUL bytes in it: give -0 too"),
    ("rewrite site --url http://h/ -o out", EACH),
    ("rewrite a b --redirect /x -o out", EACH),
    ("links a b --url http://h/", EACH),
    ("base site --url http://h/", EACH),
    ("rewrite -r", "-r needs a directory, as in: relbase rewrite -r site/ -o out/"),
    ("rewrite site/", "several inputs need a directory for their output: give -o DIR"),
    ("rewrite a http://h/", "Did you mean: relbase rewrite a --url http://h/"),
    ("rewrite https://h/a?b", FETCH),
    # guesses
    ("rewrite a --base http://h/", "No such option: --base. Did you mean --url?"),
    ("rewrite a --dry-run", "No such option: --dry-run. Did you mean --diff?"),
    ("rewrite a --nonsense", "No such option"),
    ("rewrite a -i.bak", "Did you mean -i --backup .bak?"),
    ("rewrite a --in-place=.old", "No such option: --in-place=. Did you mean -i --backup .bak?"),
    ("rewrite a --url", "requires an argument"),
    ("rewrite a --verbose=2", "does not take a value"),
    ("rewrite a --encoding utf-8", "No such option: --encoding. Did you mean --charset?"),
    ("rewrite --threads 4 a", "No such option: --threads. Did you mean --jobs?"),
    ("rewrite a --exclude '*.js'", "No such option: --exclude. Did you mean --only?"),
    ("rewrite a --stdout", "No such option: --stdout. Did you mean > FILE?"),
    ("links a --format json", "No such option: --format. Did you mean --json?"),
    ("links a -o x", "No such option: -o. Did you mean > FILE?"),
    ("check --url http://h/ a", "No such option: --url. Did you mean --base?"),
    ("resolve --base http://h/ a", "No such option: --base. Did you mean the first argument?"),
    ("help rewrite", "Did you mean: relbase rewrite --help?"),
    ("version", "Did you mean: relbase --version?"),
    ("page.html", "Did you mean: relbase rewrite page.html?"),
    ("'a b.html' -o x", "Did you mean: relbase rewrite 'a b.html' -o x?"),
    ("./page", "Did you mean: relbase rewrite ./page?"),
    ("-", "Did you mean: relbase rewrite -?"),
    ("c", "Did you mean: relbase rewrite c?"),
    ("http://a/b ../g", "Did you mean: relbase resolve http://a/b ../g?"),
    ("http://a/b", "Save the page, then: relbase rewrite page.html --url http://a/b"),
    ("http://a/b --strict", "then: relbase rewrite page.html --url http://a/b"),
    ("rewrit a.html", "Did you mean: relbase rewrite a.html?"),
    ("bsae", "Did you mean: relbase base?"),
    ("nonsense", "The commands are: rewrite, links, base, resolve, check, split, explain."),
    ("\x1b.html", "No such command '\\x1b.html'."),
    ("--url http://a/ page.html", "Options follow the command: relbase rewrite"),
    # values
    ("links --url h.example/a", "(RFC 1808 §2.3): give an absolute URL, such as http://host/"),
    ("base --url page.html", "it has no scheme"),
    ("rewrite --url ''", "it is empty"),
    ("rewrite --url mailto:a@b", "mailto: is never used with relative URLs"),
    ("rewrite --url http:///a", "http: needs a network location"),
    (r"rewrite --url 'C:\page.html'", "it is a file name with a drive letter"),
    ("rewrite --keep '('", "unterminated subpattern at position 0: put '\\' before a character"),
    ("rewrite --charset utf-7", "not a charset label of the Encoding Standard: give one, such as"),
    ("links --charset ''", "not a charset label"),
    ("rewrite --charset \x1b", "'\\x1b' is not a charset label"),
    ("rewrite --xml-row \x1b", "'\\x1b' is not a row of XML: give"),
    ("rewrite --attribute a=uri", "'uri' is not a syntax: give url, srcset, css"),
    ("base --profile rfc2396", "is not one of 'rfc1808', 'rfc3986', 'whatwg'"),
    ("rewrite --kind pdf", "is not one of 'html', 'css', "),
    ("rewrite --headers nowhere", "nowhere: No such file or directory: give the file that"),
    ("rewrite --headers .", "Is a directory"),
    ("links a --message-base ''", "is not the name of a header field"),
    ("links a --message-base 'a b'", "is not the name of a header field"),
    ("links a --message-base X-Feed,", "is not the name of a header field"),
    ("links a --message-base é", "is not the name of a header field"),
    ("rewrite a -i --backup a/b", "'--backup': give the end of a file name"),
    ("rewrite a --root .=http://h/?q", QUERY),
    ("rewrite a --root .=http://h/a#f", QUERY),
    ("base a --root nope=http://h/", "'nope' is not a directory"),
    ("rewrite a --mirror nowhere", "'nowhere' is not a directory"),
    ("rewrite a --mirror .=gopher", "'.=gopher' is not a directory"),
    ("rewrite a --sidecar ''", "give the end of a file name, such as .headers"),
    ("rewrite a --sidecar /../x", "give the end of a file name, such as .headers"),
    ("rewrite a --check --only feed", "'feed': give some of html, css"),
    ("rewrite a -i --resume a", "a, line 1: it is not a report of relbase"),
    ("rewrite a --root http://h/", "it lacks the directory or the URL: write it as in site="),
    ("links a --message-map spaces", "it has no tab. Write a selector, a tab and an absolute URL"),
    ("rewrite a --map spaces", "line 1: write the name of a file, a tab, and its URL"),
    ("rewrite a --map mailto", "is not a base for relative links"),
    ("rewrite a --map twice", "line 2: 'a' has another URL on a line before"),
    ("rewrite c --date yesterday", "2026-01-02T03:04:05Z"),
    ("explain a --url x", "it has no scheme"),
]


@pytest.mark.parametrize(("line", "reported"), WRONG)
def test_wrong_usage_is_told_with_the_fix(line: str, reported: str) -> None:
    for folder in (*("site", "one", "two", "there/a"), *(f"Maildir/{box}" for box in BOXES)):
        Path(folder).mkdir(parents=True)
    for name in ("a", "b", "site/page.html", "one/a", "two/a", "Maildir/new/1.host"):
        Path(name).write_bytes(b"<a href=x>\n")
    for link, target in (("link", "site"), ("soft", "one/a"), ("nowhere", "elsewhere")):
        Path(link).symlink_to(target)
    for link in ("hard", "there/b"):
        os.link("one/a", link)
    Path("c").write_bytes(gz(response(1, "http://h/", http(b"<a href=x>"))))
    Path("nul").write_bytes(b"a\0b\0")
    Path("spaces").write_text("a http://h/")
    Path("mailto").write_text("a\tmailto:x")
    Path("twice").write_text("a\thttp://h/\n./a\thttp://i/")
    before = {path: path.is_file() and path.read_bytes() for path in Path().rglob("*")}
    result = run(*shlex.split(line), stdin=b"<a href=x>")
    assert (result.exit_code, result.stdout) == (2, "")
    assert reported in " ".join(result.stderr.split())
    after = {path: path.is_file() and path.read_bytes() for path in Path().rglob("*")}
    assert after == before
