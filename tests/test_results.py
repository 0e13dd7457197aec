"""What a caller gets: results with links on demand, notes that are capped."""

import copy
import json
import pickle
import re
from typing import Any

import pytest

from relbase import (
    Layer,
    Link,
    Policy,
    Result,
    Span,
    Status,
    base,
    entities,
    links,
    results,
    rewrite,
)
from relbase.bases.layers import UNKNOWN
from relbase.notes import Note, Reason
from relbase.results import Notes

URL = "http://h.example/d/p.html"
DOCUMENT = b'<a href="x">\r\n<img\n src=" /y " srcset="z 2x"><a href="http://a.example/">'


def test_a_result_that_changed() -> None:
    result = rewrite(DOCUMENT, url=URL)
    assert result.changed is True
    assert result.base.url == URL
    assert [(edit.start, edit.end) for edit in result.edits] == [(9, 9), (26, 26), (39, 39)]
    assert result.notes == ()
    assert repr(result) == f"Result(3 edits, 0 notes, base={URL!r})"


def test_values_of_enums_are_strings() -> None:
    (link,) = links(b"<a href=x>")
    assert link.status == "unresolved"
    assert f"{link.status} {link.base.layer}" == "unresolved none"
    assert json.dumps([link.status, Reason.BASE_NONE]) == '["unresolved", "base-none"]'
    assert Status("kept") is Status.KEPT


def test_links_are_computed_on_first_access_and_once() -> None:
    calls = []

    def compute() -> list[Link]:
        calls.append(1)
        return list(links(DOCUMENT, url=URL))

    result = Result(DOCUMENT, (), (), lambda: UNKNOWN, compute)
    assert (calls, result.base) == ([], UNKNOWN)
    assert result.links is result.links
    assert (len(result.links), calls) == (4, [1])


def test_rewriting_does_not_list_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relbase.session.run._links", None)
    result = rewrite(DOCUMENT, url=URL)
    with pytest.raises(TypeError):
        _ = result.links


def test_the_fields_of_links() -> None:
    """Line and column are 1-based, the column in bytes."""
    found = rewrite(DOCUMENT, url=URL).links
    assert [(link.element, link.attribute, link.syntax, link.reference) for link in found] == [
        ("a", "href", "url", "x"),
        ("img", "src", "url", "/y"),
        ("img", "srcset", "srcset", "z"),
        ("a", "href", "url", "http://a.example/"),
    ]
    assert [(link.url, link.status) for link in found] == [
        ("http://h.example/d/x", Status.REWRITTEN),
        ("http://h.example/y", Status.REWRITTEN),
        ("http://h.example/d/z", Status.REWRITTEN),
        ("http://a.example/", Status.ABSOLUTE),
    ]
    assert [(link.line, link.column) for link in found] == [(1, 10), (3, 8), (3, 21), (3, 36)]
    assert [DOCUMENT[link.span.start : link.span.end] for link in found] == [
        b"x", b"/y", b"z", b"http://a.example/"
    ]  # fmt: skip
    assert {link.part for link in found} == {""}
    assert all(link.base.layer is Layer.RETRIEVAL for link in found)


def test_columns_count_bytes() -> None:
    (link,) = rewrite("é<a href='x'>".encode(), url=URL, kind="html").links
    assert (link.line, link.column) == (1, 12)


# ---- pickled and compared, as worker processes and Spark do

VALUES = [
    (DOCUMENT, {}),
    (DOCUMENT, {"headers": {"Base": "<URL:http://b.example/>"}, "policy": Policy(extended=True)}),
    (b"<base href=/d/>" + DOCUMENT, {"redirects": ["/e/"], "profile": "whatwg"}),
    (b"Content-Base: mailto:x\nContent-Type: text/html\n\n" + DOCUMENT, {"kind": "mail"}),
    (b"a{background:url(x)}", {"kind": "css", "policy": Policy(keep=re.compile("y"))}),
]


@pytest.mark.parametrize(("data", "call"), VALUES)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_result_can_be_pickled_with_the_input_and_the_call(
    data: bytes, call: Any, protocol: int
) -> None:
    result = rewrite(data, url=URL, **call)
    copied = pickle.loads(pickle.dumps(result, protocol))
    assert (copied.data, copied.edits, copied.notes) == (result.data, result.edits, result.notes)
    assert copied.base == result.base
    assert copied.links == result.links == tuple(links(data, url=URL, **call))
    assert result.links  # not vacuous
    listed = list(entities(data, url=URL, **call))
    assert pickle.loads(pickle.dumps(listed, protocol)) == copy.deepcopy(listed) == listed
    assert copied == result
    again = pickle.loads(pickle.dumps(copied, protocol))  # with links and base in it
    assert again.links == result.links


def test_results_compare_by_their_values() -> None:
    first, second = rewrite(DOCUMENT, url=URL), rewrite(DOCUMENT, url=URL)
    assert first == second
    assert hash(first) == hash(second)
    # Since CPython 3.14 a tuple keeps its hash: the compiled scanner has to prepare it.
    for value in (*first.links, *(link.span for link in first.links), *first.edits):
        assert hash(value) == hash(tuple(value))
    assert first != rewrite(DOCUMENT, url="http://other.example/")
    assert rewrite(b"", url=URL) != rewrite(b"", url="http://other.example/")
    assert first != DOCUMENT


def test_a_link_as_a_row() -> None:
    row = rewrite(DOCUMENT, url=URL).links[2].as_dict()
    assert row == {
        "part": "",
        "element": "img",
        "attribute": "srcset",
        "syntax": "srcset",
        "reference": "z",
        "url": "http://h.example/d/z",
        "status": "rewritten",
        "layer": "retrieval",
        "base": URL,
        "base_source": "retrieval URL",
        "line": 3,
        "column": 21,
        "start": 39,
        "end": 40,
    }


def test_a_base_as_an_object() -> None:
    found = base(b"<base href=/s/>", url=URL, headers={"Base": "x:y"}).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert (found["url"], found["layer"]) == ("http://h.example/s/", "embedded")
    outer = found["outer"]
    assert isinstance(outer, dict)
    assert (outer["url"], outer["layer"]) == (URL, "retrieval")
    assert [note["reason"] for note in outer["refused"]] == ["base-unsuitable"]
    assert outer["outer"]["outer"] is None


def note(number: int, reason: Reason = Reason.BASE_LATE) -> Note:
    return Note(reason, "1", Span(number, number), f"note {number}")


@pytest.mark.parametrize("more", [-1, 0, 1, 7])
def test_of_each_reason_a_thousand_notes_are_kept(
    more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MAX_NOTES", 10)
    notes = Notes([note(number) for number in range(10 + more)])
    notes.add(note(0, Reason.BASE_NONE))
    collected = notes.collected()
    kept = [found for found in collected if found.reason is Reason.BASE_LATE and found.span]
    assert kept == [note(number) for number in range(min(10, 10 + more))]
    assert note(0, Reason.BASE_NONE) in collected
    summary = [found for found in collected if found.span is None]
    assert [found.text for found in summary] == ([f"{more} more of this kind"] if more > 0 else [])


def test_a_document_full_of_remarks_yields_few_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MAX_NOTES", 10)
    document = b"@import 'x';" + b"a{--x:url(y)}" * 25
    result = rewrite(document, url=URL, kind="css")
    assert len(result.notes) == 11
    assert result.notes[-1].text == "15 more of this kind"
    assert result.changed
