/* Errors, text and types, for the other files. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* Where the message repeats names from outside: a tuple of (begin, end) in bytes. */
static PyObject *core_quotes(const pcal_error *error) {
  PyObject *quotes = PyTuple_New((Py_ssize_t)error->quote_count);
  for (size_t q = 0; quotes != NULL && q < error->quote_count; q++) {
    PyObject *quote =
        Py_BuildValue("(ii)", (int)error->quotes[q].begin, (int)error->quotes[q].end);
    if (quote == NULL || PyTuple_SetItem(quotes, (Py_ssize_t)q, quote) < 0) {
      Py_DECREF(quotes);
      return NULL;
    }
  }
  return quotes;
}

int core_tuple(PyObject *given) {
  if (PyTuple_Check(given))
    return 1;
  PyErr_SetString(PyExc_TypeError, "a tuple is needed here");
  return 0;
}

PyObject *core_raise(const pcal_error *error) {
  if (PyErr_Occurred() != NULL)
    return NULL;
  PyObject *module = PyImport_ImportModule("propercal._errors");
  PyObject *message =
      PyBytes_FromStringAndSize(error->message, (Py_ssize_t)strlen(error->message));
  PyObject *quotes = core_quotes(error);
  PyObject *row =
      error->row == PCAL_NO_ROW ? core_text(NULL) : PyLong_FromUnsignedLongLong(error->row);
  PyObject *made = module == NULL || message == NULL || row == NULL || quotes == NULL
                       ? NULL
                       : PyObject_CallMethod(module, "make", "iOOO", (int)error->status, row,
                                             message, quotes);
  if (made != NULL)
    PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(made);
  Py_XDECREF(row);
  Py_XDECREF(quotes);
  Py_XDECREF(message);
  Py_XDECREF(module);
  return NULL;
}

/* ---- Text ---- */

int core_bytes_sink(void *user, const char *from, size_t count) {
  core_bytes *bytes = user;
  if (bytes->capacity - bytes->length < count) {
    const size_t wanted = bytes->length + count + bytes->capacity;
    char *grown = wanted < count ? NULL : realloc(bytes->block, wanted);
    if (grown == NULL)
      return 1;
    bytes->block = grown;
    bytes->capacity = wanted;
  }
  memcpy(bytes->block + bytes->length, from, count);
  bytes->length += count;
  return 0;
}

PyObject *core_bytes_text(core_bytes *bytes, pcal_status status, const pcal_error *error) {
  PyObject *text = status != PCAL_OK
                       ? core_raise(error)
                       : PyUnicode_DecodeUTF8(bytes->block == NULL ? "" : bytes->block,
                                              (Py_ssize_t)bytes->length, "replace");
  free(bytes->block);
  return text;
}

PyObject *core_bytes_object(core_bytes *bytes, pcal_status status, const pcal_error *error) {
  PyObject *object = status != PCAL_OK
                         ? core_raise(error)
                         : PyBytes_FromStringAndSize(bytes->block, (Py_ssize_t)bytes->length);
  free(bytes->block);
  return object;
}

PyObject *core_text(const char *text) {
  if (text != NULL)
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  Py_RETURN_NONE;
}

const char *core_letters(PyObject *text) {
  Py_ssize_t length = 0;
  char *bytes = NULL;
  if (PyBytes_Check(text)) /* a file name that is not UTF-8; it must not hold NULs either */
    return PyBytes_AsStringAndSize(text, &bytes, NULL) < 0 ? NULL : bytes;
  if (!PyUnicode_Check(text)) {
    PyErr_SetString(PyExc_TypeError, "a str is wanted");
    return NULL;
  }
  const char *letters = PyUnicode_AsUTF8AndSize(text, &length);
  if (letters != NULL && strlen(letters) != (size_t)length) {
    PyErr_SetString(PyExc_ValueError, "a str without NUL characters is wanted");
    return NULL;
  }
  return letters;
}

const char **core_letters_of(PyObject *tuple, size_t *count) {
  const Py_ssize_t size = PyTuple_Size(tuple);
  if (size < 0)
    return NULL;
  const char **all = PyMem_Calloc((size_t)size + 1, sizeof *all);
  if (all == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < size; i++) {
    all[i] = core_letters(PyTuple_GetItem(tuple, i));
    if (all[i] == NULL) {
      PyMem_Free(all);
      return NULL;
    }
  }
  *count = (size_t)size;
  return all;
}

/* ---- Types ---- */

PyObject *core_type_add(PyObject *module, PyType_Spec *spec) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
  if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) < 0)
    Py_CLEAR(type);
  return type;
}

PyObject *core_new(PyObject *type) {
  return PyType_GenericAlloc((PyTypeObject *)type, 0);
}

void core_delete(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

int core_check(PyObject *object, PyObject *type, const char *what) {
  if (Py_TYPE(object) == (PyTypeObject *)type)
    return 1;
  PyErr_Format(PyExc_TypeError, "a %s is wanted", what);
  return 0;
}
