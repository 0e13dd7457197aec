"""The grammar of URLs: RFC 1808 §2.2, and RFC 1738 §5 for the schemes that it defines.

Resolving needs none of it. `parse_url` and `violations` say whether a text is a URL and why not,
`split` and `unsplit` take a URL apart and put it together, `Step` is a step of `Resolver.steps`.

>>> parse_url("http://h.example:80/p?q").port
'80'
"""

from relbase.grammar.characters import Violation
from relbase.grammar.urls import Url, parse_url, violations
from relbase.url.rfc1808 import Components, split, unsplit
from relbase.url.step import Step

__all__ = [
    "Components",
    "Step",
    "Url",
    "Violation",
    "parse_url",
    "split",
    "unsplit",
    "violations",
]
