"""What the caller may choose."""

import dataclasses
import html
import inspect
import pickle
import re
from pathlib import Path
from typing import Any, Final

import lxml.html
import pytest
from growth import assert_linear_from_10_ms
from rows import cases, rows
from scanners import assert_agreed

import relbase
from relbase import Policy, Status, links, policy, rewrite, rewrite_value
from relbase.policy import begins_with_placeholder, placeholders
from relbase.trees import make_links_absolute

TABLES = Path(__file__).with_name("policy.txt")


def test_a_policy_is_frozen_and_equal_to_its_like() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().extended = True  # type: ignore[misc]
    assert Policy(keep=re.compile("x")) == Policy(keep=re.compile("x"))
    assert hash(Policy()) == hash(Policy())


@pytest.mark.parametrize("keep", ["^/x", b"^/x", re.compile(b"^/x"), 5, ["x"], str, len])
def test_keep_is_a_compiled_pattern_of_strings(keep: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^keep takes a compiled pattern: give re\.compile\(...\)$"
    ):
        Policy(keep=keep)


@pytest.mark.parametrize(
    "name", [one.name for one in dataclasses.fields(Policy) if isinstance(one.default, bool)]
)
@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_the_other_fields_are_bools(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} must be True or False, not "):
        Policy(**{name: value})


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ("a@b=url", TypeError), (5, TypeError), ([5], TypeError), (["a@b"], ValueError),
        (["a@b=other"], ValueError), (["{u}a@x:b=url"], ValueError), (["@b=url"], ValueError),
    ],
)  # fmt: skip
def test_rows_of_xml(rows: Any, error: type[Exception]) -> None:
    assert Policy(xml_rows=["a@b=url"]) == Policy(xml_rows=("a@b=url",))  # type: ignore[arg-type]
    with pytest.raises(error, match="row"):
        Policy(xml_rows=rows)


def test_a_policy_is_plain_data() -> None:
    policy = Policy(keep=re.compile("^/x"), xml_rows=["a@b=url"], attributes={"c": "url"})  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(policy))
    assert (again, hash(again)) == (policy, hash(policy))
    assert policy.keeps("/x/y")
    assert not policy.keeps("/y")


@cases(TABLES, "placeholders", reference=str)
def test_a_placeholder(reference: str) -> None:
    assert placeholders(reference)
    assert not Policy().keeps(reference)


def test_the_guide_lists_what_is_kept() -> None:
    guide = Path(__file__).parents[1] / "docs" / "guides" / "newsletters.md"
    # A pipe in a table is written so that the site and GitHub show it without a backslash.
    text = html.unescape(re.sub("</?code>", "`", guide.read_text("utf-8")))
    table = re.findall(r"^\| (`.+`) \| ", text, re.MULTILINE)
    listed = re.findall(r"`(.+?)`", " ".join(row.partition(" | ")[0] for row in table))
    assert len(listed) > 15
    assert [one for one in listed if not begins_with_placeholder(one)] == []


@cases(TABLES, "none", reference=str)
def test_what_looks_like_a_placeholder_and_is_none(reference: str) -> None:
    assert placeholders(reference) == placeholders("") == []


@cases(TABLES, "pieces", piece=str)
def test_placeholders_are_looked_for_in_linear_time(piece: str) -> None:
    make = (piece * (1 << 20)).__getitem__
    assert_linear_from_10_ms(placeholders, lambda size: make(slice(size)))


@cases(TABLES, "keeping", reference=str, url=str)
def test_what_begins_with_a_placeholder_stays(reference: str, url: str | None) -> None:
    document = f'<a href="{reference}">'.encode()
    policy = Policy(keep_templates=True)
    result = assert_agreed(document, url="http://h.example/d/p.html", kind="html", policy=policy)
    written = reference if url is None else url
    assert result.data == f'<a href="{written}">'.encode()
    assert begins_with_placeholder(reference) == (url is None)
    reasons = [note.reason.value for note in result.notes]
    assert reasons == ([] if url else ["placeholder-kept"])


