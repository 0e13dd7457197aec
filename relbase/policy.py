"""What the caller can choose. Each field is an option of the command line, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from relbase.expressions import expression

# `{http://www.tei-c.org/ns/1.0}graphic@url=url`
XML_ROW: Final = expression(
    r"(?:\{([^{}\s]*)\})?([^\s@={}:]+)(?:@([^\s@={}:]+))?=(url|list|srcset|css|html)"
)


def _texts(field: str, what: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{field} must be a sequence of strings, not {type(given).__name__}")
    texts = tuple(given)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    return texts


def _xml_rows(given: object) -> tuple[str, ...]:
    rows = _texts("xml_rows", "a row of XML", given)
    for row in rows:
        if XML_ROW.fullmatch(row) is None:
            fix = "give '{namespace}element@attribute=url' (or list, srcset, css, html)"
            raise ValueError(f"{row[:200]!r} is not a row of XML: {fix}")
    return rows


def _templates(given: object) -> tuple[str, ...]:
    templates = _texts("templates", "a template", given)
    for template in templates:
        opening, star, closing = template.partition("*")
        if not (opening and star and closing) or "*" in closing:
            fix = "give text with one '*' in it, such as '###*###'"
            raise ValueError(f"{template[:200]!r} is not the form of a placeholder: {fix}")
    return templates


_PLACE: Final = expression(r"[^\s@={}:]+(?:@[^\s@={}]+)?")
_WITHOUT_TEXT: Final = frozenset(("a", "area", "body", "embed", "form", "frame", "iframe", "img"))


def _places(given: object) -> tuple[str, ...]:
    places = _texts("only", "a place of links", given)
    for place in places:
        if _PLACE.fullmatch(place) is None:
            fix = "give 'element@attribute', or 'element' for its text ('*' means any)"
            raise ValueError(f"{place[:200]!r} is not a place of links: {fix}")
        if place.lower() in _WITHOUT_TEXT:
            fix = f"give '{place}@*' for its attributes"
            raise ValueError(f"{place} has no links in its text: {fix}")
    return tuple(place.lower() for place in places)


_SYNTAXES: Final = ("url", "srcset", "css")
_is_name: Final = expression(r"[^\s\x00\"'>/=]++")


def _attributes(given: object) -> tuple[tuple[str, str], ...]:
    """Names and syntaxes, from a mapping or pairs; the last pair with a name counts."""
    pairs: object = given.items() if isinstance(given, Mapping) else given
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise TypeError(f"attributes must be a mapping, not {type(given).__name__}: {_FIX}")
    rows: dict[str, str] = {}
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == len(("name", "syntax"))):
            raise TypeError(f"{pair!r:.200} is not a (name, syntax) pair: {_FIX}")
        name, syntax = pair
        if not isinstance(name, str) or _is_name.fullmatch(name) is None:
            raise ValueError(f"{name!r:.200} is not the name of an attribute: {_FIX}")
        if syntax not in _SYNTAXES:
            raise ValueError(f"{syntax!r:.200} is not a syntax: give {', '.join(_SYNTAXES)}")
        rows[name.encode().lower().decode()] = syntax
    return tuple(sorted(rows.items()))


_FIX: Final = "give {'data-link': 'url'} (or srcset, css)"
_CHECKS: Final[Mapping[str, Callable[[object], object]]] = {
    "only": _places,
    "templates": _templates,
    "xml_rows": _xml_rows,
    "attributes": _attributes,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Choices about what is rewritten; the defaults are what most users want.

    Args:
        keep_fragments: leave references into the same document (`#top`) unchanged.
        keep: leave references that match this regular expression unchanged.
        only: rewrite only the links in these places: `img@src`, `*@style`, or `style` for an
            element's text, by names without a namespace. A `<base>` still decides.
        extended: also rewrite what only some readers treat as URLs: RDFa, JSON-LD, and values of
            params, lazy loading and social media that look like a path (`x.png`, but not `x`).
        attachments: rewrite documents attached to a message.
        dkim_signed: rewrite messages that carry a DKIM signature or an ARC seal.
        keep_templates: leave references that begin with a placeholder, such as `{{url}}`,
            unchanged, and never change a placeholder.
        templates: also treat text of this form as a placeholder, and imply keep-templates:
            `###*###`, with one `*` for any text.
        ignore_base: resolve links as if the document had no `<base>`, and leave it unchanged.
        private_bases: also resolve links against bases that only one program can use, such as
            `x-msg://38/`.
        item_links: resolve the HTML of a feed's items against each item's link, as some readers do.
        site_links: resolve the links of a feed against the URL of its site, which it states.
        xml_rows: also rewrite these places in XML: `{namespace}element@attribute=url` (or `list`,
            `srcset`, `css`, `html`; without `@attribute` the element's text).
        attributes: also rewrite these attributes of HTML: `data-link=url` (or `srcset`, `css`). In
            Python a mapping of names to syntaxes.

    Raises:
        TypeError: if `keep` is not a compiled pattern of strings, `only`, `templates` or `xml_rows`
            does not hold strings, or another field is not a bool.
        ValueError: if a place, a template, a row of XML, an attribute or its syntax is malformed.

    >>> Policy(keep=re.compile(r"^/private/")).keeps("/private/x")
    True
    """

    keep_fragments: bool = False
    keep: re.Pattern[str] | None = None
    only: tuple[str, ...] = ()
    extended: bool = False
    attachments: bool = True
    dkim_signed: bool = True
    keep_templates: bool = False
    templates: tuple[str, ...] = ()
    ignore_base: bool = False
    private_bases: bool = False
    item_links: bool = False
    site_links: bool = False
    xml_rows: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] | Mapping[str, str] = ()

    def __post_init__(self) -> None:
        keep: object = self.keep
        is_compiled = isinstance(keep, re.Pattern) and isinstance(keep.pattern, str)
        if keep is not None and not is_compiled:
            raise TypeError("keep takes a compiled pattern: give re.compile(...)")
        for field in fields(self):
            value: object = getattr(self, field.name)
            if check := _CHECKS.get(field.name):
                if value != ():
                    object.__setattr__(self, field.name, check(value))
            elif field.name != "keep" and not isinstance(value, bool):
                raise TypeError(f"{field.name} must be True or False, not {type(value).__name__}")

        if self.templates:
            object.__setattr__(self, "keep_templates", True)

    def keeps(self, reference: str) -> bool:
        """Return whether the policy leaves a relative reference unchanged.

        >>> Policy(keep_templates=True).keeps("{{ user }}/x")
        True
        """
        return (
            (self.keep_fragments and reference.startswith("#"))
            or (self.keep_templates and begins_with_placeholder(reference, self.templates))
            or (self.keep is not None and self.keep.search(reference) is not None)
        )

    @property
    def is_scanned(self) -> bool:
        """Whether the compiled scanner, which knows only what is built in, finds all links."""
        return not (self.attributes or self.keep_templates or self.only)

    def chooses(self, element: str, attribute: str) -> bool:
        """Return whether links in this place may be rewritten.

        >>> Policy(only=("*@style", "style")).chooses("p", "style")
        True
        """
        if not self.only:
            return True
        elements = element.rpartition(":")[2].lower(), "*"
        ends = (f"@{attribute.lower()}", "@*") if attribute else ("",)
        return any(name + end in self.only for name in elements for end in ends)

    def placeholders(self, reference: str) -> list[tuple[int, int]]:
        """Return where a reference has placeholders that must not change.

        >>> Policy(templates=("@*@",)).placeholders("/a/@b@/{{c}}")
        [(3, 6), (7, 12)]
        """
        return placeholders(reference, self.templates) if self.keep_templates else []

    def masked(self, value: bytes, *, closed: bool = False) -> bytes:
        """Return a value in which no placeholder holds a delimiter; all offsets stay.

        With `closed`, placeholders that do not end are left out: the value is a style sheet.
        """
        if not self.keep_templates:
            return value
        text, masked = value.decode("latin-1"), bytearray(value)
        for start, end in placeholders(text, self.templates, closed=closed):
            if not (closed and _is_css(text, start, end)):
                masked[start:end] = b"~" * (end - start)  # of no name, and allowed in each URL
        return bytes(masked)

    def keeper(self) -> Callable[[str], object] | None:
        """Return the fastest function that answers as `keeps` does; None if it keeps nothing.

        Only this method decides whether references need to be tested at all. A field counts as a
        reason to test them unless `_DECIDES_ELSEWHERE` lists it.
        """
        if self == DEFAULT_POLICY:
            return None
        deciding = [
            field.name
            for field in fields(self)
            if field.name not in _DECIDES_ELSEWHERE and getattr(self, field.name) != field.default
        ]
        if type(self).keeps is not Policy.keeps:
            return self.keeps
        if not deciding:
            return None
        return self.keep.search if self.keep and deciding == ["keep"] else self.keeps


