"""Named tuples that are made quickly: there are a hundred in the package, and a run makes most.

`typing.NamedTuple` compiles the annotation of each field, which nobody asks for here; that takes
two thirds of the time in which it makes a class.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _Maker(type):
        """Makes a named tuple of the annotations of a class, with what else stands in it."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            if not all(field in body for field in list(fields)[len(fields) - len(defaults) :]):
                raise TypeError(f"{name}: a field without a default follows one that has one")
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # noqa: PYI024
            made.__annotations__ = made.__new__.__annotations__ = fields
            for key, value in body.items():
                if key not in fields and key not in _OWN:
                    setattr(made, key, value)
            return made

    _OWN = frozenset({"__module__", "__annotations__", "__slots__"})

    class NamedTuple(metaclass=_Maker):
        """As `typing.NamedTuple`."""