def test_one_note_counts_what_begins_with_a_placeholder() -> None:
    document = b'<a href="{{a}}"><a href="x"><a href="{{b}}">'
    (note,) = rewrite(document, url="http://h/", policy=Policy(keep_templates=True)).notes
    assert note.text.startswith("2 links begin with a placeholder: left unchanged")
    assert note.span == (9, 14)


@cases(TABLES, "changed", reference=str, profile=str)
def test_no_placeholder_is_changed(reference: str, profile: Any) -> None:
    document = f'<a href="{reference}">'.encode()
    call = {"url": "http://h/", "kind": "html", "profile": profile}
    result = assert_agreed(document, **call, policy=Policy(keep_templates=True))
    assert not result.changed
    assert [note.reason.value for note in result.notes] == ["placeholder-changed"]
    assert [link.status for link in result.links] == [Status.KEPT]
    assert assert_agreed(document, **call).changed


@cases(TABLES, "bases", document=str, kind=str)
def test_against_a_base_that_holds_a_placeholder_nothing_is_resolved(
    document: str, kind: Any
) -> None:
    call = {"url": "http://h.example/d/", "kind": kind}
    result = assert_agreed(document.encode(), **call, policy=Policy(keep_templates=True))
    assert not result.changed
    assert {note.reason.value for note in result.notes} >= {"base-unsuitable", "base-none"}
    assert {link.status for link in result.links[1:]} == {Status.UNRESOLVED}
    assert assert_agreed(document.encode(), **call).changed


@dataclasses.dataclass(frozen=True, slots=True)
class OneMore(Policy):
    """A policy with a flag that nothing but its own line knows."""

    keep_pdf: bool = False

    def keeps(self, reference: str) -> bool:
        return (self.keep_pdf and reference.endswith(".pdf")) or Policy.keeps(self, reference)


EVERYWHERE = (
    b'<a href="a.pdf"><a href=b><img src="/c.pdf" srcset="d.pdf 1x, e 2x"><p style="a:url(f.pdf)">'
    b"<style>a{b:url(g.pdf);c:url(h)}</style><iframe srcdoc='&lt;a href=i.pdf>'></iframe>"
)


@pytest.mark.parametrize("profile", ["rfc1808", "whatwg"])
@pytest.mark.parametrize(
    "policy", [OneMore(keep_pdf=True), OneMore(keep_fragments=True, keep_pdf=True)]
)
def test_one_more_flag_is_obeyed_by_all(policy: Policy, profile: Any) -> None:
    result = assert_agreed(EVERYWHERE, url="http://h/", kind="html", profile=profile, policy=policy)
    kept = {link.reference for link in result.links if link.status is Status.KEPT}
    assert kept == {"a.pdf", "/c.pdf", "d.pdf", "f.pdf", "g.pdf", "i.pdf"}
    assert len(result.edits) == 3
    assert len(assert_agreed(EVERYWHERE, url="http://h/", kind="html", policy=OneMore()).edits) == 9
    sheet = b"@import 'a.pdf';a{b:url(b.pdf),url(c)}"
    assert len(assert_agreed(sheet, url="http://h/", kind="css", policy=policy).edits) == 1


NAMED = (
    b'<a data-link="x" DATA-SET="a 1x, b 2x" data-css="a:url(c)" data-src=true href=y>'
    b'<svg><g data-link=z /></svg><p data-link="http://a/" data-other=o>'
)


@pytest.mark.parametrize("profile", ["rfc1808", "whatwg"])
def test_attributes_that_the_caller_names(profile: Any) -> None:
    """They pass no guard: `data-src=true` is a reference then."""
    attributes = {"data-link": "url", "Data-Set": "srcset", "data-css": "css", "data-src": "url"}
    policy = Policy(attributes=attributes)
    call = {"url": "http://h/", "kind": "html", "profile": profile}
    result = assert_agreed(NAMED, **call, policy=policy)
    assert [(link.attribute, link.syntax, link.url) for link in result.links] == [
        ("data-link", "url", "http://h/x"),
        ("data-set", "srcset", "http://h/a"),
        ("data-set", "srcset", "http://h/b"),
        ("data-css", "css", "http://h/c"),
        ("data-src", "url", "http://h/true"),
        ("href", "url", "http://h/y"),
        ("data-link", "url", "http://h/z"),
        ("data-link", "url", "http://a/"),
    ]
    assert len(result.edits) == 7
    assert len(assert_agreed(NAMED, **call).edits) == 1
    assert policy == Policy(attributes=tuple(attributes.items()))
    assert hash(policy) == hash(Policy(attributes=policy.attributes))


