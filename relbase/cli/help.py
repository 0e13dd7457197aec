"""How the help is laid out: `-h` shows what most people need, `--help` everything, in sections."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

from relbase.cli.streams import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.types import OptionHelpExtra

URL: Final = "Document URL"
OUTPUT: Final = "Output"
INPUT: Final = "Input"
LINKS: Final = "Links"
MANY: Final = "Many files"
ARCHIVES: Final = "Web archives"
MAIL: Final = "Mail"
OTHER: Final = "Options"
_SECTIONS: Final = (URL, OUTPUT, INPUT, LINKS, MANY, ARCHIVES, MAIL, OTHER)

_TERM: Final = 25  # where the texts of all options begin

_URLS: Final = ("--url", "--base", "the first argument")

# Options that people try, and what does what they mean: the first that a command has.
_GUESSES: Final = {
    **dict.fromkeys(("-b", "-u", "--base", "--base-href", "--base-url", "--url"), _URLS),
    **dict.fromkeys(("-w", "--fix", "--inplace", "--write"), ("--in-place",)),
    **dict.fromkeys(("-n", "--dry-run"), ("--diff",)),
    **dict.fromkeys(("-o", "--out", "--output"), ("--output", "> FILE")),
    **dict.fromkeys(("--csv", "--format"), ("--json",)),
    **dict.fromkeys(("--parallel", "--threads", "--workers"), ("--jobs",)),
    **dict.fromkeys(("--html", "--type"), ("--kind",)),
    **dict.fromkeys(("-.", "--in-place="), ("-i --backup .bak",)),  # as sed and perl have it
    **dict.fromkeys(("--exclude", "--ignore"), ("--only", "--files-from")),
    **dict.fromkeys(("--stdout", "-O"), ("> FILE", "--output")),
    "--encoding": ("--charset",),
}


class Option(click.Option):
    """An option that knows its section of --help, and whether -h shows it (`basic`).

    Its names are written "-x, --long VALUE"; without a VALUE it is a flag. `read` takes each value.
    """

    def __init__(
        self,
        section: str,
        names: str,
        text: str,
        *,
        basic: bool = False,
        dest: str | None = None,
        read: Callable[[str], Any] | None = None,
        **more: Any,
    ) -> None:
        *short, last = names.split(", ")
        long, _, metavar = last.partition(" ")
        declared = [*short, long, *([dest] if dest else [])]
        kind = {"metavar": metavar} if metavar else {"is_flag": True}
        callback = None if read is None else _reading(read)
        super().__init__(declared, help=text, **{"callback": callback, **kind, **more})
        self.section = section
        self.basic = basic

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Leave out the range of a number: the help says what matters of it."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def table(rows: str, **more: dict[str, Any]) -> tuple[Option, ...]:
    """Return the options of a table that looks like the help: sections, then names and texts.

    -h shows the options with a star. `more` is what an option has besides, by its long name.
    """
    options, missed = [], _SECTION.sub("", rows)
    for section, body in _SECTION.findall(rows):
        missed += _ROW.sub("", body)
        for star, names, text in _ROW.findall(body):
            long = names.rpartition("--")[2].partition(" ")[0].replace("-", "_")
            given = more.pop(long, {})
            options.append(
                Option(section, names, " ".join(text.split()), basic=bool(star), **given)
            )
    if missed.strip() or more:
        text = f"not read as a row: {missed.strip()!r}; options without a row: {[*more]}"
        raise ValueError(text)
    return tuple(options)


_SECTION: Final = re.compile(r"^(\w.*)\n((?:[ *].*\n)+)", re.MULTILINE)
_ROW: Final = re.compile(r"^([*]?) +(-.+?)  +(.+(?:\n {6,}\w.*)*)", re.MULTILINE)


def _reading(read: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def callback(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        try:
            if isinstance(value, tuple):  # of an option that may be repeated
                return tuple(map(read, value))
            return None if value is None else read(value)
        except ValueError as error:
            raise click.BadParameter(printable(str(error))) from None

    return callback


class Command(click.Command):
    """A command with two kinds of help, which answers guesses at its options."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.context_settings = {"help_option_names": ["--help"]}
        brief = Option(OTHER, "-h", "Show the most common options.", is_eager=True)
        brief.expose_value = False
        brief.callback = self._show_brief
        self.params.append(brief)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; name the right option to who guesses it."""
        try:
            return super().parse_args(ctx, args)
        except (click.NoSuchOption, click.BadOptionUsage) as error:
            names = {name for one in self.params for name in one.opts}
            given = f"{error.option_name}{'=' * isinstance(error, click.BadOptionUsage)}"
            guessed = _GUESSES.get(given, ())
            meant = next((one for one in guessed if one.split()[0] in names or one[0] != "-"), None)
            if meant is None:
                raise
            text = f"No such option: {given}. Did you mean {meant}?"
            raise click.UsageError(text, ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = self._options(ctx)
        for section in _SECTIONS:
            _write(section, (one for one in options if _section(one) == section), ctx, formatter)

    def _options(self, ctx: click.Context) -> list[click.Option]:
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        return [one for section in _SECTIONS for one in options if _section(one) == section]

    def _show_brief(self, ctx: click.Context, _option: click.Parameter, asked: bool) -> None:  # noqa: FBT001
        if not asked or ctx.resilient_parsing:
            return
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text((self.help or "").partition("\n\n")[0])
        options = self._options(ctx)
        basic = [one for one in options if getattr(one, "basic", False)]
        _write("Options", basic or options, ctx, formatter)
        examples = (self.epilog or "").partition("\n\n")[0]
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text(examples)
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help shows all options.")
        click.echo(formatter.getvalue().rstrip("\n"))
        ctx.exit()


def command(
    name: str, short_help: str, params: Iterable[click.Parameter], epilog: str
) -> Callable[[Callable[..., None]], click.Command]:
    return click.command(name, Command, short_help=short_help, params=[*params], epilog=epilog)


def _section(option: click.Option) -> str:
    return getattr(option, "section", OTHER)


def _write(
    title: str, options: Iterable[click.Option], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    records = [record for one in options if (record := one.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(title):
            rows = [(term.ljust(_TERM), text) for term, text in records]
            formatter.write_dl(rows, col_max=_TERM)
