/* Studies. */
#include <stdlib.h>

#include "core.h"

/* Words and numbers of a configuration; everything is borrowed until it is freed. */
typedef struct core_study_lists {
  const char **methods, **specs;
  uint64_t *rows;
  double *factors;
  pcal_model *models;
} core_study_lists;

static void core_study_free(core_study_lists *lists) {
  PyMem_Free(lists->methods);
  PyMem_Free(lists->specs);
  PyMem_Free(lists->rows);
  PyMem_Free(lists->factors);
  PyMem_Free(lists->models);
}

/* The numbers of a tuple; NULL with an exception. */
static double *core_study_numbers(PyObject *given, size_t *count) {
  *count = (size_t)PyTuple_Size(given);
  double *numbers = PyMem_Malloc((*count + 1) * sizeof *numbers);
  if (numbers == NULL)
    return (double *)PyErr_NoMemory();
  for (size_t i = 0; i < *count; i++) {
    numbers[i] = PyFloat_AsDouble(PyTuple_GetItem(given, (Py_ssize_t)i));
    if (PyErr_Occurred()) {
      PyMem_Free(numbers);
      return NULL;
    }
  }
  return numbers;
}

static uint64_t *core_study_counts(PyObject *given, size_t *count) {
  double *numbers = core_study_numbers(given, count);
  uint64_t *counts = numbers == NULL ? NULL : PyMem_Malloc((*count + 1) * sizeof *counts);
  for (size_t i = 0; counts != NULL && i < *count; i++)
    counts[i] = numbers[i] >= 1 && numbers[i] < 1e15 ? (uint64_t)numbers[i] : 0;
  PyMem_Free(numbers);
  return counts != NULL || PyErr_Occurred() ? counts : (uint64_t *)PyErr_NoMemory();
}

static PyObject *core_study_text(const pcal_study *study, pcal_format format) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  const pcal_status status = pcal_study_write(study, format, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_study_table(const pcal_study *study, size_t index) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  const pcal_status status =
      pcal_study_table_write(study, index, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

/* [(name, CSV), ...] */
static PyObject *core_study_tables(const pcal_study *study) {
  PyObject *all = PyList_New(0);
  const char *name;
  for (size_t i = 0; all != NULL && (name = pcal_study_table_name(study, i)) != NULL; i++) {
    PyObject *one = Py_BuildValue("(sN)", name, core_study_table(study, i));
    if (one == NULL || PyList_Append(all, one) < 0)
      Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

/* "" where a study has no figure. */
static PyObject *core_study_drawing(const pcal_figure *figure, int json) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (figure == NULL)
    return PyUnicode_FromString("");
  const pcal_status status = pcal_figure_write(
      figure, json ? PCAL_JSON : PCAL_SVG, PCAL_THEME_AUTO, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_study_run(const char *spec, const pcal_study_config *config,
                                core_watch *watch, PyObject *models, PyObject *features) {
  pcal_study *study = NULL;
  pcal_figure *figure = NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  if (core_turn_add(&turn, watch) < 0 || core_compare_turn(&turn, models) < 0 ||
      core_turn_add_source(&turn, features) < 0 || core_turn_begin(&turn, 1) != PCAL_OK)
    return NULL;
  pcal_status status = pcal_study_run(spec, config, core_watch_env(watch), &study, &error);
  if (status == PCAL_OK && pcal_figure_from_study(study, NULL, &figure, NULL) != PCAL_OK)
    figure = NULL;
  status = core_turn_end(&turn, status);
  PyObject *made =
      status != PCAL_OK
          ? core_raise(&error)
          : Py_BuildValue("(NNNNNN)", core_study_text(study, PCAL_TEXT),
                          core_study_text(study, PCAL_JSON), core_study_drawing(figure, 0),
                          core_study_drawing(figure, 1), core_study_text(study, PCAL_LATEX),
                          core_study_tables(study));
  pcal_figure_free(figure);
  pcal_study_free(study);
  return made;
}

static int core_study_read(PyObject *module, PyObject *const given[5], core_study_lists *lists,
                           pcal_study_config *config) {
  const core_state *state = PyModule_GetState(module);
  if ((lists->models = core_compare_models(state, given[0], &config->model_count)) == NULL ||
      (lists->methods = core_utf8_list(given[1], &config->method_count)) == NULL ||
      (lists->specs = core_utf8_list(given[2], &config->spec_count)) == NULL ||
      (lists->rows = core_study_counts(given[3], &config->row_count_count)) == NULL ||
      (lists->factors = core_study_numbers(given[4], &config->factor_count)) == NULL)
    return -1;
  config->models = lists->models;
  config->methods = lists->methods;
  config->specs = lists->specs;
  config->row_counts = lists->rows;
  config->factors = lists->factors;
  config->simulation.rows = config->row_count_count > 0 ? lists->rows[0] : 0;
  config->simulation.factor = config->factor_count > 0 ? lists->factors[0] : 0.0;
  return 0;
}

/* study(spec, models, features or None, methods, specs, rows, factors, classes, sets,
 * null_sets, repeats, interval, replicas, normalize, skip_missing, settings) -> (text, JSON,
 * SVG, JSON of the figure, LaTeX, [(name, CSV), ...]); models as in compare */
PyObject *core_study(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  core_study_lists lists = {NULL, NULL, NULL, NULL, NULL};
  PyObject *given[5], *features, *settings;
  const char *spec;
  Py_ssize_t classes = 0, replicas = 0;
  unsigned long long sets = 0, null_sets = 0, repeats = 0;
  if (!PyArg_ParseTuple(arguments, "O&O!OO!O!O!O!nKKKdnppO", core_letters_argument, &spec,
                        &PyTuple_Type, &given[0], &features, &PyTuple_Type, &given[1],
                        &PyTuple_Type, &given[2], &PyTuple_Type, &given[3], &PyTuple_Type,
                        &given[4], &classes, &sets, &null_sets, &repeats, &config.interval,
                        &replicas, &config.normalize, &config.skip_missing, &settings) ||
      (features != Py_None && !core_check(features, state->source_type, "Source")))
    return NULL;
  config.simulation.classes = classes > 0 ? (size_t)classes : 0;
  config.sets = sets;
  config.null_sets = null_sets;
  config.repeats = repeats;
  config.replicas = replicas > 0 ? (size_t)replicas : 0;
  if (features != Py_None)
    config.features = ((core_source *)(void *)features)->source;
  core_watch *watch = core_watch_new(module, settings);
  PyObject *made = NULL;
  if (watch != NULL && core_study_read(module, given, &lists, &config) == 0)
    made = core_study_run(spec, &config, watch, given[0], features);
  if (watch != NULL)
    core_watch_drop(watch);
  core_study_free(&lists);
  return made;
}
