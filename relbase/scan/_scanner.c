/* The compiled scanner: what Python hands to the walk, and what it gets back. */

/* No format uses `#`: built with the headers of 3.13, it would fail in 3.11 and 3.12. */
#include <pyconfig.h>
#ifndef Py_GIL_DISABLED /* free-threaded Pythons know no limited API */
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "_walk.c"

#ifndef RELBASE_SOURCE
#define RELBASE_SOURCE 0 /* the CRC-32 of both files, given by the build */
#endif

/* ---- Python: tables */

static const char *const TABLES = "relbase.scan._scanner.Tables";

static void free_tables(Tables *t) {
  if (!t) return;
  PyMem_Free(t->rows);
  PyMem_Free(t->deciding.words);
  PyMem_Free(t->script_types.words);
  PyMem_Free(t->style_types.words);
  PyMem_Free(t->functions.words);
  PyMem_Free(t->at_rules.words);
  PyMem_Free(t->head.words);
  PyMem_Free(t->json_names.words);
  PyMem_Free(t);
}
static void free_capsule(PyObject *capsule) { free_tables(PyCapsule_GetPointer(capsule, TABLES)); }

static PyObject *bytes_of(Text p, Py_ssize_t n) {
  return PyBytes_FromStringAndSize((const char *)p, n);
}

static int bad(const char *message) {
  PyErr_SetString(PyExc_ValueError, message);
  return 0;
}

/* One item: (name, kind, row). */
static int name_of(PyObject *item, Name *name) {
  PyObject *bytes;
  char *text;
  Py_ssize_t length;
  int kind, row;
  if (!PyArg_ParseTuple(item, "Sii", &bytes, &kind, &row)) return 0;
  if (PyBytes_AsStringAndSize(bytes, &text, &length) < 0) return 0;
  if (length > MAX_NAME || kind < 0 || kind > 255 || row < 0 || row > 0xffff)
    return bad("a name, kind or row that the compiled scanner has no room for");
  memset(name, 0, sizeof *name);
  name->length = (unsigned char)length;
  name->kind = (unsigned char)kind;
  name->row = (uint16_t)row;
  memcpy(name->name, text, (size_t)length);
  return 1;
}

static int fill_names(Names *names, PyObject *items, int rows) {
  Py_ssize_t count = PyTuple_Size(items);
  if (count < 0) return 0;
  if (count > SLOTS / 2) return bad("more names than the compiled scanner has room for");
  for (Py_ssize_t i = 0; i < count; i++) {
    Name name;
    if (!name_of(PyTuple_GetItem(items, i), &name)) return 0;
    if (!name.length || name.name[0] >= 128 || name.row >= rows || name.kind >= KINDS)
      return bad("a name, kind or row that the compiled scanner does not know");
    unsigned h = hashed(name.name, name.length);
    while (names->slots[h].length) h = (h + 1) & (SLOTS - 1);
    names->slots[h] = name;
    names->lengths[name.name[0]] |= (uint64_t)1 << name.length;
    if (name.name[name.length - 1] >= 128) return bad("a name that is not ASCII");
    names->lasts[name.name[name.length - 1]] |= (uint64_t)1 << name.length;
  }
  return 1;
}

static int fill_words(Words *words, PyObject *items) {
  Py_ssize_t count = PyTuple_Size(items);
  if (count < 0) return 0;
  if (count > 255) return bad("more words than the compiled scanner has room for");
  words->words = PyMem_Calloc((size_t)count + 1, sizeof(Name));
  if (!words->words) return PyErr_NoMemory(), 0;
  for (Py_ssize_t i = 0; i < count; i++, words->count++)
    if (!name_of(PyTuple_GetItem(items, i), &words->words[i])) return 0;
  return 1;
}

static int fill_tables(Tables *t, PyObject *args) {
  PyObject *elements, *svg, *math, *attributes, *prefix, *deciding, *scripts, *styles;
  PyObject *functions, *at_rules, *head, *json, *local, *bytes;
  char *rows;
  Py_ssize_t size, width;
  if (!PyArg_ParseTuple(args, "OOOOOOOOOOOOOSniiii:prepare", &elements, &svg, &math, &attributes,
                        &prefix, &deciding, &scripts, &styles, &functions, &at_rules, &head,
                        &json, &local, &bytes, &width, &t->other, &t->type, &t->href,
                        &t->codebase))
    return 0;
  if (PyBytes_AsStringAndSize(bytes, &rows, &size) < 0) return 0;
  if (width < 1 || width > MAX_ATTRIBUTES || size % width || PyTuple_Size(attributes) != width ||
      t->other < 0 || t->other >= size / width)
    return bad("rows that do not fit the attributes");
  t->width = (size_t)width;
  for (Py_ssize_t i = 0; i < size; i++)
    if ((rows[i] & HOLDS_MASK) >= HOLDS) return bad("a row that the compiled scanner does not know");
  if (!(t->rows = PyMem_Malloc((size_t)size))) return PyErr_NoMemory(), 0;
  memcpy(t->rows, rows, (size_t)size);
  int count = (int)(size / width);
  if (!fill_words(&t->deciding, deciding)) return 0;
  for (int i = 0; i < t->deciding.count; i++)
    if (t->deciding.words[i].row >= count) return bad("a value without a row");
  return fill_names(&t->elements, elements, count) && fill_names(&t->svg, svg, count) &&
         fill_names(&t->math, math, count) && fill_names(&t->attributes, attributes, (int)width) &&
         name_of(prefix, &t->prefix) &&
         (t->prefix.row < count || bad("a prefix without a row")) &&
         fill_words(&t->script_types, scripts) &&
         fill_words(&t->style_types, styles) && fill_words(&t->functions, functions) &&
         fill_words(&t->at_rules, at_rules) && fill_words(&t->head, head) &&
         fill_words(&t->json_names, json) && name_of(local, &t->local);
}

static PyObject *prepare(PyObject *Py_UNUSED(module), PyObject *args) {
  Tables *t = PyMem_Calloc(1, sizeof *t);
  if (!t) return PyErr_NoMemory();
  PyObject *capsule = fill_tables(t, args) ? PyCapsule_New(t, TABLES, free_capsule) : NULL;
  if (!capsule) free_tables(t);
  return capsule;
}

