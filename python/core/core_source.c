/* Sources from Python objects.  An input of a data set is one of the tuples
 *
 *   ("file", path)               as on the command line
 *   ("files", paths)             a tuple of them, read in this order as one
 *   ("array", object, names)     any object with a buffer of one or two dimensions; names: the
 *                                names that whole numbers stand for, or None
 *   ("stream", capsule, names)   an Arrow stream; names: of columns, or None for all
 *   ("arrow", schema, array)     capsules of one Arrow array
 *   ("gpu", address, type, rows, columns, stream, owner)
 *                                a contiguous array on a GPU; type as NumPy writes it: "f4";
 *                                columns 0: one dimension; owner: held with the source
 *
 * Buffers are held until the source is freed. */
#include <stdio.h>
#include <string.h>

#include "core.h"

/* Memory that is needed only while a source is being opened. */
typedef struct core_source_plan {
  pcal_input inputs[CORE_INPUTS];
  const char **chosen[CORE_INPUTS]; /* for PyMem_Free */
  core_state *state;
} core_source_plan;

static core_source *core_source_of(PyObject *self) {
  return (core_source *)(void *)self;
}

static void core_source_delete(PyObject *self) {
  core_source *object = core_source_of(self);
  pcal_source_free(object->source);
  for (size_t i = 0; i < CORE_INPUTS; i++) {
    if (object->held[i])
      PyBuffer_Release(&object->buffers[i]);
    PyMem_Free(object->names[i]);
  }
  Py_XDECREF(object->kept);
  core_watch_drop(object->watch);
  core_delete(self);
}

/* ---- Arrays ---- */

/* The element type of a format character and a size; 0 when they are not numbers. */
static pcal_type core_source_element(char format, Py_ssize_t size) {
  static const struct {
    const char *formats;
    Py_ssize_t size;
    pcal_type type;
  } types[] = {{"e", 2, PCAL_F16},    {"f", 4, PCAL_F32},    {"d", 8, PCAL_F64},
               {"b", 1, PCAL_I8},     {"h", 2, PCAL_I16},    {"ilqn", 4, PCAL_I32},
               {"ilqn", 8, PCAL_I64}, {"B", 1, PCAL_U8},     {"H", 2, PCAL_U16},
               {"ILQN", 4, PCAL_U32}, {"ILQN", 8, PCAL_U64}, {"?", 1, PCAL_BOOL}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].size == size && strchr(types[i].formats, format) != NULL)
      return types[i].type;
  return (pcal_type)0;
}

/* Type and byte order of a buffer's elements; 0 when they are not numbers. */
static int core_source_type(const Py_buffer *buffer, pcal_input *input) {
  const unsigned short probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  const char *format = buffer->format == NULL ? "B" : buffer->format;
  const int little = *format == '<', big = *format == '>' || *format == '!';
  if (*format == '@' || *format == '=' || little || big)
    format++;
  if (*format == '\0' || format[1] != '\0')
    return 0;
  input->type = core_source_element(*format, buffer->itemsize);
  input->swapped = buffer->itemsize > 1 && (first == 1 ? big : little);
  return input->type != (pcal_type)0;
}

