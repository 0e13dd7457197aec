"""The options that the commands on documents share, their values, and the call that they make.

Each field of `relbase.Policy` becomes an option here, with its default and its help.
"""

from __future__ import annotations

import codecs
import dataclasses
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import click

from relbase.bases.layers import unsuitable
from relbase.cli import group, windows
from relbase.cli.files import STDIN, is_message
from relbase.cli.group import Option, table
from relbase.cli.origins.finder import Origins
from relbase.cli.origins.paths import FoundUrl, Mirror, Root
from relbase.cli.origins.places import Local
from relbase.cli.streams import Collected, Verbosity, printable
from relbase.expressions import any_of, expression, regex
from relbase.formats.recognition import kind_of_type
from relbase.kind import Kind
from relbase.policy import Policy
from relbase.session.options import Options, as_url, header_of
from relbase.session.session import Call, session_of
from relbase.url.credentials import masked
from relbase.url.profiles import DEFAULT, Profile, offered
from relbase.url.resolver import Resolver
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from relbase.bases.headers import MessageUrlTable
    from relbase.containers.http import Dump

FEEDS: Final = "feeds"
CHOICES: Final = (*(kind.value for kind in Kind), FEEDS)

# The --kind of a web archive, which is not a kind of document.
ARCHIVE: Final = "warc"
_root: Final = expression(r"(.+?)=([A-Za-z][A-Za-z0-9+.-]+:/.*)", re.DOTALL)
_mirror: Final = expression(r"(.+)=(https?)", re.DOTALL)


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
    message_urls: MessageUrlTable | None = None
    message_map: Mapping[str, FoundUrl] = {}  # by selectors; the source is a line

    def call(self, name: str) -> Call:
        """Return the call for an input with this name, before its document is read."""
        kind = Kind(self.kind) if self.kind else None
        types = (value for field, value in self.fields if field.lower() == "content-type")
        if kind is None and kind_of_type(next(types, "")) is None and is_message(name):
            kind = Kind.MAIL
        options = Options(
            *(kind, self.charset, self.profile, self.policy, self.detect),
            *(self.message_urls, header_of(self.fields)),
        )
        return Call(session_of(options), self.url, self.redirects, "" if name == STDIN else name)

    def kind_of(self, name: str, start: bytes) -> Kind:
        return self.call(name).kind_of(start)

    def unmatched(self, matched: Collection[str]) -> Collected:
        """Return the warnings on the lines of --message-map that select no message."""
        warned = Collected(self.verbosity)
        for selector, line in self.message_map.items():
            if selector not in matched:
                text = f"{_quoted(selector)} selects no message [selects-nothing]"
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
        from relbase.bases.headers import MessageUrlTable  # noqa: PLC0415 (start-up time)

        urls = {selector: line.url or "" for selector, line in (mapped or {}).items()}
        message_urls = MessageUrlTable(urls, tuple(map(str.lower, names or ())))
    policy: dict[str, Any] = {}
    for field in dataclasses.fields(Policy):
        value = given.pop(f"no_{field.name}" if field.default is True else field.name)
        policy[field.name] = not value if field.default is True else value
        if field.name == "keep":
            policy["keep"] = _kept(value)
        elif isinstance(field.default, tuple):
            policy[field.name] = tuple(chain.from_iterable(value))
    profile = Profile(given.pop("profile"))
    try:
        Resolver(given["url"] or "", profile)
    except ValueError as error:
        raise click.BadParameter(printable(str(error)), param_hint="'-u' / '--url'") from None
    return Settings(
        redirects=given.pop("redirect") or (dump.redirects if dump else ()),
        fields=dump.fields if dump else (),
        policy=Policy(**policy),
        detect=detect,
        verbosity=Verbosity.NONE if quiet else Verbosity.ALL if verbose else Verbosity.COUNTED,
        message_urls=message_urls,
        message_map=mapped or {},
        origins=Origins(detect, **{name: given.pop(name) for name in Origins._fields[1:]}),
        profile=profile,
        **{name: given.pop(name) for name in ("url", "kind", "charset", "strict")},
    )


