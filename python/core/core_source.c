/* Sources from Python objects.  A part of a data set is None or one of the tuples
 *
 *   ("file", path)               as on the command line
 *   ("array", object, names)     whatever gives a buffer of one or two dimensions; names: what
 *                                whole numbers stand for, or None
 *   ("stream", capsule, names)   an Arrow stream; names: of columns, or None for all
 *   ("arrow", schema, array)     capsules of one Arrow array
 *
 * Buffers are held until the source is freed. */
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "core_arrow.h"

/* What opening needs until it is done. */
typedef struct core_source_plan {
  pcal_input inputs[CORE_PARTS];
  struct ArrowArrayStream streams[CORE_PARTS];
  const char **chosen[CORE_PARTS]; /* for PyMem_Free */
} core_source_plan;

static core_source *core_source_of(PyObject *self) {
  return (core_source *)(void *)self;
}

static void core_source_delete(PyObject *self) {
  core_source *object = core_source_of(self);
  pcal_source_free(object->source);
  for (size_t i = 0; i < CORE_PARTS; i++) {
    if (object->held[i])
      PyBuffer_Release(&object->buffers[i]);
    PyMem_Free(object->names[i]);
  }
  Py_XDECREF(object->kept);
  core_watch_drop(object->watch);
  core_delete(self);
}

/* ---- Arrays ---- */

/* Type and byte order of a buffer's elements; 0 when they are not numbers. */
static int core_source_type(const Py_buffer *buffer, pcal_input *input) {
  static const char floats[] = "efd", wholes[] = "bhilqn", naturals[] = "BHILQN";
  const unsigned short probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  const char *format = buffer->format == NULL ? "B" : buffer->format;
  const int little = *format == '<', big = *format == '>' || *format == '!';
  if (*format == '@' || *format == '=' || little || big)
    format++;
  if (*format == '\0' || format[1] != '\0')
    return 0;
  input->type = strchr(floats, *format) != NULL     ? 'f'
                : strchr(wholes, *format) != NULL   ? 'i'
                : strchr(naturals, *format) != NULL ? 'u'
                : *format == '?'                    ? 'b'
                                                    : '\0';
  input->item_size = (size_t)buffer->itemsize;
  input->swapped = buffer->itemsize > 1 && (first == 1 ? big : little);
  return input->type != '\0';
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
    PyErr_Format(PyExc_TypeError,
                 "%s: an array of numbers with one or two dimensions is wanted", input->name);
    return -1;
  }
  input->data = buffer->buf;
  input->rows = (size_t)buffer->shape[0];
  input->columns = buffer->ndim == 2 ? (size_t)buffer->shape[1] : 0;
  input->row_stride = buffer->strides[0];
  input->column_stride = buffer->ndim == 2 ? buffer->strides[1] : buffer->itemsize;
  if (names == Py_None)
    return 0;
  const char **letters = core_letters_of(names, &input->meaning_count);
  object->names[i] = letters;
  input->meanings = letters;
  return letters == NULL ? -1 : 0;
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
           "what holds Arrow data did not give a capsule named \"%s\"; check the program that "
           "made it",
           kind);
  PyErr_Clear();
  core_raise(&error);
  return NULL;
}

static int core_source_released(void) {
  pcal_error error = PCAL_ERROR_INIT;
  error.status = PCAL_USAGE;
  snprintf(error.message, sizeof error.message,
           "the Arrow data were used up or released before; give them anew");
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
  plan->chosen[i] = core_letters_of(names, &input->chosen_count);
  input->chosen = plan->chosen[i];
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
  if (core_arrow_once(schema, array, &plan->streams[i]) < 0) {
    PyErr_NoMemory();
    return -1;
  }
  plan->inputs[i].stream = &plan->streams[i];
  return 0;
}

/* ---- Opening ---- */

/* Reads part i; 1 when there is one. */
static int core_source_part(core_source *object, core_source_plan *plan, size_t i,
                            PyObject *part, PyObject *name) {
  pcal_input *input = &plan->inputs[i];
  *input = (pcal_input)PCAL_INPUT_INIT;
  input->name = core_letters(name);
  if (input->name == NULL || part == NULL)
    return -1;
  if (part == Py_None)
    return 0;
  PyObject *form = PyTuple_GetItem(part, 0);
  const char *word = form == NULL ? NULL : core_letters(form);
  if (word == NULL)
    return -1;
  int status = -1;
  if (strcmp(word, "file") == 0) {
    PyObject *path = PyTuple_GetItem(part, 1);
    input->file = path == NULL ? NULL : core_letters(path);
    status = input->file == NULL ? -1 : 0;
  } else if (strcmp(word, "array") == 0) {
    status = core_source_array(object, i, part, input);
  } else if (strcmp(word, "stream") == 0) {
    status = core_source_stream(plan, i, part);
  } else if (strcmp(word, "arrow") == 0) {
    status = core_source_arrow(plan, i, part);
  } else {
    PyErr_SetString(PyExc_ValueError, "the form of a part is unknown");
  }
  return status < 0 ? -1 : 1;
}

