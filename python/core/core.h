/* The extension module propercal._core: the functions of propercal.h for Python.  It computes
 * nothing, and has no state besides its objects, a pool of threads and the number of its process.
 *
 * Functions that return a PyObject * or an int return NULL or -1 on failure, with an exception
 * set.  Names with core_ are shared by the files of this folder. */
#ifndef CORE_H
#define CORE_H

#include <pyconfig.h>
#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED) /* free-threaded builds have none */
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>

#include "propercal.h"

/* A function in the table of a type. */
#define CORE_SLOT(function) __extension__(void *)(function)

/* ---- Running ---- */

/* The environment of calls that release the interpreter's lock, with progress and signals.
 * Handles that keep the environment share it by a reference count. */
typedef struct core_watch core_watch;

/* From (threads, seed, memory limit, progress or None, whether to check for signals).  The limit
 * is a number of bytes, 0 for the default, or a budget that several watches share. */
core_watch *core_watch_new(PyObject *module, PyObject *settings);
core_watch *core_watch_share(core_watch *watch);
/* budget(bytes) -> a capsule for settings: one limit for all calls that are given it */
PyObject *core_budget(PyObject *module, PyObject *bytes);
void core_watch_drop(core_watch *watch); /* NULL is fine */
const pcal_env *core_watch_env(const core_watch *watch);
/* For callbacks: acquires the interpreter's lock, and releases it again. */
void core_watch_take(core_watch *watch);
void core_watch_leave(core_watch *watch);

/* The locks of one call.  Each handle is used by one call at a time; handles that share a watch
 * are locked together.  The watches of a call are locked in the order of their addresses, so that
 * two calls cannot deadlock.  Zero it before use. */
typedef struct core_turn {
  core_watch **watches; /* the first one's environment runs the call */
  size_t count;
  core_watch *run; /* between begin and end */
} core_turn;

/* Adds a watch before the turn begins; ignores NULL.  -1 with an exception. */
int core_turn_add(core_turn *turn, core_watch *watch);
int core_turn_add_source(core_turn *turn, PyObject *source); /* ignores None */
/* Between begin and end other threads may use the interpreter.  begin fails with an exception
 * when this thread holds a lock already (in a callback), or when the process was forked while
 * another thread changed a handle.  `changes`: the call changes handles.  end returns the status
 * of the call, which is not PCAL_OK when a callback has set an exception. */
pcal_status core_turn_begin(core_turn *turn, int changes);
pcal_status core_turn_end(core_turn *turn, pcal_status status);
/* The same for one watch. */
pcal_status core_turn_begin_one(core_turn *turn, core_watch *watch, int changes);
/* The same for short calls, which keep the interpreter's lock; -1 with an exception. */
int core_turn_hold(core_turn *turn, core_watch *watch);
void core_turn_release(core_turn *turn);

/* Threads that stay between calls. */
typedef struct core_pool core_pool;
typedef struct core_state core_state;

/* The pool of this process, with one more reference; NULL: there is none. */
core_pool *core_pool_of(core_state *state);
pcal_pool *core_pool_threads(const core_pool *pool); /* of NULL: NULL */
void core_pool_drop(core_pool *pool);                /* NULL is fine */
/* Ends the threads when the last reference is dropped; no pool is created afterwards. */
PyObject *core_pool_end(PyObject *module, PyObject *nothing);

/* The number of this process.  It is asked for once, since that is a call of the system and each
 * call of Python wants it several times; a child forgets it. */
long core_process(void);

enum { CORE_DEVICES = 64 }; /* GPUs at most */

/* The GPU that holds an address, owned by the state; NULL with an error. */
pcal_device *core_device_of(core_state *state, const void *address, pcal_error *error);

/* ---- Errors ---- */

/* Sets the exception of a failed call, unless a callback has already set one; returns NULL. */
PyObject *core_raise(const pcal_error *error);

/* ---- Text ---- */

/* A sink that collects bytes; zeroed at first, freed with free(block). */
typedef struct core_bytes {
  char *block;
  size_t length, capacity;
} core_bytes;

int core_bytes_sink(void *bytes, const char *from, size_t count);
/* The collected bytes as str or bytes when status is PCAL_OK, else the error; frees them. */
PyObject *core_bytes_text(core_bytes *bytes, pcal_status status, const pcal_error *error);
PyObject *core_bytes_object(core_bytes *bytes, pcal_status status, const pcal_error *error);

/* None for NULL. */
PyObject *core_text(const char *text);
/* Moves an item into a new tuple; item NULL, an exception, or a failure: clears the tuple. */
void core_tuple_set(PyObject **tuple, size_t index, PyObject *item);
/* The UTF-8 bytes of a str without NUL characters, valid as long as the str; NULL with an
 * exception. */
const char *core_utf8(PyObject *text);
/* The same for PyArg_ParseTuple ("O&" with a const char **); None: NULL. */
int core_letters_argument(PyObject *text, void *out);
int core_letters_or_none(PyObject *text, void *out);
/* The UTF-8 bytes of each str in a tuple, valid as long as the tuple.  The caller frees the
 * array with PyMem_Free.  *count receives the length. */
const char **core_utf8_list(PyObject *tuple, size_t *count);

