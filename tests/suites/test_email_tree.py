"""Messages of other projects: the bytes divide without rest, and Python's `email` sees one tree.

`email` (policy compat32) is asked for the media types, the nesting and the undecoded payloads.
Where relbase does not enter a part by rule 11, what `email` sees inside of it is not compared; that
the next part begins at the same byte is.
"""

import email
import email.policy
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Final

from counts import Counts
from hypothesis import given
from hypothesis import strategies as st
from mime import Entity, assert_lossless
from tables import assert_known

from relbase.containers.mail import MESSAGES, Part, walk

# Messages of which `email` sees another tree, with the reason.
_UNCLOSED: Final = "no closing delimiter: email takes the last line break from the part"
_TWICE: Final = "two delimiters in a row: an empty part here and in Dovecot, none to email"
_NESTED: Final = (
    "one boundary on two levels: the newest counts, as in Dovecot; email ends the inner"
)
_FOLDED: Final = "a boundary folded between its quotes: email keeps the line break in it"
_NO_SPACE: Final = "email takes all up to the `;` for the subtype"
_FOLDED_TYPE: Final = "no message: a folded Content-Type without `;`, all of it the type to email"
_GOES_ON: Final = (
    "a line that is not a field, and fields of MIME after it: there email's body begins"
)
_MARK: Final = "email sees no header after a byte order mark"
KNOWN_DIFFERENCES: Final[dict[str, str]] = {
    "MimeKit/mbox/content-length-summary.txt": _FOLDED_TYPE,
    "MimeKit/mbox/jwz-summary.txt": _FOLDED_TYPE,
    "MimeKit/mbox/unmunged.mbox.txt": _MARK,
    "MimeKit/messages/feedback-report.txt": _MARK,
    "MimeKit/messages/issue358.txt": _GOES_ON,
    "apache-james-mime4j/mimetools-testmsgs/2002_06_12_doublebound.msg": _TWICE,
    "apache-james-mime4j/mimetools-testmsgs/jt-0498.msg": _UNCLOSED,
    "apache-james-mime4j/mimetools-testmsgs/multi-bad.msg": _UNCLOSED,
    "apache-james-mime4j/mimetools-testmsgs/multi-badnames.msg": _FOLDED,
    "apache-james-mime4j/mimetools-testmsgs/multi-clen.msg": _FOLDED,
    "apache-james-mime4j/mimetools-testmsgs/multi-digest.msg": _FOLDED,
    "apache-james-mime4j/testmsgs/multipartemptypart.msg": _TWICE,
    "distill-io-mhtml/fixtures/truncated.mhtml": _UNCLOSED,
    "enmime/testdata/low-quality/bad-header-wrap.raw": _GOES_ON,
    "enmime/testdata/mail/mime-bad-content-type.raw": _NO_SPACE,
    "enmime/testdata/parts/ctype-invalid-characters.raw": _NO_SPACE,
    "enmime/testdata/parts/multimixed-no-closing-boundary.raw": _UNCLOSED,
    "gmime/data/mbox/input/substring.mbox": _NESTED,
    "gmime/data/mbox/output/substring.mbox": _GOES_ON,
    "mailgun-flanker/messages/enclosed-broken.eml": _UNCLOSED,
    "msgreader/SampleFiles/UTF-8_Test.eml": _GOES_ON,
    "msindwan-mhtml2html/templates/missing_headers.mhtml": _UNCLOSED,
    "msindwan-mhtml2html/templates/portfolio.mhtml": _GOES_ON,
    "php-mime-mail-parser/mails/failure.eml": _UNCLOSED,
    "stalwart-mail-parser/eml/malformed/000.eml": _TWICE,
    "stalwart-mail-parser/eml/malformed/001.eml": _UNCLOSED,
    "stalwart-mail-parser/eml/malformed/003.eml": _NESTED,
    "stalwart-mail-parser/eml/malformed/005.eml": "`--a----` with `a--` and `a----` open",
    "stalwart-mail-parser/eml/malformed/012.eml": _UNCLOSED,
    "stalwart-mail-parser/eml/malformed/016.eml": _UNCLOSED,
}

# No messages: what the projects expect of theirs, keys, pictures.
_OTHER: Final = frozenset(
    [".json", ".xml", ".md", ".png", ".gif", ".wav", ".aiff", ".tiff", ".pub", ".crt"]
)


