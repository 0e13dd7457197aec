"""Inputs and outputs in object stores, by their URLs: s3://, gs://, hdfs://."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from relbase import storage
from relbase.cli.streams import OutputError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_object(name: str) -> bool:
    """Return whether a name is a URL, and of no file."""
    return storage.is_url(name) and not os.path.lexists(name)


@contextmanager
def uploaded(*outputs: str) -> Iterator[list[str]]:
    """Yield the files to write outputs to; those of objects are uploaded when all are complete.

    Raises:
        click.UsageError: if nothing opens an output.
        OutputError: if one cannot be uploaded.
    """
    objects = [output for output in outputs if is_object(output)]
    names = {output: output.partition("?")[0].rpartition("/")[2] for output in objects}
    for output, name in names.items():
        if not name:
            raise click.UsageError(f"{printable(output)} names no object: give a name behind it")
    try:
        storage.refuse_unknown(objects, "give a file")
    except ValueError as error:
        raise click.UsageError(printable(str(error))) from None
    with ExitStack() as stack:
        files = {}
        for output in objects:
            from tempfile import TemporaryDirectory  # noqa: PLC0415 (start-up time)

            directory = stack.enter_context(TemporaryDirectory(prefix="relbase-"))
            files[output] = os.path.join(directory, names[output])  # noqa: PTH118
        yield [files.get(output, output) for output in outputs]
        for output, made in files.items():
            if not os.path.exists(made):  # noqa: PTH110 (an input that failed has no output)
                continue
            try:
                storage.put(made, output)
            except OSError as error:
                raise OutputError(f"{printable(output)}: {error.strerror or error}") from None
