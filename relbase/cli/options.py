"""The options that the commands on documents share, and the call of the library that they make.

A field that is added to `relbase.Policy` is an option here, with its default and its help.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, get_args

import click

from relbase.call import Arguments, KindName
from relbase.cli import group, values
from relbase.cli.files import STDIN, is_message
from relbase.cli.group import Option, table
from relbase.cli.origins.finder import Origins
from relbase.cli.origins.places import Local
from relbase.cli.streams import Verbosity
from relbase.kind import Kind
from relbase.opening.recognition import kind_of_file, kind_of_type
from relbase.policy import Policy
from relbase.url.resolver import Profile, ProfileName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from relbase.bases.headers import MessageUrlTable

# What --kind calls a web archive: it is not a kind of document.
ARCHIVE: Final = "warc"


class Settings(NamedTuple):
    url: str | None
    redirects: tuple[str, ...]  # --redirect, else those of --headers
    fields: tuple[tuple[str, str], ...]  # of --headers
    kind: str | None
    charset: str | None
    profile: str
    policy: Policy
    detect: bool
    strict: bool
    verbosity: Verbosity = Verbosity.COUNTED
    origins: Origins = Origins()
    message_urls: MessageUrlTable | None = None

    def arguments(self, name: str) -> Arguments:
        kind: Kind | str | None = self.kind
        if kind is None and self._kind_of_type() is None and is_message(name):
            kind = Kind.MAIL
        return Arguments(
            url=self.url,
            redirects=self.redirects,
            headers=self.fields,
            kind=cast("Kind | KindName | None", kind),  # click has checked both
            name=None if name == STDIN else name,
            charset=self.charset,
            profile=cast("ProfileName", self.profile),
            policy=self.policy,
            detect=self.detect,
            message_urls=self.message_urls,
        )

    def kind_of(self, name: str, start: bytes) -> Kind:
        if self.kind is not None:
            return Kind(self.kind)
        delivered = Kind.MAIL if is_message(name) else None
        shown = "" if name == STDIN else name
        return self._kind_of_type() or delivered or kind_of_file(shown, start)

    def on_fields(self, fields: tuple[tuple[str, str], ...]) -> Settings:
        """The settings for an input that came with a header of its own."""
        return self._replace(fields=fields) if fields else self

    def _kind_of_type(self) -> Kind | None:
        types = (value for field, value in self.fields if field.lower() == "content-type")
        return kind_of_type(next(types, ""))


def command(
    name: str, short_help: str, own: Iterable[click.Parameter], epilog: str
) -> Callable[[Callable[..., int]], click.Command]:
    """Make a command on documents, which has the options of all."""
    return group.command(name, short_help, (*own, *PARAMETERS), epilog)


def settings(given: dict[str, Any]) -> Settings:
    dump = given.pop("headers")
    detect = not given.pop("no_detect")
    quiet, verbose = given.pop("quiet"), given.pop("verbose")
    if quiet and verbose:
        raise click.UsageError("-q and -v exclude each other: give one of them")
    return Settings(
        redirects=given.pop("redirect") or (dump.redirects if dump else ()),
        fields=dump.fields if dump else (),
        policy=_policy(given),
        detect=detect,
        verbosity=Verbosity.NONE if quiet else Verbosity.ALL if verbose else Verbosity.COUNTED,
        message_urls=_message_urls(given.pop("message_map"), given.pop("message_base")),
        origins=Origins(detect, **{name: given.pop(name) for name in Origins._fields[1:]}),
        **{name: given.pop(name) for name in ("url", "kind", "charset", "profile", "strict")},
    )


def _message_urls(mapped: Any, names: Any) -> MessageUrlTable | None:
    if mapped is None and names is None:
        return None
    from relbase.bases.headers import MessageUrlTable  # noqa: PLC0415 (start-up time)

    return MessageUrlTable(mapped or {}, names or ())


def _policy(given: dict[str, Any]) -> Policy:
    values: dict[str, Any] = {}
    for field in _FIELDS:
        name = f"no_{field.name}" if field.default is True else field.name
        value = given.pop(name)
        values[field.name] = not value if field.default is True else value
        if isinstance(field.default, tuple):
            values[field.name] = tuple(chain.from_iterable(value))
    return Policy(**values)


def _policy_option(field: dataclasses.Field[Any]) -> Option:
    """The option that a field of the policy is: a flag that turns its default, or a value."""
    flag = f"--{field.name.replace('_', '-')}"
    text = _POLICY_TEXTS.get(field.name, "")
    section = "Mail" if field.name in _OF_MAIL else "Links"
    if field.default is True:
        return Option(section, flag.replace("--", "--no-"), f"Do not {text}")
    text = text[:1].upper() + text[1:]
    if field.default is False:
        return Option(section, flag, text, basic=field.name == "keep_templates")
    metavar, read = next(row for type_, row in _VALUES.items() if type_ in str(field.type))
    # A field for several values has an option that may be repeated, its name in the singular.
    if isinstance(field.default, tuple):
        flag = flag.removesuffix("s")
        return Option(section, f"{flag} {metavar}", text, dest=field.name, read=read, multiple=True)
    return Option(section, f"{flag} {metavar}", text, read=read)


_VALUES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "re.Pattern": ("REGEX", values.pattern),
    "tuple[tuple[str": ("NAME=SYNTAX", values.attributes),
    "tuple[str": ("ROW", values.xml_rows),
}
_OF_MAIL: Final = frozenset(("attachments", "dkim_signed"))
_argument: Final = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)

# The help is what the docstring says of the fields: "In Python" concerns programs alone. Without
# docstrings (python -OO) it is poorer.
_POLICY_TEXTS: Final = {
    name: " ".join(text.replace("`", "'").split()).partition(" In Python ")[0]
    for name, text in _argument.findall(inspect.cleandoc(Policy.__doc__ or ""))
}


_FIELDS: Final = dataclasses.fields(Policy)
_FILE: Final = click.Path(allow_dash=True, readable=False)
_KINDS: Final = (*(kind.value for kind in Kind), ARCHIVE)

PARAMETERS: Final = (
    click.Argument(
        ["inputs"],
        nargs=-1,
        metavar="[INPUT|DIR]...",
        # The type is for completion: files are looked at when they are read.
        type=click.Path(allow_dash=True, readable=False),
    ),
    *table(
        f"""\
