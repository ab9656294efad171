/* propercal: measure whether predicted probabilities are calibrated, and recalibrate them.
 *
 * Example: measure the logits of a file, and print a table with intervals.
 *
 *   #include <propercal.h>
 *   #include <stdio.h>
 *
 *   static int print(void *user, const char *bytes, size_t count) {
 *     return fwrite(bytes, 1, count, (FILE *)user) != count;
 *   }
 *
 *   int main(void) {
 *     pcal_input logits = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
 *     pcal_inputs inputs = PCAL_INPUTS_INIT;
 *     pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
 *     pcal_source *source = NULL;
 *     pcal_results *results = NULL;
 *     pcal_error error;
 *     pcal_status status;
 *
 *     logits.file = "logits.npy";
 *     labels.file = "labels.npy";
 *     inputs.logits = &logits;
 *     inputs.labels = &labels;
 *     config.interval = 0.95;
 *     status = pcal_source_open(&inputs, NULL, &source, &error);
 *     if (status == PCAL_OK)
 *       status = pcal_measure_run(source, &config, NULL, &results, &error);
 *     if (status == PCAL_OK)
 *       status = pcal_results_write(results, PCAL_TEXT, print, stdout, &error);
 *     if (status != PCAL_OK)
 *       fprintf(stderr, "%s\n", error.message);
 *     pcal_results_free(results);
 *     pcal_source_free(source);
 *     return pcal_status_exit_code(status);
 *   }
 *
 * This header is the whole public interface.  Rules that hold for all of it:
 *
 *   - Errors.  A function that can fail returns a pcal_status and describes the failure in
 *     `err`, which the caller owns and which may be NULL.
 *   - Order of arguments: inputs, environment, output, error.
 *   - Environment.  A NULL `env` means PCAL_ENV_INIT.  A NULL configuration means its _INIT.
 *   - Ownership.  A handle that a function stores in `*out` is freed by the caller with the
 *     _free function of its type, which accepts NULL.  After a failure *out is NULL.  Strings
 *     and arrays that a handle returns belong to the handle.  Strings and arrays that a caller
 *     passes in are borrowed until the call returns, unless the declaration says otherwise.
 *   - Threads.  Functions that take a const handle may run at the same time on one handle.
 *     All other functions need one thread at a time for each handle.  Different handles are
 *     independent of each other.
 *   - Structs that callers fill begin with their size, so that later versions can append
 *     fields.  Start from the _INIT macro, or call the _init function with sizeof(struct),
 *     which other languages can do too.
 *   - Getters return their value, or are called get_...; functions that change a handle are
 *     called set_..., add_..., keep_... or by another verb.
 *   - Optional parts.  A build may leave out exports, studies, figures or reports (options
 *     export, studies, figures, report); their functions then fail with PCAL_USAGE and a
 *     sentence that names the option.
 *   - The library never prints, exits, aborts or keeps global state.
 *   - Rows and classes are counted from 0.
 */
#ifndef PROPERCAL_H
#define PROPERCAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCAL_VERSION_MAJOR 0
#define PCAL_VERSION_MINOR 9
#define PCAL_VERSION_PATCH 0
#define PCAL_VERSION "0.9.0"

/* Marks the functions that a shared library exports, for gcc and clang; with other compilers the
 * linker needs a list of them. */
#if defined(__GNUC__)
#define PCAL_API __attribute__((visibility("default")))
#else
#define PCAL_API
#endif

/* Version of the library at run time: "0.9.0". */
PCAL_API const char *pcal_version(void);

/* One line: compiler, processor family, and the kernels chosen for this processor. */
PCAL_API const char *pcal_build_info(void);

/* ---- Status and errors -------------------------------------------------- */

/* name, exit code of the program, description */
#define PCAL_STATUS_LIST(X)                                     \
  X(OK, 0, "fine")                                              \
  X(USAGE, 2, "a name, option or argument is wrong")            \
  X(DATA, 3, "the data are wrong or do not fit what was asked") \
  X(IO, 4, "a file could not be read or written")               \
  X(INTERNAL, 5, "a fault in propercal itself")                 \
  X(MEMORY, 6, "out of memory, or beyond the memory limit")     \
  X(INTERRUPTED, 130, "stopped by the caller")

typedef enum pcal_status {
#define PCAL_STATUS_ENUM(name, code, text) PCAL_##name,
  PCAL_STATUS_LIST(PCAL_STATUS_ENUM)
#undef PCAL_STATUS_ENUM
      PCAL_STATUS_END
} pcal_status;

#define PCAL_NO_ROW UINT64_MAX
#define PCAL_NO_COLUMN SIZE_MAX

/* The names that messages use for arguments: fields of this header, flags of the program, or
 * arguments of the Python package. */
typedef enum pcal_interface {
  PCAL_INTERFACE_C, /* 0: what a zeroed environment has */
  PCAL_INTERFACE_PROGRAM,
  PCAL_INTERFACE_PYTHON
} pcal_interface;

/* Bytes [begin, end) of a message that name an argument. */
typedef struct pcal_reference {
  uint16_t begin, end, argument;
} pcal_reference;

#define PCAL_ERROR_REFERENCES 16

/* A failure.  The message is one sentence, "subject, place: problem; remedy", which names
 * arguments as in this header; pcal_error_text names them as in the program or in Python.  The
 * other fields hold the parts of the message, where they apply. */
typedef struct pcal_error {
  pcal_status status;
  char message[1024];
  const char *argument;     /* the argument at fault, such as "probs", or NULL */
  char subject[256];        /* the file, array, metric or method at fault, or "" */
  uint64_t row;             /* in the data set, or PCAL_NO_ROW */
  uint64_t line;            /* of a text file, from 1, or 0 */
  size_t column;            /* of the scores, or PCAL_NO_COLUMN */
  const char *activity;     /* what was being done when memory ran out, or NULL */
  uint16_t problem;         /* offset of the problem in the message */
  uint16_t remedy;          /* offset of the remedy; the length of the message if none */
  uint16_t reference_count; /* arguments named in the message, for pcal_error_text */
  pcal_reference references[PCAL_ERROR_REFERENCES];
} pcal_error;

#define PCAL_ERROR_INIT                                                     \
  {                                                                         \
    PCAL_OK, "", NULL, "", PCAL_NO_ROW, 0, PCAL_NO_COLUMN, NULL, 0, 0, 0, { \
      { 0, 0, 0 }                                                           \
    }                                                                       \
  }

/* Writes the message, or only its remedy, with the argument names of an interface; always ends
 * with a NUL when out_size is above 0.  Returns the length of the whole text. */
PCAL_API size_t pcal_error_text(const pcal_error *err, pcal_interface caller, char *out,
                                size_t out_size);
PCAL_API size_t pcal_error_remedy(const pcal_error *err, pcal_interface caller, char *out,
                                  size_t out_size);

PCAL_API const char *pcal_status_text(pcal_status status);
PCAL_API int pcal_status_exit_code(pcal_status status);

/* ---- Environment -------------------------------------------------------- */

/* All memory of the library comes from an allocator.  Its functions are called from several
 * threads at once. */
typedef struct pcal_allocator {
  void *(*resize)(void *user, void *block, size_t size); /* like realloc; size > 0 */
  void (*release)(void *user, void *block);              /* like free */
  void *user;
} pcal_allocator;

/* Threads that stay between calls.  Several threads may share a pool; a call that finds it
 * busy works alone.  A child process does not use the pool of its parent. */
typedef struct pcal_pool pcal_pool;

/* A memory limit shared by all calls and handles whose environment refers to it.  Several
 * threads may share a budget. */
typedef struct pcal_budget pcal_budget;

/* How a call runs.  Results do not depend on threads, pool, memory_limit and budget.
 *
 * memory_limit bounds the memory that the library allocates: input from pipes, unpacked
 * arrays, states of groups, kept rows and scores, replicas, results and output text.  It
 * applies to each handle together with everything created from it.  Beyond the limit a call
 * fails with PCAL_MEMORY and names the largest consumer.  Mapped files and the caller's arrays
 * are not counted. */
typedef struct pcal_env {
  size_t size;
  pcal_allocator allocator; /* all NULL: malloc */
  unsigned threads;         /* 0: pcal_processor_count() at each call, some 50 microseconds */
  pcal_pool *pool;          /* NULL: each call starts and joins its own threads */
  uint64_t seed;            /* of all random draws */
  uint64_t memory_limit;    /* in bytes; 0: no limit; ignored with a budget */
  /* Both callbacks may be NULL.  They are called on the caller's thread only.  The call ends
   * with PCAL_INTERRUPTED when interrupted returns non-zero. */
  void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
  int (*interrupted)(void *user);
  void *user;
  pcal_interface caller; /* whose names the texts inside results, reports and tables use */
  int map_files;         /* map files instead of reading them, see pcal_source_open */
  pcal_budget *budget;   /* or NULL; memory then comes from the budget's allocator */
} pcal_env;

#define PCAL_ENV_INIT                                                                        \
  {                                                                                          \
    sizeof(pcal_env), {NULL, NULL, NULL}, 0, NULL, 0, 0, NULL, NULL, NULL, PCAL_INTERFACE_C, \
        0, NULL                                                                              \
  }
PCAL_API void pcal_env_init(pcal_env *env, size_t size);

/* Number of processors that this process may use: those of its affinity mask, or fewer where a
 * control group (cgroup version 1 or 2) limits processor time. */
PCAL_API unsigned pcal_processor_count(void);

/* Creates a pool of at most `threads` threads, which start when there is work for them. */
PCAL_API pcal_status pcal_pool_new(unsigned threads, const pcal_env *env, pcal_pool **out,
                                   pcal_error *err);
PCAL_API void pcal_pool_free(pcal_pool *pool);

/* Creates a budget of `limit` bytes (above 0) over the allocator of env.  Handles that use the
 * budget may outlive pcal_budget_free. */
PCAL_API pcal_status pcal_budget_new(uint64_t limit, const pcal_env *env, pcal_budget **out,
                                     pcal_error *err);
/* The largest number of bytes that were allocated at one time. */
PCAL_API uint64_t pcal_budget_peak(const pcal_budget *budget);
PCAL_API void pcal_budget_free(pcal_budget *budget);

/* The memory limit that the program and the Python package use by default: three quarters of
 * the physical memory or of the control group's limit, whichever is smaller.  0: unknown. */
PCAL_API uint64_t pcal_default_memory_limit(void);

/* ---- Output ------------------------------------------------------------- */

/* Receives output piece by piece, with the `user` pointer of the call.  A non-zero return
 * value ends the call with PCAL_IO. */
typedef int (*pcal_sink)(void *user, const char *bytes, size_t count);

/* Formats of output.  Each function that writes lists the formats it supports. */
typedef enum pcal_format {
  PCAL_TEXT = 1, /* for reading, with aligned columns */
  PCAL_JSON,
  PCAL_CSV,
  PCAL_MARKDOWN,
  PCAL_LATEX, /* tabular environments with the rules of booktabs */
  PCAL_HTML,
  PCAL_SVG,
  PCAL_NPY,
  PCAL_ONNX,
  PCAL_C /* source code in C99 */
} pcal_format;