static int core_source_array(core_source *object, size_t i, PyObject *part, pcal_input *input) {
  PyObject *names = PyTuple_GetItem(part, 2);
  Py_buffer *buffer = &object->buffers[i];
  if (names == NULL ||
      PyObject_GetBuffer(PyTuple_GetItem(part, 1), buffer, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
    return -1;
  object->held[i] = 1;
  const int fits = buffer->ndim == 1 || (buffer->ndim == 2 && buffer->shape[1] > 0);
  if (!fits || !core_source_type(buffer, input)) {
    PyErr_Format(PyExc_TypeError, "%s: expected an array of numbers with one or two dimensions",
                 input->name);
    return -1;
  }
  input->data = buffer->buf;
  input->rows = (size_t)buffer->shape[0];
  input->columns = buffer->ndim == 2 ? (size_t)buffer->shape[1] : 0;
  input->row_stride = buffer->strides[0];
  input->column_stride = buffer->ndim == 2 ? buffer->strides[1] : buffer->itemsize;
  if (names == Py_None)
    return 0;
  const char **letters = core_utf8_list(names, &input->meaning_count);
  object->names[i] = letters;
  input->meanings = letters;
  return letters == NULL ? -1 : 0;
}

/* ---- Arrays on a GPU ---- */

static int core_source_gpu(const core_source_plan *plan, PyObject *part, pcal_input *input) {
  static const struct {
    const char *name;
    pcal_type type;
  } types[] = {{"f2", PCAL_F16}, {"f4", PCAL_F32}, {"f8", PCAL_F64}, {"i1", PCAL_I8},
               {"i2", PCAL_I16}, {"i4", PCAL_I32}, {"i8", PCAL_I64}, {"u1", PCAL_U8},
               {"u2", PCAL_U16}, {"u4", PCAL_U32}, {"u8", PCAL_U64}, {"b1", PCAL_BOOL}};
  const char *form, *type;
  unsigned long long address, stream;
  Py_ssize_t rows, columns;
  PyObject *owner;
  if (!PyArg_ParseTuple(part, "sKsnnKO", &form, &address, &type, &rows, &columns, &stream,
                        &owner))
    return -1;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(type, types[i].name) == 0)
      input->type = types[i].type;
  pcal_error error = PCAL_ERROR_INIT;
  input->data = (const void *)(uintptr_t)address;
  input->rows = (size_t)rows;
  input->columns = (size_t)columns;
  input->device_stream = (void *)(uintptr_t)stream;
  input->device = core_device_of(plan->state, input->data, &error);
  if (input->device != NULL)
    return 0;
  core_raise(&error);
  return -1;
}

/* ---- Arrow ---- */

/* An object of the Arrow C interface, or NULL with an error of ours. */
static void *core_source_capsule(PyObject *part, Py_ssize_t place, const char *kind) {
  PyObject *capsule = PyTuple_GetItem(part, place);
  void *found = capsule != NULL && PyCapsule_IsValid(capsule, kind)
                    ? PyCapsule_GetPointer(capsule, kind)
                    : NULL;
  if (found != NULL)
    return found;
  pcal_error error = PCAL_ERROR_INIT;
  error.status = PCAL_USAGE;
  snprintf(error.message, sizeof error.message,
           "the object with Arrow data did not return a capsule named \"%s\"; check the "
           "program that made it",
           kind);
  PyErr_Clear();
  core_raise(&error);
  return NULL;
}

static int core_source_released(void) {
  pcal_error error = PCAL_ERROR_INIT;
  error.status = PCAL_USAGE;
  snprintf(error.message, sizeof error.message,
           "the Arrow data have already been read or released; pass them again");
  core_raise(&error);
  return -1;
}

static int core_source_stream(core_source_plan *plan, size_t i, PyObject *part) {
  pcal_input *input = &plan->inputs[i];
  PyObject *names = PyTuple_GetItem(part, 2);
  struct ArrowArrayStream *stream = core_source_capsule(part, 1, "arrow_array_stream");
  if (stream == NULL || names == NULL)
    return -1;
  if (stream->release == NULL)
    return core_source_released();
  input->stream = stream;
  if (names == Py_None)
    return 0;
  plan->chosen[i] = core_utf8_list(names, &input->column_name_count);
  input->column_names = plan->chosen[i];
  return plan->chosen[i] == NULL ? -1 : 0;
}

static int core_source_arrow(core_source_plan *plan, size_t i, PyObject *part) {
  struct ArrowSchema *schema = core_source_capsule(part, 1, "arrow_schema");
  struct ArrowArray *array =
      schema == NULL ? NULL : core_source_capsule(part, 2, "arrow_array");
  if (array == NULL)
    return -1;
  if (schema->release == NULL || array->release == NULL)
    return core_source_released();
  plan->inputs[i].schema = schema;
  plan->inputs[i].array = array;
  return 0;
}

/* ---- Opening ---- */

static const struct {
  const char *name;
  size_t offset;
} core_source_fields[CORE_INPUTS] = {
    {"probs", offsetof(pcal_inputs, probs)},
    {"logits", offsetof(pcal_inputs, logits)},
    {"log_probs", offsetof(pcal_inputs, log_probs)},
    {"confidence", offsetof(pcal_inputs, confidence)},
    {"mean", offsetof(pcal_inputs, mean)},
    {"variance", offsetof(pcal_inputs, variance)},
    {"std", offsetof(pcal_inputs, std)},
    {"quantiles", offsetof(pcal_inputs, quantiles)},
    {"samples", offsetof(pcal_inputs, samples)},
    {"data", offsetof(pcal_inputs, data)},
    {"labels", offsetof(pcal_inputs, labels)},
    {"correct", offsetof(pcal_inputs, correct)},
    {"target", offsetof(pcal_inputs, target)},
    {"weights", offsetof(pcal_inputs, weights)},
    {"groups", offsetof(pcal_inputs, groups)},
    {"ids", offsetof(pcal_inputs, ids)},
    {"time", offsetof(pcal_inputs, time)},
    {"abstain", offsetof(pcal_inputs, abstain)},
};

/* Reads one input; -1 with an exception. */
static int core_source_input(core_source *object, core_source_plan *plan, size_t i,
                             PyObject *given) {
  pcal_input *input = &plan->inputs[i];
  PyObject *form = PyTuple_GetItem(given, 0);
  const char *word = form == NULL ? NULL : core_utf8(form);
  if (word == NULL)
    return -1;
  if (strcmp(word, "file") == 0) {
    PyObject *path = PyTuple_GetItem(given, 1);
    input->file = path == NULL ? NULL : core_utf8(path);
    return input->file == NULL ? -1 : 0;
  }
  if (strcmp(word, "files") == 0) {
    PyObject *paths = PyTuple_GetItem(given, 1);
    plan->chosen[i] = paths == NULL ? NULL : core_utf8_list(paths, &input->file_count);
    input->files = plan->chosen[i];
    return plan->chosen[i] == NULL ? -1 : 0;
  }
  if (strcmp(word, "array") == 0)
    return core_source_array(object, i, given, input);
  if (strcmp(word, "gpu") == 0)
    return core_source_gpu(plan, given, input);
  if (strcmp(word, "stream") == 0)
    return core_source_stream(plan, i, given);
  if (strcmp(word, "arrow") == 0)
    return core_source_arrow(plan, i, given);
  PyErr_SetString(PyExc_ValueError, "the form of an input is unknown");
  return -1;
}

static int core_source_inputs(core_source *object, core_source_plan *plan, PyObject *given,
                              pcal_inputs *inputs) {
  Py_ssize_t place = 0;
  PyObject *name, *input;
  while (PyDict_Next(given, &place, &name, &input)) {
    const char *word = core_utf8(name);
    if (word == NULL)
      return -1;
    size_t i = 0;
    while (i < CORE_INPUTS && strcmp(word, core_source_fields[i].name) != 0)
      i++;
    if (i == CORE_INPUTS) {
      PyErr_Format(PyExc_ValueError, "there is no input %s", word);
      return -1;
    }
    plan->inputs[i] = (pcal_input)PCAL_INPUT_INIT;
    plan->inputs[i].name = core_source_fields[i].name;
    if (core_source_input(object, plan, i, input) < 0)
      return -1;
    const pcal_input *filled = &plan->inputs[i];
    memcpy((char *)inputs + core_source_fields[i].offset, &filled, sizeof filled);
  }
  return 0;
}

static PyObject *core_source_give(core_source *object, pcal_status status,
                                  const pcal_error *error) {
  if (status == PCAL_OK)
    return (PyObject *)object;
  core_raise(error);
  Py_DECREF((PyObject *)object);
  return NULL;
}

static core_source *core_source_new(PyObject *module, PyObject *kept, PyObject *settings) {
  const core_state *state = PyModule_GetState(module);
  PyObject *made = core_new(state->source_type);
  if (made == NULL)
    return NULL;
  core_source *object = core_source_of(made);
  Py_INCREF(kept);
  object->kept = kept;
  object->watch = core_watch_new(module, settings);
  if (object->watch == NULL) {
    Py_DECREF(made);
    return NULL;
  }
  return object;
}

Py_ssize_t core_levels(PyObject *tuple, double out[PCAL_LEVELS_MAX]) {
  if (tuple == Py_None)
    return 0;
  const Py_ssize_t count = PyTuple_Size(tuple);
  if (count > PCAL_LEVELS_MAX)
    PyErr_Format(PyExc_ValueError, "there are %zd levels; at most %d are possible", count,
                 PCAL_LEVELS_MAX);
  if (count < 0 || count > PCAL_LEVELS_MAX)
    return -1;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *level = PyTuple_GetItem(tuple, i);
    out[i] = level == NULL ? -1.0 : PyFloat_AsDouble(level);
    if (PyErr_Occurred() != NULL)
      return -1;
  }
  return count;
}

