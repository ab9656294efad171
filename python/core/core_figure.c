/* Figures from data. */
#include <stdlib.h>

#include "core.h"

/* draw(source, figure, second or None, calibrator or None, normalize, skip_missing, interval,
 * replicas, width, height, title or None, theme) -> (svg, json) */
PyObject *core_draw(PyObject *module, PyObject *arguments) {
  core_state *state = PyModule_GetState(module);
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_figure *figure = NULL;
  PyObject *source, *second, *calibrator;
  const char *theme;
  Py_ssize_t replicas = 0;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "OsOOppdnddzz", &source, &config.figure, &second,
                        &calibrator, &config.normalize, &config.skip_missing, &config.interval,
                        &replicas, &config.width, &config.height, &config.title, &theme) ||
      !core_check(source, state->source_type, "Source") ||
      (second != Py_None && !core_check(second, state->source_type, "Source")) ||
      (calibrator != Py_None && !core_check(calibrator, state->calibrator_type, "Calibrator")))
    return NULL;
  core_source *object = (core_source *)(void *)source;
  config.replicas = replicas > 0 ? (size_t)replicas : 0;
  config.fitting = second == Py_None ? NULL : ((core_source *)(void *)second)->source;
  config.calibrator = calibrator == Py_None ? NULL : core_calibrator_in(calibrator);
  core_turn turn = {NULL, 0, NULL};
  if (core_turn_add_source(&turn, source) < 0 || core_turn_add_source(&turn, second) < 0 ||
      core_turn_begin(&turn, 1) != PCAL_OK)
    return NULL;
  pcal_status status =
      pcal_figure_run(object->source, &config, core_watch_env(object->watch), &figure, &error);
  core_bytes svg = {NULL, 0, 0}, json = {NULL, 0, 0};
  if (status == PCAL_OK)
    status = pcal_figure_svg(figure, theme, core_bytes_sink, &svg, &error);
  pcal_status told = status;
  if (status == PCAL_OK)
    told = pcal_figure_json(figure, core_bytes_sink, &json, &error);
  pcal_figure_free(figure);
  status = core_turn_end(&turn, status == PCAL_OK ? told : status);
  PyObject *first = core_bytes_text(&svg, status, &error);
  if (first == NULL) {
    free(json.block);
    return NULL;
  }
  PyObject *then = core_bytes_text(&json, status, &error);
  if (then == NULL) {
    Py_DECREF(first);
    return NULL;
  }
  return Py_BuildValue("(NN)", first, then);
}
