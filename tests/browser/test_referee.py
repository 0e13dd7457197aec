"""The referee itself: what is spoilt is found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from cases import HTML, Case, normal
from exceptions import Rule
from referee import judge, judge_all
from resolved import TABLE, Scripting, answer, read
from rows import cases, rows
from served import Site
from tables import load_table

import relbase
from relbase import Link, Status

URL: Final = "http://h.example/d/p.html"
TABLES: Final = Path(__file__).with_name("referee.txt")
Links = tuple[Link, ...]
Change = Callable[[Links], Iterable[Link]]


def _rules(browser: Any, site: Site, data: bytes) -> set[Rule]:
    """The rules that excuse something of a document in which all is right."""
    return set(judge_all(browser, site, [Case("right", data, URL)]).known)


def kept(links: Links) -> Iterator[Link]:
    return (link._replace(status=Status.KEPT) for link in links)


def of_words(links: Links) -> Iterator[Link]:
    return (link for link in links if link.reference)


def keep_y(links: Links) -> Iterator[Link]:
    return (one for link in links for one in (kept((link,)) if "y" in link.reference else [link]))


def twice(links: Links) -> Iterator[Link]:
    return (one for link in links for one in (link, link._replace(reference="other")))


def another(status: Status) -> Change:
    return lambda links: (link._replace(url="http://a.example/b", status=status) for link in links)


# (document, what is made of its links, the output; none is the right one)
SPOILT: Final[list[tuple[bytes, Change, bytes | None]]] = [
    *((document, tuple, output) for document, output in rows(TABLES, "outputs", bytes, bytes)),
    *((document, tuple, document) for (document,) in rows(TABLES, "unchanged", bytes)),
    *((document, kept, document) for (document,) in rows(TABLES, "kept", bytes)),
    # a custom property excuses no other CSS
    (
        b"<style>@import '/s';p{--x:url(x);background:url(y)}</style><p>",
        keep_y,
        b"<style>@import 'http://h.example/s';p{--x:url(x);background:url(y)}</style><p>",
    ),
    *(
        (document, of_words, document.replace(b"base", b"bgsound"))
        for (document,) in rows(TABLES, "overlooked", bytes)
    ),
    # a reference that relbase does not list
    (b"<a href=http://a.example/>", lambda _: (), None),
    *((document, twice, None) for (document,) in rows(TABLES, "unseen", bytes)),
    # a link that says another URL
    (b"<a href=HTTP://A.example/b/../c>", another(Status.ABSOLUTE), None),
    (b"<a href=HTTP://A.example/b/../c>", another(Status.UNRESOLVED), None),
]


@pytest.mark.parametrize(("data", "change", "output"), SPOILT)
def test_what_is_spoilt_is_found(
    site: Site, browser: Any, data: bytes, change: Change, output: bytes | None
) -> None:
    """Where no rule excuses the right output and the right links."""
    assert _rules(browser, site, data) <= {Rule.LOCAL, Rule.CUSTOM}
    case = Case("spoilt", data, URL)
    if output is not None:
        case.output = output
    case.links = tuple(change(case.links))
    assert "spoilt" in judge(browser, site, [case]).differences


@cases(TABLES, "excused", data=bytes, rules=list[str])
def test_what_a_rule_excuses(site: Site, browser: Any, data: bytes, rules: list[str]) -> None:
    assert sorted(rule.name for rule in _rules(browser, site, data)) == rules


@pytest.mark.parametrize(("data", "count"), [(b"<a href=#s>", 0), (b"<a href=x>", 1)])
def test_a_policy_excuses_what_it_is_for(site: Site, browser: Any, data: bytes, count: int) -> None:
    case = Case("right", data, URL)
    case.policy = relbase.Policy(keep_fragments=True)
    case.output = data
    case.links = tuple(kept(case.links))
    assert len(judge(browser, site, [case]).differences) == count


class _OnAnother(Case):
    """A case with its last `<base>`, which another decides for in a browser."""

    @property
    def base(self) -> relbase.Base:
        *_, last = self.bases
        return replace(super().base, url=normal(self.resolved(last.reference, last.base)))


@cases(TABLES, "bases", data=bytes)
def test_another_base_is_found(site: Site, browser: Any, data: bytes) -> None:
    assert _rules(browser, site, data) == set()
    assert "spoilt" in judge(browser, site, [_OnAnother("spoilt", data, URL)]).differences


def test_properties_resolve(site: Site, browser: Any) -> None:
    """Each property of the table reflects a URL, and is not the text of its attribute."""
    rows = [
        (element, attribute)
        for element, attributes in TABLE["html"].items()
        for attribute, (_, property_) in attributes.items()
        if property_
    ]
    page = "".join(
        f"<{element} {attribute}=x type=image></{element}>"
        for element, attribute in rows
        if element != "frame"
    )
    site.answers[URL] = answer(page.encode(), HTML, Scripting.ON)
    found = read(browser, URL).references
    assert {(row.element, row.attribute) for row in found} == {
        row for row in rows if row[0] != "frame"
    }
    assert {row.url for row in found} == {"http://h.example/d/x"}


def test_the_table_has_what_wpt_reflects(data: Path) -> None:
    rows = load_table(data / "html/extracted/html-reflected-url-attributes.json")
    known = [TABLE["html"][row["element"]][row["attribute"]][1] for row in rows]
    assert known == [row["idl"] for row in rows]
    assert len(rows) > 10