def files(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of every file that may be a message."""
    root = data / "email"
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in _OTHER:
            yield str(path.relative_to(root)), path.read_bytes()


def differences(data: bytes) -> Iterator[str]:
    """Yield what `email` sees otherwise, by part numbers."""
    pairs = [(Entity.of(data), email.message_from_bytes(data, policy=email.policy.compat32))]
    while pairs:
        (part, inner), theirs = pairs.pop()
        if part.type != theirs.get_content_type():
            yield f"{part.number}: {part.type}, not {theirs.get_content_type()}"
        elif part.opaque is None and not is_other_message(part):
            payload = theirs.get_payload() if theirs.is_multipart() else []
            messages = [one for one in payload if isinstance(one, Message)]
            if len(messages) != len(inner):
                yield f"{part.number}: {len(inner)} parts, not {len(messages)}"
            elif inner:
                pairs += zip(inner, messages, strict=True)
            elif not part.multipart and data[slice(*part.body)] != (body := raw(theirs)):
                yield f"{part.number}: {data[slice(*part.body)][-80:]!r}, not {body[-80:]!r}"


def is_other_message(part: Part) -> bool:
    """Whether a part is one of the message types that hold no message, which `email` enters."""
    return part.type.startswith("message/") and part.type not in MESSAGES


def raw(message: Message) -> bytes:
    """Return the payload without decoding it."""
    del message["content-transfer-encoding"]
    payload = message.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def test_every_byte_belongs_to_one_piece(data: Path) -> None:
    count = 0
    for _, message in files(data):
        parts = walk(message)
        assert_lossless(message, parts)
        count += len(parts) > 1
    assert count > 200


def test_email_sees_the_same_tree(data: Path, counts: Counts) -> None:
    messages = ((name, text) for name, text in files(data) if not name.endswith(".html"))
    found = {name: list(differences(message)) for name, message in messages}
    assert len(found) > 600
    assert_known({name: seen for name, seen in found.items() if seen}, KNOWN_DIFFERENCES)
    counts("mail: trees of Python's email", len(found), len(KNOWN_DIFFERENCES))


# ---- Messages that nobody wrote

_lines = st.lists(
    st.sampled_from(("", "text", " - --b1", "-", "- --", "--none", "--b11", "--b1-", "A: b", "é"))
).map("\n".join)
_fields = st.sampled_from(
    (
        "Content-Type: text/html; charset=utf-8",
        "content-type:text/css",
        "Content-Type: message/rfc822",
        "Content-Type: multipart/alternative",
        "Content-Type: bad",
        "X: y\n fold\nContent-Type:\n image/png;\n\tname=x",
        "Subject: x",
    )
)


@st.composite
def _entity(draw: st.DrawFn, depth: int = 0) -> str:
    """Draw a part: every boundary is that of one level, and all that is open is closed."""
    kind = draw(
        st.sampled_from(("leaf", "multipart", "multipart", "message") if depth < 3 else ("leaf",))
    )
    if kind == "leaf":
        return f"{draw(_fields)}\n\n{draw(_lines)}"
    if kind == "message":
        return f"Content-Type: message/rfc822\n\n{draw(_entity(depth + 1))}"
    subtype = draw(st.sampled_from(("mixed", "related", "digest", "signed")))
    written = draw(
        st.sampled_from((f"b{depth}", f'"b{depth}"', f'"b{depth} "; type=x', f" b{depth} ;"))
    )
    parts = draw(st.lists(_entity(depth + 1), min_size=1, max_size=3))
    space = draw(st.sampled_from(("", "", " ", "\t ")))
    delimiter = f"\n--b{depth}{space}\n"
    inner = delimiter.join((draw(_lines), *(part or "\n" for part in parts)))
    return (
        f"Content-Type: multipart/{subtype}; boundary={written}\n\n"
        f"{inner}\n--b{depth}--{space}\n{draw(_lines)}"
    )


def test_email_sees_the_same_tree_of_any_message() -> None:
    counts = []

    @given(_entity(), st.sampled_from(("\n", "\r\n")))
    def check(text: str, eol: str) -> None:
        data = text.replace("\n", eol).encode()
        parts = walk(data)
        assert_lossless(data, parts)
        assert list(differences(data)) == []
        counts.append(len(parts))

    check()
    assert sum(number > 2 for number in counts) > len(counts) / 3
