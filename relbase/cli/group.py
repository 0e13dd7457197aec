"""The command `relbase`: loads subcommands on demand, ends a run with a status, shows the help."""

from __future__ import annotations

import gc
import io
import os
from collections.abc import Callable, Collection, Sequence
from copy import copy
from importlib import import_module
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any, Final

import click

from relbase import __version__
from relbase.cli import streams
from relbase.cli.streams import ExitStatus, in_shell, printable
from relbase.expressions import expression

if TYPE_CHECKING:
    from types import ModuleType

    from click.types import OptionHelpExtra


PROGRAM: Final = "relbase"

COMMANDS: Final = {
    "rewrite": "rewrite",
    "links": "listing",
    "base": "bases",
    "resolve": "urls",
    "check": "urls",
    "split": "urls",
    "explain": "explain",
}

_ALSO: Final = {"convert": "rewrite", "list": "links", "lint": "check", "parse": "split"}
_is_url: Final = expression(r"[A-Za-z][A-Za-z0-9+.-]+://")
_OTHER: Final = "Options"
_SECTIONS: Final = (
    *("Document URL", "Output", "Input", "Links", "Many files", "Web archives", "Mail", _OTHER),
)
_TERM: Final = 25  # where the texts of all options begin
_BRIEF: Final = "relbase.brief"  # whether the help is that of -h


