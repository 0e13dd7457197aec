"""Mutants of the engine: does a test fail for each?

`python tests/mutants.py [--count 600] [--seed 1] [--of view,url]` changes one expression of a file
at a time, in memory, and runs the tests of its folder and those that see whole results: those that
come to the expression, the quickest first, until one fails. A survivor is printed: it wants a row
of a table, or means the same. `--only 12,40` judges mutants by their numbers.
"""

from __future__ import annotations

import argparse
import ast
import gc
import multiprocessing
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from functools import _lru_cache_wrapper
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from mutations import (
    REACHED,
    ROOT,
    Finder,
    Key,
    Mutant,
    changed,
    differing,
    forget,
    functions_by_key,
    is_exchangeable,
    marked,
    node_at,
    replace,
    sites,
    tree_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import FunctionType

PACKAGES: Final = "references,rewriting,bases,url,view,mail,containers"
WHOLE: Final = (
    *("test_fixtures.py", "test_one_row.py", "test_laws.py", "test_policy.py"),
    *("test_limits.py", "test_whole.py", "test_api.py", "test_rules.py"),
    "opening/test_door.py",  # what a file is by its bytes
)
# In seconds: a test may take this and ten times what it takes unchanged; and all tests of a mutant.
PATIENCE, ENOUGH = 5, 120
# What takes long, and says nothing of a single expression.
_SLOW: Final = "growth", "linear", "memory", "process", "threads"


class Judge:
    """A plugin that runs something else in the place of the tests that were collected."""

    def __init__(self, run: Callable[[pytest.Session], object]) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        few_examples()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            self._run(session)
        except Exception:  # noqa: BLE001 (pytest would print it into nothing)
            traceback.print_exc()
            os._exit(1)
        return True


class Failures:
    def __init__(self) -> None:
        self.count = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.count += report.failed


def tests_of(packages: Sequence[str]) -> list[str]:
    return [str(ROOT / "tests" / name) for name in (*packages, *WHOLE)]


def session(tests: Sequence[str], run: Callable[[pytest.Session], object]) -> None:
    flags = [
        "-qq",
        "-n0",
        "-pno:cacheprovider",
        "-pno:logging",
        "--no-header",
        "-rN",
        "--capture=no",
        "-Wignore::pytest.PytestAssertRewriteWarning",
        "-k",
    ]
    pytest.main([*flags, " and ".join(f"not {name}" for name in _SLOW), *tests], [Judge(run)])


def silently() -> None:
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def passes(item: pytest.Item, failures: Failures) -> bool:
    before = failures.count
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    return failures.count == before


def few_examples() -> None:
    from hypothesis import settings

    settings.register_profile("mutants", settings.default, max_examples=25, database=None)
    settings.load_profile("mutants")


class Process:
    """A child that judges; it is killed when it takes too long."""

    def __init__(self, work: Callable[[Callable[[object], None]], object]) -> None:
        context = multiprocessing.get_context("fork")
        self._end, there = context.Pipe(duplex=False)
        self._child = context.Process(target=self._work, args=(work, there))
        self._child.start()
        there.close()

    @staticmethod
    def _work(work: Callable[[Callable[[object], None]], object], there: Any) -> None:
        os.setpgid(0, 0)
        silently()
        work(there.send)
        there.close()
        os._exit(0)

    def said(self, patience: float) -> Any:
        """What it says next; False when it says nothing any more."""
        if not self._end.poll(patience):
            raise TimeoutError
        try:
            return self._end.recv()
        except EOFError:
            return False

    def end(self) -> None:
        try:
            os.killpg(self._child.pid or 0, signal.SIGKILL)
        except ProcessLookupError:
            self._child.kill()
        self._child.join()
        self._end.close()


class Result(NamedTuple):
    """By which test a mutant is killed, and how many were run."""

    killer: str
    runs: int


def judged(items: Sequence[tuple[pytest.Item, float]], prepare: Callable[[], object]) -> Result:
    """Run tests in a child until one fails."""

    def work(say: Callable[[object], None]) -> None:
        prepare()
        config, failures = items[0][0].config, Failures()
        config.pluginmanager.register(failures)
        say(True)
        for item, _ in items:
            say(passes(item, failures))
            if failures.count:
                return

    process, started, runs = Process(work), time.monotonic(), 0
    try:
        if process.said(60) is False:
            return Result("it does not start", 0)
        for runs, (item, seconds) in enumerate(items, 1):
            if time.monotonic() - started > ENOUGH:
                break
            if process.said(PATIENCE + 10 * seconds) is not True:
                return Result(item.nodeid, runs)
    except TimeoutError:
        return Result("patience", runs)
    finally:
        process.end()
    return Result("", runs)


def reached(
    items: Sequence[pytest.Item], by_path: dict[Path, dict[int, int]]
) -> tuple[dict[int, list[pytest.Item]], dict[str, float]]:
    """Which tests come to which mutants, and how long each takes."""

    def work(say: Callable[[object], None]) -> None:
        seen: set[int] = set()
        known = functions_by_key()
        import builtins

        setattr(builtins, REACHED, seen.add)
        for path, mutants in by_path.items():
            original = compile(tree_of(path), path, "exec", dont_inherit=True)
            replace(differing(original, marked(path, mutants)) or (), known)
        failures = Failures()
        items[0].config.pluginmanager.register(failures)
        caches = [one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper)]
        for index, item in enumerate(items):
            seen.clear()
            forget(caches)  # else what is remembered is come to by the first test alone
            started = time.perf_counter()
            is_sound = passes(item, failures)
            say((index, is_sound, time.perf_counter() - started, sorted(seen)))

    process = Process(work)
    tests, seconds = defaultdict[int, list[pytest.Item]](list), dict[str, float]()
    while said := process.said(600):
        index, is_sound, taken, numbers = said
        item = items[index]
        if is_sound:
            seconds[item.nodeid] = taken
            for number in numbers:
                tests[number].append(item)
        else:
            print(f"left out, since it fails unchanged: {item.nodeid}")
    process.end()
    return tests, seconds


