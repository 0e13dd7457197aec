"""What all tests share: the directory that RELBASE_DATA names, and how hypothesis runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The time of one example says nothing on a busy machine; tests of time compare sizes (growth.py).
# The examples are the same in each run; RELBASE_RANDOM=1 looks for others.
settings.register_profile(
    "relbase", deadline=None, derandomize=not os.environ.get("RELBASE_RANDOM")
)
settings.load_profile("relbase")


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the directory of other people's test data."""
    directory = os.environ.get("RELBASE_DATA")
    if not directory:
        pytest.skip("RELBASE_DATA is not set: it names the directory of other people's test data")
    path = Path(directory)
    assert path.is_dir(), f"RELBASE_DATA={directory} is no directory"
    return path
