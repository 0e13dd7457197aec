"""What is plain or absolute is so in every profile."""

import re

import pytest

from relbase import Profile, resolve
from relbase.url import plain
from relbase.url.resolver import is_absolute

PROFILES = pytest.mark.parametrize("profile", list(Profile))


@PROFILES
@pytest.mark.parametrize("prefix", plain.ABSOLUTE)
def test_what_begins_so_is_absolute_whatever_the_base(prefix: str, profile: Profile) -> None:
    for base in ("", "http://h/", "https://h/", "data:x"):
        assert is_absolute(f"{prefix}x", profile, base)
    assert re.match(plain.WEB_PATTERN, prefix) or prefix not in plain.WEB


@PROFILES
def test_safe_characters_stay_wherever_they_are(profile: Profile) -> None:
    safe = "".join(filter(re.compile(f"[{plain.SAFE}]").match, map(chr, range(0x180))))
    assert len(safe) == len("Aa") * 26 + 10 + len("_~-!$()*+,=@;")
    for reference in (f"a{safe}", f"a/{safe}", f"a?{safe}", f"a#{safe}"):
        assert resolve("http://h/d/", reference, profile) == f"http://h/d/{reference}"
    assert not re.search(f"[{plain.NAME}]", ";")
    assert not re.search(f"[{plain.UNRESERVED}]", "!$()*+,=@;")


def test_the_whatwg_parser_keeps_a_plain_host() -> None:
    for host in ("h", "a.b-c.d1", "1.a", "a1-b.example"):
        assert re.fullmatch(plain.HOST, host)
        assert resolve("http://x/", f"//{host}/", "whatwg") == f"http://{host}/"
    for host in ("H", "a.1", "0x1", "a--b", "a_b", "-a", "a-", "a..b", "", "a.", "xn--a"):
        assert not re.fullmatch(plain.HOST, host), host
