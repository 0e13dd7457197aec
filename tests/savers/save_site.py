"""Save a site with real programs, rewrite what they wrote, and compare with the site.

Run it as `python tests/savers/save_site.py`. What is printed is the table in docs/saved-pages.md.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from judging import Judged, judge
from local_site import served
from savers import SAVERS


def main(chosen: Sequence[str], *, verbose: bool) -> None:
    """Run programs and print the table."""
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
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = ", ".join(map(repr, SAVERS))
    parser.add_argument("program", nargs="*", help=f"all if left out, or some of {known}")
    parser.add_argument("-v", action="store_true", help="list what is missing of each")
    given = parser.parse_args()
    if unknown := set(given.program) - set(SAVERS):
        parser.error(f"{min(unknown)!r} is none of {known}")
    main(given.program or list(SAVERS), verbose=given.v)
