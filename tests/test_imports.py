"""Imports point one way, nothing below the command line does I/O, start-up is light."""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import relbase

PACKAGE: Final = Path(relbase.__file__).parent

# From below. A line names rooms, modules, or modules of a room: the longest name that fits a module
# decides. A module may import its own floor and those below it, and no module imports itself by
# way of others.
FLOORS: Final = [
    ["edit", "expressions", "notes", "version"],
    ["kind", "policy"],
    ["url", "view"],
    ["grammar"],
    # what is inside of what, the grammars of values, and what tags and CSS share lexically
    ["containers", "compression", "values", "html.tags", "html.foreign"],
    ["css.functions", "css.candidates", "css.escapes", "css.dropped"],
    ["formats.sniffing", "html.vocabulary", "html.places"],
    ["html.stack", "html.in_body", "html.construction", "html.tree"],
    ["xml.vocabulary", "xml.names", "xml.escapes"],
    ["scan.binding", "scan.held", "scan.tables"],
    ["css.statements", "html.tokens", "xml"],  # tokens
    ["bases"],
    ["savers"],
    ["rewriting", "results"],
    ["scan.batches", "scan.plain_forms"],  # with a context
    ["css.visit", "html.json_ld"],
    ["html.own_base", "html.csp", "html.late_base", "html.anchors"],
    ["html.visit", "html.ahead"],
    [
        "xml.bases",
        "xml.scanning",
        "xml.item_link",
        "xml.feeds",
        "xml.json_feed",
        "xml.visit",
        "xml.document",
    ],
    ["markdown"],
    ["mail"],
    ["http"],
    ["formats"],  # which loads each visit by its name
    ["session"],
    ["api", "rewriter", "trees", "responses", "warc", "explaining"],
    ["relbase"],  # __init__: the public names
    ["cli", "spark", "storage", "markdown.hatch"],
    ["__main__"],
]
FLOOR: Final = {name: floor for floor, names in enumerate(FLOORS) for name in names}

# Rooms that may not import one another although the floors would allow it.
STRANGERS: Final = [
    ("url", "kind"),
    ("url", "view"),
    ("url", "policy"),
    ("url", "edit"),
    ("url", "notes"),
]

# The encoders of the Encoding Standard know no documents either: the WHATWG parser writes queries
# with them, and a resolver checks their labels.
ENCODERS: Final = ("relbase.view.charset", "relbase.view.characters", "relbase.view.transcode")

# Packages of others, and who may import them (types included). None: nobody below the command line.
FOREIGN: Final = {
    "ada_url": {"url"},
    "webencodings": {"url", "view", "kind"},
    "bs4": {"trees"},
    "lxml": {"trees"},
    "requests": {"responses"},
    "httpx": {"responses"},
    "brotli": {"compression"},
    "isal": {"compression"},
    "zstandard": {"compression", "warc"},
    "pyarrow": {"warc", "cli", "spark", "storage"},
    "pyspark": {"spark"},
    "click": {"cli"},
    "hatchling": {"markdown"},
    "markdown_it": {"markdown"},
}

# What opens, prints, logs, fetches or exits.
IO_MODULES: Final = frozenset(
    (
        *("asyncio", "atexit", "fcntl", "fileinput", "getpass", "glob", "logging", "mmap", "os"),
        *("pathlib", "readline", "shutil", "signal", "socket", "subprocess", "tempfile"),
        *("warnings", "urllib.request", "http.client", "ftplib", "smtplib", "imaplib"),
    )
)
IO_CALLS: Final = frozenset(["open", "print", "input", "exit", "quit", "breakpoint", "SystemExit"])
IO_OF_SYS: Final = frozenset(["stdin", "stdout", "stderr", "exit", "argv", "excepthook"])


def modules() -> dict[str, ast.Module]:
    """Every module of the package by its full name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        names = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(names[:-1] if names[-1] == "__init__" else names)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


MODULES: Final = modules()
ROOMS: Final = {f"relbase.{path.name}" for path in PACKAGE.iterdir() if path.is_dir()}


def part_of(module: str) -> str:
    """The room that a module is in: `relbase.url.rfc1808` is in `url`."""
    return module.split(".")[1] if "." in module else module


def floor_of(module: str) -> int:
    """The floor of a module: that of its own name, or else that of its room."""
    inside = module.removeprefix("relbase.")
    floor = FLOOR.get(inside)
    if floor is None and module in ROOMS:
        return 0  # the docstring of a room whose modules have floors of their own
    floor = FLOOR.get(part_of(module)) if floor is None else floor
    assert floor is not None, f"{inside} has no floor: give it one in FLOORS, tests/test_imports.py"
    return floor


def imported(module: str) -> Iterator[str]:
    """The full names that a module imports, wherever in it the import stands."""
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} line {node.lineno}: a relative import"
            assert node.module
            # `from relbase.url import rfc1808` imports a module, `from relbase.edit import Span`
            # a name of one: the name is then shortened to its module.
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.module if node.module in MODULES and inner not in MODULES else inner
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "loaded_later":
            yield f"relbase.{ast.literal_eval(node.args[0]).rpartition('.')[0]}"


def is_of(name: str, packages: Iterable[str]) -> bool:
    """Whether a full name is one of the packages or inside of one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def imported_here(module: str) -> set[str]:
    return {name for name in imported(module) if name.split(".")[0] == "relbase"}


