"""The rows of header fields, by name."""

from relbase.containers.header_fields import FIELDS, States
from relbase.containers.known_fields import REMEMBERED, ROWS, bases


def test_every_field_has_one_row_that_counts_for_something() -> None:
    assert len(ROWS) == len(FIELDS)
    for row in FIELDS:
        assert row.name.isascii()
        assert row.name.lower() in REMEMBERED or row.of_mail, row.name


def test_the_fields_that_state_a_base() -> None:
    """Rules 2 and 3."""
    assert [row.name for row in bases(States.MAIL)] == ["Base", "Content-Base", "Content-Location"]
    assert [row.name for row in bases(States.HTTP)] == ["Base", "Content-Base"]
