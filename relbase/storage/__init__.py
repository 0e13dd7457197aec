"""Opening and writing archives: files, and objects in the stores that pyarrow supports."""

import os
import re
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import Any, BinaryIO, Final, cast

from relbase.expressions import regex
from relbase.url.credentials import masked

_scheme: Final = regex(r"([A-Za-z][A-Za-z0-9+.-]*)://").match

_wildcard: Final = regex(r"[*[]").search

# Schemes, and pyarrow's names for them.
_KNOWN: Final = {"file": "file", "s3": "s3", "s3a": "s3", "gs": "gs", "hdfs": "hdfs"}


def is_url(path: str) -> bool:
    """Return whether a path has a scheme, as s3://bucket/x.warc.gz has."""
    return _scheme(path) is not None


def refuse_unknown(paths: Iterable[str], fix: str) -> None:
    """Raise ValueError, with the fix in its text, if the scheme of a path cannot be opened."""
    for path in paths:
        scheme = _scheme(path)
        if scheme is not None and scheme[1].lower() not in _KNOWN:
            known = ", ".join(f"{name}://" for name in _KNOWN)
            raise ValueError(
                f"cannot open {scheme[0]} ({masked(path)[:80]!r}): {fix}, or one of {known}"
            )
        if scheme is not None:
            _filesystem(path)


def open_archive(path: str) -> BinaryIO:
    """Open an archive by its path, for reading and seeking; raise OSError if that fails."""
    if not is_url(path):
        return open(path, "rb")  # noqa: PTH123 (a path of the user's; the caller closes it)
    filesystem, name = _filesystem(path)
    return cast("BinaryIO", filesystem.open_input_file(name))


def objects(path: str) -> list[str] | None:
    """Return the objects below a prefix (s3://bucket/crawl/) or of a pattern (s3://bucket/*.gz).

    Return None for any other path. The query of the path is that of each object.

    Raises:
        OSError: If the store cannot be read.
        ValueError: If the scheme cannot be opened, with the fix in its text.
    """
    place, mark, query = path.partition("?")
    wildcard = _wildcard(place)
    if not is_url(path) or not (wildcard or place.endswith("/")):
        return None
    start = place[: place.rfind("/", 0, wildcard.start()) + 1] if wildcard else place
    directory = f"{start}{mark}{query}"
    refuse_unknown([directory], "give the names of the archives")
    filesystem, name = _filesystem(directory)
    from pathlib import PurePosixPath

    from pyarrow import fs  # of the extra `warc`

    below = name.rstrip("/")
    before = start.rstrip("/").removesuffix(below)
    pattern = f"/{below}/{place[len(start) :]}"
    infos = filesystem.get_file_info(fs.FileSelector(below, recursive=True))
    return sorted(
        f"{before}{info.path}{mark}{query}"
        for info in infos
        if info.is_file and (not wildcard or PurePosixPath(f"/{info.path}").match(pattern))
    )


def state_of(path: str) -> tuple[int, int]:
    """Return the size of a file or an object, and when it changed; OSError if it does not exist."""
    if not is_url(path):
        status = os.stat(path)  # noqa: PTH116
        return status.st_size, status.st_mtime_ns
    filesystem, name = _filesystem(path)
    info = filesystem.get_file_info(name)
    if not info.is_file:
        raise FileNotFoundError(f"{masked(path)} is not there")
    return info.size, info.mtime_ns or 0


def make_directory(path: str) -> None:
    """Make a directory and its parents; object stores have no directories."""
    if is_url(path):
        filesystem, name = _filesystem(path)
        if filesystem.type_name in ("local", "hdfs"):
            filesystem.create_dir(name)
    else:
        os.makedirs(path, exist_ok=True)  # noqa: PTH103


def join(directory: str, name: str) -> str:
    """Return the path of a name in a directory, or below an object prefix and before its query."""
    if not is_url(directory):
        return os.path.join(directory, name)  # noqa: PTH118
    place, mark, query = directory.partition("?")
    return f"{place.rstrip('/')}/{name}{mark}{query}"


def is_same(path: str, other: str) -> bool:
    """Return whether two paths lead to the same file."""
    if is_url(path) or is_url(other):
        return _plain(path) == _plain(other)
    with suppress(OSError, ValueError):  # a file may be missing
        if os.path.samefile(path, other):  # noqa: PTH121
            return True
    return os.path.abspath(path) == os.path.abspath(other)  # noqa: PTH100


def _plain(path: str) -> str:
    scheme = _scheme(path)
    if scheme is None or scheme[1].lower() == "file":
        return os.path.abspath(path[scheme.end() :] if scheme else path)  # noqa: PTH100
    return f"{_KNOWN.get(scheme[1].lower(), scheme[1])}://{path[scheme.end() :].partition('?')[0]}"


# The suffix of output files until they are finished.
TEMPORARY: Final = ".relbase-tmp"


def sweep(directory: str, names: Container[str]) -> None:
    """Remove what killed runs left in a directory while they wrote outputs of these names."""
    if is_url(directory):
        return
    with suppress(OSError):
        for entry in os.scandir(directory):
            attempt = _attempt(entry.name)
            if attempt and attempt[1] in names:
                os.unlink(entry.path)  # noqa: PTH108


_attempt: Final = regex(rf"\.(.+?\.warc\.gz)\..*{re.escape(TEMPORARY)}").fullmatch


def put(made: str, path: str) -> None:
    """Move a finished file to its path, replacing any other; on OSError no part of it is there."""
    if not is_url(path):
        os.replace(made, path)  # noqa: PTH105
        return
    from shutil import copyfileobj

    filesystem, name = _filesystem(path)
    # If a rename can replace a file, upload under another name first: the last step is atomic.
    renames = filesystem.type_name in ("local", "hdfs")
    first = f"{name}{TEMPORARY}" if renames else name
    try:
        # Closing the stream ends the upload, even after an error: so compare the size.
        # Without `compression=None` pyarrow would compress a file named .gz again.
        with (
            open(made, "rb") as file,  # noqa: PTH123
            filesystem.open_output_stream(first, compression=None) as stream,
        ):
            copyfileobj(file, stream, 1 << 22)
        size = os.path.getsize(made)  # noqa: PTH202
        if filesystem.get_file_info(first).size != size:
            raise OSError(f"{masked(path)}: the upload is incomplete")  # noqa: TRY301
        if renames:
            filesystem.move(first, name)
    except BaseException:
        with suppress(OSError):
            filesystem.delete_file(first)
        raise
    os.unlink(made)  # noqa: PTH108


def _filesystem(path: str) -> tuple[Any, str]:
    scheme = _scheme(path)
    assert scheme is not None
    try:
        from pyarrow import fs  # of the extra `warc`
    except ImportError:
        text = f"the package pyarrow is needed to open {scheme[0]}: pip install 'relbase[warc]'"
        raise ValueError(text) from None
    try:
        made: tuple[Any, str] = fs.FileSystem.from_uri(
            f"{_KNOWN[scheme[1].lower()]}://{path[scheme.end() :]}"
        )
    except (OSError, ValueError, NotImplementedError) as error:
        why = str(error).partition("\n")[0].partition(". Detail:")[0][:300]
        if scheme[1].lower() == "hdfs":
            why += "; hdfs:// needs libhdfs and the CLASSPATH of Hadoop (ARROW_LIBHDFS_DIR)"
        raise ValueError(f"{masked(path)[:80]!r} cannot be opened: {why}") from None
    return made
