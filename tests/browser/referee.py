"""The browser as referee: the original at its URL against the output at another origin (law 10).

The output is opened at `ELSEWHERE` with its `<base>` gone. What is compared: the base that the
browser and relbase find; what each reference resolves to in the original and in the output; what
the browser resolves in the original with what `links` lists; and what relbase rewrites with what
the browser sees. A difference is excused by a rule of `exceptions`, which is counted, or it stays.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from cases import Case, normal, parses, place
from counts import Counts
from exceptions import Rule, is_same_base, of_base, of_reference, of_unlisted, of_unseen
from resolved import TABLE, Opened, Reference, Scripting, answer, read, read_frames, ways
from served import Site

from relbase import Link, Status

ELSEWHERE: Final = "http://elsewhere.test/deep/{}.html"

# How many documents are opened at once.
FRAMES: Final = 40


class Totals:
    """What was compared, and what was found."""

    def __init__(self) -> None:
        # What no rule excuses, by the name of the case; and how often which rule excused one.
        self.differences: dict[str, list[str]] = {}
        self.known: Counter[Rule] = Counter()
        self.documents = self.changed = 0
        # How many were compared with the output's, and are the same and were rewritten.
        self.references = self.rewritten = 0

    def count(self, counts: Counts, suite: str) -> None:
        """Tell how many bases and references were compared, and what the rules excuse."""
        rules = (f"{count} {rule.name}" for rule, count in self.known.most_common())
        note = f"{self.documents} documents: {', '.join(rules)}"
        counts(suite, self.documents + self.references, self.known.total(), note)

    def judge(self, case: Case, rule: Rule | None, text: str) -> None:
        """Count a difference that a rule excuses; note one that none does."""
        if rule is not None:
            self.known[rule] += 1
        else:
            self.differences.setdefault(case.name, []).append(text)


def judge(browser: Any, site: Site, cases: Sequence[Case], *, in_frames: bool = False) -> Totals:
    """Compare all cases; those that are read in frames have URLs of their own at one host."""
    totals = Totals()
    for at in range(0, len(cases), FRAMES):
        chunk = cases[at : at + FRAMES]
        seen: dict[str, Counter[Place]] = {case.name: Counter() for case in chunk}
        opened: dict[str, Opened] = {}
        for scripting in Scripting:
            some = [case for case in chunk if scripting in ways(case.data)]
            befores = _originals(browser, site, some, scripting, in_frames=in_frames)
            afters = _outputs(browser, site, some, scripting)
            for case, before, after in zip(some, befores, afters, strict=True):
                seen[case.name] |= Counter(map(place, before.references))
                opened[case.name] = before
                _compare(case, scripting, before, after, totals)
        for case in chunk:
            _compare_links(case, seen[case.name], opened[case.name], totals)
            totals.documents += 1
            totals.changed += case.result.changed
    return totals


def judge_all(
    browser: Any, site: Site, cases: Sequence[Case], *, in_frames: bool = False
) -> Totals:
    """Compare all cases, as above; no difference may stay."""
    totals = judge(browser, site, cases, in_frames=in_frames)
    assert totals.differences == {}
    return totals


Place = tuple[str, str, str]


def _originals(
    browser: Any, site: Site, cases: Sequence[Case], scripting: Scripting, *, in_frames: bool
) -> list[Opened]:
    answers = [answer(case.data, case.content_type, scripting) for case in cases]
    urls = [normal(case.url.partition("#")[0]) for case in cases]
    if in_frames:
        site.answers.update(zip(urls, answers, strict=True))
        return read_frames(browser, site, urls)
    opened = []
    for url, answered in zip(urls, answers, strict=True):
        site.answers[url] = answered
        opened.append(read(browser, url))
    return opened


def _outputs(browser: Any, site: Site, cases: Sequence[Case], scripting: Scripting) -> list[Opened]:
    answers = [answer(case.output, case.content_type, scripting) for case in cases]
    urls = [ELSEWHERE.format(number) for number in range(len(cases))]
    site.answers.update(zip(urls, answers, strict=True))
    return read_frames(browser, site, urls)


def _compare(
    case: Case, scripting: Scripting, before: Opened, after: Opened, totals: Totals
) -> None:
    """Compare a document, its output, and what relbase says of it."""

    def found(rule: Rule | None, text: str) -> None:
        if rule is None and scripting is Scripting.OFF and case.noscript_runs_over:
            rule = Rule.NOSCRIPT
        totals.judge(case, rule, f"scripting {scripting.value}: {text}")

    if normal(case.base.url) != before.base:
        is_same = is_same_base(case, before)
        text = f"the base is {case.base.url!r}, in the browser {before.base!r}"
        found(Rule.STANDARD if is_same else of_base(case, before), text)
        if not is_same:
            return
    ours, theirs = before.references, after.references
    if [row[:2] for row in ours] != [row[:2] for row in theirs]:
        found(None, f"{len(ours)} references become {len(theirs)}")
        return
    totals.references += len(ours)
    for old, new in zip(ours, theirs, strict=True):
        if old.url != new.url:
            found(of_reference(case, before, old, new), f"{old} becomes {new.url!r}")
        elif not _is_listed(case, old):
            found(of_unlisted(case, before, old), f"{old} is {case.at(old)}")
        else:
            totals.rewritten += any(link.status is Status.REWRITTEN for link in case.at(old))


def _is_listed(case: Case, seen: Reference) -> bool:
    """Whether `links` has a reference, and resolves it to the same."""
    if seen.computed:
        return seen.url in case.css or seen.url.startswith("#")
    return any(_is_same(case, link, seen) for link in case.at(seen))


def _is_same(case: Case, link: Link, seen: Reference) -> bool:
    """Whether a link is what a browser sees, which is the same in the output."""
    if link.status is Status.UNRESOLVED:
        return not parses(seen.url)
    if link.syntax == "css" and seen.url.startswith("#"):
        return link.status is Status.KEPT
    if link.url is None:  # The parser refuses it, or an empty action has no document to mean.
        is_refused = link.reference != "" and not parses(seen.url)
        return link.status is Status.KEPT and (is_refused or seen.url == "about:srcdoc")
    return seen.url in (case.meant(link) if link.status is Status.ABSOLUTE else {link.url})


def _compare_links(case: Case, seen: Counter[Place], opened: Opened, totals: Totals) -> None:
    """Whether the browser sees what relbase rewrites, as far as it knows the attribute."""
    for link in case.links:
        where = place(link)
        if link.status is not Status.REWRITTEN or not _is_known(link):
            continue
        if link in case.commented:
            totals.known[Rule.COMMENT] += 1
        elif seen[where] > 0:
            seen[where] -= 1
        else:
            text = f"{link.line}:{link.column}: the browser sees no {where}"
            totals.judge(case, of_unseen(case, link, opened), text)


def _is_known(link: Link) -> bool:
    rows = (TABLE[space].get(link.element, {}).get(link.attribute, ("",)) for space in TABLE)
    return any(row[0] in _SYNTAXES.get(link.syntax, ()) for row in rows)


# CSS is not seen where it applies to nothing, or the browser does not know the property.
_SYNTAXES: Final = {
    "url": ("url", "action"),
    "space list": ("spaces",),
    "srcset": ("srcset",),
    "refresh": ("refresh",),
}
