"""Policies that end their process, as a record may that nobody foresaw."""

import os
import signal
from pathlib import Path
from typing import BinaryIO

from relbase import Policy


class Always(Policy):
    """Ends the process at a reference `poison`."""

    def keeps(self, reference: str) -> bool:
        if reference == "poison":
            os.kill(os.getpid(), signal.SIGKILL)
        return False


class Once(Policy):
    """Ends the process at `poison`, the first time: the file that the environment names says so."""

    def keeps(self, reference: str) -> bool:
        flag = Path(os.environ["RELBASE_TEST_FLAG"])
        if reference == "poison" and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return False


class Forever(Policy):
    """Takes all the memory at `poison`."""

    def keeps(self, reference: str) -> bool:
        if reference == "poison":
            taken = []
            while True:
                taken.append(bytes(1 << 28))
        return False


def broken(path: str) -> BinaryIO:
    """Open an archive, or raise what openers do."""
    if "b.warc" in path:
        raise LookupError("no such object")
    return open(path, "rb")  # noqa: PTH123 (who asked closes it)
