/* Errors of the library as Python exceptions. */
#include "core.h"

/* The fields of an error, as keyword arguments of _errors.make. */
static PyObject *core_error_fields(const pcal_error *error) {
  char message[2 * sizeof error->message], remedy[2 * sizeof error->message];
  pcal_error_text(error, PCAL_INTERFACE_PYTHON, message, sizeof message);
  pcal_error_remedy(error, PCAL_INTERFACE_PYTHON, remedy, sizeof remedy);
  PyObject *fields =
      Py_BuildValue("{s:i,s:s,s:s,s:s,s:z}", "status", (int)error->status, "message", message,
                    "remedy", remedy, "subject", error->subject, "argument", error->argument);
  const struct {
    const char *name;
    int known;
    uint64_t value;
  } places[] = {{"row", error->row != PCAL_NO_ROW, error->row},
                {"line", error->line > 0, error->line},
                {"column", error->column != PCAL_NO_COLUMN, error->column}};
  for (size_t i = 0; fields != NULL && i < sizeof places / sizeof *places; i++) {
    PyObject *place =
        places[i].known ? PyLong_FromUnsignedLongLong(places[i].value) : core_text(NULL);
    if (place == NULL || PyDict_SetItemString(fields, places[i].name, place) < 0) {
      Py_DECREF(fields);
      fields = NULL;
    }
    Py_XDECREF(place);
  }
  return fields;
}

PyObject *core_raise(const pcal_error *error) {
  if (PyErr_Occurred() != NULL)
    return NULL;
  PyObject *module = PyImport_ImportModule("propercal._errors");
  PyObject *make = module == NULL ? NULL : PyObject_GetAttrString(module, "make");
  PyObject *fields = core_error_fields(error), *none = PyTuple_New(0);
  PyObject *made =
      make == NULL || fields == NULL || none == NULL ? NULL : PyObject_Call(make, none, fields);
  if (made != NULL)
    PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(made);
  Py_XDECREF(none);
  Py_XDECREF(fields);
  Py_XDECREF(make);
  Py_XDECREF(module);
  return NULL;
}