/* Places where text of unknown origin (names of files, classes, groups) can be written. */
typedef enum pcal_destination {
  PCAL_FOR_TERMINAL = 1, /* a terminal or a log */
  PCAL_FOR_CSV,          /* one cell */
  PCAL_FOR_MARKDOWN,     /* one line */
  PCAL_FOR_MARKUP,       /* HTML and SVG, also between the double quotes of an attribute */
  PCAL_FOR_JSON,         /* a string, with its quotes */
  PCAL_FOR_SHELL         /* one word of a command */
} pcal_destination;

/* Writes `text` so that it is harmless at the destination.  Control characters, invisible
 * characters, those that change the direction of writing, and bytes that are not UTF-8 become
 * visible escapes or U+FFFD. */
PCAL_API pcal_status pcal_escape(const char *text, pcal_destination destination, pcal_sink sink,
                                 void *user, pcal_error *err);

/* ---- Registry: metrics, calibrators, figures, studies --------------------- */

typedef enum pcal_option_type {
  PCAL_OPTION_INT = 1,
  PCAL_OPTION_REAL, /* or one of the words in choices */
  PCAL_OPTION_BOOL, /* yes or no */
  PCAL_OPTION_CHOICE,
  PCAL_OPTION_REALS /* numbers separated by '/' */
} pcal_option_type;

/* An option of a registry row, written name=value in a spec. */
typedef struct pcal_option {
  const char *name;
  pcal_option_type type;
  const char *fallback; /* default value, as written in a spec; "": none */
  double low, high;     /* inclusive bounds of numbers */
  const char *choices;  /* words separated by '|', or NULL */
  const char *help;
} pcal_option;

/* Which values of a metric are better. */
typedef enum pcal_better {
  PCAL_BETTER_NONE, /* neither: the metric only describes, and methods are not ranked by it */
  PCAL_BETTER_LOWER,
  PCAL_BETTER_HIGHER
} pcal_better;

/* The unit of a metric's values. */
typedef enum pcal_unit {
  PCAL_UNIT_NONE, /* a pure number */
  PCAL_UNIT_SHARE, /* a share of rows or a distance between probabilities; also given in percent */
  PCAL_UNIT_NATS,   /* natural logarithm of a probability */
  PCAL_UNIT_TARGET, /* the unit of the target */
  PCAL_UNIT_TARGET_SQUARED
} pcal_unit;

/* The tables of the registry. */
typedef enum pcal_registry {
  PCAL_METRICS = 1,
  PCAL_GROUPS,      /* of metrics */
  PCAL_NOTIONS,     /* of calibration, from the strongest to the weakest */
  PCAL_CONVENTIONS, /* binning rules of other packages */
  PCAL_CALIBRATORS,
  PCAL_FIGURES,
  PCAL_STUDIES
} pcal_registry;

/* The task that a row of the registry serves. */
typedef enum pcal_task {
  PCAL_CLASSIFICATION, /* also rows that serve both tasks */
  PCAL_REGRESSION
} pcal_task;

/* Notions of calibration: notion, name in JSON and Python. */
#define PCAL_NOTION_LIST(X)         \
  X(NONE, NULL)                     \
  X(PROPER, "proper")               \
  X(CANONICAL, "canonical")         \
  X(CLASS_WISE, "class-wise")       \
  X(TOP_LABEL, "top-label")         \
  X(PROBABILISTIC, "probabilistic") \
  X(VARIANCE, "variance")

/* The rows of PCAL_NOTIONS describe them, in this order. */
typedef enum pcal_notion {
#define PCAL_NOTION_ENUM(notion, name) PCAL_NOTION_##notion,
  PCAL_NOTION_LIST(PCAL_NOTION_ENUM)
#undef PCAL_NOTION_ENUM
      PCAL_NOTION_END
} pcal_notion;

/* A metric estimates its calibration error from below or from above. */
typedef enum pcal_bound { PCAL_BOUND_NONE, PCAL_BOUND_LOWER, PCAL_BOUND_UPPER } pcal_bound;

/* What a metric keeps of the rows: sums, bins, sorted scores, or whole rows, in pairs or not. */
typedef enum pcal_machine {
  PCAL_MACHINE_NONE,
  PCAL_MACHINE_SUM,
  PCAL_MACHINE_GRID,
  PCAL_MACHINE_CURVE,
  PCAL_MACHINE_PAIR,
  PCAL_MACHINE_KEEP
} pcal_machine;

/* "top-label", "lower", "grid" ...; NULL for NONE and unknown numbers. */
PCAL_API const char *pcal_notion_name(pcal_notion notion);
PCAL_API const char *pcal_bound_name(pcal_bound bound);
PCAL_API const char *pcal_unit_name(pcal_unit unit);
PCAL_API const char *pcal_machine_name(pcal_machine machine);

/* A metric, a calibrator, ...; all rows are constants of the library. */
typedef struct pcal_registry_row {
  pcal_registry registry;
  const char *name;
  const char *title;    /* a few words */
  const char *formula;  /* plain text, may have several lines */
  const char *about;    /* a paragraph: meaning and edge cases */
  const char *citation; /* or NULL */
  pcal_notion notion;
  pcal_bound bound;
  pcal_machine machine;
  const pcal_option *options;
  size_t option_count;
  pcal_task task;
  pcal_better better; /* of metrics; PCAL_BETTER_NONE for other kinds */
  int is_test;        /* a metric whose results have a p-value of their own */
  pcal_unit unit;     /* of a metric's values */
} pcal_registry_row;

/* "metrics", "groups", ...; NULL for an unknown number. */
PCAL_API const char *pcal_registry_name(pcal_registry registry);
/* The table of that name; 0: there is none. */
PCAL_API pcal_registry pcal_registry_by_name(const char *name);
PCAL_API size_t pcal_registry_count(pcal_registry registry);
/* The row at an index, or NULL after the last one. */
PCAL_API const pcal_registry_row *pcal_registry_at(pcal_registry registry, size_t index);
/* The row of that name or alias ("nll", "sigmoid"), or NULL.  Some names stand for a row of each
 * task ("log", "skce"); the first function then returns the row for classification. */
PCAL_API const pcal_registry_row *pcal_registry_find(pcal_registry registry, const char *name);
PCAL_API const pcal_registry_row *pcal_registry_find_for_task(pcal_registry registry,
                                                              pcal_task task, const char *name);
/* The name most similar to a mistyped one, or NULL when none is similar. */
PCAL_API const char *pcal_registry_nearest(pcal_registry registry, const char *name);

/* Writes the full canonical spec ("ece:bins=15,...") of a metric spec into `out`. */
PCAL_API pcal_status pcal_spec_canonical(const char *spec, char *out, size_t out_size,
                                         pcal_error *err);

/* ---- Rows --------------------------------------------------------------- */

/* The kind of scores. */
typedef enum pcal_kind {
  PCAL_PROBABILITY = 1,
  PCAL_LOGIT,
  PCAL_LOG_PROBABILITY,
  PCAL_CONFIDENCE, /* probability of the predicted label; labels: 1 correct, 0 wrong */
  /* Regression: a predicted distribution of a number, whose true value is the target. */
  PCAL_MEAN_VARIANCE, /* two columns, of a normal distribution */
  PCAL_MEAN_STD,      /* the same with the standard deviation */
  PCAL_QUANTILES,     /* one column for each level, ascending */
  PCAL_SAMPLES,       /* one column for each sample or ensemble member, in any order */
  /* Samples of several numbers at once, with as many targets: the numbers of sample 1, then those
   * of sample 2, ...; `dimensions` of a batch is how many numbers a sample has. */
  PCAL_SAMPLE_VECTORS
} pcal_kind;

PCAL_API const char *pcal_kind_name(pcal_kind kind);

/* Types of array elements.  Batches hold PCAL_F32 or PCAL_F64. */
typedef enum pcal_type {
  PCAL_F32 = 1,
  PCAL_F64,
  PCAL_F16,
  PCAL_I8,
  PCAL_I16,
  PCAL_I32,
  PCAL_I64,
  PCAL_U8,
  PCAL_U16,
  PCAL_U32,
  PCAL_U64,
  PCAL_BOOL /* one byte */
} pcal_type;

#define PCAL_MISSING_LABEL INT32_MIN

/* The meaning of weights.  With frequencies a row of weight 3 equals three rows.  With
 * importance weights each row is one observation: intervals, tests, null and verdict count
 * rows, and results do not change when all weights are multiplied by a constant. */
typedef enum pcal_weights {
  PCAL_WEIGHTS_AUTO,      /* frequencies if all weights are integers, else importance */
  PCAL_WEIGHTS_FREQUENCY, /* weights that are not integers are refused */
  PCAL_WEIGHTS_IMPORTANCE
} pcal_weights;

/* The largest number of levels that quantiles may have. */
#define PCAL_LEVELS_MAX 200

typedef enum pcal_field {
  PCAL_FIELD_SCORES = 1,
  PCAL_FIELD_LABELS, /* or targets */
  PCAL_FIELD_WEIGHTS
} pcal_field;

/* The position of a row, or of one of its scores, in its file. */
typedef struct pcal_location {
  uint64_t line;           /* of a text file, from 1, or 0 */
  size_t column;           /* PCAL_NO_COLUMN: messages name none */
  const char *column_name; /* or NULL */
  uint64_t row;            /* in its file; PCAL_NO_ROW: the file is the whole data set */
} pcal_location;

/* Fills *out, which starts as {0, column, NULL, PCAL_NO_ROW}.  column is PCAL_NO_COLUMN for the
 * whole row.  Called when a row is refused, from any thread. */
typedef void (*pcal_row_locator)(const void *user, pcal_field field, size_t row, size_t column,
                                 pcal_location *out);

/* An NVIDIA GPU that holds arrays.  It keeps 64 MiB of page-locked memory and 28 MiB of the GPU,
 * reserved when first needed.  Several threads may share a device; they take turns. */
typedef struct pcal_device pcal_device;

/* Opens the GPU that holds `address`, or the first GPU if it is NULL, through NVIDIA's driver
 * (libcuda.so.1), which is opened here and is needed for nothing else.  The device must outlive the
 * batches and inputs that refer to it. */
PCAL_API pcal_status pcal_device_open(const void *address, const pcal_env *env,
                                      pcal_device **out, pcal_error *err);
PCAL_API void pcal_device_free(pcal_device *device);
/* 1 if the GPU of the device holds `address`, else 0. */
PCAL_API int pcal_device_holds(const pcal_device *device, const void *address);

/* Rows in memory, borrowed from the caller for the length of a call.  One column of
 * PCAL_PROBABILITY or PCAL_LOGIT holds the score of class 1 of two classes.  Strides are in
 * bytes and may be negative; 0 means no gaps: row after row, column after column.  A
 * column_stride other than the size of a score needs a row_stride. */
