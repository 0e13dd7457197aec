import re

import pytest

from relbase.references.bytesets import all_but


@pytest.mark.parametrize("excluded", [b"", b'"', b'"<', b"\0", b"\xff", b"\0\xff", b"ab]^\\-"])
def test_the_set_has_all_bytes_but_these(excluded: bytes) -> None:
    found = re.findall(all_but(excluded), bytes(range(0x100)))
    assert b"".join(found) == bytes(set(range(0x100)) - set(excluded))
