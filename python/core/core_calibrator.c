/* Calibrators: fitting, applying, files. */
#include <string.h>

#include "core.h"

typedef struct core_calibrator_object {
  PyObject_HEAD pcal_calibrator *calibrator;
  core_watch *watch; /* whose environment the calibrator keeps, or NULL */
} core_calibrator_object;

static core_calibrator_object *core_calibrator_of(PyObject *self) {
  return (core_calibrator_object *)(void *)self;
}

const pcal_calibrator *core_calibrator_in(PyObject *self) {
  return core_calibrator_of(self)->calibrator;
}

static void core_calibrator_delete(PyObject *self) {
  core_calibrator_object *object = core_calibrator_of(self);
  pcal_calibrator_free(object->calibrator);
  core_watch_drop(object->watch);
  core_delete(self);
}

PyObject *core_calibrator_wrap(core_state *state, pcal_calibrator *calibrator,
                               core_watch *watch) {
  PyObject *made = core_new(state->calibrator_type);
  if (made == NULL) {
    pcal_calibrator_free(calibrator);
    core_watch_drop(watch);
    return NULL;
  }
  core_calibrator_of(made)->calibrator = calibrator;
  core_calibrator_of(made)->watch = watch;
  return made;
}

/* fit(source, method, normalize, skip_missing, by_group) -> Calibrator */
PyObject *core_fit(PyObject *module, PyObject *arguments) {
  core_state *state = PyModule_GetState(module);
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  PyObject *source;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "OO&ppp", &source, core_letters_argument, &config.method,
                        &config.normalize, &config.skip_missing, &config.by_group) ||
      !core_check(source, state->source_type, "Source"))
    return NULL;
  core_source *object = (core_source *)(void *)source;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status == PCAL_OK)
    status =
        core_turn_end(&turn, pcal_fit_run(object->source, &config,
                                          core_watch_env(object->watch), &calibrator, &error));
  if (status != PCAL_OK) {
    pcal_calibrator_free(calibrator);
    return core_raise(&error);
  }
  return core_calibrator_wrap(state, calibrator, core_watch_share(object->watch));
}

/* load(bytes, name, memory limit in bytes) -> Calibrator */
PyObject *core_load(PyObject *module, PyObject *arguments) {
  core_state *state = PyModule_GetState(module);
  pcal_calibrator *calibrator = NULL;
  const char *bytes, *name;
  Py_ssize_t length = 0;
  unsigned long long limit = 0;
  pcal_env env = PCAL_ENV_INIT;
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "y#O&K", &bytes, &length, core_letters_argument, &name,
                        &limit))
    return NULL;
  env.memory_limit = limit;
  env.caller = PCAL_INTERFACE_PYTHON;
  if (pcal_calibrator_load(bytes, (size_t)length, name, &env, &calibrator, &error) != PCAL_OK)
    return core_raise(&error);
  return core_calibrator_wrap(state, calibrator, NULL);
}

static PyObject *core_calibrator_describe(PyObject *self, PyObject *format) {
  const long number = PyLong_AsLong(format);
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (number == -1 && PyErr_Occurred() != NULL)
    return NULL;
  const pcal_status status = pcal_calibrator_describe(
      core_calibrator_in(self), (pcal_format)number, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_calibrator_save(PyObject *self, PyObject *unused) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  (void)unused;
  const pcal_status status =
      pcal_calibrator_save(core_calibrator_in(self), core_bytes_sink, &bytes, &error);
  return core_bytes_object(&bytes, status, &error);
}

/* export(to, name) -> bytes */
static PyObject *core_calibrator_export(PyObject *self, PyObject *arguments) {
  const char *to, *name;
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "O&O&", core_letters_argument, &to, core_letters_argument,
                        &name))
    return NULL;
  const pcal_status status = pcal_calibrator_export(core_calibrator_in(self),
                                                    strcmp(to, "c") == 0 ? PCAL_C : PCAL_ONNX,
                                                    name, core_bytes_sink, &bytes, &error);
  return core_bytes_object(&bytes, status, &error);
}

/* ---- Applying ---- */

#define CORE_CALIBRATOR_NPY_HEAD 10 /* bytes before the text of an npy header */

