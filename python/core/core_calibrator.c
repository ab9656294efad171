/* Calibrators: fitting, applying, files. */
#include <stdlib.h>
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

/* The npy file that pcal_calibrator_apply_source writes: a header, which gives the size, then
 * the values, which are written into the memory of a bytearray. */
typedef struct core_calibrator_output {
  core_watch *watch;
  core_bytes header;
  size_t header_length; /* 0 until it is known */
  char type;            /* of the values: 'f' or 'd' */
  unsigned long long rows, columns;
  PyObject *values;
  char *at;
  size_t left;
} core_calibrator_output;

/* "...'descr': '<f4', ... 'shape': (20, 3), ..." or "(20,)"; columns 0 for one dimension. */
static int core_calibrator_shape(core_calibrator_output *output) {
  core_bytes_sink(&output->header, "", 1);
  const char *text = output->header.block + 10;
  const char *shape = strstr(text, "'shape': (");
  if (shape == NULL)
    return -1;
  char *end = NULL;
  output->type = strstr(text, "<f4") != NULL ? 'f' : 'd';
  output->rows = strtoull(shape + 10, &end, 10);
  output->columns = end[0] == ',' && end[1] == ' ' ? strtoull(end + 2, NULL, 10) : 0;
  return 0;
}

static int core_calibrator_begin(core_calibrator_output *output) {
  if (core_calibrator_shape(output) < 0)
    return -1;
  const size_t width = output->type == 'f' ? sizeof(float) : sizeof(double);
  const size_t columns = output->columns == 0 ? 1 : (size_t)output->columns;
  output->left = (size_t)output->rows * columns * width;
  core_watch_take(output->watch);
  output->values = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)output->left);
  output->at = output->values == NULL ? NULL : PyByteArray_AsString(output->values);
  core_watch_leave(output->watch);
  return output->at == NULL ? -1 : 0;
}

/* Bytes of the header among the next ones; its length stands in bytes 8 and 9. */
static size_t core_calibrator_header(core_calibrator_output *output, const char *from,
                                     size_t count) {
  size_t used = 0;
  while (used < count &&
         (output->header_length == 0 || output->header.length < output->header_length)) {
    if (core_bytes_sink(&output->header, from + used++, 1) != 0)
      return SIZE_MAX;
    if (output->header.length == 10) {
      const unsigned char *bytes = (const unsigned char *)output->header.block;
      output->header_length = 10 + bytes[8] + 256u * bytes[9];
    }
  }
  return used;
}

static int core_calibrator_sink(void *user, const char *from, size_t count) {
  core_calibrator_output *output = user;
  if (output->values == NULL) {
    const size_t used = core_calibrator_header(output, from, count);
    if (used == SIZE_MAX)
      return 1;
    from += used;
    count -= used;
    if (output->header_length == 0 || output->header.length < output->header_length)
      return 0;
    if (core_calibrator_begin(output) < 0)
      return 1;
  }
  if (count > output->left)
    return 1;
  memcpy(output->at, from, count);
  output->at += count;
  output->left -= count;
  return 0;
}

/* apply(source) -> (bytearray, type, rows, columns), little-endian; columns 0: one dimension */
static PyObject *core_calibrator_apply(PyObject *self, PyObject *source) {
  PyObject *module = PyType_GetModule(Py_TYPE(self));
  const core_state *state = module == NULL ? NULL : PyModule_GetState(module);
  pcal_error error;
  if (state == NULL || !core_check(source, state->source_type, "Source"))
    return NULL;
  core_source *object = (core_source *)(void *)source;
  core_calibrator_output output = {.watch = object->watch};
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status == PCAL_OK)
    status = core_turn_end(
        &turn, pcal_calibrator_apply_source(core_calibrator_in(self), object->source, PCAL_NPY,
                                            core_watch_env(object->watch), core_calibrator_sink,
                                            &output, &error));
  free(output.header.block);
  if (status != PCAL_OK || output.values == NULL) {
    Py_XDECREF(output.values);
    return core_raise(&error);
  }
  return Py_BuildValue("(NCKK)", output.values, output.type, output.rows, output.columns);
}

static PyMethodDef core_calibrator_methods[] = {
    {"describe", core_calibrator_describe, METH_O, NULL},
    {"save", core_calibrator_save, METH_NOARGS, NULL},
    {"export", core_calibrator_export, METH_VARARGS, NULL},
    {"apply", core_calibrator_apply, METH_O, NULL},
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
