/* Simulation, inspection of files, writing of files, escaping of text. */
#include "core.h"

/* Gets a writable contiguous buffer of exactly `bytes` bytes. */
static int core_tools_room(PyObject *object, Py_buffer *buffer, size_t bytes) {
  if (PyObject_GetBuffer(object, buffer, PyBUF_CONTIG) < 0)
    return -1;
  if ((size_t)buffer->len == bytes)
    return 0;
  PyBuffer_Release(buffer);
  PyErr_SetString(PyExc_ValueError, "an array has the wrong size");
  return -1;
}

static PyObject *core_tools_draw(PyObject *module, const pcal_simulation *simulation,
                                 PyObject *settings, const Py_buffer *logits,
                                 const Py_buffer *labels, const Py_buffer *truth) {
  pcal_error error;
  core_watch *watch = core_watch_new(module, settings);
  if (watch == NULL)
    return NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, watch, 1);
  if (status == PCAL_OK)
    status = core_turn_end(&turn, pcal_simulate(simulation, core_watch_env(watch), logits->buf,
                                                labels->buf, truth->buf, &error));
  core_watch_drop(watch);
  if (status != PCAL_OK)
    return core_raise(&error);
  Py_RETURN_NONE;
}

/* simulate(rows, classes, factor, scale, logits, labels, truth or None, settings): fills
 * contiguous arrays of float32, int32 and float64 */
PyObject *core_simulate(PyObject *module, PyObject *arguments) {
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  unsigned long long rows = 0;
  Py_ssize_t classes = 0;
  PyObject *logits, *labels, *truth, *settings, *done = NULL;
  Py_buffer rooms[3] = {{.buf = NULL}};
  if (!PyArg_ParseTuple(arguments, "KnddOOOO", &rows, &classes, &simulation.factor,
                        &simulation.scale, &logits, &labels, &truth, &settings))
    return NULL;
  simulation.rows = rows;
  simulation.classes = (size_t)classes;
  const size_t cells = (size_t)rows * simulation.classes;
  if (core_tools_room(logits, &rooms[0], cells * sizeof(float)) < 0)
    return NULL;
  if (core_tools_room(labels, &rooms[1], (size_t)rows * sizeof(int32_t)) == 0) {
    if (truth == Py_None || core_tools_room(truth, &rooms[2], cells * sizeof(double)) == 0)
      done = core_tools_draw(module, &simulation, settings, &rooms[0], &rooms[1], &rooms[2]);
    if (rooms[2].buf != NULL)
      PyBuffer_Release(&rooms[2]);
    PyBuffer_Release(&rooms[1]);
  }
  PyBuffer_Release(&rooms[0]);
  return done;
}

/* inspect_file(file, header, format, settings) -> (text, problems) */
PyObject *core_inspect_file(PyObject *module, PyObject *arguments) {
  PyObject *name, *settings;
  int header = 0, format = 0;
  size_t problems = 0;
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (!PyArg_ParseTuple(arguments, "OiiO", &name, &header, &format, &settings))
    return NULL;
  const char *file = core_utf8(name);
  if (file == NULL)
    return NULL;
  core_watch *watch = core_watch_new(module, settings);
  if (watch == NULL)
    return NULL;
  core_turn turn = {NULL, 0, NULL};
  pcal_status status = core_turn_begin_one(&turn, watch, 1);
  if (status == PCAL_OK)
    status =
        core_turn_end(&turn, pcal_inspect_file(file, (pcal_header)header, core_watch_env(watch),
                                               (pcal_format)format, core_bytes_sink, &bytes,
                                               &problems, &error));
  core_watch_drop(watch);
  PyObject *text = core_bytes_text(&bytes, status, &error);
  return text == NULL ? NULL : Py_BuildValue("(Nn)", text, (Py_ssize_t)problems);
}

enum { CORE_FILES = 16 }; /* as many as pcal_output_commit_all takes */

/* Writes the files and makes them new together. */
static pcal_status core_write_all(const char *const *paths, const pcal_bytes *contents,
                                  size_t count, pcal_error *error) {
  pcal_output *outputs[CORE_FILES];
  size_t opened = 0;
  pcal_status status = PCAL_OK;
  while (opened < count && status == PCAL_OK) {
    status = pcal_output_open(paths[opened], NULL, &outputs[opened], error);
    if (status != PCAL_OK)
      break;
    pcal_output_write(outputs[opened], contents[opened].bytes, contents[opened].length);
    opened++;
  }
  if (status == PCAL_OK)
    return pcal_output_commit_all(outputs, count, error);
  while (opened > 0)
    pcal_output_discard(outputs[--opened]);
  return status;
}

/* write_files(path, bytes, path, bytes, ...): each whole, and all of them or none */
PyObject *core_write_files(PyObject *module, PyObject *arguments) {
  const Py_ssize_t given = PyTuple_Size(arguments);
  const char *paths[CORE_FILES];
  pcal_bytes contents[CORE_FILES];
  pcal_error error;
  (void)module;
  if (given < 2 || given % 2 != 0 || given > 2 * CORE_FILES) {
    PyErr_SetString(PyExc_TypeError, "write_files takes 1 to 16 pairs of a path and bytes");
    return NULL;
  }
  const size_t count = (size_t)given / 2;
  for (size_t i = 0; i < count; i++) {
    char *bytes = NULL;
    Py_ssize_t length = 0;
    paths[i] = core_utf8(PyTuple_GetItem(arguments, (Py_ssize_t)(2 * i)));
    if (paths[i] == NULL ||
        PyBytes_AsStringAndSize(PyTuple_GetItem(arguments, (Py_ssize_t)(2 * i + 1)), &bytes,
                                &length) < 0)
      return NULL;
    contents[i] = (pcal_bytes){bytes, (size_t)length};
  }
  PyThreadState *caller = PyEval_SaveThread();
  const pcal_status status = core_write_all(paths, contents, count, &error);
  PyEval_RestoreThread(caller);
  if (status != PCAL_OK)
    return core_raise(&error);
  Py_RETURN_NONE;
}

/* escape(text, destination) -> the text as pcal_destination number `destination` takes it */
PyObject *core_escape(PyObject *module, PyObject *arguments) {
  const char *text = NULL;
  int destination = 0;
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O&i", core_letters_argument, &text, &destination))
    return NULL;
  const pcal_status status =
      pcal_escape(text, (pcal_destination)destination, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}
