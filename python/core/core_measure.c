/* Measures that grow part by part. */
#include "core.h"

typedef struct core_measure_object {
  PyObject_HEAD pcal_measure *measure;
  core_watch *watch; /* whose environment the measure keeps */
} core_measure_object;

static core_measure_object *core_measure_of(PyObject *self) {
  return (core_measure_object *)(void *)self;
}

static void core_measure_delete(PyObject *self) {
  core_measure_object *object = core_measure_of(self);
  pcal_measure_free(object->measure);
  core_watch_drop(object->watch);
  core_delete(self);
}

static PyObject *core_measure_wrap(const core_state *state, pcal_measure *measure,
                                   core_watch *watch) {
  PyObject *made = core_new(state->measure_type);
  if (made == NULL) {
    pcal_measure_free(measure);
    core_watch_drop(watch);
    return NULL;
  }
  core_measure_of(made)->measure = measure;
  core_measure_of(made)->watch = watch;
  return made;
}

/* measure_new(kind, columns, levels or None, specs, policy, settings) -> Measure */
PyObject *core_measure_new(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  int kind = 0;
  Py_ssize_t columns = 0;
  PyObject *specs, *policy, *settings;
  pcal_error error;
  PyObject *levels = NULL;
  double numbers[PCAL_LEVELS_MAX];
  if (!PyArg_ParseTuple(arguments, "inOOOO", &kind, &columns, &levels, &specs, &policy,
                        &settings) ||
      core_policy(policy, &config) < 0)
    return NULL;
  const Py_ssize_t level_count = core_levels(levels, numbers);
  if (level_count < 0)
    return NULL;
  config.levels = level_count == 0 ? NULL : numbers;
  core_watch *watch = core_watch_new(module, settings);
  const char **letters = watch == NULL ? NULL : core_utf8_list(specs, &config.spec_count);
  if (letters == NULL) {
    core_watch_drop(watch);
    return NULL;
  }
  config.kind = (pcal_kind)kind;
  config.columns = (size_t)columns;
  config.specs = letters;
  const pcal_status status = pcal_measure_new(&config, core_watch_env(watch), &measure, &error);
  PyMem_Free(letters);
  if (status == PCAL_OK)
    return core_measure_wrap(state, measure, watch);
  core_watch_drop(watch);
  return core_raise(&error);
}

/* measure_part(source, specs, policy) -> Measure */
PyObject *core_measure_part(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  PyObject *source, *specs, *policy;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "OOO", &source, &specs, &policy) ||
      core_policy(policy, &config) < 0 || !core_check(source, state->source_type, "Source"))
    return NULL;
  const char **letters = core_utf8_list(specs, &config.spec_count);
  if (letters == NULL)
    return NULL;
  core_source *object = (core_source *)(void *)source;
  config.specs = letters;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_measure_from_source(object->source, &config,
                                                           core_watch_env(object->watch),
                                                           &measure, &error));
  PyMem_Free(letters);
  if (status != PCAL_OK) {
    pcal_measure_free(measure);
    return core_raise(&error);
  }
  return core_measure_wrap(state, measure, core_watch_share(object->watch));
}

/* measure_load(bytes, name, settings) -> Measure */
PyObject *core_measure_load(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_measure *measure = NULL;
  const char *bytes, *name;
  PyObject *settings;
  Py_ssize_t length = 0;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "y#O&O", &bytes, &length, core_letters_argument, &name,
                        &settings))
    return NULL;
  core_watch *watch = core_watch_new(module, settings);
  if (watch == NULL)
    return NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, watch, 1);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_measure_load(bytes, (size_t)length, name,
                                                    core_watch_env(watch), &measure, &error));
  if (status == PCAL_OK)
    return core_measure_wrap(state, measure, watch);
  pcal_measure_free(measure);
  core_watch_drop(watch);
  return core_raise(&error);
}

static PyObject *core_measure_merge(PyObject *self, PyObject *other) {
  core_measure_object *object = core_measure_of(self);
  pcal_error error;
  if (!core_check(other, (PyObject *)Py_TYPE(self), "Measure"))
    return NULL;
  core_turn turn = {NULL, 0, NULL};
  if (core_turn_add(&turn, object->watch) < 0 ||
      core_turn_add(&turn, core_measure_of(other)->watch) < 0)
    return NULL;
  pcal_status status = core_turn_begin(&turn, 1);
  if (status == PCAL_OK)
    status = core_turn_end(
        &turn, pcal_measure_merge(object->measure, core_measure_of(other)->measure, &error));
  if (status != PCAL_OK)
    return core_raise(&error);
  Py_RETURN_NONE;
}

static PyObject *core_measure_finish(PyObject *self, PyObject *unused) {
  core_measure_object *object = core_measure_of(self);
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  pcal_results *results = NULL;
  pcal_error error;
  (void)unused;
  if (state == NULL)
    return NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, object->watch, 0);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_measure_finish(object->measure, &results, &error));
  if (status != PCAL_OK) {
    pcal_results_free(results);
    return core_raise(&error);
  }
  return core_results_wrap(state, results, core_watch_share(object->watch));
}

static PyObject *core_measure_save(PyObject *self, PyObject *unused) {
  core_measure_object *object = core_measure_of(self);
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  (void)unused;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, object->watch, 0);
  if (status == PCAL_OK)
    status = core_turn_end(&turn,
                           pcal_measure_save(object->measure, core_bytes_sink, &bytes, &error));
  return core_bytes_object(&bytes, status, &error);
}

static PyObject *core_measure_describe(PyObject *self, PyObject *unused) {
  core_bytes bytes = {NULL, 0, 0};
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  (void)unused;
  if (core_turn_hold(&turn, core_measure_of(self)->watch) < 0)
    return NULL;
  const pcal_status status =
      pcal_measure_describe(core_measure_of(self)->measure, core_bytes_sink, &bytes, &error);
  core_turn_release(&turn);
  return core_bytes_text(&bytes, status, &error);
}

static PyMethodDef core_measure_methods[] = {
    {"merge", core_measure_merge, METH_O, NULL},
    {"finish", core_measure_finish, METH_NOARGS, NULL},
    {"save", core_measure_save, METH_NOARGS, NULL},
    {"describe", core_measure_describe, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot core_measure_slots[] = {
    {Py_tp_dealloc, CORE_SLOT(core_measure_delete)},
    {Py_tp_methods, core_measure_methods},
    {0, NULL},
};

static PyType_Spec core_measure_spec = {
    .name = "propercal._core.Measure",
    .basicsize = sizeof(core_measure_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = core_measure_slots,
};

int core_measure_add(PyObject *module, core_state *state) {
  state->measure_type = core_type_add(module, &core_measure_spec);
  return state->measure_type == NULL ? -1 : 0;
}