def run(arguments: Sequence[str]) -> int:
    words = list(arguments)
    try:
        if "_RELBASE_COMPLETE" in os.environ:
            relbase.main(words, PROGRAM)
        # Not `relbase.main`, which has its own statuses for a closed pipe and for Ctrl-C.
        try:
            with relbase.make_context(PROGRAM, words) as context:
                relbase.invoke(context)
            status: int = ExitStatus.DONE
        except click.exceptions.Exit as ended:
            status = ended.exit_code
        streams.flush()
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        # The arguments that it quotes may be hostile file names.
        for line in shown.getvalue().splitlines():
            streams.warn(printable(line))
        return error.exit_code
    except BrokenPipeError:
        return ExitStatus.PIPE_CLOSED
    except OSError as error:
        where = f"{printable(str(error.filename))}: " if error.filename else ""
        streams.warn(f"Error: {where}{error.strerror or error}")
        return ExitStatus.IO
    return status


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(_loaded(f"relbase.cli.{COMMANDS[cmd_name]}"), cmd_name)
        if not gc.isenabled():  # `main` disabled it; what modules made is not searched
            gc.freeze()
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            # Not `no_args_is_help`, whose status depends on the version of click.
            click.echo(ctx.get_help(), err=True)
            ctx.exit(ExitStatus.USAGE)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            text = f"No such option: {error.option_name}. Options follow the command"
            example = f"{PROGRAM} rewrite page.html {error.option_name} ..."
            raise click.UsageError(f"{text}: {example}", ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        how = self.format_commands if _BRIEF in ctx.meta else super().format_options
        how(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:
            raise click.UsageError(_mistaken(*args), ctx)
        return args[0] if command else None, command, args[1:]


def _mistaken(name: str, *rest: str) -> str:
    """The message for an unknown command, with what the user may have meant."""
    from difflib import get_close_matches

    shown = f"No such command '{printable(name)}'."
    meant: tuple[str, ...] = ()
    if name in {"help", "version"}:
        meant = (*rest[:1], "--help") if name == "help" else ("--version",)
    elif close := _ALSO.get(name) or next(iter(get_close_matches(name, COMMANDS, n=1)), ""):
        is_file = close == "check" and rest and os.path.lexists(rest[0])
        meant = (*(("rewrite", "--check") if is_file else (close,)), *rest)
    elif _is_url.match(name) and rest and not rest[0].startswith("-"):
        meant = ("resolve", name, *rest)
    elif _is_url.match(name):
        right = in_shell(PROGRAM, "rewrite", "page.html", "--url", name)
        return f"{shown} relbase fetches nothing. Save the page, then: {right}"
    elif name == "-" or "." in name or "/" in name or os.path.lexists(name):
        meant = ("rewrite", name, *rest)
    if meant:
        return f"{shown} Did you mean: {in_shell(PROGRAM, *meant)}?"
    return f"{shown} The commands are: {', '.join(COMMANDS)}."


def _loaded(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


# Options that people try, and what to suggest instead: the first that the command has.
_GUESSES: Final = """\
-b -u --base --base-href --base-url --url: --url | --base | the first argument
-w --fix --inplace --write: --in-place
-n --dry-run: --diff
-o --out --output: --output | --parquet FILE, or > FILE | > FILE
--csv: --report FILE.csv | --json
--format: --json (rewrite --check has --format github and sarif)
--check: relbase rewrite --check
-j --jobs --parallel --threads --workers: --jobs
--html --type: --kind
-. --in-place= --backup=: -i --backup .bak
--exclude --glob --ignore --include: --only | --files-from
-k --convert-links: --local keep
-V --version: relbase --version
--json: --check --format json
--sarif: --check --format sarif
--stdout -O: > FILE | --output
--encoding: --charset
--profile: --grammar | to leave it out (all profiles are shown)
"""


class Option(click.Option):
    """An option as --help shows it (`-o, --output FILE`) with its text; a flag without a metavar.

    `name` is that of the parameter, `basic` says whether -h shows it, and `read` converts a value.
    """

    section: str = _OTHER  # of --help

    def __init__(
        self,
        shown: str,
        text: str,
        name: str = "",
        *,
        basic: bool = False,
        read: Callable[[Any], object] = lambda value: value,
        multiple: bool = False,
        default: object = None,
        **more: Any,
    ) -> None:
        self.basic, self._read, self.is_repeatable = basic, read, multiple
        self.usual = () if multiple else default
        names = [word.rstrip(",") for word in shown.split() if word.startswith("-")]
        metavar = shown.rpartition(names[-1])[2].strip() or None
        # All occurrences of an option with a value are collected, for `read_from`.
        more["is_flag" if metavar is None else "multiple"] = True
        if metavar and "FILE" in metavar:  # for completion; it is checked when it is read
            more.setdefault("type", click.Path(readable=False))
        super().__init__([*names, *filter(None, [name])], metavar=metavar, help=text, **more)

    def read_from(self, ctx: click.Context, values: tuple[Any, ...]) -> object:
        """Return the value of the option from all that were given for it."""
        if not self.is_repeatable and {*values[1:]} - {values[0]}:
            text = "is given more than once, with different values: give one of them"
            raise click.UsageError(f"{self.get_error_hint(ctx)} {text}", ctx)
        try:
            read = tuple(map(self._read, values))
        except ValueError as error:
            raise click.BadParameter(printable(str(error)), ctx, self) from None
        return read if self.is_repeatable else read[0]

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Leave out the range of a number, since the help text says what matters."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def section(title: str, *options: Option) -> tuple[Option, ...]:
    """Return options that --help lists in a section."""
    for option in options:
        option.section = title
    return options


_NEAR: Final = 0.75  # of 1: `--inplace` is `--in-place`, but `--all` is not `--null`


class Command(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except (click.NoSuchOption, click.BadOptionUsage) as error:
            from difflib import get_close_matches

            names = {name for param in self.params for name in param.opts}
            is_known = isinstance(error, click.BadOptionUsage)
            given = f"{error.option_name}{'=' * is_known}"
            rows = (row.split(": ") for row in _GUESSES.splitlines())
            fitting = (fits.split(" | ") for tried, fits in rows if given in tried.split())
            near = get_close_matches(given, names, cutoff=_NEAR)
            close = "" if is_known else " or ".join(near)
            guesses = filter(None, (*chain.from_iterable(fitting), close))
            fits = (guess for guess in guesses if guess[0] != "-" or guess.split()[0] in names)
            there = filter(os.path.lexists, words)
            files = (f"./{word}" for word in there if word.startswith(given))
            meant = "".join(f" Did you mean {guess}?" for guess in islice(chain(files, fits), 1))
            text = error.format_message() if is_known else f"No such option: {given}."
            raise click.UsageError(printable(f"{text}{meant}"), ctx) from None
        for option in self.params:
            if not (isinstance(option, Option) and option.multiple):
                continue
            if ctx.resilient_parsing:  # completion does not suggest again what can be given once
                option.multiple = option.is_repeatable
            else:
                values = ctx.params[option.name]
                ctx.params[option.name] = option.read_from(ctx, values) if values else option.usual
        return rest

    def invoke(self, ctx: click.Context) -> None:
        ctx.exit(super().invoke(ctx) or 0)  # commands return their exit status

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        options.sort(key=lambda param: _SECTIONS.index(_section(param)))
        basic = [param for param in options if getattr(param, "basic", False)] or options
        sections = [(_OTHER, basic)] if _BRIEF in ctx.meta else groupby(options, _section)
        for section, shown in sections:
            records = (record for param in shown if (record := param.get_help_record(ctx)))
            with formatter.section(section):
                rows = [(term.ljust(_TERM), text) for term, text in records]
                formatter.write_dl(rows, col_max=_TERM)


def _shown(show: Callable[[click.Context], str], *names: str, text: str) -> Option:
    """An option that shows a text and ends the run."""

    def callback(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:  # noqa: FBT001 (click's signature)
        if asked and not ctx.resilient_parsing:
            click.echo(show(ctx))
            ctx.exit()

    how: dict[str, Any] = {"is_eager": True, "expose_value": False, "callback": callback}
    return Option(", ".join(names), text, **how)


def _version(_context: click.Context) -> str:
    binding = _loaded("relbase.scan.binding")
    why = f": {printable(binding.UNUSED)}" if binding.UNUSED else ""
    return f"{PROGRAM} {__version__} ({binding.NAME} scanner{why})"


def _brief(ctx: click.Context) -> str:
    ctx.meta[_BRIEF] = True
    brief, more = copy(ctx.command), "--help shows all options"
    if isinstance(brief, click.Group):
        more = "COMMAND -h shows the options of a command"
    brief.help = (brief.help or "").partition("\n\n")[0]
    examples = (brief.epilog or "").partition("\n\n")[0]
    brief.epilog = f"{examples}\n\n{ctx.command_path} {more}."
    return brief.get_help(ctx)


def command(
    short_help: str, epilog: str, *params: click.Parameter
) -> Callable[[Callable[..., int]], click.Command]:
    return click.command(
        cls=Command,
        short_help=short_help,
        epilog=_unwrapped(epilog),
        context_settings={"help_option_names": ["--help"]},
        params=[*params, _shown(_brief, "-h", text="Show the most common options.")],
    )


def exclude(chosen: dict[str, Any], may_meet: Collection[str] = ()) -> None:
    """Refuse two options that exclude each other; `may_meet` are two that do not."""
    both = [name for name, value in chosen.items() if value not in {None, False}][:2]
    if len(both) > 1 and {*both} != {*may_meet}:
        text = " and ".join(f"--{name.replace('_', '-')}" for name in both)
        raise click.UsageError(f"{text} exclude each other: give one of them")


def _unwrapped(text: str) -> str:
    """Mark the paragraphs of a text, so that click does not wrap them anew."""
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in text.split("\n\n"))


def _section(option: click.Option) -> str:
    return getattr(option, "section", _OTHER)


@click.group(
    cls=_Commands,
    name=PROGRAM,
    epilog=_unwrapped("""\
Examples:
  relbase rewrite page.html -u http://example.com/a/page.html > absolute.html
  relbase rewrite saved/ -o absolute/
  relbase rewrite inbox.mbox -o absolute.mbox
  relbase links page.html -u http://example.com/a/page.html
  relbase resolve 'http://a/b/c/d;p?q' ../g --all

Exit status:
    0  done; also if the base URL is unknown (a warning says what to give)
    1  --check or check found something, or there were warnings under --strict
    2  wrong usage, nothing was done
    3  some inputs failed, the others are done
    4  input/output error, or a mailbox stayed locked
    5  a result failed its verification, and the file was left unchanged
  130  interrupted
"""),
    context_settings={"help_option_names": ["--help"]},
    params=[
        _shown(_brief, "-h", text="Show the commands."),
        _shown(_version, "-V", "--version", text="Show the version and exit."),
    ],
)
def relbase() -> None:
    """Make relative links absolute, and change no other byte.

    relbase reads HTML pages, style sheets, XML, feeds, mail, mailboxes and web archives. It finds
    each document's base URL as RFC 1808 says: in the document, in headers around it, or in the URL
    that it was retrieved from. It never fetches anything.
    """
