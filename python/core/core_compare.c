/* Comparisons of calibrators and models. */
#include "core.h"

/* (name or None, Source, Source or None) */
static int core_compare_model(const core_state *state, PyObject *given, pcal_model *out) {
  PyObject *source, *val;
  *out = (pcal_model)PCAL_MODEL_INIT;
  if (!core_tuple(given) ||
      !PyArg_ParseTuple(given, "O&OO", core_letters_or_none, &out->name, &source, &val) ||
      !core_check(source, state->source_type, "Source") ||
      (val != Py_None && !core_check(val, state->source_type, "Source")))
    return -1;
  out->source = ((core_source *)(void *)source)->source;
  if (val != Py_None)
    out->val = ((core_source *)(void *)val)->source;
  return 0;
}

pcal_model *core_compare_models(const core_state *state, PyObject *given, size_t *count) {
  *count = (size_t)PyTuple_Size(given);
  pcal_model *models = PyMem_Malloc((*count + 1) * sizeof *models);
  if (models == NULL)
    return (pcal_model *)PyErr_NoMemory();
  for (size_t i = 0; i < *count; i++)
    if (core_compare_model(state, PyTuple_GetItem(given, (Py_ssize_t)i), &models[i]) < 0) {
      PyMem_Free(models);
      return NULL;
    }
  return models;
}

static PyObject *core_compare_text(const pcal_comparison *comparison, pcal_format format) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  const pcal_status status =
      pcal_comparison_write(comparison, format, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_compare_calibrator(const pcal_comparison *comparison) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  const pcal_status status = pcal_calibrator_save(pcal_comparison_calibrator(comparison),
                                                  core_bytes_sink, &bytes, &error);
  return core_bytes_object(&bytes, status, &error);
}

int core_compare_turn(core_turn *turn, PyObject *given) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(given); i++) {
    PyObject *model = PyTuple_GetItem(given, i);
    if (core_turn_add_source(turn, PyTuple_GetItem(model, 1)) < 0 ||
        core_turn_add_source(turn, PyTuple_GetItem(model, 2)) < 0)
      return -1;
  }
  return 0;
}

static PyObject *core_compare_run(const pcal_model *models, size_t count, PyObject *given,
                                  core_watch *watch, const pcal_compare_config *config) {
  pcal_comparison *comparison = NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  if (core_compare_turn(&turn, given) < 0)
    return NULL;
  pcal_status status = core_turn_begin(&turn, 1);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_compare_run(models, count, config, core_watch_env(watch),
                                                   &comparison, &error));
  if (status != PCAL_OK) {
    pcal_comparison_free(comparison);
    return core_raise(&error);
  }
  PyObject *made = Py_BuildValue(
      "(NNNNN)", core_compare_text(comparison, PCAL_TEXT),
      core_compare_text(comparison, PCAL_JSON), core_compare_calibrator(comparison),
      core_compare_text(comparison, PCAL_LATEX), core_compare_text(comparison, PCAL_CSV));
  pcal_comparison_free(comparison);
  return made;
}

/* compare(models, methods, specs, by or None, folds, interval, replicas, normalize,
 * skip_missing, budget) -> (text, JSON, bytes of the chosen calibrator, LaTeX, CSV); each model is
 * (name or None, Source, Source to fit on or None) */
PyObject *core_compare(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  PyObject *given, *methods, *specs;
  Py_ssize_t folds = 0, replicas = 0;
  if (!PyArg_ParseTuple(arguments, "O!O!O!O&ndnppd", &PyTuple_Type, &given, &PyTuple_Type,
                        &methods, &PyTuple_Type, &specs, core_letters_or_none, &config.by,
                        &folds, &config.interval, &replicas, &config.normalize,
                        &config.skip_missing, &config.budget))
    return NULL;
  if (folds < 0 || replicas < 0 || PyTuple_Size(given) < 1) {
    PyErr_SetString(PyExc_ValueError,
                    "a comparison needs models, and counts must not be negative");
    return NULL;
  }
  config.folds = (size_t)folds;
  config.replicas = (size_t)replicas;
  size_t count = 0;
  const char **method_letters = core_utf8_list(methods, &config.method_count);
  const char **spec_letters =
      method_letters == NULL ? NULL : core_utf8_list(specs, &config.spec_count);
  pcal_model *models = spec_letters == NULL ? NULL : core_compare_models(state, given, &count);
  PyObject *made = NULL;
  if (models != NULL) {
    const core_source *first =
        (core_source *)(void *)PyTuple_GetItem(PyTuple_GetItem(given, 0), 1);
    config.methods = method_letters;
    config.specs = spec_letters;
    made = core_compare_run(models, count, given, first->watch, &config);
  }
  PyMem_Free(models);
  PyMem_Free(spec_letters);
  PyMem_Free(method_letters);
  return made;
}
