"""For the reference: the fields of a named tuple are what it is made with, and have types.

`mkdocstrings` reads the package without running it, and knows of data classes only.
"""

from __future__ import annotations

from typing import Any

import griffe


class NamedTuples(griffe.Extension):
    """Gives each named tuple the `__init__` that its fields stand for."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Add it, once the members of a class are known."""
        if not any(str(base) == "NamedTuple" for base in cls.bases):
            return
        fields = [
            griffe.Parameter(
                name,
                annotation=member.annotation,
                kind=griffe.ParameterKind.positional_or_keyword,
                default=None if member.value is None else str(member.value),
            )
            for name, member in cls.members.items()
            if isinstance(member, griffe.Attribute) and member.annotation is not None
        ]
        own = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
        made = griffe.Function("__init__", parameters=griffe.Parameters(own, *fields), parent=cls)
        cls.set_member("__init__", made)
