"""JSON-LD of saved pages: pyld expands the output as it expands the original with its base."""

import json
import re
from pathlib import Path
from typing import Final

import pytest
from counts import Counts
from expanding import expanded
from test_real_pages import pages

import relbase
from relbase import Policy, Profile
from relbase.html.json_ld import last_relative

pyld = pytest.importorskip("pyld", reason="pyld: extra `ci`")

_blocks: Final = re.compile(
    rb"""<script[^>]*?type=["']?application/ld\+json["']?[^>]*>(.*?)</script>""",
    re.DOTALL | re.IGNORECASE,
)


def means(block: bytes, base: str) -> object:
    try:
        return expanded(block.decode(), base)
    except (pyld.jsonld.JsonLdError, ValueError) as error:
        return type(error)


def test_output_means_what_the_page_means_at_its_url(data: Path, counts: Counts) -> None:
    compared = relative = 0
    for name, page, url in pages(data / "real-pages"):
        for block in _blocks.findall(page):
            try:
                json.loads(block)
            except ValueError:
                continue
            base = url.partition("#")[0]
            result = relbase.rewrite(
                block,
                url=base,
                kind="jsonld",
                policy=Policy(extended=True),
                profile=Profile.RFC3986,
            )
            compared += 1
            relative += result.changed
            assert last_relative(block) >= 0 or not result.changed, name
            assert means(result.data, "") == means(block, base), name
    assert compared > 50
    assert relative
    counts("JSON-LD of saved pages", compared, 0, "pyld expands it alike")
