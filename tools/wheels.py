"""Makes all files of a release on one Linux machine: wheels for sixteen platforms, and the sdist.

    python -m tools.wheels [PLATFORM]... -o DIRECTORY

Strategy: Zig's C compiler (`ziglang` on PyPI, extra `wheels`) compiles the scanner for every
platform. The limited API needs the headers of any CPython and one pyconfig.h (cross/). Nothing is
linked but what every such platform has, so the binaries name no version of a C library. Then
hatch_build.py puts each binary into a wheel (RELBASE_BUILT).

What is made is checked: the names that a binary takes from elsewhere are those of Python's stable
ABI and a few of the C library (abi3audit, and wheel_checks.py); the tags are true (auditwheel for
Linux, the load commands for macOS, the headers for Windows); the contents are those of a package
(check-wheel-contents, twine).

To mind: equal sources give equal bytes, in any directory. No wheel holds the source of the scanner.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from tools.commands import ROOT, ToolError, told
from tools.wheel_checks import CROSS, check

# `-s`: without symbols. Windows has no rpath, and needs no code that is independent of its place.
_COMPILE: Final = (
    "-c",
    "-std=c11",
    "-O3",
    "-g0",
    "-fno-stack-protector",
    "-fno-sanitize=undefined",
)
# Unwinding tables name functions of a runtime, and nothing unwinds these frames.
_FOR_LINUX: Final = ("-fPIC", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")
# The oldest processors of armv7l cannot divide: compiler-rt, which is linked in, does it for them.
_ARMV7: Final = "-mcpu=generic+v7a+vfp3d16"


class Platform(NamedTuple):
    """A platform that wheels are made for."""

    tag: str  # as in the name of the wheel
    target: str  # as Zig names it, with the oldest version of the system
    compile: tuple[str, ...] = ()  # more arguments
    machine: str = ""  # Windows: as dlltool names it

    @property
    def system(self) -> str:
        """The system: manylinux, musllinux, macosx or win."""
        return re.match("[a-z]+", self.tag)[0]  # type: ignore[index]

    @property
    def target_arguments(self) -> tuple[str, ...]:
        """The arguments of Zig that name the platform."""
        return ("-target", self.target, *([_ARMV7] if "armv7l" in self.tag else []))


_MANYLINUX2014: Final = 17


def _manylinux(minor: int, processor: str, target: str, glibc: int = 0) -> Platform:
    old = f".manylinux2014_{processor}" if minor == _MANYLINUX2014 else ""
    tag = f"manylinux_2_{minor}_{processor}{old}"
    return Platform(tag, f"{target}.2.{glibc or minor}", _FOR_LINUX)


def _musllinux(processor: str, target: str) -> Platform:
    return Platform(f"musllinux_1_2_{processor}", target, _FOR_LINUX)


def _macos(tag: str, target: str) -> Platform:
    return Platform(tag, target, ("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0"))


def _windows(tag: str, target: str, machine: str) -> Platform:
    return Platform(tag, target, ("-mno-stack-arg-probe",), machine)


PLATFORMS: Final = {
    "manylinux-x86_64": _manylinux(17, "x86_64", "x86_64-linux-gnu"),
    "manylinux-aarch64": _manylinux(17, "aarch64", "aarch64-linux-gnu"),
    "manylinux-i686": _manylinux(17, "i686", "x86-linux-gnu"),
    "manylinux-armv7l": _manylinux(31, "armv7l", "arm-linux-gnueabihf"),
    # glibc has this processor since 2.19; Red Hat brought it to 2.17, which the wheel works with.
    "manylinux-ppc64le": _manylinux(17, "ppc64le", "powerpc64le-linux-gnu", 19),
    "manylinux-s390x": _manylinux(17, "s390x", "s390x-linux-gnu"),
    "manylinux-riscv64": _manylinux(31, "riscv64", "riscv64-linux-gnu"),
    "musllinux-x86_64": _musllinux("x86_64", "x86_64-linux-musl"),
    "musllinux-aarch64": _musllinux("aarch64", "aarch64-linux-musl"),
    "musllinux-i686": _musllinux("i686", "x86-linux-musl"),
    "musllinux-armv7l": _musllinux("armv7l", "arm-linux-musleabihf"),
    "macos-arm64": _macos("macosx_11_0_arm64", "aarch64-macos.11.0"),
    "macos-x86_64": _macos("macosx_10_13_x86_64", "x86_64-macos.10.13"),
    "win-amd64": _windows("win_amd64", "x86_64-windows-gnu", "i386:x86-64"),
    "win-32": _windows("win32", "x86-windows-gnu", "i386"),
    "win-arm64": _windows("win_arm64", "aarch64-windows-gnu", "arm64"),
}
PURE: Final = "pure"
SDIST: Final = "sdist"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.wheels", description="Make wheels for many platforms on one machine."
    )
    names = [*PLATFORMS, PURE, SDIST]
    parser.add_argument("names", nargs="*", metavar="PLATFORM", help=", ".join(names))
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIRECTORY")
    parser.add_argument("--no-check", action="store_true", help="only make them")
    given = parser.parse_args(arguments)
    if unknown := sorted({*given.names} - {*names}):
        parser.error(f"unknown: {', '.join(unknown)}; one of {', '.join(names)}")
    given.output.mkdir(parents=True, exist_ok=True)
    made = []
    try:
        for name in given.names or names:
            made.append(make(name, given.output))
            print(made[-1].name, made[-1].stat().st_size, flush=True)  # noqa: T201
        if not given.no_check:
            check(made)
    except ToolError as problem:
        sys.exit(f"{problem}")


def make(name: str, output: Path) -> Path:
    """Return a wheel, or the sdist, made in a directory.

    Args:
        name: one of PLATFORMS, `pure` or `sdist`.
        output: the directory; it exists.

    Raises:
        ToolError: if it cannot be made.
    """
    if name not in PLATFORMS:
        return _hatch("sdist" if name == SDIST else "wheel", output, RELBASE_PURE="1")
    with tempfile.TemporaryDirectory(prefix="relbase-wheel-") as directory:
        built = compiled(name, Path(directory))
        return _hatch(
            "wheel", output, RELBASE_BUILT=str(built), RELBASE_PLATFORM=PLATFORMS[name].tag
        )


def _hatch(target: str, output: Path, **environment: str) -> Path:
    with tempfile.TemporaryDirectory(dir=output) as directory:
        command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", directory]
        told(command, **{"RELBASE_PURE": "", **environment})
        (made,) = Path(directory).iterdir()
        return made.replace(output.resolve() / made.name)


# ---- The binary


def build_hook() -> ModuleType:
    """Return hatch_build.py, which knows the sources and the number that seals them."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(name: str, directory: Path) -> Path:
    """Return the scanner, compiled for a platform.

    Args:
        name: one of PLATFORMS.
        directory: for what is made.

    Raises:
        ToolError: if it cannot be compiled.
    """
    platform = PLATFORMS[name]
    hook = build_hook()
    module: str = hook.MODULE
    source: Path = hook.SOURCES[0]
    seal: int = hook.prepare(ROOT, directory)
    built = directory / f"{module}{'.pyd' if platform.machine else '.abi3.so'}"
    unlinked = directory / f"{module}.o"
    target = platform.target_arguments
    zig(
        [
            *("cc", *target, *_COMPILE, *platform.compile, f"-ffile-prefix-map={ROOT}=."),
            *(f"-I{directory}", f"-I{headers(directory)}", f"-DRELBASE_SOURCE={seal}u"),
            *(str(source), "-o", str(unlinked)),
        ]
    )
    zig(_LINKS[platform.system](platform, target, unlinked, built))
    return built


