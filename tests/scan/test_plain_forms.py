"""A prefix that is cut from a base of plain names is the one that a sample tells."""

import gc
from itertools import product

import pytest

import relbase
from relbase.rewriting.context import BaseResolver
from relbase.scan.binding import SAMPLES
from relbase.scan.plain_forms import Prefixes, base_of_names
from relbase.scan.tables import PlainForm
from relbase.url.profiles import Profile

HOSTS = ("http://h.example", "https://h", "http://H.example", "http://a:80", "http://h.")
SEGMENTS = ("", "a", "a.", "%41", "b..", "x~", "a.b", "%", "%2E")
TAILS = ("", "?q", "?q/../r", "?")


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("host", HOSTS)
def test_cut_as_sampled(host: str, profile: Profile) -> None:
    cut = 0
    for count in range(3):
        for path, tail in product(product(SEGMENTS, repeat=count), TAILS):
            url = host + "".join(f"/{segment}" for segment in path) + tail
            base = base_of_names(url, profile)
            if base is None:
                continue
            resolve = BaseResolver(url, profile, "utf-8")
            quick, sampled = Prefixes(resolve, 0, base), Prefixes(resolve, 0)
            for form in SAMPLES:
                assert quick[form] == sampled[form], (url, form)
            dot = quick[PlainForm.DOT]
            assert dot is None or (dot.until, dot.new.decode()) == (1, resolve("."))
            assert (dot is not None) == bool(base.directory)
            cut += Prefixes(None, 0, base)[next(iter(SAMPLES))] is not None
    assert (cut > 50) == (base_of_names(f"{host}/", profile) is not None)


def test_what_a_page_with_another_url_needs_is_freed_at_once() -> None:
    rewriter = relbase.Rewriter(kind="html")
    page = b"<a href=x><a href=//h/x><a href=../x>"
    gc.collect()
    gc.disable()
    try:
        for number in range(100):
            assert rewriter.rewrite(page, url=f"http://h{number}.example/d/p").changed
        assert gc.collect() < 100
    finally:
        gc.enable()
