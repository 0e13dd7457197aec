"""The steps by which references resolve, and where the profiles part."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from relbase.explaining.markup import text, url
from relbase.session import run
from relbase.url.profiles import PROFILES, Profile
from relbase.url.resolver import Resolver

if TYPE_CHECKING:
    from relbase.results import Link
    from relbase.session.session import Call
    from relbase.url.step import Step

# Nobody reads the steps of a longer URL, and a hostile one has millions of segments.
MAX_TAKEN: Final = 10_000


def taken(link: Link, profile: Profile, encoding: str) -> list[Step]:
    """Return the steps by which a link got its URL; none if it is too long, or got it otherwise."""
    steps: list[Step] = []
    if len(link.reference) + len(link.base.url) <= MAX_TAKEN:
        with suppress(ValueError):
            steps = Resolver(link.base.url, profile, encoding).steps(link.reference)
    return steps if steps and steps[-1].value == link.url else []


def deciding(steps: Iterable[Step], profile: Profile) -> Step:
    """Return the last step that decides something: those after it only carry that out."""
    following = PROFILES[profile].following
    return [step for step in steps if not step.number.startswith(following)][-1]


def named(step: Step, profile: Profile) -> str:
    """Return a step as markup, with its number in its specification."""
    return f"{PROFILES[profile].steps}{text(step.number)}: {text(step.text)}"


class Comparison:
    """What every profile makes of the first links of a document."""

    def __init__(self, data: bytes, call: Call, encoding: str, most: int) -> None:
        self._encoding = encoding
        self._links = {
            profile: {_key(link): link for link in islice(run.links(opened), most)}
            for profile in Profile
            for opened in [call.with_options(profile=profile).opened(data)]
        }

    def part(self, link: Link) -> bool:
        """Tell whether the profiles make different URLs of a link."""
        return len({row.url if row else None for row in self._of(link).values()}) > 1

    def table(self, link: Link) -> str:
        """Return as markup what each profile makes of a link, and the step where it parts."""
        if not self.part(link):
            return '<p class="agree">The three profiles agree.</p>'
        links = self._of(link)
        several = len({row.base.url for row in links.values() if row}) > 1
        steps = {
            profile: taken(row, profile, self._encoding) if row else []
            for profile, row in links.items()
        }
        rows = "".join(
            f'<tr><th scope="row">{profile.value}</th><td>{_result(row, several=several)}</td>'
            f"<td>{_parting(steps, profile)}</td></tr>"
            for profile, row in links.items()
        )
        return f'<table class="profiles">{rows}</table>'

    def _of(self, link: Link) -> dict[Profile, Link | None]:
        return {profile: links.get(_key(link)) for profile, links in self._links.items()}


def _result(link: Link | None, *, several: bool) -> str:
    if link is None:
        return "not a link"
    shown = link.status.value if link.url is None else url(link.url)
    return f"{shown}<small>base {url(link.base.url)}</small>" if several else shown


def _parting(steps: dict[Profile, list[Step]], profile: Profile) -> str:
    """The step that decides; where profiles merge to the same path, what becomes of its dots."""
    if not steps[profile]:
        return ""
    step = deciding(steps[profile], profile)
    merged = [deciding(made, other).value for other, made in steps.items() if made]
    if step.value is not None and merged.count(step.value) > 1:
        numbers = PROFILES[profile].dots
        step = next((last for last in reversed(steps[profile]) if last.number in numbers), step)
    return named(step, profile) + ("" if step.value is None else f" → {url(step.value)}")


def _key(link: Link) -> tuple[object, ...]:
    return link.part, link.span, link.element, link.attribute, link.reference
