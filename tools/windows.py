"""Windows' own Python on Linux, under wine: runs relbase's tests, and kills runs of it.

    python -m tools.windows [--part | --kills N] [TEST]...

Strategy: no installer runs. The parts of CPython for Windows (the interpreter as a library, and the
modules in C) and the runtime of its compiler come from wheels on PyPI that carry them; the standard
library is the one of the Python that runs this, which must have the same version. Zig makes the two
small files that are missing: a program that starts the interpreter, and the library of the stable
ABI, which passes all on. All stays in `.cache/windows`, with a Windows of its own.

To mind: this needs Python 3.11, pip, the network once, and wine64 (Debian: `apt-get install
wine64`). wine's share modes are those of Windows; junctions, short names and long paths are not
tried. Standard output must be a pipe, since wine has trouble with other files.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tools.commands import ROOT, ToolError, pip, told

if TYPE_CHECKING:
    from pathlib import Path

CACHE: Final = ROOT / ".cache" / "windows"
PYTHON: Final = CACHE / "python"

VERSION: Final = (3, 11)  # of the interpreter in the first of these
_CARRIERS: Final = ("panda3d==1.10.16", "msvc-runtime==14.44.35112")
_ZIG: Final = "ziglang==0.14.1"
# Besides what relbase needs; pip asks this system, not Windows, what pytest and click need there.
_FOR_TESTS: Final = (
    *("brotli", "colorama", "fastwarc", "html5lib", "httpx", "hypothesis", "pyarrow", "pytest"),
    *("requests", "warcio", "zstandard"),
)


# The tests of the command line and of writing: a run of a few minutes.
def _of_cli(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/cli/test_{name}.py" for name in names)


# The tests of writing: a run of a minute.
PART: Final = _of_cli("windows", "directories", "replaced", "mailboxes")
# Those of the command line and of the engine. Transcripts need a shell, the others start a program
# for each test, which takes seconds under wine.
ALL: Final = (
    *PART,
    *_of_cli("documents", "archives", "streams", "many"),
    *(f"tests/{name}" for name in ("bases", "containers", "css", "formats", "html", "mail")),
    *(f"tests/{name}" for name in ("rewriting", "session", "url", "values", "view", "xml")),
    "tests/test_fixtures.py",
)

_START: Final = """\
typedef unsigned short wide;
__declspec(dllimport) int Py_Main(int, wide **);
__declspec(dllimport) wide *GetCommandLineW(void);
__declspec(dllimport) wide **CommandLineToArgvW(const wide *, int *);
__declspec(dllimport) void ExitProcess(unsigned);
void start(void) {
    int count;
    wide **words = CommandLineToArgvW(GetCommandLineW(), &count);
    ExitProcess((unsigned)Py_Main(count, words));
}
"""
_IMPORTED: Final = {
    "python311": ("Py_Main",),
    "kernel32": ("GetCommandLineW", "ExitProcess"),
    "shell32": ("CommandLineToArgvW",),
}


class WineError(ToolError):
    """The environment cannot be made; the text says what to do."""


def wine() -> str:
    """Return the path of wine64."""
    found = shutil.which("wine64", path=f"{os.environ.get('PATH', '')}:/usr/lib/wine")
    if found is None:
        raise WineError("wine64 is not installed: apt-get install wine64")
    return found


def prepare() -> None:
    """Make the environment, unless it is there."""
    if sys.version_info[:2] != VERSION:
        version = ".".join(map(str, VERSION))
        raise WineError(f"the standard library of Python {version} is needed: run it with that")
    wine()
    stamp = CACHE / "made"
    state = repr((_CARRIERS, _ZIG, _FOR_TESTS, _dependencies(), _START, sys.version))
    if stamp.is_file() and stamp.read_text("utf-8") == state:
        return
    shutil.rmtree(CACHE, ignore_errors=True)
    PYTHON.mkdir(parents=True)
    for wheel in _downloaded():
        _unpack(wheel)
    _copy_library()
    _with_pip("install", "--target", str(CACHE / "zig"), _ZIG)
    _make_programs(CACHE / "zig" / "ziglang" / "zig")
    packages = [*_dependencies(), *_FOR_TESTS]
    _with_pip("install", *_FOR_WINDOWS, "--target", str(PYTHON / "Lib/site-packages"), *packages)
    stamp.write_text(state, "utf-8")


_FOR_WINDOWS: Final = (
    *("--platform", "win_amd64", "--python-version", ".".join(map(str, VERSION))),
    "--only-binary=:all:",
)


def _dependencies() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return list(project["dependencies"])


def _with_pip(*arguments: str) -> None:
    told([*pip(), *arguments, "-q"])


def _downloaded() -> Iterator[Path]:
    folder = CACHE / "wheels"
    _with_pip("download", *_FOR_WINDOWS, "--no-deps", "-d", str(folder), *_CARRIERS)
    yield from sorted(folder.glob("*.whl"), reverse=True)  # the interpreter's own runtime is first


def _unpack(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            folder, _, file = name.rpartition("/")
            is_wanted = folder == "deploy_libs" or folder.endswith(".data/data/Scripts")
            if is_wanted and file.lower().endswith((".dll", ".pyd")):
                (PYTHON / file.lower()).write_bytes(archive.read(name))
    wheel.unlink()


def _copy_library() -> None:
    ignored = shutil.ignore_patterns("site-packages", "lib-dynload", "test", "__pycache__")
    shutil.copytree(sysconfig.get_path("stdlib"), PYTHON / "Lib", ignore=ignored, symlinks=True)


def _make_programs(zig: Path) -> None:
    """Make python.exe, and python3.dll that passes all on to the interpreter."""

    def run(*arguments: str) -> None:
        caches = {f"ZIG_{one}_CACHE_DIR": str(CACHE / "zig") for one in ("GLOBAL", "LOCAL")}
        subprocess.run([zig, *arguments], check=True, cwd=CACHE, env={**os.environ, **caches})

    (CACHE / "start.c").write_text(_START, "ascii")
    compile_ = ("cc", "-target", "x86_64-windows-gnu", "-c", "-O2", "-g0", "-fno-stack-protector")
    run(*compile_, "start.c", "-o", "start.o")
    for library, names in _IMPORTED.items():
        lines = "\n".join((f'LIBRARY "{library}.dll"', "EXPORTS", *names))
        (CACHE / f"{library}.def").write_text(lines, "ascii")
        run("dlltool", "-m", "i386:x86-64", "-d", f"{library}.def", "-l", f"{library}.lib")
    link = ("lld-link", "/nodefaultlib", "/machine:x64")
    libraries = [f"{library}.lib" for library in _IMPORTED]
    program = ("/entry:start", "/subsystem:console", f"/out:{PYTHON / 'python.exe'}")
    run(*link, *program, "start.o", *libraries)
    (CACHE / "none.c").write_text("typedef int none;\n", "ascii")
    run(*compile_, "none.c", "-o", "none.o")
    interpreter = (PYTHON / "python311.dll").read_bytes()
    exported = {name.decode() for name in re.findall(rb"(?<=\0)_?Py\w+(?=\0)", interpreter)}
    passed = "\n".join(f"/export:{name}=python311.{name}" for name in sorted(exported))
    (CACHE / "python3.txt").write_text(passed, "ascii")
    run(*link, "/dll", "/noentry", f"/out:{PYTHON / 'python3.dll'}", "none.o", "@python3.txt")


def drive_path(path: Path) -> str:
    """Return a path as programs under wine have it."""
    return f"Z:{path}".replace("/", "\\")


def run(*arguments: str) -> int:
    """Run Windows' Python in the checkout, print what it prints, and return its status."""
    kept = ("PATH", "HOME", "RELBASE_SCANNER", "RELBASE_EXAMPLES")
    environment = {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "WINEPREFIX": str(CACHE / "prefix"),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
        "PYTHONPATH": drive_path(ROOT),
        "PYTHONPYCACHEPREFIX": "C:\\bytecode",  # or each start compiles all, for a minute
    }
    command = [wine(), str(PYTHON / "python.exe"), *arguments]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        env=environment,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.buffer.write(line.replace(b"\r\n", b"\n"))
            sys.stdout.flush()
    return process.returncode


def main(given: Sequence[str] | None = None) -> int:
    """Prepare Windows' Python, and run tests in it."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.windows", description="Run tests in Windows' Python under wine."
    )
    parser.add_argument("tests", nargs="*", help="files of tests, or names for pytest -k after it")
    parser.add_argument("--part", action="store_true", help="run the tests of writing alone")
    parser.add_argument("--kills", type=int, help="instead, kill this many runs that replace files")
    options = parser.parse_args(given)
    try:
        prepare()
    except ToolError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    if options.kills:
        ways = "in place,backup,Maildir,mbox"
        return run("tests/crashes/kill_runs.py", str(options.kills), "--of", ways)
    tests = options.tests or (PART if options.part else ALL)
    return run(
        *("-m", "pytest", "-q", "-o", "addopts=-rfE", "-p", "no:cacheprovider"),
        *("--continue-on-collection-errors", "--basetemp", "C:\\tests", *tests),
    )


if __name__ == "__main__":
    sys.exit(main())
