"""What is plain or absolute in references and URLs, once for all that asks.

Regular expressions take the characters as parts of their classes, and the build writes what the
compiled scanner needs into its header (`scan.tables`).
"""

from typing import Final

from relbase.expressions import expression

# Absolute in every profile, whatever follows. A data URL may be too long to be worth decoding.
WEB: Final = ("http://", "https://")
ABSOLUTE: Final = (*WEB, "data:")
WEB_PATTERN: Final = "https?://"  # what `WEB` has

# https://url.spec.whatwg.org/#special-scheme
SPECIAL: Final = ("http", "https", "ftp", "file", "ws", "wss")

# Inside of a class: the unreserved characters of RFC 3986 §2.3 without the dot.
UNRESERVED: Final = r"A-Za-z0-9_~\-"
# Those that no algorithm changes or takes for the end of a component, whatever precedes them. Not
# the dot, `%` and `&`, since what follows them matters; not the colon, which may end a scheme.
NAME: Final = rf"{UNRESERVED}!$()*+,=@"
SAFE: Final = rf"{NAME};"  # with what separates params

# The beginning of a base that the RFC profiles only copy.
NET_LOC: Final = rf"{WEB_PATTERN}[A-Za-z0-9.:-]++"
# A URL that becomes the base unchanged if it is stated, except in profile whatwg.
plain_base: Final = expression(rf"{NET_LOC}(?:/[!\x22$-?A-~]*+)?+")
# A host that the WHATWG parser leaves as it is: lower case, no number at its end, and no two
# hyphens together, as in names that IDNA decodes.
HOST: Final = r"(?:[a-z0-9]++(?:-[a-z0-9]++)*+\.)*+[a-z][a-z0-9]*+(?:-[a-z0-9]++)*+"
# Characters that are in no percent-encode set there and end no component; not the backslash.
SERIALISED: Final = rf"{SAFE}&%."
# Excludes what a "single-dot" or "double-dot URL path segment" begins with.
NOT_DOTS: Final = r"(?!\.|%2[Ee])"
PATH: Final = rf"(?:/{NOT_DOTS}[{SERIALISED}:]*+)++"
AFTER_PATH: Final = rf"(?:\?[{SERIALISED}:/?]*+)?(?:\#[{SERIALISED}:/?]*+)?"
# A URL that it leaves as it is.
serialised: Final = expression(rf"{WEB_PATTERN}{HOST}{PATH}{AFTER_PATH}")

# A reference without parameters that each RFC profile resolves by putting text in front.
_WORD: Final = rf"[{NAME}%&'.]"
plain_reference: Final = expression(
    rf"(?!\Z)(?:{_WORD}++(?:/(?:{_WORD}|[:/])*+)?|//?(?:{_WORD}(?:{_WORD}|[:/])*+)?)?"
    rf"(?:[?](?:{_WORD}|[][:;/?])*+)?(?:[#](?:{_WORD}|[:;/?])*+)?"
)