/* ---- Python: the scan */

/* The arguments of a walk. Those that all calls for a document share come first: tables, mode,
   flags, Edit, edits, text, pos, end[, in_noscript, in_comment]. */
typedef struct {
  Prefixes prefixes; /* first: `learn` gets a pointer to it */
  PyObject *edits, *answers[FORMS]; /* the mapping of forms to prefixes, and its answers */
  PyObject *written[FORMS];      /* of the answers: the new text */
  Py_ssize_t costs[FORMS];       /* of the answers: its cost */
} Edits;

typedef struct {
  Edits edits;
  Scan scan;
  Text pos, end;
  PyObject *type;
} Call;

/* Makes a tuple of some type, and steals its values; NULL if one is missing. Since CPython 3.14 a
   tuple keeps its hash, which only its constructor prepares; before, allocating is enough. */
static PyObject *tuple_of(PyObject *type, PyObject *const *values, Py_ssize_t count) {
  int allocates = Py_Version < 0x030E0000, is_whole = 1;
  allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  PyObject *made = NULL;
  for (Py_ssize_t i = 0; i < count; i++) is_whole = is_whole && values[i];
  if (is_whole) made = allocates ? alloc((PyTypeObject *)type, count) : PyTuple_New(count);
  for (Py_ssize_t i = 0; i < count; i++)
    if (made) PyTuple_SetItem(made, i, values[i]);
    else Py_XDECREF(values[i]);
  if (made && !allocates) {
    newfunc new_tuple = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    PyObject *plain = made, *given = PyTuple_Pack(1, plain);
    made = given ? new_tuple((PyTypeObject *)type, given, NULL) : NULL;
    Py_XDECREF(given);
    Py_DECREF(plain);
  }
  if (made) PyObject_GC_UnTrack(made); /* nothing that it holds can refer back to it */
  return made;
}

/* Asks for the edit of a form: (until where, new text, cost, where it fits), or None. */
static int learn(Prefixes *prefixes, int form) {
  Edits *edits = (Edits *)prefixes;
  PyObject *key = PyErr_Occurred() ? NULL : PyLong_FromLong(form);
  PyObject *answer = key ? PyObject_GetItem(edits->edits, key) : NULL;
  Py_XDECREF(key);
  edits->answers[form] = answer;
  if (!answer || answer == Py_None) return 0;
  if (!PyTuple_Check(answer)) return bad("scan: an edit is a tuple");
  return PyArg_ParseTuple(answer, "bSnb", &prefixes->until[form], &edits->written[form],
                          &edits->costs[form], &prefixes->fits[form]);
}

static void forget(Edits *edits) {
  for (int i = 0; i < FORMS; i++) Py_CLEAR(edits->answers[i]);
}

static void free_call(Call *call) {
  free(call->scan.found);
  forget(&call->edits);
}

static PyObject *edit_of(const Found *f, PyObject *const *written, PyObject *type) {
  ptrdiff_t start = f->odd ? f->at : f->from, end = f->odd ? f->end : f->to;
  PyObject *from = PyLong_FromSsize_t(start);
  PyObject *to = start == end ? Py_XNewRef(from) : PyLong_FromSsize_t(end);
  PyObject *const values[3] = {from, to, Py_NewRef(f->odd ? Py_None : written[f->form])};
  return tuple_of(type, values, 3);
}

/* A record: (start, end, form, attribute, what that holds, start and end of the element's name) */
static PyObject *record_of(const Found *f) {
  enum { count = 7 };
  const Py_ssize_t numbers[count] = {f->at,    f->end,  f->form,   f->attribute,
                                     f->holds, f->name, f->name_end};
  PyObject *record = PyTuple_New(count);
  for (int i = 0; record && i < count; i++) {
    PyObject *number = PyLong_FromSsize_t(numbers[i]);
    if (number) PyTuple_SetItem(record, i, number);
    else Py_CLEAR(record);
  }
  return record;
}

enum { FREED_AT_ONCE = 1 << 16 };

/* Lists what was found, the last first, and frees it on the way: one tag may hold a million. */
static PyObject *results(Scan *s, PyObject *const *written, PyObject *type) {
  PyObject *list = PyList_New((Py_ssize_t)s->count);
  while (list && s->count) {
    const Found *f = &s->found[--s->count];
    PyObject *item = s->mode == ALL ? record_of(f) : edit_of(f, written, type);
    if (item) PyList_SetItem(list, (Py_ssize_t)s->count, item);
    else Py_CLEAR(list);
    if (!s->count || s->count % FREED_AT_ONCE) continue;
    Found *left = realloc(s->found, s->count * sizeof(Found));
    if (left) s->found = left;
  }
  return list;
}

/* A reference as written: a str if it means itself, otherwise bytes. */
static PyObject *written_as(Text p, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; i++)
    if (p[i] >= 128 || p[i] == '&') return PyBytes_FromStringAndSize((const char *)p, n);
  return PyUnicode_DecodeASCII((const char *)p, n, NULL);
}

/* The references found, as written. */
static PyObject *references(const Scan *s) {
  PyObject *list = PyList_New((Py_ssize_t)s->count);
  for (size_t i = 0; list && i < s->count; i++) {
    const Found *f = &s->found[i];
    PyObject *item = written_as(s->text + f->at, f->end - f->at);
    if (item) PyList_SetItem(list, (Py_ssize_t)i, item);
    else Py_CLEAR(list);
  }
  return list;
}