def _quoted(value: str) -> str:
    return f"'{printable(value)[:200]}'"


def read_file(name: str, fix: str = "give a file with a name on each line") -> bytes:
    try:
        if name == STDIN:
            return sys.stdin.buffer.read()
        with open(name, "rb") as file:  # noqa: PTH123 (the name as it was given)
            return file.read()
    except OSError as error:
        raise ValueError(f"{printable(name)}: {error.strerror}: {fix}") from None


def url(value: str) -> str:
    if why := unsuitable(value.strip()):
        text = f"is not a base for relative links because {why}"
        fix = "give an absolute URL, such as http://host/path"
        raise ValueError(f"{_quoted(masked(value))} {text}: {fix}")
    return as_url(value)


def charset(value: str) -> str:
    if lookup(value) is None:
        fix = "give one, such as utf-8, or leave the option out to detect it"
        raise ValueError(f"{_quoted(value)} is not a charset label of the Encoding Standard: {fix}")
    return value


def headers(value: str) -> Dump:
    from relbase.containers.http import parse_dump  # noqa: PLC0415 (start-up time)

    fix = "give the file that 'curl -D FILE' or 'wget -S' wrote"
    data = read_file(value, fix)
    if any(dump := parse_dump(data)) or data.startswith(b"HTTP/") or not data.strip():
        return dump
    raise ValueError(f"{_quoted(value)} contains no header fields: {fix}")


def _kept(patterns: tuple[re.Pattern[str], ...]) -> re.Pattern[str] | None:
    try:
        return any_of(patterns) if patterns else None
    except re.error as error:
        fix = "rename its groups, or write one expression, as 'A|B'"
        text = f"the expressions cannot be combined: {error}: {fix}"
        raise click.BadParameter(text, param_hint="'--keep'") from None