class Tally:
    """Prints what becomes of mutants."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._mutants, self.killed, self.judged = mutants, 0, 0
        self.killers: Counter[str] = Counter()

    def add(self, number: int, result: Result, most: int) -> None:
        self.judged += 1
        self.killed += bool(result.killer)
        self.killers[result.killer] += 1
        if not result.killer:
            mutant = self._mutants[number]
            where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            tests = f"{result.runs} of {most} tests"
            print(f"{number} {where}: {mutant.text} ({tests})", flush=True)
        if self.judged % 10 == 0:
            print(f"{self.killed} of {self.judged} killed", flush=True)


class Engine(NamedTuple):
    """What was found out of the tests of all mutants at once."""

    tests: dict[int, list[pytest.Item]]  # by the mutants that they come to
    seconds: dict[str, float]
    known: dict[Key, list[FunctionType]]


def judge_in_memory(mutant: Mutant, number: int, engine: Engine, tally: Tally) -> bool:
    """Judge what can be exchanged in memory, if some test comes to it."""
    original = compile(tree_of(mutant.path), mutant.path, "exec", dont_inherit=True)
    code, known, seconds = changed(mutant), engine.known, engine.seconds
    pairs, tests = differing(original, code), engine.tests[number]
    if pairs is None or not tests or not all(is_exchangeable(*pair, known) for pair in pairs):
        return False
    tests.sort(key=lambda item: seconds[item.nodeid] / (1 + tally.killers[item.nodeid]))
    timed = [(item, seconds[item.nodeid]) for item in tests]
    tally.add(number, judged(timed, lambda: replace(pairs, known)), len(tests))
    return True


def judge_functions(
    mutants: Sequence[Mutant], numbers: Sequence[int], packages: Sequence[str], tally: Tally
) -> tuple[list[int], dict[Path, list[str]]]:
    """Judge all that can be exchanged in memory; return the others, and the tests of each file."""
    others: list[int] = []
    orders: dict[Path, list[str]] = {}

    def run(session: pytest.Session) -> None:
        by_path: dict[Path, dict[int, int]] = defaultdict(dict)
        for number in numbers:
            by_path[mutants[number].path][mutants[number].site] = number
        tests, seconds = reached(session.items, by_path)
        engine = Engine(tests, seconds, functions_by_key())
        print(f"{len(session.items)} tests take {sum(seconds.values()):.0f} s", flush=True)
        others.extend(
            number
            for number in numbers
            if not judge_in_memory(mutants[number], number, engine, tally)
        )
        quickest = sorted(seconds, key=seconds.__getitem__)
        for path, places in by_path.items():
            near = {one.nodeid for number in places.values() for one in tests[number]}
            names = one_of_each_first([name for name in quickest if name in near])
            orders[path] = [*names, *(name for name in quickest if name not in near)]

    session(tests_of(packages), run)
    return others, orders


def one_of_each_first(names: Sequence[str]) -> list[str]:
    """The first case of each test, then the second of each, and so on."""
    seen: Counter[str] = Counter()
    ranked = []
    for name in names:
        test = name.partition("[")[0]
        ranked.append((seen[test], name))
        seen[test] += 1
    return [name for _, name in sorted(ranked, key=lambda one: one[0])]


def judge_module(mutant: Mutant, order: Sequence[str]) -> tuple[Result, int]:
    """Judge what takes effect when a module is imported: from the beginning, in a child."""
    package = mutant.path.relative_to(ROOT / "relbase").parts[0]

    def work(say: Callable[[object], None]) -> None:
        sys.meta_path.insert(0, Finder(mutant.path, changed(mutant)))

        def run(session: pytest.Session) -> None:
            failures = Failures()
            session.config.pluginmanager.register(failures)
            if session.testsfailed:  # it breaks what tests import
                say(False)
                return
            items = {item.nodeid: item for item in session.items}
            for item in (items[name] for name in order if name in items):
                say(passes(item, failures))
                if failures.count:
                    return
            say(None)

        session(tests_of([package]), run)

    process, started, runs = Process(work), time.monotonic(), 0
    said: Any = True
    try:
        while said is True and time.monotonic() - started < ENOUGH:
            said = process.said(60)
            runs += 1
    except TimeoutError:
        said = "patience"
    process.end()
    return Result("" if said in {None, True} else "a test", runs), runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"--count": 600, "--seed": 1, "--of": PACKAGES, "--only": ""}.items():
        parser.add_argument(name, type=type(default), default=default)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    packages = arguments.of.split(",")
    paths = [path for name in packages for path in (ROOT / "relbase" / name).rglob("*.py")]
    found = []
    for path in sorted(paths):
        for site, (way, new) in enumerate(sites(tree_of(path))):
            old = node_at(way[-1])
            text = f"{ast.unparse(old)} -> {ast.unparse(new)}"
            found.append(Mutant(path, site, getattr(old, "lineno", 0), text))
    mutants = random.Random(arguments.seed).sample(found, min(arguments.count, len(found)))
    numbers = [int(n) for n in arguments.only.split(",") if n] or list(range(len(mutants)))
    import lxml.html  # noqa: F401 (once, for all that are forked)

    tally = Tally(mutants)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def in_memory() -> None:
        others = judge_functions(mutants, numbers, packages, tally)
        there.send((*others, tally))

    child = context.Process(target=in_memory)
    child.start()
    there.close()
    others, orders, tally = here.recv()
    child.join()
    for number in others:
        mutant = mutants[number]
        tally.add(number, *judge_module(mutant, orders[mutant.path]))
    print(f"{tally.killed} of {tally.judged} killed")


if __name__ == "__main__":
    main()
