"""Opens documents: decides their kind, reads them, and finds the base around them.

A `Session` has ready what the options of calls decide. It remembers the bases around documents for
a few URLs. It is frozen otherwise, so threads may share it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

from relbase.bases.layers import UNKNOWN, Base, Statement, plain_retrieval, retrieval
from relbase.expressions import expression
from relbase.formats.recognition import Recognized, name_may_hold, reader, recognized
from relbase.formats.rows import FORMATS
from relbase.formats.sniffing import known_type
from relbase.html.vocabulary import AMP, AMP_TYPE, EXTENDED
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context, Task, Wanted, resolver
from relbase.savers.rows import NONE, LocalFile, LocalFiles, Marks, Unarchived
from relbase.scan.tables import MAY_BE_MARKED
from relbase.session.options import (
    URL,
    Header,
    OptionArguments,
    Options,
    Origin,
    as_fields,
    as_options,
    as_redirects,
    as_url,
    header_of,
    not_bytes,
)
from relbase.url.step import check_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from relbase.formats.document import Document
    from relbase.session.options import Replace


class OpenedDocument(NamedTuple):
    """A document of a call, with the base around it."""

    call: Call
    document: Document
    type: str  # its media type
    label: str | None  # the charset label that it came with
    notes: tuple[Note, ...]  # on how it was opened
    remarks: tuple[Note, ...]  # on the base around it

    def around(self, around: Around, marks: Marks = NONE) -> OpenedDocument:
        """Return this document with another base around it."""
        old = self.document.context
        context = around.context(old.charset, old.encoding, old.unstated)
        if marks is not NONE:
            context = context._replace(marks=marks)
        document = self.document._replace(context=context)
        return self._replace(document=document, remarks=around.notes)

    def of(self, call: Call) -> OpenedDocument:
        """Return this document for a call that says that it comes from elsewhere."""
        marks = self.document.context.marks or NONE
        around = call.session.around(call, marks)
        return self._replace(call=call).around(around, marks)

    def on(self, **changes: Any) -> OpenedDocument:  # noqa: ANN401 (of the fields' types)
        """Return this document, for a visit with some fields of its context changed."""
        context = self.document.context._replace(**changes)
        return self._replace(document=self.document._replace(context=context))


class Around:
    """What applies to a document from outside: its base, notes on that, files saved beside it."""

    __slots__ = ("_contexts", "_outside", "base", "local_files", "notes", "values")

    def __init__(
        self,
        outside: Context,
        base: Base,
        notes: tuple[Note, ...],
        local_files: LocalFiles | None = None,
    ) -> None:
        self.base = base
        self.notes = notes
        self.local_files = local_files
        self._outside = outside
        self._contexts: dict[object, Context] = {}
        self.values: dict[object, Any] = {}  # what is prepared for single values

    def context(self, charset: str, encoding: str, unstated: re.Pattern[str] | None) -> Context:
        """Return the context of documents in a charset."""
        key = charset, encoding, unstated
        known = self._contexts.get(key)
        if known is None:
            outside = self._outside
            known = self._contexts[key] = Context(
                *(self.base, outside.task),
                local_files=self.local_files,
                policies=outside.policies,
                charset=charset,
                encoding=encoding,
                unstated=unstated,
                marks=outside.marks,
                resolve=resolver(self.base.url, outside.task.profile, encoding),
                extended=outside.extended,
            )
        return known


@dataclass(frozen=True, slots=True)
class Session:
    """What calls with the same options share."""

    options: Options
    type: str = field(init=False, compare=False)  # of the header, without parameters
    label: str | None = field(init=False, compare=False)  # of the charset, if one is stated
    _outside: Context = field(init=False, compare=False, repr=False)
    _headed: dict[Header, Session] = field(init=False, compare=False, repr=False)
    _around: dict[tuple[str | None, tuple[str, ...], tuple[Statement, ...]], Around] = field(
        init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        options, type_ = self.options, self.options.header.type
        stated = _charset_value.search(type_) if type_ else None
        task = Task(
            *(options.profile, options.policy, reader, options.detect, name_may_hold),
            *(options.message_urls, options.policy.keeper(), options.images_url),
            is_scanned=options.policy.is_scanned,
        )
        outside = Context(
            UNKNOWN,
            task,
            policies=options.header.policies,
            marks=NONE if options.detect else None,
            extended=(options.policy.extended and EXTENDED)
            | (known_type(type_) == AMP_TYPE and AMP),
        )
        ready: dict[str, object] = {
            "type": known_type(type_) or type_.partition(";")[0].strip().lower(),
            "label": options.charset or (stated and stated[1]),
            "_outside": outside,
            "_around": {},
            "_headed": {},
        }
        for name, value in ready.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        return session_of, (self.options,)

    def with_header(self, header: Header) -> Session:
        """Return the session with the same other options; those of a few headers are kept."""
        known = self._headed.get(header)
        if known is None:
            known = session_of(self.options._replace(header=header))
            if len(self._headed) >= _FEW:
                self._headed.clear()
            self._headed[header] = known
        return known

    def around(self, call: Call, marks: Marks = NONE) -> Around:
        if call.origin is not None or marks is not NONE:
            return self._made_around(call, marks)
        key = call.url, call.redirects, call.stated
        around = self._around.get(key)
        if around is None:
            around = self._made_around(call, NONE)
            # A hostile URL may be as long as its document, and must not stay in memory.
            size = len(call.url or "")
            if call.redirects or call.stated:
                size += sum(map(len, (*call.redirects, *(each.value for each in call.stated))))
            if size <= _LONGEST:
                if len(self._around) >= _FEW:
                    self._around.clear()
                self._around[key] = around
        return around

    def _made_around(self, call: Call, marks: Marks) -> Around:
        """The base around a document, from its header, its retrieval URL, or its marks."""
        header, task, origin = self.options.header, self._outside.task, call.origin
        is_alone = marks is NONE and origin is None
        if is_alone and not (call.redirects or call.stated or header.stated or header.refused):
            base = plain_retrieval(call.url or "", task.profile)
            if base is not None:
                return Around(self._outside, base, ())
        retrieved, remarks = retrieval(call.url, call.redirects, task.profile)
        refused = origin.notes if origin else ()
        local_files = origin.local_files if origin else None
        if origin is not None and not call.redirects:
            retrieved = [each._replace(source=origin.source) for each in retrieved]
        if marks.pages and not isinstance(local_files, Unarchived):
            remarks += _disagreements([*retrieved, *marks.pages][:1], marks)
        if not retrieved:  # otherwise, the faults of weaker statements do not matter
            refused = tuple(dict.fromkeys((*refused, *marks.notes)))
            if marks.pages:
                retrieved, local_files = list(marks.pages), _beside
                remarks.append(Note(Reason.LOCAL_KEPT, "", marks.pages[0].span, _KEPT))
        base, notes = task.establish(retrieved, UNKNOWN)
        more: list[Note] = []
        if stated := call.stated or header.stated:
            base, more = task.establish(stated, base)
        refused = (*header.refused, *refused)
        if refused:
            base = replace(base, refused=(*refused, *base.refused))
        return Around(self._outside, base, (*remarks, *notes, *refused, *more), local_files)


class Call(NamedTuple):
    """A call whose arguments have been checked: a session, and where one document comes from."""

    session: Session
    url: str | None = None
    redirects: tuple[str, ...] = ()
    name: str = ""
    origin: Origin | None = None
    replace: Replace | None = None  # returns the URL to write for a link
    stated: tuple[Statement, ...] = ()  # the base that was given, instead of that of the header

    @property
    def options(self) -> Options:
        return self.session.options

    def with_options(self, **changes: Any) -> Call:  # noqa: ANN401 (of the options' types)
        """Return this call with other options of its session."""
        return self._replace(session=session_of(self.options._replace(**changes)))

    def kind_of(self, data: bytes) -> Kind:
        return self._recognized(data)[0]

    def _recognized(self, data: bytes) -> Recognized:
        options, part = self.session.options, self.session.options.header.range
        if part is None:
            return recognized(options.kind, options.header.type, self.name, data)
        # It is not read: what precedes it may decide its base.
        text = f"it is a part of a document (Content-Range: {part[:40]}): left unchanged"
        return Kind.OTHER, (Note(Reason.BODY_PARTIAL, "", None, text),)

    def opened(self, data: bytes) -> OpenedDocument:
        """Open a document with the base around it (RFC 1808 §3.2 to §3.4)."""
        if not isinstance(data, bytes):
            raise not_bytes(data)
        session = self.session
        kind, notes = self._recognized(data)
        row, around, detect = FORMATS[kind], session.around(self), session.options.detect
        looked = row.first_look(data, session.label, for_marks=detect)
        document = row.opened(data, session.label, around.context, looked)
        noted, type_ = (*document.notes, *notes), session.type or row.types[0]
        given = OpenedDocument(self, document, type_, session.label, noted, around.notes)
        if not (detect and document.looked & MAY_BE_MARKED):
            return given
        marks = document.marks()
        return given if marks is NONE else given.around(session.around(self, marks), marks)

    def base(self, data: bytes) -> Base:
        """Return the base of a document; of HTML without what does not count after its `<base>`."""
        if not isinstance(data, bytes):
            raise not_bytes(data)
        session, row = self.session, FORMATS[self.kind_of(data)]
        around, detect = session.around(self), session.options.detect
        looked = row.first_look(data, session.label, for_marks=detect, for_base=True)
        if not looked:
            return around.base
        if detect and looked & MAY_BE_MARKED:
            document = self.opened(data).document
        else:
            document = row.opened(data, session.label, around.context, looked)
        return document.base(Wanted.BASE)


# Of the bases around documents. The pages of a site have different URLs, but few at a time.
_FEW: Final = 16
_LONGEST: Final = 1 << 12

_few_sessions: Final = lru_cache(maxsize=16)(Session)


def session_of(options: Options) -> Session:
    """Return a session with these options, which may be one that was used before."""
    try:
        return _few_sessions(options)
    except TypeError:  # a mapping of messages has no hash
        return Session(options)


def _session(**options: Unpack[OptionArguments]) -> Session:
    return session_of(as_options(**options))


_usual_session: Final[Callable[..., Session]] = lru_cache(maxsize=16, typed=True)(_session)


def _checked_session(options: OptionArguments) -> Session:
    """Return the session for options, which are checked when they are first given."""
    headers = options.get("headers")
    usual: OptionArguments = options if headers is None else {**options, "headers": None}
    try:
        session = None if options.get("message_urls") is not None else _usual_session(**usual)
    except TypeError:  # one has no hash, or the wrong type
        session = None
    if session is None:
        return _session(**options)
    if headers is None:
        return session
    return session.with_header(header_of(as_fields(headers)))


def check(
    *,
    url: URL | None = None,
    redirects: Iterable[URL] = (),
    name: str | None = None,
    replace: Replace | None = None,
    **options: Unpack[OptionArguments],
) -> Call:
    """Return the call; raise TypeError or ValueError whose text says how to fix it."""
    if name is not None:
        check_text(name, "name", "give os.fspath(path)")
    if replace is not None and not callable(replace):
        fix = "give a function that takes a Link and returns a URL or None"
        raise TypeError(f"replace must be a function, not {type(replace).__name__}: {fix}")
    session = _checked_session(options)
    retrieved = as_url(url, profile=session.options.profile) if url else None
    followed = () if redirects == () else as_redirects(redirects)
    return Call(session, retrieved, followed, name or "", None, replace)


ADVICE_ON_MARK: Final = "give the URL to make them absolute"
_KEPT: Final = (
    "the page's URL was found in the page itself: references that do not begin with a slash may "
    f"lead to files saved beside it, and are left unchanged; {ADVICE_ON_MARK}"
)


def _beside(reference: str, element: str) -> LocalFile | None:
    """Keep each reference that may lead to a file beside the page; no file is looked at."""
    leads_away = reference.startswith(("/", "\\")) and element != "base"
    return None if leads_away else LocalFile()


def _disagreements(counted: list[Statement], marks: Marks) -> list[Note]:
    return [
        Note(
            Reason.MARK_DISAGREES,
            "",
            mark.span,
            f"{mark.source} says {mark.value[:200]!a}: {url.value[:200]!a} counts ({url.source})",
        )
        for url in counted
        for mark in marks.pages
        if _bare(mark.value) != _bare(url.value)
    ]


def _bare(url: str) -> str:
    """A URL without what does not matter here: its scheme, escapes, and slashes at its end."""
    from urllib.parse import unquote

    return unquote(url.partition("://")[2].rstrip("/"), errors="surrogateescape")


# Content-Type: text/html; charset="utf-8" (some forget the semicolon)
_charset_value: Final = expression(
    r"""[;\s][ \t]*charset[ \t]*=[ \t]*"?([^\s;"]+)""", re.IGNORECASE
)
