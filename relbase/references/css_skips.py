"""What `css` skips between two events: text in which no reference can begin.

To mind: each expression goes on as far as it can and never fails; it ends between two tokens.

Specification: CSS Syntax Level 3, §4.3.
"""

from __future__ import annotations

from typing import Final

from relbase.references.bytesets import all_but
from relbase.references.css_escapes import INSIDE_DOUBLE, INSIDE_SINGLE, WORD
from relbase.references.css_functions import not_after

# §4.3.2; an unclosed comment reaches to the end.
COMMENT: Final = rb"/\*(?:[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|(?s:.)*+)"
SPACE: Final = rb"(?:[ \t\n\r\f]++|%b)*+" % COMMENT

_STRING: Final = rb"""(?:"%b"?+|'%b'?+)""" % (INSIDE_DOUBLE, INSIDE_SINGLE)
_PASSED: Final = rb"/(?!\*)|<(?!!--)|" + COMMENT
_TEXT: Final = all_but(b"\"'\\/()[]{};<")
# `rgb(0,0,0)`, `[href^="x"]`
_BRACKETS: Final = rb"%b\(%b*+\)|\[%b*+(?:%b%b*+)?+\]" % (
    not_after(),
    *(_TEXT, _TEXT, _STRING, _TEXT),
)
# Most statements begin so, with nothing to look at more closely.
_PLAIN_START: Final = rb"[;{}][ \t\n\r\f]*+(?=[a-zA-Z.#*:;{}])"

_OUTSIDE: Final = all_but(b"\"'\\/([;{}<")
IN_STATEMENT: Final = rb"(?:%b++|%b|%b|%b)*+" % (_OUTSIDE, _PASSED, _STRING, _BRACKETS)
OUTSIDE: Final = rb"(?:%b++|%b|%b|%b|%b)*+" % (
    _OUTSIDE,
    *(_PLAIN_START, _PASSED, _STRING, _BRACKETS),
)
# In the value of a custom property, and in what is before the block of some at-rules.
IN_VALUE: Final = rb"(?:%b++|%b|%b|%b)*+" % (_TEXT, _PASSED, _STRING, _BRACKETS)
# Inside of a bracket a semicolon means nothing.
INSIDE: Final = rb"(?:%b++|%b|%b|%b)*+" % (
    all_but(b"\"'\\/()[]{}<"),
    *(_PASSED, _STRING, _BRACKETS),
)
INSIDE_IMAGE_SET: Final = rb"(?:%b++|%b|%b)*+" % (_TEXT, _PASSED, _BRACKETS)

# The arguments of a filter up to the string of `src=`.
_IS: Final = SPACE + b"=" + SPACE
BEFORE_SRC: Final = (
    rb"(?:%b(?!(?i:src)%b)[%b]++%b(?:\"%b\"|'%b'|[^\"',()\t\n\f\r ]++)%b,)*+%b(?i:src)%b(?=[\"'])"
    % (SPACE, _IS, WORD, _IS, INSIDE_DOUBLE, INSIDE_SINGLE, SPACE, SPACE, _IS)
)
