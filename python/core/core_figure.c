/* Figures from data. */
#include <stdlib.h>

#include "core.h"

/* draw(models, figure, second or None, calibrator or None, normalize, skip_missing, interval,
 * replicas, width, height, title or None, theme) -> (svg, json); models as in compare, one of
 * them without a name where the figure is of one */
PyObject *core_draw(PyObject *module, PyObject *arguments) {
  core_state *state = PyModule_GetState(module);
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_figure *figure = NULL;
  PyObject *given, *second, *calibrator;
  const char *theme;
  pcal_theme colours = PCAL_THEME_AUTO;
  Py_ssize_t replicas = 0;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "O!O&OOppdnddO&O&", &PyTuple_Type, &given,
                        core_letters_argument, &config.figure, &second, &calibrator,
                        &config.normalize, &config.skip_missing, &config.interval, &replicas,
                        &config.width, &config.height, core_letters_or_none, &config.title,
                        core_letters_or_none, &theme) ||
      (second != Py_None && !core_check(second, state->source_type, "Source")) ||
      (calibrator != Py_None && !core_check(calibrator, state->calibrator_type, "Calibrator")))
    return NULL;
  size_t count = 0;
  pcal_model *models = core_compare_models(state, given, &count);
  if (models == NULL)
    return NULL;
  if (count < 1) {
    PyMem_Free(models);
    PyErr_SetString(PyExc_ValueError, "a figure needs predictions");
    return NULL;
  }
  const core_source *leader =
      (core_source *)(void *)PyTuple_GetItem(PyTuple_GetItem(given, 0), 1);
  const int several = models[0].name != NULL;
  config.replicas = replicas > 0 ? (size_t)replicas : 0;
  config.val = second == Py_None ? NULL : ((core_source *)(void *)second)->source;
  config.calibrator = calibrator == Py_None ? NULL : core_calibrator_in(calibrator);
  config.models = several ? models : NULL;
  config.model_count = several ? count : 0;
  core_turn turn = {NULL, 0, NULL};
  if (core_compare_turn(&turn, given) < 0 || core_turn_add_source(&turn, second) < 0 ||
      core_turn_begin(&turn, 1) != PCAL_OK) {
    PyMem_Free(models);
    return NULL;
  }
  pcal_status status = pcal_figure_run(several ? NULL : models[0].source, &config,
                                       core_watch_env(leader->watch), &figure, &error);
  core_bytes svg = {NULL, 0, 0}, json = {NULL, 0, 0};
  if (status == PCAL_OK)
    status = pcal_theme_parse(theme, &colours, &error);
  if (status == PCAL_OK)
    status = pcal_figure_write(figure, PCAL_SVG, colours, core_bytes_sink, &svg, &error);
  if (status == PCAL_OK)
    status = pcal_figure_write(figure, PCAL_JSON, colours, core_bytes_sink, &json, &error);
  pcal_figure_free(figure);
  status = core_turn_end(&turn, status);
  PyMem_Free(models);
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
