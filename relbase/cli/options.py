"""The options that the commands on documents share, their values, and the call that they make."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import click

from relbase.cli import option_values
from relbase.cli.files import STDIN, is_message
from relbase.cli.group import Decorated, option
from relbase.cli.origins.finder import Origins
from relbase.cli.origins.places import Local
from relbase.cli.policy_options import POLICY, policy_of
from relbase.cli.replacing import Replacing
from relbase.cli.streams import Collected, Verbosity, printable
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
HELD: Final = ("webarchive", "har")  # files that hold pages: `warc.held.HOLDERS`
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
    replace: Replacing | None = None

    @property
    def made(self) -> str:
        """What reports say of the links that change."""
        return "made absolute" if self.replace is None else "rewritten"

    def call(self, name: str, *, examines: bool = False) -> Call:
        """Return the call for an input with this name, before its document is read."""
        kind = Kind(self.kind) if self.kind else None
        types = (value for field, value in self.fields if field.lower() == "content-type")
        if kind is None and kind_of_type(next(types, "")) is None and is_message(name):
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
        Resolver(given["url"] or "", profile)
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
        replace=Replacing(rules) if rules else None,
        origins=Origins(detect, **{name: given.pop(name) for name in Origins._fields[1:]}),
        profile=profile,
        **{name: given.pop(name) for name in ("url", "images_url", "kind", "charset", "strict")},
    )


_DOCUMENTS: Final = (
    click.argument("inputs", nargs=-1, metavar="[INPUT|DIR]...", type=click.Path(readable=False)),
    option(
        "Document URL",
        "-u",
        "--url",
        metavar="URL",
        read=option_values.url,
        basic=True,
        help="Use URL as the document's URL; it must be absolute.",
    ),
    option(
        "Document URL",
        "--root",
        "roots",
        metavar="DIR=URL",
        multiple=True,
        read=option_values.root,
        basic=True,
        help="Give each file below DIR the URL of its path below URL (repeatable).",
    ),
    option(
        "Document URL",
        "--images-url",
        metavar="URL",
        read=option_values.url,
        help="Resolve the images of Markdown, and of the HTML in it, against URL.",
    ),
    option(
        "Document URL",
        "--images-root",
        "image_roots",
        metavar="DIR=URL",
        multiple=True,
        read=option_values.root,
        help="Resolve the images of each Markdown file below DIR against its path below URL "
        "(repeatable).",
    ),
    option(
        "Document URL",
        "--mirror",
        "mirrors",
        metavar="DIR[=SCHEME]",
        multiple=True,
        read=option_values.mirror,
        basic=True,
        help="Read URLs from the paths of a mirror by wget or HTTrack (repeatable).",
    ),
    option(
        "Document URL",
        "--map",
        "mapped",
        metavar="FILE",
        read=option_values.map_of_files,
        help="Read URLs from FILE: a file name, a tab and its URL on each line, or CSV.",
    ),
    option(
        "Document URL",
        "--sidecar",
        "sidecars",
        metavar="SUFFIX",
        multiple=True,
        read=option_values.sidecar,
        help="Read the headers of each input from the file with its name plus SUFFIX.",
    ),
    option(
        "Document URL",
        "--canonical",
        help="Fall back to <link rel=canonical>, og:url, or a feed's link rel=self.",
    ),
    option(
        "Document URL",
        "--original",
        help="Undo the Wayback Machine: use the URLs of the page it archived.",
    ),
    option(
        "Document URL",
        "--local",
        metavar="MODE",
        type=click.Choice(get_args(Local)),
        help="Choose what happens to links to files saved with the page: companion, keep, "
        "resolve or off.",
    ),
    option(
        "Document URL",
        "--redirect",
        metavar="URL",
        multiple=True,
        help="Follow a redirect from --url (repeatable, in order); the last one counts.",
    ),
    option(
        "Document URL",
        "--headers",
        metavar="FILE",
        read=option_values.headers,
        help="Read the response's headers from FILE, as 'curl -D FILE' or 'wget -S' write them.",
    ),
    option(
        "Document URL",
        "--no-detect",
        help="Ignore URLs that a saving program left in the page or beside it.",
    ),
    option("Input", "-r", "--recursive", help="Recurse into directories; this is the default."),
    option(
        "Input",
        "--files-from",
        metavar="FILE",
        read=option_values.read_file,
        help="Read the names of inputs from FILE, one per line ('-': standard input).",
    ),
    option(
        "Input",
        "-0",
        "--null",
        help="Expect NUL after each name in --files-from, as 'find -print0' writes it.",
    ),
    option(
        "Input",
        "--kind",
        metavar="KIND",
        type=click.Choice(_KINDS),
        help=f"Read inputs as {', '.join(_KINDS[:-1])} or {_KINDS[-1]}.",
    ),
    option(
        "Input",
        "--charset",
        metavar="LABEL",
        read=option_values.charset,
        help="Decode with this charset, unless the document has a byte order mark.",
    ),
    *POLICY.values(),
    option(
        "Mail",
        "--message-map",
        metavar="FILE",
        read=option_values.map_of_messages,
        help="Read the URLs of messages from FILE: on each line a Message-ID, List-Id, "
        "address or @domain, a tab and a URL.",
    ),
    option(
        "Mail",
        "--message-base",
        metavar="FIELD,...",
        read=option_values.message_base,
        help="Use the URL in this header field of a message, such as X-RSS-URL, as its URL.",
    ),
    option("Options", "--strict", help="Exit with status 1 on warnings."),
    option(
        "Options", "-v", "--verbose", help="Show every warning, and what was done to each input."
    ),
    option("Options", "-q", "--quiet", basic=True, help="Show only errors."),
)


def document_options(
    function: Decorated, *, profiles: tuple[str, ...] = (), hint: str = ""
) -> Decorated:
    """Decorate a command that reads documents; `profiles` are other values of --profile."""
    profile = option(
        "Links",
        "--profile",
        metavar="NAME",
        type=click.Choice([*(profile.value for profile in Profile), *profiles]),
        default=DEFAULT.value,
        basic=True,
        help=f"Resolve by {offered()}{hint}.",
    )
    for decorate in reversed((profile, *_DOCUMENTS)):
        function = decorate(function)
    return function
