"""MAFF, the Mozilla Archive Format: a ZIP file with a directory for each page that was saved.

A file index.rdf in the directory names that of the page, and states its URL and charset. No URL is
known of the other files in it: frames, sheets, pictures.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from posixpath import dirname
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from relbase.compression.codings import MAX_DECODED
from relbase.compression.zips import Members
from relbase.containers.saved import MAX_FILE, Saved, xml_parser
from relbase.containers.warc import MAX_HEAD, Fault, Trouble
from relbase.expressions import expression, regex
from relbase.view.charset import UNREADABLE, WIDE, lookup

if TYPE_CHECKING:
    from zipfile import ZipInfo

# Programs name the files that they save by their types; other files are not read.
_TYPES: Final = {
    **dict.fromkeys(("html", "htm"), "text/html"),
    **dict.fromkeys(("xhtml", "xht"), "application/xhtml+xml"),
    **dict.fromkeys(("svg", "xml"), "application/xml"),
    "css": "text/css",
}
_NAMESPACE: Final = "http://maf.mozdev.org/metadata/rdf#"
_STATED: Final = ("originalurl", "archivetime", "charset")
_VALUE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns# resource"

_is_main: Final = regex(r"[^/]+/index\.(?!rdf\Z)").match  # perhaps of a picture
_header: Final = expression(rb"PK\x03\x04.{4}(..).{18}(..)[^/]{1,255}/index\.rdf", re.DOTALL)


def begins(start: bytes) -> bool:
    """Return whether a ZIP file begins with an index.rdf of MAFF; others may be feeds."""
    header = _header.search(start) if start.startswith(b"PK\x03\x04") else None
    index = start[header.end() + int.from_bytes(header[2], "little") :] if header else b""
    if header and any(header[1]):  # its compression method
        with suppress(zlib.error):
            index = zlib.decompressobj(-15).decompress(index, MAX_HEAD)
    return _NAMESPACE.encode() in index[:MAX_HEAD]


def saved(data: bytes) -> Iterator[Saved | Fault]:
    """Yield the documents in the directories of pages, in the order of the ZIP file."""
    try:
        members = Members(data, MAX_FILE)
    except Exception as error:  # noqa: BLE001 (of zipfile, which raises what it meets)
        yield Fault(0, "", "", Trouble.DAMAGED, f"the ZIP file cannot be read: {error}"[:300])
        return
    documents = _documents(members)
    if not any(_is_main(name) for name, _ in members.named):
        yield next(documents, Fault(0, "", "", Trouble.DAMAGED, "no directory in it has a page"))
    yield from documents


def _documents(members: Members) -> Iterator[Saved | Fault]:
    files = defaultdict[str, set[str]](set)  # by directories, with the folders that they are in
    stated: dict[str, dict[str, str]] = {}
    for name, member in members.named:
        folder, _, path = name.partition("/")
        if path != "index.rdf":
            files[folder] |= {name.rstrip("/"), dirname(name)} - {folder, ""}
        else:
            try:
                stated[folder] = _properties(members.content(name, member, MAX_HEAD))
            except (expat.ExpatError, ValueError) as error:
                yield _fault(name, member, error)
    beside = {folder: frozenset(paths) for folder, paths in files.items()}
    for name, member in members.named:
        folder, _, path = name.partition("/")
        about = stated.get(folder, {})
        is_page = path == (about.get("indexfilename") or "index.html")
        type_ = _TYPES.get(path.rpartition(".")[2].lower(), "" if is_page else None)
        if type_ is None or members.left < 0:
            continue
        url, date, label = ((is_page and about.get(key)) or "" for key in _STATED)
        charset = lookup(label)
        if type_ and charset and charset not in {*WIDE, *UNREADABLE}:
            type_ += f"; charset={charset}"
        try:
            body = members.content(name, member, MAX_DECODED)
        except ValueError as error:
            yield _fault(name, member, error, url)
        else:
            document = Saved(member.header_offset, url, type_, body, date=date, name=name)
            yield document._replace(files=beside[folder])


def _fault(name: str, member: ZipInfo, error: Exception, url: str = "") -> Fault:
    return Fault(
        member.header_offset, "", url, Trouble.DAMAGED, f"{name[:200]} is not read: {error}"
    )


def _properties(index: bytes) -> dict[str, str]:
    """Return the properties that an index.rdf states, by their names."""
    stated: dict[str, str] = {}

    def begin(name: str, attributes: dict[str, str]) -> None:
        namespace, _, name = name.rpartition(" ")
        value = attributes.get(_VALUE, "")
        if namespace == _NAMESPACE and stated.setdefault(name, value) != value:
            stated[name] = ""  # of two values neither is certain

    parser = xml_parser(" ")
    parser.StartElementHandler = begin
    parser.Parse(index, True)
    return stated
