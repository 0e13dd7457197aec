"""Links of an HTML part that name other parts, or stand in the plain text beside it."""

import pytest

import relbase

URL = "http://h.example/d/"


def message(html: str, *others: str, kind: str = "related") -> bytes:
    parts = (f"Content-Type: text/html\n\n{html}", *others)
    inner = "".join(f"\n--b\n{part}" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary=b\n{inner}\n--b--\n".encode()


def notes(data: bytes) -> list[tuple[str, str]]:
    found = relbase.rewrite(data, url=URL, kind="mail").notes
    return [(note.reason.value, note.text) for note in found]


IMAGE = "Content-Type: image/png; name=image001.png\nContent-ID: <i1@x>\n\nx"


@pytest.mark.parametrize(
    ("html", "other", "count"),
    [
        ("<img src=image001.png>", IMAGE, 1),
        ("<img src='i1@x'><img src=image001.png><img src=y>", IMAGE, 2),
        (
            "<img src='a%20b.png'>",
            'Content-Type: image/png; name="a b.png"\n\nx',
            1,
        ),
        ("<img src=image001.png>", "Content-Type: image/png\nContent-ID: <image001.png>\n\nx", 1),
        ("<a href=f.pdf>", "Content-Disposition: attachment; filename=f.pdf\n\nx", 1),
        ("<img src='cid:i1@x'><img src=other.png>", IMAGE, 0),
        ("<img src='http://h.example/image001.png'>", IMAGE, 0),
    ],
)
def test_links_that_name_a_part_are_counted(html: str, other: str, count: int) -> None:
    found = notes(message(html, other))
    assert [reason for reason, _ in found] == ["part-named"] * (count > 0)
    assert all(f"has {count} link{'s'[: count > 1]} that" in text for _, text in found)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("see [/page/x]", 1),
        ("see </page/x> and [y]", 2),
        ("  /page/x  \ny\n", 2),
        ("see /page/x, y", 0),
        ("see http://h.example/page/x", 0),
        ("[/page/z]", 0),
    ],
)
@pytest.mark.parametrize("encoding", ["7bit", "quoted-printable"])
def test_links_that_the_plain_text_has_are_counted(text: str, count: int, encoding: str) -> None:
    twin = f"Content-Transfer-Encoding: {encoding}\nContent-Type: text/plain\n\n{text}"
    html = "<a href=/page/x>x</a><a href=y>y</a>"
    found = notes(message(html, twin, kind="alternative"))
    assert [reason for reason, _ in found] == ["text-relative"] * (count > 0)
    assert all(f"has {count} link{'s'[: count > 1]} that" in text for _, text in found)
    assert notes(message(html, twin, kind="mixed")) == []
    inner = message(html, kind="related").decode().replace("b\n", "c\n").replace("b--", "c--")
    nested = message("x", twin, inner.removesuffix("\n"), kind="alternative")
    assert [reason for reason, _ in notes(nested)] == ["text-relative"] * (count > 0)


def test_a_message_without_other_parts_has_no_such_notes() -> None:
    assert notes(b"Content-Type: text/html\n\n<img src=image001.png>") == []
