"""The programs that save pages, each as people run it, and what relbase is then told.

Each takes the host of the site and a directory, saves what it can, and returns the arguments of
`relbase rewrite` that belong to what it wrote; None where the program is not installed.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import screen
from local_site import Answer

import relbase

Saver = Callable[[str, Mapping[str, Answer], Path], list[str] | None]

# Where `npm install single-file-cli` put it.
SINGLE_FILE: Final = shutil.which("single-file") or "single-file"


def _run(*command: str, cwd: Path) -> None:
    """Run a program and what it starts; both are ended when they take too long."""
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=cwd, stdout=nothing, stderr=nothing, start_new_session=True
    ) as program:
        try:
            program.wait(600)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            raise


def _html(site: Mapping[str, Answer]) -> list[str]:
    return [
        target
        for target, answer in site.items()
        if answer.type.startswith("text/html") and not answer.location
    ]


# ---- wget


def wget(*flags: str) -> Saver:
    """wget -r with flags, and the tree that it makes."""
    return lambda host, _site, room: _wget(host, room, *flags)


def wget_xattr(host: str, _site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """wget -r --xattr: the URL in an extended attribute, and nothing else is told."""
    arguments = _wget(host, room, "--xattr")
    return arguments and arguments[:2]


def _wget(host: str, room: Path, *flags: str) -> list[str] | None:
    if shutil.which("wget") is None:
        return None
    flags = ("-r", "-l", "inf", "-q", "-e", "robots=off", "-p", *flags)
    _run("wget", *flags, f"http://{host}/", cwd=room)
    return ["-r", ".", "--mirror", ".=http"]


# ---- HTTrack


def httrack(host: str, _site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """HTTrack: names and links of its own, and hts-cache/new.txt that tells them."""
    if shutil.which("httrack") is None:
        return None
    _run(
        *("httrack", f"http://{host}/", "-O", ".", "-q", "-s0", "-n", "-c4", "-%c100", "-A9999999"),
        cwd=room,
    )
    return ["-r", "."]


# ---- curl


def curl(host: str, site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """curl -L -D: a page and its headers each, and a map of what was asked for."""
    if shutil.which("curl") is None:
        return None
    lines = []
    for number, target in enumerate([*_html(site), "/old/", "/moved"]):
        name, url = f"{number}.html", f"http://{host}{target}"
        _run("curl", "-sL", "-D", f"{name}.headers", "-o", name, url, cwd=room)
        lines.append(f"{name}\t{url}\n")
    (room.parent / "map.tsv").write_text("".join(lines))
    return ["-r", ".", "--map", "../map.tsv", "--sidecar", ".headers"]


def curl_xattr(host: str, site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """curl --xattr: the URL in an extended attribute."""
    if shutil.which("curl") is None:
        return None
    for number, target in enumerate(_html(site)):
        _run("curl", "-s", "--xattr", "-o", f"{number}.html", f"http://{host}{target}", cwd=room)
    return ["-r", "."]


# ---- browsers


def single_file(host: str, site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """SingleFile's command line: everything in one file, and the URL in a comment."""
    if not Path(SINGLE_FILE).exists():
        return None
    urls = room.parent / "urls.txt"
    urls.write_text("".join(f"http://{host}{target}\n" for target in _html(site)))
    browser = shutil.which("chromium") or "chromium"
    _run(
        *(SINGLE_FILE, f"--urls-file={urls}", f"--browser-executable-path={browser}"),
        *('--browser-args=["--no-sandbox"]', "--filename-template={url-hash}{url-pathname-flat}"),
        "--filename-conflict-action=uniquify",
        cwd=room,
    )
    for path in [path for path in room.rglob("*") if path.is_file() and path.suffix != ".html"]:
        path.rename(path.with_name(f"{path.name}.html"))
    return ["-r", "."]


def mhtml(host: str, site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """Chromium's MHTML, by the DevTools protocol."""
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        return None
    with screen.chromium("--headless=new") as driver:
        for number, target in enumerate(_html(site)):
            driver.get(f"http://{host}{target}")
            answer = driver.execute_cdp_cmd("Page.captureSnapshot", {"format": "mhtml"})
            (room / f"{number}.mhtml").write_bytes(answer["data"].encode())
    return ["-r", "."]


def complete_on_screen(host: str, site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """Chrome's "complete" page, saved by Chromium on a virtual screen."""
    if not screen.is_there():
        return None
    screen.save([f"http://{host}{target}" for target in _html(site)], room)
    return ["-r", "."]


def complete(host: str, site: Mapping[str, Answer], room: Path) -> list[str] | None:
    """Chrome's "complete" page, made by hand to its shape: a mark, a folder, its own `<base>`."""
    for number, target in enumerate(_html(site)):
        _save_complete(f"http://{host}{target}", site, host, room, f"{number}")
    return ["-r", "."]


_LOADED: Final = frozenset(("img", "script", "link", "source"))


def _save_complete(url: str, site: Mapping[str, Answer], host: str, room: Path, name: str) -> None:
    data = site[url.removeprefix(f"http://{host}")].body
    folder = room / f"{name}_files"
    folder.mkdir(exist_ok=True)
    text = data
    for link in reversed(list(relbase.links(data, url=url, profile="whatwg", kind="html"))):
        # As Chromium does: srcset and styles stay, and of <link> it saves the style sheets.
        if link.url is None or link.syntax in {"srcset", "css"}:
            continue
        answer = site.get(link.url.removeprefix(f"http://{host}").partition("#")[0])
        new = link.url
        is_icon = link.element == "link" and answer and not answer.type.startswith("text/css")
        if link.element in _LOADED and answer is not None and not is_icon:
            file = Path(unquote(link.url.partition("?")[0])).name
            (folder / file).write_bytes(answer.body)
            new = f"./{name}_files/{file}"
        text = text[: link.span.start] + new.encode() + text[link.span.end :]
    if b"<base" in text:
        start = text.index(b"<base")
        end = text.index(b">", start) + 1
        text = text[:start] + b"<!--" + text[start:end] + b'--><base href=".">' + text[end:]
    end = text.lower().find(b"<html")
    mark = b"<!-- saved from url=(%04d)%s -->\n" % (len(url), url.encode().replace(b"--", b"-%2D"))
    (room / f"{name}.html").write_bytes(text[: max(end, 0)] + mark + text[max(end, 0) :])


SAVERS: Final[dict[str, Saver]] = {
    "wget -p -k -E -K": wget("-p", "-k", "-E", "-K"),  # links converted, originals kept
    # nothing tells what a name was
    "wget -p -k -E": wget("-p", "-k", "-E"),
    "wget --mirror": wget("--mirror"),  # links as they were
    "wget --xattr": wget_xattr,
    "HTTrack": httrack,
    "curl -D": curl,
    "curl --xattr": curl_xattr,
    "SingleFile": single_file,
    "Chromium MHTML": mhtml,
    "Chrome complete, on a screen": complete_on_screen,
    "Chrome complete": complete,
}