static int read_call(PyObject *args, Call *call) {
  PyObject *capsule, *bytes;
  Py_ssize_t pos, end, size;
  char *text;
  int flags;
  Scan *s = &call->scan;
  memset(call, 0, sizeof *call);
  if (!PyArg_ParseTuple(args, "OiiOOSnn|pp:scan", &capsule, &s->mode, &flags, &call->type,
                        &call->edits.edits, &bytes, &pos, &end, &s->in_noscript, &s->in_comment))
    return 0;
  s->tables = PyCapsule_GetPointer(capsule, TABLES);
  if (!s->tables || PyBytes_AsStringAndSize(bytes, &text, &size) < 0) return 0;
  if (pos < 0 || pos > end || end > size || s->mode < EDITS || s->mode > ALL ||
      !PyType_Check(call->type) ||
      !PyType_IsSubtype((PyTypeObject *)call->type, &PyTuple_Type))
    return bad("scan: a place outside of the text, or no such mode");
  s->text = (Text)text;
  s->normalizes = flags & NORMALIZES;
  s->in_css = flags & CSS_TOO;
  s->ascii_stands = flags & ASCII_STANDS;
  s->own_is_base = flags & OWN_IS_BASE;
  s->past_base = flags & PAST_BASE;
  s->in_base = flags & IN_BASE;
  s->prefixes = &call->edits.prefixes;
  call->edits.prefixes.learn = learn;
  call->pos = (Text)text + pos;
  call->end = (Text)text + end;
  return 1;
}

static Py_ssize_t cost_of(const Call *call) {
  Py_ssize_t cost = 0;
  for (size_t i = 0; i < call->scan.count; i++) cost += call->edits.costs[call->scan.found[i].form];
  return cost;
}

/* What was found up to a place: (results, place or -1[, what needs a closer look or -1]), and last
   the references as written, or the cost of mere edits. */
static PyObject *found_up_to(Call *call, Text at, Text looked, int has_looked) {
  Scan *s = &call->scan;
  PyObject *made = NULL, *last = NULL;
  Py_ssize_t place = at < call->end ? at - s->text : -1, look = looked ? looked - s->text : -1;
  int has_failed = PyErr_Occurred() != NULL;
  if (!has_failed && s->mode == WRITTEN) last = references(s);
  else if (!has_failed && s->mode == EDITS) last = PyLong_FromSsize_t(cost_of(call));
  PyObject *list = has_failed ? NULL : results(s, call->edits.written, call->type);
  if (list && (last || s->mode == ALL)) {
    if (has_looked && last) made = Py_BuildValue("(OnnO)", list, place, look, last);
    else if (has_looked) made = Py_BuildValue("(Onn)", list, place, look);
    else if (last) made = Py_BuildValue("(OnO)", list, place, last);
    else made = Py_BuildValue("(On)", list, place);
  }
  free_call(call);
  Py_XDECREF(list);
  Py_XDECREF(last);
  return made;
}

static PyObject *py_scan(PyObject *Py_UNUSED(module), PyObject *args) {
  Call call;
  if (!read_call(args, &call)) return NULL;
  return found_up_to(&call, scan(&call.scan, call.pos, call.end), NULL, 0);
}

static PyObject *py_css(PyObject *Py_UNUSED(module), PyObject *args) {
  Call call;
  Text looked;
  if (!read_call(args, &call)) return NULL;
  call.scan.name = call.scan.name_end = call.scan.text;
  call.scan.attribute = -1;
  call.scan.holds = CSS;
  Text at = css(&call.scan, call.pos, call.end, 0, BATCH, &looked);
  return found_up_to(&call, at, looked, 1);
}

/* The value of a dict for bytes as key, borrowed; NULL if it has none. */
static PyObject *by_bytes(PyObject *dict, Text p, size_t n) {
  PyObject *key = PyBytes_FromStringAndSize((const char *)p, (Py_ssize_t)n);
  if (!key) return NULL;
  PyObject *value = PyDict_GetItemWithError(dict, key);
  Py_DECREF(key);
  return value;
}

/* ---- Python: links */

/* What links are made with. */
typedef struct {
  PyObject *link, *span, *names, *attributes, *syntaxes, *statuses, *base, *part, *decode;
  PyObject *last_name; /* borrowed: of the last element, whose name in the text is `last` */
  Text last;
  size_t last_length;
  int keeps_fragments;
  Py_ssize_t line, line_start, at; /* of the last link */
  Py_ssize_t cost, shown;          /* what all cost; the length of the URLs that are kept */
} Links;

enum { LINK_FIELDS = 13, SHORT_URL = 512, SHORT_NAME = 32 };

static int is_tuple_type(PyObject *type) {
  return PyType_Check(type) && PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type);
}

static int is_plain_ascii(Text p, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; i++)
    if (p[i] >= 128 || p[i] == '&') return 0;
  return 1;
}

/* A reference in ASCII, decoded, at `p` or in `room`. It may have `&amp;`, but no other character
   reference, and `&name=`, which is none (HTML §13.2.5.73). NULL for others. */
static const char *said(Text p, Py_ssize_t *n, char *room) {
  Text e = p + *n;
  if (is_plain_ascii(p, *n)) return (const char *)p;
  if (*n > SHORT_URL) return NULL;
  char *out = room;
  while (p < e && *p < 128) {
    *out++ = (char)*p;
    if (*p++ != '&') continue;
    if (begins(p, e, "amp;")) p += 4;
    else {
      Text name = p;
      while (p < e && IS(*p, ALNUM)) p++;
      if (p == e || *p != '=' || !IS(*name, ALPHA)) return NULL;
      memcpy(out, name, (size_t)(p - name));
      out += p - name;
    }
  }
  *n = out - room;
  return p == e ? room : NULL;
}

/* The name of an element in lower case. A document has few, so they are kept. */
static PyObject *element_name(Links *l, Text p, size_t n) {
  unsigned char lower[SHORT_NAME];
  if (l->last_name && l->last_length == n && !memcmp(l->last, p, n)) return Py_NewRef(l->last_name);
  if (n > SHORT_NAME || !is_plain_ascii(p, (Py_ssize_t)n))
    return PyObject_CallFunction(l->decode, "Ni", bytes_of(p, (Py_ssize_t)n), 1);
  for (size_t i = 0; i < n; i++) lower[i] = (unsigned char)LOWER(p[i]);
  PyObject *known = by_bytes(l->names, lower, n);
  if (known) {
    l->last_name = known;
    l->last = p;
    l->last_length = n;
  }
  if (known || PyErr_Occurred()) return Py_XNewRef(known);
  PyObject *key = PyBytes_FromStringAndSize((const char *)lower, (Py_ssize_t)n);
  PyObject *name = key ? PyUnicode_DecodeASCII((const char *)lower, (Py_ssize_t)n, NULL) : NULL;
  if (name && PyDict_Size(l->names) < SLOTS && PyDict_SetItem(l->names, key, name) < 0)
    Py_CLEAR(name);
  Py_XDECREF(key);
  return name;
}