# Fields whose effect does not depend on the text of a reference.
_DECIDES_ELSEWHERE: Final = frozenset(
    (
        *("extended", "attachments", "dkim_signed", "ignore_base", "private_bases", "item_links"),
        *("site_links", "xml_rows", "attributes"),
    )
)
DEFAULT_POLICY: Final = Policy()


def begins_with_placeholder(reference: str, templates: tuple[str, ...] | None = None) -> bool:
    """Return whether a placeholder is at the start of a reference, or in its scheme."""
    spans = placeholders(reference, templates)
    if not spans:
        return False
    start, end = spans[0]
    # The placeholder may be a part of the scheme.
    return start == 0 or bool(
        _scheme.fullmatch(reference, 0, start) and _colon.match(reference, end)
    )


_scheme: Final = expression(r"[A-Za-z][A-Za-z0-9+.-]*+")
_colon: Final = expression(r"[^/?#:]*+:")


def placeholders(
    reference: str, templates: tuple[str, ...] | None = None, *, closed: bool = False
) -> list[tuple[int, int]]:
    """Return where a reference has placeholders, which a program has yet to fill in.

    With `templates`, a user's own and those that only count at the beginning are among them.
    """
    common = _common(reference, closed=closed) if _rarely.search(reference) else []
    if templates is None:
        return common
    beginning = _beginning.match(reference)
    own = [beginning.span()] if beginning else []
    for template in templates:
        own += _of_template(reference, template)
    return _apart([*own, *common]) if own else common


