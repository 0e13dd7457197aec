"""The WHATWG URL Standard's basic URL parser, state by state, as it runs for one reference.

https://url.spec.whatwg.org/#url-parsing. The parser itself is ada-url, as in `relbase.url.whatwg`;
what is written down here is which states it goes through and what each of them takes, inherits or
drops. The result is the parser's, and a test compares the stack of the path state with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple
from relbase.url import whatwg
from relbase.url.steps.step import MAX_REPEATED, Step, quoted, top_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_SPECIAL: Final = frozenset(("http", "https", "ftp", "ws", "wss", "file"))
_scheme_match: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):").match
_base_match: Final = re.compile(r"([a-z][a-z0-9+.-]*):(//[^/?#]*)?([^?#]*)(\?[^#]*)?").match
_C0_OR_SPACE: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = str.maketrans("", "", "\t\n\r")
_slash_split: Final = re.compile(r"[/\\]").split


# "Windows drive letter", and a normalized one.
_drive_match: Final = re.compile(r"[A-Za-z][:|]\Z").match
_kept_drive_match: Final = re.compile(r"[A-Za-z]:\Z").match
_starts_with_drive: Final = re.compile(r"[A-Za-z][:|](?:[/\\?#]|\Z)").match


class _Kind(NamedTuple):
    """What the path state asks of a scheme: whether it is special, and whether it is file."""

    special: bool
    file: bool


_OTHER: Final = _Kind(special=False, file=False)
_WEB: Final = _Kind(special=True, file=False)
_FILE: Final = _Kind(special=True, file=True)


class _Base(NamedTuple):
    """A base that the parser has serialised, in its parts."""

    scheme: str
    authority: str | None
    path: str
    query: str | None

    @property
    def is_opaque(self) -> bool:
        return self.authority is None and not self.path.startswith("/")


def steps(base: str, reference: str, charset: str = "utf-8") -> Iterator[Step]:
    """Yield the states that the parser goes through; the value of the last step is the result.

    >>> [step.number for step in steps("http://a/b", "?y")][1:4]
    ['scheme start state', 'no scheme state', 'relative state']
    """
    prepared = whatwg.PreparedBase(base, charset)
    parsed = _parsed(whatwg.resolve("", base)) if base else None
    text = reference.strip(_C0_OR_SPACE).translate(_REMOVED)
    changed = "white space is removed" if text != reference else "there is no white space to remove"
    yield Step("basic URL parser", changed, text)
    taken = _scheme_start(parsed, text)
    try:
        url = prepared.resolve(reference)
    except ValueError:
        yield from _until_failure(taken)
        yield Step("failure", "the parser returns failure")
        return
    yield from taken
    yield Step("URL serializer", "the URL record is serialised", url)


def _until_failure(taken: Iterator[Step]) -> Iterator[Step]:
    """The states before the one that fails: what has a host fails by it, or by its port."""
    for step in taken:
        yield step
        if step.number in {"host state", "file host state"}:
            return


def _parsed(serialised: str) -> _Base:
    found = _base_match(serialised)
    assert found is not None  # the parser gives no URL without a scheme
    return _Base(found[1], found[2], found[3], found[4])


def _scheme_start(base: _Base | None, text: str) -> Iterator[Step]:
    found = _scheme_match(text)
    if found is None:
        yield Step("scheme start state", "there is no scheme")
        yield from _no_scheme(base, text)
        return
    scheme, rest = found[1].lower(), text[found.end() :]
    yield Step("scheme start state", "an ASCII letter begins a scheme")
    yield Step("scheme state", f"the scheme is {quoted(scheme)}", scheme)
    slashes = rest[:2] in {"//", "/\\", "\\/", "\\\\"}
    if scheme == "file":
        yield from _file(base if base and base.scheme == "file" else None, rest)
    elif scheme in _SPECIAL and base is not None and base.scheme == scheme:
        number = "special relative or authority state"
        if rest.startswith("//"):
            yield Step(number, "two slashes follow: the reference is absolute")
            yield from _authority(rest.lstrip("/\\"), _WEB)
        else:
            yield Step(number, "the base has the same scheme: the rest is relative to it")
            yield from _relative(base, rest)
    elif scheme in _SPECIAL:
        what = "two slashes" if slashes else "slashes, or none, which does not matter"
        yield Step("special authority slashes state", what)
        yield from _authority(rest.lstrip("/\\"), _WEB)
    elif rest.startswith("//"):
        yield Step("path or authority state", "two slashes follow")
        yield from _authority(rest[2:], _OTHER)
    elif rest.startswith("/"):
        yield Step("path or authority state", "one slash follows: there is no authority")
        yield from _path([], rest[1:], _OTHER)
    else:
        yield Step("opaque path state", "no slash follows: the path is opaque", rest)


def _no_scheme(base: _Base | None, text: str) -> Iterator[Step]:
    number = "no scheme state"
    if base is None:
        yield Step(number, "there is no base: missing-scheme-non-relative-URL, failure")
    elif base.is_opaque and not text.startswith("#"):
        yield Step(
            number, "the base has an opaque path: only a fragment is relative to it, failure"
        )
    elif base.is_opaque:
        yield Step(number, "all but the fragment is the base's")
        yield from _after_path(text)
    elif base.scheme == "file":
        yield Step(number, "the scheme of the base is file")
        yield from _file(base, text)
    else:
        yield Step(number, "the base is there, and its path is not opaque")
        yield from _relative(base, text)


def _relative(base: _Base, text: str) -> Iterator[Step]:
    kind = _WEB if base.scheme in _SPECIAL else _OTHER
    special = kind.special
    number = "relative state"
    if text[:1] == "/" or (special and text[:1] == "\\"):
        yield Step(number, f"the scheme is the base's, {quoted(base.scheme)}; a slash follows")
        if text[1:2] == "/" or (special and text[1:2] == "\\"):
            yield Step("relative slash state", "a second slash follows: an authority comes")
            yield from _authority(text[2:].lstrip("/\\") if special else text[2:], kind)
        else:
            yield Step("relative slash state", f"the authority is the base's{_shown(base)}")
            yield from _path([], text[1:], kind)
        return
    yield from _inheriting(base, text, number, kind)


def _inheriting(base: _Base, text: str, number: str, kind: _Kind) -> Iterator[Step]:
    """What `relative state` and `file state` do with the base's path and query."""
    path = base.path.removeprefix("/").split("/") if base.path else []
    yield Step(
        number, f"scheme, authority{_shown(base)} and path are the base's", None, top_of(path)
    )
    if text == "":
        yield Step(number, f"nothing is left: the query is the base's too, {quoted(base.query)}")
    elif text[0] in "?#":
        if text[0] == "#":
            yield Step(number, f"the query is the base's too, {quoted(base.query)}")
        yield from _after_path(text)
    elif kind.file and _starts_with_drive(text):
        yield Step(number, "the query is dropped, and the path: a drive letter follows", None, ())
        yield from _path([], text, kind)
    else:
        _shorten(path, kind)
        yield Step(
            number, "the query is dropped, and the last segment of the path", None, top_of(path)
        )
        yield from _path(path, text, kind)