/* The URL of a relative reference: the new text for its form, and the rest of the reference. */
static PyObject *url_of(PyObject *reference, const char *raw, Py_ssize_t n, PyObject *new,
                        Py_ssize_t rest) {
  char room[SHORT_URL], *prefix;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(new, &prefix, &size) < 0) return NULL;
  if (raw && size + n - rest <= SHORT_URL) {
    memcpy(room, prefix, (size_t)size);
    memcpy(room + size, raw + rest, (size_t)(n - rest));
    return PyUnicode_DecodeASCII(room, size + n - rest, NULL);
  }
  PyObject *before = PyUnicode_DecodeASCII(prefix, size, NULL);
  PyObject *after = PyUnicode_Substring(reference, rest, PY_SSIZE_T_MAX);
  PyObject *made = before && after ? PyUnicode_Concat(before, after) : NULL;
  Py_XDECREF(before);
  Py_XDECREF(after);
  return made;
}

static void count_lines(Links *l, Text text, Py_ssize_t at) {
  Py_ssize_t lines = 0;
  for (Py_ssize_t from = l->at; from < at;) { /* so few at a time that a byte counts them */
    Py_ssize_t to = at - from < 255 ? at : from + 255;
    unsigned char count = 0;
    for (; from < to; from++) count = (unsigned char)(count + (text[from] == '\n'));
    lines += count;
  }
  if (lines) {
    l->line += lines;
    for (l->line_start = at; text[l->line_start - 1] != '\n';) l->line_start--;
  }
  if (at > l->at) l->at = at;
}

/* The status of a reference; a rewritten one adds to the cost. */
static int status_of(Links *l, const Call *call, const Found *f) {
  if (!f->form) return IS_ABSOLUTE;
  int is_local = f->holds & LOCAL || (f->holds & HOLDS_MASK) == CSS || l->keeps_fragments;
  if (f->form == FRAGMENT && is_local) return IS_KEPT;
  l->cost += call->edits.costs[f->form];
  return IS_REWRITTEN;
}

/* Whether what was found surely keeps to the limits of `cost` and, for kept URLs, `shown`. */
static int is_covered(Links *l, const Call *call, Py_ssize_t cost, Py_ssize_t shown) {
  for (size_t i = 0; i < call->scan.count && shown >= 0 && l->cost <= cost; i++) {
    const Found *f = &call->scan.found[i];
    if (status_of(l, call, f) == IS_KEPT)
      shown -= PyBytes_Size(call->edits.written[f->form]) + f->end - f->at;
  }
  int is_sure = shown >= 0 && l->cost <= cost;
  l->cost = 0;
  return is_sure;
}

/* The object for an attribute, borrowed; the last one stands for no attribute. */
static PyObject *attribute_of(const Links *l, const Found *f) {
  Py_ssize_t last = PyTuple_Size(l->attributes) - 1;
  return PyTuple_GetItem(l->attributes, f->attribute < 0 ? last : f->attribute);
}

static PyObject *link_of(Links *l, const Call *call, const Found *f) {
  const Scan *s = &call->scan;
  Text p = s->text + f->at;
  Py_ssize_t n = f->end - f->at;
  char room[SHORT_URL];
  const char *raw = said(p, &n, room);
  PyObject *reference = raw ? PyUnicode_DecodeASCII(raw, n, NULL)
                            : PyObject_CallFunction(l->decode, "Ni", bytes_of(p, f->end - f->at), 0);
  if (!reference) return NULL;
  PyObject *url = f->form ? url_of(reference, raw, n, call->edits.written[f->form], f->to - f->at)
                           : Py_NewRef(reference);
  int status = status_of(l, call, f);
  if (status == IS_KEPT && url) l->shown += PyUnicode_GetLength(url);
  count_lines(l, s->text, f->at);
  PyObject *none = PyTuple_GetItem(l->attributes, PyTuple_Size(l->attributes) - 1); /* "" */
  PyObject *const places[] = {PyLong_FromSsize_t(f->at), PyLong_FromSsize_t(f->end)};
  PyObject *const values[LINK_FIELDS] = {
      Py_NewRef(l->part),
      element_name(l, s->text + f->name, (size_t)(f->name_end - f->name)),
      Py_XNewRef(attribute_of(l, f)),
      Py_XNewRef(PyTuple_GetItem(l->syntaxes, f->holds & HOLDS_MASK)),
      reference,
      url,
      Py_NewRef(l->base),
      tuple_of(l->span, places, 2),
      PyLong_FromSsize_t(l->line),
      PyLong_FromSsize_t(f->at - l->line_start + 1),
      Py_XNewRef(PyTuple_GetItem(l->statuses, status)),
      Py_XNewRef(none), /* the text and the rel of its element, which are not looked for */
      Py_XNewRef(none)};
  return tuple_of(l->link, values, LINK_FIELDS);
}

/* ---- Python: links in columns, as in Arrow: numbers of four bytes, and texts in UTF-8 */

enum {
  ELEMENTS, ATTRIBUTES, SYNTAXES, REFERENCE_SIZES, REFERENCE_TEXT, URL_SIZES, URL_TEXT, OUTCOMES,
  STARTS, ENDS_AT, COLUMNS
};

typedef struct {
  char *data;
  size_t size, room;
} Column;

static int put(Column *column, const void *data, size_t n) {
  if (column->room - column->size < n) {
    size_t room = 2 * column->room + n + 256;
    char *grown = realloc(column->data, room);
    if (!grown) return PyErr_NoMemory(), 0;
    column->data = grown;
    column->room = room;
  }
  if (n) memcpy(column->data + column->size, data, n);
  column->size += n;
  return 1;
}
static int put_number(Column *column, Py_ssize_t value) {
  int32_t number = (int32_t)value;
  return put(column, &number, sizeof number);
}

