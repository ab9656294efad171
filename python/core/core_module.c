/* The module propercal._core. */
#include "core.h"
#include "system/resources.h"

PyMODINIT_FUNC PyInit__core(void);

/* processors() -> how many this process may use */
static PyObject *core_module_processors(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromUnsignedLong(pcal_processor_count());
}

/* affinity_size() -> processors of the affinity mask, without control groups; cheap */
static PyObject *core_module_affinity(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromSize_t(pc_processors_allowed());
}

/* memory_default() -> bytes that a call may hold where no limit is given */
static PyObject *core_module_memory(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromUnsignedLongLong(pcal_default_memory_limit());
}

static PyMethodDef core_module_methods[] = {
    {"rows", core_rows, METH_O, NULL},
    {"canonical", core_canonical, METH_O, NULL},
    {"calibrator_name", core_calibrator_name, METH_O, NULL},
    {"open", (PyCFunction)(void (*)(void))core_open, METH_VARARGS | METH_KEYWORDS, NULL},
    {"find_columns", core_find_columns, METH_VARARGS, NULL},
    {"measure", core_measure, METH_VARARGS, NULL},
    {"measure_new", core_measure_new, METH_VARARGS, NULL},
    {"measure_part", core_measure_part, METH_VARARGS, NULL},
    {"measure_load", core_measure_load, METH_VARARGS, NULL},
    {"rounds_new", core_rounds_new, METH_VARARGS, NULL},
    {"rounds_new_fit", core_rounds_new_fit, METH_VARARGS, NULL},
    {"rounds_resume", core_rounds_resume, METH_VARARGS, NULL},
    {"rounds_worker_new", core_rounds_worker_new, METH_VARARGS, NULL},
    {"merge_tallies", core_merge_tallies, METH_VARARGS, NULL},
    {"watch", core_monitoring, METH_VARARGS, NULL},
    {"fit", core_fit, METH_VARARGS, NULL},
    {"load", core_load, METH_VARARGS, NULL},
    {"compare", core_compare, METH_VARARGS, NULL},
    {"draw", core_draw, METH_VARARGS, NULL},
    {"report", core_report, METH_VARARGS, NULL},
    {"inspect", core_inspect, METH_VARARGS, NULL},
    {"inspect_file", core_inspect_file, METH_VARARGS, NULL},
    {"simulate", core_simulate, METH_VARARGS, NULL},
    {"study", core_study, METH_VARARGS, NULL},
    {"write_files", core_write_files, METH_VARARGS, NULL},
    {"processors", core_module_processors, METH_NOARGS, NULL},
    {"affinity_size", core_module_affinity, METH_NOARGS, NULL},
    {"memory_default", core_module_memory, METH_NOARGS, NULL},
    {"end", core_pool_end, METH_NOARGS, NULL},
    {"budget", core_budget, METH_O, NULL},
    {"escape", core_escape, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* Status numbers by name, as in PCAL_STATUS_LIST. */
static int core_module_statuses(PyObject *module) {
  PyObject *statuses = PyDict_New();
  int failed = statuses == NULL;
#define CORE_STATUS(name, code, text)                                             \
  if (!failed) {                                                                  \
    PyObject *number = PyLong_FromLong(PCAL_##name);                              \
    failed = number == NULL || PyDict_SetItemString(statuses, #name, number) < 0; \
    Py_XDECREF(number);                                                           \
  }
  PCAL_STATUS_LIST(CORE_STATUS)
#undef CORE_STATUS
  if (!failed)
    failed = PyModule_AddObjectRef(module, "STATUSES", statuses) < 0;
  Py_XDECREF(statuses);
  return failed ? -1 : 0;
}

/* Threads end before the interpreter does. */
static int core_module_at_exit(PyObject *module) {
  PyObject *end = PyObject_GetAttrString(module, "end");
  PyObject *at_exit = end == NULL ? NULL : PyImport_ImportModule("atexit");
  PyObject *said = at_exit == NULL ? NULL : PyObject_CallMethod(at_exit, "register", "O", end);
  const int failed = said == NULL;
  Py_XDECREF(said);
  Py_XDECREF(at_exit);
  Py_XDECREF(end);
  return failed ? -1 : 0;
}

static int core_module_fill(PyObject *module) {
  core_state *state = PyModule_GetState(module);
  if (core_source_add(module, state) < 0 || core_results_add(module, state) < 0 ||
      core_calibrator_add(module, state) < 0 || core_measure_add(module, state) < 0 ||
      core_rounds_add(module, state) < 0)
    return -1;
  if (PyModule_AddStringConstant(module, "VERSION", pcal_version()) < 0 ||
      PyModule_AddStringConstant(module, "BUILD", pcal_build_info()) < 0)
    return -1;
  return core_module_at_exit(module) < 0 ? -1 : core_module_statuses(module);
}

static int core_module_visit(PyObject *module, visitproc visit, void *arg) {
  const core_state *state = PyModule_GetState(module);
  Py_VISIT(state->source_type);
  Py_VISIT(state->results_type);
  Py_VISIT(state->calibrator_type);
  Py_VISIT(state->measure_type);
  Py_VISIT(state->rounds_type);
  Py_VISIT(state->rounds_worker_type);
  return 0;
}

static int core_module_clear(PyObject *module) {
  core_state *state = PyModule_GetState(module);
  Py_CLEAR(state->source_type);
  Py_CLEAR(state->results_type);
  Py_CLEAR(state->calibrator_type);
  Py_CLEAR(state->measure_type);
  Py_CLEAR(state->rounds_type);
  Py_CLEAR(state->rounds_worker_type);
  return 0;
}

static void core_module_free(void *module) {
  core_state *state = PyModule_GetState(module);
  core_module_clear(module);
  core_pool_drop(state->pool);
}

static PyModuleDef_Slot core_module_slots[] = {
    {Py_mod_exec, CORE_SLOT(core_module_fill)},
#ifdef Py_mod_gil /* handles have locks of their own: tools/check-free-python */
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef core_module_definition = {
    PyModuleDef_HEAD_INIT,        .m_name = "_core",
    .m_size = sizeof(core_state), .m_methods = core_module_methods,
    .m_slots = core_module_slots, .m_traverse = core_module_visit,
    .m_clear = core_module_clear, .m_free = core_module_free,
};

PyMODINIT_FUNC PyInit__core(void) {
  return PyModuleDef_Init(&core_module_definition);
}
