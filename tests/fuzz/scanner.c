/* libFuzzer over the compiled scanner, with AddressSanitizer and UBSan: see compiled.py.

   Coverage counts what is reached in the scanner alone. Each document is a block of its own: the
   zero that Python puts behind it is poisoned, so that a byte too far is a report. */

#include "_scanner.c"

#include <sanitizer/asan_interface.h>
#include <stdio.h>

static PyObject *run;

static void check(const PyObject *object) {
  if (object) return;
  PyErr_Print();
  fflush(stderr);
  abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  PyImport_AppendInittab("_scanner", PyInit__scanner);
  Py_Initialize();
  PyObject *compiled = PyImport_ImportModule("compiled");
  check(compiled);
  run = PyObject_GetAttrString(compiled, "run");
  check(run);
  return 0;
}

enum { HEAD = 4, SHARED = 2 }; /* shorter bytes are shared by all who have them */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < HEAD + SHARED) return 0;
  Py_ssize_t length = (Py_ssize_t)size - HEAD;
  PyObject *head = PyBytes_FromStringAndSize((const char *)data, HEAD);
  PyObject *text = PyBytes_FromStringAndSize((const char *)data + HEAD, length);
  check(text);
  const char *end = PyBytes_AsString(text) + length;
  ASAN_POISON_MEMORY_REGION(end, 1);
  PyObject *done = PyObject_CallFunction(run, "NO", head, text);
  check(done);
  ASAN_UNPOISON_MEMORY_REGION(end, 1);
  Py_DECREF(text);
  Py_DECREF(done);
  return 0;
}