typedef struct pcal_batch {
  size_t size;
  pcal_kind kind;
  pcal_type type;
  size_t rows;
  size_t columns;
  const void *scores;
  ptrdiff_t row_stride;    /* from one row to the next */
  ptrdiff_t column_stride; /* from one column to the next */
  const int32_t *labels;
  const double *weights;  /* or NULL: 1 each */
  const uint32_t *groups; /* group numbers, or NULL */
  uint64_t first_row;     /* index of the first row in the whole data set */
  const char *scores_name, *labels_name, *weights_name,
      *groups_name;       /* for messages, or NULL */
  pcal_row_locator place; /* or NULL: row numbers */
  const void *place_user;
  const double *targets;   /* of regression, in place of labels; named by labels_name */
  const double *levels;    /* of quantiles, one for each column */
  const char *spread_name; /* name of variances that come from another file, or NULL */
  const uint64_t *ids;     /* keys of random draws, unique; NULL: a hash of the row's content */
  pcal_weights weights_are;
  /* The GPU whose memory `scores` points to, row after row without gaps; NULL: memory of the
   * process.  Scores that this GPU does not hold are refused.  Results are the same, bit for bit;
   * pcal_result.device says which were computed there, and for which the scores were copied, once.
   * Labels and weights are in the memory of the process. */
  pcal_device *device;
  /* Of the device (CUstream): the scores are complete there; NULL: the default.  A measure keeps
   * top scores on the device, and its last calls use the stream again: the stream must exist until
   * pcal_measure_finish has returned, and until the measure is freed. */
  void *stream;
  size_t
      dimensions; /* of PCAL_SAMPLE_VECTORS: numbers of each sample, and targets of each row, which
                        are row after row; else 0 */
} pcal_batch;

#define PCAL_BATCH_INIT                                                                      \
  {                                                                                          \
    sizeof(pcal_batch), PCAL_PROBABILITY, PCAL_F32, 0, 0, NULL, 0, 0, NULL, NULL, NULL, 0,   \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, PCAL_WEIGHTS_AUTO, NULL, \
        NULL, 0                                                                              \
  }
PCAL_API void pcal_batch_init(pcal_batch *batch, size_t size);

/* ---- Sources: rows of files, arrays and Arrow data ------------------------ */

/* The Arrow C data and C stream interfaces: structures of a specification, not of a library
 * (https://arrow.apache.org/docs/format/CDataInterface.html). */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

/* One input of a data set: a file, an array, Arrow data, or columns of `data`.  Set the fields
 * of exactly one of these.  Everything is borrowed until the source is freed, except Arrow
 * data, which are moved into the source (also by a call that fails). */
typedef struct pcal_input {
  size_t size;
  const char *name; /* for messages; NULL: the path, or the name of the field of pcal_inputs */

  /* A file, and after the last colon the part of it: "logits.npy", "data.npz:logits",
   * "data.csv:label", "data.csv:cat..dog", "data.jsonl:label", "-:3" (standard input).  Names
   * may end in .gz, or in .zst if libzstd was found at build time. */
  const char *file;

  /* An array.  Strides are in bytes and may be negative; 0 means no gaps, as in pcal_batch. */
  const void *data;
  pcal_type type;
  int swapped; /* the byte order is not that of this machine */
  size_t rows;
  size_t columns; /* 0: one-dimensional */
  ptrdiff_t row_stride, column_stride;
  /* The names that integers of labels and groups stand for, or NULL.  An integer without a
   * name is a missing value. */
  const char *const *meanings;
  size_t meaning_count;

  /* Arrow data: a stream of record batches or of arrays, or one array with its schema.  After
   * the call their release is NULL.  Batches are read when needed and kept, so that the source
   * can be rewound.  Scores are one column of lists of equal length, or one column for each class,
   * which then has that name.  Labels are integers, booleans or names of classes.  Groups are
   * names or numbers.  Nulls are missing values. */
  struct ArrowArrayStream *stream;
  struct ArrowSchema *schema;
  struct ArrowArray *array;

  /* Names of columns of the Arrow data, or, without any of the above, of `data` of pcal_inputs.
   * Count 0: all columns. */
  const char *const *column_names;
  size_t column_name_count;

  /* The GPU whose memory `data` points to, without gaps, and the stream on which it is complete,
   * as in pcal_batch; NULL: memory of the process.  Both must exist until the source is freed, and
   * the stream until measures made from the source are. */
  pcal_device *device;
  void *device_stream;

  /* Several files in place of one, read in this order as one. */
  const char *const *files;
  size_t file_count;
} pcal_input;

#define PCAL_INPUT_INIT                                                                       \
  {                                                                                           \
    sizeof(pcal_input), NULL, NULL, NULL, PCAL_F32, 0, 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL, \
        NULL, 0, NULL, NULL, NULL, 0                                                          \
  }
PCAL_API void pcal_input_init(pcal_input *input, size_t size);

/* First line of CSV and TSV files. */
typedef enum pcal_header {
  PCAL_HEADER_AUTO, /* detect it, and fail where the line could be either */
  PCAL_HEADER_YES,
  PCAL_HEADER_NO
} pcal_header;

/* The inputs of a data set, by the names of the program's flags and of Python's arguments.
 * Scores come from exactly one of probs, logits, log_probs, confidence, mean, quantiles,
 * samples and data.  Inputs that are not given are NULL. */
typedef struct pcal_inputs {
  size_t size;
  const pcal_input *probs, *logits, *log_probs; /* a column for each class, or one: class 1 */
  const pcal_input *confidence;                 /* of the predicted class; with correct */
  const pcal_input *mean, *variance, *std;      /* mean with variance or std */
  const pcal_input *quantiles;                  /* with levels */
  const pcal_input *samples;
  /* A table whose columns, arrays or fields have the names of these fields ("labels",
   * "probs.cat"): a CSV, npz or JSON lines file.  Or Arrow record batches, whose columns the
   * other inputs choose by column_names.  Inputs given beside a table replace its columns. */
  const pcal_input *data;
  const pcal_input *labels;  /* class numbers, booleans, one-hot rows or names of classes */
  const pcal_input *correct; /* 1 or 0, beside confidence */
  const pcal_input
      *target; /* the true numbers, beside mean, quantiles and samples.  Several columns
                                beside samples: as many numbers in each sample, whose columns are
                                those of sample 1, then those of sample 2, ... */
  const pcal_input *weights;
  const pcal_input *groups; /* a name or number for each row; with two to four columns, results
                               also have the groups of every column and of their combinations,
                               which overlap: "site=a", "site=a & sex=f" */
  const pcal_input *ids;    /* a unique key for each row, for random draws */
  pcal_weights weights_are;
  const double *levels; /* of quantiles, one for each column; NULL: from the column names */
  size_t level_count;
  /* Names of the classes, or NULL.  If the scores have the same names, they are taken in this
   * order; if they have other names or none, these replace them, column by column, except for
   * keys of JSON objects, which have no order.  With `ragged` there may be more names than
   * columns: choices that no row has. */
  const char *const *class_names;
  size_t class_count;
  pcal_header header;
  /* Index of the first row in the whole data set.  PCAL_FIRST_ROW_AUTO: one that is computed from
   * the content of the files, for saved parts of a data set whose sizes are not known; the same
   * files give the same index, so that pcal_measure_merge refuses a part that is given twice. */
  uint64_t first_row;
#define PCAL_FIRST_ROW_AUTO UINT64_MAX
  /* Format of standard input, pipes and files whose extension names none: "csv", "tsv", "jsonl",
   * "npy", "npz" or "arrow".  NULL: that of standard input and pipes is recognised by its first
   * bytes, and other files are refused. */
  const char *file_format;
  /* For one column of probs or logits: the label of class 1; one other label is class 0, and a
   * third one is refused.  NULL: labels are 0 and 1. */
  const char *positive;
  int percent; /* probs and confidence are percentages, from 0 to 100 */
  /* As if the classes had these prevalences: rows are weighted by class, as importance weights.
   * One number for each class, or for two classes that of class 1; NULL: as observed. */
  const double *prevalence;
  size_t prevalence_count;
  /* The time of each row, in place of groups: groups are then the periods that contain the rows,
   * in order of time.  Times are text in ISO 8601 ("2026-03-02", "2026-03-02T10:15:00+01:00"; UTC
   * without an offset) or numbers, seconds since 1970.  With `data` and without `time` the column
   * of that name is taken. */
  const pcal_input *time;
  /* Length of the periods, in UTC: "hour", "day", "week" (from Monday), "month", "quarter",
   * "year", or seconds with an optional unit: "900", "15min", "6h", "10d".  NULL: no time. */
  const char *every;
  /* An event about the predicted number: "> 20", ">= 20", "< 20" or "<= 20".  The source then has
   * rows of its predicted probability, one column, with the label 1 where the target satisfies it.
   * NULL: none. */
  const char *event;
  /* A GPU that measures these rows and fits temperatures to them, where it has kernels for it:
   * logits are copied there window by window.  NULL: none.  Results are the same. */
  pcal_device *device;
  /* Rows have different numbers of choices: missing scores of a row (NaN, null, the end of a
   * shorter list, a name that an object lacks) are choices that it does not have, of
   * probability 0.  A row without any score stays missing. */
  int ragged;
  /* 1 for each row in which the model did not answer, else 0; beside confidence.  Such a row
   * has the confidence 0 and is not correct. */
  const pcal_input *abstain;
} pcal_inputs;

#define PCAL_INPUTS_INIT                                                                     \
  {                                                                                          \
    sizeof(pcal_inputs), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,   \
        NULL, NULL, NULL, NULL, NULL, PCAL_WEIGHTS_AUTO, NULL, 0, NULL, 0, PCAL_HEADER_AUTO, \
        0, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, 0, NULL                           \
  }
PCAL_API void pcal_inputs_init(pcal_inputs *inputs, size_t size);

/* The rows of a data set, read window by window. */
typedef struct pcal_source pcal_source;

/* Opens the inputs and checks that they fit together.
 *
 * Files are read: arrays of .npy files above 64 MiB window by window, so that memory does not
 * grow with them; other files as a whole, within memory_limit.  A compressed array of an npz
 * file is unpacked into memory: at most memory_limit bytes, or 4 GiB without a limit.  A file
 * that becomes shorter during reading is an error (PCAL_IO).  A file that is overwritten during
 * reading gives wrong numbers or an error.
 *
 * With map_files of the environment files are mapped.  No format then needs memory of the
 * process, and measuring is faster (reading took 1.4 times the processor time for 400 MB of
 * logits, 1.8 times for 40 million single scores).  But when another process shortens the
 * file, the system sends SIGBUS, which only the caller can handle, as the program does. */
PCAL_API pcal_status pcal_source_open(const pcal_inputs *inputs, const pcal_env *env,
                                      pcal_source **out, pcal_error *err);