/* Collects the values of the npy file that pcal_calibrator_apply_source writes. */
typedef struct core_calibrator_output {
  core_watch *watch;
  unsigned char head[CORE_CALIBRATOR_NPY_HEAD];
  size_t header, seen; /* bytes of the npy header, and those that came */
  PyObject *values;    /* a bytearray */
  char *bytes;         /* its content */
  size_t length, capacity;
} core_calibrator_output;

/* Skips bytes of the npy header, whose length stands in bytes 8 and 9; returns how many. */
static size_t core_calibrator_skip(core_calibrator_output *output, const char *from,
                                   size_t count) {
  size_t used = 0;
  while (used < count && output->seen < output->header) {
    if (output->seen < CORE_CALIBRATOR_NPY_HEAD)
      output->head[output->seen] = (unsigned char)from[used];
    used++;
    if (++output->seen == CORE_CALIBRATOR_NPY_HEAD)
      output->header += output->head[8] + 256u * output->head[9];
  }
  return used;
}

/* Makes room for bytes that come without the interpreter lock. */
static int core_calibrator_grow(core_calibrator_output *output, size_t wanted) {
  if (wanted <= output->capacity)
    return 0;
  const size_t capacity = wanted > 2 * output->capacity ? wanted : 2 * output->capacity;
  core_watch_take(output->watch);
  const int failed = PyByteArray_Resize(output->values, (Py_ssize_t)capacity);
  output->bytes = PyByteArray_AsString(output->values);
  core_watch_leave(output->watch);
  output->capacity = failed < 0 ? output->capacity : capacity;
  return failed;
}

static int core_calibrator_sink(void *user, const char *from, size_t count) {
  core_calibrator_output *output = user;
  const size_t skipped = core_calibrator_skip(output, from, count), left = count - skipped;
  if (core_calibrator_grow(output, output->length + left) < 0)
    return 1;
  memcpy(output->bytes + output->length, from + skipped, left);
  output->length += left;
  return 0;
}

static size_t core_calibrator_width(const pcal_shape *shape) {
  return shape->type == PCAL_F32 ? sizeof(float) : sizeof(double);
}

/* Applies to all rows, in memory that is allocated at once if their number is known. */
static pcal_status core_calibrator_run(const pcal_calibrator *calibrator, core_source *source,
                                       const pcal_shape *shape, core_calibrator_output *output,
                                       pcal_error *error) {
  const size_t row_size =
      pcal_calibrator_column_count(calibrator) * core_calibrator_width(shape);
  if (shape->row_count <= (size_t)PY_SSIZE_T_MAX / row_size)
    core_calibrator_grow(output, (size_t)shape->row_count * row_size);
  return pcal_calibrator_apply_source(calibrator, source->source, PCAL_NPY,
                                      core_watch_env(source->watch), core_calibrator_sink,
                                      output, error);
}

/* apply(source) -> (bytearray, type, rows, columns), little-endian; columns 0: one dimension */
static PyObject *core_calibrator_apply(PyObject *self, PyObject *source) {
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  const core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  pcal_error error;
  if (state == NULL || !core_check(source, state->source_type, "Source"))
    return NULL;
  core_source *object = (core_source *)(void *)source;
  core_calibrator_output output = {.watch = object->watch,
                                   .header = CORE_CALIBRATOR_NPY_HEAD,
                                   .values = PyByteArray_FromStringAndSize(NULL, 0)};
  if (output.values == NULL)
    return NULL;
  const size_t columns = pcal_calibrator_column_count(core_calibrator_in(self));
  pcal_shape shape = PCAL_SHAPE_INIT;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status == PCAL_OK) {
    pcal_source_get_shape(object->source, &shape);
    status = core_calibrator_run(core_calibrator_in(self), object, &shape, &output, &error);
    status = core_turn_end(&turn, status);
  }
  const size_t row_size = columns * core_calibrator_width(&shape);
  if (status != PCAL_OK || PyByteArray_Resize(output.values, (Py_ssize_t)output.length) < 0) {
    Py_DECREF(output.values);
    return status != PCAL_OK ? core_raise(&error) : NULL;
  }
  return Py_BuildValue("(NCnn)", output.values, shape.type == PCAL_F32 ? 'f' : 'd',
                       (Py_ssize_t)(output.length / row_size),
                       (Py_ssize_t)(columns == 1 ? 0 : columns));
}

