"""The options that the commands on documents share, and the call of the library that they make.

The flags of the policy are generated from the fields of `relbase.Policy`: a field that is added
there is an option here, with its default and its help.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import warnings
from typing import TYPE_CHECKING, Any, Final, cast

import click

from relbase.bases.layers import unsuitable
from relbase.call import Arguments, KindName
from relbase.cli import maildir
from relbase.cli.inputs import STDIN
from relbase.cli.origin_options import INPUT_OPTIONS, ORIGIN_OPTIONS, read_file, whence
from relbase.cli.origins.finder import Whence
from relbase.cli.streams import printable
from relbase.cli.warnings import Verbosity
from relbase.kind import Kind
from relbase.policy import Policy
from relbase.recognition import kind_of_file, kind_of_type
from relbase.records import NamedTuple
from relbase.url.resolver import Profile, ProfileName
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from relbase.containers.dumps import Dump

# What --kind calls a web archive: it is not a kind of document.
ARCHIVE: Final = "warc"


class Settings(NamedTuple):
    """What the shared options say.

    Args:
        url: --url.
        redirects: --redirect, else those of --headers.
        fields: the fields of --headers.
        kind: --kind.
        charset: --charset.
        profile: --profile.
        policy: its flags.
        detect: whether marks in the file may state its URL.
        strict: whether warnings lead to exit status 1.
        verbosity: how much is said of warnings.
        whence: where URLs are stated.
    """

    url: str | None
    redirects: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    kind: str | None
    charset: str | None
    profile: str
    policy: Policy
    detect: bool
    strict: bool
    verbosity: Verbosity = Verbosity.COUNTED
    whence: Whence = Whence()

    def arguments(self, name: str) -> Arguments:
        """Return the arguments of the library for an input."""
        kind: Kind | str | None = self.kind
        if kind is None and self._kind_of_type() is None and _is_delivered(name):
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
        )

    def kind_of(self, name: str, start: bytes) -> Kind:
        """Return what the library takes an input for."""
        if self.kind is not None:
            return Kind(self.kind)
        delivered = Kind.MAIL if _is_delivered(name) else None
        shown = "" if name == STDIN else name
        return self._kind_of_type() or delivered or kind_of_file(shown, start)

    def on_fields(self, fields: tuple[tuple[str, str], ...]) -> Settings:
        """The settings for an input that came with a header of its own."""
        return self._replace(fields=fields) if fields else self

    def _kind_of_type(self) -> Kind | None:
        types = (value for field, value in self.fields if field.lower() == "content-type")
        return kind_of_type(next(types, ""))


def _is_delivered(name: str) -> bool:
    # What looks like a suffix in the name of a message is of the host that delivered it.
    return name != STDIN and maildir.is_message(name)


def parameters(*own: click.Option) -> list[click.Parameter]:
    """Return the parameters of a command on documents."""
    return [_INPUTS, *INPUT_OPTIONS, *own, *_SHARED]


def settings(given: dict[str, Any]) -> Settings:
    """Return what the shared options say."""
    values = dict(given)
    dump = values.pop("headers")
    detect = not values.pop("no_detect")
    for name in ("nul", "trees", "listed"):
        values.pop(name, None)
    quiet, verbose = values.pop("quiet"), values.pop("verbose")
    if quiet and verbose:
        raise click.UsageError("-q and -v exclude each other: give one of them")
    return Settings(
        redirects=values.pop("redirect") or (dump.redirects if dump else ()),
        fields=dump.fields if dump else (),
        policy=Policy(**{field.name: _policy_value(field, values) for field in _FIELDS}),
        detect=detect,
        verbosity=Verbosity.NONE if quiet else Verbosity.ALL if verbose else Verbosity.COUNTED,
        whence=whence(values, detect=detect),
        **values,
    )


def _policy_value(field: dataclasses.Field[Any], values: dict[str, Any]) -> Any:  # noqa: ANN401
    if field.default is True:
        return not values.pop(f"no_{field.name}")
    return values.pop(field.name)


def _url(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    why = None if value is None else unsuitable(value.strip())
    if why is None:
        return value
    shown = printable(value or "")[:200]
    fix = "give an absolute URL, such as http://host/path"
    raise click.BadParameter(f"'{shown}' is not a base for relative links, {why}: {fix}")


def _charset(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is None or lookup(value) is not None:
        return value
    shown = printable(value)[:200]
    fix = "give one, such as utf-8, or leave the option out to have it found"
    raise click.BadParameter(f"'{shown}' is not a charset label of the Encoding Standard: {fix}")


def _headers(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> Dump | None:
    if value is None:
        return None
    from relbase.containers.dumps import parse_dump  # noqa: PLC0415 (start-up time)

    return parse_dump(read_file(value, "give the file that 'curl -D FILE' or 'wget -S' wrote"))


def _pattern(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> re.Pattern[str] | None:
    if value is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python may change: no matter of the user's
            return re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        shown = printable(value)[:200]
        fix = r"put '\' before a character that stands for itself"
        raise click.BadParameter(f"'{shown}' is not a regular expression, {error}: {fix}") from None


def _policy_option(field: dataclasses.Field[Any]) -> click.Option:
    """The option that a field of the policy is: a flag that turns its default, or a value."""
    flag = field.name.replace("_", "-")
    text = _POLICY_TEXTS.get(field.name, "")
    if field.default is True:
        return click.Option([f"--no-{flag}"], is_flag=True, help=f"Do not {text}")
    text = text[:1].upper() + text[1:]
    if field.default is False:
        return click.Option([f"--{flag}"], is_flag=True, help=text)
    metavar, callback = next(row for type_, row in _VALUES.items() if type_ in str(field.type))
    return click.Option([f"--{flag}"], metavar=metavar, callback=callback, help=text)


# By what its annotation names.
_VALUES: Final = {"re.Pattern": ("REGEX", _pattern)}

_arguments_of_docstring: Final = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE).findall


def _texts(documented: type) -> dict[str, str]:
    """What a class's docstring says of its arguments, each on one line."""
    # Without docstrings (python -OO) the help is poorer.
    found = _arguments_of_docstring(inspect.cleandoc(documented.__doc__ or ""))
    return {name: " ".join(text.replace("`", "'").split()) for name, text in found}