/* The arguments of open. */
typedef struct core_source_arguments {
  PyObject *given, *settings, *classes, *levels, *prevalence;
  int header, weights_are, ragged;
  unsigned long long first_row;
  const char *every, *positive, *event;
  double level_room[PCAL_LEVELS_MAX], prevalence_room[PCAL_LEVELS_MAX];
} core_source_arguments;

/* Returns 0 after an exception. */
static int core_source_parse(PyObject *arguments, PyObject *keywords,
                             core_source_arguments *out, pcal_inputs *inputs) {
  static const char *const words[] = {
      "inputs",     "settings", "classes",  "first_row", "header", "levels", "weights_are",
      "prevalence", "every",    "positive", "event",     "ragged", NULL};
  char *names[sizeof words / sizeof *words]; /* not const before Python 3.13 */
  memcpy(names, words, sizeof names);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O|$OKiOiOzzzp", names, &PyDict_Type,
                                   &out->given, &out->settings, &out->classes, &out->first_row,
                                   &out->header, &out->levels, &out->weights_are,
                                   &out->prevalence, &out->every, &out->positive, &out->event,
                                   &out->ragged))
    return 0;
  const Py_ssize_t levels = core_levels(out->levels, out->level_room);
  const Py_ssize_t shares =
      levels < 0 ? -1 : core_levels(out->prevalence, out->prevalence_room);
  if (shares < 0)
    return 0;
  inputs->first_row = out->first_row;
  inputs->header = (pcal_header)out->header;
  inputs->weights_are = (pcal_weights)out->weights_are;
  inputs->every = out->every;
  inputs->positive = out->positive;
  inputs->event = out->event;
  inputs->ragged = out->ragged;
  inputs->levels = levels == 0 ? NULL : out->level_room;
  inputs->level_count = (size_t)levels;
  inputs->prevalence = shares == 0 ? NULL : out->prevalence_room;
  inputs->prevalence_count = (size_t)shares;
  return 1;
}

