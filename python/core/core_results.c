/* Measuring, and results. */
#include <math.h>
#include <string.h>

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

int core_policy(PyObject *policy, pcal_measure_config *config) {
  Py_ssize_t replicas = 0;
  const char *method = NULL;
  pcal_error error;
  if (!core_tuple(policy) ||
      !PyArg_ParseTuple(policy, "pppdnO&ppp", &config->normalize, &config->skip_missing,
                        &config->fast, &config->interval, &replicas, core_letters_or_none,
                        &method, &config->null, &config->by_cluster, &config->paired))
    return -1;
  config->replicas = replicas < 0 ? 0 : (size_t)replicas;
  if (method == NULL ||
      pcal_interval_method_parse(method, &config->interval_method, &error) == PCAL_OK)
    return 0;
  core_raise(&error);
  return -1;
}

/* measure(source, specs, policy) -> Results */
PyObject *core_measure(PyObject *module, PyObject *arguments) {
  core_state *state = PyModule_GetState(module);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
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
    status =
        core_turn_end(&turn, pcal_measure_run(object->source, &config,
                                              core_watch_env(object->watch), &results, &error));
  PyMem_Free(letters);
  if (status != PCAL_OK) {
    pcal_results_free(results);
    return core_raise(&error);
  }
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

static PyObject *core_results_none(void) {
  Py_RETURN_NONE;
}

static PyObject *core_results_interval(const pcal_result *result) {
  if (!result->has_interval)
    return core_results_none();
  return Py_BuildValue("(ddddN)", result->low, result->high, result->level, result->se,
                       core_text(pcal_interval_method_name(result->interval_method)));
}

static PyObject *core_results_null(const pcal_result *result) {
  if (!result->has_null)
    return core_results_none();
  return Py_BuildValue("(dddd)", result->null_mean, result->null_low, result->null_high,
                       result->null_p_value);
}

static PyObject *core_results_difference(const pcal_result *result) {
  if (!result->has_difference)
    return core_results_none();
  if (!result->has_difference_interval)
    return Py_BuildValue("(dOOOOO)", result->difference, Py_None, Py_None, Py_None, Py_None,
                         Py_None);
  const int exchanged = result->difference_method != PCAL_DIFFERENCE_REPLICAS;
  return Py_BuildValue("(ddddNN)", result->difference, result->difference_low,
                       result->difference_high, result->difference_p_value,
                       core_text(pcal_difference_method_name(result->difference_method)),
                       exchanged ? PyLong_FromUnsignedLongLong(result->difference_rows)
                                 : core_results_none());
}

/* Both remarks on the interval, joined; None without any. */
static PyObject *core_results_unsure(const pcal_result *result) {
  return result->unsure != NULL && result->few_rows != NULL
             ? PyUnicode_FromFormat("%s; %s", result->unsure, result->few_rows)
             : core_text(result->unsure != NULL ? result->unsure : result->few_rows);
}

/* The fields of propercal.Value. */
static PyObject *core_results_fields(const pcal_result *result) {
  return Py_BuildValue(
      "{s:d,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "value",
      result->defined ? result->value : (double)NAN, "metric", core_text(result->metric),
      "spec", core_text(result->spec), "label", core_text(result->label), "group",
      core_text(result->group), "why", core_text(result->why), "notion",
      core_text(pcal_notion_name(result->notion)), "bound",
      core_text(pcal_bound_name(result->bound)), "parts", core_results_parts(result), "p_value",
      result->tested ? PyFloat_FromDouble(result->p_value) : core_results_none(), "interval",
      core_results_interval(result), "null", core_results_null(result), "difference",
      core_results_difference(result), "unsure", core_results_unsure(result), "device",
      core_text(result->device));
}

static PyObject *core_results_all_now(PyObject *self, PyObject *unused) {
  const pcal_results *results = core_results_in(self);
  PyObject *all = PyList_New(0);
  (void)unused;
  for (size_t i = 0; all != NULL && i < pcal_results_count(results); i++) {
    pcal_result result = PCAL_RESULT_INIT;
    pcal_results_get(results, i, &result);
    PyObject *one = core_results_fields(&result);
    if (one == NULL || PyList_Append(all, one) < 0)
      Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

static PyObject *core_results_find_now(PyObject *self, PyObject *spec) {
  const char *letters = core_utf8(spec);
  pcal_result result = PCAL_RESULT_INIT;
  pcal_error error;
  if (letters == NULL)
    return NULL;
  if (pcal_results_find(core_results_in(self), letters, &result, &error) != PCAL_OK)
    return core_raise(&error);
  return core_results_fields(&result);
}

static PyObject *core_results_first_now(PyObject *self, PyObject *unused) {
  pcal_result result = PCAL_RESULT_INIT;
  (void)unused;
  pcal_results_get(core_results_in(self), 0, &result);
  return Py_BuildValue("(NdN)", PyBool_FromLong(result.defined), result.value,
                       core_text(result.why));
}

/* ---- All together ---- */

static PyObject *core_results_against(PyObject *self, PyObject *other) {
  core_results_object *object = core_results_of(self);
  pcal_error error;
  if (!core_check(other, (PyObject *)Py_TYPE(self), "Results"))
    return NULL;
  core_turn turn = {NULL, 0, NULL};
  if (core_turn_add(&turn, object->watch) < 0 ||
      core_turn_add(&turn, core_results_of(other)->watch) < 0)
    return NULL;
  pcal_status status = core_turn_begin(&turn, 1);
  if (status == PCAL_OK)
    status = core_turn_end(
        &turn, pcal_results_add_difference(object->results, core_results_in(other), &error));
  if (status != PCAL_OK)
    return core_raise(&error);
  Py_RETURN_NONE;
}

static PyObject *core_results_write_now(PyObject *self, PyObject *format) {
  const long number = PyLong_AsLong(format);
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  if (number == -1 && PyErr_Occurred() != NULL)
    return NULL;
  const pcal_status status = pcal_results_write(core_results_in(self), (pcal_format)number,
                                                core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_results_draw(PyObject *self, PyObject *name, pcal_format format) {
  const char *letters = core_utf8(name);
  core_bytes bytes = {NULL, 0, 0};
  pcal_figure *figure = NULL;
  pcal_error error;
  if (letters == NULL)
    return NULL;
  pcal_status status =
      pcal_figure_from_results(core_results_in(self), letters, &figure, &error);
  if (status == PCAL_OK)
    status =
        pcal_figure_write(figure, format, PCAL_THEME_AUTO, core_bytes_sink, &bytes, &error);
  pcal_figure_free(figure);
  return core_bytes_text(&bytes, status, &error);
}

static PyObject *core_results_figure_now(PyObject *self, PyObject *name) {
  return core_results_draw(self, name, PCAL_SVG);
}

static PyObject *core_results_figure_data_now(PyObject *self, PyObject *name) {
  return core_results_draw(self, name, PCAL_JSON);
}

/* title: a text, or None */
static PyObject *core_results_report_now(PyObject *self, PyObject *title) {
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  pcal_report *report = NULL;
  pcal_error error;
  if (title != Py_None && (config.title = core_utf8(title)) == NULL)
    return NULL;
  const pcal_status status =
      pcal_report_from_results(core_results_in(self), &config, &report, &error);
  return status == PCAL_OK ? core_report_texts(report) : core_raise(&error);
}

static PyObject *core_results_bins_now(PyObject *self, PyObject *unused) {
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

static PyObject *core_results_table(const pcal_results *results, size_t index) {
  core_bytes bytes = {NULL, 0, 0};
  pcal_error error;
  const pcal_status status =
      pcal_results_table_write(results, index, core_bytes_sink, &bytes, &error);
  return core_bytes_text(&bytes, status, &error);
}

/* tables() -> [(name, CSV), ...] */
static PyObject *core_results_tables_now(PyObject *self, PyObject *unused) {
  const pcal_results *results = core_results_in(self);
  PyObject *all = PyList_New(0);
  const char *name;
  (void)unused;
  for (size_t i = 0; all != NULL && (name = pcal_results_table_name(results, i)) != NULL; i++) {
    PyObject *one = Py_BuildValue("(sN)", name, core_results_table(results, i));
    if (one == NULL || PyList_Append(all, one) < 0)
      Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

/* (label, group or None, before, now, low, high, worse), or None if it was not compared */
static PyObject *core_results_change(const pcal_results *results, size_t index) {
  pcal_result result = PCAL_RESULT_INIT;
  pcal_change change = PCAL_CHANGE_INIT;
  pcal_results_get(results, index, &result);
  pcal_results_get_change(results, index, &change);
  if (!change.compared)
    return core_results_none();
  return Py_BuildValue("(sNddddN)", result.label, core_text(result.group), change.before,
                       result.defined ? result.value : (double)NAN, change.low, change.high,
                       PyBool_FromLong(change.worse));
}

/* changes((JSON, name)) -> [change or None, ...] */
static PyObject *core_results_changes_now(PyObject *self, PyObject *given) {
  pcal_results *results = core_results_of(self)->results;
  const char *json, *name;
  Py_ssize_t length;
  pcal_error error;
  if (!core_tuple(given) || !PyArg_ParseTuple(given, "s#s", &json, &length, &name))
    return NULL;
  if (pcal_results_add_baseline(results, json, (size_t)length, name, &error) != PCAL_OK)
    return core_raise(&error);
  PyObject *all = PyList_New(0);
  for (size_t i = 0; all != NULL && i < pcal_results_count(results); i++) {
    PyObject *one = core_results_change(results, i);
    if (one == NULL || PyList_Append(all, one) < 0)
      Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

static PyObject *core_results_where(const pcal_verdict *verdict) {
  const pcal_verdict_bin *where = &verdict->where;
  if (!verdict->has_where)
    return core_results_none();
  return Py_BuildValue("(dddddd)", where->low, where->high, where->share, where->rows,
                       where->claimed, where->observed);
}

/* verdict() -> the fields of propercal.Verdict, and its text */
static PyObject *core_results_verdict_now(PyObject *self, PyObject *unused) {
  pcal_verdict v = PCAL_VERDICT_INIT;
  (void)unused;
  const int judged = pcal_results_get_verdict(core_results_in(self), &v) == PCAL_OK;
  const char *text = pcal_results_verdict_text(core_results_in(self));
  if (judged && text == NULL)
    return PyErr_NoMemory();
  return Py_BuildValue(
      "{s:N,s:N,s:i,s:d,s:N,s:N,s:N,s:d,s:d,s:d,s:N,s:d,s:d,s:N,s:N,s:d,s:d,s:d,s:d,s:d,s:d,"
      "s:d,s:d,s:d,s:d,s:d,s:N,s:d,s:n,s:N,s:n,s:N,s:d,s:d,s:d}",
      "text", core_text(text), "kind", core_text(pcal_verdict_kind_name(v.kind)), "shift",
      v.shift, "rows", v.rows, "advice", core_text(pcal_advice_name(v.advice)), "method",
      core_text(v.method), "alternative", core_text(v.alternative), "claimed", v.claimed,
      "observed", v.observed, "margin", v.margin, "off_average", PyBool_FromLong(v.off_average),
      "error", v.error, "chance", v.chance, "chance_is_drawn",
      PyBool_FromLong(v.chance_is_drawn), "where", core_results_where(&v), "mean", v.mean,
      "variance", v.variance, "mean_margin", v.mean_margin, "variance_margin",
      v.variance_margin, "lowest_level", v.lowest_level, "highest_level", v.highest_level,
      "inside", v.inside, "inside_margin", v.inside_margin, "level", v.level, "level_share",
      v.level_share, "level_margin", v.level_margin, "test", core_text(v.test), "test_p_value",
      v.test_p_value, "test_count", (Py_ssize_t)v.test_count, "class_1",
      PyBool_FromLong(v.binary), "classes_off", (Py_ssize_t)v.classes_off, "worst_class",
      v.classes_off > 0 ? PyLong_FromSize_t(v.worst_class) : core_results_none(),
      "class_claimed", v.class_claimed, "class_observed", v.class_observed, "class_margin",
      v.class_margin);
}

/* weights() -> (pcal_weights, effective sample size) */
static PyObject *core_results_weights_now(PyObject *self, PyObject *unused) {
  (void)unused;
  const pcal_results *results = core_results_in(self);
  return Py_BuildValue("(id)", (int)pcal_results_weights_are(results),
                       pcal_results_effective_rows(results));
}

static PyObject *core_results_only_label_now(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyLong_FromLong(pcal_results_only_label(core_results_in(self)));
}

/* Each of these reads the results while no other call changes them. */
#define CORE_RESULTS_TURN(name)                                              \
  static PyObject *core_results_##name(PyObject *self, PyObject *argument) { \
    core_turn turn = {NULL, 0, NULL};                                        \
    if (core_turn_hold(&turn, core_results_of(self)->watch) < 0)             \
      return NULL;                                                           \
    PyObject *made = core_results_##name##_now(self, argument);              \
    core_turn_release(&turn);                                                \
    return made;                                                             \
  }

CORE_RESULTS_TURN(all)
CORE_RESULTS_TURN(first)
CORE_RESULTS_TURN(find)
CORE_RESULTS_TURN(write)
CORE_RESULTS_TURN(figure)
CORE_RESULTS_TURN(figure_data)
CORE_RESULTS_TURN(report)
CORE_RESULTS_TURN(bins)
CORE_RESULTS_TURN(tables)
CORE_RESULTS_TURN(changes)
CORE_RESULTS_TURN(verdict)
CORE_RESULTS_TURN(weights)
CORE_RESULTS_TURN(only_label)

static PyMethodDef core_results_methods[] = {
    {"all", core_results_all, METH_NOARGS, NULL},
    {"first", core_results_first, METH_NOARGS, NULL},
    {"against", core_results_against, METH_O, NULL},
    {"find", core_results_find, METH_O, NULL},
    {"write", core_results_write, METH_O, NULL},
    {"figure", core_results_figure, METH_O, NULL},
    {"figure_data", core_results_figure_data, METH_O, NULL},
    {"report", core_results_report, METH_O, NULL},
    {"bins", core_results_bins, METH_NOARGS, NULL},
    {"tables", core_results_tables, METH_NOARGS, NULL},
    {"changes", core_results_changes, METH_O, NULL},
    {"only_label", core_results_only_label, METH_NOARGS, NULL},
    {"weights", core_results_weights, METH_NOARGS, NULL},
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