/* ---- Types ---- */

struct core_state {
  PyObject *source_type, *results_type, *calibrator_type, *measure_type;
  PyObject *rounds_type, *rounds_worker_type;
  atomic_long lock; /* of what follows: 0, or the process whose thread has it */
  core_pool *pool;  /* or NULL */
  int ended;        /* the interpreter is shutting down */
  pcal_device *devices[CORE_DEVICES];
  size_t device_count;
  long device_process; /* that opened them */
};

/* Held for a moment, while a pool or a device is looked up.  A child process takes the lock of a
 * thread that it does not have. */
void core_state_lock(core_state *state);
void core_state_unlock(core_state *state);

/* Each adds its type to the module and keeps it in the state. */
int core_source_add(PyObject *module, core_state *state);
int core_results_add(PyObject *module, core_state *state);
int core_calibrator_add(PyObject *module, core_state *state);
int core_measure_add(PyObject *module, core_state *state);
int core_rounds_add(PyObject *module, core_state *state);
/* Makes a type from its spec, without a constructor. */
PyObject *core_type_add(PyObject *module, PyType_Spec *spec);

/* A zeroed object of a type. */
PyObject *core_new(PyObject *type);
/* Frees an object of a heap type. */
void core_delete(PyObject *self);
/* Returns 1 for a tuple, else 0 with a TypeError; PyArg_ParseTuple would raise SystemError. */
int core_tuple(PyObject *given);
/* 1 if the object has this type, else 0 with a TypeError. */
int core_check(PyObject *object, PyObject *type, const char *what);

enum { CORE_INPUTS = 18 }; /* the fields of pcal_inputs that are a pcal_input */

/* Numbers of a tuple, at most PCAL_LEVELS_MAX; returns how many, or -1.  None: none. */
Py_ssize_t core_levels(PyObject *tuple, double out[PCAL_LEVELS_MAX]);

typedef struct core_source {
  PyObject_HEAD pcal_source *source;
  core_watch *watch;
  Py_buffer buffers[CORE_INPUTS];
  int held[CORE_INPUTS];    /* whether the buffer is */
  PyObject *kept;           /* objects whose letters the source uses */
  void *names[CORE_INPUTS]; /* arrays of letters, for PyMem_Free */
} core_source;

/* Reads a policy (normalize, skip_missing, fast, interval, replicas, interval_method or None,
 * null, by_cluster, paired) into a configuration. */
int core_policy(PyObject *policy, pcal_measure_config *config);

/* Both own their arguments, also on failure. */
PyObject *core_results_wrap(core_state *state, pcal_results *results, core_watch *watch);
PyObject *core_calibrator_wrap(core_state *state, pcal_calibrator *calibrator,
                               core_watch *watch);

const pcal_calibrator *core_calibrator_in(PyObject *self);

/* ---- Functions of the module ---- */

PyObject *core_rows(PyObject *module, PyObject *kind);
PyObject *core_canonical(PyObject *module, PyObject *spec);
/* The name of a calibrator by it or by an alias; None if there is none. */
PyObject *core_calibrator_name(PyObject *module, PyObject *name);
PyObject *core_open(PyObject *module, PyObject *arguments, PyObject *keywords);
PyObject *core_find_columns(PyObject *module, PyObject *arguments);
PyObject *core_measure(PyObject *module, PyObject *arguments);
PyObject *core_measure_new(PyObject *module, PyObject *arguments);
PyObject *core_measure_part(PyObject *module, PyObject *arguments);
PyObject *core_measure_load(PyObject *module, PyObject *arguments);
PyObject *core_rounds_new(PyObject *module, PyObject *arguments);
PyObject *core_rounds_new_fit(PyObject *module, PyObject *arguments);
PyObject *core_rounds_resume(PyObject *module, PyObject *arguments);
PyObject *core_rounds_worker_new(PyObject *module, PyObject *arguments);
PyObject *core_merge_tallies(PyObject *module, PyObject *arguments);
PyObject *core_monitoring(PyObject *module, PyObject *arguments);
PyObject *core_fit(PyObject *module, PyObject *arguments);
PyObject *core_load(PyObject *module, PyObject *arguments);
PyObject *core_draw(PyObject *module, PyObject *arguments);
PyObject *core_report(PyObject *module, PyObject *arguments);
/* The three forms of a report, which it frees. */
PyObject *core_report_texts(pcal_report *report);
PyObject *core_inspect(PyObject *module, PyObject *arguments);
PyObject *core_inspect_file(PyObject *module, PyObject *arguments);
PyObject *core_simulate(PyObject *module, PyObject *arguments);
PyObject *core_compare(PyObject *module, PyObject *arguments);
PyObject *core_study(PyObject *module, PyObject *arguments);
/* The models of a tuple of (name or None, Source, Source or None), to be freed with PyMem_Free;
 * NULL with an exception. */
pcal_model *core_compare_models(const core_state *state, PyObject *given, size_t *count);
/* Adds the watches of their sources to a turn; -1 with an exception. */
int core_compare_turn(core_turn *turn, PyObject *given);
PyObject *core_write_files(PyObject *module, PyObject *arguments);
PyObject *core_escape(PyObject *module, PyObject *arguments);

#endif
