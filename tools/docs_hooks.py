"""What the documentation takes from elsewhere: the help of every command, the playground, charts.

To mind: the site loads nothing from elsewhere. The theme's script has two addresses that it would
load, one in browsers without ResizeObserver, one for diagrams; they are taken out of it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

# `mkdocs` itself puts only this file's directory on the path.
sys.path.insert(0, str(Path(__file__).parents[1]))

from tools import charts, manual, notes, playground, sample
from tools.commands import ToolError

_HELP: Final = "<!-- the help of every command -->"
_NOTES: Final = "<!-- the notes -->"
_SAMPLE: Final = "<!-- one page before and after -->"
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
        markdown = markdown.replace(_HELP, manual.markdown())
    if _SAMPLE in markdown:
        markdown = markdown.replace(_SAMPLE, sample.before_and_after())
    if _NOTES in markdown:
        markdown = markdown.replace(_NOTES, notes.markdown())
    if _SPEED in markdown:
        markdown = charts.with_charts(markdown)
    form = _FORM.read_text("utf-8") if playground.wanted() else _LEFT_OUT
    return markdown.replace(_PLAYGROUND, form)


def on_post_build(config: Any, **_more: Any) -> None:
    """Take out of the theme's scripts what they would load; add each option to the search."""
    for path in Path(config.site_dir, "assets").rglob("*.js"):
        text = path.read_text("utf-8")
        if _LOADED.search(text):
            path.write_text(_LOADED.sub('"data:text/javascript,"', text), "utf-8")
    index = Path(config.site_dir, "search", "search_index.json")
    found = json.loads(index.read_text("utf-8"))
    found["docs"] += manual.options()
    index.write_text(json.dumps(found), "utf-8")
