r"""What is different on Windows: names, wildcards, quoting, and files that are open.

A file that any program has open can neither be replaced nor removed there, unless that program
allows it, and few do. Names are the same in any case, some belong to devices, and a path on
another drive is not relative to this one. Shells expand no wildcards.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from relbase.expressions import expression

_Value = TypeVar("_Value")

HERE: bool = os.name == "nt"  # tests change it, and on other systems drives stay unknown

# How long virus scanners and indexers keep a new file open, in seconds.
PATIENCE: float = 1.0


def patiently(call: Callable[[], _Value]) -> _Value:
    """Replace or remove a file: again and again for a moment if another program has it open."""
    until = time.monotonic() + PATIENCE if HERE else 0.0
    while True:
        try:
            return call()
        except PermissionError:
            if time.monotonic() >= until:
                raise
        time.sleep(0.05)


# ---- paths

_LONGEST: Final = 247  # of the path of a directory, in characters (CreateDirectory)


def has_drives() -> bool:
    return os.sep == "\\"


_verbatim: Final = expression(r"\\\\\?\\(?:(UNC\\)|(?=[A-Za-z]:))", re.IGNORECASE)


def plain(path: str) -> str:
    r"""Return a path without `\\?\` before its drive or server."""
    start = _verbatim.match(path) if has_drives() else None
    return path if start is None else ("\\\\" if start[1] else "") + path[start.end() :]


def reached(path: str) -> str:
    r"""Return a path for system calls: a long one with the `\\?\` that lifts their limit."""
    if not has_drives() or len(path) <= _LONGEST - len(os.getcwd()):
        return path
    whole = os.path.abspath(path)
    if len(whole) <= _LONGEST or whole.startswith("\\\\?\\"):
        return path
    return f"\\\\?\\UNC\\{whole[2:]}" if whole.startswith("\\\\") else f"\\\\?\\{whole}"


def relative(path: str, start: str) -> str | None:
    """Return a path as it is from a directory; None if it is on another drive."""
    try:
        return os.path.relpath(plain(path), plain(start))
    except ValueError:
        return None


def is_junction(status: os.stat_result) -> bool:
    """Return whether a directory is another one, as if by a symbolic link."""
    tag = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)
    return tag is not None and getattr(status, "st_reparse_tag", 0) == tag


# ---- names

# CreateFile, "Naming Files, Paths, and Namespaces": also with any suffix, and spaces before it.
_device: Final = expression(
    r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\xb9\xb2\xb3])[ ]*(?:[.:].*)?",
    re.IGNORECASE | re.DOTALL,
)
_forbidden: Final = expression(r'[<>:"|?*\x00-\x1f]|[. ]\Z')


def key(name: str) -> str:
    """Return what equal names of a file have in common."""
    return os.path.normcase(os.path.normpath(plain(name)))


def is_null(path: str) -> bool:
    return HERE and path.upper() == "NUL"


def why_refused(names: Iterable[str]) -> str | None:
    """Return why a file cannot have a name, or be in directories of these names; None if it can."""
    for name in names if HERE else ():
        if _device.fullmatch(name):
            return "Windows reserves the name for a device"
        if (match := _forbidden.search(name)) is not None:
            where = "at the end of a name" if match[0] in {".", " "} else "in a name"
            return f"Windows allows no {match[0]!a} {where}"
    return None


def expanded(names: Iterable[str]) -> list[str]:
    """Return file names with wildcards expanded, as shells do everywhere else."""
    from glob import glob

    paths: list[str] = []
    for name in names:
        is_pattern = ("*" in name or "?" in name) and "://" not in name
        # cmd knows no [...], so a bracket is a part of the name.
        pattern = plain(name).replace("[", "[[]")
        paths += (sorted(glob(pattern)) if is_pattern else []) or [name]
    return paths


def decoded(name: bytes) -> str:
    """Return a file name as text, whatever its bytes are (`os.fsdecode` raises on Windows)."""
    return name.decode("utf-8", "surrogateescape") if HERE else os.fsdecode(name)


# ---- commands for people

_bare: Final = expression(r"[\w@+=:,./\\-]+", re.ASCII)


def quoted(words: Sequence[str]) -> str:
    """Join the words of a command for cmd and PowerShell: both know double quotes."""
    return " ".join(word if _bare.fullmatch(word) else _in_quotes(word) for word in words)


def _in_quotes(word: str) -> str:
    # As programs read it: backslashes before a quote are doubled, and the quote gets one.
    inner = re.sub(r'(\\*)"', r'\1\1\\"', word)
    end = len(inner) - len(inner.rstrip("\\"))
    return f'"{inner}{inner[len(inner) - end :]}"'