/* The number of an element's name: each new one gets the next. */
static Py_ssize_t element_number(const Links *l, Text p, size_t n) {
  char lower[SHORT_NAME];
  PyObject *name;
  if (n > SHORT_NAME || !is_plain_ascii(p, (Py_ssize_t)n)) {
    name = PyObject_CallFunction(l->decode, "Ni", bytes_of(p, (Py_ssize_t)n), 1);
  } else {
    for (size_t i = 0; i < n; i++) lower[i] = (char)LOWER(p[i]);
    name = PyUnicode_DecodeASCII(lower, (Py_ssize_t)n, NULL);
  }
  PyObject *known = name ? PyDict_GetItemWithError(l->names, name) : NULL;
  Py_ssize_t number = known ? PyLong_AsSsize_t(known) : -1;
  if (name && !known && !PyErr_Occurred()) {
    number = PyDict_Size(l->names);
    PyObject *made = PyLong_FromSsize_t(number);
    if (!made || PyDict_SetItem(l->names, name, made) < 0) number = -1;
    Py_XDECREF(made);
  }
  Py_XDECREF(name);
  return number;
}

static Py_ssize_t characters_in(const char *p, Py_ssize_t n) {
  Py_ssize_t count = 0;
  for (Py_ssize_t i = 0; i < n; i++) count += (p[i] & 0xc0) != 0x80;
  return count;
}

static int add_link(Links *l, const Call *call, const Found *f,
                    Column *columns) {
  const Scan *s = &call->scan;
  Text p = s->text + f->at;
  char room[SHORT_URL], *new = NULL;
  Py_ssize_t n = f->end - f->at, size = 0, rest = f->form ? f->to - f->at : 0;
  PyObject *decoded = NULL;
  const char *text = said(p, &n, room);
  if (!text) {
    char *utf_8;
    decoded = PyObject_CallFunction(l->decode, "Ni", bytes_of(p, f->end - f->at), 0);
    if (!decoded || PyBytes_AsStringAndSize(decoded, &utf_8, &n) < 0) goto failed;
    text = utf_8;
  }
  if (f->form && PyBytes_AsStringAndSize(call->edits.written[f->form], &new, &size) < 0) goto failed;
  if (rest > n) rest = n;
  int status = status_of(l, call, f);
  if (status == IS_KEPT) l->shown += size + characters_in(text + rest, n - rest);
  Py_ssize_t element = element_number(l, s->text + f->name, (size_t)(f->name_end - f->name));
  Py_ssize_t attribute = PyLong_AsSsize_t(attribute_of(l, f));
  if (element < 0 || attribute < 0) goto failed;
  int done = put_number(&columns[ELEMENTS], element) &&
             put_number(&columns[ATTRIBUTES], attribute) &&
             put_number(&columns[SYNTAXES], f->holds & HOLDS_MASK) &&
             put_number(&columns[REFERENCE_SIZES], n) &&
             put(&columns[REFERENCE_TEXT], text, (size_t)n) &&
             put_number(&columns[URL_SIZES], size + n - rest) &&
             put(&columns[URL_TEXT], new, (size_t)size) &&
             put(&columns[URL_TEXT], text + rest, (size_t)(n - rest)) &&
             put_number(&columns[OUTCOMES], status) && put_number(&columns[STARTS], f->at) &&
             put_number(&columns[ENDS_AT], f->end);
  Py_XDECREF(decoded);
  return done;
failed:
  Py_XDECREF(decoded);
  return 0;
}

static PyObject *in_columns(Links *l, const Call *call) {
  const Scan *s = &call->scan;
  Column columns[COLUMNS];
  int done = 1;
  memset(columns, 0, sizeof columns);
  for (size_t i = 0; done && i < s->count; i++)
    done = add_link(l, call, &s->found[i], columns);
  PyObject *made = done ? PyTuple_New(COLUMNS) : NULL;
  for (int i = 0; i < COLUMNS; i++) {
    const Column *column = &columns[i];
    PyObject *bytes =
        made ? PyBytes_FromStringAndSize(column->data, (Py_ssize_t)column->size) : NULL;
    if (bytes) PyTuple_SetItem(made, i, bytes);
    else Py_CLEAR(made);
    free(column->data);
  }
  return made;
}

static PyObject *as_list(Links *l, const Call *call) {
  const Scan *s = &call->scan;
  PyObject *list = PyList_New((Py_ssize_t)s->count);
  for (size_t i = 0; list && i < s->count; i++) {
    PyObject *link = link_of(l, call, &s->found[i]);
    if (link) PyList_SetItem(list, (Py_ssize_t)i, link);
    else Py_CLEAR(list);
  }
  return list;
}

/* links(tables, ..., in_comment, (Link, Span, names, attributes, syntaxes, statuses, base, part,
   decode, keeps_fragments), the most that they may cost, the most length of kept URLs, line,
   line_start, at) -> (links, place or -1, their cost, the length of kept URLs, line, line_start and
   at of the last link); links is None if they may exceed that. If Link is None, it makes columns:
   `names` are numbered, `attributes` are numbers, `decode` returns references as UTF-8 */
static PyObject *py_links(PyObject *Py_UNUSED(module), PyObject *args) {
  Call call;
  Links l;
  memset(&l, 0, sizeof l);
  Py_ssize_t size = PyTuple_Size(args);
  Py_ssize_t cost, shown;
  PyObject *common = size > 6 ? PyTuple_GetSlice(args, 0, size - 6) : NULL;
  PyObject *own = common ? PyTuple_GetSlice(args, size - 6, size) : NULL;
  int is_read =
      own && read_call(common, &call) &&
      PyArg_ParseTuple(own, "(OOO!O!O!O!OUOi)nnnnn:links", &l.link, &l.span, &PyDict_Type, &l.names,
                       &PyTuple_Type, &l.attributes, &PyTuple_Type, &l.syntaxes, &PyTuple_Type,
                       &l.statuses, &l.base, &l.part, &l.decode,
                       &l.keeps_fragments, &cost, &shown, &l.line, &l.line_start, &l.at);
  Py_XDECREF(common);
  Py_XDECREF(own);
  if (!is_read) return PyErr_Occurred() ? NULL : (bad("links: arguments are missing"), NULL);
  Scan *s = &call.scan;
  int is_packed = l.link == Py_None;
  if (s->mode != ALL || l.at < 0 || l.at > call.end - s->text ||
      !(is_packed || (is_tuple_type(l.link) && is_tuple_type(l.span))))
    return bad("links: of all references, as tuples"), NULL;
  Text at = scan(s, call.pos, call.end);
  PyObject *links = NULL;
  if (!PyErr_Occurred()) {
    if (!is_covered(&l, &call, cost, shown)) links = Py_NewRef(Py_None);
    else links = (is_packed ? in_columns : as_list)(&l, &call);
  }
  if (links && PyErr_Occurred()) Py_CLEAR(links);
  free_call(&call);
  if (!links) return NULL;
  return Py_BuildValue("(Nnnnnnn)", links, at < call.end ? at - s->text : (Py_ssize_t)-1, l.cost,
                       l.shown, l.line, l.line_start, l.at);
}

