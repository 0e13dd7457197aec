"""What the documentation takes from elsewhere: the help of every command, the playground, charts.

To mind: the site loads nothing from elsewhere. The theme's script has two addresses that it would
load, one in browsers without ResizeObserver, one for diagrams; they are taken out of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from tools import charts, notes, playground
from tools.commands import ToolError
from tools.manual import commands, help_of

_HELP: Final = "<!-- the help of every command -->"
_NOTES: Final = "<!-- the notes -->"
_SPEED: Final = "<!-- speed: "
_PLAYGROUND: Final = "<!-- the playground -->"
_FORM: Final = Path(__file__).parent / "theme" / "playground.html"
_LEFT_OUT: Final = "The playground was left out of this build of the documentation."

_LOADED: Final = re.compile(r'"https://unpkg\.com/[^"]*"')


def on_files(files: Any, config: Any) -> Any:
    """Add what the playground is made of."""
    if playground.wanted():
        try:
            made = playground.files()
        except ToolError as error:
            raise PluginError(str(error)) from None
        for name, data in made.items():
            files.append(File.generated(config, f"playground/{name}", content=data))
    return files


def on_page_markdown(markdown: str, **_more: Any) -> str:
    """Put the help of every command, the notes and the playground where a page asks for them."""
    if _HELP in markdown:
        named = ("relbase", *commands())
        pieces = [f"## {name}\n\n```text\n{help_of(name)}```\n" for name in named]
        markdown = markdown.replace(_HELP, "\n".join(pieces))
    if _NOTES in markdown:
        markdown = markdown.replace(_NOTES, notes.markdown())
    if _SPEED in markdown:
        markdown = charts.with_charts(markdown)
    form = _FORM.read_text("utf-8") if playground.wanted() else _LEFT_OUT
    return markdown.replace(_PLAYGROUND, form)


def on_post_build(config: Any, **_more: Any) -> None:
    """Take out of the theme's scripts what they would load from elsewhere."""
    for path in Path(config.site_dir, "assets").rglob("*.js"):
        text = path.read_text("utf-8")
        if _LOADED.search(text):
            path.write_text(_LOADED.sub('"data:text/javascript,"', text), "utf-8")
