"""RFC 1808 §4, step by step, in the order and with the numbers of its text.

Components are absent or empty as in `relbase.url.rfc1808`, which resolves without telling. Step 6
is done here as the RFC words it, one operation after the other, where that has one stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.url.rfc1808 import Components, split, unsplit
from relbase.url.steps.step import MAX_REPEATED, Step, quoted, top_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


def steps(base: str, reference: str) -> Iterator[Step]:
    """Yield the steps of §4 that are taken; the value of the last one is the result.

    >>> [step.number for step in steps("http://a/b", "/g")]
    ['1', '2', '2a', '2b', '2c', '3', '4', '7']
    """
    if base == "":
        yield Step("1", "the base is unknown: the reference is taken for absolute", reference)
        return
    yield Step("1", "the base is established (section 3)", base)
    inherited, parts = split(base), split(reference)
    yield Step("2", f"the base has {_listed(inherited)}; the reference has {_listed(parts)}")
    if reference == "":
        yield Step("2a", "the reference is entirely empty: it inherits the entire base", base)
        return
    yield Step("2a", "the reference is not empty")
    if parts.scheme is not None:
        text = f"it starts with the scheme name {quoted(parts.scheme)}: it is absolute"
        yield Step("2b", text, reference)
        return
    yield Step("2b", "it starts with no scheme name")
    parts = parts._replace(scheme=inherited.scheme)
    yield Step("2c", f"it inherits the scheme {quoted(parts.scheme)}")
    if parts.net_loc:
        yield Step("3", f"its net_loc {quoted(parts.net_loc)} is not empty: skip to step 7")
    else:
        parts = yield from _inheriting(inherited, parts)
    yield Step("7", f"the components are recombined{_remark(parts)}", unsplit(parts))


def _inheriting(base: Components, parts: Components) -> Generator[Step, None, Components]:
    """Steps 3 to 6."""
    if base.net_loc is None:
        yield Step("3", "its net_loc is empty, and the base has none")
    else:
        yield Step("3", f"its net_loc is empty: it inherits {quoted(base.net_loc)}")
        parts = parts._replace(net_loc=base.net_loc)
    if parts.path.startswith("/"):
        yield Step("4", "its path is preceded by a slash, and not relative: skip to step 7")
        return parts
    yield Step("4", "its path is not preceded by a slash")
    if parts.path == "":
        return (yield from _with_base_path(base, parts))
    yield Step("5", "its path is not empty")
    return parts._replace(path=(yield from _merging(base.path, parts.path)))


def _with_base_path(base: Components, parts: Components) -> Generator[Step, None, Components]:
    """Step 5."""
    yield Step("5", "its path is empty: it inherits the base's", base.path)
    parts = parts._replace(path=base.path)
    if parts.params:
        yield Step("5a", f"its params {quoted(parts.params)} are not empty: skip to step 7")
        return parts
    yield Step("5a", f"its params are empty: it inherits {quoted(base.params)}")
    if base.params is not None:
        parts = parts._replace(params=base.params)
    if parts.query:
        yield Step("5b", f"its query {quoted(parts.query)} is not empty: skip to step 7")
        return parts
    yield Step("5b", f"its query is empty: it inherits {quoted(base.query)}; skip to step 7")
    return parts if base.query is None else parts._replace(query=base.query)


def _merging(base_path: str, path: str) -> Generator[Step, None, str]:
    """Step 6. The slash before a path is not part of it (§2.4.6): it is set aside."""
    after_last = base_path.rfind("/") + 1
    removed = base_path[after_last:]
    merged = base_path[:after_last] + path
    slash = "/" if merged.startswith("/") else ""
    segments = merged.removeprefix("/").split("/")
    text = f"the last segment of the base's path, {quoted(removed)}, gives way to the reference's"
    yield Step("6", text, merged, top_of(segments))

    *inner, last = segments
    segments = [*(segment for segment in inner if segment != "."), last]
    count = len(inner) + 1 - len(segments)
    text = f'{count} x "./" is removed' if count else 'there is no "./" to remove'
    yield Step("6a", text, slash + "/".join(segments), top_of(segments))

    if last == ".":
        segments[-1] = ""
        yield Step(
            "6b", 'the "." at the end is removed', slash + "/".join(segments), top_of(segments)
        )
    else:
        yield Step("6b", 'the path does not end with "."')

    *inner, last = segments
    kept = yield from _climbing(inner)
    if last == ".." and kept and kept[-1] != "..":
        segment, last = kept.pop(), ""
        yield Step(
            "6d",
            f'the "{quoted(segment)[1:-1]}/.." at the end is removed',
            None,
            top_of([*kept, last]),
        )
    else:
        yield Step("6d", 'the path does not end with "<segment>/.."')
    return slash + "/".join([*kept, last])


def _climbing(segments: list[str]) -> Generator[Step, None, list[str]]:
    """Step 6c, with the segments before the last one; the leftmost match is always next."""
    kept: list[str] = []
    count = 0
    for segment in segments:
        if segment != ".." or not kept or kept[-1] == "..":
            kept.append(segment)
            continue
        away = kept.pop()
        count += 1
        if count <= MAX_REPEATED:
            yield Step("6c", f'"{quoted(away)[1:-1]}/../" is removed', None, top_of(kept))
    if count > MAX_REPEATED:
        yield Step("6c", f"{count - MAX_REPEATED} more are removed", None, top_of(kept))
    if not count:
        yield Step("6c", 'there is no "<segment>/../" to remove')
    return kept


def _listed(parts: Components) -> str:
    """The components that are there: absent ones are not said."""
    said = [
        f"{name} {quoted(value)}" for name, value in parts._asdict().items() if value is not None
    ]
    return ", ".join(said)


def _remark(parts: Components) -> str:
    """What is written between components that may not follow one another."""
    path = parts.path
    if parts.net_loc is None:
        return ', with an empty net_loc: the path begins with "//"' if path[:2] == "//" else ""
    follows = path or parts.params is not None or parts.query is not None
    return ', with "/" after the net_loc (section 2.2)' if follows and path[:1] != "/" else ""
