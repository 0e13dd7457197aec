"""Puts a function in the place of another one, wherever a loaded module has it."""

import sys
from typing import Any


def put(old: Any, new: Any) -> None:
    """Replace a function in all modules that were imported before; at least one has it."""
    places = [
        (module, name)
        for module in list(sys.modules.values())
        for name, value in list(vars(module).items())
        if value is old
    ]
    assert places
    for module, name in places:
        setattr(module, name, new)