def _shown(base: _Base) -> str:
    return "" if base.authority is None else f" {quoted(base.authority[2:])}"


def _file(base: _Base | None, text: str) -> Iterator[Step]:
    if text[:1] not in {"/", "\\"}:
        if base is None:
            yield Step("file state", "the host is empty, and there is no base of file")
            yield from _path([], text, _FILE)
        else:
            yield from _inheriting(base, text, "file state", _FILE)
    elif text[1:2] in {"/", "\\"}:
        yield Step("file state", "a slash follows")
        yield Step("file slash state", "a second slash follows")
        yield from _file_host(text[2:])
    else:
        yield Step("file state", "a slash follows")
        yield from _file_slash(base, text[1:])


def _file_host(text: str) -> Iterator[Step]:
    host, rest = _cut(text, _FILE)
    if _drive_match(host):
        yield Step("file host state", f"{quoted(host)} is a drive letter, and no host")
        yield from _path([], text, _FILE)
    else:
        yield Step("file host state", "the host, which may be empty", host)
        yield from _path([], rest[1:] if rest[:1] in {"/", "\\"} else rest, _FILE)


def _file_slash(base: _Base | None, text: str) -> Iterator[Step]:
    number = "file slash state"
    yield Step(number, f"the host is the base's{_shown(base) if base else ', none'}")
    stack: list[str] = []
    drive = base.path[1:].partition("/")[0] if base else ""
    if _kept_drive_match(drive) and not _starts_with_drive(text):
        stack.append(drive)
        yield Step(number, f"the drive letter {quoted(drive)} is the base's", None, top_of(stack))
    yield from _path(stack, text, _FILE)


