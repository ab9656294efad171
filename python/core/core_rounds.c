/* Measuring and fitting in rounds: the coordinator, workers, and tallies. */
#include "core.h"

/* ---- the coordinator ---- */

typedef struct core_rounds_object {
  PyObject_HEAD pcal_rounds *rounds;
  core_watch *watch; /* whose environment the rounds keep */
} core_rounds_object;

static core_rounds_object *core_rounds_of(PyObject *self) {
  return (core_rounds_object *)(void *)self;
}

static void core_rounds_delete(PyObject *self) {
  core_rounds_object *object = core_rounds_of(self);
  pcal_rounds_free(object->rounds);
  core_watch_drop(object->watch);
  core_delete(self);
}

/* rounds_new(kind, columns, levels or None, specs, policy, settings) -> Rounds */
PyObject *core_rounds_new(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  int kind = 0;
  Py_ssize_t columns = 0;
  PyObject *levels, *specs, *policy, *settings;
  double numbers[PCAL_LEVELS_MAX];
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "inOOOO", &kind, &columns, &levels, &specs, &policy,
                        &settings) ||
      core_policy(policy, &config) < 0)
    return NULL;
  const Py_ssize_t level_count = core_levels(levels, numbers);
  if (level_count < 0)
    return NULL;
  PyObject *made = core_new(state->rounds_type);
  core_watch *watch = made == NULL ? NULL : core_watch_new(module, settings);
  const char **letters = watch == NULL ? NULL : core_utf8_list(specs, &config.spec_count);
  if (letters == NULL) {
    core_watch_drop(watch);
    Py_XDECREF(made);
    return NULL;
  }
  config.kind = (pcal_kind)kind;
  config.columns = (size_t)columns;
  config.levels = level_count == 0 ? NULL : numbers;
  config.specs = letters;
  core_rounds_of(made)->watch = watch;
  const pcal_status status =
      pcal_rounds_new(&config, core_watch_env(watch), &core_rounds_of(made)->rounds, &error);
  PyMem_Free(letters);
  if (status == PCAL_OK)
    return made;
  Py_DECREF(made);
  return core_raise(&error);
}

/* rounds_new_fit(method, normalize, skip_missing, settings) -> Rounds */
PyObject *core_rounds_new_fit(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  PyObject *settings;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "O&ppO", core_letters_argument, &config.method,
                        &config.normalize, &config.skip_missing, &settings))
    return NULL;
  PyObject *made = core_new(state->rounds_type);
  core_watch *watch = made == NULL ? NULL : core_watch_new(module, settings);
  if (watch == NULL) {
    Py_XDECREF(made);
    return NULL;
  }
  core_rounds_of(made)->watch = watch;
  if (pcal_rounds_new_fit(&config, core_watch_env(watch), &core_rounds_of(made)->rounds,
                          &error) == PCAL_OK)
    return made;
  Py_DECREF(made);
  return core_raise(&error);
}

/* rounds_resume(request, settings) -> Rounds */
PyObject *core_rounds_resume(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  const char *bytes;
  Py_ssize_t length = 0;
  PyObject *settings;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "y#O", &bytes, &length, &settings))
    return NULL;
  PyObject *made = core_new(state->rounds_type);
  core_watch *watch = made == NULL ? NULL : core_watch_new(module, settings);
  if (watch == NULL) {
    Py_XDECREF(made);
    return NULL;
  }
  core_rounds_of(made)->watch = watch;
  if (pcal_rounds_resume(bytes, (size_t)length, core_watch_env(watch),
                         &core_rounds_of(made)->rounds, &error) == PCAL_OK)
    return made;
  Py_DECREF(made);
  return core_raise(&error);
}

static PyObject *core_rounds_is_fit(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyBool_FromLong(pcal_rounds_is_fit(core_rounds_of(self)->rounds));
}

static PyObject *core_rounds_done(PyObject *self, PyObject *unused) {
  core_turn turn = {NULL, 0, NULL};
  (void)unused;
  if (core_turn_hold(&turn, core_rounds_of(self)->watch) < 0)
    return NULL;
  const int done = pcal_rounds_done(core_rounds_of(self)->rounds);
  core_turn_release(&turn);
  return PyBool_FromLong(done);
}

static PyObject *core_rounds_round(PyObject *self, PyObject *unused) {
  core_turn turn = {NULL, 0, NULL};
  (void)unused;
  if (core_turn_hold(&turn, core_rounds_of(self)->watch) < 0)
    return NULL;
  const unsigned number = pcal_rounds_round(core_rounds_of(self)->rounds);
  core_turn_release(&turn);
  return PyLong_FromUnsignedLong(number);
}