static int core_source_plan_parts(core_source *object, core_source_plan *plan, PyObject *parts,
                                  PyObject *names, pcal_join *join) {
  const pcal_input **const places[CORE_PARTS] = {&join->scores, &join->labels, &join->weights,
                                                 &join->groups, &join->spread, &join->ids};
  for (size_t i = 0; i < CORE_PARTS; i++) {
    PyObject *name = PyTuple_GetItem(names, (Py_ssize_t)i);
    const int there =
        name == NULL
            ? -1
            : core_source_part(object, plan, i, PyTuple_GetItem(parts, (Py_ssize_t)i), name);
    if (there < 0)
      return -1;
    *places[i] = there ? &plan->inputs[i] : NULL;
  }
  return 0;
}

/* Streams that were not given away, and lists of names. */
static void core_source_plan_free(core_source_plan *plan) {
  for (size_t i = 0; i < CORE_PARTS; i++) {
    if (plan->streams[i].release != NULL)
      plan->streams[i].release(&plan->streams[i]);
    PyMem_Free(plan->chosen[i]);
  }
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

/* open(kind, parts, names, classes or None, first_row, header, settings, levels or None,
 * weights_are) */
PyObject *core_open(PyObject *module, PyObject *arguments) {
  int kind = 0, header = 0, weights_are = 0;
  unsigned long long first_row = 0;
  PyObject *parts, *names, *classes, *settings, *levels;
  double numbers[PCAL_LEVELS_MAX];
  if (!PyArg_ParseTuple(arguments, "iOOOKiOOi", &kind, &parts, &names, &classes, &first_row,
                        &header, &settings, &levels, &weights_are))
    return NULL;
  const Py_ssize_t level_count = core_levels(levels, numbers);
  if (level_count < 0)
    return NULL;
  core_source *object = core_source_new(module, arguments, settings);
  if (object == NULL)
    return NULL;
  core_source_plan plan = {.inputs = {{0}}};
  const char **class_names = NULL;
  pcal_join join = PCAL_JOIN_INIT;
  pcal_error error = PCAL_ERROR_INIT;
  error.status = PCAL_INTERNAL;
  join.kind = (pcal_kind)kind;
  join.first_row = first_row;
  join.header = header;
  join.weights_are = weights_are;
  join.levels = level_count == 0 ? NULL : numbers;
  join.level_count = (size_t)level_count;
  int ready = core_source_plan_parts(object, &plan, parts, names, &join) == 0;
  if (ready && classes != Py_None) {
    class_names = core_letters_of(classes, &join.class_count);
    ready = class_names != NULL;
  }
  join.class_names = class_names;
  pcal_status status = PCAL_INTERNAL;
  if (ready) {
    core_turn turn = {NULL, 0, NULL};
    status = core_turn_begin_one(&turn, object->watch, 1);
    if (status == PCAL_OK)
      status = core_turn_end(&turn, pcal_source_join(&join, core_watch_env(object->watch),
                                                     &object->source, &error));
  }
  core_source_plan_free(&plan);
  PyMem_Free(class_names);
  return core_source_give(object, status, &error);
}

static const char *core_source_file(PyObject *files, const char *name, int *failed) {
  PyObject *path = PyDict_GetItemString(files, name);
  if (path == NULL)
    return NULL;
  const char *letters = core_letters(path);
  *failed |= letters == NULL;
  return letters;
}

/* open_files({"probs": path, ...}, first_row, header, settings) */
PyObject *core_open_files(PyObject *module, PyObject *arguments) {
  PyObject *files, *settings;
  unsigned long long first_row = 0;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_error error = PCAL_ERROR_INIT;
  error.status = PCAL_INTERNAL;
  int failed = 0;
  if (!PyArg_ParseTuple(arguments, "O!KiO", &PyDict_Type, &files, &first_row, &inputs.header,
                        &settings))
    return NULL;
  core_source *object = core_source_new(module, arguments, settings);
  if (object == NULL)
    return NULL;
  inputs.first_row = first_row;
  inputs.probs = core_source_file(files, "probs", &failed);
  inputs.logits = core_source_file(files, "logits", &failed);
  inputs.log_probs = core_source_file(files, "log_probs", &failed);
  inputs.confidence = core_source_file(files, "confidence", &failed);
  inputs.labels = core_source_file(files, "labels", &failed);
  inputs.correct = core_source_file(files, "correct", &failed);
  inputs.weights = core_source_file(files, "weights", &failed);
  inputs.groups = core_source_file(files, "groups", &failed);
  inputs.ids = core_source_file(files, "ids", &failed);
  inputs.weights_are = core_source_file(files, "weights_are", &failed);
  inputs.data = core_source_file(files, "data", &failed);
  inputs.mean = core_source_file(files, "mean", &failed);
  inputs.variance = core_source_file(files, "variance", &failed);
  inputs.std = core_source_file(files, "std", &failed);
  inputs.quantiles = core_source_file(files, "quantiles", &failed);
  inputs.samples = core_source_file(files, "samples", &failed);
  inputs.target = core_source_file(files, "target", &failed);
  inputs.levels = core_source_file(files, "levels", &failed);
  pcal_status status = PCAL_INTERNAL;
  if (!failed) {
    core_turn turn = {NULL, 0, NULL};
    status = core_turn_begin_one(&turn, object->watch, 1);
    if (status == PCAL_OK)
      status = core_turn_end(&turn, pcal_source_open(&inputs, core_watch_env(object->watch),
                                                     &object->source, &error));
  }
  return core_source_give(object, status, &error);
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
    if (PyTuple_SetItem(levels, (Py_ssize_t)l, PyFloat_FromDouble(shape->levels[l])) < 0)
      Py_CLEAR(levels);
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