/* unseen_groups(source) -> names of groups of a source that was read which the fit did not have */
static PyObject *core_calibrator_unseen_groups(PyObject *self, PyObject *source) {
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  const core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  if (state == NULL || !core_check(source, state->source_type, "Source"))
    return NULL;
  core_source *object = (core_source *)(void *)source;
  const pcal_calibrator *calibrator = core_calibrator_in(self);
  pcal_shape shape = PCAL_SHAPE_INIT;
  core_turn turn = {NULL, 0, NULL};
  if (core_turn_hold(&turn, object->watch) < 0)
    return NULL;
  PyObject *names = PyList_New(0);
  pcal_source_get_shape(object->source, &shape);
  if (pcal_calibrator_group_count(calibrator) == 0) /* groups do not matter */
    shape.group_count = 0;
  for (size_t g = 0; names != NULL && g < shape.group_count; g++) {
    const char *name = shape.group_names[g];
    const char *known =
        pcal_calibrator_group_name(calibrator, pcal_calibrator_find_group(calibrator, name));
    if (known != NULL && strcmp(known, name) == 0)
      continue;
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    if (text == NULL || PyList_Append(names, text) < 0)
      Py_CLEAR(names);
    Py_XDECREF(text);
  }
  core_turn_release(&turn);
  return names;
}

/* apply_on_gpu(address, "f4" or "f8", rows, columns, stream, out): calibrates logits on a GPU
 * into memory of the same GPU and shape.  False: not possible; then apply says why. */
static PyObject *core_calibrator_apply_on_gpu(PyObject *self, PyObject *arguments) {
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  unsigned long long address, stream, out;
  Py_ssize_t rows, columns;
  const char *type;
  if (state == NULL ||
      !PyArg_ParseTuple(arguments, "KsnnKK", &address, &type, &rows, &columns, &stream, &out))
    return NULL;
  const pcal_calibrator *calibrator = core_calibrator_in(self);
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_error error = PCAL_ERROR_INIT;
  env.caller = PCAL_INTERFACE_PYTHON;
  batch.kind = PCAL_LOGIT;
  batch.type = strcmp(type, "f4") == 0 ? PCAL_F32 : PCAL_F64;
  batch.rows = (size_t)rows;
  batch.columns = (size_t)columns;
  batch.scores = (const void *)(uintptr_t)address;
  batch.stream = (void *)(uintptr_t)stream;
  batch.device = core_device_of(state, batch.scores, &error);
  if (batch.device == NULL)
    return core_raise(&error);
  if (pcal_calibrator_column_count(calibrator) != batch.columns)
    Py_RETURN_FALSE;
  PyThreadState *saved = PyEval_SaveThread();
  const pcal_status status =
      pcal_calibrator_apply(calibrator, &batch, &env, (void *)(uintptr_t)out, &error);
  PyEval_RestoreThread(saved);
  if (status != PCAL_OK && status != PCAL_DATA)
    return core_raise(&error);
  return PyBool_FromLong(status == PCAL_OK);
}

static PyMethodDef core_calibrator_methods[] = {
    {"describe", core_calibrator_describe, METH_O, NULL},
    {"save", core_calibrator_save, METH_NOARGS, NULL},
    {"export", core_calibrator_export, METH_VARARGS, NULL},
    {"apply", core_calibrator_apply, METH_O, NULL},
    {"unseen_groups", core_calibrator_unseen_groups, METH_O, NULL},
    {"apply_on_gpu", core_calibrator_apply_on_gpu, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot core_calibrator_slots[] = {
    {Py_tp_dealloc, CORE_SLOT(core_calibrator_delete)},
    {Py_tp_methods, core_calibrator_methods},
    {0, NULL},
};

static PyType_Spec core_calibrator_spec = {
    .name = "propercal._core.Calibrator",
    .basicsize = sizeof(core_calibrator_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = core_calibrator_slots,
};

int core_calibrator_add(PyObject *module, core_state *state) {
  state->calibrator_type = core_type_add(module, &core_calibrator_spec);
  return state->calibrator_type == NULL ? -1 : 0;
}
