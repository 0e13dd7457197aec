"""Mutants of the engine: does a test fail for each?

`python tests/mutants.py [--count 600] [--seed 1] [--of view,url]` changes one expression of a file
at a time, in a copy of the repository, and runs the tests that mirror that file, then those that
see whole results. A survivor is printed: it wants a row of a table, or means the same.
"""

from __future__ import annotations

import argparse
import ast
import copy
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = "references,rewriting,bases,url,view,mail,containers"
WHOLE: Final = ("test_fixtures.py", "test_one_row.py", "test_laws.py", "test_policy.py")
PATIENCE: Final = 500  # seconds: a mutant that takes longer is killed
PAIRS: Final = "Eq NotEq,Is IsNot,Lt LtE,Gt GtE,In NotIn,And Or,Add Sub,BitAnd BitOr,Mult FloorDiv"
SWAPPED: Final = {
    getattr(ast, name): getattr(ast, other)
    for pair in PAIRS.split(",")
    for name, other in permutations(pair.split())
}


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
            node.value = ast.Constant(None)
        case _:
            return None
    return node


def sites(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What may be changed: not annotations, text in f-strings or what type checkers alone read."""
    for field, value in ast.iter_fields(tree):
        for node in value if isinstance(value, list) else [value]:
            is_unread = isinstance(node, ast.JoinedStr | ast.arguments) or (
                isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            )
            if not isinstance(node, ast.AST) or is_unread or field in {"returns", "annotation"}:
                continue
            if (mutant := mutated(node)) is not None:
                yield node, mutant
            yield from sites(node)


def spliced(source: bytes, node: ast.AST, mutant: ast.AST) -> bytes:
    lines = source.splitlines(keepends=True)
    assert isinstance(node, ast.expr | ast.stmt)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: (node.end_lineno or 0) - 1])) + (node.end_col_offset or 0)
    text = ast.unparse(mutant).encode()
    return source[:start] + (text if isinstance(node, ast.stmt) else b"(%b)" % text) + source[end:]


def tests_of(path: Path, root: Path) -> list[list[str]]:
    """The tests that name a module, then those of its folder and those that see whole results."""
    package = path.relative_to(root / "relbase").parts[0]
    module = f"{path.parent.name}.{path.stem}"
    near = [
        str(test)
        for test in sorted((root / "tests" / package).glob("test_*.py"))
        if test.stem == "test_console"
        or path.stem in test.stem
        or module in test.read_text("utf-8")
    ]
    whole = [str(root / "tests" / name) for name in dict.fromkeys((package, *WHOLE))]
    return [near, whole] if near else [whole]


def fails(tests: Sequence[str], root: Path) -> bool:
    child = multiprocessing.get_context("fork").Process(target=_judge, args=(tests, root))
    child.start()
    child.join(PATIENCE)
    child.kill()
    child.join()
    assert child.exitcode in {0, 1, 2, -signal.SIGKILL}, child.exitcode  # tests did run
    return child.exitcode != 0


def _judge(tests: Sequence[str], root: Path) -> None:
    os.chdir(root)
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    os.environ["PYTHONPATH"] = str(root)
    flags = f"-x -q -n0 -pno:cacheprovider --basetemp={root}/t -k".split()
    os._exit(pytest.main([*flags, "not growth and not linear and not memory", *tests]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"--count": 600, "--seed": 1, "--of": PACKAGES}.items():
        parser.add_argument(name, type=type(default), default=default)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="relbase-mutants-") as name:
        root = Path(name)
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".*", "t"), dirs_exist_ok=True)
        engine = root / "relbase"
        paths = [path for name in arguments.of.split(",") for path in (engine / name).rglob("*.py")]
        found = [(p, *site) for p in sorted(paths) for site in sites(ast.parse(p.read_bytes()))]
        chosen = random.Random(arguments.seed).sample(found, min(arguments.count, len(found)))
        killed, sound = 0, set[str]()
        for number, (path, node, mutant) in enumerate(chosen, 1):
            is_killed = False
            for tests in tests_of(path, root):
                source = path.read_bytes()
                path.write_bytes(spliced(source, node, mutant))
                is_killed = fails(tests, root)
                path.write_bytes(source)
                if is_killed and str(tests) not in sound:
                    assert not fails(tests, root), tests
                    sound.add(str(tests))
                if is_killed:
                    break
            killed += is_killed
            if not is_killed:
                where = f"{path.relative_to(root)}:{getattr(node, 'lineno', 0)}"
                print(f"{where}: {ast.unparse(node)} -> {ast.unparse(mutant)}")
            if number % 10 == 0:
                print(f"{killed} of {number} killed", flush=True)


if __name__ == "__main__":
    main()