def _of_template(reference: str, template: str) -> list[tuple[int, int]]:
    opening, _, closing = template.partition("*")
    spans, at = list[tuple[int, int]](), reference.find(opening)
    while at >= 0 and (close := reference.find(closing, at + len(opening))) >= 0:
        end = close + len(closing)
        spans.append((at, end))
        at = reference.find(opening, end)
    return spans


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that overlap, in order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


# TYPO3's ###NAME### and ##NAME##, [NAME]/x, {Name}/x, ||url|| and $$url$$: at the beginning only.
_beginning: Final = expression(
    r"""(\#{2,3})[A-Za-z_][\w.:-]*+\1 | (?:\[[A-Za-z_][\w.-]*+\]|\{[A-Za-z_][\w.-]*+\})(?=[/?\#])
    | \|\|[^|\s]++\|\| | \$\$[^$\s]++\$\$""",
    re.VERBOSE,
)


def _is_css(text: str, start: int, end: int) -> bool:
    """Whether what looks like a placeholder may be CSS: `*|*{} a|*{}`, `a[b=c]`."""
    is_code = text[start : start + 2] in {"{{", "{%", "<%", "<?", "[%"}
    return not is_code and bool(_of_css.search(text, start + 2, end - 1))


_of_css: Final = expression("[{};]")


def _common(reference: str, *, closed: bool) -> list[tuple[int, int]]:
    if _whole.fullmatch(reference):
        return [(0, len(reference))]
    spans: list[tuple[int, int]] = []
    missing: set[re.Pattern[str]] = set()
    at = 0
    while opening := _opening.search(reference, at):
        at, end = opening.span()
        closing, is_open = _CLOSINGS.get(opening[0].lower(), (None, False))
        if closing is None:
            # %name%, unless both `%` begin an escape such as %20.
            is_escape = _escape.match(reference, at) and _escape.match(reference, end)
            stop = 0 if is_escape else end + 1
        elif closing in missing:
            stop = 0
        elif (close := closing.search(reference, end)) is not None:
            stop = close.end()
        else:
            # Search for each closing only once if it is missing, so that the time stays linear.
            missing.add(closing)
            stop = len(reference) if is_open and not closed else 0
        if stop:
            spans.append((at, stop))
        at = stop or at + 1
    return spans


# Without one of these there is no placeholder.
_rarely: Final = expression(r"[{<%|\[]|\A-")

# What opens a placeholder, what closes it, and whether it counts if it is not closed: a quote in it
# often ends the attribute early.
_CLOSINGS: Final = {
    "{{": (expression(r"\}\}+"), True),  # Jinja, Django, Handlebars, Liquid; {{{ raw }}}
    "{%": (expression("%}"), True),
    "[% ": (expression("%]"), True),  # Template Toolkit; `[%22` stands in URLs
    "[%-": (expression("%]"), True),
    "<%": (expression("%>"), True),  # ERB, ASP, JSP
    "<?": (expression(r"\?>"), True),  # PHP
    "${": (expression("}"), False),  # JSP, Thymeleaf, Freemarker, JavaScript
    "#{": (expression("}"), False),  # Ruby, JSF
    "{!": (expression("}"), False),  # Salesforce
    "%%": (expression("%%"), False),  # Salesforce Marketing Cloud, ezmlm
    "%7b%7b": (expression("%7d%7d", re.IGNORECASE), False),  # {{ }} percent-encoded by an editor
    "*|": (expression(r"\|\*"), False),  # Mailchimp
    "[[": (expression("]]"), False),  # Mailjet, WordPress plugins
}
# Or %name%.
_opening: Final = expression(
    "|".join(map(re.escape, _CLOSINGS)) + r"|%[A-Za-z_][\w.:-]*+(?=%)", re.IGNORECASE
)


# [link], {link} and -link-: as the whole value only, since URLs hold such characters too.
_whole: Final = expression(r"\[[^\[\]]++\] | \{[^{}]++\} | -[A-Za-z_][\w.]*+-", re.VERBOSE)

_escape: Final = expression(r"%[0-9A-Fa-f]{2}")