def headers(directory: Path) -> Path:
    """Return Python's headers without those of the platform that this runs on.

    Args:
        directory: for the copy.
    """
    given = Path(sysconfig.get_path("include"))
    ignored = shutil.ignore_patterns("pyconfig*.h", "internal")
    copied = shutil.copytree(given, directory / "include", ignore=ignored)
    return Path(shutil.copy(CROSS / "pyconfig.h", copied)).parent


def _link_for_linux(_: Platform, target: tuple[str, ...], unlinked: Path, built: Path) -> list[str]:
    runtime = "-fcompiler-rt" if _ARMV7 in target else "-fno-compiler-rt"
    return [
        *("build-lib", *target, "-dynamic", "-OReleaseFast", "-fstrip", runtime),
        *(f"-fsoname={built.name}", str(unlinked), f"-femit-bin={built}"),
    ]


def _link_for_macos(_: Platform, target: tuple[str, ...], unlinked: Path, built: Path) -> list[str]:
    return [
        *("cc", *target, "-shared", "-nostdlib", "-s", "-o", str(built), str(unlinked)),
        "-lSystem",  # macOS loads nothing that is not linked to it
        *("-Wl,-undefined,dynamic_lookup", f"-Wl,-install_name,@rpath/{built.name}"),
    ]


def _link_for_windows(
    platform: Platform, _: tuple[str, ...], unlinked: Path, built: Path
) -> list[str]:
    python = built.with_name("python3.def")
    python.write_text("\n".join(['LIBRARY "python3.dll"', "EXPORTS", *_names_of_python()]))
    libraries = []
    for definition in (python, CROSS / "ucrt.def"):
        libraries.append(str(built.with_name(f"{definition.stem}.lib")))
        zig(["dlltool", "-m", platform.machine, "-d", str(definition), "-l", libraries[-1]])
    return [
        *("lld-link", "/dll", "/lldmingw", "/noentry", "/nodefaultlib"),
        "/brepro",  # a hash in the place of the time
        *(f"/out:{built}", str(unlinked), *libraries),
    ]


_LINKS: Final = {
    "manylinux": _link_for_linux,
    "musllinux": _link_for_linux,
    "macosx": _link_for_macos,
    "win": _link_for_windows,
}


def _names_of_python() -> Iterator[str]:
    """Yield the functions and data of CPython, as its headers declare them."""
    for header in sorted(Path(sysconfig.get_path("include")).glob("*.h")):
        text = header.read_text("utf-8")
        yield from re.findall(r"PyAPI_FUNC\([^()]+\)\s*(\w+)", text)
        yield from (f"{name} DATA" for name in re.findall(r"PyAPI_DATA\([^()]+\)\s*(\w+)", text))


def zig(arguments: Sequence[str]) -> None:
    """Run Zig.

    Args:
        arguments: of its command line.

    Raises:
        ToolError: if it fails.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "relbase-zig")
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache / "local")}
    told([sys.executable, "-m", "ziglang", *arguments], **caches)


if __name__ == "__main__":
    main()
