"""RFC 7303 §3.2, XML 1.0 §4.3.3 and appendix F, and documents in every charset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from lxml import etree
from view_laws import assert_law

from relbase.edit import Edit, splice
from relbase.view.charset import CharsetSource
from relbase.view.transcode import sniff_xml, xml_view

if TYPE_CHECKING:
    from relbase.view.runs import View


@pytest.mark.parametrize(
    ("data", "label", "name", "source"),
    [
        (b"<a/>", None, "utf-8", CharsetSource.FORMAT),  # §4.3.3
        (b"<a>\xe9</a>", None, "utf-8", CharsetSource.FORMAT),  # a fatal error, and no guess
        (b"\xef\xbb\xbf<a/>", "koi8-r", "utf-8", CharsetSource.BOM),  # RFC 7303 §3.2
        (b'<?xml version="1.0" encoding="koi8-r"?><a/>', None, "koi8-r", CharsetSource.META),
        (b"<?xml version='1.0'\nencoding = 'koi8-r' ?><a/>", None, "koi8-r", CharsetSource.META),
        (b'<?xml encoding="koi8-r"?><a/>', None, "koi8-r", CharsetSource.META),  # [77] of an entity
        (b'<?xml version="1.0" encoding="koi8-r"?>', "euc-kr", "euc-kr", CharsetSource.TRANSPORT),
        (b'<?xml version="1.0" encoding="koi8-r"?>', "nonsense", "koi8-r", CharsetSource.META),
        (b' <?xml version="1.0" encoding="koi8-r"?>', None, "koi8-r", CharsetSource.META),
        (b'<a encoding="koi8-r"/>', None, "utf-8", CharsetSource.FORMAT),
        (b"<meta charset=koi8-r>", None, "utf-8", CharsetSource.FORMAT),  # that is HTML's rule
        (b'<?xml version="1.0" encoding="utf-7"?>', None, "replacement", CharsetSource.META),
        (b'<?xml version="1.0" encoding="UTF-16"?>', None, "utf-8", CharsetSource.CONTRADICTED),
        (b'<?xml encoding="UTF-16"?>\xe9', None, "replacement", CharsetSource.META),
        ("<a/>".encode("utf-16"), None, "utf-16le", CharsetSource.BOM),
        ("<?xml?>".encode("utf-16-be"), None, "utf-16be", CharsetSource.FORMAT),
        ("<a/>".encode("utf-16-le"), None, "utf-16le", CharsetSource.FORMAT),
        ("<a/>".encode("utf-32"), None, "replacement", CharsetSource.META),
        ("<a/>".encode("utf-32-be"), None, "replacement", CharsetSource.META),
        (b"\x4c\x6f\xa7\x94\x93", None, "replacement", CharsetSource.META),
        (b"", None, "utf-8", CharsetSource.FORMAT),
    ],
)
def test_sniffing(data: bytes, label: str | None, name: str, source: CharsetSource) -> None:
    assert sniff_xml(data, label)[:2] == (name, source)


def seen(raw: bytes, charset: str) -> View:
    view = xml_view(raw, charset)
    assert view is not None
    return view


@pytest.mark.parametrize("charset", ["windows-1252", "koi8-r", "iso-8859-2", "windows-1251"])
def test_law_of_single_bytes(charset: str) -> None:
    codec = charset.replace("windows-", "cp")
    texts = st.text("aé€ж", min_size=1, max_size=8)
    assert_law(
        texts.map(lambda string: string.encode(codec, "ignore")),
        lambda raw: seen(raw, charset),
        lambda raw: raw.decode(codec).encode(),
        st.sampled_from([b"", b"ab"]),
    )


@pytest.mark.parametrize(
    ("charset", "label", "new", "expected"),
    [
        ("windows-1252", "iso-8859-1", "é", b"\xe9"),
        ("windows-1252", "iso-8859-1", "€", b"&#8364;"),  # in windows-1252 it is 80
        ("koi8-r", "koi8-r", "ж", b"\xd6"),
        ("koi8-r", "koi8-r", "é", b"&#233;"),
        ("shift_jis", "shift_jis", "あ", b"\x82\xa0"),
        ("shift_jis", "shift_jis", "é", b"&#233;"),
        ("utf-16le", "utf-16", "é", b"\xe9\x00"),
    ],
)
def test_what_is_written(charset: str, label: str, new: str, expected: bytes) -> None:
    wide = "utf-16-le" if charset == "utf-16le" else "ascii"
    mark = b"\xff\xfe" if charset == "utf-16le" else b""
    data = mark + f"<?xml version='1.0' encoding='{label}'?><a></a>".encode(wide)
    view = seen(data, charset)
    at = view.inner.index(b"</a>")
    (edit,) = view.lower([Edit(at, at, new.encode())])
    assert edit.new == expected
    assert etree.fromstring(splice(data, [edit])).text == new


def test_utf_8_is_seen_as_it_is() -> None:
    assert xml_view(b"<a/>", "utf-8") is None
    with pytest.raises(ValueError, match="replacement"):
        xml_view(b"<a/>", "replacement")
