"""What the playground of the documentation is made of: Python for the browser, and relbase.

Strategy: `pyodide`, a package of npm, is CPython as WebAssembly. Its tarball is taken by `npm pack`
in one exact version, held against a digest that stands here, and kept in `.cache/`. Beside it go
relbase's own pure wheel, built from this tree, and the one package that a pure relbase needs. The
site serves them with its page, and loads nothing from elsewhere.

To mind: the first build needs npm and the network; `python -m tools.playground` fetches what it
needs. RELBASE_PYODIDE names a tarball that is there already; RELBASE_PLAYGROUND=0 leaves the
playground out.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Final

from tools.commands import ROOT, ToolError
from tools.wheels import PURE, make

CACHE: Final = ROOT / ".cache"

VERSION: Final = "314.0.7"  # Python 3.14
# sha512 of the tarball, as `npm view pyodide@VERSION dist.integrity` prints it.
INTEGRITY: Final = (
    "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyM"
    "cWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)

# What a browser loads of it. The rest is for programs in Node, and pages of its own.
_SERVED: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_LOCK: Final = "pyodide-lock.json"
_FETCH_SECONDS: Final = 600

# What relbase imports of others when it is pure and without its command line. `ada-url`, which
# profile whatwg needs, is compiled: in the browser that profile is an error that names it.
_NEEDED: Final = ("webencodings",)

_INSTEAD: Final = "or leave it out of the documentation with RELBASE_PLAYGROUND=0"


class PlaygroundError(ToolError):
    """A part of the playground is missing; the text says what to do."""


def wanted() -> bool:
    """Tell whether the documentation is to hold the playground."""
    return os.environ.get("RELBASE_PLAYGROUND", "") != "0"


def files() -> dict[str, bytes]:
    """Return the files of the playground by the names that they are served under.

    Raises:
        PlaygroundError: if one of them is missing.
    """
    found = {f"pyodide/{name}": data for name, data in _core(tarball()).items()}
    found["python/relbase.whl"] = _wheel()
    for name in _NEEDED:
        found[f"python/{name}.zip"] = _installed(name)
    return found


def tarball(*, fetch: bool = True) -> bytes:
    """Return the package of npm.

    Args:
        fetch: whether npm is asked for it where an earlier build has not kept it.

    Raises:
        PlaygroundError: if it is missing, or is another.
    """
    named = os.environ.get("RELBASE_PYODIDE")
    path = Path(named) if named else CACHE / f"pyodide-{VERSION}.tgz"
    if fetch and not named and not path.is_file():
        _fetch(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PlaygroundError(f"the playground needs {path}: {error}, {_INSTEAD}") from None
    digest = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    if digest != INTEGRITY:
        if not named:
            path.unlink()
        raise PlaygroundError(f"{path} is not pyodide {VERSION}: its digest is {digest}")
    return data


def _fetch(path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise PlaygroundError(f"the playground needs npm: install it, {_INSTEAD}")
    path.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as directory:
        command = [npm, "pack", "--silent", f"pyodide@{VERSION}", "--pack-destination", directory]
        try:
            ran = subprocess.run(
                command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise PlaygroundError(
                f"npm pack pyodide@{VERSION} takes too long, {_INSTEAD}"
            ) from None
        packed = list(Path(directory).glob("*.tgz"))
        if ran.returncode or len(packed) != 1:
            said = ran.stderr.strip() or ran.stdout.strip()
            raise PlaygroundError(
                f"npm pack pyodide@{VERSION} failed: {said}\ntry again with a network, {_INSTEAD}"
            )
        packed[0].replace(path)


def _core(tarball: bytes) -> dict[str, bytes]:
    """The files that a browser loads, and a list of packages that has none: nothing is fetched."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        for name in (*_SERVED, _LOCK):
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            found[name] = member.read()
    lock = json.loads(found[_LOCK])
    found[_LOCK] = json.dumps({"info": lock["info"], "packages": {}}).encode()
    return found


def _wheel() -> bytes:
    """The pure wheel of relbase, as it is published."""
    with tempfile.TemporaryDirectory() as directory:
        return make(PURE, Path(directory)).read_bytes()


def _installed(name: str) -> bytes:
    """A pure package as it is installed here, with its metadata and licence."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(metadata.files(name) or ()):
            path = Path(str(file.locate()))
            if path.suffix != ".pyc" and ".." not in file.parts and path.is_file():
                # Not its time: equal builds are equal.
                archive.writestr(zipfile.ZipInfo(str(file)), path.read_bytes())
    return packed.getvalue()


if __name__ == "__main__":
    try:
        tarball()
    except ToolError as problem:
        sys.exit(f"{problem}")
