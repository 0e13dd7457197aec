/* The compiled scanner for tests/fuzz_scanners.py --sanitize: each text that Python gives to it is
   copied into a block that ends where the text ends, so that AddressSanitizer sees a byte too far.
   Python's own objects need no guards, and are made at full speed. */

#include <Python.h>

#include "_scanner.c"

enum { METHODS = sizeof methods / sizeof *methods - 1 };

static const Py_ssize_t place_of_text[METHODS] = {-1, 5, 5, 5, 5, 0, 1, 1, 0};
static PyCFunction called[METHODS];

static PyObject *guarded(PyObject *text) {
  size_t size = offsetof(PyBytesObject, ob_sval) + (size_t)PyBytes_Size(text);
  PyObject *copy = PyMem_RawMalloc(size);
  memcpy(copy, text, size);
  Py_SET_REFCNT(copy, 1);
  return copy;
}

static PyObject *call(int method, PyObject *module, PyObject *args) {
  PyObject *copied = PyTuple_New(PyTuple_Size(args));
  for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++) {
    PyObject *one = PyTuple_GetItem(args, i);
    PyTuple_SetItem(copied, i, i == place_of_text[method] ? guarded(one) : Py_NewRef(one));
  }
  PyObject *made = called[method](module, copied);
  Py_DECREF(copied);
  return made;
}

#define GUARDED(at) \
  static PyObject *guarded_##at(PyObject *module, PyObject *args) { return call(at, module, args); }
GUARDED(1)
GUARDED(2)
GUARDED(3)
GUARDED(4)
GUARDED(5)
GUARDED(6)
GUARDED(7)
GUARDED(8)

__attribute__((constructor)) static void guard(void) {
  static const PyCFunction guarding[METHODS] = {NULL,      guarded_1, guarded_2,
                                                guarded_3, guarded_4, guarded_5,
                                                guarded_6, guarded_7, guarded_8};
  for (int i = 1; i < METHODS; i++) {
    called[i] = methods[i].ml_meth;
    methods[i].ml_meth = guarding[i];
  }
}
