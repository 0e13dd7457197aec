"""Examples in docstrings are code: a paragraph that begins with `>>>` is fenced for the site."""

from __future__ import annotations

from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_more: Any) -> None:
        """Fence the examples of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = "\n\n".join(
                f"```pycon\n{paragraph}\n```" if paragraph.startswith(">>> ") else paragraph
                for paragraph in obj.docstring.value.split("\n\n")
            )
