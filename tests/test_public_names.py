"""The public names and their signatures are those of public_names.txt: no change without notice.

After a change on purpose, with a line of CHANGELOG.md:

    python tests/test_public_names.py > tests/public_names.txt
"""

import enum
import inspect
import pickle
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

import relbase
import relbase.grammar
import relbase.trees
import relbase.warc
from relbase.session.options import Arguments

spark = pytest.importorskip("relbase.spark", exc_type=ImportError, reason="extra `spark`")
LISTED: Final = Path(__file__).with_name("public_names.txt")
PACKAGES: Final[tuple[ModuleType, ...]] = (
    relbase,
    relbase.grammar,
    relbase.trees,
    relbase.warc,
    spark,
)


def lines() -> Iterator[str]:
    for package in PACKAGES:
        for name in sorted(package.__all__):
            yield from _described(f"{package.__name__}.{name}", getattr(package, name))
    for name, type_ in Arguments.__annotations__.items():
        yield f"Arguments: {name}: {_plain(type_)}"


def _described(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, type) and issubclass(value, enum.Enum):
        yield f"class {name}: {', '.join(member.name for member in value)}"
    elif isinstance(value, type):
        yield f"class {name}{_signature(value)}"
        fields = inspect.signature(value).parameters
        for own, member in sorted(vars(value).items()):
            if not own.startswith("_") and own not in fields:
                yield from _member(f"{name}.{own}", member)
    elif callable(value):
        yield f"def {name}{_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _member(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, property):
        yield f"{name}: {inspect.signature(value.fget).return_annotation}"  # type: ignore[arg-type]
    elif inspect.isfunction(value):
        yield f"def {name}{_signature(value)}"
    else:
        yield name


def _signature(value: Any) -> str:
    """The signature as it is written, and of defaults what a reader of it would write."""
    signature = inspect.signature(value)
    shown = [
        one.replace(default=_Written()) if isinstance(one.default, relbase.Policy) else one
        for one in signature.parameters.values()
    ]
    return _plain(str(signature.replace(parameters=shown)))


class _Written:
    def __repr__(self) -> str:
        return "Policy()"


def _plain(text: object) -> str:
    written = re.sub(r"ForwardRef\(('[^']*'|\"[^\"]*\")\)", r"\1", str(text))
    return re.sub(r"<function .*? at \w+>", "...", written)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="annotations are shown otherwise")
def test_the_public_names_are_those_that_are_listed() -> None:
    listed = LISTED.read_text("utf-8").splitlines()
    assert len(listed) > 60
    assert list(lines()) == listed, f"after a change on purpose: {__doc__}"


PAGE: Final = relbase.rewrite(b"<base href=s/><a href=x>", url="http://h.example/")
VALUES: Final[dict[str, Any]] = {
    "Base": PAGE.base,
    "Components": relbase.grammar.split("http://h/"),
    "Edit": PAGE.edits[0],
    "Entity": next(relbase.entities(b"<p>", url="http://h/")),
    "Link": PAGE.links[0],
    "Note": relbase.rewrite(b"<a href=x>").notes[0],
    "Policy": relbase.Policy(keep=re.compile("x"), extended=True),
    "Resolver": relbase.Resolver("http://h/", "whatwg"),
    "Result": PAGE,
    "Rewriter": relbase.Rewriter("http://h/", kind="html"),
    "Span": PAGE.links[0].span,
    "Step": relbase.Resolver("http://h/").steps("x")[0],
    "Url": relbase.grammar.parse_url("http://h/"),
    "Violation": relbase.grammar.violations("http://h/{")[0],
}


def test_all_values_are_here() -> None:
    public = [getattr(package, name) for package in PACKAGES[:2] for name in package.__all__]
    classes = [value for value in public if isinstance(value, type)]
    assert {kind.__name__ for kind in classes if not issubclass(kind, enum.Enum)} == VALUES.keys()


@pytest.mark.parametrize("name", VALUES)
def test_a_value_can_be_compared_hashed_pickled_and_read(name: str) -> None:
    value = VALUES[name]
    again = pickle.loads(pickle.dumps(value))
    assert again == value
    assert hash(again) == hash(value)
    assert value != object()
    assert repr(value).startswith(f"{name}(")
    assert len(repr(value)) < 1000
    field = next(iter(inspect.signature(type(value)).parameters))
    with pytest.raises(AttributeError):
        setattr(value, field, None)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines())
