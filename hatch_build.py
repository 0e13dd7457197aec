"""Builds the compiled scanner and the manual page, and gives the README absolute links for PyPI.

Without a compiler, or with RELBASE_PURE=1, the package is pure Python, works the same and slower,
and its wheel says so (`py3-none-any`). With one the wheel is tagged `cp311-abi3`: one binary serves
all versions of CPython. Free-threaded Pythons load no such binary: built there, the wheel is for
that version alone (`cp314-cp314t`).

RELBASE_BUILT names a finished binary, and RELBASE_PLATFORM the platform it runs on, as wheels name
it. tools/wheels.py makes both, for all platforms on one machine.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PACKAGE = Path("relbase", "scan")
# The first is compiled; the second is a part of it.
SOURCES = (PACKAGE / "_scanner.c", PACKAGE / "_walk.c")
MODULE = "_scanner"
# Without paths and debugging data the same source gives the same bytes in any directory.
FLAGS = ("-std=c11", "-O3", "-g0")
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


class ScannerHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the compiled scanner to a wheel, and puts it beside its source in editable installs."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, or leave the wheel pure.

        Args:
            version: `standard` or `editable`.
            build_data: what the wheel is made of.

        Raises:
            SystemExit: if RELBASE_BUILT and RELBASE_PLATFORM do not describe a binary.
        """
        if page := manual(self.root):
            build_data["shared_data"][str(page)] = "share/man/man1/relbase.1"
        if os.environ.get("RELBASE_PURE", "") not in {"", "0"}:
            return
        if finished := os.environ.get("RELBASE_BUILT"):
            built, tag = taken(Path(finished), os.environ.get("RELBASE_PLATFORM", ""))
        elif platform.python_implementation() != "CPython":
            return
        else:
            directory = Path(tempfile.mkdtemp(prefix="relbase-"))
            try:
                built = build(Path(self.root), directory)
            except BaseException as error:  # noqa: BLE001 (compilers fail in many ways, SystemExit too)
                self.app.display_warning(
                    f"relbase is installed without its compiled scanner: {error}"
                )
                shutil.rmtree(directory, ignore_errors=True)
                return
            tag = f"{interpreter_tag()}-{platform_tag(built)}"
        if version == "editable":
            # Renamed, not written over: a process that has the old one loaded keeps it.
            beside = Path(self.root, PACKAGE, f"{built.name}.new")
            shutil.copy(built, beside)
            beside.replace(Path(self.root, PACKAGE, built.name))
        build_data["force_include"][str(built)] = str(PACKAGE / built.name)
        build_data["pure_python"] = False
        build_data["tag"] = tag

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built outside of the wheel.

        Args:
            version: `standard` or `editable`.
            build_data: what the wheel was made of.
            artifact_path: the wheel.
        """
        del version, artifact_path
        for path in build_data.get("force_include", {}):
            if Path(path).parent.parent.name.startswith("relbase-"):
                shutil.rmtree(Path(path).parent.parent, ignore_errors=True)
        for path in build_data.get("shared_data", {}):
            shutil.rmtree(Path(path).parent, ignore_errors=True)


class ReadmeHook(MetadataHookInterface):
    """Makes the links of the README absolute: the hook that relbase has for others, from here."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme.

        Args:
            metadata: the project's table, with its URLs.
        """
        # Windows replaces no module that is loaded: the compiled scanner, in an editable install.
        with patch.dict(os.environ, RELBASE_SCANNER="exact"):
            hook = module_of(Path(self.root), "relbase.markdown.hatch").ReadmeHook
            hook(self.root, self.config).update(metadata)


def manual(root: str) -> Path | None:
    """Return the manual page in a new directory, or None where it cannot be made.

    Args:
        root: of the project.
    """
    command = [sys.executable, "-X", "utf8", "-m", "tools.manual"]
    environment = {**os.environ, "RELBASE_SCANNER": "exact"}
    ran = subprocess.run(  # noqa: S603 (this program)
        command, cwd=root, env=environment, capture_output=True, check=False
    )
    if ran.returncode:  # without click
        return None
    page = Path(tempfile.mkdtemp(prefix="relbase-"), "relbase.1")
    page.write_bytes(ran.stdout)
    return page


def taken(built: Path, platform_name: str) -> tuple[Path, str]:
    """Return a finished binary and the tag of its wheel.

    Args:
        built: the binary.
        platform_name: as wheels name it, such as `macosx_11_0_arm64`.

    Raises:
        SystemExit: if there is no binary, or no platform.
    """
    if not built.is_file():
        raise SystemExit(f"RELBASE_BUILT is {built}, which is not a file")
    if not re.fullmatch(r"\w+(\.\w+)*", platform_name):
        raise SystemExit("set RELBASE_PLATFORM to the platform of RELBASE_BUILT, such as win_amd64")
    return built, f"cp311-abi3-{platform_name}"


def prepare(root: Path, directory: Path) -> int:
    """Write what the compiler needs besides the sources, and return the number that seals those.

    The header has the tables that the scanner shares with Python. No other build finds it. The
    module carries the number, so that no binary is used with another source.

    Args:
        root: of the project.
        directory: for the header.
    """
    header = module_of(root, "relbase.scan.tables").header()
    (directory / "_tables.h").write_text(header, encoding="ascii", newline="\n")
    return zlib.crc32(b"".join((root / path).read_bytes() for path in SOURCES))


def module_of(root: Path, name: str) -> Any:  # noqa: ANN401 (a module)
    """Return a module of what is built.

    Args:
        root: of the project.
        name: of the module.
    """
    sys.path.insert(0, str(root))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(root))


def build(root: Path, directory: Path) -> Path:
    """Return the scanner, compiled into a directory.

    Args:
        root: of the project.
        directory: for what is made.
    """
    from setuptools import Distribution, Extension  # not needed for a pure wheel
    from setuptools.command.build_ext import build_ext

    on_windows = sys.platform == "win32"
    macros: list[tuple[str, str | None]] = [("RELBASE_SOURCE", f"{prepare(root, directory)}u")]
    if on_windows and FREE_THREADED:  # elsewhere pyconfig.h says so
        macros.append(("Py_GIL_DISABLED", "1"))
    extension = Extension(
        MODULE,
        [str(root / SOURCES[0])],
        include_dirs=[str(directory)],
        define_macros=macros,
        extra_compile_args=[] if on_windows else [*FLAGS, f"-ffile-prefix-map={root}=."],
        py_limited_api=not FREE_THREADED,
    )
    command = build_ext(Distribution({"name": "relbase", "ext_modules": [extension]}))
    command.build_lib = str(directory / "lib")
    command.build_temp = str(directory / "temp")
    command.finalize_options()
    command.run()
    return Path(command.get_ext_fullpath(MODULE))


def interpreter_tag() -> str:
    """Return which Pythons load what is built here, as wheels name them."""
    if FREE_THREADED:
        version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        return f"{version}-{version}t"
    return "cp311-abi3"


# Of the C library that a manylinux platform has: the processors that PyPI takes, with the first
# version of glibc that has a platform for them; and the libraries that every such platform has.
MANYLINUX = {
    "x86_64": 17,
    "aarch64": 17,
    "i686": 17,
    "armv7l": 31,
    "ppc64le": 17,
    "s390x": 17,
    "riscv64": 31,
}
LIBRARIES = {b"libc.so.6", b"libpthread.so.0", b"libm.so.6", b"libgcc_s.so.1"}


def platform_tag(built: Path) -> str:
    """Return the platform that a binary made here runs on, as wheels name it.

    On Linux that is the oldest manylinux platform that has what the binary names: PyPI takes no
    `linux_x86_64`. A binary that needs other libraries, or another C library, keeps that tag.

    Args:
        built: the binary.
    """
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    processor = name.removeprefix("linux_")
    if processor == name or processor not in MANYLINUX or platform.libc_ver()[0] != "glibc":
        return name
    data = built.read_bytes()
    if set(re.findall(rb"lib[\w.+-]*\.so[.\d]*", data)) - LIBRARIES:
        return name
    needed = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", data)]
    return f"manylinux_2_{max([MANYLINUX[processor], *needed])}_{processor}"
