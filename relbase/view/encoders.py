r"""The encoders of the WHATWG Encoding Standard, for what is not read back: the queries of links.

Strategy: they write what `transcode.encode` writes, which is read back as it was. For some
characters that have nothing of the kind they write what is near, or what an older version of the
charset had: `_NEAR` puts that in their place before.

To mind: a document is never written with them. A link to `?¥` in Shift_JIS would become one to
`?\` there; in a query that is what browsers make of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.view import transcode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ERROR: Final = "\ufffd"

# §12.1.2, §12.2.2 and §12.3.2: "If codePoint is U+2212, then set codePoint to U+FF0D."
_MINUS: Final = str.maketrans("\u2212", "\uff0d")
# §12.1.2 EUC-JP encoder, §12.3.2 Shift_JIS encoder; ISO-2022-JP has these in its Roman state.
_SIGNS: Final = str.maketrans("\u00a5\u203e", "\\~")
# Index ISO-2022-JP katakana, from U+FF61 on.
_KATAKANA: Final = dict(
    enumerate(
        "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテト"
        "ナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜",
        0xFF61,
    )
)
# §12.2.2: they would be read as a change of state.
_CONTROLS: Final = str.maketrans("\x0e\x0f\x1b", _ERROR * 3)
# §10.2.2 and index gb18030: where GB 18030-2022 moved characters out of private use, the encoder
# still takes the old ones.
_PRIVATE_USE: Final = str.maketrans(
    "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796"
    "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19"
    "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)

_NEAR: Final[Mapping[str, Mapping[int, int | str]]] = {
    "gbk": _PRIVATE_USE,
    "gb18030": _PRIVATE_USE,
    "euc-jp": {**_MINUS, **_SIGNS},
    "iso-2022-jp": {**_MINUS, **_KATAKANA, **_CONTROLS},
    "shift_jis": {**_MINUS, **_SIGNS},
}


def encode(string: str, charset: str, unencodable: Callable[[str], bytes]) -> bytes:
    """Encode text as a browser does for a query, maybe to something that means another text.

    Implements the encoders of the Encoding Standard, §9 to §14.
    """
    near = _NEAR.get(charset)
    return transcode.encode(string.translate(near) if near else string, charset, unencodable)
