"""Safari's web archives: property lists, binary or XML, of resources with their URLs."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Iterator
from plistlib import FMT_XML
from typing import Any, Final

from relbase.containers.plist import MARK, Binary, Data
from relbase.containers.saved import Saved
from relbase.containers.warc import Fault, Trouble
from relbase.expressions import expression

_MAIN, _OTHERS, _FRAMES = "WebMainResource", "WebSubresources", "WebSubframeArchives"
_URL, _TYPE, _CHARSET = "WebResourceURL", "WebResourceMIMEType", "WebResourceTextEncodingName"
_DATA: Final = "WebResourceData"
_NAMES: Final = frozenset((_MAIN, _OTHERS, _FRAMES, _URL, _TYPE, _CHARSET, _DATA))

# Safari writes binary lists. One in XML takes several times its size of memory.
MAX_XML: Final = 64 << 20

begins: Final = expression(
    rb"bplist00(?=.*WebMainResource)|\s*+<(?:\?xml|!DOCTYPE plist|plist)"
    rb"(?=.{0,2000}?<key>Web(?:Main|Sub)[a-zA-Z]*+</key>)",
    re.DOTALL,
)


def saved(data: bytes) -> Iterator[Saved | Fault]:
    """Yield the resources of a web archive: its page, what belongs to it, and its frames."""
    try:
        if not (is_binary := data.startswith(MARK)) and len(data) > MAX_XML:
            raise ValueError(f"in XML, it has more than {MAX_XML >> 20} MiB")  # noqa: TRY301
        root = Binary(data, _NAMES).root() if is_binary else plistlib.loads(data, fmt=FMT_XML)
    except Exception as error:  # noqa: BLE001 (of plistlib, which raises what it meets)
        why = f"the property list cannot be read: {error}"
        yield Fault(0, "", "", Trouble.DAMAGED, why[:300])
        return
    if not isinstance(root, dict) or _MAIN not in root:
        yield Fault(0, "", "", Trouble.DAMAGED, f"the property list has no {_MAIN}")
        return
    seen: set[int] = set()  # binary lists may refer to an object twice

    def new(value: object, type_: type) -> Any:  # noqa: ANN401 (a dict or a list)
        is_new = isinstance(value, type_) and id(value) not in seen
        seen.add(id(value))
        return value if is_new else type_()

    pending = [root]
    while pending:
        archive = new(pending.pop(), dict)
        main = archive.get(_MAIN)
        for resource in (main, *new(archive.get(_OTHERS), list)):
            members = new(resource, dict)
            url, type_, charset, content = map(members.get, (_URL, _TYPE, _CHARSET, _DATA))
            url = url if isinstance(url, str) else ""
            content = Data(0, content) if isinstance(content, bytes) else content
            if isinstance(content, Data):
                stated = type_ if isinstance(type_, str) else ""
                stated += f"; charset={charset}" if stated and isinstance(charset, str) else ""
                yield Saved(content.offset, url, stated, content.body)
            elif resource is main and members:
                yield Fault(0, "", url, Trouble.DAMAGED, f"its {_MAIN} has no {_DATA}")
        pending += reversed(new(archive.get(_FRAMES), list))
