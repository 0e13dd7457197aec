"""Notes tell users what relbase saw in a document. A bad document yields notes, never errors."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from relbase.edit import Span


class Reason(StrEnum):
    """Why something was refused, left unchanged, or done differently.

    The values are stable: reports and `--json` print them.
    """

    # Bases (RFC 1808 §3)
    BASE_NONE = "base-none"  # no base is known: relative references were left unchanged
    BASE_FORBIDDEN = "base-forbidden"  # by the page's Content-Security-Policy
    BASE_IGNORED = "base-ignored"  # a <base> that browsers ignore: not the first, or hidden
    BASE_LATE = "base-late"  # a <base> applies to references that precede it
    BASE_PRIVATE = "base-private"  # only one program can use it, so that it does not count
    BASE_RELATIVE = "base-relative"  # a base that should be absolute was resolved
    BASE_UNPARSABLE = "base-unparsable"  # a base that the profile cannot parse
    BASE_UNSUITABLE = "base-unsuitable"  # §2.3: relative references cannot be resolved against it
    CONTENT_LOCATION_HTTP = "content-location-http"  # not a base in HTTP (RFC 9110 §8.7)
    CREDENTIALS_REMOVED = "credentials-removed"  # a retrieval URL had a user or a password
    # Marks of programs that save pages (rule 17)
    MARK_REFUSED = "mark-refused"  # it does not state a URL of the web
    MARK_DOUBTFUL = "mark-doubtful"  # not written as its program writes it
    MARK_DISAGREES = "mark-disagrees"  # with the URL that is used
    LOCAL_KEPT = "local-kept"  # a reference to a file saved beside the page: left unchanged
    LOCAL_UNKNOWN = "local-unknown"  # the same, because the URL of that file is unknown
    LOCAL_REWRITTEN = "local-rewritten"  # a reference to such a file was rewritten nevertheless
    # References
    REFERENCE_FAILED = "reference-failed"  # the profile's algorithm fails
    REFERENCE_NET_LOC = "reference-net-loc"  # written so that its path is not read as a host
    REFERENCE_BACKSLASH = "reference-backslash"  # kept by the RFCs, a slash to browsers
    REFERENCE_CLIMBS = "reference-climbs"  # above the root, which rfc1808 keeps as `/../`
    REFERENCE_CUSTOM_PROPERTY = "reference-custom-property"  # it resolves where var() uses it
    SPECULATION_PATTERN = "speculation-pattern"  # a relative pattern: left unchanged
    JSON_LD_RELATIVE = "json-ld-relative"  # in JSON-LD, which only the policy `extended` rewrites
    REFERENCE_TEMPLATE = "reference-template"  # a placeholder was rewritten
    PLACEHOLDER_KEPT = "placeholder-kept"  # a reference begins with one: left unchanged
    PLACEHOLDER_CHANGED = "placeholder-changed"  # the URL would change one: left unchanged
    # Documents
    CHARSET_UNSUPPORTED = "charset-unsupported"  # the document was left unchanged
    CHARSET_UNSTATED = "charset-unstated"  # in whatwg the URL of a link depends on it
    CHARSET_MOVED = "charset-moved"  # the edits would push <meta charset> out of sight
    REDIRECT_UNFOLLOWED = "redirect-unfollowed"  # the response is a redirect without a body
    BODY_PARTIAL = "body-partial"  # the body is, or may be, only a part of the document
    KIND_UNSUPPORTED = "kind-unsupported"  # the document was left unchanged
    KIND_DOUBTFUL = "kind-doubtful"  # the bytes look like another kind than the label says
    KIND_MISLABELLED = "kind-mislabelled"  # its root element decided, not its label
    JSON_UNSOUND = "json-unsound"  # not JSON, or not a JSON Feed: left unchanged
    XML_UNSOUND = "xml-unsound"  # not well-formed, or it declares entities: left unchanged
    XML_FLAW = "xml-flaw"  # not well-formed, but this affects no other reference
    XML_PREFIX = "xml-prefix"  # not declared: read as its customary namespace
    XML_BASE64 = "xml-base64"  # text of Atom 0.3 that does not decode: left unchanged
    XML_ENTITY = "xml-entity"  # a value with an entity that only a DTD could declare
    MARKDOWN_UNSURE = "markdown-unsure"  # a link that some programs read otherwise: left unchanged
    FEED_UNESCAPED = "feed-unescaped"  # HTML in it is not escaped: its elements are read
    FEED_GUID = "feed-guid"  # a relative guid: left, since readers identify items by it
    SITE_LINK = "site-link"  # the feed's site is on another host, which the policy can use
    ITEM_LINK = "item-link"  # some readers resolve HTML against the item's link, to other URLs
    # Messages
    MIME_SIGNED = "mime-signed"  # left alone
    MIME_SEALED = "mime-sealed"  # encrypted: left alone
    MIME_PARTIAL = "mime-partial"  # a piece of a message: left alone
    MIME_EXTERNAL = "mime-external"  # its body is elsewhere
    MIME_ENCODED = "mime-encoded"  # encoded as a whole, which is forbidden: left alone
    MIME_BOUNDARY = "mime-boundary"  # a multipart without a boundary: left alone
    MIME_HEADER = "mime-header"  # an edit would turn a line of the body into a field
    MBOX_SEPARATOR = "mbox-separator"  # a line that looks like a separator, but is not one
    ENCODING_UNSUPPORTED = "encoding-unsupported"  # a transfer encoding that relbase cannot decode
    ENCODING_DISPUTED = "encoding-disputed"  # a transfer encoding that only some readers decode
    ENCODING_MISLABELLED = "encoding-mislabelled"  # an HTTP body not encoded as its header says
    SIGNATURE_BROKEN = "signature-broken"  # DKIM, ARC: a signed body was changed
    FIELD_STALE = "field-stale"  # Content-Length, Lines or Content-MD5 was wrong before
    PART_NAMED = "part-named"  # a part is named after a link, which became absolute
    TEXT_RELATIVE = "text-relative"  # the plain text beside HTML has the same links: left unchanged
    LINE_LENGTH = "line-length"  # a line becomes longer than mail allows
    # Limits (rule 12)
    LIMIT_MIME_DEPTH = "limit-mime-depth"
    LIMIT_MIME_PARTS = "limit-mime-parts"
    LIMIT_HEADER = "limit-header"
    FOREIGN_UNSURE = "foreign-unsure"  # SVG or MathML in which it is not known what is open
    LIMIT_SRCDOC = "limit-srcdoc"
    LIMIT_XML_BASE = "limit-xml-base"
    LIMIT_XML_PIECES = "limit-xml-pieces"
    LIMIT_MARKDOWN = "limit-markdown"
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
        """Return the note as a dict of JSON types, with its span as a pair.

        >>> Note(Reason.BASE_LATE, "1.2", None, "it stands late").as_dict()["reason"]
        'base-late'
        """
        span = None if self.span is None else list(self.span)
        return {"reason": self.reason.value, "part": self.part, "span": span, "text": self.text}
