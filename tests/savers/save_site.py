"""Save a site with real programs, rewrite what they wrote, and compare with the site.

Run it as `python tests/savers/save_site.py`.

With names of programs as arguments only those are run. What is printed is the table in
docs/saved-pages.md; `-v` lists what is missing of each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from judging import judge
from local_site import served
from savers import SAVERS

if TYPE_CHECKING:
    from judging import Judged


def main(arguments: list[str]) -> None:
    """Run the programs and print the table."""
    verbose = "-v" in arguments
    chosen = [name for name in arguments if name != "-v"] or list(SAVERS)
    print("| program | pages | links | equal | of a, area, form | relative | not on the site |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with served() as (host, site), tempfile.TemporaryDirectory() as directory:
        for name in chosen:
            room = Path(directory, name.replace(" ", "_"), "saved")
            room.mkdir(parents=True)
            told = SAVERS[name](host, site, room)
            if told is None:
                print(f"| {name} | not installed | | | | | |")
                continue
            output = room.parent / "out"
            command = [sys.executable, "-m", "relbase", "rewrite", *told]
            command += ["--local", "resolve", "--profile", "whatwg", "-o", str(output)]
            ran = subprocess.run(command, cwd=room, capture_output=True, text=True, check=False)
            copies = sorted(path for path in output.rglob("*") if path.is_file())
            judged = judge(copies, site, host)
            print(_row(name, judged), flush=True)
            if verbose:
                _explain(judged, ran.stderr)


def _row(name: str, judged: Judged) -> str:
    share = judged.equal / judged.links if judged.links else 0
    wanted, got = judged.outward
    outward = f"{got / wanted:.1%}" if wanted else ""
    cells: list[object] = [name, judged.pages, judged.links, f"{share:.1%}", outward]
    cells += [judged.relative, len(judged.wrong)]
    return f"| {' | '.join(map(str, cells))} |"


def _explain(judged: Judged, told: str) -> None:
    for missing, count in judged.missing.most_common(12):
        print("    missing", count, *missing)
    for url in judged.wrong[:8]:
        print("    wrong", url)
    print("    " + told[-1500:].replace("\n", "\n    "))


if __name__ == "__main__":
    main(sys.argv[1:])
