"""pyld, another implementation of JSON-LD, with the terms of schema.org that relbase knows.

schema.org's own context cannot be fetched; of other contexts the referee knows no term either.
"""

import json
import re
from typing import Any, Final

from extras import needed

from relbase.html.vocabulary import PROPERTIES

REFEREED: Final = {
    "@vocab": "http://schema.org/",
    "type": "@type",
    "id": "@id",
    **{name.decode(): {"@type": "@id"} for name in PROPERTIES - {b"id"}},
}


known = re.compile(r"https?://(www\.)?schema\.org/?", re.IGNORECASE).fullmatch


def loaded(url: str, _options: object) -> dict[str, Any]:
    return {
        "contextUrl": None,
        "documentUrl": url,
        "document": {"@context": REFEREED if known(url) else {}},
        "contentType": "application/ld+json",
    }


def expanded(text: str, base: str) -> Any:
    document = _meant(json.loads(text))
    return needed("pyld").jsonld.expand(document, {"base": base, "documentLoader": loaded})


_is_text: Final = re.compile(r"\s*|true|false|.*\S\s+\S.*", re.IGNORECASE | re.DOTALL).fullmatch


def _meant(value: Any, name: str = "") -> Any:
    """Leave out what relbase leaves alone: `@type`, and what nobody means as a URL."""
    if isinstance(value, dict):
        members = {key: _meant(member, key) for key, member in value.items() if key != "@type"}
        return {key: member for key, member in members.items() if member is not _NOTHING}
    if isinstance(value, list):
        return [item for item in (_meant(item, name) for item in value) if item is not _NOTHING]
    is_property = name != "id" and name.encode() in PROPERTIES
    return _NOTHING if is_property and isinstance(value, str) and _is_text(value) else value


_NOTHING: Final = object()
