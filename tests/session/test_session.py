"""A session: prepared once, found again by its options, shared by threads, pickled bare."""

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

import relbase
from relbase import Policy, Rewriter
from relbase.html.csp import base_uris
from relbase.session import run
from relbase.session.options import Options, header_of
from relbase.session.session import Call, Session, check, session_of

URL = "http://h.example/d/p.html"
PAGE = b"<base href=/s/><a href=x><img srcset='a, b 2x'><a href='&eacute;'>"


def test_calls_with_the_same_options_share_a_session() -> None:
    policy = Policy(keep=re.compile("^x"))
    first = check(url=URL, policy=policy)
    second = check(url="http://o.example/", policy=policy)
    assert first.session is second.session
    assert first.session is not check(url=URL).session


def test_header_fields_that_decide_nothing_make_no_session() -> None:
    """Each response of an archive has other fields, such as its date."""
    sessions = {
        id(check(headers={"Content-Type": "text/html", "Date": str(number)}).session)
        for number in range(100)
    }
    assert len(sessions) == 1
    nonce = "script-src 'nonce-{}'; base-uri 'self'".format
    policies = [header_of((("Content-Security-Policy", nonce(number)),)) for number in range(2)]
    assert policies[0] == policies[1]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("default-src *; Base-URI 'self'; base-uri *", [" Base-URI 'self'"]),
        ("base-uri a, base-uri b", ["base-uri a", " base-uri b"]),
        ("script-src *", []),
    ],
)
def test_of_a_policy_only_its_first_base_uri_is_kept(policy: str, kept: list[str]) -> None:
    assert list(base_uris([policy])) == kept


def test_a_session_is_pickled_without_what_it_remembers() -> None:
    call = check(url=URL, kind="html")
    bare = len(pickle.dumps(call))
    run.rewrite(call.opened(PAGE))
    assert len(pickle.dumps(call)) == bare
    again = pickle.loads(pickle.dumps(call))
    assert again == call
    assert run.rewrite(again.opened(PAGE)) == run.rewrite(call.opened(PAGE))


def test_a_session_remembers_few_bases_and_no_long_ones() -> None:
    session = Session(Options())
    for number in range(100):
        run.rewrite(Call(session, f"http://h{number}.example/").opened(PAGE))
    run.rewrite(Call(session, f"http://h.example/{'x' * 5000}").opened(PAGE))
    remembered = session._around  # noqa: SLF001
    assert 0 < len(remembered) <= 16
    assert all(len(url or "") < 100 for url, *_ in remembered)


def test_a_session_remembers_few_headers_and_no_long_ones() -> None:
    known = header_of((("CONTENT-TYPE ", "text/html"), ("Date", "today")))
    assert header_of((("Date", "tomorrow"), ("content-type", "text/html"))) is known
    usual = check().session
    assert check(headers={"Content-Type": "text/html"}).session is usual.with_header(known)
    for number in range(100):
        session = check(headers={"Content-Type": f"text/html; charset=x{number}"}).session
        assert session.label == f"x{number}"
    assert 0 < len(usual._headed) <= 16  # noqa: SLF001
    long = (("Content-Base", f"http://h.example/{'x' * 5000}"),)
    assert header_of(long) == header_of(long)
    assert header_of(long) is not header_of(long)


def test_a_mapping_of_messages_gets_a_session_of_its_own() -> None:
    """It may be as long as a mailbox, so that looking it up would take as long."""
    one, other = (check(message_urls={"@h.example": URL}) for _ in range(2))
    assert one.session is not other.session
    mail = b"From: a@h.example\nContent-Type: text/html\n\n<a href=x>"
    assert run.rewrite(one.opened(mail)).edits == run.rewrite(other.opened(mail)).edits != ()


def test_a_session_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        session_of(Options()).options = Options()  # type: ignore[misc]


def test_threads_share_a_session() -> None:
    rewriter = Rewriter(kind="html", policy=Policy(extended=True))
    urls = [f"http://h{number % 23}.example/d{number % 7}/p.html" for number in range(400)]
    pages = [PAGE, b"<a href='?\xe9'><p data-src=x.png>", b"<a href=y>" * 300]

    def both(number: int) -> tuple[relbase.Result, list[relbase.Link]]:
        page, url = pages[number % 3], urls[number]
        return rewriter.rewrite(page, url=url), list(rewriter.links(page, url=url))

    alone = [both(number) for number in range(len(urls))]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(both, range(len(urls)))) == alone
