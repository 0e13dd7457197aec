"""Runs relbase on another processor or Python, of Debian, and compares whole results.

    python -m tools.elsewhere NAME... [--tests] [--pages DIRECTORY]

Strategy: apt resolves Debian's python3 of another architecture in a folder of its own, and dpkg
unpacks it: nothing of it is installed. QEMU's user mode runs it (package qemu-user-static); x86_64
runs i386 itself. Beside it go the wheel that tools/wheels.py makes for the platform, and
pure packages. Each document is rewritten here and there, by both scanners; the digests of the whole
results are the same (tools/smoke.py). `--tests` runs the tests of the engine there. `pypy` is
Debian's newest, and `pyodide` is Python for WebAssembly, from npm, in Node: both with the scanner
in Python, without lxml and ada-url.

To mind: QEMU takes ten to thirty times as long. `ada-url`, which profile `whatwg` needs, has no
wheel for most of them: Zig compiles it, once, for `--tests`. Tests that start a Python are left
out: this machine cannot start that of another processor. What was unpacked is kept in .cache/.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tools.commands import ROOT, ToolError, pip, told
from tools.playground import tarball
from tools.wheel_checks import CROSS
from tools.wheels import PLATFORMS, PURE, headers, make, zig

CACHE: Final = ROOT / ".cache" / "elsewhere"
SMOKE: Final = ROOT / "tools" / "smoke.py"


class Machine(NamedTuple):
    """Another processor, or another Python."""

    platform: str  # of tools/wheels.py
    emulator: str  # "": this machine runs it
    loader: str  # the program that loads programs
    libraries: str  # as Debian names the folder
    suite: str = "trixie"
    architecture: str = ""  # as Debian names it; "": by its own name
    # Packages of Debian, of what is compiled; the program has the name of the first.
    packages: tuple[str, ...] = ("python3", "python3-lxml", "python3-cffi-backend")


MACHINES: Final = {
    "i386": Machine("manylinux-i686", "", "ld-linux.so.2", "i386-linux-gnu"),
    "arm64": Machine("manylinux-aarch64", "aarch64", "ld-linux-aarch64.so.1", "aarch64-linux-gnu"),
    "armhf": Machine("manylinux-armv7l", "arm", "ld-linux-armhf.so.3", "arm-linux-gnueabihf"),
    "ppc64el": Machine(
        "manylinux-ppc64le", "ppc64le", "ld64.so.2", "powerpc64le-linux-gnu", "bookworm"
    ),
    "riscv64": Machine(
        "manylinux-riscv64", "riscv64", "ld-linux-riscv64-lp64d.so.1", "riscv64-linux-gnu"
    ),
    # Debian 13 needs a newer processor than QEMU 7 of Debian 12 plays.
    "s390x": Machine("manylinux-s390x", "s390x", "ld64.so.1", "s390x-linux-gnu", "bookworm"),
    # A newer Python, on x86_64.
    "python3.14": Machine(
        "manylinux-x86_64", "", "ld-linux-x86-64.so.2", "x86_64-linux-gnu", "sid", "amd64"
    ),
    "pypy": Machine(
        PURE, "", "ld-linux-x86-64.so.2", "x86_64-linux-gnu", "sid", "amd64", ("pypy3",)
    ),
}
PYODIDE: Final = "pyodide"
NAMES: Final = (*MACHINES, PYODIDE)
# As others name the architectures.
_ALIASES: Final = {"aarch64": "arm64", "i686": "i386", "armv7l": "armhf", "ppc64le": "ppc64el"}

# What is pure comes from PyPI.
_PURE: Final = (
    *("click>=8.2", "rich", "webencodings", "beautifulsoup4", "markdown-it-py"),
    *("pytest>=8.2", "pytest-xdist", "hypothesis", "html5lib", "warcio", "feedparser"),
)
TESTS: Final = (
    *("tests/html", "tests/css", "tests/xml", "tests/values", "tests/scan", "tests/rewriting"),
    *("tests/view", "tests/mail", "tests/url", "tests/test_laws.py", "tests/test_fixtures.py"),
)
# They start Python.
_STARTING: Final = (
    "tests/mail/test_message_growth.py::test_memory_is_bounded",
    "tests/scan/test_binding.py::test_the_environment_chooses",
    "tests/scan/test_binding.py::test_a_scanner_that_there_is_not",
    "tests/scan/test_binding.py::test_law_9a_what_a_process_did_before_decides_no_result",
)
_OF_PURE: Final = ("-p", "skip_missing")
# Its Python has no file descriptors to capture; hypothesis warns of how it counts references.
_OF_PYODIDE: Final = (
    *(*_OF_PURE, "--capture=sys"),
    *("-W", "ignore::hypothesis.errors.HypothesisWarning"),
)
# Node's default is too small for the recursion that Python allows.
_STACK: Final = "--stack-size=7000"
# Of the pages: how many, and of how many bytes at most.
_PAGES: Final = 200
_LONGEST: Final = 100_000
_KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class UnavailableError(ToolError):
    """A machine is not available; the text tells why."""


# The exit status if a machine is not available.
_UNAVAILABLE: Final = 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.elsewhere",
        description="Compare the results of relbase on other processors with those here.",
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--pages", type=Path, help=f"also {_PAGES} documents of this directory")
    parser.add_argument(
        "--tests", nargs="*", metavar="ARGUMENT", help="also tests; arguments of pytest, or none"
    )
    given = parser.parse_args(arguments)
    names = [_ALIASES.get(name, name) for name in given.names]
    if unknown := sorted({*names} - {*NAMES}):
        parser.error(f"unknown: {', '.join(unknown)}; one of {', '.join(NAMES)}")
    try:
        for name in names:
            python = prepared(name)
            compare(name, python, given.pages)
            if given.tests is not None:
                _tested(name, python, given.tests or TESTS)
    except UnavailableError as problem:
        print(problem, file=sys.stderr)  # noqa: T201
        sys.exit(_UNAVAILABLE)
    except ToolError as problem:
        sys.exit(f"{problem}")


# ---- The machine


class Python(NamedTuple):
    """A Python for another processor."""

    command: tuple[str, ...]
    site: Path  # what it imports
    gconv: str = ""  # the encodings of its C library, which lxml uses
    arguments: tuple[str, ...] = ()  # of pytest
    scanners: tuple[str, ...] = ("compiled", "exact")


def prepared(name: str) -> Python:
    """Return a Python of Debian for a processor, with relbase as it is now.

    Args:
        name: one of NAMES.

    Raises:
        UnavailableError: if it is not available.
    """
    if name == PYODIDE:
        return _pyodide(CACHE / name)
    machine = MACHINES[name]
    root, site = CACHE / name / "root", CACHE / name / "site"
    try:
        if not (root / "usr/bin" / machine.packages[0]).exists():
            _unpack(machine.architecture or name, machine, root)
        if not (site / "pytest").is_dir():
            _install_pure(re.sub("[a-z]+", "", _program(machine, root).name), site)
    except ToolError as error:  # a mirror or an index that lacks something
        raise UnavailableError(f"{error}") from None
    _install_relbase(machine.platform, site)
    python = Python(_command(machine, root), site, f"{root}/usr/lib/{machine.libraries}/gconv")
    return _pure(python) if machine.platform == PURE else python


def _pure(python: Python, arguments: tuple[str, ...] = _OF_PURE) -> Python:
    """Return a Python with nothing that is compiled: tests that need it are skipped."""
    shutil.copy(CROSS / "skip_missing.py", python.site)
    return python._replace(arguments=arguments, scanners=("exact",))


def _pyodide(folder: Path) -> Python:
    """Unpack Pyodide, as npm has it; see tools/playground.py."""
    node = shutil.which("node")
    if node is None:
        raise UnavailableError("needs Node")
    core, site = folder / "core", folder / "site"
    try:
        if not core.is_dir():
            with tarfile.open(fileobj=io.BytesIO(tarball())) as packed:
                packed.extractall(core, filter="data")
        if not (site / "pytest").is_dir():
            _install_pure("3.14", site)
    except ToolError as error:
        raise UnavailableError(f"{error}") from None
    _install_relbase(PURE, site)
    command = (node, _STACK, str(CROSS / "pyodide.mjs"), str(core / "package"))
    return _pure(Python(command, site), _OF_PYODIDE)


def _install_relbase(platform: str, site: Path) -> None:
    shutil.rmtree(site / "relbase", ignore_errors=True)
    with tempfile.TemporaryDirectory() as directory:
        zipfile.ZipFile(make(platform, Path(directory))).extractall(site)


def _program(machine: Machine, root: Path) -> Path:
    return (root / "usr/bin" / machine.packages[0]).resolve()


def _command(machine: Machine, root: Path) -> tuple[str, ...]:
    python = str(_program(machine, root))
    if machine.emulator:
        emulator = shutil.which(f"qemu-{machine.emulator}-static")
        if emulator is None:
            raise UnavailableError("needs QEMU's user mode: apt-get install qemu-user-static")
        return (emulator, "-L", str(root), python)
    libraries = f"{root}/usr/lib/{machine.libraries}"
    return (f"{libraries}/{machine.loader}", "--library-path", libraries, python)


def _unpack(architecture: str, machine: Machine, root: Path) -> None:
    """Download Debian's packages and all that they need, and unpack them."""
    if not _KEYRING.is_file() or shutil.which("apt-get") is None:
        raise UnavailableError("needs Debian's apt and keyring: a Debian, or a container of it")
    apt = root.with_name("apt")
    for folder in (
        *("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/trusted.gpg.d", "var/lib/dpkg"),
        *("var/lib/apt/lists/partial", "var/cache/apt/archives/partial"),
    ):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "var/lib/dpkg/status").write_bytes(b"")
    source = f"deb [signed-by={_KEYRING}] {_mirror()} {machine.suite} main\n"
    (apt / "etc/apt/sources.list").write_text(source)
    options = {
        "Dir": apt,
        "Dir::State::status": apt / "var/lib/dpkg/status",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "1",
    }
    command = ["apt-get", "-q", "-y", *(f"-o{key}={value}" for key, value in options.items())]
    told([*command, "update"])
    told([*command, "install", "--download-only", *machine.packages])
    root.mkdir(parents=True, exist_ok=True)
    for package in sorted((apt / "var/cache/apt/archives").glob("*.deb")):
        told(["dpkg", "-x", str(package), str(root)])
    for folder in ("lib", "lib64", "bin"):  # links of a package that is unpacked by its script
        (root / "usr" / folder).mkdir(exist_ok=True)
        if not (root / folder).exists():
            (root / folder).symlink_to(f"usr/{folder}")
    for loader in (root / "lib64").glob("ld*"):  # its link may begin at the root of the system
        if loader.is_symlink() and loader.readlink().is_absolute():
            target = root / loader.readlink().relative_to("/")
            loader.unlink()
            loader.symlink_to(target)
    shutil.rmtree(apt)


