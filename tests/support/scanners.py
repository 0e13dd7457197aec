"""The ways in which a document can be read, which must all give the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

import relbase
from relbase import Link, Result
from relbase.html import tokens
from relbase.scan import binding

# The exact one that passes over nothing.
EACH_TOKEN: Final = "each token"
# The compiled one is there when it was built, and RELBASE_SCANNER is not `exact`.
SCANNERS: Final = tuple(dict.fromkeys((EACH_TOKEN, binding.EXACT, relbase.scanner)))


@contextmanager
def scanning(name: str) -> Iterator[None]:
    """Read by one of `SCANNERS`."""
    with pytest.MonkeyPatch.context() as patch:
        if name != binding.COMPILED:
            patch.setattr(binding, "compiled", None)
        if name == EACH_TOKEN:
            patch.setattr(tokens, "skipping", lambda **_: _pass_over_nothing)
        yield


def _pass_over_nothing(_text: bytes, pos: int, *_: object) -> tuple[list[object], int]:
    return [], pos


def seen(result: Result) -> tuple[object, ...]:
    """All that a caller sees of a result."""
    return result.data, result.edits, result.notes, result.base, result.links


def _read_by_each(
    data: bytes, names: tuple[str, ...], **call: object
) -> Iterator[tuple[str, Result]]:
    for name in names:
        with scanning(name):
            result = relbase.rewrite(data, **call)  # type: ignore[arg-type]
            _ = result.links  # computed now, and by this scanner
        yield name, result


def result_of_each(
    data: bytes, names: tuple[str, ...] = SCANNERS, **call: object
) -> dict[str, tuple[object, ...]]:
    """What each scanner makes of a document: `seen`, by name."""
    return {name: seen(result) for name, result in _read_by_each(data, names, **call)}


def assert_agreed(data: bytes, **call: object) -> Result:
    """Assert that all scanners agree, and that what is listed as rewritten is what is rewritten."""
    (_, result), *others = _read_by_each(data, SCANNERS, **call)
    for name, other in others:
        assert seen(other) == seen(result), (name, data)
    listed = [link for link in result.links if link.status is relbase.Status.REWRITTEN]
    assert len(listed) == len(result.edits), data
    for link, edit in zip(listed, result.edits, strict=True):
        assert _within(link, edit), (link, edit)
    return result


def _within(link: Link, edit: relbase.Edit) -> bool:
    """Whether an edit changes a link alone: an empty value may get its quotes as well."""
    return link.span.start <= edit.start and edit.end <= link.span.end
