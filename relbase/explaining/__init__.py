"""A page that shows why each reference of a document means what it means: `relbase.explain`.

A hostile document must stay inert in the page: every text goes through `markup.text` or
`markup.attribute`, and a Content-Security-Policy forbids whatever is not the page's style sheet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Unpack

    from relbase.call import Arguments


def explain(data: bytes, **call: Unpack[Arguments]) -> str:
    """Return an HTML page that shows what each link of a document means, and why.

    Args:
        data: The document's bytes.
        **call: The arguments of `rewrite`; `name` is also the title of the page.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    The page loads nothing and runs no script. It draws the layers of RFC 1808 §3 as nested boxes,
    marks each reference in the source by the layer that decides it, and lists what it resolves to
    and by which step of §4 (or of the other algorithms).

    >>> page = explain(b'<base href="/d/"><a href=x>', url="http://h.example/")
    >>> "http://h.example/d/x" in page, "<script" in page
    (True, False)
    """
    from relbase.call import check  # noqa: PLC0415 (start-up time of all other uses)
    from relbase.explaining.page import page  # noqa: PLC0415 (likewise)

    return page(data, check(data, **call))[0]