/* Finds the columns of a table by their names, as `data` of pcal_inputs does, for tables that the
 * caller reads.  roles[i] becomes the name of the field of pcal_inputs that column i is for
 * ("probs", "labels", ...), or NULL.  Columns "probs.cat", "probs.dog" all have the role
 * "probs".  table: for messages. */
PCAL_API pcal_status pcal_find_columns(const char *table, const char *const *names,
                                       size_t count, const pcal_env *env, const char **roles,
                                       pcal_error *err);

/* Reads the next rows, at most max_rows; batch->rows is 0 at the end.  The batch is valid until
 * the next call on the source. */
PCAL_API pcal_status pcal_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                      pcal_error *err);
/* Returns to the first row. */
PCAL_API pcal_status pcal_source_rewind(pcal_source *source, pcal_error *err);
PCAL_API void pcal_source_free(pcal_source *source);

/* Shape and names of a source.  group_names grows as rows are read. */
typedef struct pcal_shape {
  size_t size;
  pcal_kind kind;
  pcal_type type;
  uint64_t row_count; /* PCAL_NO_ROW: not known yet */
  size_t columns;
  int weighted, grouped, labelled;
  const char *const *class_names; /* one for each column, or NULL */
  const char *const *group_names;
  size_t group_count;
  const double *levels; /* of quantiles, one for each column; else NULL */
} pcal_shape;

#define PCAL_SHAPE_INIT \
  { sizeof(pcal_shape), PCAL_PROBABILITY, PCAL_F32, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL }
PCAL_API void pcal_shape_init(pcal_shape *shape, size_t size);

/* Fills *out, whose size must be set. */
PCAL_API void pcal_source_get_shape(const pcal_source *source, pcal_shape *out);
/* The name of the column or array of the file `data` that was taken for a field of pcal_inputs:
 * "labels", "correct", "target", "weights", "groups", "time" or "abstain"; NULL: none.  Valid
 * as long as the source. */
PCAL_API const char *pcal_source_data_column(const pcal_source *source, const char *field);
/* How text files were read where that is not the usual way: "semicolons", or "semicolons and
 * decimal commas".  NULL: commas between cells and points in numbers, or no text files. */
PCAL_API const char *pcal_source_notation(const pcal_source *source);

/* ---- Measuring ---------------------------------------------------------- */

/* Methods of intervals.  PCAL_INTERVAL_AUTO chooses the method that suits each metric; Wilson,
 * Poisson and inversion occur in results only. */
typedef enum pcal_interval_method {
  PCAL_INTERVAL_AUTO,
  PCAL_INTERVAL_NORMAL,
  PCAL_INTERVAL_WILSON, /* of shares */
  PCAL_INTERVAL_PERCENTILE,
  PCAL_INTERVAL_BASIC,
  PCAL_INTERVAL_BCA,
  PCAL_INTERVAL_JACKKNIFE,
  PCAL_INTERVAL_POISSON,  /* of means of losses */
  PCAL_INTERVAL_INVERSION /* of calibration errors: the true errors that fit the data */
} pcal_interval_method;

/* "auto", "normal", ...; NULL for an unknown number. */
PCAL_API const char *pcal_interval_method_name(pcal_interval_method method);
/* The method of that name, among those that can be requested. */
PCAL_API pcal_status pcal_interval_method_parse(const char *name, pcal_interval_method *out,
                                                pcal_error *err);

/* What to measure. */
typedef struct pcal_measure_config {
  size_t size;
  pcal_kind kind; /* kind, columns and levels: pcal_measure_run takes the source's */
  size_t columns;
  const char *const *specs; /* metric specs or names of groups; none: "default" */
  size_t spec_count;
  int normalize;    /* rescale probability rows whose sums are off by 1e-5 to 1e-2 */
  int skip_missing; /* drop and count rows with a missing value */
  int fast;         /* exponentials of float32 logits in float32; where this does not apply,
                       results say "exact" */
  double interval;  /* level of intervals, such as 0.95; 0: none */
  size_t replicas;  /* for intervals and null; 0: 1000 */
  pcal_interval_method interval_method;
  int null;       /* also compute the values that a calibrated model would have */
  int by_cluster; /* groups are clusters of dependent rows: intervals draw whole clusters, and
                     there are no results for each group */
  int paired;     /* keep replicas for pcal_results_add_difference; needs an interval */
  int curves;     /* keep the tables for pcal_results_get_curve; the scores of a large source
                     then stay in memory */
  const double *levels; /* of quantiles, one for each column; copied */
} pcal_measure_config;

#define PCAL_MEASURE_CONFIG_INIT                                                \
  {                                                                             \
    sizeof(pcal_measure_config), PCAL_PROBABILITY, 0, NULL, 0, 0, 0, 0, 0.0, 0, \
        PCAL_INTERVAL_AUTO, 0, 0, 0, 0, NULL                                    \
  }
PCAL_API void pcal_measure_config_init(pcal_measure_config *config, size_t size);

typedef struct pcal_results pcal_results;

/* Measures all rows of a source. */
PCAL_API pcal_status pcal_measure_run(pcal_source *source, const pcal_measure_config *config,
                                      const pcal_env *env, pcal_results **out, pcal_error *err);

/* A measure that grows: rows are added batch by batch, other measures are merged in.  The
 * results do not depend on how the rows were divided. */
typedef struct pcal_measure pcal_measure;

/* Creates an empty measure for config->kind and config->columns.  The environment's allocator,
 * pool and callbacks must outlive the measure. */
PCAL_API pcal_status pcal_measure_new(const pcal_measure_config *config, const pcal_env *env,
                                      pcal_measure **out, pcal_error *err);
/* Like pcal_measure_run, but returns the measure instead of its results. */
PCAL_API pcal_status pcal_measure_from_source(pcal_source *source,
                                              const pcal_measure_config *config,
                                              const pcal_env *env, pcal_measure **out,
                                              pcal_error *err);
/* Adds rows.  A failure leaves the measure unchanged. */
PCAL_API pcal_status pcal_measure_update(pcal_measure *measure, const pcal_batch *batch,
                                         pcal_error *err);
/* Adds the rows of another measure of the same configuration.  A failure leaves the measure
 * unchanged.  Groups are matched by name when both measures have names, else by number.  A row
 * that came from two loaded states, by its index, is refused. */
PCAL_API pcal_status pcal_measure_merge(pcal_measure *measure, const pcal_measure *other,
                                        pcal_error *err);
/* Sets names for output, which are copied; either array may be NULL.  Results list groups with
 * names by name (whole numbers by value, before other names), other groups by number.  Names as
 * "a=1 & b=2" are combinations of the groups of several columns. */
PCAL_API pcal_status pcal_measure_set_names(pcal_measure *measure,
                                            const char *const *class_names, size_t class_count,
                                            const char *const *group_names, size_t group_count,
                                            pcal_error *err);
/* Whether later results keep their curves; a loaded state does not keep them. */
PCAL_API void pcal_measure_keep_curves(pcal_measure *measure, int keep);
/* Computes the results of the rows so far; the measure can still grow. */
PCAL_API pcal_status pcal_measure_finish(const pcal_measure *measure, pcal_results **out,
                                         pcal_error *err);
/* Writes the state of a measure: little-endian, versioned, with a checksum.  Parts of a data
 * set that are measured apart, saved, loaded and merged give the bits of one measure of all
 * rows.  Refused for metrics over all pairs of rows. */
PCAL_API pcal_status pcal_measure_save(const pcal_measure *measure, pcal_sink sink, void *user,
                                       pcal_error *err);
/* Reads a state.  name is for error messages; NULL: "the state". */
PCAL_API pcal_status pcal_measure_load(const void *bytes, size_t length, const char *name,
                                       const pcal_env *env, pcal_measure **out,
                                       pcal_error *err);
/* Writes the configuration as a JSON object: kind (a number of pcal_kind), columns, levels (or
 * null), specs, normalize, skip_missing, fast, interval, replicas, interval_method, null, and
 * next_row, the index after the last row.  With it a caller can add rows to a loaded
 * measure. */
PCAL_API pcal_status pcal_measure_describe(const pcal_measure *measure, pcal_sink sink,
                                           void *user, pcal_error *err);
PCAL_API void pcal_measure_free(pcal_measure *measure);

/* ---- Watching: calibration over time -------------------------------------- */

/* A sequential test of calibration.  Its e-value may be looked at after every row and at any time:
 * if the predictions are calibrated, it ever reaches 1/alpha with a probability of at most alpha.
 * The order of the rows matters; otherwise the result depends on neither parts nor threads.  The
 * event of a row is class 1 of two classes, and of more, or of confidences, that the prediction is
 * correct; predictions of a number (mean with variance or std) are tested by their PIT. */
typedef struct pcal_watch pcal_watch;

enum {
  PCAL_WATCH_NORMALIZE = 1,    /* as normalize of pcal_measure_config */
  PCAL_WATCH_SKIP_MISSING = 2, /* as skip_missing of pcal_measure_config */
  PCAL_WATCH_ALLOW_REPEAT = 4  /* take rows that were added before */
};

/* alpha: the largest probability of a false alarm, such as 0.05. */
PCAL_API pcal_status pcal_watch_new(double alpha, const pcal_env *env, pcal_watch **out,
                                    pcal_error *err);
PCAL_API void pcal_watch_free(pcal_watch *watch);
/* Adds all rows of a source, in order; on failure the watch is unchanged.  A source of 32 or more
 * rows whose scores and outcomes were added before is refused (PCAL_DATA).  flags: a sum of
 * PCAL_WATCH_... */
PCAL_API pcal_status pcal_watch_update(pcal_watch *watch, pcal_source *source, unsigned flags,
                                       pcal_error *err);

typedef struct pcal_watch_report {
  size_t size;
  uint64_t rows;
  uint64_t skipped, normalized; /* rows */
  size_t parts;                 /* calls of pcal_watch_update with 32 or more rows */
  double alpha;
  double log_e;            /* natural logarithm of the e-value after the last row */
  double highest_log_e;    /* of the highest e-value so far */
  uint64_t highest_rows;   /* rows when it was reached */
  double p_value;          /* min(1, 1 / highest e-value), valid at any time */
  int alarm;               /* the e-value has reached 1/alpha, now or before */
  uint64_t alarm_rows;     /* rows when it first did; 0: never */
  uint64_t contradictions; /* rows whose outcome had the predicted probability 0 */
  uint64_t abstained;      /* rows in which the model did not answer */
} pcal_watch_report;

#define PCAL_WATCH_REPORT_INIT \
  { sizeof(pcal_watch_report), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 }
PCAL_API void pcal_watch_report_init(pcal_watch_report *report, size_t size);
PCAL_API pcal_status pcal_watch_get(const pcal_watch *watch, pcal_watch_report *out,
                                    pcal_error *err);
/* Writes the report as PCAL_TEXT or PCAL_JSON. */
PCAL_API pcal_status pcal_watch_write(const pcal_watch *watch, pcal_format format,
                                      pcal_sink sink, void *user, pcal_error *err);
/* The state as bytes: little-endian, versioned, with a checksum. */
PCAL_API pcal_status pcal_watch_save(const pcal_watch *watch, pcal_sink sink, void *user,
                                     pcal_error *err);
