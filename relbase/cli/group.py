"""The command `relbase` itself: its sub-commands, loaded when asked for, and how a run ends."""

from __future__ import annotations

import gc
import io
import os
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from relbase.cli import streams
from relbase.cli.streams import ExitStatus, in_shell, printable
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# `python -m relbase` is called so too: what the help says can be typed.
PROGRAM: Final = "relbase"

# What click's completion scripts set to ask for completions.
_COMPLETION: Final = "_RELBASE_COMPLETE"

# Each is a command of its name in a module of its name, in the order of the help.
_COMMANDS: Final = ("rewrite", "links", "base", "resolve", "check", "split", "explain")

_is_url: Final = expression(r"[A-Za-z][A-Za-z0-9+.-]+://")


def run(arguments: Sequence[str]) -> int:
    """Run the command line, report what ends it early, and return the exit status."""
    try:
        return _run(expanded(arguments) if os.name == "nt" else list(arguments))
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


def expanded(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with wildcards expanded, as shells do everywhere but on Windows."""
    from glob import glob, has_magic  # noqa: PLC0415 (start-up time)

    found = ((one, sorted(glob(one)) if has_magic(one) else []) for one in arguments)  # noqa: PTH207
    return [name for one, names in found for name in names or [one]]


def _run(arguments: list[str]) -> int:
    if _COMPLETION in os.environ:
        relbase.main(arguments, PROGRAM)
    status: int = ExitStatus.DONE
    try:
        # Not `relbase.main`: it has statuses of its own for a closed pipe and for Ctrl-C.
        with relbase.make_context(PROGRAM, arguments) as context:
            relbase.invoke(context)
    except click.exceptions.Exit as ended:
        status = ended.exit_code
    streams.flush()
    return status


class _Commands(click.Group):
    """Loads a sub-command when it is asked for, and names the right one to who mistakes it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(_loaded(f"relbase.cli.{cmd_name}"), cmd_name)
        if not gc.isenabled():  # as `main` begins: what modules have made is not looked through
            gc.freeze()
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            # Not `no_args_is_help`: the status of that depends on the version of click.
            click.echo(ctx.get_help(), err=True)
            ctx.exit(ExitStatus.USAGE)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            text = f"No such option: {error.option_name}. Options follow the command"
            example = f"{PROGRAM} rewrite page.html {error.option_name} ..."
            raise click.UsageError(f"{text}: {example}", ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:
            raise click.UsageError(_mistaken(*args), ctx)
        return args[0] if command else None, command, args[1:]


def _mistaken(name: str, *rest: str) -> str:
    """What to say to somebody who gives something else where the command should be."""
    from difflib import get_close_matches  # noqa: PLC0415 (start-up time)

    shown = f"No such command '{printable(name)}'."
    meant: tuple[str, ...] = ()
    if name in {"help", "version"}:
        meant = (*rest[:1], "--help") if name == "help" else ("--version",)
    elif close := get_close_matches(name, _COMMANDS, n=1):
        meant = (close[0], *rest)
    elif _is_url.match(name) and rest and not rest[0].startswith("-"):
        meant = ("resolve", name, *rest)
    elif _is_url.match(name):
        right = in_shell(PROGRAM, "rewrite", "page.html", "--url", name)
        return f"{shown} relbase fetches nothing. Save the page, then: {right}"
    elif name == "-" or "." in name or "/" in name or os.path.lexists(name):
        meant = ("rewrite", name, *rest)
    if meant:
        return f"{shown} Did you mean: {in_shell(PROGRAM, *meant)}?"
    return f"{shown} The commands are: {', '.join(_COMMANDS)}."


def _loaded(module: str) -> ModuleType:
    """A module of relbase; a UsageError if RELBASE_SCANNER asks for what there is not."""
    try:
        return import_module(module)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _print_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:  # noqa: FBT001 (click's signature)
    if not asked or context.resilient_parsing:
        return
    from importlib import metadata  # noqa: PLC0415 (start-up time)

    try:
        version = metadata.version(PROGRAM)
    except metadata.PackageNotFoundError:
        version = "of a directory that is not installed"
    scanner = _loaded("relbase.references.scanner").NAME
    click.echo(f"{PROGRAM} {version} ({scanner} scanner)")
    context.exit()


_EPILOG: Final = """\b
Examples:
  relbase rewrite page.html -u http://example.com/a/page.html > absolute.html
  relbase rewrite saved/ -o absolute/
  relbase rewrite inbox.mbox -o absolute.mbox
  relbase links page.html -u http://example.com/a/page.html
  relbase resolve 'http://a/b/c/d;p?q' ../g --all

\b
Exit status:
    0  done; also if the base URL is unknown (a warning says what to give)
    1  --check or check found something, or there were warnings under --strict
    2  wrong usage, nothing was done
    3  some inputs failed, the others are done
    4  input/output error, or a mailbox stayed locked
    5  a result failed its verification, and the file was left unchanged
  130  interrupted
"""


@click.group(
    cls=_Commands,
    name=PROGRAM,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def relbase() -> None:
    """Make relative links absolute, and change no other byte.

    relbase reads HTML pages, style sheets, XML, feeds, mail, mailboxes and web archives. It finds
    each document's base URL as RFC 1808 says: in the document, in headers around it, or in the URL
    that it was retrieved from. It never fetches anything.
    """
