/* Measuring, and results. */
#include "core.h"

typedef struct core_results_object {
  PyObject_HEAD pcal_results *results;
  core_watch *watch; /* whose environment the results keep */
} core_results_object;

static core_results_object *core_results_of(PyObject *self) {
  return (core_results_object *)(void *)self;
}

static const pcal_results *core_results_in(PyObject *self) {
  return core_results_of(self)->results;
}

static void core_results_delete(PyObject *self) {
  core_results_object *object = core_results_of(self);
  pcal_results_free(object->results);
  core_watch_drop(object->watch);
  core_delete(self);
}

PyObject *core_results_wrap(core_state *state, pcal_results *results, core_watch *watch) {
  PyObject *made = core_new(state->results_type);
  if (made == NULL) {
    pcal_results_free(results);
    core_watch_drop(watch);
    return NULL;
  }
  core_results_of(made)->results = results;
  core_results_of(made)->watch = watch;
  return made;
}

/* measure(source, specs, normalize, skip_missing, fast) -> Results */
PyObject *core_measure(PyObject *module, PyObject *arguments) {
  core_state *state = PyModule_GetState(module);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  PyObject *source, *specs;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "OOppp", &source, &specs, &config.normalize,
                        &config.skip_missing, &config.fast) ||
      !core_check(source, state->source_type, "Source"))
    return NULL;
  const char **letters = core_letters_of(specs, &config.spec_count);
  if (letters == NULL)
    return NULL;
  core_source *object = (core_source *)(void *)source;
  config.specs = letters;
  core_watch_begin(object->watch);
  const pcal_status status = pcal_measure_run(object->source, &config,
                                              core_watch_env(object->watch), &results, &error);
  core_watch_end(object->watch);
  PyMem_Free(letters);
  if (status != PCAL_OK)
    return core_raise(&error);
  return core_results_wrap(state, results, core_watch_share(object->watch));
}

/* ---- Single results ---- */

static PyObject *core_results_parts(const pcal_result *result) {
  PyObject *parts = PyDict_New();
  for (size_t i = 0; parts != NULL && i < result->part_count; i++) {
    PyObject *value = PyFloat_FromDouble(result->parts[i].value);
    if (value == NULL || PyDict_SetItemString(parts, result->parts[i].name, value) < 0)
      Py_CLEAR(parts);
    Py_XDECREF(value);
  }
  return parts;
}

/* (metric, spec, label, group, defined, value, why, notion, bound, parts, p_value or None) */
static PyObject *core_results_tuple(const pcal_result *result) {
  return Py_BuildValue("(NNNNNdNNNNN)", core_text(result->metric), core_text(result->spec),
                       core_text(result->label), core_text(result->group),
                       PyBool_FromLong(result->defined), result->value, core_text(result->why),
                       core_text(result->notion), core_text(result->bound),
                       core_results_parts(result),
                       result->tested ? PyFloat_FromDouble(result->p_value) : core_text(NULL));
}

static PyObject *core_results_all(PyObject *self, PyObject *unused) {
  const pcal_results *results = core_results_in(self);
  PyObject *all = PyList_New(0);
  (void)unused;
  for (size_t i = 0; all != NULL && i < pcal_results_count(results); i++) {
    pcal_result result = PCAL_RESULT_INIT;
    pcal_results_get(results, i, &result);
    PyObject *one = core_results_tuple(&result);
    if (one == NULL || PyList_Append(all, one) < 0)
      Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

static PyObject *core_results_find(PyObject *self, PyObject *spec) {
  const char *letters = core_letters(spec);
  pcal_result result = PCAL_RESULT_INIT;
  pcal_error error;
  if (letters == NULL)
    return NULL;
  if (pcal_results_find(core_results_in(self), letters, &result, &error) != PCAL_OK)
    return core_raise(&error);
  return core_results_tuple(&result);
}

static PyObject *core_results_first(PyObject *self, PyObject *unused) {
  pcal_result result = PCAL_RESULT_INIT;
  (void)unused;
  pcal_results_get(core_results_in(self), 0, &result);
  return Py_BuildValue("(NdN)", PyBool_FromLong(result.defined), result.value,
                       core_text(result.why));
}

/* ---- All together ---- */

static PyObject *core_results_write(PyObject *self, PyObject *format) {
  const long number = PyLong_AsLong(format);
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (number == -1 && PyErr_Occurred() != NULL)
    return NULL;
  const pcal_status status = pcal_results_write(core_results_in(self), (pcal_format)number,
                                                core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_results_figure(PyObject *self, PyObject *name) {
  const char *letters = core_letters(name);
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (letters == NULL)
    return NULL;
  const pcal_status status =
      pcal_figure_write(core_results_in(self), letters, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_results_figure_data(PyObject *self, PyObject *name) {
  const char *letters = core_letters(name);
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (letters == NULL)
    return NULL;
  const pcal_status status =
      pcal_figure_describe(core_results_in(self), letters, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_results_bins(PyObject *self, PyObject *unused) {
  size_t count = 0;
  const pcal_bin *bins = pcal_results_bins(core_results_in(self), &count);
  PyObject *all = PyList_New(0);
  (void)unused;
  for (size_t i = 0; all != NULL && i < count; i++) {
    PyObject *one = Py_BuildValue("(ddddd)", bins[i].low, bins[i].high, bins[i].weight,
                                  bins[i].confidence, bins[i].frequency);
    if (one == NULL || PyList_Append(all, one) < 0)
      Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

static PyObject *core_results_verdict(PyObject *self, PyObject *unused) {
  (void)unused;
  return core_text(pcal_results_verdict(core_results_in(self)));
}

static PyMethodDef core_results_methods[] = {
    {"all", core_results_all, METH_NOARGS, NULL},
    {"first", core_results_first, METH_NOARGS, NULL},
    {"find", core_results_find, METH_O, NULL},
    {"write", core_results_write, METH_O, NULL},
    {"figure", core_results_figure, METH_O, NULL},
    {"figure_data", core_results_figure_data, METH_O, NULL},
    {"bins", core_results_bins, METH_NOARGS, NULL},
    {"verdict", core_results_verdict, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot core_results_slots[] = {
    {Py_tp_dealloc, CORE_SLOT(core_results_delete)},
    {Py_tp_methods, core_results_methods},
    {0, NULL},
};

static PyType_Spec core_results_spec = {
    .name = "propercal._core.Results",
    .basicsize = sizeof(core_results_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = core_results_slots,
};

int core_results_add(PyObject *module, core_state *state) {
  state->results_type = core_type_add(module, &core_results_spec);
  return state->results_type == NULL ? -1 : 0;
}
