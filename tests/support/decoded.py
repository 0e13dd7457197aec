"""The bytes of a part without its transfer encoding, as the views read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.view.base64 import base64_view
from relbase.view.quoted_printable import QuotedPrintableView

if TYPE_CHECKING:
    from relbase.containers.parts import Part


def decoded(data: bytes, part: Part) -> bytes:
    """Return the body of a part of `data` decoded, as it is written where it cannot be."""
    body = data[slice(*part.body)]
    if part.encoding == "quoted-printable":
        return QuotedPrintableView(body).inner
    view = base64_view(body) if part.encoding == "base64" else None
    return body if view is None else view.inner