/* ---- Python: XML */

/* What the exact walk knows: {name: (text, is_item, {attribute: holds})}, {start tag: text}. */
typedef struct {
  PyObject *elements, *tags, *enter;
  Xml *xml;
  Call *call;
  Edits scoped[MOST_OPEN]; /* of the scopes that are being read */
  PyObject *list; /* of edits */
  int odd;        /* whether it may have references that stay */
} Learned;

static int number_of(PyObject *number) {
  long value = number ? PyLong_AsLong(number) : -1;
  return value >= 0 && value < 256 && (value & HOLDS_MASK) < HOLDS ? (int)value : -1;
}

static int element_known(void *data, Text name, size_t n, Known *known) {
  PyObject *learned = by_bytes(((Learned *)data)->elements, name, n);
  if (!learned || !PyTuple_Check(learned) || PyTuple_Size(learned) != 3) return 0;
  known->text = number_of(PyTuple_GetItem(learned, 0));
  known->is_item = PyTuple_GetItem(learned, 1) == Py_True;
  known->attributes = PyTuple_GetItem(learned, 2);
  return known->text >= 0 && PyDict_Check((PyObject *)known->attributes);
}
static int attribute_known(void *Py_UNUSED(data), const Known *known, Text name, size_t n) {
  return number_of(by_bytes(known->attributes, name, n));
}
static int tag_known(void *data, Text tag, size_t n) {
  return number_of(by_bytes(((Learned *)data)->tags, tag, n));
}

/* Moves what was found with one base to the list. */
static int flush(Learned *l) {
  Scan *s = &l->xml->scan;
  Edits *edits = (Edits *)s->prefixes;
  for (size_t i = 0; i < s->count; i++) {
    PyObject *edit = edit_of(&s->found[i], edits->written, l->call->type);
    int done = edit ? PyList_Append(l->list, edit) : -1;
    l->odd |= s->found[i].odd;
    Py_XDECREF(edit);
    if (done < 0) return 0;
  }
  l->xml->flushed += s->count;
  s->count = 0;
  return 1;
}

static int scope_known(void *data, Text value, size_t n) {
  Learned *l = data;
  Xml *x = l->xml;
  int around = x->open - !value; /* how many scopes are around the one that begins, or ends */
  if (value) {
    int number = around ? x->opened[around - 1].number : 0;
    PyObject *edits = PyObject_CallFunction(l->enter, "Nni", bytes_of(value, (Py_ssize_t)n),
                                            (Py_ssize_t)(value - x->scan.text), number);
    if (!edits || edits == Py_None) return Py_XDECREF(edits), 0;
    l->scoped[around] = (Edits){.prefixes = {.learn = learn}, .edits = edits};
  }
  int done = flush(l);
  if (!value) {
    forget(&l->scoped[around]);
    Py_CLEAR(l->scoped[around].edits);
  }
  int last = value ? around : around - 1;
  x->scan.prefixes = last < 0 ? &l->call->edits.prefixes : &l->scoped[last].prefixes;
  return done;
}

static PyObject *item_of(const Xml *x, const Item *item) {
  if (!item->start) Py_RETURN_NONE;
  Text text = x->scan.text;
  return Py_BuildValue("(nnn)", (Py_ssize_t)(item->start - text),
                       (Py_ssize_t)(item->name_end - text), (Py_ssize_t)(item->end - text));
}

static PyObject *markups_of(const Xml *x) {
  Text text = x->scan.text;
  PyObject *list = PyList_New((Py_ssize_t)x->count);
  for (size_t i = 0; list && i < x->count; i++) {
    const Markup *m = &x->markups[i];
    PyObject *made = Py_BuildValue("(Nnnni)", item_of(x, &m->item), (Py_ssize_t)(m->text - text),
                                   (Py_ssize_t)m->first, (Py_ssize_t)m->last, m->scope);
    if (made) PyList_SetItem(list, (Py_ssize_t)i, made);
    else Py_CLEAR(list);
  }
  return list;
}

/* xml(tables, ..., end, depth, floor, reads, elements, tags, enter) -> (edits, place or -1, depth,
   the last item or None, HTML in texts: (item or None, its place, its first edit, the one after
   its last, the number of its scope), whether edits may have None: a reference with a flaw stays).
   `enter` takes the value that begins a scope, its place and the number of the scope around it (0:
   none). It returns the prefixes of forms in the new scope, or None. */