def _cut(text: str, kind: _Kind) -> tuple[str, str]:
    found = re.search(r"[/\\?#]" if kind.special else "[/?#]", text)
    end = found.start() if found else len(text)
    return text[:end], text[end:]


def _authority(text: str, kind: _Kind) -> Iterator[Step]:
    special = kind.special
    authority, rest = _cut(text, kind)
    login, at, host = authority.rpartition("@")
    if at:
        yield Step("authority state", f"user and password are {quoted(login)}")
    else:
        yield Step("authority state", "there is no user")
    yield Step("host state", "the host, and the port if there is one", host)
    if rest[:1] in {"/", "\\"} or special:
        yield Step("path start state", "the path begins")
    if rest[:1] == "/" or (special and rest[:1] == "\\"):
        yield from _path([], rest[1:], kind)
    elif special:
        yield from _path([], rest, kind)
    else:
        yield from _after_path(rest)


def _path(stack: list[str], text: str, kind: _Kind) -> Iterator[Step]:
    """The path state: a segment at a time onto the stack, or one off it."""
    path, after = re.match(r"([^?#]*)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    segments = _slash_split(path) if kind.special else path.split("/")
    count = 0
    for index, segment in enumerate(segments):
        is_last = index == len(segments) - 1
        what = _push(stack, segment, kind, is_last=is_last)
        count += 1
        if count <= MAX_REPEATED:
            yield Step("path state", what, None, top_of(stack))
    if count > MAX_REPEATED:
        more = f"{count - MAX_REPEATED} more segments"
        yield Step("path state", more, None, top_of(stack))
    yield from _after_path(after)


def _push(stack: list[str], segment: str, kind: _Kind, *, is_last: bool) -> str:
    name = segment.lower().replace("%2e", ".") if len(segment) <= len("%2e%2e") else segment
    if name == "..":
        away = _shorten(stack, kind)
        what = (
            f"{quoted(segment)} takes {quoted(away)} away"
            if away is not None
            else (f"{quoted(segment)} finds nothing to take away")
        )
    elif name == ".":
        what = f"{quoted(segment)} is passed over"
    elif kind.file and not stack and _drive_match(segment):
        stack.append(f"{segment[0]}:")
        return f"{quoted(segment)}, a drive letter, is put on the path as {quoted(stack[0])}"
    else:
        stack.append(segment)
        return f"{quoted(segment)} is put on the path"
    if is_last:
        stack.append("")
        what += ", and the path ends in a slash"
    return what


def _shorten(stack: list[str], kind: _Kind) -> str | None:
    """Take the last segment away and return it; None where there is none, or only a drive."""
    if not stack or (kind.file and len(stack) == 1 and _kept_drive_match(stack[0])):
        return None
    return stack.pop()


def _after_path(text: str) -> Generator[Step, None, None]:
    rest, crosshatch, fragment = text.partition("#")
    if rest.startswith("?"):
        yield Step("query state", "the query, percent-encoded in the document's charset", rest[1:])
    if crosshatch:
        yield Step("fragment state", "the fragment", fragment)