def pattern(value: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # future changes of Python
            return regex(value)
    except (re.error, OverflowError, RecursionError) as error:
        fix = r"put '\' before a character to match it literally"
        text = f"{_quoted(value)} is not a regular expression, {error}: {fix}"
        raise ValueError(text) from None


def xml_rows(value: str) -> tuple[str, ...]:
    """Read --xml-row: a row, or `@FILE` with rows, comments and empty lines."""
    rows = [value]
    if value.startswith("@"):
        data = read_file(value[1:], "give a file with a row on each line")
        lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
        rows = [line for line in lines if line and not line.startswith("#")]
    return Policy(xml_rows=tuple(rows)).xml_rows


def attributes(value: str) -> tuple[tuple[str, str], ...]:
    name, equals, syntax = value.partition("=")
    if not equals:
        fix = "give NAME=url, NAME=srcset or NAME=css"
        raise ValueError(f"{_quoted(value)} names no syntax: {fix}")
    return tuple(Policy(attributes={name: syntax}).attributes)  # type: ignore[arg-type]


def kinds(value: str) -> frozenset[str]:
    names = frozenset(name.strip().lower() for name in value.split(","))
    if wrong := ", ".join(sorted(map(ascii, names - set(CHOICES)))):
        raise ValueError(f"{wrong}: give some of {', '.join(CHOICES)}, with commas")
    return names


def suffix(example: str, value: str) -> str:
    # If the value was forgotten, this is an option or a file; a file may be called `.bak`, too.
    is_other = value[:2] == "--" or (value[:1] == "-" and len(value) == 2)  # noqa: PLR2004
    is_other |= value[:1] != "." and os.path.lexists(value)
    is_other |= windows.why_refused((f"x{value}",)) is not None
    if not value or "/" in value or is_other:
        raise ValueError(f"{_quoted(value)} is not a suffix: give one, as in {example}")
    return value


sidecar: Final = partial(suffix, "--sidecar .headers")
backup: Final = partial(suffix, "-i --backup .bak")


def date(value: str) -> str:
    from relbase.warc.writing import check_date  # noqa: PLC0415 (start-up time)

    check_date(value)
    return value


def map_of_urls(
    what: str, key: Callable[[str], str], comments: tuple[str, ...], value: str
) -> dict[str, FoundUrl]:
    """Read a file with `what`, a tab and a URL on each line; `key` makes the keys."""
    data = read_file(value, f"give a file with {what}, a tab and a URL on each line")
    found: dict[str, FoundUrl] = {}
    # Windows programs begin a text with a byte order mark, which is not part of the first name.
    for number, raw in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        line, place = windows.decoded(raw.removesuffix(b"\r")), f"{printable(value)}:{number}"
        if not line.strip() or line.startswith(comments):
            continue
        name, tab, url = line.rpartition("\t")
        url = url.strip()
        try:
            why = unsuitable(url) if name else "it has no tab after a name"
            if why is None and found.setdefault(key(name), FoundUrl(url, place)).url != url:
                why = "a line before gives it another URL"
        except ValueError as error:
            why = str(error)
        if why:
            text = f"{place}: {_quoted(f'{name}{tab}{masked(url)}')}: {why}"
            raise ValueError(f"{text}. Write {what}, a tab and an absolute URL")
    return found


def root(value: str) -> Root:
    found = _root.fullmatch(value)
    directory, url = found.groups() if found else value.partition("=")[::2]
    why = unsuitable(url) if directory and url else "it lacks the directory or the URL"
    if "?" in url or "#" in url:
        why = "paths cannot follow a query or a fragment"
    if why:
        fix = "write it as in site=http://host/path/"
        shown = f"{directory}={masked(url)}" if url else masked(value)
        raise ValueError(f"{_quoted(shown)} is not DIR=URL because {why}: {fix}")
    _check_directory(directory, "give the directory of the site")
    return Root(directory, url if url.endswith("/") else f"{url}/")


def mirror(value: str) -> Mirror:
    # A directory may be called `x=https`.
    found = None if os.path.isdir(value) else _mirror.fullmatch(value)  # noqa: PTH112
    read = Mirror(found[1], found[2]) if found else Mirror(value)
    fix = "give the directory that holds those of the hosts, such as --mirror saved"
    _check_directory(read.directory, f"{fix} or --mirror saved=https")
    return read


def _check_directory(name: str, fix: str) -> None:
    if not os.path.isdir(name):  # noqa: PTH112 (the name as it was given)
        raise ValueError(f"{_quoted(name)} is not a directory: {fix}")


def _selector(name: str) -> str:
    from relbase.bases.headers import key  # noqa: PLC0415 (start-up time)

    return key(name)


def message_base(value: str) -> tuple[str, ...]:
    names = tuple(name.strip().removesuffix(":") for name in value.split(","))
    wrong = [one for one in names if not one.isascii() or not one or set(one) & set(" \t:<>")]
    if wrong:
        text = f"{printable(wrong[0])!r} is not the name of a header field"
        raise ValueError(f"{text}: give some, such as List-Archive,Archived-At")
    return names


def _policy_option(field: dataclasses.Field[Any]) -> Option:
    """The option for a field of the policy: a flag that inverts its default, or a value."""
    flag = f"--{field.name.replace('_', '-')}"
    text = _POLICY_TEXTS.get(field.name, "")
    if _POLICY_TEXTS and not text:
        raise TypeError(f"{field.name} has no line under `Args:` of Policy, relbase/policy.py")
    section = "Mail" if field.name in {"attachments", "dkim_signed"} else "Links"
    if field.default is True:
        return Option(section, flag.replace("--", "--no-"), f"Do not {text}")
    text = text[:1].upper() + text[1:]
    if field.default is False:
        return Option(section, flag, text, basic=field.name == "keep_templates")
    kind = f"{field.name} {field.type}"
    metavar, read = next(row for type_, row in _VALUES.items() if type_ in kind)
    # The option can be repeated, so its name is singular.
    flag, text = flag.removesuffix("s"), f"{text.removesuffix('.')} (repeatable)."
    return Option(section, f"{flag} {metavar}", text, dest=field.name, read=read, multiple=True)


_VALUES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "re.Pattern": ("REGEX", pattern),
    "templates": ("TEXT*TEXT", lambda value: Policy(templates=(value,)).templates),
    "tuple[tuple[str": ("NAME=SYNTAX", attributes),
    "tuple[str": ("ROW", xml_rows),
}
_argument: Final = regex(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)

