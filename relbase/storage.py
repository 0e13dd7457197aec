"""Archives wherever they are: files, and objects in the stores that pyarrow's filesystems know."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import Any, BinaryIO, Final, cast

from relbase.expressions import regex

_scheme: Final = regex(r"([A-Za-z][A-Za-z0-9+.-]*)://").match

# Schemes, and what pyarrow calls them.
_KNOWN: Final = {"file": "file", "s3": "s3", "s3a": "s3", "gs": "gs", "hdfs": "hdfs"}


def is_url(path: str) -> bool:
    """Return whether a path has a scheme, as s3://bucket/x.warc.gz has."""
    return _scheme(path) is not None


def refuse_unknown(paths: Iterable[str], fix: str) -> None:
    """Refuse paths with a scheme that nothing here opens: ValueError with the fix."""
    for path in paths:
        found = _scheme(path)
        if found is not None and found[1].lower() not in _KNOWN:
            known = ", ".join(f"{one}://" for one in _KNOWN)
            raise ValueError(f"cannot open {found[0]} ({path[:80]!r}): {fix}, or one of {known}")
        if found is not None:
            _filesystem(path)


def open_archive(path: str) -> BinaryIO:
    """Open an archive by its path, for reading and seeking; OSError where that fails."""
    if not is_url(path):
        return open(path, "rb")  # noqa: PTH123 (a path of the user's; who asked closes it)
    filesystem, name = _filesystem(path)
    return cast("BinaryIO", filesystem.open_input_file(name))


def state_of(path: str) -> tuple[int, int]:
    """Return the size of a file or an object, and when it was changed; raise OSError for none."""
    if not is_url(path):
        status = os.stat(path)  # noqa: PTH116
        return status.st_size, status.st_mtime_ns
    filesystem, name = _filesystem(path)
    found = filesystem.get_file_info(name)
    if not found.is_file:
        raise FileNotFoundError(f"{path} is not there")
    return found.size, found.mtime_ns or 0


def make_directory(path: str) -> None:
    """Make a directory and those above it; an object store has none."""
    if is_url(path):
        filesystem, name = _filesystem(path)
        if filesystem.type_name in ("local", "hdfs"):
            filesystem.create_dir(name)
    else:
        os.makedirs(path, exist_ok=True)  # noqa: PTH103


def join(directory: str, name: str) -> str:
    """Return the path of a name in a directory, or below a prefix of objects, before its query."""
    if not is_url(directory):
        return os.path.join(directory, name)  # noqa: PTH118
    place, mark, query = directory.partition("?")
    return f"{place.rstrip('/')}/{name}{mark}{query}"


def is_same(path: str, other: str) -> bool:
    """Return whether two paths are of one file."""
    if is_url(path) or is_url(other):
        return _plain(path) == _plain(other)
    with suppress(OSError, ValueError):  # it need not be a file here
        if os.path.samefile(path, other):  # noqa: PTH121
            return True
    return os.path.abspath(path) == os.path.abspath(other)  # noqa: PTH100


def _plain(path: str) -> str:
    found = _scheme(path)
    if found is None or found[1].lower() == "file":
        return os.path.abspath(path[found.end() :] if found else path)  # noqa: PTH100
    return f"{_KNOWN.get(found[1].lower(), found[1])}://{path[found.end() :].partition('?')[0]}"


# What the files of attempts end with, until they are finished.
TEMPORARY: Final = ".relbase-tmp"


def sweep(directory: str, names: Container[str]) -> None:
    """Remove what killed attempts at outputs of these names have left in a directory."""
    if is_url(directory):
        return
    with suppress(OSError):
        for entry in os.scandir(directory):
            found = _attempt(entry.name)
            if found and found[1] in names:
                os.unlink(entry.path)  # noqa: PTH108


_attempt: Final = regex(rf"\.(.+?\.warc\.gz)\..*{re.escape(TEMPORARY)}").fullmatch


def put(made: str, path: str) -> None:
    """Give a finished file its path, whatever has it now; after OSError nothing of it is there."""
    if not is_url(path):
        os.replace(made, path)  # noqa: PTH105
        return
    from shutil import copyfileobj  # noqa: PLC0415 (start-up time)

    filesystem, name = _filesystem(path)
    # Where a rename replaces, a name is given in one step.
    renames = filesystem.type_name in ("local", "hdfs")
    first = f"{name}{TEMPORARY}" if renames else name
    try:
        # An upload is complete when its stream is closed, also after an error: its size tells.
        # Without `compression` a name that ends in .gz is compressed once more.
        with (
            open(made, "rb") as file,  # noqa: PTH123
            filesystem.open_output_stream(first, compression=None) as stream,
        ):
            copyfileobj(file, stream, 1 << 22)
        size = os.path.getsize(made)  # noqa: PTH202
        if filesystem.get_file_info(first).size != size:
            raise OSError(f"{path}: the upload is incomplete")  # noqa: TRY301
        if renames:
            filesystem.move(first, name)
    except BaseException:
        with suppress(OSError):
            filesystem.delete_file(first)
        raise
    os.unlink(made)  # noqa: PTH108


def _filesystem(path: str) -> tuple[Any, str]:
    found = _scheme(path)
    assert found is not None
    try:
        from pyarrow import fs  # noqa: PLC0415 (of the extra `warc`)
    except ImportError:
        text = f"the package pyarrow is needed to open {found[0]}: pip install 'relbase[warc]'"
        raise ValueError(text) from None
    try:
        made: tuple[Any, str] = fs.FileSystem.from_uri(
            f"{_KNOWN[found[1].lower()]}://{path[found.end() :]}"
        )
    except (OSError, ValueError, NotImplementedError) as error:
        why = str(error).partition("\n")[0].partition(". Detail:")[0][:300]
        if found[1].lower() == "hdfs":
            why += "; hdfs:// needs libhdfs and the CLASSPATH of Hadoop (ARROW_LIBHDFS_DIR)"
        raise ValueError(f"{path[:80]!r} cannot be opened: {why}") from None
    return made
