"""Changes of one expression of the engine, and how they take effect in memory."""

from __future__ import annotations

import ast
import copy
import gc
import importlib.abc
import importlib.util
from collections import defaultdict
from functools import _lru_cache_wrapper
from itertools import permutations
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

ROOT: Final = Path(__file__).resolve().parents[1]
PAIRS: Final = "Eq NotEq,Is IsNot,Lt LtE,Gt GtE,In NotIn,And Or,Add Sub,BitAnd BitOr,Mult FloorDiv"
SWAPPED: Final = {
    getattr(ast, name): getattr(ast, other)
    for pair in PAIRS.split(",")
    for name, other in permutations(pair.split())
}
REACHED: Final = "__reached__"


class Mutant(NamedTuple):
    """A file, the number of its place among the file's, and what becomes of what."""

    path: Path
    site: int
    line: int
    text: str


# ---- changes


def mutated(node: ast.AST) -> ast.AST | None:
    """What becomes of an expression or a return; None for what stays."""
    node = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[op, *rest]) if type(op) in SWAPPED:
            node.ops = [SWAPPED[type(op)](), *rest]
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SWAPPED:
            node.op = SWAPPED[type(op)]()
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            node.value = ast.copy_location(ast.Constant(None), value)
        case _:
            return None
    return node


def sites(tree: ast.AST) -> Iterator[tuple[list[tuple[ast.AST, str, int]], ast.AST]]:
    """What may be changed, with the way to it: not annotations, nor what type checkers read."""
    for field, value in ast.iter_fields(tree):
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            is_unread = isinstance(node, ast.JoinedStr | ast.arguments) or (
                isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            )
            if not isinstance(node, ast.AST) or is_unread or field in {"returns", "annotation"}:
                continue
            step = (tree, field, index if isinstance(value, list) else -1)
            if (mutant := mutated(node)) is not None:
                yield [step], mutant
            for way, mutant in sites(node):
                yield [step, *way], mutant


def put(step: tuple[ast.AST, str, int], new: ast.AST) -> None:
    node, field, index = step
    if index < 0:
        setattr(node, field, new)
    else:
        getattr(node, field)[index] = new


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), path)


def changed(mutant: Mutant) -> CodeType:
    tree = tree_of(mutant.path)
    way, new = list(sites(tree))[mutant.site]
    put(way[-1], new)
    return compile(tree, mutant.path, "exec", dont_inherit=True)


def marked(path: Path, mutants: dict[int, int]) -> CodeType:
    """The code of a file that says which of its mutants (by their places) it comes to."""
    tree = tree_of(path)
    ways = [way for way, _ in sites(tree)]
    before: dict[int, list[ast.stmt]] = defaultdict(list)
    for site, number in mutants.items():
        statement = [step for step in ways[site] if isinstance(node_at(step), ast.stmt)][-1]
        before[id(node_at(statement))] += ast.parse(f"{REACHED}({number})").body
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                new = [one for stmt in value for one in (*before.get(id(stmt), ()), stmt)]
                setattr(node, field, new)
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def node_at(step: tuple[ast.AST, str, int]) -> ast.AST:
    node, field, index = step
    value: Any = getattr(node, field)
    found: ast.AST = value if index < 0 else value[index]
    return found


# ---- changes in memory

# A function as it stands in a file: that, the line of its `def`, its name.
Key = tuple[str, int, str]


def key_of(code: CodeType) -> Key:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def outer_functions(module: CodeType) -> Iterator[CodeType]:
    """The functions of a module and of its classes; what is inside of them comes with them."""
    for code in module.co_consts:
        if isinstance(code, CodeType):
            if code.co_flags & 2:  # it has locals of its own: a class body has not
                yield code
            else:
                yield from outer_functions(code)


def functions_by_key() -> dict[Key, list[FunctionType]]:
    found: dict[Key, list[FunctionType]] = defaultdict(list)
    gc.unfreeze()  # what is frozen is not listed
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(ROOT)):
            found[key_of(one.__code__)].append(one)
    return found


def differing(one: CodeType, other: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions that differ; None if something outside of functions does."""
    old, new = {key_of(c): c for c in outer_functions(one)}, list(outer_functions(other))
    pairs = [(old[key_of(code)], code) for code in new if old.get(key_of(code)) != code]
    return pairs or None


def is_exchangeable(old: CodeType, new: CodeType, known: dict[Key, list[FunctionType]]) -> bool:
    return key_of(old) in known and old.co_freevars == new.co_freevars


def replace(
    pairs: Sequence[tuple[CodeType, CodeType]], known: dict[Key, list[FunctionType]]
) -> None:
    """Exchange functions, wherever they are; what was remembered of them is forgotten."""
    for old, new in pairs:
        if is_exchangeable(old, new, known):
            for function in known[key_of(old)]:
                function.__code__ = new
    forget(gc.get_objects())


def forget(objects: Iterable[object]) -> None:
    for one in objects:
        if isinstance(one, _lru_cache_wrapper):
            one.cache_clear()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one file of the engine as a mutant."""

    def __init__(self, path: Path, code: CodeType) -> None:
        parts = path.relative_to(ROOT).with_suffix("").parts
        self._name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self._path, self._code = path, code

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != self._name:
            return None
        is_package = self._path.stem == "__init__"
        return importlib.util.spec_from_file_location(
            name,
            self._path,
            loader=self,
            submodule_search_locations=[str(self._path.parent)] if is_package else None,
        )

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)