def test_the_package_was_found() -> None:
    assert {"relbase", "relbase.edit", "relbase.url.rfc1808"} <= MODULES.keys()
    assert "relbase.edit" in imported_here("relbase.view.runs")


def test_every_part_has_its_place() -> None:
    assert all(floor_of(module) >= 0 for module in MODULES)
    used = {module.removeprefix("relbase.") for module in MODULES} | {"relbase"}
    assert FLOOR.keys() <= used


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    part = part_of(module)
    for name in imported_here(module):
        other = part_of(name)
        if (module, name) == ("relbase", "relbase.spark"):
            continue  # type checkers alone read it: it is loaded when somebody asks for it
        assert floor_of(name) <= floor_of(module), f"{module} imports {name}, which is above it"
        if module in {"relbase.url.whatwg", "relbase.url.resolver"} and is_of(name, ENCODERS):
            continue
        assert (part, other) not in STRANGERS, f"{module} imports {name}"


def test_modules_have_no_cycles() -> None:
    # One floor has modules that use each other: this says that they do so in one order.
    try:
        TopologicalSorter({module: imported_here(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle: {error.args[1]}")


def test_visits_that_are_loaded_by_name_count_as_imports() -> None:
    assert {"relbase.mail.mbox", "relbase.xml.document"} <= imported_here("relbase.formats.rows")


@pytest.mark.parametrize("module", MODULES)
def test_packages_of_others_stay_where_they_belong(module: str) -> None:
    for name in imported(module):
        top = name.split(".")[0]
        if top == "relbase" or top in sys.stdlib_module_names:
            continue
        assert part_of(module) in FOREIGN.get(top, ()), f"{module} imports {name}"


def io_of(tree: ast.Module) -> Iterator[str]:
    """What in a module opens, prints, logs, fetches or exits, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IO_CALLS:
                yield f"line {node.lineno}: {name}()"
            case ast.Call(func=ast.Attribute(attr="open" | "read_bytes" | "write_bytes" as name)):
                yield f"line {node.lineno}: .{name}()"
            case ast.Raise(exc=ast.Name(id="SystemExit")):
                yield f"line {node.lineno}: raise SystemExit"
            case ast.Attribute(value=ast.Name(id="sys"), attr=name) if name in IO_OF_SYS:
                yield f"line {node.lineno}: sys.{name}"


BELOW_CLI: Final = [
    module for module in MODULES if "." in module and floor_of(module) < FLOOR["cli"]
]


# Who may look at the environment: RELBASE_SCANNER chooses the scanner, before there is any call.
READ_ENVIRONMENT: Final = {"relbase.scan.binding": ["os"]}


@pytest.mark.parametrize("module", BELOW_CLI)
def test_nothing_below_the_command_line_does_io(module: str) -> None:
    assert list(io_of(MODULES[module])) == []
    found = [name for name in imported(module) if is_of(name, IO_MODULES)]
    assert found == READ_ENVIRONMENT.get(module, [])


_SOURCES: Final = [
    *("open('x')", "io.open('x')", "print(1)", "sys.exit(1)", "raise SystemExit"),
    *("raise SystemExit(2)", "import sys\nsys.stderr.write('x')", "Path('x').read_bytes()"),
]


def test_io_would_be_seen() -> None:
    assert all(list(io_of(ast.parse(source))) for source in _SOURCES)
    names = ["os", "os.path", "urllib.request", "logging.handlers", "urllib.parse"]
    assert [is_of(name, IO_MODULES) for name in names] == [True] * 4 + [False]


# ---- start-up

HEAVY: Final = ("lxml", "bs4", "click", "ada_url")


def loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that a fresh interpreter loads (its own -X importtime says so)."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    names = re.findall(r"^import time:[\d\s|]+?(\S+)$", ran.stderr, re.MULTILINE)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "relbase" in names
    return {name.split(".")[0] for name in names}


def test_the_start_is_light() -> None:
    assert importlib.util.find_spec("lxml")
    assert "lxml" in loaded_by("-c", "import relbase, lxml.etree")
    assert loaded_by("-c", "import relbase").isdisjoint(HEAVY)
    assert loaded_by("-m", "relbase", "--version").isdisjoint({"lxml", "bs4"})


# ---- the public names


def test_no_public_name_is_that_of_a_module() -> None:
    # `relbase.base` would be the module or the function, depending on what was imported first.
    assert not {name.split(".")[1] for name in MODULES if "." in name} & set(relbase.__all__)


def public_imports() -> dict[str, str]:
    """The public names that type checkers see, and the modules that define them."""
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(MODULES["relbase"])
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("relbase.")
        for alias in node.names
        if node.module
    }


def test_what_type_checkers_see_is_what_is_listed_and_loaded() -> None:
    places = {name: f"relbase.{place}" for name, place in vars(relbase)["_MODULES"].items()}
    assert public_imports() == places
    assert sorted(places) == relbase.__all__
    with pytest.raises(AttributeError, match="has no attribute 'rewritten'"):
        vars(relbase)["__getattr__"]("rewritten")