def _mirror() -> str:
    """Return the mirror of Debian that this machine is set up with."""
    listed = told(["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)"])
    mirrors = [line.removeprefix("Debian ") for line in listed.splitlines()]
    mirrors = [
        mirror for mirror, line in zip(mirrors, listed.splitlines(), strict=True) if mirror != line
    ]
    return mirrors[0] if mirrors else "https://deb.debian.org/debian"


def _install_pure(version: str, site: Path) -> None:
    shutil.rmtree(site, ignore_errors=True)
    command = [*pip(), "install", "-q", "--target", str(site)]
    command += ["--only-binary=:all:", "--platform=any", f"--python-version={version}"]
    told([*command, "--implementation=py", "--abi=none", *_PURE])


_ADA: Final = "ada-url==4.0.0"  # this knows how it is built


def _install_ada(machine: Machine, site: Path) -> None:
    """Compile ada-url from its sdist."""
    target = PLATFORMS[machine.platform].target_arguments
    flags = (*target, "-fPIC", "-O1", "-g0", "-fno-sanitize=undefined")
    flags += ("-DADA_INCLUDE_URL_PATTERN=0",)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        download = (*pip(), "download", "-q", "--no-deps", "--no-build-isolation")
        told([*download, "--no-binary=:all:", "-d", directory, _ADA])
        (packed,) = folder.glob("*.tar.gz")
        shutil.unpack_archive(packed, folder)
        (source,) = folder.glob("*/ada_url")
        code = "import ada_build; ada_build.ffi_builder.emit_c_code('_ada_wrapper.c')"
        told([sys.executable, "-c", code], folder=source)
        includes = f"-I{headers(folder)}"
        for name, compiler in (("_ada_wrapper.c", ("cc",)), ("ada.cpp", ("c++", "-std=c++20"))):
            zig(
                [
                    *compiler,
                    *flags,
                    includes,
                    "-c",
                    str(source / name),
                    "-o",
                    str(folder / f"{name}.o"),
                ]
            )
        built = str(source / "_ada_wrapper.abi3.so")
        zig(["c++", *target, "-shared", "-s", *map(str, folder.glob("*.o")), "-o", built])
        shutil.copytree(source, site / "ada_url", ignore=shutil.ignore_patterns("*.c", "*.cpp"))


