"""Runs the test suites of projects that resolve links, with relbase in the place of their own code.

    python -m tools.peers DIRECTORY [NAME]...

Strategy: pip downloads the source distribution of each project, and the project with what its tests
need. The tests run twice, as they are and with an adapter (adapters/), which pytest loads as a
plugin. Files beside the adapters make tests for pytest of what only another runner finds. Tests
that fail only with the adapter must be those of known.txt, each below its reason.

To mind: tests that fail in both runs (they need a network, or another system) say nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

from tools.commands import ROOT, ToolError, pip, told

HERE: Final = Path(__file__).parent
ADAPTERS: Final = HERE / "adapters"


class Peer(NamedTuple):
    """A project whose source distribution has tests."""

    version: str
    tests: tuple[str, ...]  # files, below its source or in ADAPTERS
    needs: tuple[str, ...] = ()  # what its tests need


PEERS: Final = {
    "w3lib": Peer("2.5.0", ("tests",)),
    "scrapy": Peer(
        "2.19.0",
        (
            *("tests/test_utils_response.py", "tests/test_linkextractors.py"),
            *("tests/test_http_response.py", "tests/test_http_response_text.py"),
            *("tests/test_selector.py", "tests/test_spider.py"),
        ),
        ("pytest-twisted", "testfixtures", "sybil", "pexpect"),
    ),
    "courlan": Peer("1.4.0", ("tests/unit_tests.py",), ("pytest-httpserver",)),
    "html2text": Peer("2025.4.15", ("test",)),
    "lxml": Peer("6.1.3", ("examples_of_lxml.py",)),
    "feedparser": Peer("6.0.14", ("suite_of_feedparser.py",)),
    "mechanize": Peer("0.4.10", ("test/test_html.py", "test/test_browser.py", "test/test_form.py")),
}


class Compared(NamedTuple):
    """What two runs of a suite tell."""

    tests: int  # that pass as they are
    differ: set[str]  # those of them that do not pass with the adapter


def fetched(name: str, peer: Peer, directory: Path) -> tuple[Path, Path]:
    """Return the source of a project, and a directory with it and its requirements installed."""
    stem, site = f"{name}-{peer.version}", directory / f"{name}-site"
    source = directory / stem
    stated = f"{name}=={peer.version}"
    if not source.exists():
        options = ("-q", "--no-deps", "--no-binary", name, "-d", str(directory))
        told([*pip(), "download", *options, stated])
        with tarfile.open(directory / f"{stem}.tar.gz") as archive:
            archive.extractall(directory, filter="data")
    if not site.exists():
        told([*pip(), "install", "-q", "--target", str(site), stated, "pytest", *peer.needs])
    return source, site


def outcomes(name: str, peer: Peer, source: Path, site: Path, *, adapted: bool) -> dict[str, bool]:
    """Run the tests; return whether each passes, without those that are skipped."""
    report = source / "relbase-report.xml"
    report.unlink(missing_ok=True)
    for test in peer.tests:
        if (ADAPTERS / test).exists():
            shutil.copy(ADAPTERS / test, source)  # which has the settings of pytest
    plugin = ("-p", f"with_{name}") if adapted else ()
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly", f"--junitxml={report}", *plugin)
    path = os.pathsep.join(map(str, (ADAPTERS, site, source, ROOT)))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *peer.tests],
        cwd=source,
        # Some parametrize by a set: its order would be in the names of tests.
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if not report.exists():
        raise ToolError(f"{name}: pytest did not run:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    found: dict[str, bool] = {}
    for case in ET.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        if "skipped" not in kinds:
            test = f"{case.get('classname')}::{case.get('name')}"
            found[test] = found.get(test, True) and not kinds & {"failure", "error"}
    return found


def compared(name: str, directory: Path) -> Compared:
    """Run the tests of a project twice."""
    peer = PEERS[name]
    source, site = fetched(name, peer, directory)
    before, after = (
        outcomes(name, peer, source, site, adapted=adapted) for adapted in (False, True)
    )
    passing = {test for test, passes in before.items() if passes}
    return Compared(len(passing), {test for test in passing if not after.get(test, False)})


def known(name: str) -> set[str]:
    """Return the tests of a project that differ for a reason of known.txt."""
    text = (HERE / "known.txt").read_text("utf-8")
    section = text.partition(f"\n\n{name}\n")[2].partition("\n\n")[0]
    return set(re.findall(r"^    (.+)$", section, re.MULTILINE))


def complaints(name: str, differ: set[str]) -> Iterator[str]:
    """Yield a line for each test that differs and is not listed, and the other way round."""
    listed = known(name)
    for test in sorted(differ - listed):
        yield f"{name}: {test} fails with relbase, and known.txt does not say why"
    for test in sorted(listed - differ):
        yield f"{name}: {test} passes: take it off known.txt"


def main() -> int:
    """Compare the projects, and print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m tools.peers", description=__doc__)
    parser.add_argument("directory", type=Path, help="where to download to")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects: all by default")
    given = parser.parse_args()
    given.directory.mkdir(parents=True, exist_ok=True)
    bad: list[str] = []
    print(f"{'project':24} tests  known differences")
    for name in given.names or PEERS:
        tests, differ = compared(name, given.directory.resolve())
        bad += complaints(name, differ)
        print(f"{name + ' ' + PEERS[name].version:24} {tests:5}  {len(differ):5}")
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as error:
        sys.exit(str(error))
