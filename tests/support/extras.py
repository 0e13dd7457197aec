"""What only the extra `ci` installs: without it, what needs it skips and names it."""

from typing import Any

import pytest


def needed(name: str) -> Any:
    """Return a module of the extra `ci`."""
    return pytest.importorskip(name, reason=f"{name}: extra `ci`")