# ---- What runs there


def documents(pages: Path | None) -> list[str]:
    """Return the documents that are compared: all fixtures, and some of the pages.

    Args:
        pages: a directory of documents, or None.
    """
    found = sorted(str(path) for path in ROOT.glob("fixtures/**/*") if path.is_file())
    if pages is not None:
        names = [path for path in pages.resolve().glob("**/*") if path.is_file()]
        short = sorted(str(path) for path in names if 0 < path.stat().st_size <= _LONGEST)
        step = max(1, len(short) // _PAGES)
        found += [name for name in short[::step] if name.isprintable()][:_PAGES]
    return found


def compare(name: str, python: Python, pages: Path | None) -> None:
    """Compare whole results there and here, by each scanner, and print how many there are.

    Args:
        name: of the machine.
        python: that runs there.
        pages: a directory of documents, or None.

    Raises:
        ToolError: if one differs.
    """
    with tempfile.TemporaryDirectory() as directory:
        listed = Path(directory, "list")
        listed.write_text("\n".join(documents(pages)), "utf-8")
        here = _digests([sys.executable, "-P", str(SMOKE), str(listed)], str(ROOT), "exact")
        for scanner in python.scanners:
            command = [*python.command, "-P", "-s", str(SMOKE), str(listed)]
            there = _digests(command, str(python.site), scanner)
            differing = [b for a, b in zip(here[1:], there[1:], strict=True) if a != b]
            print(f"{name}: {there[0]}: {len(there) - 1} documents", flush=True)  # noqa: T201
            if differing:
                lines = "\n".join(differing[:20])
                raise ToolError(f"{name}: {len(differing)} results differ:\n{lines}")


def _digests(command: Sequence[str], path: str, scanner: str) -> list[str]:
    environment = {"PYTHONPATH": path, "RELBASE_SCANNER": scanner, "PYTHONHASHSEED": "0"}
    return told(command, **environment, PYTHONDONTWRITEBYTECODE="1").splitlines()


def _tested(name: str, python: Python, arguments: Sequence[str]) -> None:
    """Run tests there. They import relbase from the wheel, and the rest from this tree."""
    if "compiled" in python.scanners and not (python.site / "ada_url").is_dir():
        _install_ada(MACHINES[name], python.site)
    for source in ROOT.glob("relbase/**/*.c"):  # which tests read
        shutil.copy(source, python.site / source.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory)
        for part in ("tests", "fixtures", "docs", "pyproject.toml", "README.md"):
            (tree / part).symlink_to(ROOT / part)
        environment = {
            "PYTHONPATH": str(python.site),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GCONV_PATH": python.gconv,
        }
        command = [*python.command, "-P", "-s", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        left_out = [f"--deselect={test}" for test in _STARTING]
        done = subprocess.run(
            [*command, "-m", "not long", *python.arguments, *left_out, *arguments],
            cwd=tree,
            env={**os.environ, **environment},
            check=False,
        )
    if done.returncode:
        raise ToolError(f"{name}: the tests fail")


if __name__ == "__main__":
    main()