Document URL
* -u, --url URL           Use URL as the document's URL; it must be absolute.
* --root DIR=URL          Give each file below DIR the URL of its path below URL (repeatable).
* --mirror DIR[=SCHEME]   Read URLs from the paths of a mirror by wget or HTTrack (repeatable).
  --map FILE              Read URLs from FILE: on each line a file name, a tab and its URL.
  --sidecar SUFFIX        Read the headers of each input from a file of its name and SUFFIX.
  --canonical             Fall back to the URL in <link rel=canonical> or og:url.
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
* --profile NAME          Resolve by rfc1808 (default), rfc3986 or whatwg (as browsers do).
""",
        url={"read": values.url},
        root={"dest": "roots", "multiple": True, "read": values.root},
        mirror={"dest": "mirrors", "multiple": True, "read": values.mirror},
        map={"dest": "mapped", "type": _FILE, "read": values.map_of_urls},
        sidecar={"dest": "sidecars", "multiple": True, "read": values.suffix},
        local={"type": click.Choice(get_args(Local))},
        redirect={"multiple": True},
        headers={"type": click.Path(readable=False), "read": values.headers},
        files_from={"type": _FILE, "read": values.read_file},
        kind={"type": click.Choice(_KINDS)},
        charset={"read": values.charset},
        profile={
            "type": click.Choice([profile.value for profile in Profile]),
            "default": Profile.RFC1808.value,
        },
    ),
    *map(_policy_option, _FIELDS),
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
        message_map={"type": _FILE, "read": values.message_map},
        message_base={"read": values.message_base},
    ),
)
