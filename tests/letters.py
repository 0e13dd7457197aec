"""Mail that relbase rewrites, against another reading of RFC 1808.

`python tests/letters.py DIRECTORY...`: Python's `email` takes the messages apart and `html.parser`
their pages, before and after. What changed must be what §4 makes of it on the base of §3; what did
not must be absolute, empty, no link of `LINKS`, or noted. A difference is a line in capitals.
"""

import email
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import relbase

RETRIEVED: Final = "http://news.example/a/letter;x=1/5.html?y=/../z"
LINKS: Final = re.compile("(a|area|link) href|(img|script|i?frame) src|form action|.* background")
SEVERAL: Final = {
    "style": re.compile(r"""(url\(\s*["']?)([^"')]*)""", re.IGNORECASE),
    "srcset": re.compile(r"(^|,\s+)(\S+)"),
}


# §2.4: scheme, net_loc, path, params, query and fragment, with their delimiters
PARTS: Final = re.compile(r"(?s)([\w+.-]+:)?(//[^/#]*)?([^;?#]*)(;[^?#]*)?(\?[^#]*)?(#.*)?")


def resolve(base: str, reference: str) -> str:
    """§4, step by step."""
    if not base or not reference:  # 1, 2a
        return reference or base
    old, new = (list(PARTS.fullmatch(url).groups("")) for url in (base, reference))  # type: ignore[union-attr]
    if new[0]:  # 2b
        return reference
    new[0] = old[0]  # 2c
    if new[1] in {"", "//"}:  # 3
        new[1] = old[1]
        if not new[2]:  # 5
            new[2] = old[2]
            if not new[3]:
                new[3] = old[3]
                new[4] = new[4] or old[4]
        elif not new[2].startswith("/"):  # 4, 6
            new[2] = merged(old[2].rpartition("/")[0] + "/" + new[2])
    if new[1] and "".join(new[2:5])[:1] not in {"", "/"}:  # 7
        new[2] = "/" + new[2]
    return "".join(new)


def merged(path: str) -> str:
    """§4, steps 6a to 6d."""
    kept: list[str] = []
    ends = ""
    for step in path.split("/"):
        is_up = step == ".." and len(kept) > 1 and kept[-1] != ".."
        ends = "/" if is_up or step == "." else ""
        if is_up:
            kept.pop()
        elif step != ".":
            kept.append(step)
    return "/".join(kept) + ends


def stated(message: Message, outer: str) -> str:
    """§3.1: what the header of a message or part states as the base of what it holds."""
    for name in ("Base", "Content-Base", "Content-Location"):
        value = re.sub(r"\s+|^<URL:|^<|>$", "", str(message.get(name, "")))
        if value and not set(value) & set('<>"'):
            return resolve(outer, value).partition("#")[0]
    return outer


class Page(HTMLParser):
    """The values in a page, in order: what they are in, and what they say."""

    CDATA_CONTENT_ELEMENTS = ("script", "style", "noframes", "textarea", "title")  # type: ignore[misc]

    def __init__(self, text: str) -> None:
        super().__init__()
        self.base, self.values = "", list[tuple[str, str]]()
        with suppress(AssertionError):  # what html.parser makes of some `<![`
            self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in dict(reversed(attrs)).items():  # the first of each name counts
            if (tag, name) == ("base", "href"):
                self.base = self.base or trimmed(value or "")
            self.values.append((f"{tag} {name}", value or ""))

    def handle_data(self, data: str) -> None:
        self.values.append((f"text {self.cdata_elem}", data))

    def handle_comment(self, data: str) -> None:
        if data.lstrip().startswith("[if"):
            self.values += Page(data.partition(">")[2]).values


def pages(message: Message, outer: str) -> Iterator[tuple[str, Page]]:
    """Of each page of a message the base around it, and its values."""
    base = stated(message, outer)
    for part in message.get_payload() if message.is_multipart() else ():
        assert isinstance(part, Message)
        yield from pages(part, base)
    if message.get_content_type() == "text/html":
        data = message.get_payload(decode=True)
        assert isinstance(data, bytes)
        yield base, Page(data.decode("latin-1"))  # byte by byte, whatever the charset


def trimmed(value: str) -> str:
    return re.sub(r"[\t\r\n]", "", value.strip("".join(map(chr, range(33)))))


def verdict(name: str, was: str, now: str, base: str) -> str:
    reference = trimmed(was)
    wanted = resolve(base, reference)
    if was == now:
        return "LEFT" if LINKS.fullmatch(name) and reference and wanted != reference else "same"
    if several := SEVERAL.get(name.split()[1]):
        wanted = several.sub(lambda found: found[1] + resolve(base, found[2].strip()), reference)
    return "changed" if trimmed(now) == wanted else "CHANGED"


def main() -> None:
    seen: Counter[str] = Counter()
    for path in sorted(p for name in sys.argv[1:] for p in Path(name).rglob("*") if p.is_file()):
        data = path.read_bytes()
        result = relbase.rewrite(data, url=RETRIEVED, kind="mail")
        seen.update(["messages"], **{"messages changed": int(result.changed)})
        old, new = (email.message_from_bytes(each) for each in (data, result.data))
        for (base, page), (_, other) in zip(pages(old, RETRIEVED), pages(new, ""), strict=True):
            for (name, was), (_, now) in zip(page.values, other.values, strict=True):
                found = verdict(name, was, now, resolve(base, page.base))
                seen["noted" if found == "LEFT" and result.notes else found] += 1
                if found.isupper() and not (found == "LEFT" and result.notes):
                    sys.stdout.write(f"{path}: {found} {name} {was[:90]!r} {now[:120]!r}\n")
    sys.stdout.write(f"{dict(seen)}\n")


if __name__ == "__main__":
    main()
