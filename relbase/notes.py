"""Notes: what relbase saw in a document that its user should know. Bad documents never raise."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from relbase.edit import Span


class Reason(Enum):
    """Why something was refused, left unchanged, or done differently.

    The values are stable: reports and `--json` print them.
    """

    # Bases (RFC 1808 §3)
    BASE_NONE = "base-none"  # nothing states a base: relative references were left
    BASE_FORBIDDEN = "base-forbidden"  # by the page's Content-Security-Policy
    BASE_IGNORED = "base-ignored"  # a <base> that browsers ignore: not the first, or hidden
    BASE_LATE = "base-late"  # <base> decides for references that stand before it
    BASE_RELATIVE = "base-relative"  # a base that ought to be absolute was resolved
    BASE_UNPARSABLE = "base-unparsable"  # a base that the profile cannot parse
    BASE_UNSUITABLE = "base-unsuitable"  # §2.3: relative references have no meaning on it
    CONTENT_LOCATION_HTTP = "content-location-http"  # no base in HTTP (RFC 9110 §8.7)
    CREDENTIALS_REMOVED = "credentials-removed"  # a retrieval URL had a user or a password
    # Marks of programs that save pages (rule 17)
    MARK_REFUSED = "mark-refused"  # it states no URL of the web
    MARK_DOUBTFUL = "mark-doubtful"  # not as its program writes it
    MARK_DISAGREES = "mark-disagrees"  # with the URL that counts
    LOCAL_KEPT = "local-kept"  # leads to what was saved beside the page
    LOCAL_UNKNOWN = "local-unknown"  # as above, and the URL of that file is not known
    LOCAL_REWRITTEN = "local-rewritten"  # as above, and it was rewritten all the same
    # References
    REFERENCE_FAILED = "reference-failed"  # the profile's algorithm fails on it
    REFERENCE_NET_LOC = "reference-net-loc"  # its path would be read as a host: kept apart
    REFERENCE_CLIMBS = "reference-climbs"  # above the root, which rfc1808 keeps as `/../`
    REFERENCE_CUSTOM_PROPERTY = "reference-custom-property"  # resolves where var() stands
    SPECULATION_PATTERN = "speculation-pattern"  # a relative one, which is left
    REFERENCE_TEMPLATE = "reference-template"  # a placeholder was rewritten
    PLACEHOLDER_KEPT = "placeholder-kept"  # a reference begins with one: left
    PLACEHOLDER_CHANGED = "placeholder-changed"  # the URL would change one: left
    # Documents
    CHARSET_UNSUPPORTED = "charset-unsupported"  # passed through
    CHARSET_UNSTATED = "charset-unstated"  # what a link means in whatwg depends on it
    CHARSET_MOVED = "charset-moved"  # the edits would push <meta charset> out of sight
    REDIRECT_UNFOLLOWED = "redirect-unfollowed"  # the response is no page, and has no body
    BODY_PARTIAL = "body-partial"  # a part of a document, or perhaps one
    KIND_UNSUPPORTED = "kind-unsupported"  # passed through
    KIND_DOUBTFUL = "kind-doubtful"  # the name or the header says another than the bytes
    JSON_UNSOUND = "json-unsound"  # not JSON, or not a JSON Feed: left unchanged
    XML_UNSOUND = "xml-unsound"  # not well-formed, or it declares entities: passed through
    XML_FLAW = "xml-flaw"  # not well-formed, without a consequence: passed over
    XML_PREFIX = "xml-prefix"  # it is bound to nothing: read as its customary namespace
    XML_BASE64 = "xml-base64"  # texts of Atom 0.3 in base64: left unchanged
    XML_ENTITY = "xml-entity"  # a value with an entity that only a DTD could declare: left
    FEED_GUID = "feed-guid"  # a relative guid: left, since readers know an item by it
    ITEM_LINK = "item-link"  # some readers resolve an item's HTML on its link, with other results
    # Messages
    MIME_SIGNED = "mime-signed"  # left alone
    MIME_SEALED = "mime-sealed"  # encrypted: left alone
    MIME_PARTIAL = "mime-partial"  # a piece of a message: left alone
    MIME_EXTERNAL = "mime-external"  # its body is elsewhere
    MIME_ENCODED = "mime-encoded"  # encoded as a whole, which is forbidden: left alone
    MIME_BOUNDARY = "mime-boundary"  # a multipart without a boundary: left alone
    MIME_HEADER = "mime-header"  # an edit would make a line of the body a field
    MBOX_SEPARATOR = "mbox-separator"  # it looks like the beginning of a message, and is not one
    ENCODING_UNSUPPORTED = "encoding-unsupported"  # a transfer encoding that cannot be undone
    ENCODING_DISPUTED = "encoding-disputed"  # a transfer encoding that only some readers undo
    ENCODING_MISLABELLED = "encoding-mislabelled"  # of HTTP: not as the header says
    SIGNATURE_BROKEN = "signature-broken"  # DKIM, ARC: a signed body was changed
    FIELD_STALE = "field-stale"  # Content-Length, Lines or Content-MD5 was wrong before
    LINE_LENGTH = "line-length"  # a line grows beyond what mail transports
    # Limits (rule 12)
    LIMIT_MIME_DEPTH = "limit-mime-depth"
    LIMIT_MIME_PARTS = "limit-mime-parts"
    LIMIT_HEADER = "limit-header"
    LIMIT_SRCDOC = "limit-srcdoc"
    LIMIT_XML_BASE = "limit-xml-base"
    LIMIT_XML_PIECES = "limit-xml-pieces"
    LIMIT_GROWTH = "limit-growth"


class Note(NamedTuple):
    """One remark on a document.

    Args:
        reason: The kind of remark.
        part: Section number of the message part, as in IMAP; "" for the document itself.
        span: The bytes of the input that the remark is about, or None.
        text: A sentence for people.
    """

    reason: Reason
    part: str
    span: Span | None
    text: str

    def as_dict(self) -> dict[str, object]:
        """Return the note in JSON's types, its span as a pair.

        >>> Note(Reason.BASE_LATE, "1.2", None, "it stands late").as_dict()["reason"]
        'base-late'
        """
        span = None if self.span is None else list(self.span)
        return {"reason": self.reason.value, "part": self.part, "span": span, "text": self.text}