static pcal_status core_source_open(core_source *object, const pcal_inputs *inputs,
                                    pcal_error *error) {
  core_turn turn = {NULL, 0, NULL};
  const pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status != PCAL_OK)
    return status;
  return core_turn_end(
      &turn, pcal_source_open(inputs, core_watch_env(object->watch), &object->source, error));
}

/* open({name: input, ...}, settings, *, classes, first_row, header, levels, weights_are,
 * prevalence, every, positive: label of class 1, event, ragged); names are those of pcal_inputs */
PyObject *core_open(PyObject *module, PyObject *arguments, PyObject *keywords) {
  core_source_arguments parsed = {.classes = Py_None, .levels = Py_None, .prevalence = Py_None};
  core_source_plan plan = {.state = PyModule_GetState(module)};
  const char **class_names = NULL;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_error error = PCAL_ERROR_INIT;
  error.status = PCAL_INTERNAL;
  if (!core_source_parse(arguments, keywords, &parsed, &inputs))
    return NULL;
  core_source *object = core_source_new(module, parsed.given, parsed.settings);
  if (object == NULL)
    return NULL;
  int ready = core_source_inputs(object, &plan, parsed.given, &inputs) == 0;
  if (ready && parsed.classes != Py_None) {
    class_names = core_utf8_list(parsed.classes, &inputs.class_count);
    ready = class_names != NULL;
  }
  inputs.class_names = class_names;
  const pcal_status status = ready ? core_source_open(object, &inputs, &error) : PCAL_INTERNAL;
  for (size_t i = 0; i < CORE_INPUTS; i++)
    PyMem_Free(plan.chosen[i]);
  PyMem_Free(class_names);
  return core_source_give(object, status, &error);
}

