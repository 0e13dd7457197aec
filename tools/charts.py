"""The tables of speed as bar charts: SVG in the page, in the colours of the site's theme."""

from __future__ import annotations

import re
from html import escape
from typing import Final

_TABLE: Final = re.compile(r"(?P<title>\S.*)\n +MB/s +ratio(?: +noise)?\n(?: .*\n?)+")
_ROW: Final = re.compile(
    r" +(?P<name>\S.*?) {2,}(?P<speed>[\d.,]+) +[\d.]+(?: +[\d.]+%)?$", re.MULTILINE
)
# What no program can do in less time: a bar of it would hide what the others differ by.
_YARDSTICKS: Final = ("count(", "the compiled scanner alone")
_STEP: Final = 34
_WIDEST: Final = 320
_SIZE: Final = 400


def with_charts(page: str) -> str:
    """Return a page in Markdown whose block of tables is charts, with each table folded below."""
    return re.sub(r"```text\n(.*?)\n```", lambda block: _charts(block[1]), page, flags=re.DOTALL)


def _charts(tables: str) -> str:
    return "\n".join(_chart(table) for table in tables.split("\n\n"))


def _chart(table: str) -> str:
    folded = f"<pre><code>{escape(table)}</code></pre>"
    if not (matched := _TABLE.match(table + "\n")):
        return folded
    rows = [
        (row["name"], float(row["speed"].replace(",", "")))
        for row in _ROW.finditer(table)
        if not row["name"].startswith(_YARDSTICKS)
    ]
    title = escape(matched["title"])
    return (
        f'<figure class="speed"><figcaption>{title} (MB/s)</figcaption>{_svg(title, rows)}'
        f"<details><summary>The table</summary>{folded}</details></figure>"
    )


def _svg(title: str, rows: list[tuple[str, float]]) -> str:
    fastest = max(speed for _, speed in rows)
    bars = (
        f'<text x="0" y="{y + 12}">{escape(name)}</text>'
        f'<rect class="{"own" if name.startswith("relbase") else "peer"}" x="0" y="{y + 17}"'
        f' width="{_WIDEST * speed / fastest:.1f}" height="10"/>'
        f'<text x="{_WIDEST * speed / fastest + 6:.1f}" y="{y + 26}">{speed:,.1f}</text>'
        for y, (name, speed) in zip(range(0, _STEP * len(rows), _STEP), rows, strict=True)
    )
    size = f"0 0 {_SIZE} {_STEP * len(rows)}"
    return f'<svg role="img" aria-label="{title}" viewBox="{size}">{"".join(bars)}</svg>'