PCAL_API pcal_status pcal_watch_load(const void *bytes, size_t length, const char *name,
                                     const pcal_env *env, pcal_watch **out, pcal_error *err);

/* ---- Rounds: rows that no single process reads --------------------------- */

/* A table is measured by many processes, each of which reads some of its rows:
 *
 *   1. the coordinator, a pcal_rounds, writes a request: bytes to be sent to all workers;
 *   2. each worker, a pcal_rounds_worker, answers it over its rows with a tally;
 *   3. tallies are merged, in any order and in any number of steps, by pcal_tally_merge;
 *   4. the coordinator absorbs the merged tally.  Until it is done, it has another request, which
 *      all workers answer over the same rows.
 *
 * The results are the bytes of one process on the whole table, however the rows were divided and
 * ordered.  Tallies do not grow with the rows, with one exception: curves of rows whose weights
 * are not whole numbers.  Metrics that need all rows at once are refused by name.
 *
 * Every tally has a fingerprint of its rows, the sum of hashes of their content.  Rows that differ
 * between rounds, also because a part was counted twice or not at all, are refused
 * (PCAL_DATA).  Requests and tallies are versioned bytes with checksums; damaged and forged ones
 * are refused.
 *
 * Calibrators are fitted in the same way: pcal_rounds_new_fit. */
typedef struct pcal_rounds pcal_rounds;
typedef struct pcal_rounds_worker pcal_rounds_worker;

/* Begins rounds.  config->kind must be set; config->columns 0: as many as the data have.
 * PCAL_USAGE: a metric cannot be measured in rounds; with columns 0 workers report this.  The
 * caller frees *out with pcal_rounds_free.  The environment's allocator, pool and callbacks must
 * outlive it. */
PCAL_API pcal_status pcal_rounds_new(const pcal_measure_config *config, const pcal_env *env,
                                     pcal_rounds **out, pcal_error *err);
/* Continues rounds from their first request, in another process for example: then absorb the merged
 * tallies of the rounds since, in their order.  PCAL_USAGE: a request of a later round.  The
 * caller frees *out with pcal_rounds_free. */
PCAL_API pcal_status pcal_rounds_resume(const void *request, size_t length, const pcal_env *env,
                                        pcal_rounds **out, pcal_error *err);
/* True if the rounds fit a calibrator; 0 also for NULL. */
PCAL_API int pcal_rounds_is_fit(const pcal_rounds *rounds);
/* True if the results are known; 0 also for NULL. */
PCAL_API int pcal_rounds_done(const pcal_rounds *rounds);
/* The number of the current request, from 1; 0 for NULL. */
PCAL_API unsigned pcal_rounds_round(const pcal_rounds *rounds);
/* True if the current request asks for replicas: equal rows must then be in one part, or be joined
 * into one row with a whole weight, or have ids.  0 also for NULL. */
PCAL_API int pcal_rounds_draws(const pcal_rounds *rounds);
/* Writes the current request to `sink`.  PCAL_USAGE: the rounds are done. */
PCAL_API pcal_status pcal_rounds_request(const pcal_rounds *rounds, pcal_sink sink, void *user,
                                         pcal_error *err);
/* Takes the merged tally of all rows, the answer to the current request.  A refused tally leaves
 * the rounds as they were. */
PCAL_API pcal_status pcal_rounds_absorb(pcal_rounds *rounds, const void *tally, size_t length,
                                        pcal_error *err);
/* The results, once the rounds are done.  The caller frees *out with pcal_results_free. */
PCAL_API pcal_status pcal_rounds_finish(const pcal_rounds *rounds, pcal_results **out,
                                        pcal_error *err);
PCAL_API void pcal_rounds_free(pcal_rounds *rounds); /* or NULL */

/* A worker for one request, which is not needed afterwards.  The caller frees *out with
 * pcal_rounds_worker_free. */
PCAL_API pcal_status pcal_rounds_worker_new(const void *request, size_t length,
                                            const pcal_env *env, pcal_rounds_worker **out,
                                            pcal_error *err);
/* Adds rows: of a batch, whose groups are known by their numbers, or all rows that a source still
 * has.  PCAL_USAGE: rows with groups for rounds that fit a calibrator.  After another failure the
 * worker accepts no more rows and gives no tally. */
PCAL_API pcal_status pcal_rounds_worker_update(pcal_rounds_worker *worker,
                                               const pcal_batch *batch, pcal_error *err);
PCAL_API pcal_status pcal_rounds_worker_update_source(pcal_rounds_worker *worker,
                                                      pcal_source *source, pcal_error *err);
/* Writes the tally of the rows to `sink`; the worker accepts no more rows.  The tally of a worker
 * without rows changes nothing when it is merged. */
PCAL_API pcal_status pcal_rounds_worker_tally(pcal_rounds_worker *worker, pcal_sink sink,
                                              void *user, pcal_error *err);
PCAL_API void pcal_rounds_worker_free(pcal_rounds_worker *worker); /* or NULL */

/* Bytes of the caller. */
typedef struct pcal_bytes {
  const void *bytes;
  size_t length;
} pcal_bytes;

/* The number of rows that a tally counts, and their fingerprint: tallies of the same rows have the
 * same one.  Neither may be NULL. */
PCAL_API pcal_status pcal_tally_rows(const void *tally, size_t length, uint64_t *rows,
                                     uint64_t fingerprint[2], pcal_error *err);

/* Merges tallies of one request, at least one, and writes their sum to `sink`.  PCAL_USAGE: they
 * answer different requests. */
PCAL_API pcal_status pcal_tally_merge(const pcal_bytes *tallies, size_t count,
                                      const pcal_env *env, pcal_sink sink, void *user,
                                      pcal_error *err);

/* ---- Results ------------------------------------------------------------ */

/* A further number of a result, such as the slope of a test. */
typedef struct pcal_part {
  const char *name;
  double value;
} pcal_part;

/* How the interval and the p-value of a difference were computed. */
typedef enum pcal_difference_method {
  PCAL_DIFFERENCE_NONE,          /* there is no interval */
  PCAL_DIFFERENCE_EXCHANGE,      /* the two models were exchanged row by row */
  PCAL_DIFFERENCE_EXCHANGE_WIDE, /* as EXCHANGE; the models err in different ways, so that a
                                    difference must also exceed the variation of replicas */
  PCAL_DIFFERENCE_REPLICAS,      /* by standard errors; the models could not be exchanged */
  PCAL_DIFFERENCE_DELONG         /* of two areas under the ROC curve: DeLong's test */
} pcal_difference_method;

/* "exchange", "exchange-wide", "replicas", "delong"; NULL for PCAL_DIFFERENCE_NONE. */
PCAL_API const char *pcal_difference_method_name(pcal_difference_method method);

/* The value of one metric for all rows or for one group.  Strings belong to the results. */
typedef struct pcal_result {
  size_t size;
  const char *metric; /* name in the registry */
  const char *spec;   /* canonical spec with all options */
  const char *label;  /* short spec: only options that differ from the defaults */
  const char *group;  /* NULL: all rows */
  int defined;
  double value;    /* may be infinite */
  const char *why; /* reason for an undefined or infinite value, else NULL */
  pcal_notion notion;
  pcal_bound bound;
  const pcal_part *parts;
  size_t part_count;
  int tested; /* the metric is a test; p_value is NaN where it is not defined */
  double p_value;
  int has_interval;
  double level, low, high, se; /* of the interval; se: standard error */
  pcal_interval_method interval_method;
  int has_null; /* null_* are set: mean and 95 % band of a calibrated model, and the p-value of
                   `value` under it */
  double null_mean, null_low, null_high, null_p_value;
  const char *unsure; /* why interval, null or difference are missing, or NULL */
  int has_difference; /* to the other model of pcal_results_add_difference */
  double difference;
  int has_difference_interval;
  double difference_low, difference_high, difference_p_value;
  const double *class_values; /* one for each class, of metrics over classes; else NULL */
  size_t class_count;
  pcal_difference_method difference_method;
  uint64_t difference_rows; /* rows or clusters in which two exchanged models differ */
  const char *few_rows; /* the interval may miss its level, as few rows of one kind decide it:
                             * how many; or NULL */
  /* "cuda": a GPU has computed the sums or scores behind the value; "pairs": it has compared
   * the pairs of rows, which were copied to memory for it; "copied": rows on a GPU were copied
   * to memory and measured there; "cpu": a GPU was named for rows in memory, and they were
   * measured there; NULL: no GPU was used or named, or the state was saved and loaded. */
  const char *device;
} pcal_result;

#define PCAL_RESULT_INIT                                                                       \
  {                                                                                            \
    sizeof(pcal_result), NULL, NULL, NULL, NULL, 0, 0.0, NULL, PCAL_NOTION_NONE,               \
        PCAL_BOUND_NONE, NULL, 0, 0, 0.0, 0, 0.0, 0.0, 0.0, 0.0, PCAL_INTERVAL_AUTO, 0, 0.0,   \
        0.0, 0.0, 0.0, NULL, 0, 0.0, 0, 0.0, 0.0, 0.0, NULL, 0, PCAL_DIFFERENCE_NONE, 0, NULL, \
        NULL                                                                                   \
  }
PCAL_API void pcal_result_init(pcal_result *result, size_t size);

/* ---- Verdict: what results say about calibration -------------------------- */

/* kind, name in JSON and Python */
#define PCAL_VERDICT_KIND_LIST(X)       \
  X(CALIBRATED, "calibrated")           \
  X(OVER_CONFIDENT, "over-confident")   \
  X(UNDER_CONFIDENT, "under-confident") \
  X(TOO_HIGH, "too-high")               \
  X(TOO_LOW, "too-low")                 \
  X(UNEVEN, "uneven")                   \
  X(TOO_NARROW, "too-narrow")           \
  X(TOO_WIDE, "too-wide")

/* CALIBRATED: no miscalibration beyond chance was found.  OVER_CONFIDENT, UNDER_CONFIDENT: the
 * confidence is above or below the accuracy; of the probability of class 1: too close to 0 and
 * 1, or too close to one half.  TOO_HIGH, TOO_LOW: probabilities of class 1, or predicted
 * numbers.  UNEVEN: right on average, wrong for some scores, or at some levels of quantiles.
 * TOO_NARROW, TOO_WIDE: predicted distributions of a number. */
typedef enum pcal_verdict_kind {
#define PCAL_VERDICT_KIND_ENUM(kind, name) PCAL_VERDICT_##kind,
  PCAL_VERDICT_KIND_LIST(PCAL_VERDICT_KIND_ENUM)
#undef PCAL_VERDICT_KIND_ENUM
      PCAL_VERDICT_END
} pcal_verdict_kind;

