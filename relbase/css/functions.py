"""The CSS functions that hold references, one row for each, and the at-rules that matter."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Form(Enum):
    """How a reference is written; only `IMPORT` makes another sheet part of this one."""

    URL = "url"  # without quotes, or a string and modifiers
    SRC = "src"  # a string and modifiers
    IMAGE_SET = "image-set"  # any string directly in it
    IMPORT = "import"
    FILTER = "filter"  # a string after `src=`


class Function(NamedTuple):
    name: bytes  # in lower case, of letters, digits and `-`
    form: Form
    extended: bool = False  # counts with the policy `extended` only


FUNCTIONS: Final = (
    Function(b"url", Form.URL),  # CSS Values 4 §4.5
    Function(b"src", Form.SRC),  # CSS Values 4 §4.5
    Function(b"image-set", Form.IMAGE_SET),  # CSS Images 4 §2.4
    Function(b"-webkit-image-set", Form.IMAGE_SET),
    # Internet Explorer's, for images that pages of its time need to look right
    Function(b"alphaimageloader", Form.FILTER, extended=True),
)

# Forms of a <url>, which `@import` accepts (CSS Values 4 §4.5).
URL_FORMS: Final = (Form.URL, Form.SRC)

# At-rules that begin with a reference, or that change what one means.
IMPORT: Final = b"import"
NAMESPACE: Final = b"namespace"
CONTAINER: Final = b"container"
# Nothing is loaded from what their conditions compare.
SUPPORTS: Final = b"supports"
DOCUMENTS: Final = (b"document", b"-moz-document")
