"""The From_ line of an mbox (rule 19): `From a@b Thu Nov 29 22:33:52 2001` begins a message.

The caller checks whether an empty line precedes it. Every repetition is bounded, so that a line of
spaces costs no more than any other.
"""

from typing import Final

from relbase.expressions import expression

# A longer line does not separate messages. The longest pattern with its lookahead is shorter.
LOOKED_AT_LINE: Final = 2048
_DAY: Final = rb"(?i:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH: Final = rb"(?i:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE: Final = rb"[0-3]?[0-9]"
_TIME: Final = rb"[0-2]?[0-9]:[0-5][0-9](?::[0-6][0-9])?"
_ZONE: Final = rb"(?: {1,3}(?:[+-][0-9]{4}|[A-Z]{1,5}(?:[+-][0-9]{1,4})?)){0,2}"
_END: Final = rb"(?:[ \t]remote from [!-~]{1,99})?[ \t]{0,9}\r?(?:\n|\Z)"
_WHO: Final = rb"From (?:[^\r\n]{0,900}?[ \t])??"
# asctime(3), with the zone before the year or after it (RFC 4155 and older formats).
_ASCTIME: Final = rb"%b,? {1,3}%b {1,3}%b,? {1,3}%b%b" % (_DAY, _MONTH, _DATE, _TIME, _ZONE)
_RFC_822: Final = rb"(?:%b,? {1,3})?%b[ -]%b[ -](?:[0-9]{4}|[0-9]{2}) {1,3}%b%b" % (
    *(_DAY, _DATE, _MONTH),
    *(_TIME, _ZONE),
)
# A line with a whole date is a From_ line whatever follows.
has_date: Final = expression(
    rb"%b(?:%b {1,3}[0-9]{4}%b|%b)%b" % (_WHO, _ASCTIME, _ZONE, _RFC_822, _END)
)
# The line after it: a field, or what some mailers put before the fields.
_FIELD: Final = rb"(?=[!-9;-~]{1,99}[ \t]{0,9}:|>?From )"
_FOLLOWED: Final = (
    # No year, or two digits of one.
    expression(rb"%b%b(?: {1,3}[0-9]{2})?%b%b%b" % (_WHO, _ASCTIME, _ZONE, _END, _FIELD)),
    # Mozilla, Eudora, and others without a date.
    expression(
        rb"From (?:-|\?\?\?@\?\?\?|[^\s@]{1,320}@[^\s@]{1,320}|MAILER-DAEMON)?"
        rb"[ \t]{0,9}\r?\n" + _FIELD
    ),
    # A date in another language.
    expression(
        rb"From (?=[^\r\n]{0,200}[0-9]:[0-5][0-9])(?=[^\r\n]{0,200}\b(?:19|20)[0-9]{2}\b)"
        rb"[^\r\n]{1,200}\r?\n" + _FIELD
    ),
)
_any: Final = expression(rb"From [^\r\n]{0,900}\r?\n" + _FIELD)


def is_separator(text: bytes) -> bool:
    r"""Return whether a line separates messages, if an empty line is before it."""
    return has_date.match(text) is not None or any(
        pattern.match(text) is not None for pattern in _FOLLOWED
    )


def begins_file(text: bytes) -> bool:
    r"""Return whether the first line of a file begins a message: prose begins no mailbox."""
    return is_separator(text) or _any.match(text) is not None
