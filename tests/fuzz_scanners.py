"""Documents made at random: the exact and the compiled way of reading must agree.

`python tests/fuzz_scanners.py --documents 1000000 [--sanitize] [--seed N]` compares whole results
(data, edits, notes, base, links) of generated tag soup, of mutated fixtures and of pages in
RELBASE_DATA. With --sanitize the compiled scanner is built with AddressSanitizer and UBSan, and
each text is given to it from a block of its own size (tests/fuzz/guarded.c).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ROOT / "relbase" / "scan"
GUARDED: Final = ROOT / "tests" / "fuzz" / "guarded.c"
SANITIZED: Final = "RELBASE_SANITIZED"
_FLAGS: Final = (
    *("-std=c11", "-O1", "-g", "-fno-omit-frame-pointer", "-shared", "-fPIC"),
    "-funsigned-char",  # as on ARM, Power and s390x
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)

sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true", help="with AddressSanitizer and UBSan")
    parser.add_argument("--of", action="append", choices=dict.fromkeys(_MADE), help="only these")
    arguments = parser.parse_args()
    if arguments.sanitize and SANITIZED not in os.environ:
        return _sanitized()
    if SANITIZED in os.environ:
        _load(Path(os.environ[SANITIZED]))
    return _compare(arguments.documents, arguments.seed, arguments.of or _MADE)


def _sanitized() -> int:
    """Build the scanner with sanitizers, and run this file again with it."""
    from relbase.scan import tables  # not the scanner itself

    include = sysconfig.get_paths()["include"]
    crc = zlib.crc32((SOURCES / "_scanner.c").read_bytes() + (SOURCES / "_walk.c").read_bytes())
    with tempfile.TemporaryDirectory(prefix="relbase-fuzz-") as directory:
        built = Path(directory) / "_scanner.abi3.so"
        built.with_name("_tables.h").write_text(tables.header(), encoding="ascii")
        includes = [f"-I{include}", f"-I{SOURCES}", f"-I{directory}"]
        command = ["gcc", *_FLAGS, f"-DRELBASE_SOURCE={crc}u", *includes, str(GUARDED)]
        subprocess.run([*command, "-o", str(built)], check=True)
        library = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], check=True, capture_output=True, text=True
        ).stdout.strip()
        environment = {
            **os.environ,
            SANITIZED: str(built),
            "LD_PRELOAD": library,
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        return subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode


def _load(path: Path) -> None:
    name = "relbase.scan._scanner"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module


# ---- the comparison


def _pages() -> list[Path]:
    paths = [*(ROOT / "fixtures").rglob("*.html"), *(ROOT / "fixtures").rglob("*.css")]
    if data := os.environ.get("RELBASE_DATA"):
        paths += sorted(Path(data, "real-pages").rglob("*.htm*"))
    return paths


_BASES: Final = (
    *("http://h.example/d/p.html?id=1", "http://h.example/d/e/f/", "https://h", "http://h/a'b/c"),
    *("http://h/%28a)/b", "file:///d/p", "foo:bar", "http://h/\xe9/?\xe9", None),
)
_MADE: Final = ("html", "html", "css", "xml", "references")
_CHARSETS: Final = (
    *(None, None, None, "gbk", "shift_jis", "windows-1252", "big5", "utf-8", "gb18030", "euc-jp"),
    *("euc-kr", "iso-8859-2", "koi8-r", "windows-1251", "x-user-defined", "iso-8859-8-i", "ibm866"),
    *("macintosh", "windows-1255"),
)


# Every so many documents are read by each token, too; and a line says how many there were.
_EACH_TOKEN, _SAID = 20, 100_000


def _compare(documents: int, seed: int, kinds: Sequence[str]) -> int:
    from scanners import SCANNERS, result_of_each  # after --sanitize
    from soup import Soup  # likewise

    import relbase
    from relbase.rewriting import budget
    from relbase.scan import binding

    budget.MAX_GROWTH = 1  # type: ignore[misc]
    policies = [
        relbase.Policy(),
        relbase.Policy(),
        relbase.Policy(extended=True),
        relbase.Policy(keep_fragments=True),
        relbase.Policy(keep=re.compile("a")),
        relbase.Policy(keep_templates=True),
        relbase.Policy(keep=re.compile("b"), keep_templates=True),
    ]
    assert binding.compiled is not None
    _say(f"scanners: {', '.join(SCANNERS)}; seed {seed}")
    random_ = random.Random(seed)
    soup = Soup(random_, [path.read_bytes() for path in _pages()])
    started, changed = time.monotonic(), 0
    for number in range(documents):
        made = random_.choice(kinds)
        call = {
            "url": random_.choice(_BASES),
            "profile": random_.choice(list(relbase.Profile)),
            "policy": random_.choice(policies),
            "kind": "html" if made == "references" else made,
            "charset": random_.choice(_CHARSETS),
        }
        soup.pieces = random_.choice((1, 2, 8))
        document = soup.documents[made]()
        # Of most documents the budget covers all, of some it ends within.
        budget.MAX_GROWTH_BYTES = random_.choice((1 << 20, 1 << 20, 20, 100))  # type: ignore[misc]
        names = SCANNERS[number % _EACH_TOKEN > 0 :]  # the slowest comes first
        first, *others = result_of_each(document, names, **call).values()
        changed += first[0] != document
        if any(other != first for other in others):
            _say(f"document {number}: they differ: {document!r}\n{call}")
            for name, result in zip(names, (first, *others), strict=True):
                _say(f"  {name}: {result[0]!r}\n    {result[2]!r}")
            return 1
        if number % _SAID == _SAID - 1:
            _say(f"{number + 1} documents, {time.monotonic() - started:.0f} s")
    seconds = time.monotonic() - started
    _say(f"{documents} documents agree, {changed} of them changed, {seconds:.0f} s")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
