"""The examples in lxml's own documents about HTML, each a test: the documents are its tests."""

import doctest
from pathlib import Path
from typing import Any

import pytest
from lxml.doctestcompare import LHTMLOutputChecker


class Runner(doctest.DocTestRunner):
    """Fails the test of an example that prints something else."""

    def report_failure(self, _out: Any, _test: Any, example: Any, got: str) -> None:
        """Tell what was printed."""
        pytest.fail(self._checker.output_difference(example, got, self.optionflags))

    def report_unexpected_exception(self, _out: Any, _test: Any, _example: Any, error: Any) -> None:
        """Tell what was raised."""
        raise error[1]


def examples() -> Any:
    """Yield each example; those of a document run in order, with the same names."""
    for path in sorted(Path("src/lxml/html/tests").glob("*.txt")):
        # `usedoctest` sets the checker of the runner that it finds, which is there already.
        text = path.read_text("utf-8").replace("import usedoctest\n", "import tostring\n")
        text = text.replace("import usedoctest, ", "import ")
        names: dict[str, Any] = {}
        for example in doctest.DocTestParser().get_examples(text, path.name):
            yield pytest.param(example, names, id=f"{path.stem}:{example.lineno + 1}")


@pytest.mark.parametrize(("example", "names"), examples())
def test_example(example: Any, names: dict[str, Any]) -> None:
    """Run one."""
    test = doctest.DocTest([example], {}, "example", None, 0, None)
    test.globs = names
    Runner(LHTMLOutputChecker(), verbose=False).run(test, clear_globs=False)
