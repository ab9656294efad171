/* The registry: each row as a tuple, in the order of the fields of propercal._registry. */
#include <string.h>

#include "core.h"

static PyObject *core_registry_option(const pcal_option *option) {
  return Py_BuildValue("(NiNddNN)", core_text(option->name), (int)option->type,
                       core_text(option->fallback), option->low, option->high,
                       core_text(option->choices), core_text(option->help));
}

static PyObject *core_registry_options(const pcal_registry_row *row) {
  PyObject *options = PyTuple_New((Py_ssize_t)row->option_count);
  for (size_t i = 0; options != NULL && i < row->option_count; i++)
    core_tuple_set(&options, i, core_registry_option(&row->options[i]));
  return options;
}

static PyObject *core_registry_one(const pcal_registry_row *row) {
  static const char *const better[] = {NULL, "lower", "higher"};
  return Py_BuildValue(
      "(NNNNNNNNNNNNN)", core_text(pcal_registry_name(row->registry)), core_text(row->name),
      core_text(row->title), core_text(row->formula), core_text(row->about),
      core_text(row->citation), core_text(pcal_notion_name(row->notion)),
      core_text(pcal_bound_name(row->bound)), core_text(pcal_machine_name(row->machine)),
      core_text(row->task == PCAL_REGRESSION ? "regression" : NULL),
      core_text(better[row->better]), PyBool_FromLong(row->is_test),
      core_registry_options(row));
}

PyObject *core_rows(PyObject *module, PyObject *kind) {
  const char *letters = core_utf8(kind);
  (void)module;
  if (letters == NULL)
    return NULL;
  const pcal_registry registry = pcal_registry_by_name(letters);
  PyObject *rows = PyList_New(0);
  const pcal_registry_row *row;
  for (size_t i = 0; rows != NULL && (row = pcal_registry_at(registry, i)) != NULL; i++) {
    PyObject *one = core_registry_one(row);
    if (one == NULL || PyList_Append(rows, one) < 0)
      Py_CLEAR(rows);
    Py_XDECREF(one);
  }
  return rows;
}

PyObject *core_canonical(PyObject *module, PyObject *spec) {
  char out[1024];
  pcal_error error;
  const char *letters = core_utf8(spec);
  (void)module;
  if (letters == NULL)
    return NULL;
  if (pcal_spec_canonical(letters, out, sizeof out, &error) != PCAL_OK)
    return core_raise(&error);
  return core_text(out);
}

PyObject *core_calibrator_name(PyObject *module, PyObject *name) {
  const char *letters = core_utf8(name);
  (void)module;
  if (letters == NULL)
    return NULL;
  const pcal_registry_row *row = pcal_registry_find(PCAL_CALIBRATORS, letters);
  if (row == NULL)
    Py_RETURN_NONE;
  return core_text(row->name);
}