_FIELDS: Final = dataclasses.fields(Policy)
_POLICY_TEXTS: Final = _texts(Policy)

_INPUTS: Final = click.Argument(
    ["inputs"],
    nargs=-1,
    metavar="[INPUT]...",
    # The type is for completion: files are looked at when they are read.
    type=click.Path(allow_dash=True, readable=False),
)

_SHARED: Final = [
    click.Option(
        ["--url"],
        metavar="URL",
        callback=_url,
        help="The URL that the document was retrieved from, absolute. It is that of one document; "
        "for several there are --map, --root and --mirror.",
    ),
    click.Option(
        ["--redirect"],
        metavar="URL",
        multiple=True,
        help="Where --url was redirected to, absolute or relative; repeat it for each redirect, in "
        "order. The last one is the document's URL.",
    ),
    click.Option(
        ["--headers"],
        metavar="FILE",
        type=click.Path(readable=False),
        callback=_headers,
        help="The headers that came with the document, as 'curl -D FILE' or 'wget -S' write them. "
        "Base, Content-Base and Content-Type count, and the redirects unless --redirect is given.",
    ),
    click.Option(
        ["--kind"],
        type=click.Choice([*(kind.value for kind in Kind), ARCHIVE]),
        help="What the inputs are; otherwise its Content-Type decides, its name or its bytes.",
    ),
    click.Option(
        ["--charset"],
        metavar="LABEL",
        callback=_charset,
        help="The charset that the server stated; otherwise that of the Content-Type counts, or "
        "the document's own. A byte order mark in the document is stronger.",
    ),
    click.Option(
        ["--profile"],
        type=click.Choice([profile.value for profile in Profile]),
        default=Profile.RFC1808.value,
        show_default=True,
        help="The algorithm that resolves references.",
    ),
    *map(_policy_option, _FIELDS),
    *ORIGIN_OPTIONS,
    click.Option(
        ["--no-detect"],
        is_flag=True,
        help="Do not look for what programs that saved a page left in it or beside it: marks, "
        "extended attributes, Zone.Identifier, index.json.",
    ),
    click.Option(["--strict"], is_flag=True, help="Exit with status 1 when there are warnings."),
    click.Option(
        ["-v", "--verbose"],
        is_flag=True,
        help="Show every warning, not one of each kind, and for each input what was done.",
    ),
    click.Option(["-q", "--quiet"], is_flag=True, help="Show no warnings, only errors."),
]
