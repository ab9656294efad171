/* Watching calibration: a state goes in and comes out as bytes. */
#include "core.h"

/* The watch of a state, or a new one if there are no bytes. */
static pcal_status core_monitoring_open(PyObject *state, double alpha, const pcal_env *env,
                                        pcal_watch **out, pcal_error *error) {
  char *bytes = NULL;
  Py_ssize_t length = 0;
  if (state == Py_None)
    return pcal_watch_new(alpha, env, out, error);
  if (PyBytes_AsStringAndSize(state, &bytes, &length) < 0)
    return PCAL_INTERNAL;
  return pcal_watch_load(bytes, (size_t)length, NULL, env, out, error);
}

/* (state, report as JSON), or NULL with an exception. */
static PyObject *core_monitoring_result(const pcal_watch *watch) {
  core_bytes state = {NULL, 0, 0}, report = {NULL, 0, 0};
  pcal_error error;
  pcal_status status = pcal_watch_save(watch, core_bytes_sink, &state, &error);
  PyObject *saved = core_bytes_object(&state, status, &error);
  if (saved == NULL)
    return NULL;
  status = pcal_watch_write(watch, PCAL_JSON, core_bytes_sink, &report, &error);
  PyObject *text = core_bytes_text(&report, status, &error);
  if (text == NULL) {
    Py_DECREF(saved);
    return NULL;
  }
  return Py_BuildValue("(NN)", saved, text);
}

/* watch(state or None, alpha, Source or None, flags) -> (state, report as JSON) */
PyObject *core_monitoring(PyObject *module, PyObject *arguments) {
  const core_state *types = PyModule_GetState(module);
  PyObject *state, *source;
  double alpha = 0;
  unsigned flags = 0;
  pcal_watch *watch = NULL;
  pcal_error error = PCAL_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "OdOI", &state, &alpha, &source, &flags) ||
      (source != Py_None && !core_check(source, types->source_type, "Source")))
    return NULL;
  core_source *rows = source == Py_None ? NULL : (core_source *)(void *)source;
  const pcal_env *env = rows == NULL ? NULL : core_watch_env(rows->watch);
  pcal_status status = core_monitoring_open(state, alpha, env, &watch, &error);
  if (status == PCAL_OK && rows != NULL) {
    core_turn turn = {NULL, 0, NULL};
    status = core_turn_begin_one(&turn, rows->watch, 1);
    if (status == PCAL_OK)
      status = core_turn_end(&turn, pcal_watch_update(watch, rows->source, flags, &error));
  }
  PyObject *result = status == PCAL_OK          ? core_monitoring_result(watch)
                     : PyErr_Occurred() != NULL ? NULL
                                                : core_raise(&error);
  pcal_watch_free(watch);
  return result;
}