static PyObject *core_source_roles(const char *const *roles, size_t count) {
  PyObject *made = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; made != NULL && i < count; i++)
    core_tuple_set(&made, i, core_text(roles[i]));
  return made;
}

/* find_columns(table, names) -> the input that each column is for, or None */
PyObject *core_find_columns(PyObject *module, PyObject *arguments) {
  const char *table;
  PyObject *names;
  size_t count = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sO!", &table, &PyTuple_Type, &names))
    return NULL;
  const char **letters = core_utf8_list(names, &count);
  if (letters == NULL)
    return NULL;
  pcal_env env = PCAL_ENV_INIT;
  pcal_error error = PCAL_ERROR_INIT;
  env.caller = PCAL_INTERFACE_PYTHON;
  const char **roles = PyMem_Calloc(count + 1, sizeof *roles);
  if (roles == NULL) {
    PyMem_Free(letters);
    return PyErr_NoMemory();
  }
  const pcal_status status = pcal_find_columns(table, letters, count, &env, roles, &error);
  PyObject *made = status == PCAL_OK ? core_source_roles(roles, count) : core_raise(&error);
  PyMem_Free(roles);
  PyMem_Free(letters);
  return made;
}

/* inspect(source, format) -> (text, problems) */
PyObject *core_inspect(PyObject *module, PyObject *arguments) {
  const core_state *state = PyModule_GetState(module);
  PyObject *source;
  int format = 0;
  size_t problems = 0;
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "Oi", &source, &format) ||
      !core_check(source, state->source_type, "Source"))
    return NULL;
  core_source *object = core_source_of(source);
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, object->watch, 1);
  if (status == PCAL_OK)
    status =
        core_turn_end(&turn, pcal_inspect_source(object->source, core_watch_env(object->watch),
                                                 (pcal_format)format, core_bytes_sink, &bytes,
                                                 &problems, &error));
  PyObject *text = core_bytes_text(&bytes, status, &error);
  return text == NULL ? NULL : Py_BuildValue("(Nn)", text, (Py_ssize_t)problems);
}

static PyObject *core_source_levels(const pcal_shape *shape) {
  if (shape->levels == NULL)
    return core_text(NULL);
  PyObject *levels = PyTuple_New((Py_ssize_t)shape->columns);
  for (size_t l = 0; levels != NULL && l < shape->columns; l++)
    core_tuple_set(&levels, l, PyFloat_FromDouble(shape->levels[l]));
  return levels;
}

/* shape() -> (kind, columns, levels or None, rows or None while they are not known) */
static PyObject *core_source_shape(PyObject *self, PyObject *unused) {
  pcal_shape shape = PCAL_SHAPE_INIT;
  core_turn turn = {NULL, 0, NULL};
  (void)unused;
  if (core_turn_hold(&turn, core_source_of(self)->watch) < 0)
    return NULL;
  pcal_source_get_shape(core_source_of(self)->source, &shape);
  PyObject *made = Py_BuildValue(
      "(inNN)", (int)shape.kind, (Py_ssize_t)shape.columns, core_source_levels(&shape),
      shape.row_count == PCAL_NO_ROW ? core_text(NULL)
                                     : PyLong_FromUnsignedLongLong(shape.row_count));
  core_turn_release(&turn);
  return made;
}

static PyMethodDef core_source_methods[] = {
    {"shape", core_source_shape, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot core_source_slots[] = {
    {Py_tp_methods, core_source_methods},
    {Py_tp_dealloc, CORE_SLOT(core_source_delete)},
    {0, NULL},
};

static PyType_Spec core_source_spec = {
    .name = "propercal._core.Source",
    .basicsize = sizeof(core_source),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = core_source_slots,
};

int core_source_add(PyObject *module, core_state *state) {
  state->source_type = core_type_add(module, &core_source_spec);
  return state->source_type == NULL ? -1 : 0;
}
