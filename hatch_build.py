"""Builds the compiled scanner and the manual page, and gives the README absolute links for PyPI.

Without a compiler, or with RELBASE_PURE=1, the package is pure Python, works the same and slower,
and its wheel says so (`py3-none-any`). With one the wheel is tagged `cp311-abi3`: one binary serves
all versions of CPython.
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

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PACKAGE = Path("relbase", "scan")
SOURCE = PACKAGE / "_scanner.c"
# The second is a part of the first.
SOURCES = (SOURCE, PACKAGE / "_walk.c")
# Without paths and debugging data the same source gives the same bytes in any directory.
FLAGS = ("-std=c11", "-O3", "-g0")


class ScannerHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the compiled scanner to a wheel, and puts it beside its source in editable installs."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, or leave the wheel pure.

        Args:
            version: `standard` or `editable`.
            build_data: what the wheel is made of.
        """
        if page := manual(self.root):
            build_data["shared_data"][str(page)] = "share/man/man1/relbase.1"
        if os.environ.get("RELBASE_PURE", "") not in {"", "0"}:
            return
        if platform.python_implementation() != "CPython":
            return
        root = Path(self.root)
        directory = Path(tempfile.mkdtemp(prefix="relbase-"))
        try:
            built = build(root, directory)
        except BaseException as error:  # noqa: BLE001 (compilers fail in many ways, SystemExit too)
            self.app.display_warning(f"relbase is installed without its compiled scanner: {error}")
            shutil.rmtree(directory, ignore_errors=True)
            return
        if version == "editable":
            shutil.copy(built, root / PACKAGE / built.name)
        build_data["force_include"][str(built)] = str(PACKAGE / built.name)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_tag()}"

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
    """Resolves the links of the README against the repository: PyPI shows it elsewhere."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme.

        Args:
            metadata: the project's table, with its URLs.
        """
        rfc3986 = module_of(Path(self.root), "relbase.url.rfc3986")
        base = rfc3986.PreparedBase(f"{metadata['urls']['Homepage']}/blob/main/README.md")
        text = Path(self.root, "README.md").read_text("utf-8")
        text = re.sub(r"(?<=\]\()[^)\s]+", lambda link: base.resolve(link[0]), text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


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


def build(root: Path, directory: Path) -> Path:
    """Return the scanner, compiled into a directory.

    Args:
        root: of the project.
        directory: for what is made.
    """
    from setuptools import Distribution, Extension  # not needed for a pure wheel
    from setuptools.command.build_ext import build_ext

    source = b"".join((root / path).read_bytes() for path in SOURCES)
    write_header(root, directory)
    extension = Extension(
        "_scanner",
        [str(root / SOURCE)],
        include_dirs=[str(directory)],
        define_macros=[("RELBASE_SOURCE", f"{zlib.crc32(source)}u")],
        extra_compile_args=[]
        if sys.platform == "win32"
        else [*FLAGS, f"-ffile-prefix-map={root}=."],
        py_limited_api=True,
    )
    command = build_ext(Distribution({"name": "relbase", "ext_modules": [extension]}))
    command.build_lib = str(directory / "lib")
    command.build_temp = str(directory / "temp")
    command.finalize_options()
    command.run()
    return Path(command.get_ext_fullpath("_scanner"))


def write_header(root: Path, directory: Path) -> None:
    """Write the tables that the scanner shares with Python, where no other build finds them.

    Args:
        root: of the project.
        directory: for the header.
    """
    header = module_of(root, "relbase.scan.tables").header()
    (directory / "_tables.h").write_text(header, encoding="ascii", newline="\n")


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


def platform_tag() -> str:
    """Return the platform that what is built here runs on, as wheels name it."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
