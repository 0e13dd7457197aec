"""Every row of the vocabulary and every CSS function: each way of reading a document finds it.

A row that only the exact tokenizer knew would lose links in every page but the first ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest
from scanners import assert_agreed

from relbase import Policy, Profile, Status
from relbase.css.functions import FUNCTIONS, Form, Function
from relbase.html.foreign import HTML, MATH, SVG
from relbase.html.places import PLACES
from relbase.html.vocabulary import TEXT_ROWS, Nested
from relbase.values.syntaxes import Syntax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.html.vocabulary import Row

URL: Final = "http://h.example/d/p.html"

VALUES: Final[dict[Syntax | Nested, tuple[str, ...]]] = {
    Syntax.URL: (
        *("x", "/x", "../x", "./", "//h/x", "?q", "x&amp;y", "x\x7f", "a:&#10;b"),
        *("x&lt?y", "\rx"),
    ),
    Syntax.SPACE_LIST: ("x y", "http://a/ y"),
    Syntax.COMMA_LIST: ("x,y", "http://a/,y"),
    Syntax.SEMICOLON_LIST: ("x;y", "http://a/;y"),
    Syntax.SRCSET: ("x 1x, y 2x", "http://a/ 1x,y 2x", "a:&Tab;b, y 2x"),
    Syntax.REFRESH: ("0;url=x",),
    Syntax.LINK: ("<x>; rel=y",),
    Nested.CSS: ("a:url(x)", "a:url(#i),url('../x')", "a:image-set(&quot;x&quot; 1x)"),
    Nested.HTML: ("&lt;a href=x>",),
    Nested.GUESSED: (
        *("/x", "x.y", "../x", "?q=1", "http://a/", "http://a/ 1x, y 2x", "a.b 1x,c 2x"),
        *("http://a/&#32;1x, y 2x", "url(x)", "url(&quot;http://a/&quot;),url(y)", "true", ""),
        *("{&quot;a&quot;:1}", "#fff", "a:b", "a b.c", "/a b.cd", "http://a b"),
    ),
    Nested.IMPORT_MAP: ('{"imports":{"a":"./x"}}',),
    Nested.JSON_LD: ('{"@id":"x"}',),
    Nested.SPECULATION_RULES: ('{"prefetch":[{"urls":["x"]}]}',),
}
# What `*` stands for: elements that are passed over as a whole, and others.
ELEMENTS: Final = {
    (HTML, "*"): ("p", "x-y", "meta", "script"),
    (HTML, "v:*"): ("v:rect",),
    (SVG, "*"): ("g", "path", "use", "text", "filter", "svg", "image", "feBlend"),
    (MATH, "*"): ("mi", "mrow", "math", "mglyph"),
}
# What makes a condition hold that no single value decides.
CONDITIONS: Final = {
    ("meta", "content"): "name=og:url",
    ("param", "value"): "name=movie",
}


def documents(place: tuple[str, bytes, bytes], row: Row) -> Iterator[str]:
    namespace, element, attribute = place[0], place[1].decode(), place[2].decode()
    for name in ELEMENTS.get((namespace, element), (element,)):
        stated = f"{name} {condition(element, attribute, row)}"
        values = VALUES[row.syntax]
        yield around(namespace, name, f'<{stated} {attribute.upper()}="{values[0]}">')
        for value in values:
            yield around(namespace, name, f'<{stated} {attribute}="{value}">')


def condition(element: str, attribute: str, row: Row) -> str:
    if row.when is None:
        return ""
    if not row.when.values:
        return CONDITIONS.get((element, attribute), "")
    return f"{row.when.asks[0].decode()}={row.when.values[0].decode()}"


def around(namespace: str, name: str, tag: str) -> str:
    if name == namespace:
        return f"<p>{tag}</{name}>"
    inside = f"{tag}</{name}>"
    return f"<p>{inside}" if namespace == HTML else f"<p><{namespace}>{inside}</{namespace}>"


PLACED: Final = [(place, row) for place, rows in PLACES.items() for row in rows]


@pytest.mark.parametrize(
    ("place", "row"), PLACED, ids=[f"{p[0]} {p[1].decode()} {p[2].decode()}" for p, _ in PLACED]
)
def test_every_row(place: tuple[str, bytes, bytes], row: Row) -> None:
    policy = Policy(extended=bool(row.extended))
    changed = 0
    for document in documents(place, row):
        for profile in (Profile.RFC1808, Profile.WHATWG):
            call = {"url": URL, "kind": "html", "policy": policy, "profile": profile}
            changed += assert_agreed(document.encode(), **call).changed
    assert changed


@pytest.mark.parametrize(
    ("rel", "is_local"),
    [("expect", True), ("'x EXPECT'", True), ("exp&#101;ct", True), ("expected", False)],
)
def test_what_is_local_on_a_condition(rel: str, is_local: bool) -> None:  # noqa: FBT001
    """Rule 8: a fragment alone, wherever the attribute stands that makes it local."""
    for tag in (
        f"<link rel={rel} href=#x>",
        f"<link href='#x' rel={rel}>",
        f"<LINK title='>' rel={rel} HREF = \"#x\">",
    ):
        for profile in (Profile.RFC1808, Profile.WHATWG):
            result = assert_agreed(f"<p>{tag}".encode(), url=URL, kind="html", profile=profile)
            assert result.changed != is_local
    assert assert_agreed(f"<p><link rel={rel} href=y#x>".encode(), url=URL, kind="html").changed


@pytest.mark.parametrize(("namespace", "element"), TEXT_ROWS)
def test_every_text(namespace: str, element: bytes) -> None:
    for row in TEXT_ROWS[namespace, element]:
        for value in VALUES[row.syntax]:
            says = row.when.values[-1].decode() if row.when else ""
            text = f"p{{{value}}}" if row.syntax is Nested.CSS else value
            text = text.replace("&quot;", '"')
            for type_ in (
                f" type='{says}'",
                f" type=' {says}'",
                f" type='&#{ord(says[0])};{says[1:]}'",
            ):
                name = element.decode()
                document = around(namespace, name, f"<{name}{type_}>{text}").encode()
                for policy in (Policy(), Policy(extended=True)):
                    assert_agreed(document, url=URL, kind="html", policy=policy)


ARGUMENTS: Final = {
    Form.URL: ("x", "'x'", " x ", "../x", '"#x"', "http://a/", "'\"x'", "&quot;http://a/&quot;"),
    Form.SRC: ("'x'", ' "../x"'),
    Form.IMAGE_SET: ("'x' 1x", "url(x) 1x, 'y' 2x", "#z 'x'"),
    Form.FILTER: ("src='x',sizingMethod='scale'", "enabled=true, Src = 'x'"),
}
SHEETS: Final = (
    *('<p style="a:{}">', "<style>a{{b:{}}}</style>", '<svg><path fill="{}"/></svg>'),
    *('<svg><set attributename=fill to="{}"/></svg>', "<style>@import {};</style>"),
    "<style>a{{b:c(1);d:{};--e:({})}}</style>",
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=[row.name.decode() for row in FUNCTIONS])
def test_every_css_function(function: Function) -> None:
    name, form = function.name.decode(), function.form
    policy = Policy(extended=function.extended)
    escaped = f"{name[:-1]}\\{ord(name[-1]):x} "
    changed = 0
    for spelled in (name, name.upper(), escaped, f"{name[:-1]}\\{ord(name[-1]):06X}"):
        for argument in ARGUMENTS[form]:
            for sheet in SHEETS:
                call = f"{spelled}({argument})"
                document = sheet.format(
                    *[call.replace('"', "&quot;" if '="' in sheet else '"')] * 2
                )
                call_ = {"url": URL, "kind": "html", "policy": policy}
                changed += assert_agreed(document.encode(), **call_).changed
    assert changed > len(SHEETS)


# What may mean something stands alone; one of the others says nothing of those beside it.
TOGETHER: Final = (
    b"0123456789",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"abcdefghijklmnopqrstuvwxyz",
    bytes(range(0x80, 0x100)),
)
ALONE: Final = tuple(b"%c" % byte for byte in range(0x80) if not chr(byte).isalnum())


def test_every_byte() -> None:
    """Threat N4, law 9a: no byte is part of a plain reference for one of them only."""
    templates = (
        *(b"<a href='x%by'>", b"<a href=x%b>", b"<a href='?%b'>", b"<p style='a:url(x%b)'>"),
        b"<img srcset='http://a/ 1x, x%b 2x'>",
        b"<script%btype=importmap>{'imports':{'a':'./x'}}</script>",
        b"<svg><use href='#%b'/></svg>",
    )
    assert len(b"".join((*ALONE, *TOGETHER))) == 0x100
    for template in templates:
        for group in (*ALONE, *TOGETHER):
            pieces = [template.replace(b"%b", b"%c" % byte) for byte in group]
            document = b"<p>" + b"".join(pieces)
            for profile in (Profile.RFC1808, Profile.WHATWG):
                assert_agreed(document, url=URL, kind="html", profile=profile)


@pytest.mark.parametrize("charset", ["utf-8", "big5", "windows-1252"])
def test_bytes_that_no_charset_has(charset: str) -> None:
    """As they are, and carried as surrogates into a document in an attribute."""
    for written in (b"x?\xe9", b"x\xed\xb3\xa9", b"\xe9&amp;x"):
        document = b"<a href='%b'><iframe srcdoc=\"<img src='%b'>\">" % (written, written)
        assert_agreed(document, url=URL, kind="html", charset=charset)


# What is kept, and what is not, among what is written in the characters of the document.
KEPT: Final = (
    b'<a href=/k/1><a href="k/2?a&amp;b"><a href=../x><img srcset="/k/3 1x, y 2x">'
    b'<p style="a:url(/k/4),url(z)"><a href="/k/caf\xe9"><a href="caf\xe9"><a href="#f">'
    b"<a href=%name%><a href=-name-><a href='/k/ b'><a href=http://h/k/>"
    b"<a href='k/\xed\xb3\xa9'>"  # of UTF-8 what a surrogate would be
)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(keep=re.compile("k/[0-9]|\xe9")),
        Policy(keep=re.compile(r"k/|^k/2\?a&b$")),
        Policy(keep_templates=True),
        Policy(keep=re.compile("&b"), keep_templates=True, keep_fragments=True),
    ],
)
@pytest.mark.parametrize("charset", ["latin1", "utf-8"])
def test_what_a_policy_keeps(policy: Policy, charset: str) -> None:
    text = KEPT.replace(b"caf\xe9", "caf\xe9".encode(charset))
    result = assert_agreed(text, url=URL, kind="html", charset=charset, policy=policy)
    links = [link for link in result.links if link.status is Status.KEPT]
    assert [link.reference for link in links] == [
        link.reference
        for link in result.links
        if link.status is not Status.ABSOLUTE
        and (policy.keeps(link.reference) or (policy.keep_fragments and link.reference == "#f"))
    ]
    assert 0 < len(links) < len(result.links)
