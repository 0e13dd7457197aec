"""Malformed text in charsets of several bytes: as many errors as Chromium finds."""

import random
import re
from typing import Any, Final

import pytest

from relbase.view.characters import scalar_values
from relbase.view.transcode import decode

DECODED: Final = """
const [label, texts] = arguments;
return texts.map(hex => {
  const bytes = Uint8Array.from(hex.match(/../g), byte => parseInt(byte, 16));
  return Array.from(new TextDecoder(label).decode(bytes), c => c.codePointAt(0));
});
"""
TEXTS: Final = 3000

# Bytes that begin, go on and break off characters; of the single-byte charsets nothing can.
ALPHABETS: Final = {
    "utf-8": b"A/\x82\xac\xe2\xf0\x9f\x98\x80\xc3\xc0\xed\xa0\xf4\x90\xff",
    "gb18030": b'A"09\x7f\x80\x81\x84\xa1\xe3\xfe\xff',
    "gbk": b'A"09\x7f\x80\x81\x84\xa1\xe3\xfe\xff',
    "big5": bytes((*range(0x80, 0x100), *b'A@~"\\')),
    "euc-jp": bytes((*range(0x80, 0x100), *b'A@~"\\\x8e\x8f\x8e\x8f')),
    "euc-kr": bytes((*range(0x80, 0x100), *b'A@~"\\')),
    "shift_jis": bytes((*range(0x80, 0x100), *b'A@~"\\')),
}
# Where Chromium departs from the standard: EUC-JP's flag for JIS X 0212 stays set after an error,
# and of four pairs of Big5, that are two characters each, one character comes out, and a surrogate.
DEPARTURES: Final = {
    "euc-jp": re.compile(rb"\x8f[\xa1-\xfe][^\xa1-\xfe]"),
    "big5": re.compile(rb"\x88[\x62\x64\xa3\xa5]"),
}


@pytest.mark.parametrize("label", ALPHABETS)
def test_malformed_text(label: str, browser: Any) -> None:
    browser.get("about:blank")
    pick = random.Random(label)
    departs = DEPARTURES.get(label, re.compile(b"(?!)")).search
    # After an ASCII byte nothing more can come: a decoder takes the end for an error of its own.
    drawn = (
        bytes(pick.choices(ALPHABETS[label], k=pick.randint(1, 8))) + b"/" for _ in range(TEXTS)
    )
    texts = [text for text in drawn if not departs(text)]
    seen = browser.execute_script(DECODED, label, [text.hex() for text in texts])
    wrong = [
        (text, found, expected)
        for text, codes in zip(texts, seen, strict=True)
        if (found := scalar_values(decode(text, label), label))
        != (expected := "".join(map(chr, codes)))
    ]
    assert wrong == []
    assert sum(0xFFFD in codes for codes in seen) > TEXTS / 2
    assert len(texts) > 0.9 * TEXTS