@pytest.mark.parametrize(
    ("attributes", "error", "text"),
    [
        ("data-x=url", TypeError, "attributes must be a mapping, not str"),
        (5, TypeError, "attributes must be a mapping"),
        (["data-x"], TypeError, r"not a \(name, syntax\) pair"),
        ({"": "url"}, ValueError, "'' is not the name of an attribute"),
        ({"a b": "url"}, ValueError, "is not the name"),
        ({"data-x": "uri"}, ValueError, "'uri' is not a syntax: give url, srcset, css"),
    ],
)
def test_attributes_that_are_none(attributes: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Policy(attributes=attributes)


def test_what_was_guessed_to_be_a_url_stays_one() -> None:
    """On a base whose path looks like CSS."""
    call = {"url": "http://h.example/);x:url(/", "kind": "html", "policy": Policy(extended=True)}
    result = assert_agreed(b"<p data-src=?q><p data-thumb=' url(x)'>", **call)
    assert [link.syntax for link in result.links] == ["url", "css"]
    assert not assert_agreed(result.data, **call).changed


def of_cell(cell: str) -> Policy:
    """A flag, or `keep` and a pattern."""
    name, _, pattern = cell.partition(" ")
    given: dict[str, Any] = {name: re.compile(pattern) if name == "keep" else True}
    return Policy(**given) if name else Policy()


ROWS = [
    *rows(TABLES, "rows", of_cell, str, Status),
    (Policy(keep=re.compile("^a b$")), " a b ", Status.KEPT),
    (Policy(keep=re.compile("^a b$")), "a", Status.REWRITTEN),
]


@pytest.mark.parametrize(("policy", "reference", "status"), ROWS)
@pytest.mark.parametrize("url", ["http://h.example/d/p.html", None])
def test_what_is_left_alone(
    policy: Policy, reference: str, status: Status, url: str | None
) -> None:
    document = f'<a href="{reference}">'.encode()
    (link,) = links(document, url=url, policy=policy)
    result = rewrite(document, url=url, policy=policy)
    if url is None and status is Status.REWRITTEN:
        status = Status.UNRESOLVED
    assert link.status is status
    assert result.changed == (status is Status.REWRITTEN)
    # What is kept is missing nothing: only what nobody can resolve is remarked.
    assert [note.reason.value for note in result.notes] == (
        ["base-none"] if status is Status.UNRESOLVED else []
    )


def test_each_field_decides_in_keeps_or_is_said_to_decide_elsewhere() -> None:
    """A field of neither would do nothing but slow the others down."""
    keeps = inspect.getsource(Policy.keeps) + inspect.getsource(Policy.chooses)
    for field in dataclasses.fields(Policy):
        is_read = f"self.{field.name}" in keeps
        place = "give it a line in Policy.keeps or _DECIDES_ELSEWHERE, relbase/policy.py"
        assert is_read != (field.name in policy._DECIDES_ELSEWHERE), f"{field.name}: {place}"  # noqa: SLF001


# ---- placeholders are found before the grammar of the value

SITE = "https://site.example/d/"


@cases(TABLES, "in values", value=str, becomes=str)
@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
def test_no_placeholder_is_divided(value: str, becomes: str, profile: Any) -> None:
    """`@` stands for the site; a `!` before a value that browsers would change: it stays."""
    is_kept = becomes.startswith("!") and profile == "whatwg"
    data = value.encode()
    made = (
        data if is_kept else becomes.removeprefix("!").replace("@", "https://site.example").encode()
    )
    call: Any = {"url": SITE, "profile": profile, "policy": Policy(keep_templates=True)}
    kind: Any = "css" if data.startswith(b"a{") else "html"
    result = assert_agreed(data, kind=kind, **call)
    assert result.data == made
    assert rewrite(made, kind=kind, **call).data is made
    noted = {note.reason.value for note in result.notes}
    if made == data:
        assert noted & {"placeholder-changed", "placeholder-kept"}
    if kind == "css":
        return
    assert relbase.rewrite_text(value, kind=kind, **call).encode() == made
    mail = b"Content-Type: text/html\n\n"
    assert rewrite(mail + data, **call).data == mail + made
    feed = b"<rss version='2.0'><channel><item><description>%b</description></item></channel></rss>"
    escaped = html.escape(value, quote=False).encode()
    fed = rewrite(feed % escaped, **call).data
    assert html.unescape(fed.decode()) == html.unescape((feed % made).decode())


@pytest.mark.parametrize("profile", ["rfc1808", "whatwg"])
def test_no_placeholder_in_a_tree_is_divided(profile: Any) -> None:
    lists = (
        "<img srcset='{{ i | size: 300, 200 }} 300w'><a ping='{{ a b }} c' href='/x/{{ y }}'></a>"
    )
    tree = lxml.html.fromstring(f"<div>{lists}<p style='a:url({{{{ z }}}})'></p></div>")
    policy = Policy(keep_templates=True)
    make_links_absolute(tree, base_url=SITE, profile=profile, policy=policy)
    image, link, paragraph = tree.iter("img", "a", "p")
    assert image.get("srcset") == "{{ i | size: 300, 200 }} 300w"
    assert link.get("ping") == "{{ a b }} https://site.example/d/c"
    whole = "/x/{{ y }}"
    assert link.get("href") == (whole if profile == "whatwg" else f"https://site.example{whole}")
    assert paragraph.get("style") == "a:url({{ z }})"


@cases(TABLES, "beginnings", reference=str, kept=bool)
def test_what_is_a_placeholder_at_the_beginning(reference: str, *, kept: bool) -> None:
    policy = Policy(keep_templates=True)
    assert policy.keeps(reference) == kept
    data = f'<a href="{html.escape(reference)}">'.encode()
    result = assert_agreed(data, url="http://h.example/d/p", kind="html", policy=policy)
    assert result.changed != kept
    assert rewrite(data, url="http://h.example/d/p", kind="html").changed


@pytest.mark.parametrize(
    ("templates", "reference", "kept", "made"),
    [
        (("###*###",), "###LINK a###/x", True, ""),
        (("###*###",), "/a/###LINK###/x", False, "https://site.example/a/###LINK###/x"),
        (("@*@", "<!--*-->"), "@base@x", True, ""),
        (("@*@", "<!--*-->"), "<!-- base -->x", True, ""),
        (("(*)",), "(a, b) (", True, ""),
        (("__*__",), "a__b", False, "https://site.example/d/a__b"),
        (("__*__",), "{{ still }}", True, ""),
    ],
)
def test_a_form_of_the_users_own(
    templates: tuple[str, ...], reference: str, made: str, *, kept: bool
) -> None:
    policy = Policy(templates=templates)
    assert policy.keep_templates
    assert policy == Policy(templates=templates, keep_templates=True)
    assert policy.keeps(reference) == kept
    for markup in ('<a href="{}">', '<img srcset="{} 2x">'):
        if markup[1] == "i" and reference.endswith("("):
            continue
        data = markup.format(html.escape(reference)).encode()
        expected = data if kept else markup.format(made).encode()
        assert assert_agreed(data, url=SITE, kind="html", policy=policy).data == expected


@pytest.mark.parametrize(
    ("templates", "error"),
    [
        ("###*###", TypeError), (5, TypeError), ([5], TypeError), (["###"], ValueError),
        (["*"], ValueError), (["a**b"], ValueError), (["a*"], ValueError), (["*b*c"], ValueError),
    ],
)  # fmt: skip
def test_forms_that_say_nothing(templates: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"template|'\*'"):
        Policy(templates=templates)


@pytest.mark.parametrize("piece", ["##a", "@a", "{{", "@a@", "$$a", "[a"])
def test_own_forms_are_found_in_linear_time(piece: str) -> None:
    policy = Policy(templates=("@*@", "##*$$"))
    assert_linear_from_10_ms(policy.placeholders, lambda n: piece * (n // len(piece)))


# ---- only

PLACES: Final = """<base href="b/"><a href="x" style="a:url(y)">a</a><img src="i" srcset="s 2x">
<style>a{b:url(z)}</style><svg><use href="u"/><a xlink:href="v"/></svg>
<iframe srcdoc="<img src=n>"></iframe><img src="http://o.example/">"""


@pytest.mark.parametrize(
    ("only", "chosen"),
    [
        (("a@href",), ["x"]),
        (("IMG@src",), ["i", "n"]),
        (("*@style", "style"), ["y", "z"]),
        (("img@*",), ["i", "s", "n"]),
        (("*@*",), ["b/", "x", "y", "i", "s", "u", "v", "n"]),
        (("*",), ["z"]),
        (("a@xlink:href", "use@href"), ["u", "v"]),
        (("td@background",), []),
    ],
)
@pytest.mark.parametrize("profile", ["rfc3986", "whatwg"])
def test_only_links_in_these_places_are_rewritten(
    only: tuple[str, ...], chosen: list[str], profile: Any
) -> None:
    call: Any = {"url": SITE, "kind": "html", "policy": Policy(only=only), "profile": profile}
    result = assert_agreed(PLACES.encode(), **call)
    listed = list(result.links)
    rewritten = [link.reference for link in listed if link.status == "rewritten"]
    assert rewritten == chosen
    assert {link.status for link in listed} <= {"rewritten", "absolute", "kept"}
    assert len(listed) == len(list(links(PLACES.encode(), url=SITE)))
    # The base decides; the others stay.
    tree = lxml.html.document_fromstring(PLACES)
    made = make_links_absolute(tree, base_url=SITE, profile=profile, policy=Policy(only=only))
    urls = {link.reference: link.url for link in listed}
    assert {link.reference for link in made} == set(rewritten)
    assert all(urls[link.reference] == link.url for link in made)
    assert len(result.edits) == len(rewritten)


def test_only_counts_in_feeds_mail_and_style_sheets() -> None:
    images = Policy(only=("img@src", "link@href"))
    feed = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="l"/><icon>i</icon>
<entry><content type="html">&lt;img src="a">&lt;a href="b"></content></entry></feed>"""
    made = rewrite(feed, url="http://h/", policy=images).data
    assert made == feed.replace(b'"l"', b'"http://h/l"').replace(b'"a"', b'"http://h/a"')
    mail = b"Content-Type: text/html\nContent-Base: http://h/\n\n<img src=a><a href=b>"
    assert rewrite(mail, kind="mail", policy=images).data == mail.replace(b"=a", b"=http://h/a")
    assert not rewrite(b"a{b:url(c)}", url="http://h/", kind="css", policy=images).changed
    assert rewrite_value("img", "src", "a", url="http://h/", policy=images) == "http://h/a"
    assert rewrite_value("a", "href", "a", url="http://h/", policy=images) == "a"


def test_only_chooses_what_a_function_replaces() -> None:
    data = b'<a href="http://o.example/x">a</a><img src="http://o.example/y">'
    result = rewrite(data, replace=lambda _: "http://n.example/", policy=Policy(only=("img@src",)))
    assert result.data == data.replace(b"o.example/y", b"n.example/")


@pytest.mark.parametrize("only", [("",), ("a@",), ("@href",), ("a b",), ("{http://ns}a@b",)])
def test_a_place_that_names_nothing(only: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="is not a place of links: give 'element@attribute'"):
        Policy(only=only)


def test_a_place_without_text() -> None:
    with pytest.raises(ValueError, match=r"IMG has no links in its text: give 'IMG@\*' for its"):
        Policy(only=("a@href", "IMG"))


@pytest.mark.parametrize("only", ["a@href", 5, (5,)])
def test_places_are_a_sequence_of_strings(only: Any) -> None:
    with pytest.raises(TypeError, match="must be a"):
        Policy(only=only)