# The help is what the docstring says of each field, up to "In Python", since that does not concern
# the command line. Without docstrings (python -OO) there is none.
_POLICY_TEXTS: Final = {
    name: " ".join(text.replace("`", "'").split()).partition(" In Python ")[0]
    for name, text in _argument.findall(inspect.cleandoc(Policy.__doc__ or ""))
}


_KINDS: Final = (*(kind.value for kind in Kind), ARCHIVE)

PARAMETERS: Final = (
    click.Argument(["inputs"], nargs=-1, metavar="[INPUT|DIR]...", type=click.Path(readable=False)),
    *table(
        f"""\
Document URL
* -u, --url URL           Use URL as the document's URL; it must be absolute.
* --root DIR=URL          Give each file below DIR the URL of its path below URL (repeatable).
* --mirror DIR[=SCHEME]   Read URLs from the paths of a mirror by wget or HTTrack (repeatable).
  --map FILE              Read URLs from FILE: on each line a file name, a tab and its URL.
  --sidecar SUFFIX        Read the headers of each input from the file with its name plus SUFFIX.
  --canonical             Fall back to <link rel=canonical>, og:url, or a feed's link rel=self.
  --original              Undo the Wayback Machine: use the URLs of the page it archived.
  --local MODE            Choose what happens to links to files saved with the page: companion,
                          keep, resolve or off.
  --redirect URL          Follow a redirect from --url (repeatable, in order); the last one counts.
  --headers FILE          Read the response's headers from FILE, as 'curl -D FILE' or 'wget -S'
                          write them.
  --no-detect             Ignore URLs that a saving program left in the page or beside it.
Input
  -r, --recursive         Recurse into directories; this is the default.
  --files-from FILE       Read the names of inputs from FILE, one per line ('-': standard input).
  -0, --null              Expect NUL after each name in --files-from, as 'find -print0' writes it.
  --kind KIND             Read inputs as {", ".join(_KINDS[:-1])} or {_KINDS[-1]}.
  --charset LABEL         Decode with this charset, unless the document has a byte order mark.
Links
* --profile NAME          Resolve by {offered()}.
""",
        url={"read": url},
        root={"dest": "roots", "multiple": True, "read": root},
        mirror={"dest": "mirrors", "multiple": True, "read": mirror},
        map={"dest": "mapped", "read": partial(map_of_urls, "a file name", windows.key, ())},
        sidecar={"dest": "sidecars", "multiple": True, "read": sidecar},
        local={"type": click.Choice(get_args(Local))},
        redirect={"multiple": True},
        headers={"read": headers},
        files_from={"read": read_file},
        kind={"type": click.Choice(_KINDS)},
        charset={"read": charset},
        profile={"type": click.Choice([one.value for one in Profile]), "default": DEFAULT.value},
    ),
    *map(_policy_option, dataclasses.fields(Policy)),
    *table(
        """\
Mail
  --message-map FILE      Read the URLs of messages from FILE: on each line a Message-ID,
                          List-Id, address or @domain, a tab and a URL.
  --message-base FIELD,...  Use the URL in this header field of a message, such as X-RSS-URL, as
                          its URL.
Options
  --strict                Exit with status 1 on warnings.
  -v, --verbose           Show every warning, and what was done to each input.
* -q, --quiet             Show only errors.
""",
        message_map={"read": partial(map_of_urls, "a selector", _selector, ("#",))},
        message_base={"read": message_base},
    ),
)

command: Final = partial(group.command, shared=PARAMETERS)
