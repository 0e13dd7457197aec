"""All functions may be called from many threads at once, with what they remember in common."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from relbase import Profile, Resolver, links, resolve, rewrite, rewrite_text

DOCUMENTS: Final = [
    b"<base href=/s/><a href=x><img srcset='a, b 2x'><style>a{b:url(c)}</style>",
    b"a{background:url(x.png)} @import 'y';",
    b"Content-Base: http://b.example/\nContent-Type: text/html\n\n<a href=x>",
    "<meta charset=gbk><a href='é?é'>".encode("gbk", "replace"),
    b"<svg><a xlink:href=x /></svg><iframe srcdoc='<a href=y>'>",
]


def work(number: int) -> list[object]:
    document, profile = DOCUMENTS[number % 5], list(Profile)[number % 3]
    url = f"http://h{number % 7}.example/d/p.html"
    result = rewrite(document, url=url, profile=profile)
    return [
        result,
        result.links,
        *links(document, url=url, profile=profile),
        rewrite_text("<a href='é'>", url=url, profile=profile),
        resolve(url, "../x?y", profile),
    ]


def test_threads_get_what_one_alone_gets() -> None:
    alone = [work(number) for number in range(105)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(105))) == alone


def test_one_resolver_serves_many_threads() -> None:
    for profile in Profile:
        shared = Resolver("http://h.example/d/p", profile)
        references = [f"../{number}/x?y={number}#z" for number in range(500)]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(shared.resolve, references)) == [*map(shared.resolve, references)]