/* advice, name in JSON and Python */
#define PCAL_ADVICE_LIST(X)     \
  X(NONE, "none")               \
  X(MORE_ROWS, "gather")        \
  X(SLOPE, "slope")             \
  X(SHIFT, "shift")             \
  X(SLOPE_AND_SHIFT, "line")    \
  X(SHAPE, "shape")             \
  X(GRADED_SCORES, "graded")    \
  X(VARIANCE, "variance")       \
  X(QUANTILES, "quantiles")     \
  X(WIDER_PREDICTIONS, "wider") \
  X(OTHER_METHOD, "other")      \
  X(CLASSES, "classes")

/* NONE: leave the predictions alone.  MORE_ROWS: the same, but there are too few rows to be
 * sure.  SLOPE, SHIFT, SLOPE_AND_SHIFT: fit a factor, an intercept, or both on the logit scale.
 * SHAPE: fit a curve.  GRADED_SCORES: every score is 0 or 1, so nothing can be fitted.  VARIANCE,
 * QUANTILES: map predicted variances or quantiles.  WIDER_PREDICTIONS: targets lie beyond the
 * outermost quantiles or samples, which no map of them reaches.  OTHER_METHOD: the method that
 * suits has been applied already.  CLASSES: fit an intercept for each class. */
typedef enum pcal_advice {
#define PCAL_ADVICE_ENUM(advice, name) PCAL_ADVICE_##advice,
  PCAL_ADVICE_LIST(PCAL_ADVICE_ENUM)
#undef PCAL_ADVICE_ENUM
      PCAL_ADVICE_END
} pcal_advice;

PCAL_API const char *pcal_verdict_kind_name(pcal_verdict_kind kind);
PCAL_API const char *pcal_advice_name(pcal_advice advice);

/* The reliability bin that adds most to the error. */
typedef struct pcal_verdict_bin {
  double low, high; /* scores */
  double share;     /* of the error */
  double rows;      /* share of all rows */
  double claimed;   /* mean score of its rows */
  double observed;  /* share of hits among them */
} pcal_verdict_bin;

/* "Margin" is the deviation that chance alone causes: a calibrated model stays within it 95
 * times out of 100 (mean_margin, variance_margin: 97.5 times).  Fields of another task are 0. */
typedef struct pcal_verdict {
  size_t size;
  pcal_verdict_kind kind;
  int shift;        /* of TOO_NARROW and TOO_WIDE: 1 also too high, -1 also too low, else 0 */
  pcal_kind scores; /* of the data */
  int binary;       /* two classes, in one column or two: scores of class 1 are judged */
  double rows;      /* effective sample size */
  pcal_advice advice;
  const char *method, *alternative; /* calibrators to try, or NULL */
  /* Classes. */
  double claimed, observed; /* mean score, share of hits */
  double margin;            /* of claimed - observed */
  int off_average;          /* |claimed - observed| exceeds the margin */
  double error;             /* ECE in 15 bins of equal width */
  double chance;            /* mean ECE of a calibrated model with these scores; NaN: unknown */
  int chance_is_drawn; /* for importance weights that differ: mean over replicas of the null */
  int has_where;
  pcal_verdict_bin where;
  /* Means with variances, and samples: u = F(target), uniform in a calibrated model. */
  double mean, variance; /* of u; 1/2 and 1/12 in a calibrated model */
  double mean_margin, variance_margin;
  /* Quantiles. */
  double lowest_level, highest_level;
  double inside, inside_margin; /* share of targets between the outermost quantiles */
  double level;                 /* the level with the largest error, */
  double level_share;           /* share of targets up to its quantile, */
  double level_margin;
  /* Classes: the test of calibration among the results with the smallest p-value, if mean and ECE
   * look calibrated and that p-value is below 0.05; else NULL.  A calibration slope or intercept
   * counts as a test of its standard error. */
  const char *test;    /* spec; valid as long as the results */
  double test_p_value; /* below 0.05 / test_count: UNEVEN; NaN: an interval excludes 0 */
  size_t test_count;   /* of tests among the results */
  /* More than two classes: those whose mean score is off by more than chance; a calibrated model
   * has any of them once in 100.  The other fields are 0 if there are none. */
  size_t classes_off;
  size_t worst_class;                   /* farthest beyond chance */
  double class_claimed, class_observed; /* its mean score, its frequency */
  double class_margin;                  /* of class_claimed - class_observed */
} pcal_verdict;

