"""RFC 3986 §5.2, step by step: parse, transform, merge, remove dot segments, recompose.

The removal of dot segments (§5.2.4) is the RFC's loop, with what each turn does to the input buffer
and, as a stack of segments, to the output buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.url.rfc3986 import Components, split, unsplit
from relbase.url.steps.step import MAX_REPEATED, Step, quoted, top_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


def steps(base: str, reference: str) -> Iterator[Step]:
    """Yield the steps of §5.2 that are taken; the value of the last one is the result.

    >>> [step.number for step in steps("http://a/b", "?y")]
    ['5.2.1', '5.2.2', '5.2.2', '5.2.2', '5.3']
    """
    if base == "":
        yield Step("5.1", "there is no base: the reference is returned as it is", reference)
        return
    inherited, r = split(base), split(reference)
    yield Step("5.2.1", f"Base has {_listed(inherited)}; R has {_listed(r)}")
    target = yield from _transform(inherited, r)
    apart = target.authority is None and target.path.startswith("//")
    remark = ', with "/." before it: without an authority no path begins with "//"' if apart else ""
    yield Step("5.3", f"the components are recomposed{remark}", unsplit(target))


def _transform(base: Components, r: Components) -> Generator[Step, None, Components]:
    """§5.2.2, in the order of its pseudo-code."""
    if r.scheme is not None:
        yield Step("5.2.2", f"R.scheme {quoted(r.scheme)} is defined: all components are R's")
        return r._replace(path=(yield from _remove_dot_segments(r.path)))
    yield Step("5.2.2", f"R.scheme is undefined: T.scheme is Base's, {quoted(base.scheme)}")
    if r.authority is not None:
        yield Step("5.2.2", f"R.authority {quoted(r.authority)} is defined: path and query are R's")
        return r._replace(scheme=base.scheme, path=(yield from _remove_dot_segments(r.path)))
    yield Step("5.2.2", f"R.authority is undefined: T's is Base's, {quoted(base.authority)}")
    query = r.query
    if r.path == "":
        if query is None:
            query = base.query
            text = f"R.path is empty and R.query undefined: T's are Base's, query {quoted(query)}"
        else:
            text = f"R.path is empty: T's is Base's; R.query {quoted(query)} is defined"
        yield Step("5.2.2", text, base.path)
        path = base.path
    elif r.path.startswith("/"):
        yield Step("5.2.2", 'R.path begins with "/": it is not merged')
        path = yield from _remove_dot_segments(r.path)
    else:
        yield Step("5.2.2", 'R.path does not begin with "/": it is merged')
        path = yield from _remove_dot_segments((yield from _merge(base, r.path)))
    return Components(base.scheme, base.authority, path, query, r.fragment)


def _merge(base: Components, path: str) -> Generator[Step, None, str]:
    """§5.2.3."""
    if base.authority is not None and base.path == "":
        merged = f"/{path}"
        yield Step(
            "5.2.3", "Base has an authority and an empty path: the path follows a slash", merged
        )
        return merged
    end = base.path.rfind("/") + 1
    merged = base.path[:end] + path
    yield Step("5.2.3", f"{quoted(base.path[end:])}, the last of Base.path, gives way", merged)
    return merged


def _remove_dot_segments(path: str) -> Generator[Step, None, str]:
    """§5.2.4, the loop."""
    output: list[str] = []
    at = turns = 0
    while at < len(path):
        rule, taken, text = _turn(path, at, output)
        at = taken
        turns += 1
        if turns <= MAX_REPEATED:
            left = quoted(path[at : at + 200])
            yield Step(f"5.2.4 {rule}", f"{text}; the input is now {left}", None, top_of(output))
    if turns > MAX_REPEATED:
        more = f"{turns - MAX_REPEATED} more turns of the loop"
        yield Step("5.2.4 2", more, None, top_of(output))
    result = "".join(output)
    yield Step("5.2.4 3", "the output buffer is the path", result, top_of(output))
    return result


def _turn(path: str, at: int, output: list[str]) -> tuple[str, int, str]:
    """One turn: its rule, where the input then begins, and what was done.

    Where the RFC puts a slash in front of the input, the input begins at the slash before it, or
    `path` has none left there and an empty segment is what comes of it.
    """
    for prefix in ("../", "./"):
        if path.startswith(prefix, at):
            return "2A", at + len(prefix), f"the prefix {quoted(prefix)} is removed"
    rest_length = len(path) - at
    for segment, rule in (("/..", "2C"), ("/.", "2B")):
        whole = path.startswith(f"{segment}/", at)
        if not whole and not (rest_length == len(segment) and path.startswith(segment, at)):
            continue
        text = f'{quoted(segment)} becomes "/"'
        if rule == "2C":
            away = output.pop() if output else None
            text += f" and {quoted(away)} leaves the output" if away is not None else ""
        if not whole:  # the "/" that is left is the whole input, and 2E moves it
            output.append("/")
            text += ", which is moved to the output (2E)"
        return rule, at + len(segment), text
    if rest_length < len("...") and path[at:] in {".", ".."}:
        return "2D", len(path), f"{quoted(path[at:])} is removed"
    slash = path.find("/", at + 1)
    end = len(path) if slash < 0 else slash
    output.append(path[at:end])
    return "2E", end, f"{quoted(path[at:end])} is moved to the output"


def _listed(parts: Components) -> str:
    """The components that are defined."""
    said = [
        f"{name} {quoted(value)}" for name, value in parts._asdict().items() if value is not None
    ]
    return ", ".join(said)
