"""What the caller may choose. The command line's flags are generated from these fields."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """Choices about what is rewritten; the defaults are what most users want.

    Args:
        keep_fragments: leave references into the same document (`#top`) alone.
        keep: leave the references alone in which this pattern is found.
        extended: rewrite what only some readers take for URLs too: param values, RDFa, lazy
            loading, social media metadata.
        attachments: rewrite documents that are attached to a message.
        dkim_signed: rewrite messages that carry a DKIM signature or an ARC seal.

    Raises:
        TypeError: if `keep` is no compiled pattern of strings.

    >>> Policy(keep=re.compile(r"^/private/")).extended
    False
    """

    keep_fragments: bool = False
    keep: re.Pattern[str] | None = None
    extended: bool = False
    attachments: bool = True
    dkim_signed: bool = True

    def __post_init__(self) -> None:
        keep: object = self.keep
        compiled = isinstance(keep, re.Pattern) and isinstance(keep.pattern, str)
        if keep is not None and not compiled:
            raise TypeError("keep is a compiled pattern of strings: give re.compile('...')")