#define PCAL_VERDICT_INIT                                                                      \
  {                                                                                            \
    sizeof(pcal_verdict), PCAL_VERDICT_CALIBRATED, 0, PCAL_PROBABILITY, 0, 0.0,                \
        PCAL_ADVICE_NONE, NULL, NULL, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0, 0,                        \
        {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, \
        NULL, 0.0, 0, 0, 0, 0.0, 0.0, 0.0                                                      \
  }
PCAL_API void pcal_verdict_init(pcal_verdict *verdict, size_t size);

/* ---- Reading results ------------------------------------------------------- */

/* Number of results.  Results for all rows come first, then those of each group. */
PCAL_API size_t pcal_results_count(const pcal_results *results);
/* Fills *out, whose size must be set, with the result at an index.  PCAL_USAGE: the size is not
 * set, out is NULL, or there is no such result (*out is then empty). */
PCAL_API pcal_status pcal_results_get(const pcal_results *results, size_t index,
                                      pcal_result *out);
/* The result for all rows of a spec, full or abbreviated. */
PCAL_API pcal_status pcal_results_find(const pcal_results *results, const char *spec,
                                       pcal_result *out, pcal_error *err);

/* The table behind a value, for plots: columns of equal length.
 *   ks: "score", "fraction" (of rows up to it), "cumulated_score", "cumulated_outcome" (both
 *     divided by the number of rows), and "label" with by=label; at distinct scores, thinned to
 *     about a thousand with the extremes kept.
 *   binned errors: "low", "high", "weight", "confidence", "accuracy" (the last two are NaN in
 *     an empty bin), and "class" where every class has bins.
 *   decomposition with by=corp and one view: "low", "high", "weight", "accuracy" of the blocks
 *     of the isotonic regression. */
typedef struct pcal_curve {
  size_t size;
  size_t count; /* of points; 0: there is no curve, or `curves` was not set */
  size_t column_count;
  const char *const *names; /* of the columns */
  const double *const *columns;
} pcal_curve;

#define PCAL_CURVE_INIT \
  { sizeof(pcal_curve), 0, 0, NULL, NULL }
PCAL_API void pcal_curve_init(pcal_curve *curve, size_t size);

/* Fills *out, whose size must be set, with the curve of the result at an index.  Fails like
 * pcal_results_get; a result without a curve has one of 0 points. */
PCAL_API pcal_status pcal_results_get_curve(const pcal_results *results, size_t index,
                                            pcal_curve *out);

/* A bin of the reliability table: 15 bins of equal width in the natural view of the data, or
 * the intervals between the levels of quantiles. */
typedef struct pcal_bin {
  double low, high;
  double weight;     /* of its rows; importance weights sum to the effective sample size */
  double confidence; /* mean score; NaN in an empty bin */
  double frequency;  /* share of hits; NaN in an empty bin */
} pcal_bin;

/* The bins; *count receives their number. */
PCAL_API const pcal_bin *pcal_results_bins(const pcal_results *results, size_t *count);

/* Adds to results the differences to another model on the same rows.  Both were measured with
 * the same metrics, `paired` and an interval.  The null hypothesis of the p-value is that both
 * models have the same distribution; the models are exchanged row by row.  The p-value is below
 * 1 - level exactly when the interval of the difference excludes 0. */
PCAL_API pcal_status pcal_results_add_difference(pcal_results *results,
                                                 const pcal_results *other, pcal_error *err);
/* Compares results with those of an earlier run, for example of the main branch.  `json` is what
 * pcal_results_write has written for that run as PCAL_JSON; `name` names it in messages, NULL:
 * "baseline".  Both runs have intervals.  Results are found by spec and group; the intervals of all
 * changes hold together with 95 %, as if the runs were independent.  Fails with PCAL_DATA if
 * nothing can be compared. */
PCAL_API pcal_status pcal_results_add_baseline(pcal_results *results, const void *json,
                                               size_t length, const char *name,
                                               pcal_error *err);

/* The change of a result from the earlier run. */
typedef struct pcal_change {
  size_t size;
  int compared;     /* 0: without a better direction, or without interval or value in a run */
  int worse;        /* by more than chance, or the value is not finite any more */
  double before;    /* value in the earlier run */
  double low, high; /* interval of the change; NaN if the value is not finite any more */
} pcal_change;

#define PCAL_CHANGE_INIT \
  { sizeof(pcal_change), 0, 0, 0, 0, 0 }
PCAL_API void pcal_change_init(pcal_change *change, size_t size);

/* Fills *out, whose size must be set, with the change of the result at an index.  Fails like
 * pcal_results_get, and without pcal_results_add_baseline. */
PCAL_API pcal_status pcal_results_get_change(const pcal_results *results, size_t index,
                                             pcal_change *out);

/* Declares that one of the two models is an injective function of the other's predictions, as
 * after temperature scaling.  The difference of brier, log or spherical is then also that of
 * its calibration error (Gruber & Buettner 2022, Proposition 4.5). */
PCAL_API void pcal_results_set_injective(pcal_results *results);

/* How the weights were used; PCAL_WEIGHTS_AUTO: there are no weights. */
PCAL_API pcal_weights pcal_results_weights_are(const pcal_results *results);
/* The effective sample size: the number of rows; with frequencies the sum of the weights; with
 * importance weights (sum w)^2 / sum w^2 (Kish 1965). */
PCAL_API double pcal_results_effective_rows(const pcal_results *results);
/* Rows in which the model did not answer; PCAL_NO_ROW: the inputs had no `abstain`. */
PCAL_API uint64_t pcal_results_abstained(const pcal_results *results);

/* The class that every label has, or -1 if labels differ (or scores are confidences).  If all
 * labels are equal, metrics still have values, but calibration cannot be judged from them. */
PCAL_API int32_t pcal_results_only_label(const pcal_results *results);

/* Fills *out, whose size must be set, with the verdict on results for all rows.  PCAL_USAGE: the
 * size is not set, results or out is NULL, or results of several targets, which have no verdict. */
PCAL_API pcal_status pcal_results_get_verdict(const pcal_results *results, pcal_verdict *out);
/* The verdict in a few sentences, which live as long as the results; NULL for several targets
 * (pcal_results_get_verdict then returns PCAL_USAGE), or if there is no memory for them. */
PCAL_API const char *pcal_results_verdict_text(const pcal_results *results);

/* Writes the results: PCAL_TEXT, PCAL_JSON, PCAL_CSV, PCAL_MARKDOWN or
 * PCAL_LATEX. */
PCAL_API pcal_status pcal_results_write(const pcal_results *results, pcal_format format,
                                        pcal_sink sink, void *user, pcal_error *err);
/* One table as CSV, for a file of its own: "values", a line for each metric; "groups", a line
 * for each metric in each group, if there are groups; "bins", of the reliability diagram, if
 * there are any.  pcal_results_table_name returns NULL after the last. */
PCAL_API const char *pcal_results_table_name(const pcal_results *results, size_t index);
PCAL_API pcal_status pcal_results_table_write(const pcal_results *results, size_t index,
                                              pcal_sink sink, void *user, pcal_error *err);
PCAL_API void pcal_results_free(pcal_results *results);

/* Goals of a sample-size plan. */
typedef struct pcal_plan_config {
  size_t size;
  double width;      /* largest width of an interval; 0: no such goal */
  double power;      /* probability of detecting the difference to the other model; 0: no such
                        goal */
  double difference; /* to detect; 0: the difference in the results */
} pcal_plan_config;

#define PCAL_PLAN_CONFIG_INIT \
  { sizeof(pcal_plan_config), 0.0, 0.0, 0.0 }
PCAL_API void pcal_plan_config_init(pcal_plan_config *config, size_t size);

/* Writes the number of rows that each metric needs, from the results of a pilot set with
 * intervals and, for power, differences: PCAL_TEXT, PCAL_JSON, PCAL_CSV, PCAL_MARKDOWN or
 * PCAL_LATEX. */
PCAL_API pcal_status pcal_plan_write(const pcal_results *results,
                                     const pcal_plan_config *config, pcal_format format,
                                     pcal_sink sink, void *user, pcal_error *err);

/* ---- Calibrators ---------------------------------------------------------- */

/* A fitted recalibration. */
typedef struct pcal_calibrator pcal_calibrator;

typedef struct pcal_fit_config {
  size_t size;
  const char *method;          /* a calibrator spec: "temperature:objective=brier" */
  int normalize, skip_missing; /* as in pcal_measure_config */
  int by_group; /* also fit a calibrator for each group, mixed with that of all rows */
} pcal_fit_config;

#define PCAL_FIT_CONFIG_INIT \
  { sizeof(pcal_fit_config), "temperature", 0, 0, 0 }
PCAL_API void pcal_fit_config_init(pcal_fit_config *config, size_t size);

/* Fits a calibrator.  Reads the source several times.  An optimiser that did not converge is
 * recorded in the calibrator; it is no error. */
PCAL_API pcal_status pcal_fit_run(pcal_source *source, const pcal_fit_config *config,
                                  const pcal_env *env, pcal_calibrator **out, pcal_error *err);
PCAL_API void pcal_calibrator_free(pcal_calibrator *calibrator);

/* Begins rounds that fit a calibrator to rows which no single process reads (see pcal_rounds).  A
 * round is one pass of the fit over all rows, and an update of a worker runs the search up to that
 * pass: give a worker many rows at once.  The calibrator file has the bytes of pcal_fit_run on all
 * rows.  PCAL_USAGE: the method needs all rows at once, or config->by_group is set.  The caller
 * frees *out with pcal_rounds_free. */
PCAL_API pcal_status pcal_rounds_new_fit(const pcal_fit_config *config, const pcal_env *env,
                                         pcal_rounds **out, pcal_error *err);
/* The calibrator, once the rounds are done.  The caller frees *out with pcal_calibrator_free. */
PCAL_API pcal_status pcal_rounds_calibrator(const pcal_rounds *rounds, pcal_calibrator **out,
                                            pcal_error *err);

/* Writes the parameters and how the fit went: PCAL_TEXT or PCAL_JSON. */
PCAL_API pcal_status pcal_calibrator_describe(const pcal_calibrator *calibrator,
                                              pcal_format format, pcal_sink sink, void *user,
                                              pcal_error *err);
/* Writes a calibrator file: JSON in which every number reads back exactly. */
PCAL_API pcal_status pcal_calibrator_save(const pcal_calibrator *calibrator, pcal_sink sink,
                                          void *user, pcal_error *err);
/* Reads a calibrator file and checks all of it.  name is for error messages; NULL:
 * "calibrator". */
PCAL_API pcal_status pcal_calibrator_load(const void *bytes, size_t length, const char *name,
                                          const pcal_env *env, pcal_calibrator **out,
                                          pcal_error *err);
/* Writes a calibrator for other runtimes: PCAL_C, a C99 file that needs only libm, or
 * PCAL_ONNX, a model with float32 inputs and outputs.  name, a C identifier, names the function
 * or the graph; NULL: "calibrate".  Refused for methods without a short formula. */
PCAL_API pcal_status pcal_calibrator_export(const pcal_calibrator *calibrator,
                                            pcal_format format, const char *name,
                                            pcal_sink sink, void *user, pcal_error *err);

/* Number of columns of a calibrated row: that of the scores, 1 for the probability of one event,
 * 2 for intervals and for sets of two classes. */
PCAL_API size_t pcal_calibrator_column_count(const pcal_calibrator *calibrator);
/* Number of groups with a calibrator of their own, and their names. */
PCAL_API size_t pcal_calibrator_group_count(const pcal_calibrator *calibrator);
PCAL_API const char *pcal_calibrator_group_name(const pcal_calibrator *calibrator,
                                                size_t group);
/* Index of the group whose calibrator a row of the group `name` gets: the group of that name,
 * else the one whose name has the most fields of `name` and no other, "site=a" for "site=a &
 * sex=f".  PCAL_NO_COLUMN: none, the row gets the calibrator of all rows. */
PCAL_API size_t pcal_calibrator_find_group(const pcal_calibrator *calibrator, const char *name);

/* Calibrates a batch, which needs no labels.  `out` receives rows *
 * pcal_calibrator_column_count numbers of the batch's type, row by row; it may be on the device of
 * the batch.  For a calibrator with groups, the batch's groups are indices of them; any
 * other index means no group. */
PCAL_API pcal_status pcal_calibrator_apply(const pcal_calibrator *calibrator,
                                           const pcal_batch *batch, const pcal_env *env,
                                           void *out, pcal_error *err);
/* Calibrates all rows of a source, window by window in constant memory: PCAL_NPY or PCAL_CSV
 * (with a header when the source has class names). */
PCAL_API pcal_status pcal_calibrator_apply_source(const pcal_calibrator *calibrator,
                                                  pcal_source *source, pcal_format format,
                                                  const pcal_env *env, pcal_sink sink,
                                                  void *user, pcal_error *err);

/* ---- Comparing ------------------------------------------------------------ */

/* A model to compare.  All models have the same rows in the same order. */
typedef struct pcal_model {
  size_t size;
  const char *name;    /* NULL: the only model */
  pcal_source *source; /* rows to measure on; read several times */
  pcal_source *val;    /* other rows to fit on, or NULL: cross-validation */
} pcal_model;

#define PCAL_MODEL_INIT \
  { sizeof(pcal_model), NULL, NULL, NULL }
PCAL_API void pcal_model_init(pcal_model *model, size_t size);

typedef struct pcal_compare_config {
  size_t size;
  const char *const *methods; /* calibrator specs; none: for one model all that suit its data,
                                 for several models no calibrator */
  size_t method_count;
  const char *const *specs; /* metrics; none: accuracy, brier, log, rbs, ece, ks, cwce */
  size_t spec_count;
  const char *by;              /* the metric that ranks; NULL: brier */
  size_t folds;                /* of the cross-validation; 0: 5 */
  double interval;             /* level; 0: 0.95 */
  size_t replicas;             /* 0: 1000 */
  int normalize, skip_missing; /* as in pcal_measure_config */
  double budget;               /* seconds for fitting and judging methods; 0: no limit.  Methods
                                  that are not fitted in time are listed with that reason */
  /* Called after each method or model, on the caller's thread, with its name and "brier 0.123"
   * or the reason why it was not judged; or NULL. */
  void (*judged)(void *user, const char *name, const char *outcome);
  void *user;
  int rank_only; /* improvements of the ranking metric alone, which are all that formats other
                    than PCAL_JSON contain; those of other metrics are then null in PCAL_JSON */
  int no_calibrator; /* the chosen method is not fitted to all rows, which the table does not
                        need; pcal_comparison_calibrator is then NULL */
} pcal_compare_config;

#define PCAL_COMPARE_CONFIG_INIT                                                              \
  {                                                                                           \
    sizeof(pcal_compare_config), NULL, 0, NULL, 0, NULL, 0, 0.0, 0, 0, 0, 0.0, NULL, NULL, 0, \
        0                                                                                     \
  }
PCAL_API void pcal_compare_config_init(pcal_compare_config *config, size_t size);

typedef struct pcal_comparison pcal_comparison;

/* Fits every method to every model, judges it on unseen rows, and ranks.  Improvements are over
 * the first model without a calibrator.  A default method that does not suit is listed so,
 * a requested one is an error.  Groups (pcal_inputs.groups) are clusters, each in one fold. */
PCAL_API pcal_status pcal_compare_run(const pcal_model *models, size_t model_count,
                                      const pcal_compare_config *config, const pcal_env *env,
                                      pcal_comparison **out, pcal_error *err);
PCAL_API void pcal_comparison_free(pcal_comparison *comparison);
/* PCAL_TEXT, PCAL_JSON, PCAL_CSV, PCAL_MARKDOWN or
 * PCAL_LATEX. */
PCAL_API pcal_status pcal_comparison_write(const pcal_comparison *comparison,
                                           pcal_format format, pcal_sink sink, void *user,
                                           pcal_error *err);
/* The best method or model: a spec ("identity": no calibrator improves the model) or, of
 * several models, "NAME" or "NAME + spec". */
PCAL_API const char *pcal_comparison_chosen(const pcal_comparison *comparison);
/* Its calibrator, fitted to all rows that can be fitted on; NULL with no_calibrator. */
PCAL_API const pcal_calibrator *pcal_comparison_calibrator(const pcal_comparison *comparison);

/* ---- Figures and reports --------------------------------------------------- */

/* A figure: panels with axes, and marks in data units. */
typedef struct pcal_figure pcal_figure;

typedef enum pcal_theme {
  PCAL_THEME_AUTO, /* light or dark, as the reader's system asks for */
  PCAL_THEME_LIGHT,
  PCAL_THEME_DARK,
  PCAL_THEME_PAGE /* the page around the figure defines the colours */
} pcal_theme;

/* The theme "auto", "light" or "dark"; a NULL name is "auto". */
PCAL_API pcal_status pcal_theme_parse(const char *name, pcal_theme *out, pcal_error *err);

typedef struct pcal_figure_config {
  size_t size;
  const char *figure; /* a name of PCAL_FIGURES with options: "ks-graph:rank=2" */
  pcal_source *val;   /* a second set, for figures that show one; or NULL */
  const pcal_calibrator *calibrator; /* applied before drawing, or NULL */
  int normalize, skip_missing;       /* as in pcal_measure_config */
  double interval;                   /* level, for figures with intervals; 0: none */
  size_t replicas;                   /* 0: 1000 */
  double width, height;              /* in pixels; 0: the figure's default */
  const char *title;                 /* or NULL: the figure's default */
  const pcal_model *models; /* for figures of several models, such as range-bounds, in drawing
                               order; source is then NULL */
  size_t model_count;
  int transparent; /* no background */
} pcal_figure_config;

#define PCAL_FIGURE_CONFIG_INIT                                                           \
  {                                                                                       \
    sizeof(pcal_figure_config), "reliability", NULL, NULL, 0, 0, 0.95, 0, 0.0, 0.0, NULL, \
        NULL, 0, 0                                                                        \
  }
PCAL_API void pcal_figure_config_init(pcal_figure_config *config, size_t size);

/* Measures what a figure needs and builds it.  Reads the source from the start, for some
 * figures several times. */
PCAL_API pcal_status pcal_figure_run(pcal_source *source, const pcal_figure_config *config,
                                     const pcal_env *env, pcal_figure **out, pcal_error *err);
/* Builds a figure, such as "reliability", from results; refused where they lack what it
 * needs. */
PCAL_API pcal_status pcal_figure_from_results(const pcal_results *results, const char *figure,
                                              pcal_figure **out, pcal_error *err);
/* Writes PCAL_SVG in a theme, or PCAL_JSON: panels and marks in data units and drawing order,
 * without a theme. */
PCAL_API pcal_status pcal_figure_write(const pcal_figure *figure, pcal_format format,
                                       pcal_theme theme, pcal_sink sink, void *user,
                                       pcal_error *err);
PCAL_API void pcal_figure_free(pcal_figure *figure);

/* A page about one model: verdict, table and figures, before and after a calibrator. */
typedef struct pcal_report pcal_report;

typedef struct pcal_report_config {
  size_t size;
  pcal_source *val;                  /* other rows to fit a calibrator on, or NULL */
  const pcal_calibrator *calibrator; /* an already fitted one, or NULL */
  const char *method;       /* to fit: to the other rows or, without any, by cross-validation
                               with 5 folds; NULL with other rows: the best by
                               pcal_compare_run */
  const char *const *specs; /* metrics of the table; none: "default" */
  size_t spec_count;
  double interval;             /* level; 0: none */
  size_t replicas;             /* 0: 1000 */
  int normalize, skip_missing; /* as in pcal_measure_config */
  const char *title;           /* or NULL */
  /* For the section that shows how to repeat the report; copied; each may be NULL: the whole
   * command, and the flags that name the rows, the other rows and the calibrator file. */
  const char *command, *input_flags, *val_flags, *calibrator_file;
  const char
      *preset;    /* "clinical": one page about predicted risks for a paper, with the metrics of
                         that group before `specs`; NULL: the full report */
  int by_cluster; /* as in pcal_measure_config */
} pcal_report_config;

#define PCAL_REPORT_CONFIG_INIT                                                             \
  {                                                                                         \
    sizeof(pcal_report_config), NULL, NULL, NULL, NULL, 0, 0.95, 0, 0, 0, NULL, NULL, NULL, \
        NULL, NULL, NULL, 0                                                                 \
  }
PCAL_API void pcal_report_config_init(pcal_report_config *config, size_t size);

/* Measures everything.  Reads the sources several times. */
PCAL_API pcal_status pcal_report_run(pcal_source *source, const pcal_report_config *config,
                                     const pcal_env *env, pcal_report **out, pcal_error *err);
/* A report of results alone, such as those of pcal_rounds: verdict, tables and, of classes, the
 * reliability diagram; the page says that the other figures are left out.  config: only `title`
 * is used; NULL: the usual title.  The results must outlive the report.  PCAL_USAGE for
 * several targets. */
PCAL_API pcal_status pcal_report_from_results(const pcal_results *results,
                                              const pcal_report_config *config,
                                              pcal_report **out, pcal_error *err);
/* PCAL_HTML: one self-contained page, with the numbers as JSON inside; PCAL_MARKDOWN, for a
 * pull request; PCAL_JSON: the numbers. */
PCAL_API pcal_status pcal_report_write(const pcal_report *report, pcal_format format,
                                       pcal_sink sink, void *user, pcal_error *err);
PCAL_API void pcal_report_free(pcal_report *report);

/* ---- Inspection and simulation -------------------------------------------- */

/* Writes the content of a file ("file.npy", "file.csv:columns") and the problems that would
 * prevent measuring it: PCAL_TEXT or PCAL_JSON.  `role` of a column or member in JSON is the
 * field of pcal_inputs that it could be, guessed from names and the first rows, or null.
 * *problems, unless NULL, receives their number. */
PCAL_API pcal_status pcal_inspect_file(const char *file, pcal_header header,
                                       const pcal_env *env, pcal_format format, pcal_sink sink,
                                       void *user, size_t *problems, pcal_error *err);
/* The same for a data set. */
PCAL_API pcal_status pcal_inspect_source(pcal_source *source, const pcal_env *env,
                                         pcal_format format, pcal_sink sink, void *user,
                                         size_t *problems, pcal_error *err);

/* Predictions whose true calibration is known (Gruber & Buettner 2022, appendix G.1). */
typedef struct pcal_simulation {
  size_t size;
  uint64_t rows;
  size_t classes;
  double factor;      /* of the logits; 1: calibrated, above 1: overconfident */
  double scale;       /* s of the inverse-Wishart scale matrix I/s */
  uint64_t first_row; /* of the seed's infinite sequence of rows; a multiple of classes */
} pcal_simulation;

#define PCAL_SIMULATION_INIT \
  { sizeof(pcal_simulation), 10000, 100, 1.0, 0.01, 0 }
PCAL_API void pcal_simulation_init(pcal_simulation *simulation, size_t size);

/* Fills rows x classes logits (row by row), rows labels and, unless truth is NULL, rows x
 * classes true probabilities.  The seed is that of the environment. */
PCAL_API pcal_status pcal_simulate(const pcal_simulation *simulation, const pcal_env *env,
                                   float *logits, int32_t *labels, double *truth,
                                   pcal_error *err);

/* Population value of each metric (a spec, not a group) under a simulation: the expectation
 * over labels is exact, that over predictions is a mean over ten million scores.  NaN for
 * metrics over pairs of rows, for metrics that need integer weights, and for tests, whose
 * statistics grow with the rows. */
PCAL_API pcal_status pcal_simulation_population_values(const pcal_simulation *simulation,
                                                       const char *const *specs, size_t count,
                                                       const pcal_env *env, double *values,
                                                       pcal_error *err);

/* ---- Studies -------------------------------------------------------------- */

/* Settings of a study.  A study ignores the fields that it does not use; 0, NULL and empty
 * lists leave the choice to the study. */
typedef struct pcal_study_config {
  size_t size;
  const char *const *specs; /* metrics */
  size_t spec_count;
  pcal_simulation simulation; /* rows: of one set */
  uint64_t sets;              /* simulated */
  double interval;            /* level; 0: 0.95 */
  size_t replicas;
  pcal_interval_method interval_method;
  const uint64_t
      *row_counts; /* rows of a set, one experiment for each; none: simulation.rows */
  size_t row_count_count;
  const double *factors; /* the same for simulation.factor */
  size_t factor_count;
  uint64_t null_sets;       /* calibrated sets, for the size of tests; 0: sets */
  const pcal_model *models; /* the user's predictions */
  size_t model_count;
  const char *const *methods; /* calibrators */
  size_t method_count;
  uint64_t repeats;            /* of each step */
  pcal_source *features;       /* features to train on, as a source of kind PCAL_SAMPLES, with
                                  their target */
  int normalize, skip_missing; /* as in pcal_measure_config */
} pcal_study_config;

#define PCAL_STUDY_CONFIG_INIT                                                                 \
  {                                                                                            \
    sizeof(pcal_study_config), NULL, 0, {sizeof(pcal_simulation), 0, 0, 0.0, 0.01, 0}, 0, 0.0, \
        0, PCAL_INTERVAL_AUTO, NULL, 0, NULL, 0, 0, NULL, 0, NULL, 0, 0, NULL, 0, 0            \
  }
PCAL_API void pcal_study_config_init(pcal_study_config *config, size_t size);

/* The tables and the figure of an experiment. */
typedef struct pcal_study pcal_study;

/* Runs a study, such as "test-size:space=squared". */
PCAL_API pcal_status pcal_study_run(const char *study, const pcal_study_config *config,
                                    const pcal_env *env, pcal_study **out, pcal_error *err);
/* Writes the tables: PCAL_TEXT, PCAL_JSON, PCAL_CSV, PCAL_MARKDOWN or
 * PCAL_LATEX. */
PCAL_API pcal_status pcal_study_write(const pcal_study *study, pcal_format format,
                                      pcal_sink sink, void *user, pcal_error *err);
/* One table as CSV, for a file of its own.  Names consist of small letters, digits and '-';
 * NULL after the last table. */
PCAL_API const char *pcal_study_table_name(const pcal_study *study, size_t index);
PCAL_API pcal_status pcal_study_table_write(const pcal_study *study, size_t index,
                                            pcal_sink sink, void *user, pcal_error *err);
/* Builds the figure of a study.  Uses width, height and title of the configuration. */
PCAL_API pcal_status pcal_figure_from_study(const pcal_study *study,
                                            const pcal_figure_config *config, pcal_figure **out,
                                            pcal_error *err);
PCAL_API void pcal_study_free(pcal_study *study);

/* ---- Output files --------------------------------------------------------- */

/* An output file that appears whole or not at all.  It is written without a name, or under a
 * temporary one where the file system needs it, and gets its name by commit.  Devices and pipes
 * are written directly; "-" is standard output. */
typedef struct pcal_output pcal_output;

PCAL_API pcal_status pcal_output_open(const char *path, const pcal_env *env, pcal_output **out,
                                      pcal_error *err);
/* Appends bytes; a pcal_sink whose user is the pcal_output. */
PCAL_API int pcal_output_write(void *output, const char *bytes, size_t count);
/* The temporary name, or NULL. */
PCAL_API const char *pcal_output_temporary_path(const pcal_output *output);
/* Writes all bytes to the disk and reports any failure since open, without the final name. */
PCAL_API pcal_status pcal_output_flush(pcal_output *output, pcal_error *err);
/* Both free the output.  Commit reports any failure since open. */
PCAL_API pcal_status pcal_output_commit(pcal_output *output, pcal_error *err);
PCAL_API void pcal_output_discard(pcal_output *output);
/* Commits up to 16 outputs together, and frees them.  All bytes are on the disk before the
 * first name changes.  After a crash between two names a list (.NAME.pending) stays beside each
 * file, and the next call that opens one of the files completes the commit; until then other
 * programs may see some files new and some old. */
PCAL_API pcal_status pcal_output_commit_all(pcal_output *const *outputs, size_t count,
                                            pcal_error *err);
/* Completes such a commit; for programs that read the file by themselves. */
PCAL_API void pcal_output_recover(const char *path);

/* Writes the header of a .npy file of little-endian PCAL_F32, PCAL_F64 or PCAL_I32 values.
 * columns 0: one-dimensional. */
PCAL_API pcal_status pcal_npy_header_write(pcal_type type, uint64_t rows, size_t columns,
                                           pcal_sink sink, void *user, pcal_error *err);

#ifdef __cplusplus
}
#endif
#endif
