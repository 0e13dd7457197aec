"""What the compiled scanner reads on its own: every edit is the one of the exact tokenizer."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from rows import cases, rows
from scanners import SCANNERS, assert_agreed, scanning
from strategies import pages

from relbase import Policy, Profile, resolve, rewrite
from relbase.edit import Edit
from relbase.scan import binding
from relbase.scan.tables import (
    ASCII_STANDS,
    CSS_TOO,
    IN_BASE,
    IN_CSS,
    PAST_BASE,
    UNQUOTED,
    PlainForm,
)

TABLES = Path(__file__).with_name("scanning.txt")

URL = "http://h.example/d/p.html?id=1"
# Without a `=`, so that it can be written into an unquoted value as it is.
PLAIN_URL = "http://h.example/d/p.html"


def becomes(fits: int = UNQUOTED | IN_CSS) -> binding.PrefixesByForm:
    """An edit of each form that says which."""
    edit = {form: binding.Prefix(0, b"%d" % form, 0, fits) for form in binding.SAMPLES}
    return {**dict.fromkeys(range(32)), **edit}


BECOMES = becomes()
QUOTED = becomes(IN_CSS)
NONE: binding.PrefixesByForm = dict.fromkeys(range(32))


def search(
    text: bytes, becomes: binding.PrefixesByForm = QUOTED, *, in_css: bool = False
) -> tuple[list[Edit], int]:
    """What the compiled scanner makes of a text, and where it stops."""
    found, at, _cost = binding.scanning(flags=in_css * CSS_TOO | ASCII_STANDS)(
        becomes, text, 0, len(text)
    )
    return found, at


COMPILED = pytest.mark.skipif(
    binding.COMPILED not in SCANNERS, reason="the compiled scanner was not built"
)


# Rows: a token that is passed over, and one beside it that must not be.
TOKENS = rows(TABLES, "tokens", bytes, bytes)


@COMPILED
@pytest.mark.parametrize(("passed", "looked_at"), TOKENS)
def test_what_is_passed_over(passed: bytes, looked_at: bytes) -> None:
    for told in (NONE, QUOTED):
        assert search(passed, told) == ([], -1)
        assert search(looked_at, told) != ([], -1)


# What follows the `<base>` that counts; any other element has its references.
BASES = [
    (b"<base href=http://a/>", b"<base href=a>"),
    (b"<base href='mailto:a'>", b"<base href>"),
    (b"<base href='http://a/' style='a:b'>", b"<base href='http://a/' style='a:url(b)'>"),
]


@COMPILED
@pytest.mark.parametrize(("passed", "looked_at"), BASES)
def test_an_absolute_base_is_passed_over_if_another_counts(passed: bytes, looked_at: bytes) -> None:
    link = b"<a href='x'>"
    for markup, known, edits in ((passed, 1, 1), (passed, 0, 0), (looked_at, 1, 0)):
        scan = binding.scanning(flags=ASCII_STANDS | known * PAST_BASE)
        made, _, _cost = scan(QUOTED, markup + link, 0, len(markup + link))
        assert len(made) == edits


@COMPILED
@pytest.mark.parametrize(
    ("tag", "edits"),
    [
        (b"<base href='a'>", 1),
        (b"<BASE target=x href=a style='a:url(b)' />", 2),
        (b"<base href='http://a/'>", 0),
    ],
)
def test_the_tag_of_the_base_that_counts_can_be_read(tag: bytes, edits: int) -> None:
    scan = binding.scanning(flags=ASCII_STANDS | CSS_TOO | IN_BASE)
    made, at, _cost = scan(BECOMES, tag + b"<a href='x'>", 0, len(tag))
    assert (len(made), at) == (edits, -1)


# What a page says of its base, and what of its link, whichever way it is read.
AROUND = [
    (b"<base href='b/'><a href=x>", {}, b"<base href='http://h/d/b/'><a href=http://h/d/b/x>"),
    (
        b"<base href='b/'><a href=x>",
        {"ignore_base": True},
        b"<base href='b/'><a href=http://h/d/x>",
    ),
    (
        b"<base style='a:url(y)' href=.. ><a href=x>",
        {},
        b"<base style='a:url(http://h/d/y)' href=http://h/ ><a href=http://h/x>",
    ),
    (
        b"<a href=y><base href=?q><a href=#x>",
        {},
        b"<a href=http://h/d/y><base href=http://h/d/p?q><a href=http://h/d/p?q#x>",
    ),
]


@pytest.mark.parametrize("name", SCANNERS)
@pytest.mark.parametrize(("page", "policy", "expected"), AROUND)
def test_a_base_is_made_absolute_by_the_base_around_it(
    page: bytes, policy: dict[str, Any], expected: bytes, name: str
) -> None:
    with scanning(name):
        result = rewrite(page, url="http://h/d/p", policy=Policy(**policy))
        assert result.data == expected
        against = {link.base.url for link in result.links if link.element == "base"}
        assert against == {"http://h/d/p"}


# Rows: an attribute's value, and the form that is inserted before it in the RFC profiles.
FORMS = [
    (b"/a/b?c#d", PlainForm.ROOT),
    (b"#a", PlainForm.FRAGMENT),
    (b"#", PlainForm.FRAGMENT),
    (b"?a=b&amp;c=d", PlainForm.QUERY),
    (b"?a&b", PlainForm.QUERY),
    (b"//a/b", PlainForm.NETWORK),
    (b"a/b.html", PlainForm.PATH),
    (b"a.b/c:d", PlainForm.PATH),
    (b"a?b:c", PlainForm.PATH),
    (b"./", PlainForm.HERE),
    (b"./a/b?c", PlainForm.HERE),
    (b"../a", PlainForm.HERE + 1),
    (b"../../", PlainForm.HERE + 2),
    (b"../" * binding.MAX_UP + b"a.b", PlainForm.HERE + binding.MAX_UP),
    # signs of placeholders that are none; names that need a semicolon; names that begin with a dot
    (b"/x?a[b]=c&amp;d[]=e", PlainForm.ROOT),
    (b"x?a{b}c|d", PlainForm.PATH),
    (b"x?a=%7Bb%7d", PlainForm.PATH),
    (b"x?a&tx_b[c]=d&#038;e&#38;f", PlainForm.PATH),
    (b"/.a/.b?c", PlainForm.ROOT),
    (b"a/.b", PlainForm.PATH),
    # with white space in it or around it
    (b"a b", PlainForm.PATH),
    (b" /a", PlainForm.ROOT),
    (b"./a b/\n", PlainForm.HERE),
]
NO_FORMS = [b"?", b"///a", b"/./a", b"/a/../b", b"..a", b";a", b"a:b", b"a\x7f", b"{{a}}"]
NO_FORMS += [b".", b"..", b"./.", b"././a", b".././a", b"..//a", b"./?a", b"../#a", b"../a:b"]
NO_FORMS += [
    b"../" * (binding.MAX_UP + 1) + b"a",
    b"a/../b",
    b"../a/./b",
    b"[a]",
    b"[a",
    b"a|",
    b"a*|b|*",
]
NO_FORMS += [b"a[[b", b"a[%b", b"a${b}", b"a#{b}", b"a{{b", b"a{%b", b"a{!b}", b"%7b%7bx%7D%7D"]
NO_FORMS += [b"a&lt_b", b"a?b&copy.", b"/..a", b"a/./b", b"/.", b"a/."]
NO_FORMS += [b"./;", b"a&#46;b", b"&sol;a", b"a/&period;/b", b"a\\b", b"//", b"a.b:c", b"?#x"]


@COMPILED
@pytest.mark.parametrize(("value", "form"), FORMS)
def test_plain_forms(value: bytes, form: int) -> None:
    for tag in (b'<a href="%b">', b"<img alt='' src='%b' title=x>", b'<form action="%b">'):
        text = tag % value
        at = text.index(value.strip())
        assert search(text) == ([Edit(at, at, b"%d" % form)], -1)
    if value == b"".join(value.split()):
        text = b"<p><img alt='' src=%b title=x>" % value
        at = text.index(value, 7)
        assert search(text, BECOMES) == ([Edit(at, at, b"%d" % form)], -1)
        assert search(text) == ([], 3)


@COMPILED
def test_what_becomes_of_a_shape_cannot_be_told() -> None:
    for told, error in (({}, KeyError), ({10: ()}, TypeError), ({10: "x"}, ValueError)):
        with pytest.raises(error):
            search(b"<a href='b'><noscript><a href='c'></noscript>", told)  # type: ignore[arg-type]


# Rows: HTML in which a rule is easily broken by what is passed over, and where its edits are.
RULES = rows(TABLES, "rules", bytes, list[str])


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(("text", "places"), RULES)
def test_rules(text: bytes, places: list[str], profile: Profile) -> None:
    result = assert_agreed(text, url=URL, kind="html", profile=profile)
    assert [str(edit.start) for edit in result.edits] == places


@COMPILED
@pytest.mark.parametrize("value", NO_FORMS)
def test_no_shapes(value: bytes) -> None:
    # What may be a scheme is looked at, or known to be one.
    found = search(b'<p><a href="%b">' % value)
    assert found in ([([], 3)] + [([], -1)] * (b":" in value))


@COMPILED
@cases(TABLES, "styles", text=bytes, is_read=bool)
def test_what_is_read_in_values(text: bytes, is_read: bool) -> None:  # noqa: FBT001
    exact = assert_agreed(text, url=URL, kind="html").edits
    found, at = search(text, in_css=True)
    assert at == (-1 if is_read else 0)
    if is_read:
        assert [edit.start for edit in found] == [edit.start for edit in exact] != []


# What is plain differs in these; RFC 3986 is as RFC 1808.
SHAPED = (Profile.RFC1808, Profile.WHATWG)


@cases(TABLES, "several", text=bytes)
def test_several_references(text: bytes) -> None:
    for profile in SHAPED:
        assert_agreed(text, url=URL, kind="html", profile=profile)


PLAIN = st.builds(
    lambda tag, value: tag % value,
    st.sampled_from(
        [tag + b">" for tag in (b'<a href="%b"', b"<img src='%b' alt=x", b'<link href="%b"/')]
        + [b"<a href=%b>", b"<p><img src=%b alt=x>", b"<link href=%b/>"]
        + [b"<iframe src='%b'></iframe>", b"<script src='%b'></script>", b"<a href='' href='%b'>"]
    ),
    st.sampled_from([b"", b"http://a/"] + [value for value, _ in FORMS] + NO_FORMS),
)
# What is passed over as a whole, and pieces of it in any order.
WHOLE = st.sampled_from(
    [piece for pair in TOKENS for piece in pair]
    + [text for text, _ in RULES]
    + [b"<noscript>", b"</noscript>", b"<!--[if IE]>", b"<![endif]-->", b"<!--", b"-->", b"<!-->"]
    + [b"<script>", b"</script>", b"<style>", b"</style>", b"<svg>", b"</svg>", b"<p a='", b"'>"]
)


@pytest.mark.parametrize("profile", SHAPED)
@examples(50)
@given(data=st.lists(st.one_of(pages, PLAIN, PLAIN, WHOLE), max_size=6).map(b"".join))
def test_both_make_the_same_edits(data: bytes, profile: Profile) -> None:
    for url in (URL, PLAIN_URL):
        assert_agreed(data, url=url, kind="html", profile=profile)


@pytest.mark.long
@pytest.mark.parametrize("profile", SHAPED)
def test_both_make_the_same_edits_of_real_pages(profile: Profile, data: Path) -> None:
    files = sorted((data / "real-pages").rglob("*.htm*"))
    assert files
    for page in files:
        assert_agreed(page.read_bytes(), url=URL, kind="html", profile=profile)


HOSTS = ["0x7f.1", "H.Example", "xn--zca.example", "a--b.c", "h.example:80", "h:8", "h.e"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("profile", Profile)
def test_a_base_in_a_feed_whose_host_is_written_otherwise(host: str, profile: Profile) -> None:
    base = f"http://{host}/a/b"
    entry = "<entry xml:base='%s'><link href='%s'/><link href='%s'/></entry>"
    feed = "<feed xmlns='http://www.w3.org/2005/Atom'>%s</feed>"
    pairs = [(one, resolve(base, one, profile=profile)) for one in ("x", "/x")]
    before, after = (feed % (entry % (base, *links) * 3) for links in zip(*pairs, strict=True))
    made = rewrite(before.encode(), url="http://h.example/", kind="xml", profile=profile)
    assert made.data == after.encode()