static PyObject *core_rounds_draws(PyObject *self, PyObject *unused) {
  core_turn turn = {NULL, 0, NULL};
  (void)unused;
  if (core_turn_hold(&turn, core_rounds_of(self)->watch) < 0)
    return NULL;
  const int draws = pcal_rounds_draws(core_rounds_of(self)->rounds);
  core_turn_release(&turn);
  return PyBool_FromLong(draws);
}

static PyObject *core_rounds_request(PyObject *self, PyObject *unused) {
  core_bytes bytes = {NULL, 0, 0};
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  (void)unused;
  if (core_turn_hold(&turn, core_rounds_of(self)->watch) < 0)
    return NULL;
  const pcal_status status =
      pcal_rounds_request(core_rounds_of(self)->rounds, core_bytes_sink, &bytes, &error);
  core_turn_release(&turn);
  return core_bytes_object(&bytes, status, &error);
}

static PyObject *core_rounds_absorb(PyObject *self, PyObject *tally) {
  core_rounds_object *object = core_rounds_of(self);
  core_turn turn = {NULL, 0, NULL};
  char *bytes = NULL;
  Py_ssize_t length = 0;
  pcal_error error;
  if (PyBytes_AsStringAndSize(tally, &bytes, &length) < 0)
    return NULL;
  pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status == PCAL_OK)
    status =
        core_turn_end(&turn, pcal_rounds_absorb(object->rounds, bytes, (size_t)length, &error));
  if (status != PCAL_OK)
    return core_raise(&error);
  Py_RETURN_NONE;
}

static PyObject *core_rounds_finish(PyObject *self, PyObject *unused) {
  core_rounds_object *object = core_rounds_of(self);
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  pcal_results *results = NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  (void)unused;
  if (state == NULL)
    return NULL;
  pcal_status status = core_turn_begin_one(&turn, object->watch, 0);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_rounds_finish(object->rounds, &results, &error));
  if (status != PCAL_OK) {
    pcal_results_free(results);
    return core_raise(&error);
  }
  return core_results_wrap(state, results, core_watch_share(object->watch));
}

static PyObject *core_rounds_calibrator(PyObject *self, PyObject *unused) {
  core_rounds_object *object = core_rounds_of(self);
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  pcal_calibrator *calibrator = NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  (void)unused;
  if (state == NULL)
    return NULL;
  pcal_status status = core_turn_begin_one(&turn, object->watch, 0);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_rounds_calibrator(object->rounds, &calibrator, &error));
  if (status != PCAL_OK) {
    pcal_calibrator_free(calibrator);
    return core_raise(&error);
  }
  return core_calibrator_wrap(state, calibrator, core_watch_share(object->watch));
}

static PyMethodDef core_rounds_methods[] = {
    {"is_fit", core_rounds_is_fit, METH_NOARGS, NULL},
    {"done", core_rounds_done, METH_NOARGS, NULL},
    {"round", core_rounds_round, METH_NOARGS, NULL},
    {"draws", core_rounds_draws, METH_NOARGS, NULL},
    {"request", core_rounds_request, METH_NOARGS, NULL},
    {"absorb", core_rounds_absorb, METH_O, NULL},
    {"finish", core_rounds_finish, METH_NOARGS, NULL},
    {"calibrator", core_rounds_calibrator, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot core_rounds_slots[] = {
    {Py_tp_dealloc, CORE_SLOT(core_rounds_delete)},
    {Py_tp_methods, core_rounds_methods},
    {0, NULL},
};

static PyType_Spec core_rounds_spec = {
    .name = "propercal._core.Rounds",
    .basicsize = sizeof(core_rounds_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = core_rounds_slots,
};

/* ---- workers ---- */

typedef struct core_rounds_worker {
  PyObject_HEAD pcal_rounds_worker *worker;
  core_watch *watch;
} core_rounds_worker;

static core_rounds_worker *core_rounds_worker_of(PyObject *self) {
  return (core_rounds_worker *)(void *)self;
}

static void core_rounds_worker_delete(PyObject *self) {
  core_rounds_worker *object = core_rounds_worker_of(self);
  pcal_rounds_worker_free(object->worker);
  core_watch_drop(object->watch);
  core_delete(self);
}

/* rounds_worker_new(request, settings) -> RoundsWorker */
PyObject *core_rounds_worker_new(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  const char *bytes;
  Py_ssize_t length = 0;
  PyObject *settings;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "y#O", &bytes, &length, &settings))
    return NULL;
  PyObject *made = core_new(state->rounds_worker_type);
  core_watch *watch = made == NULL ? NULL : core_watch_new(module, settings);
  if (watch == NULL) {
    Py_XDECREF(made);
    return NULL;
  }
  core_rounds_worker *object = core_rounds_worker_of(made);
  object->watch = watch;
  if (pcal_rounds_worker_new(bytes, (size_t)length, core_watch_env(watch), &object->worker,
                             &error) == PCAL_OK)
    return made;
  Py_DECREF(made);
  return core_raise(&error);
}

static PyObject *core_rounds_worker_update(PyObject *self, PyObject *source) {
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  const core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  if (state == NULL || !core_check(source, state->source_type, "Source") ||
      core_turn_add(&turn, core_rounds_worker_of(self)->watch) < 0 ||
      core_turn_add_source(&turn, source) < 0)
    return NULL;
  pcal_status status = core_turn_begin(&turn, 1);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_rounds_worker_update_source(
                                      core_rounds_worker_of(self)->worker,
                                      ((core_source *)(void *)source)->source, &error));
  if (status != PCAL_OK)
    return core_raise(&error);
  Py_RETURN_NONE;
}

