"""tests/ mirrors relbase/: each module has a test file of its name, or a row here."""

import ast
from pathlib import Path
from typing import Final

import relbase

PACKAGE: Final = Path(relbase.__file__).parent
TESTS: Final = Path(__file__).parent

# Modules that other files test, since what they do shows only in a whole: the rest of a command
# line, of a tree, of a message. A file in the same room is named without its path.
ELSEWHERE: Final = {
    "version": "warc/test_writing.py",
    "rewriting.trial": "xml/test_xml_visit.py markdown/test_markdown_visit.py",
    "kind": "formats/test_rows.py",
    "notes": "test_texts.py test_rules.py",
    "containers.header_fields": "test_known_fields.py test_one_row.py",
    "cli.__init__": "test_main.py",
    "cli.explain": "explain.console",
    "cli.files": "inplace.console test_replaced.py",
    "cli.findings": "check.console",
    "cli.inputs": "many.console test_directories.py",
    "cli.jobs": "check.console",
    "cli.bases": "base.console tables.console",
    "cli.judging.entities": "judge.console test_judging.py",
    "cli.judging.files": "judge.console test_judging.py",
    "cli.judging.verdicts": "test_judging.py",
    "cli.listing": "links.console tables.console",
    "cli.locks": "test_mailboxes.py",
    "cli.options": "usage.console",
    "cli.self_check": "test_documents.py",
    "cli.origins.finder": "origins.console",
    "cli.origins.paths": "paths.console",
    "cli.origins.places": "origins.console",
    "cli.outputs": "rewrite.console",
    "cli.parallel": "test_many.py",
    "cli.rewrite": "rewrite.console",
    "cli.run": "check.console main.console",
    "cli.urls": "resolve.console split.console",
    "cli.work": "test_many.py many.console",
    "cli.writing": "inplace.console test_replaced.py",
    "compression.members": "test_codings.py",
    "css.functions": "test_candidates.py test_one_row.py",
    "css.visit": "test_statements.py",
    "explaining.markup": "test_explaining.py",
    "explaining.page": "test_explaining.py",
    "explaining.references": "test_explaining.py",
    "formats.document": "test_api.py",
    "formats.sniffing": "test_recognition.py",
    "grammar.characters": "test_grammar.py",
    "grammar.rfc1738": "test_grammar.py test_urls.py",
    "grammar.rfc1808": "test_grammar.py test_urls.py",
    "css.dropped": "test_statements.py",
    "html.late_base": "test_html_visit.py",
    "html.ahead": "test_html_visit.py test_own_base.py",
    "html.construction": "test_tokens.py suites/test_html5lib.py",
    "html.in_body": "test_tokens.py suites/test_html5lib.py",
    "html.stack": "test_tokens.py suites/test_html5lib.py",
    "html.tree": "test_tokens.py browser/test_nesting.py",
    "markdown.content": "test_markdown_places.py",
    "markdown.lines": "test_markdown_places.py",
    "mail.allowed_edits": "test_message.py test_message_laws.py",
    "mail.parts": "test_message.py test_message_growth.py",
    "rewriting.context": "test_reference.py",
    "savers.rows": "test_marks.py test_one_row.py",
    "scan.batches": "test_scanning.py test_agreement.py",
    "scan.held": "test_binding.py test_scanning.py",
    "session.texts": "test_texts.py",
    "spark.tasks": "test_jobs.py",
    "storage.__init__": "spark/test_cluster.py",
    "trees.elements": "test_trees.py test_xml_trees.py",
    "trees.markup": "test_trees.py test_xml_trees.py",
    "trees.nodes": "test_trees.py",
    "trees.soup": "test_trees.py",
    "trees.tree": "test_trees.py",
    "trees.walk": "test_trees.py test_as_lxml.py",
    "url.prefixes": "test_rfcs.py",
    "containers.saved": "test_har.py test_webarchive.py test_enex.py",
    "warc.page": "test_reading.py test_held.py",
    "warc.rows": "test_table.py",
    "warc.work": "test_writing.py",
    "xml.bases": "test_xml_visit.py",
    "xml.document": "test_xml_visit.py",
    "xml.json_feed": "test_feeds.py",
    "xml.item_link": "test_xml_visit.py",
    "xml.names": "test_structure.py test_xml_scanning.py",
    "xml.vocabulary": "test_xml_visit.py",
}


_CODE: Final = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def has_code(path: Path) -> bool:
    body = ast.parse(path.read_bytes()).body
    return any(
        isinstance(node, _CODE) and not ast.unparse(node).startswith("__all__") for node in body
    )


MODULES: Final = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if has_code(path)
}


def own_files(module: str) -> list[Path]:
    """The test files of a module's name; that of a room has the room's name."""
    *rooms, name = module.split(".")
    room = TESTS.joinpath(*rooms)
    names = [name, *([f"{rooms[-1]}_{name}"] if rooms else [])]
    if name == "__init__":
        names = rooms[-1:]
    found = [room / f"test_{one}.py" for one in names]
    return [path for path in found if path.exists()]


def test_each_module_has_a_test_file_or_a_row() -> None:
    lacking = [module for module in MODULES if not own_files(module) and module not in ELSEWHERE]
    assert not lacking, f"write tests/ROOM/test_NAME.py, or a row of ELSEWHERE, for {lacking}"


def test_the_rows_name_modules_without_a_test_file_of_their_own() -> None:
    assert [module for module in ELSEWHERE if module not in MODULES] == []
    assert [module for module in ELSEWHERE if own_files(module)] == []


def test_the_rows_name_test_files() -> None:
    for module, files in ELSEWHERE.items():
        room = TESTS.joinpath(*module.split(".")[:-1])
        places = (room, room.parent, TESTS)
        for name in files.split():
            assert any((place / name).is_file() for place in places), (module, name)


def test_names_of_test_files_are_unique() -> None:
    names = [path.name for path in TESTS.rglob("test_*.py")]
    assert len(names) == len(set(names))
