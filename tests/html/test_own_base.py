"""The base of an HTML document: its `<base>`, or that around it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html import escape
from itertools import product
from timeit import repeat
from typing import Any

import pytest
from scanners import SCANNERS, scanning

from relbase import Policy, Profile, Reason, base, entities, rewrite
from relbase.scan import binding

OWN = "http://h.example/d/p.html"
META = b"<meta http-equiv='Content-Security-Policy' content=\"base-uri &#39;none&#39;\">"
BASE = b"<base href='http://b.example/'>"
LINK = b"<a href='x'>"


def test_the_base_alone_is_found_without_what_follows_it() -> None:
    document = META + BASE + LINK
    assert [note.reason.value for note in base(document + BASE, url=OWN).refused] == [
        "base-forbidden"
    ]
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BASE
    assert not base(response + BASE, url=OWN).refused
    [entity] = entities(response + BASE, url=OWN)
    assert [note.reason.value for note in entity.base.refused] == ["base-ignored"]


# What a page may begin with, and what may state its base. In some encodings a tag has other bytes.
BEGINNINGS = (
    *(b"<!doctype html><title>t</title>%b", b"%b", b"<p>%b", b"<svg>%b</svg>", b"<!--%b-->"),
    *(b"<meta charset=utf-8>%b", b"<meta charset=iso-2022-jp>%b", b"<meta charset=replacement>%b"),
    *(b"</p title='>'>%b", b"</p title='>%b'>", b"<head><template>%b</template></head>"),
    *(b"<link href='%b'>", b"<base target=x>%b", b"<noscript>%b</noscript>", b"<div>%b</div>"),
    *(b"<script>%b</script>", b"<!-- saved from url=(0017)http://s.example/ -->%b", META + b"%b"),
    *(b'<!--<base href="http://o.example/">--><base href=".">%b', b"</p %b", b"\0%b"),
    b'<!-- base href="http://f.example/" -->%b',
)
STATED = (
    *(b"", b"<base href=/s/>", b"<BASE HREF='http://b.example/?\xe9'>", b"<base/href=a&amp;b>"),
    *(b"<base href>", b"<base\thref = ' s/\n' href=t>", b"<base href='#f'", b"<basefont href=x>"),
    *("<base href=/s/>".encode(encoding) for encoding in ("utf-16", "utf-16-le", "utf-16-be")),
    *(b"\x1b$B<base href=/s/>\x1b(B", b"\x1b(J<base href=/s/>", b"<base href=/s\0/>"),
    b"<base href='https://b.example/x?y'><base href=/t/>",
)


@pytest.mark.parametrize("name", SCANNERS)
@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize(
    ("label", "detect"), [(None, True), ("utf-8", False), ("utf-16le", True), ("iso-2022-jp", True)]
)
def test_the_base_alone_is_that_of_the_entity(
    name: str, profile: Profile, label: str | None, *, detect: bool
) -> None:
    """A document that `base` does not open states none; what it reads is read like the rest."""
    layers = Counter[str]()
    for page, stated in product(BEGINNINGS, STATED):
        document = page.replace(b"%b", stated)
        call: Any = {"profile": profile, "kind": "html", "charset": label, "detect": detect}
        for url in (OWN, None):
            with scanning(name):
                alone = base(document, url=url, **call)
                [entity] = entities(document, url=url, **call)
            counting = (n for n in entity.base.refused if n.reason is not Reason.BASE_IGNORED)
            assert replace(entity.base, refused=tuple(counting)) == alone, document
            layers[alone.layer] += 1
    assert len(layers) >= 2


def seconds(document: bytes) -> float:
    return min(repeat(lambda: base(document, url=OWN), number=3, repeat=5))


def test_the_base_takes_no_longer_in_a_longer_document() -> None:
    long = BASE + b"<a href=x>" * 200_000
    assert seconds(long + BASE) < 100 * seconds(BASE + LINK)


@pytest.mark.parametrize("walk", [binding.compiled, None], ids=["built", "exact"])
def test_a_document_whose_base_comes_late_is_visited_twice_at_most(
    walk: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not twice on each level of nesting: 16 levels would be visited 65,536 times."""
    monkeypatch.setattr(binding, "compiled", walk)
    seen: list[str] = []

    class Counting(Policy):
        def keeps(self, reference: str) -> bool:
            seen.append(reference)
            return super().keeps(reference)

    nested, levels = "<a href=x>", 14
    for _ in range(levels):
        nested = f'<iframe srcdoc="{escape(nested)}"></iframe><base href="y/">'
    result = rewrite(nested.encode(), url="http://h.example/", policy=Counting())
    assert seen.count("x") == 2
    assert len(result.edits) == levels + 1