static PyObject *core_rounds_worker_tally(PyObject *self, PyObject *unused) {
  core_rounds_worker *object = core_rounds_worker_of(self);
  core_bytes bytes = {NULL, 0, 0};
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  (void)unused;
  pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status == PCAL_OK)
    status = core_turn_end(
        &turn, pcal_rounds_worker_tally(object->worker, core_bytes_sink, &bytes, &error));
  return core_bytes_object(&bytes, status, &error);
}

static PyMethodDef core_rounds_worker_methods[] = {
    {"update", core_rounds_worker_update, METH_O, NULL},
    {"tally", core_rounds_worker_tally, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot core_rounds_worker_slots[] = {
    {Py_tp_dealloc, CORE_SLOT(core_rounds_worker_delete)},
    {Py_tp_methods, core_rounds_worker_methods},
    {0, NULL},
};

static PyType_Spec core_rounds_worker_spec = {
    .name = "propercal._core.RoundsWorker",
    .basicsize = sizeof(core_rounds_worker),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = core_rounds_worker_slots,
};

int core_rounds_add(PyObject *module, core_state *state) {
  state->rounds_type = core_type_add(module, &core_rounds_spec);
  state->rounds_worker_type = core_type_add(module, &core_rounds_worker_spec);
  return state->rounds_type == NULL || state->rounds_worker_type == NULL ? -1 : 0;
}

/* ---- tallies ---- */

/* The bytes of a tuple of bytes, to be freed with PyMem_Free; NULL with an exception. */
static pcal_bytes *core_rounds_tallies(PyObject *tuple, size_t *count) {
  const Py_ssize_t length = core_tuple(tuple) ? PyTuple_Size(tuple) : -1;
  pcal_bytes *out = length < 0 ? NULL : PyMem_Calloc((size_t)length + 1, sizeof *out);
  if (out == NULL) {
    if (length >= 0)
      PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < length; i++) {
    char *bytes = NULL;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(PyTuple_GetItem(tuple, i), &bytes, &size) < 0) {
      PyMem_Free(out);
      return NULL;
    }
    out[i] = (pcal_bytes){bytes, (size_t)size};
  }
  *count = (size_t)length;
  return out;
}

/* merge_tallies(tuple of bytes, settings) -> bytes */
PyObject *core_merge_tallies(PyObject *module, PyObject *arguments) {
  PyObject *tuple, *settings;
  core_bytes bytes = {NULL, 0, 0};
  core_turn turn = {NULL, 0, NULL};
  pcal_error error;
  size_t count = 0;
  if (!PyArg_ParseTuple(arguments, "OO", &tuple, &settings))
    return NULL;
  pcal_bytes *tallies = core_rounds_tallies(tuple, &count);
  core_watch *watch = tallies == NULL ? NULL : core_watch_new(module, settings);
  if (watch == NULL) {
    PyMem_Free(tallies);
    return NULL;
  }
  pcal_status status = core_turn_begin_one(&turn, watch, 1);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_tally_merge(tallies, count, core_watch_env(watch),
                                                   core_bytes_sink, &bytes, &error));
  PyMem_Free(tallies);
  PyObject *merged = core_bytes_object(&bytes, status, &error);
  core_watch_drop(watch);
  return merged;
}
