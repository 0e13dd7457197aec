"""The tests of feedparser, which a script makes of files and runs: pytest gets their classes."""

import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from unittest import TestSuite

sys.path.insert(0, "tests")
import runtests


class Collector:
    """Stands for what would run the tests."""

    def __init__(self, **_: Any) -> None:
        pass

    def run(self, suite: TestSuite) -> Any:
        """Keep the class of each test, for pytest to find."""
        globals().update({type(test).__name__: type(test) for kind in suite for test in kind})
        return SimpleNamespace(wasSuccessful=lambda: True)


def made(file: str, *how: Any) -> Any:
    """Return the test of a file, which remembers it."""
    test = _make(file, *how)
    test.file = file.partition("tests/")[2]
    return test


_make, runtests.build_test_case = runtests.build_test_case, made
_glob = runtests.glob.glob
runtests.glob = SimpleNamespace(glob=lambda pattern: sorted(_glob(pattern)))
runtests.unittest.TextTestRunner = Collector
with suppress(SystemExit):
    runtests.runtests()
for kind in [value for value in globals().values() if isinstance(value, type)]:
    for name, test in list(vars(kind).items()):
        if file := getattr(test, "file", ""):
            delattr(kind, name)
            setattr(kind, f"test_{file}", test)
