"""The options that the commands on documents share, their values, and the call that they make."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import click

from relbase.cli import option_values
from relbase.cli.files import STDIN, is_message
from relbase.cli.group import Option, section
from relbase.cli.origins.finder import Origins
from relbase.cli.origins.places import Local
from relbase.cli.streams import Collected, Verbosity, printable
from relbase.expressions import any_of
from relbase.formats.recognition import kind_of_type
from relbase.kind import Kind
from relbase.policy import Policy
from relbase.session.options import Options, header_of
from relbase.session.session import Call, session_of
from relbase.url.profiles import DEFAULT, Profile, offered
from relbase.url.resolver import Resolver

if TYPE_CHECKING:
    from relbase.bases.headers import MessageUrlTable
    from relbase.cli.origins.paths import FoundUrl

# The --kind of a web archive, which is not a kind of document.
ARCHIVE: Final = "warc"
HELD: Final = ("webarchive", "har", "maff", "enex")  # files that hold pages: `warc.held.HOLDERS`
_KINDS: Final = (*(kind.value for kind in Kind), ARCHIVE, *HELD)


class Settings(NamedTuple):
    url: str | None
    redirects: tuple[str, ...]  # --redirect, else those of --headers
    fields: tuple[tuple[str, str], ...]  # of --headers
    kind: str | None
    charset: str | None
    profile: Profile
    policy: Policy
    detect: bool
    strict: bool
    verbosity: Verbosity = Verbosity.COUNTED
    origins: Origins = Origins()
    images_url: str | None = None
    message_urls: MessageUrlTable | None = None
    message_map: Mapping[str, FoundUrl] = {}  # by selectors; the source is a line
    replace: option_values.Replacing | None = None

    @property
    def made(self) -> str:
        """What reports say of the links that change."""
        return "made absolute" if self.replace is None else "rewritten"

    def call(self, name: str, *, examines: bool = False) -> Call:
        """Return the call for an input with this name, before its document is read."""
        kind = Kind(self.kind) if self.kind else None
        types = [value for field, value in self.fields if field.lower() == "content-type"]
        is_typed = bool(types) and kind_of_type(types[0]) is not None
        if kind is None and not is_typed and is_message(name):
            kind = Kind.MAIL
        options = Options(
            *(kind, self.charset, self.profile, self.policy, self.detect),
            *(self.message_urls, header_of(self.fields), self.images_url, examines),
        )
        name, replace = "" if name == STDIN else name, self.replace
        return Call(session_of(options), self.url, self.redirects, name, replace=replace)

    def unmatched(self, matched: Collection[str]) -> Collected:
        """Return the warnings on the lines of --message-map that select no message."""
        warned = Collected(self.verbosity)
        for selector, line in self.message_map.items():
            if selector not in matched:
                text = f"{option_values.quoted(selector)} selects no message [selects-nothing]"
                warned.add("selects-nothing", f"{line.source}: warning: {text}")
        return warned


# Each field of the policy as it is on the command line. A flag inverts the default of its field.
POLICY: Final = (
    *section(
        "Links",
        Option("--keep-fragments", "Leave references into the same document ('#top') unchanged."),
        Option(
            "--keep REGEX",
            "Leave references that match this regular expression unchanged (repeatable).",
            multiple=True,
            read=option_values.pattern,
        ),
        Option(
            "--only-link PLACE",
            "Rewrite only the links in these places: 'img@src', 'img@*', '*@style', or 'style' "
            "for an element's text (repeatable).",
            name="only_links",
            multiple=True,
            read=option_values.places,
        ),
        Option(
            "--extended",
            "Also rewrite what only some readers treat as URLs: RDFa, and values of params, lazy "
            "loading and social media that look like a path ('x.png', but not 'x').",
        ),
        Option(
            "--keep-templates",
            "Leave references that begin with a placeholder, such as '{{url}}', unchanged, and "
            "never change a placeholder.",
            basic=True,
        ),
        Option(
            "--template TEXT*TEXT",
            "Also treat text of this form as a placeholder, and imply keep-templates: "
            "'###*###', with one '*' for any text (repeatable).",
            name="templates",
            multiple=True,
            read=option_values.template,
        ),
        Option(
            "--ignore-base",
            "Resolve links as if the document had no '<base>', and leave it unchanged.",
        ),
        Option(
            "--private-bases",
            "Also resolve links against bases that only one program can use, such as "
            "'x-msg://38/'.",
        ),
        Option(
            "--item-links",
            "Resolve the HTML of a feed's items against each item's link, as some readers do.",
        ),
        Option(
            "--site-links",
            "Resolve the links of a feed against the URL that it states for its site.",
        ),
        Option(
            "--xml-row ROW",
            "Also rewrite these places in XML: '{namespace}element@attribute=url' (or 'list', "
            "'srcset', 'css', 'html'; without '@attribute' the element's text) (repeatable).",
            name="xml_rows",
            multiple=True,
            read=option_values.xml_rows,
        ),
        Option(
            "--attribute NAME=SYNTAX",
            "Also rewrite these attributes of HTML: 'data-link=url' (or 'srcset', 'css') "
            "(repeatable).",
            name="attributes",
            multiple=True,
            read=option_values.attributes,
        ),
    ),
    *section(
        "Mail",
        Option("--no-attachments", "Do not rewrite documents attached to a message."),
        Option(
            "--no-dkim-signed",
            "Do not rewrite messages that carry a DKIM signature or an ARC seal.",
        ),
    ),
)

# The parameter of each field.
_NAMES: Final = {
    field.name: f"no_{field.name}" if field.default is True else field.name
    for field in dataclasses.fields(Policy)
} | {"only": "only_links"}

if missing := {*_NAMES.values()} ^ {option.name for option in POLICY}:
    raise TypeError(f"POLICY has no row for these fields of Policy, or only a row: {missing}")


def policy_of(given: dict[str, Any]) -> Policy:
    """Return the policy that the options make, and take these out of the ones given."""
    fields = {field: given.pop(name) for field, name in _NAMES.items()}
    patterns = fields.pop("keep")
    for field, value in fields.items():
        if isinstance(value, tuple):
            fields[field] = tuple(chain.from_iterable(value))
        elif _NAMES[field].startswith("no_"):
            fields[field] = not value
    try:
        return Policy(keep=any_of(patterns) if patterns else None, **fields)
    except re.error as error:
        fix = "rename its groups, or write one expression, as 'A|B'"
        text = f"the expressions cannot be combined: {error}: {fix}"
        raise click.BadParameter(text, param_hint="'--keep'") from None


def settings(given: dict[str, Any]) -> Settings:
    dump = given.pop("headers")
    detect = not given.pop("no_detect")
    quiet, verbose = given.pop("quiet"), given.pop("verbose")
    if quiet and verbose:
        raise click.UsageError("-q and -v exclude each other: give one of them")
    mapped, names = given.pop("message_map"), given.pop("message_base")
    message_urls = None
    if mapped is not None or names is not None:
        from relbase.bases.headers import MessageUrlTable

        urls = {selector: line.url or "" for selector, line in (mapped or {}).items()}
        message_urls = MessageUrlTable(urls, tuple(map(str.lower, names or ())))
    policy = policy_of(given)
    profile = Profile(given.pop("profile"))
    rules = given.pop("replace", ())
    try:
        if given["url"]:
            Resolver(given["url"], profile)
    except ValueError as error:
        raise click.BadParameter(printable(str(error)), param_hint="'-u' / '--url'") from None
    return Settings(
        redirects=given.pop("redirect") or (dump.redirects if dump else ()),
        fields=dump.fields if dump else (),
        policy=policy,
        detect=detect,
        verbosity=Verbosity.NONE if quiet else Verbosity.ALL if verbose else Verbosity.COUNTED,
        message_urls=message_urls,
        message_map=mapped or {},
        replace=option_values.Replacing(rules) if rules else None,
        origins=Origins(detect, **{name: given.pop(name) for name in Origins._fields[1:]}),
        profile=profile,
        **{name: given.pop(name) for name in ("url", "images_url", "kind", "charset", "strict")},
    )


_DOCUMENTS: Final = (
    *section(
        "Document URL",
        Option(
            "-u, --url URL",
            "Use URL as the document's URL; it must be absolute.",
            basic=True,
            read=option_values.url,
        ),
        Option(
            "--root DIR=URL",
            "Give each file below DIR the URL of its path below URL (repeatable).",
            name="roots",
            basic=True,
            multiple=True,
            read=option_values.root,
        ),
        Option(
            "--images-url URL",
            "Resolve the images of Markdown, and of the HTML in it, against URL.",
            read=option_values.url,
        ),
        Option(
            "--images-root DIR=URL",
            "Resolve the images of each Markdown file below DIR against its path below URL "
            "(repeatable).",
            name="image_roots",
            multiple=True,
            read=option_values.root,
        ),
        Option(
            "--mirror DIR[=SCHEME]",
            "Read URLs from the paths of a mirror by wget or HTTrack (repeatable).",
            name="mirrors",
            basic=True,
            multiple=True,
            read=option_values.mirror,
        ),
        Option(
            "--map FILE",
            "Read URLs from FILE: a file name, a tab and its URL on each line, or CSV.",
            name="mapped",
            read=option_values.map_of_files,
        ),
        Option(
            "--sidecar SUFFIX",
            "Read the headers of each input from the file with its name plus SUFFIX.",
            name="sidecars",
            multiple=True,
            read=option_values.sidecar,
        ),
        Option(
            "--canonical", "Fall back to <link rel=canonical>, og:url, or a feed's link rel=self."
        ),
        Option("--original", "Undo the Wayback Machine: use the URLs of the page it archived."),
        Option(
            "--local MODE",
            "Choose what happens to links to files saved with the page: companion, keep, "
            "resolve or off.",
            type=click.Choice(get_args(Local)),
        ),
        Option(
            "--redirect URL",
            "Follow a redirect from --url (repeatable, in order); the last one counts.",
            multiple=True,
        ),
        Option(
            "--headers FILE",
            "Read the response's headers from FILE, as 'curl -D FILE' or 'wget -S' write them.",
            read=option_values.headers,
        ),
        Option("--no-detect", "Ignore URLs that a saving program left in the page or beside it."),
    ),
    *section(
        "Input",
        Option("-r, --recursive", "Recurse into directories; this is the default."),
        Option(
            "--files-from FILE",
            "Read the names of inputs from FILE, one per line ('-': standard input).",
            read=option_values.read_file,
        ),
        Option(
            "-0, --null", "Expect NUL after each name in --files-from, as 'find -print0' writes it."
        ),
        Option(
            "--kind KIND",
            f"Read inputs as {', '.join(_KINDS[:-1])} or {_KINDS[-1]}.",
            type=click.Choice(_KINDS),
        ),
        Option(
            "--charset LABEL",
            "Decode with this charset, unless the document has a byte order mark.",
            read=option_values.charset,
        ),
    ),
    *POLICY,
    *section(
        "Mail",
        Option(
            "--message-map FILE",
            "Read the URLs of messages from FILE: on each line a Message-ID, List-Id, "
            "address or @domain, a tab and a URL.",
            read=option_values.map_of_messages,
        ),
        Option(
            "--message-base FIELD,...",
            "Use the URL in this header field of a message, such as X-RSS-URL, as its URL.",
            read=option_values.message_base,
        ),
    ),
    Option("--strict", "Exit with status 1 on warnings."),
    Option("-v, --verbose", "Show every warning, and what was done to each input."),
    Option("-q, --quiet", "Show only errors.", basic=True),
)


def document_options(*, profiles: tuple[str, ...] = (), hint: str = "") -> list[click.Parameter]:
    """Return the parameters of a command that reads documents.

    `profiles` are other values of --profile.
    """
    profile = Option(
        "--profile NAME",
        f"Resolve by {offered()}{hint}.",
        basic=True,
        default=DEFAULT.value,
        type=click.Choice([*(profile.value for profile in Profile), *profiles]),
    )
    inputs = click.Argument(
        ["inputs"], nargs=-1, metavar="[INPUT|DIR]...", type=click.Path(readable=False)
    )
    return [*section("Links", profile), inputs, *_DOCUMENTS]


REPLACE: Final = Option(
    "--replace REGEX NEW",
    "Replace what matches REGEX in the URL of each link, absolute ones too; NEW may refer to "
    "groups, as in '\\1' (repeatable, in order).",
    multiple=True,
    nargs=2,
    read=option_values.rule,
)
