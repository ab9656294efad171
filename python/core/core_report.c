/* Reports. */
#include <stdlib.h>

#include "core.h"

static PyObject *core_report_text(const pcal_report *report, pcal_format format) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  const pcal_status status = pcal_report_write(report, format, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

PyObject *core_report_texts(pcal_report *report) {
  PyObject *made = Py_BuildValue("(NNN)", core_report_text(report, PCAL_HTML),
                                 core_report_text(report, PCAL_MARKDOWN),
                                 core_report_text(report, PCAL_JSON));
  pcal_report_free(report);
  return made;
}

static PyObject *core_report_run(core_source *source, PyObject *second,
                                 const pcal_report_config *config) {
  pcal_report *report = NULL;
  pcal_error error;
  core_turn turn = {NULL, 0, NULL};
  if (core_turn_add(&turn, source->watch) < 0 || core_turn_add_source(&turn, second) < 0)
    return NULL;
  pcal_status status = core_turn_begin(&turn, 1);
  if (status == PCAL_OK)
    status =
        core_turn_end(&turn, pcal_report_run(source->source, config,
                                             core_watch_env(source->watch), &report, &error));
  if (status != PCAL_OK) {
    pcal_report_free(report);
    return core_raise(&error);
  }
  return core_report_texts(report);
}

/* report(source, second or None, calibrator or None, method or None, specs, interval, replicas,
 * normalize, skip_missing, title or None, preset or None, by_cluster) -> (HTML, Markdown, JSON) */
PyObject *core_report(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  PyObject *source, *second, *calibrator, *specs;
  Py_ssize_t replicas = 0;
  if (!PyArg_ParseTuple(arguments, "OOOO&O!dnppO&O&p", &source, &second, &calibrator,
                        core_letters_or_none, &config.method, &PyTuple_Type, &specs,
                        &config.interval, &replicas, &config.normalize, &config.skip_missing,
                        core_letters_or_none, &config.title, core_letters_or_none,
                        &config.preset, &config.by_cluster) ||
      !core_check(source, state->source_type, "Source") ||
      (second != Py_None && !core_check(second, state->source_type, "Source")) ||
      (calibrator != Py_None && !core_check(calibrator, state->calibrator_type, "Calibrator")))
    return NULL;
  config.replicas = replicas > 0 ? (size_t)replicas : 0;
  config.val = second == Py_None ? NULL : ((core_source *)(void *)second)->source;
  config.calibrator = calibrator == Py_None ? NULL : core_calibrator_in(calibrator);
  const char **letters = core_utf8_list(specs, &config.spec_count);
  if (letters == NULL)
    return NULL;
  config.specs = letters;
  PyObject *made = core_report_run((core_source *)(void *)source, second, &config);
  PyMem_Free(letters);
  return made;
}
