/* Text and types, for the other files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

int core_tuple(PyObject *given) {
  if (PyTuple_Check(given))
    return 1;
  PyErr_SetString(PyExc_TypeError, "expected a tuple");
  return 0;
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

void core_tuple_set(PyObject **tuple, size_t index, PyObject *item) {
  if (item == NULL || PyTuple_SetItem(*tuple, (Py_ssize_t)index, item) < 0)
    Py_CLEAR(*tuple);
}

/* Raises UsageError for a name or spec; returns NULL. */
static const char *core_refuse_letters(const char *problem, const char *remedy) {
  pcal_error error = PCAL_ERROR_INIT;
  error.status = PCAL_USAGE;
  snprintf(error.message, sizeof error.message, "%s; %s", problem, remedy);
  error.remedy = (uint16_t)(strlen(problem) + 2);
  core_raise(&error);
  return NULL;
}

const char *core_utf8(PyObject *text) {
  Py_ssize_t length = 0;
  char *bytes = NULL;
  if (PyBytes_Check(text)) /* a file name that is not UTF-8; it must not hold NULs either */
    return PyBytes_AsStringAndSize(text, &bytes, NULL) < 0 ? NULL : bytes;
  if (!PyUnicode_Check(text)) {
    PyErr_SetString(PyExc_TypeError, "expected a str");
    return NULL;
  }
  const char *letters = PyUnicode_AsUTF8AndSize(text, &length);
  if (letters == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();
    return core_refuse_letters("a name or spec has a lone surrogate, which no file can store",
                               "give text that encodes as UTF-8");
  }
  if (letters != NULL && strlen(letters) != (size_t)length)
    return core_refuse_letters("a name or spec has a NUL character", "remove it");
  return letters;
}

int core_letters_argument(PyObject *text, void *out) {
  const char **letters = out;
  *letters = core_utf8(text);
  return *letters != NULL;
}

int core_letters_or_none(PyObject *text, void *out) {
  const char **letters = out;
  *letters = NULL;
  return text == Py_None ? 1 : core_letters_argument(text, out);
}

const char **core_utf8_list(PyObject *tuple, size_t *count) {
  const Py_ssize_t size = PyTuple_Size(tuple);
  if (size < 0)
    return NULL;
  const char **all = PyMem_Calloc((size_t)size + 1, sizeof *all);
  if (all == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < size; i++) {
    all[i] = core_utf8(PyTuple_GetItem(tuple, i));
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
  PyErr_Format(PyExc_TypeError, "expected a %s", what);
  return 0;
}