static PyObject *py_xml(PyObject *Py_UNUSED(module), PyObject *args) {
  Call call;
  Learned l;
  Xml x;
  Py_ssize_t count = PyTuple_Size(args), depth, floor;
  memset(&x, 0, sizeof x);
  memset(&l, 0, sizeof l);
  PyObject *common = count > 6 ? PyTuple_GetSlice(args, 0, count - 6) : NULL;
  PyObject *own = common ? PyTuple_GetSlice(args, count - 6, count) : NULL;
  int is_read = own && read_call(common, &call) &&
                PyArg_ParseTuple(own, "nniO!O!O:xml", &depth, &floor, &x.reads, &PyDict_Type,
                                 &l.elements, &PyDict_Type, &l.tags, &l.enter);
  Py_XDECREF(common);
  Py_XDECREF(own);
  if (!is_read) return PyErr_Occurred() ? NULL : (bad("xml: arguments are missing"), NULL);
  if (call.scan.mode != EDITS) return bad("xml: edits alone"), NULL;
  if (!(l.list = PyList_New(0))) return NULL;
  x.scan = call.scan;
  x.scan.in_xml = 1;
  x.scan.flaws_told = x.reads & TELLS_FLAWS;
  x.depth = depth;
  x.floor = floor;
  x.lookup = (Lookup){&l, element_known, attribute_known, tag_known, scope_known};
  l.xml = &x;
  l.call = &call;
  Text at = xml(&x, call.pos, call.end);
  PyObject *made = NULL;
  if (!PyErr_Occurred() && flush(&l) &&
      !PyList_SetSlice(l.list, (Py_ssize_t)x.flushed, PY_SSIZE_T_MAX, NULL))
    made = Py_BuildValue("(OnnNNi)", l.list, at < call.end ? (Py_ssize_t)(at - x.scan.text) : -1,
                         (Py_ssize_t)x.depth, item_of(&x, &x.item), markups_of(&x), l.odd);
  Py_DECREF(l.list);
  for (int i = 0; i < MOST_OPEN; i++) { /* of one that began, but could not be flushed before */
    forget(&l.scoped[i]);
    Py_CLEAR(l.scoped[i].edits);
  }
  call.scan.found = x.scan.found;
  free_call(&call);
  free(x.markups);
  return made;
}

/* depth(text) -> the most elements of XML that are open at once */
static PyObject *py_depth(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *bytes;
  if (!PyArg_ParseTuple(args, "S:depth", &bytes)) return NULL;
  Text text = (Text)PyBytes_AsString(bytes);
  return PyLong_FromSsize_t(xml_depth(text, text + PyBytes_Size(bytes)));
}

/* head(tables, text) -> (the end of the head's last token, the head without its raw text) */
static PyObject *py_head(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *capsule, *bytes;
  char *text;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "OS:head", &capsule, &bytes)) return NULL;
  const Tables *tables = PyCapsule_GetPointer(capsule, TABLES);
  if (!tables || PyBytes_AsStringAndSize(bytes, &text, &size) < 0) return NULL;
  unsigned char *markup = PyMem_Malloc((size_t)size + 1), *out = markup;
  if (!markup) return PyErr_NoMemory();
  Text end = head_markup(tables, (Text)text, (Text)text + size, &out);
  PyObject *made = Py_BuildValue("(nN)", (Py_ssize_t)(end - (Text)text),
                                 bytes_of(markup, out - markup));
  PyMem_Free(markup);
  return made;
}

/* base(tables, text) -> (start and end of the href of the first `<base>`, whether it is in quotes),
   or None: a closer look has to tell */
static PyObject *py_base(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *capsule, *bytes;
  Attribute href;
  if (!PyArg_ParseTuple(args, "OS:base", &capsule, &bytes)) return NULL;
  const Tables *tables = PyCapsule_GetPointer(capsule, TABLES);
  if (!tables) return NULL;
  Text text = (Text)PyBytes_AsString(bytes);
  if (!head_base(tables, text, text + PyBytes_Size(bytes), &href)) Py_RETURN_NONE;
  return Py_BuildValue("(nni)", (Py_ssize_t)(href.value - text), (Py_ssize_t)(href.end - text),
                       href.quote > 0);
}

/* Whether one of some words is there; it is sought by its first sign, which is rarer than letters. */
static int holds_any(Text p, Text e, PyObject *words) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(words); i++) {
    Text word = (Text)PyBytes_AsString(PyTuple_GetItem(words, i));
    Py_ssize_t n = PyBytes_Size(PyTuple_GetItem(words, i)), at = 0;
    while (at < n && (IS(word[at], ALNUM) || word[at] == ' ')) at++;
    if (at == n) at = 0;
    if (e - p < n) continue;
    for (Text q = p + at, last = e - n + at + 1; (q = find(q, last, word[at])); q++)
      if (q[-at] == *word && !memcmp(q - at, word, (size_t)n)) return 1;
  }
  return 0;
}

/* The same in any case, for words in lower case. */
static int holds_any_case(Text p, Text e, PyObject *words) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(words); i++) {
    const char *word = PyBytes_AsString(PyTuple_GetItem(words, i));
    for (Text q = p; q < e; q++)
      if (LOWER(*q) == (unsigned char)*word && begins_any_case(q, e, word)) return 1;
  }
  return 0;
}

/* Whether one of some words is where it may be a mark: in comments of the head, in its tags, in all
   of it, or in the last bytes. */
static int may_be_marked(const Tables *t, Text p, Text e, PyObject *const *words, Py_ssize_t last) {
  Text begin = p;
  Token token;
  for (; head_token(t, p, e, &token); p = token.end)
    if (holds_any(token.start, token.after, words[token.is_comment ? 0 : 1])) return 1;
  return holds_any(begin, p, words[2]) || holds_any(e - begin > last ? e - last : begin, e, words[3]);
}

/* Whether the start of a tag is there, or may be in UTF-16 or ISO-2022-JP. */
static int may_have_tag(Text p, Text e, const char *tag) {
  for (Text q = p; (q = find(q, e, *tag)); q++)
    if (begins_any_case(q, e, tag)) return 1;
  return find(p, e, 0) || find(p, e, '\x1b');
}

static int words_of(PyObject *marks, PyObject **words) {
  return PyArg_ParseTuple(marks, "O!O!O!O!", &PyTuple_Type, &words[0], &PyTuple_Type, &words[1],
                          &PyTuple_Type, &words[2], &PyTuple_Type, &words[3]);
}

/* marked(tables, text, four tuples of words for `may_be_marked`) -> of each comment or tag of the
   head that has one, perhaps in raw text after it: its `<`, where its name or `<!--` ends, its end,
   and that of the raw text */
