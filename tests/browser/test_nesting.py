"""Foreign content is read as Chromium reads it: rows, and documents of a grammar.

`python tests/browser/nesting.py` is the long run.
"""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from nesting import Grammar, differences
from rows import rows
from scanners import assert_agreed

FOREIGN = Path(__file__).parents[1] / "html" / "foreign.txt"

DOCUMENTS = 2_000

ATTRIBUTES = (" ", " href=x ", " xlink:href=y ")


def test_rows(browser: Any) -> None:
    markups = [markup for markup, _ in rows(FOREIGN, "namespaces", str, str)]
    documents = [f"{markup}<style n=1 ><a n=2 ></style>" for markup in markups]
    assert list(differences(browser, documents)) == []


def test_documents_of_a_grammar(browser: Any) -> None:
    grammar = Grammar(seed=1)
    assert list(differences(browser, [grammar.document() for _ in range(DOCUMENTS)])) == []


@pytest.mark.parametrize("seed", range(4))
def test_scanners_agree(seed: int) -> None:
    grammar, attributes = Grammar(seed), random.Random(seed)
    for _ in range(50):
        pieces = re.split("(?<=[0-9]) ", grammar.document())
        document = "".join(piece + attributes.choice(ATTRIBUTES) for piece in pieces)
        assert_agreed(document.encode(), url="http://h.example/d/", kind="html")


def test_a_document_that_is_read_differently_is_found(browser: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("relbase.html.construction.BREAKOUT", frozenset())
    (found,) = differences(browser, ["<svg n=1 ></x><p n=2 >", "<svg n=1 ></x><g n=2 >"])
    assert found == ("<svg n=1 ></x><p n=2 >", "2: html is read as ('svg', b'p')")
