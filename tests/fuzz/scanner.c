/* libFuzzer over the compiled scanner, with AddressSanitizer and UBSan: see compiled.py.

   Four bytes choose the call, the rest is the document. A walk reads it from a block of its own
   size, and what it finds is in order and inside. Of each EVERYth document Python then compares the
   whole results of all scanners (`compiled.agree`). */

#include "_scanner.c"

#include <stdio.h>

#define MUST(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s does not hold\n", #condition); \
      abort(); \
    } \
  } while (0)

static const Tables *tables[2];
static PyObject *agree;
static unsigned long runs, every = 50;

static void check(int holds) {
  if (holds) return;
  PyErr_Print();
  abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  PyImport_AppendInittab("_scanner", PyInit__scanner);
  Py_Initialize();
  PyObject *compiled = PyImport_ImportModule("compiled");
  check(compiled != NULL);
  agree = PyObject_GetAttrString(compiled, "agree");
  for (int extended = 0; extended < 2; extended++) {
    PyObject *capsule = PyObject_CallMethod(compiled, "tables", "i", extended);
    check(capsule && (tables[extended] = PyCapsule_GetPointer(capsule, TABLES)));
  }
  check(agree != NULL);
  if (getenv("EVERY")) every = strtoul(getenv("EVERY"), NULL, 10);
  return 0;
}

/* A vocabulary of XML in which the first letter of a name decides. */
static int element(void *data, Text name, size_t n, Known *known) {
  static const int texts[] = {NOTHING, MARKUP, URL, BY_TAG};
  (void)data, (void)n;
  *known = (Known){.text = texts[name[0] & 3], .is_item = name[0] == 'i' || name[0] == 'e'};
  return name[0] != 'z';
}
static int by_letter(void *data, const Known *known, Text name, size_t n) {
  (void)data, (void)known;
  return name[0] == 'z' ? -1 : (int)((name[0] + n) % HOLDS);
}
static int by_length(void *data, Text tag, size_t n) {
  (void)data, (void)tag;
  return n % 7 ? (int)(n & 1 ? MARKUP : NOTHING) : -1;
}

static void check_found(const Scan *s, ptrdiff_t size) {
  ptrdiff_t last = 0;
  for (size_t i = 0; i < s->count; last = s->found[i++].end) {
    const Found *f = &s->found[i];
    MUST(last <= f->at && f->at <= f->end && f->end <= size);
    MUST(0 <= f->shape && f->shape < SHAPES);
    if (s->mode != ALL) MUST(f->at <= f->from && f->from <= f->to && f->to <= f->end);
  }
}

static void walk(const uint8_t *options, Text text, Text end) {
  Text at, looked;
  Scan s = {.tables = tables[options[0] & 1], .text = text, .name = text, .name_end = text};
  s.mode = options[1] % (ALL + 1);
  s.whatwg = options[0] >> 1 & 1;
  s.unquoted = options[0] >> 2 & 1;
  s.in_css = options[0] >> 3 & 1;
  s.ascii_stands = options[0] >> 4 & 1;
  s.in_noscript = options[0] >> 5 & 1;
  s.in_comment = options[0] >> 6 & 1;
  s.shapes = options[0] & 128 ? ~0u << ROOT : 0x5555u << ROOT;
  if (options[2] % 3 == 0) {
    at = scan(&s, text, end);
  } else if (options[2] % 3 == 1) {
    s.attribute = -1, s.holds = CSS;
    at = css(&s, text, end, 0, BATCH, &looked);
  } else {
    Xml x = {.scan = s, .lookup = {NULL, element, by_letter, by_length}, .reads_markup = 1};
    x.scan.mode = EDITS, x.scan.in_xml = 1;
    at = xml(&x, text, end);
    for (size_t i = 0; i < x.count; i++)
      MUST(x.markups[i].first <= x.markups[i].last && x.markups[i].last <= x.scan.count);
    free(x.markups);
    s = x.scan;
  }
  MUST(text <= at && at <= end);
  check_found(&s, end - text);
  free(s.found);
  unsigned char *kept = malloc((size_t)(end - text) + 1), *out = kept;
  at = head_markup(s.tables, text, end, &out);
  MUST(text <= at && at <= end && out - kept <= end - text);
  free(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  unsigned char *text = malloc(size - 4);
  memcpy(text, data + 4, size - 4);
  walk(data, text, text + size - 4);
  free(text);
  if (!every || ++runs % every) return 0;
  PyObject *agreed = PyObject_CallFunction(agree, "N", bytes_of(data, (Py_ssize_t)size));
  check(agreed != NULL);
  Py_DECREF(agreed);
  return 0;
}