static PyObject *py_marked(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *capsule, *bytes, *marks, *words[4];
  if (!PyArg_ParseTuple(args, "OSO:marked", &capsule, &bytes, &marks)) return NULL;
  const Tables *tables = PyCapsule_GetPointer(capsule, TABLES);
  PyObject *list = tables && words_of(marks, words) ? PyList_New(0) : NULL;
  Text begin = (Text)PyBytes_AsString(bytes), p = begin, e = p + PyBytes_Size(bytes);
  Token token;
  for (; list && head_token(tables, p, e, &token); p = token.end) {
    if (!(token.is_comment ? holds_any(token.start, token.after, words[0])
                           : holds_any_case(token.start, token.after, words[1])) &&
        !holds_any(token.after, token.end, words[2]))
      continue;
    PyObject *made = Py_BuildValue(
        "(nnnn)", (Py_ssize_t)(token.start - begin), (Py_ssize_t)(token.inside - begin),
        (Py_ssize_t)(token.after - begin), (Py_ssize_t)(token.end - begin));
    if (!made || PyList_Append(list, made) < 0) Py_CLEAR(list);
    Py_XDECREF(made);
  }
  return list;
}

/* look(tables, data, a word, how many first bytes it may be in to state a charset (0: that is known),
   four tuples of words for `may_be_marked` or None, how many last bytes, the start of a tag or None)
   -> bits; none if a tag is given, and neither that nor a mark may be there */
static PyObject *py_look(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *capsule, *bytes, *marks, *words[4];
  const char *word, *tag;
  Py_ssize_t first, last;
  int found = 0;
  if (!PyArg_ParseTuple(args, "OSynOnz:look", &capsule, &bytes, &word, &first, &marks, &last, &tag))
    return NULL;
  const Tables *tables = PyCapsule_GetPointer(capsule, TABLES);
  if (!tables) return NULL;
  Text p = (Text)PyBytes_AsString(bytes), e = p + PyBytes_Size(bytes), q = p;
  Text head = e - p < first ? e : p + first;
  if (marks != Py_None) {
    if (!words_of(marks, words)) return NULL;
    if (may_be_marked(tables, p, e, words, last)) found = MAY_BE_MARKED;
  }
  if (tag && may_have_tag(p, e, tag)) found |= MAY_STATE_BASE;
  if ((tag && !found) || !first) return PyLong_FromLong(found);
  int states = p == e || *p >= 0x80 || begins(p, e, "<?") || find(p, e - p < 4 ? e : p + 4, 0);
  for (; !states && q < head; q++)
    states = LOWER(*q) == *word && begins_any_case(q, head, word);
  if (states) found |= MAY_STATE_CHARSET;
  else if ((q = after_ascii(p, e)) < e)
    found |= is_utf_8(q, e) ? BEYOND_ASCII : BEYOND_ASCII | NOT_UNICODE;
  return PyLong_FromLong(found);
}

/* ---- Python: edits applied */

/* Reads one edit, which must begin at `at` or later; returns 0 if it is invalid. */
static int read_edit(PyObject *edit, Py_ssize_t at, Py_ssize_t size, Py_ssize_t *start,
                     Py_ssize_t *end, char **new, Py_ssize_t *length) {
  if (!PyTuple_Check(edit) || PyTuple_Size(edit) != 3) return 0;
  *start = PyLong_AsSsize_t(PyTuple_GetItem(edit, 0));
  *end = PyLong_AsSsize_t(PyTuple_GetItem(edit, 1));
  if (PyErr_Occurred() || *start < at || *end < *start || *end > size) return 0;
  PyObject *bytes = PyTuple_GetItem(edit, 2);
  return PyBytes_Check(bytes) && PyBytes_AsStringAndSize(bytes, new, length) == 0;
}

/* splice(data, edits) -> the data with a list of edits applied, or None if they do not fit */
static PyObject *py_splice(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *data, *edits;
  char *text, *new;
  Py_ssize_t size, start, end, length, at = 0, total;
  if (!PyArg_ParseTuple(args, "SO:splice", &data, &edits)) return NULL;
  if (PyBytes_AsStringAndSize(data, &text, &size) < 0) return NULL;
  Py_ssize_t count = PyList_Check(edits) ? PyList_Size(edits) : 0;
  if (!count) Py_RETURN_NONE;
  total = size;
  for (Py_ssize_t i = 0; i < count; i++, at = end) {
    if (!read_edit(PyList_GetItem(edits, i), at, size, &start, &end, &new, &length) ||
        length > PY_SSIZE_T_MAX - total) {
      PyErr_Clear();
      Py_RETURN_NONE;
    }
    total += length - (end - start);
  }
  PyObject *made = PyBytes_FromStringAndSize(NULL, total);
  if (!made) return NULL;
  char *out = PyBytes_AsString(made);
  at = 0;
  for (Py_ssize_t i = 0; i < count; i++, at = end) {
    if (!read_edit(PyList_GetItem(edits, i), at, size, &start, &end, &new, &length)) {
      Py_DECREF(made); /* impossible: it was read before */
      PyErr_Clear();
      Py_RETURN_NONE;
    }
    memcpy(out, text + at, (size_t)(start - at));
    out += start - at;
    memcpy(out, new, (size_t)length);
    out += length;
  }
  memcpy(out, text + at, (size_t)(size - at));
  return made;
}

static PyMethodDef methods[] = {{"prepare", prepare, METH_VARARGS, NULL},
                                {"scan", py_scan, METH_VARARGS, NULL},
                                {"links", py_links, METH_VARARGS, NULL},
                                {"css", py_css, METH_VARARGS, NULL},
                                {"xml", py_xml, METH_VARARGS, NULL},
                                {"depth", py_depth, METH_VARARGS, NULL},
                                {"head", py_head, METH_VARARGS, NULL},
                                {"base", py_base, METH_VARARGS, NULL},
                                {"look", py_look, METH_VARARGS, NULL},
                                {"marked", py_marked, METH_VARARGS, NULL},
                                {"splice", py_splice, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static int init(PyObject *module) {
  /* Unsigned: a `long` of 32 bits has no room for every CRC. */
  PyObject *source = PyLong_FromUnsignedLong((unsigned long)(RELBASE_SOURCE));
  int done = source ? PyModule_AddObjectRef(module, "SOURCE", source) : -1;
  if (!done) done = PyModule_AddStringConstant(module, "FACTS", FACTS);
  Py_XDECREF(source);
  return done;
}
/* Without the GIL: tables never change once they are made, and all else belongs to one call. */
static struct PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)init},
#ifdef Py_GIL_DISABLED
                                          {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                          {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_scanner", NULL, 0, methods,
                                        slots, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__scanner(void) { return PyModuleDef_Init(&definition); }
