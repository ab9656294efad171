/* propercal: can these probabilities be trusted, and how to repair them.
 *
 * This header is the whole public interface and the version contract.
 *
 *   - Every call that can fail returns a pcal_status and fills an optional,
 *     caller-owned pcal_error with one sentence.  A NULL error is allowed.
 *   - Arguments come in the order: inputs, environment, output, error.
 *   - The library never prints, exits, aborts or keeps global state.
 *   - Calls that take a const handle may run concurrently on one handle; all
 *     others need one thread at a time.
 *   - Structs that callers fill begin with their size, so that fields can be
 *     appended; start from the matching _INIT macro.
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
#define PCAL_VERSION_MINOR 1
#define PCAL_VERSION_PATCH 0
#define PCAL_VERSION "0.1.0"

#if defined(_WIN32)
#define PCAL_API
#elif defined(__GNUC__)
#define PCAL_API __attribute__((visibility("default")))
#else
#define PCAL_API
#endif

/* Version of the library at run time, "0.1.0". */
PCAL_API const char *pcal_version(void);

/* One line: compiler, processor family and the kernels chosen for this machine. */
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

/* Whose names texts use: flags of the program, arguments of the Python package, or fields of this
 * header. */
typedef enum pcal_words { PCAL_WORDS_PROGRAM, PCAL_WORDS_PYTHON, PCAL_WORDS_C } pcal_words;

/* Bytes [begin, end) of a message that name an argument. */
typedef struct pcal_reference {
  uint16_t begin, end, argument;
} pcal_reference;

#define PCAL_ERROR_REFERENCES 16

/* A failure.  The message is one sentence, "subject, place: problem; remedy", with the names of
 * this header; pcal_error_text has it with the names of the program or of Python.  The other
 * fields are the same as data, where the failure has them. */
typedef struct pcal_error {
  pcal_status status;
  char message[1024];
  const char *argument;     /* the argument at fault, such as "probs", or NULL */
  char subject[256];        /* the file, array, metric or method at fault, or "" */
  uint64_t row;             /* in the data set, or PCAL_NO_ROW */
  uint64_t line;            /* of a text file, from 1, or 0 */
  size_t column;            /* of the scores, or PCAL_NO_COLUMN */
  const char *activity;     /* that ran out of memory, or NULL */
  uint16_t problem;         /* begins at this byte of the message; */
  uint16_t remedy;          /* the remedy at this one, at the end where there is none */
  uint16_t reference_count; /* arguments named in the message, for pcal_error_text */
  pcal_reference references[PCAL_ERROR_REFERENCES];
} pcal_error;

#define PCAL_ERROR_INIT                                                     \
  {                                                                         \
    PCAL_OK, "", NULL, "", PCAL_NO_ROW, 0, PCAL_NO_COLUMN, NULL, 0, 0, 0, { \
      { 0, 0, 0 }                                                           \
    }                                                                       \
  }

/* Writes the message, or only its remedy, with the names of an interface; always ends with a NUL
 * when out_size is above 0.  Returns the length of the whole text. */
PCAL_API size_t pcal_error_text(const pcal_error *err, pcal_words words, char *out,
                                size_t out_size);
PCAL_API size_t pcal_error_remedy(const pcal_error *err, pcal_words words, char *out,
                                  size_t out_size);

PCAL_API const char *pcal_status_text(pcal_status status);
PCAL_API int pcal_status_exit_code(pcal_status status);

/* ---- Environment -------------------------------------------------------- */

/* All memory of the library comes from here; the default is malloc.  Called from
 * several threads at once. */
typedef struct pcal_allocator {
  void *(*resize)(void *user, void *block, size_t size); /* as realloc, size > 0 */
  void (*release)(void *user, void *block);              /* as free */
  void *user;
} pcal_allocator;

/* Threads that outlive one call, started when there is work for them.  A pool may be shared
 * between threads; a call that finds it busy works alone.  In a child of the process that made
 * it, calls start threads of their own. */
typedef struct pcal_pool pcal_pool;

/* A limit for the memory of several calls and handles together: those whose environment names
 * it.  May be shared between threads. */
typedef struct pcal_budget pcal_budget;

/* Results never depend on threads, pool, memory_limit or budget.
 *
 * memory_limit bounds whatever the library allocates: input from pipes, unpacked arrays, states
 * of groups, kept rows and scores, replicas, results, output text.  It holds for each handle
 * with all that is made from it, or for the whole of a call that makes none; a budget bounds
 * several of them together, and memory_limit is then ignored.  Beyond the limit a call fails
 * with PCAL_MEMORY and a sentence that names what has grown.  Mapped files and the caller's own
 * arrays are not counted. */
typedef struct pcal_env {
  size_t size;
  pcal_allocator allocator; /* all NULL: malloc */
  unsigned threads;         /* 0: pcal_processor_count(), asked once in each call */
  pcal_pool *pool;          /* NULL: threads are joined before a call returns */
  uint64_t seed;
  uint64_t memory_limit; /* bytes; 0: no limit */
  /* Both are called on the caller's thread only.  A non-zero answer of
   * interrupted ends the call with PCAL_INTERRUPTED. */
  void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
  int (*interrupted)(void *user);
  void *user;
  pcal_words words;
  int map_files;       /* map files instead of reading them, see pcal_source_open */
  pcal_budget *budget; /* or NULL; memory then comes from the allocator that it was made with */
} pcal_env;

#define PCAL_ENV_INIT                                                                          \
  {                                                                                            \
    sizeof(pcal_env), {NULL, NULL, NULL}, 0, NULL, 0, 0, NULL, NULL, NULL, PCAL_WORDS_PROGRAM, \
        0, NULL                                                                                \
  }

/* Processors that this process may use: those of its affinity mask, or fewer where a control
 * group (cgroup, version 1 or 2) has a quota of processor time.  2 of 64 means 2. */
PCAL_API unsigned pcal_processor_count(void);

PCAL_API pcal_status pcal_pool_new(unsigned threads, const pcal_env *env, pcal_pool **out,
                                   pcal_error *err);
PCAL_API void pcal_pool_free(pcal_pool *pool);

/* A budget of `limit` bytes (above 0), whose memory comes from the allocator of env.  Handles
 * that were made with it may outlive the call of pcal_budget_free. */
PCAL_API pcal_status pcal_budget_new(uint64_t limit, const pcal_env *env, pcal_budget **out,
                                     pcal_error *err);
PCAL_API uint64_t pcal_budget_peak(const pcal_budget *budget); /* the most bytes held at once */
PCAL_API void pcal_budget_free(pcal_budget *budget);

/* The limit that the program and the Python package set when none is given: three quarters of
 * the memory that the machine or the container offers, which is the smaller of physical memory
 * and the limits of the control groups (versions 1 and 2) that the process is in.  0 where
 * nothing is known. */
PCAL_API uint64_t pcal_default_memory_limit(void);

/* Receives output piece by piece; a non-zero answer stops with PCAL_IO. */
typedef int (*pcal_sink)(void *user, const char *bytes, size_t count);

/* Text from outside (names of files, classes and groups, specs) as it may stand in one place:
 * on a terminal or in a log, one cell of CSV, one line of Markdown, HTML or SVG (also between
 * double quotes of an attribute), a JSON string with its quotes, one word of a shell command.
 * Control characters, characters that turn the direction of writing, and bytes that are not
 * UTF-8 become visible escapes or U+FFFD. */
typedef enum pcal_destination {
  PCAL_FOR_TERMINAL = 1,
  PCAL_FOR_CSV,
  PCAL_FOR_MARKDOWN,
  PCAL_FOR_MARKUP,
  PCAL_FOR_JSON,
  PCAL_FOR_SHELL
} pcal_destination;

PCAL_API pcal_status pcal_escape(const char *text, pcal_destination destination, pcal_sink sink,
                                 void *user, pcal_error *err);

/* PCAL_HTML is for reports only. */
typedef enum pcal_format {
  PCAL_TEXT = 1,
  PCAL_JSON,
  PCAL_CSV,
  PCAL_MARKDOWN,
  PCAL_HTML
} pcal_format;

/* ---- Registry: what exists ---------------------------------------------- */

typedef enum pcal_option_type {
  PCAL_OPTION_INT = 1,
  PCAL_OPTION_REAL, /* or one of the words in choices */
  PCAL_OPTION_BOOL, /* yes or no */
  PCAL_OPTION_CHOICE,
  PCAL_OPTION_REALS /* numbers separated by '/' */
} pcal_option_type;

typedef struct pcal_option {
  const char *name;
  pcal_option_type type;
  const char *fallback; /* default, as written in a spec; "" where unset */
  double low, high;     /* inclusive bounds of numbers */
  const char *choices;  /* words separated by '|', or NULL */
  const char *help;
} pcal_option;

/* Kinds of rows: "metrics", "groups", "notions", "conventions", "calibrators",
 * "figures", "studies". */
/* Which values of a metric are better. */
typedef enum pcal_better {
  PCAL_BETTER_NONE, /* neither: the metric only describes, and methods are not ranked by it */
  PCAL_BETTER_LOWER,
  PCAL_BETTER_HIGHER
} pcal_better;

typedef struct pcal_registry_row {
  const char *kind;
  const char *name;
  const char *title;    /* a few words */
  const char *formula;  /* plain text, may have several lines */
  const char *about;    /* a paragraph: meaning and edge cases */
  const char *citation; /* or NULL */
  const char *notion;   /* of calibration: "top-label", "canonical", "proper", ... or NULL */
  const char *bound;    /* "lower", "upper", "exact" or NULL */
  const char *machine;  /* "sum", "grid", "curve", "pair" or NULL */
  const pcal_option *options;
  size_t option_count;
  const char *task;   /* "regression", or NULL for classes and for what serves both */
  pcal_better better; /* of metrics; PCAL_BETTER_NONE for other kinds */
  int is_test;        /* a metric whose results have a p-value of their own */
} pcal_registry_row;

PCAL_API size_t pcal_registry_count(const char *kind); /* 0 for an unknown kind */
PCAL_API const pcal_registry_row *pcal_registry_at(const char *kind, size_t index);
/* A name may stand for a row of each task ("log", "skce"): this finds the first, of classes. */
PCAL_API const pcal_registry_row *pcal_registry_find(const char *kind, const char *name);
PCAL_API const pcal_registry_row *
pcal_registry_find_for_task(const char *kind, const char *task, const char *name);
/* The name nearest to a mistyped one, or NULL when nothing is near. */
PCAL_API const char *pcal_registry_nearest(const char *kind, const char *name);

/* Writes the full canonical spec ("ece:bins=15,...") of a metric spec. */
PCAL_API pcal_status pcal_spec_canonical(const char *spec, char *out, size_t out_size,
                                         pcal_error *err);

/* ---- Batches: borrowed rows --------------------------------------------- */

typedef enum pcal_kind {
  PCAL_PROBABILITY = 1,
  PCAL_LOGIT,
  PCAL_LOG_PROBABILITY,
  PCAL_CONFIDENCE, /* probability of the predicted label; labels say 1 correct, 0 not */
  /* Regression: what is predicted is a distribution of a number, the target. */
  PCAL_MEAN_VARIANCE, /* two columns: of a normal distribution */
  PCAL_MEAN_STD,      /* the same with the standard deviation */
  PCAL_QUANTILES,     /* a column for each level, ascending */
  PCAL_SAMPLES        /* a column for each sample or member of an ensemble, in any order */
} pcal_kind;

PCAL_API const char *pcal_kind_name(pcal_kind kind);

typedef enum pcal_type { PCAL_F32 = 1, PCAL_F64 } pcal_type;

#define PCAL_MISSING_LABEL INT32_MIN

/* What weights are.  Frequencies: a row of weight 3 is three rows.  Importance weights: a row
 * is one row, and its weight says how much it counts; intervals, tests, null and verdict then
 * go by the rows, and results do not change when all weights are multiplied by a number. */
typedef enum pcal_weights {
  PCAL_WEIGHTS_AUTO,      /* frequencies if all of them are whole numbers, else importance */
  PCAL_WEIGHTS_FREQUENCY, /* others than whole numbers are refused */
  PCAL_WEIGHTS_IMPORTANCE
} pcal_weights;

/* Most levels that quantiles may have. */
#define PCAL_LEVELS_MAX 200

typedef enum pcal_field {
  PCAL_FIELD_SCORES = 1,
  PCAL_FIELD_LABELS, /* or targets */
  PCAL_FIELD_WEIGHTS
} pcal_field;

/* Where a row of a batch, or one of its scores, stands in its file. */
typedef struct pcal_location {
  uint64_t line;           /* of a text file, from 1, or 0 */
  size_t column;           /* PCAL_NO_COLUMN: messages name none */
  const char *column_name; /* or NULL */
} pcal_location;

/* Fills *out, which starts as {0, column, NULL}.  column is PCAL_NO_COLUMN for the whole row.
 * Called when a row is refused, from any thread. */
typedef void (*pcal_row_locator)(const void *user, pcal_field field, size_t row, size_t column,
                                 pcal_location *out);

/* A view of rows that the caller keeps alive during the call.  One column of
 * PROBABILITY or LOGIT is the score of class 1 of two.  Strides are in bytes and
 * may be negative; 0, as in PCAL_BATCH_INIT, stands for scores without gaps: rows
 * one after the other, and inside a row column after column.  A column_stride
 * other than the size of a score needs a row_stride.
 * Names, where given, are used in error messages. */
typedef struct pcal_batch {
  size_t size;
  pcal_kind kind;
  pcal_type type;
  size_t rows;
  size_t columns;
  const void *scores;
  ptrdiff_t row_stride;    /* from a row to the next; 0: without gaps */
  ptrdiff_t column_stride; /* from a column to the next; 0: without gaps */
  const int32_t *labels;
  const double *weights;  /* see pcal_weights; or NULL */
  const uint32_t *groups; /* group numbers, or NULL */
  uint64_t first_row;     /* index of the first row in the whole data set */
  const char *scores_name, *labels_name, *weights_name, *groups_name;
  pcal_row_locator place; /* or NULL: by numbers */
  const void *place_user;
  const double *targets;   /* of regression, in place of labels; their name is labels_name */
  const double *levels;    /* of quantiles, one for each column */
  const char *spread_name; /* of variances that come from elsewhere than the means, or NULL */
  const uint64_t *ids;     /* keys of the rows for random draws, each given once; NULL: what a
                              row says is its key */
  int weights_are;         /* pcal_weights */
} pcal_batch;

#define PCAL_BATCH_INIT                                                                    \
  {                                                                                        \
    sizeof(pcal_batch), PCAL_PROBABILITY, PCAL_F32, 0, 0, NULL, 0, 0, NULL, NULL, NULL, 0, \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0                      \
  }

/* ---- Sources: rows from files ------------------------------------------- */

typedef struct pcal_source pcal_source;

/* Each field names a file and, after the last colon, what to take from it:
 * "logits.npy", "data.npz:logits", "data.csv:label", "data.csv:cat..dog",
 * "data.jsonl:label", "-:3" (standard input, CSV).  Exactly one of probs,
 * logits, log_probs, confidence, mean (with variance or std), quantiles (with
 * levels), samples, data is given; data is a CSV, npz or JSON lines
 * file whose columns, arrays or fields are called like these fields.  A deflated
 * array of a npz file is unpacked into memory, at most memory_limit bytes or,
 * without a limit, 4 GiB. */
typedef struct pcal_inputs {
  size_t size;
  const char *probs, *logits, *log_probs, *confidence;
  const char *labels, *correct;
  const char *weights, *groups;
  const char *data;
  uint64_t first_row; /* index given to the first row */
  int header;         /* first line of CSV and TSV files: 1 a header, 2 data; 0 decide, and fail
                         where it could be either */
  /* Regression. */
  const char *mean, *variance, *std, *quantiles, *samples;
  const char *target;
  const char *levels; /* of the quantiles: "0.05/0.5/0.95" */
  const char *ids;    /* an id for each row, each given once: draws belong to it; or NULL */
  const char *weights_are; /* "frequency" or "importance"; NULL: see PCAL_WEIGHTS_AUTO */
} pcal_inputs;

#define PCAL_INPUTS_INIT                                                                   \
  {                                                                                        \
    sizeof(pcal_inputs), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                                     \
  }

/* Files are read: arrays of .npy files beyond 64 MiB window by window, so that memory does not
 * grow with them, and other files as a whole, within memory_limit.  A file that becomes shorter
 * while it is read is an error (PCAL_IO); one that is overwritten gives wrong numbers or an
 * error.
 *
 * With map_files of the environment files are mapped instead: no format takes memory of the
 * process's own, and measuring is faster (reading took 1.4 times the processor time for 400 MB
 * of logits, 1.8 times for 40 million single scores).  But when another process makes the file
 * shorter the system sends SIGBUS, which only the caller can handle, as the program does. */
PCAL_API pcal_status pcal_source_open(const pcal_inputs *inputs, const pcal_env *env,
                                      pcal_source **out, pcal_error *err);
/* The next rows, at most max_rows; batch->rows == 0 at the end.  The batch is
 * valid until the next call on the source. */
PCAL_API pcal_status pcal_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                      pcal_error *err);
/* Back to the first row. */
PCAL_API pcal_status pcal_source_rewind(pcal_source *source, pcal_error *err);
/* A source over arrays that the caller keeps alive; names, where given, are copied. */
PCAL_API pcal_status pcal_source_borrow(const pcal_batch *batch, const char *const *class_names,
                                        const pcal_env *env, pcal_source **out,
                                        pcal_error *err);
PCAL_API void pcal_source_free(pcal_source *source);

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

/* What the columns of Arrow record batches mean.  scores names one column of fixed-size lists
 * of numbers, or a column of numbers for each class, which then has that name.  Labels are
 * integers, booleans or, as utf8 or a dictionary of utf8, names of classes; for confidences
 * they say what was correct.  Groups are utf8, a dictionary of utf8 or numbers.  Nulls are
 * missing values. */
typedef struct pcal_arrow {
  size_t size;
  pcal_kind kind;
  const char *const *scores;
  size_t score_count;
  const char *labels, *weights, *groups; /* or NULL */
  const char *name;                      /* used in error messages; NULL: "arrow" */
  uint64_t first_row;                    /* index given to the first row */
  const double *levels; /* of quantiles, one for each column; labels is then the target */
  const char *ids;      /* or NULL */
  int weights_are;      /* pcal_weights */
} pcal_arrow;

#define PCAL_ARROW_INIT \
  { sizeof(pcal_arrow), PCAL_PROBABILITY, NULL, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0 }

/* A source over a stream of record batches.  The stream is moved into the source, also on
 * failure: afterwards its release is NULL.  Batches are read as they are wanted, used where
 * they lie if possible, and kept until the source is freed, so that it can be rewound. */
PCAL_API pcal_status pcal_source_arrow(struct ArrowArrayStream *stream,
                                       const pcal_arrow *columns, const pcal_env *env,
                                       pcal_source **out, pcal_error *err);
/* The same for one record batch: a struct array and its schema, which are both moved. */
PCAL_API pcal_status pcal_source_arrow_array(struct ArrowSchema *schema,
                                             struct ArrowArray *array,
                                             const pcal_arrow *columns, const pcal_env *env,
                                             pcal_source **out, pcal_error *err);

/* One input of a data set, wherever it lies: a file, an Arrow stream or, without either, an
 * array.  Everything but the stream is borrowed; array and names are kept alive by the caller
 * as long as the source. */
typedef struct pcal_input {
  size_t size;
  const char *name; /* used in error messages; NULL: "scores", "labels", "weights", "groups" */
  const char *file; /* as a field of pcal_inputs */
  /* Record batches, or arrays of one column.  Moved into the source, also on failure. */
  struct ArrowArrayStream *stream;
  const char *const *chosen; /* columns of the record batches, by name; none: all */
  size_t chosen_count;
  /* An array: type is 'f' for floats of 2, 4 or 8 bytes, 'i' and 'u' for whole numbers of 1, 2,
   * 4 or 8, 'b' for booleans of 1.  Strides are in bytes and may be negative; 0: without gaps,
   * as in pcal_batch. */
  const void *data;
  char type;
  int swapped; /* in the other byte order than this machine's */
  size_t item_size;
  size_t rows, columns; /* columns 0: one-dimensional */
  ptrdiff_t row_stride, column_stride;
  const char *const *meanings; /* names that whole numbers of labels and groups stand for, or
                                  NULL; a number without a name is missing */
  size_t meaning_count;
} pcal_input;

#define PCAL_INPUT_INIT                                                                     \
  {                                                                                         \
    sizeof(pcal_input), NULL, NULL, NULL, NULL, 0, NULL, 'f', 0, sizeof(float), 0, 0, 0, 0, \
        NULL, 0                                                                             \
  }

/* A data set joined from inputs of any sort.  Labels are whole numbers, booleans, one-hot rows
 * or names of classes; for confidences they say what was correct. */
typedef struct pcal_join {
  size_t size;
  pcal_kind kind;
  const pcal_input *scores;
  const pcal_input *labels, *weights, *groups; /* or NULL */
  const char *const *class_names; /* in place of those that the scores have, or NULL; copied */
  size_t class_count;
  uint64_t first_row; /* index given to the first row */
  int header;         /* as in pcal_inputs */
  /* Regression: labels are the targets. */
  const pcal_input *spread; /* variance or standard deviation; NULL: scores has two columns */
  const double *levels;     /* of quantiles, one for each column; copied */
  size_t level_count;
  const pcal_input *ids; /* or NULL */
  int weights_are;       /* pcal_weights */
} pcal_join;

#define PCAL_JOIN_INIT                                                                         \
  {                                                                                            \
    sizeof(pcal_join), PCAL_PROBABILITY, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, 0, \
        NULL, 0                                                                                \
  }

PCAL_API pcal_status pcal_source_join(const pcal_join *join, const pcal_env *env,
                                      pcal_source **out, pcal_error *err);

/* What a source holds.  row_count is PCAL_NO_ROW while it is not known.  Names
 * are owned by the source; class_names is NULL when there are none, and
 * group_names grows as rows are read. */
typedef struct pcal_shape {
  size_t size;
  pcal_kind kind;
  pcal_type type;
  uint64_t row_count;
  size_t columns;
  int weighted, grouped, labelled;
  const char *const *class_names; /* one for each column */
  const char *const *group_names;
  size_t group_count;
  const double *levels; /* of quantiles, one for each column; else NULL */
} pcal_shape;

#define PCAL_SHAPE_INIT \
  { sizeof(pcal_shape), PCAL_PROBABILITY, PCAL_F32, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL }

/* shape->size must be set: start from PCAL_SHAPE_INIT. */
PCAL_API void pcal_source_get_shape(const pcal_source *source, pcal_shape *shape);

/* ---- Measuring ---------------------------------------------------------- */

typedef struct pcal_measure pcal_measure;
typedef struct pcal_results pcal_results;

typedef struct pcal_measure_config {
  size_t size;
  pcal_kind kind;
  size_t columns;
  const char *const *specs; /* metric specs or group names; none: "default" */
  size_t spec_count;
  int normalize;    /* rescale probability rows that are off by 1e-5 to 1e-2 */
  int skip_missing; /* drop and count rows with a missing value */
  int fast;         /* exponentials of float32 logits in float32; sums stay exact; where this
                       cannot be, or a metric needs whole rows, results say "exact" */
  double interval;  /* level of intervals, as 0.95; 0: none */
  size_t replicas;  /* for intervals and null; 0: 1000 */
  const char *interval_method; /* "auto", "normal", "percentile", "basic", "bca" or "jackknife";
                                  NULL: auto */
  int null;       /* also what a calibrated model would show; the environment's seed counts */
  int by_cluster; /* groups are clusters of rows that belong together: intervals draw them as a
                     whole, and results are not told group by group */
  int paired;     /* keep replicas, for pcal_results_add_difference; needs an interval */
  int curves; /* keep the tables behind values for plots, see pcal_results_get_curve; the scores
                     of a large source then stay in memory */
  const double *levels; /* of quantiles, one for each column; copied */
} pcal_measure_config;

#define PCAL_MEASURE_CONFIG_INIT                                                               \
  {                                                                                            \
    sizeof(pcal_measure_config), PCAL_PROBABILITY, 0, NULL, 0, 0, 0, 0, 0.0, 0, NULL, 0, 0, 0, \
        0, NULL                                                                                \
  }

/* The environment's allocator, pool and callbacks must outlive the handle. */
PCAL_API pcal_status pcal_measure_new(const pcal_measure_config *config, const pcal_env *env,
                                      pcal_measure **out, pcal_error *err);
/* Adds rows.  On failure the measure is as it was before the call. */
PCAL_API pcal_status pcal_measure_update(pcal_measure *measure, const pcal_batch *batch,
                                         pcal_error *err);
/* Adds what another measure of the same configuration has seen; on failure the measure is as it
 * was.  Groups are matched by name when both measures have names, else by number.  Two loaded
 * measures that have seen the same row, by its index, are refused. */
PCAL_API pcal_status pcal_measure_merge(pcal_measure *measure, const pcal_measure *other,
                                        pcal_error *err);
/* Names for output; copied.  Either may be NULL.  Groups with names are told in the order of
 * their first rows, others by number. */
PCAL_API pcal_status pcal_measure_set_names(pcal_measure *measure,
                                            const char *const *class_names, size_t class_count,
                                            const char *const *group_names, size_t group_count,
                                            pcal_error *err);
PCAL_API pcal_status pcal_measure_finish(const pcal_measure *measure, pcal_results **out,
                                         pcal_error *err);
PCAL_API void pcal_measure_free(pcal_measure *measure);
/* Says whether later results keep their curves, which a saved state does not tell. */
PCAL_API void pcal_measure_keep_curves(pcal_measure *measure, int wanted);

/* From a source to results in one call; kind, columns and names come from the
 * source. */
PCAL_API pcal_status pcal_measure_run(pcal_source *source, const pcal_measure_config *config,
                                      const pcal_env *env, pcal_results **out, pcal_error *err);

/* Everything a measure has seen, as bytes: little-endian, versioned, with a checksum.  Parts of
 * a data set measured apart, saved, loaded and merged give the bits of one measure of the
 * whole.  Refused for metrics that need all pairs of rows. */
PCAL_API pcal_status pcal_measure_save(const pcal_measure *measure, pcal_sink sink, void *user,
                                       pcal_error *err);
/* name is used in error messages. */
PCAL_API pcal_status pcal_measure_load(const void *bytes, size_t length, const char *name,
                                       const pcal_env *env, pcal_measure **out,
                                       pcal_error *err);
/* What a measure was made for, as a JSON object: kind (a number of pcal_kind), columns, levels
 * (of quantiles, else null), specs, normalize, skip_missing, fast, interval, replicas,
 * interval_method, null; and next_row, the index behind the last row that it has seen.  So a
 * measure that was loaded can go on with rows of the same sort. */
PCAL_API pcal_status pcal_measure_describe(const pcal_measure *measure, pcal_sink sink,
                                           void *user, pcal_error *err);
/* As pcal_measure_run, but gives the measure instead of its results. */
PCAL_API pcal_status pcal_measure_from_source(pcal_source *source,
                                              const pcal_measure_config *config,
                                              const pcal_env *env, pcal_measure **out,
                                              pcal_error *err);

/* ---- Calibrators ---------------------------------------------------------- */

typedef struct pcal_calibrator pcal_calibrator;

typedef struct pcal_fit_config {
  size_t size;
  const char *method; /* a calibrator spec, "temperature:objective=brier" */
  int normalize, skip_missing;
  int by_group; /* also a calibrator for each group of the source, mixed with that of all rows
                 */
} pcal_fit_config;

#define PCAL_FIT_CONFIG_INIT \
  { sizeof(pcal_fit_config), "temperature", 0, 0, 0 }

/* Learns a recalibration; reads the source several times.  That an optimiser did not converge
 * is recorded in the calibrator, not an error. */
PCAL_API pcal_status pcal_fit_run(pcal_source *source, const pcal_fit_config *config,
                                  const pcal_env *env, pcal_calibrator **out, pcal_error *err);
PCAL_API void pcal_calibrator_free(pcal_calibrator *calibrator);

/* What was fitted and how it went: PCAL_TEXT or PCAL_JSON. */
PCAL_API pcal_status pcal_calibrator_describe(const pcal_calibrator *calibrator,
                                              pcal_format format, pcal_sink sink, void *user,
                                              pcal_error *err);
/* A calibrator as a JSON file in which every number reads back exactly; loading checks
 * everything or fails with a sentence.  name is used in error messages. */
PCAL_API pcal_status pcal_calibrator_save(const pcal_calibrator *calibrator, pcal_sink sink,
                                          void *user, pcal_error *err);
PCAL_API pcal_status pcal_calibrator_load(const void *bytes, size_t length, const char *name,
                                          const pcal_env *env, pcal_calibrator **out,
                                          pcal_error *err);

/* A calibrator for other places: "c", a C99 file that needs nothing but libm, or "onnx", a
 * model with float32 in and out.  name, a C identifier, is that of the function or the graph;
 * NULL: "calibrate".  Refused for methods whose map is no short formula. */
PCAL_API pcal_status pcal_calibrator_export(const pcal_calibrator *calibrator, const char *to,
                                            const char *name, pcal_sink sink, void *user,
                                            pcal_error *err);

/* Columns of a calibrated row: as many as the scores have, or 1 where a calibrator tells the
 * probability of a single event. */
PCAL_API size_t pcal_calibrator_column_count(const pcal_calibrator *calibrator);

/* Groups that have a calibrator of their own, and their names; 0 where rows have no groups. */
PCAL_API size_t pcal_calibrator_group_count(const pcal_calibrator *calibrator);
PCAL_API const char *pcal_calibrator_group_name(const pcal_calibrator *calibrator,
                                                size_t group);

/* Calibrated probabilities of a batch (labels not needed), row after row and in its type: out
 * has rows * pcal_calibrator_column_count elements.  Of a calibrator with groups, the batch's groups
 * are numbers of them, and any other number stands for none. */
PCAL_API pcal_status pcal_calibrator_apply(const pcal_calibrator *calibrator,
                                           const pcal_batch *batch, const pcal_env *env,
                                           void *out, pcal_error *err);

/* Recalibrates a whole source, window by window in constant memory, into a file format:
 * "npy" or "csv" (with a header when the source has class names). */
PCAL_API pcal_status pcal_calibrator_apply_source(pcal_source *source,
                                                  const pcal_calibrator *calibrator,
                                                  const char *format, const pcal_env *env,
                                                  pcal_sink sink, void *user, pcal_error *err);

/* ---- Results ------------------------------------------------------------ */

typedef struct pcal_part {
  const char *name;
  double value;
} pcal_part;

/* Strings belong to the results. */
typedef struct pcal_result {
  size_t size;
  const char *metric; /* name of the row */
  const char *spec;   /* full canonical spec, with everything resolved */
  const char *label;  /* short spec: only what differs from the defaults */
  const char *group;  /* NULL for all rows together */
  int defined;
  double value;    /* may be infinite */
  const char *why; /* reason when the value is undefined or infinite, else NULL */
  const char *notion;
  const char *bound; /* or NULL */
  const pcal_part *parts;
  size_t part_count;
  int tested; /* the metric is a test; p_value is NaN where it could not be made */
  double p_value;
  int has_interval; /* at the level asked for; se is the standard error */
  double level, low, high, se;
  const char *method; /* of the interval */
  int has_null;       /* what a calibrated model would show: mean, 95 % band, p-value */
  double null_mean, null_low, null_high, null_p_value;
  const char *unsure; /* why there is no interval or null, or what to doubt of it; or NULL */
  int has_difference; /* to the other model of pcal_results_add_difference */
  double difference;
  int has_difference_interval;
  double difference_low, difference_high, difference_p_value;
  const double *class_values; /* of each class by itself, by metrics over classes; else NULL */
  size_t class_count;
  const char *difference_method; /* of the interval and p-value of the difference, or NULL:
                                    "exchange", the models were exchanged row by row;
                                    "exchange-wide", that, and they err in different ways, so a
                                    difference must also exceed what replicas of both show;
                                    "replicas", they could not be exchanged, and standard
                                    errors alone decide */
  uint64_t difference_rows; /* rows (or clusters) in which the two models differ, where they
                               were exchanged */
} pcal_result;

#define PCAL_RESULT_INIT                                                                       \
  {                                                                                            \
    sizeof(pcal_result), NULL, NULL, NULL, NULL, 0, 0.0, NULL, NULL, NULL, NULL, 0, 0, 0.0, 0, \
        0.0, 0.0, 0.0, 0.0, NULL, 0, 0.0, 0.0, 0.0, 0.0, NULL, 0, 0.0, 0, 0.0, 0.0, 0.0, NULL, \
        0, NULL, 0                                                                             \
  }

/* Results over all rows come first, then group by group. */
PCAL_API size_t pcal_results_count(const pcal_results *results);
/* A result by its index; out->size must be set: start from PCAL_RESULT_INIT.  PCAL_USAGE when
 * it is not, when out is NULL, and when there is no such result (*out is then empty). */
PCAL_API pcal_status pcal_results_get(const pcal_results *results, size_t index,
                                      pcal_result *out);
/* The result over all rows for a spec, however abbreviated it is. */
PCAL_API pcal_status pcal_results_find(const pcal_results *results, const char *spec,
                                       pcal_result *out, pcal_error *err);
PCAL_API void pcal_results_free(pcal_results *results);

/* The table behind a value, for plots: columns of equal length.  For ks: "score", "fraction"
 * (of rows up to it), "cumulated_score" and "cumulated_outcome" (both divided by the number of
 * rows), at distinct scores, thinned to about a thousand with the extremes kept; and "label"
 * with by=label.  For binned errors: "low", "high", "weight", "confidence" and "accuracy", the
 * last two NaN in an empty bin; and "class" where every class has bins.  For decomposition with
 * by=corp and one view: "low", "high", "weight" and "accuracy" of the blocks of the isotonic
 * regression. */
typedef struct pcal_curve {
  size_t size;
  size_t count; /* points; 0: there is no curve, or it was not asked for */
  size_t column_count;
  const char *const *names; /* of the columns */
  const double *const *columns;
} pcal_curve;

#define PCAL_CURVE_INIT \
  { sizeof(pcal_curve), 0, 0, NULL, NULL }

/* The curve of a result, by its index; out->size must be set: start from PCAL_CURVE_INIT. Fails
 * as pcal_results_get; a result without a curve has one of 0 points. */
PCAL_API pcal_status pcal_results_get_curve(const pcal_results *results, size_t index,
                                            pcal_curve *out);

/* Reliability table of the data's natural view: 15 bins of equal width; of quantiles the cells
 * between their levels. */
typedef struct pcal_bin {
  double low, high;
  double weight;     /* rows in the bin; importance weights sum to the effective sample size */
  double confidence; /* mean score; NaN in an empty bin */
  double frequency;  /* share of hits; NaN in an empty bin */
} pcal_bin;

PCAL_API const pcal_bin *pcal_results_bins(const pcal_results *results, size_t *count);

/* Adds to results the differences to another model measured on the same rows: both with the
 * same metrics, `paired` and an interval.  A p-value is that of the null that both models have
 * the same law, by exchanging them row by row; it is below 1 - level exactly when the interval
 * of the difference excludes 0. */
PCAL_API pcal_status pcal_results_add_difference(pcal_results *results,
                                                 const pcal_results *other, pcal_error *err);

/* Says that of the two models compared one is an injective function of the other's predictions,
 * as after temperature scaling: the difference of brier, log or spherical is then told as that
 * of its calibration error too (Gruber & Buettner 2022, Proposition 4.5). */
PCAL_API void pcal_results_set_injective(pcal_results *results);

/* What the weights were taken for, PCAL_WEIGHTS_AUTO without weights, and the effective sample
 * size: the number of rows, for frequencies the sum of the weights, for importance weights
 * (sum w)^2 / sum w^2 (Kish 1965).  `effective` may be NULL. */
PCAL_API pcal_weights pcal_results_weights(const pcal_results *results, double *effective);

/* The class that every label is, or -1 when there are several (or confidences): from one class
 * calibration cannot be judged, though every metric has its value. */
PCAL_API int32_t pcal_results_only_label(const pcal_results *results);

/* ---- Verdict: what the results say about calibration ---------------------- */

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
  X(OTHER_METHOD, "other")

/* NONE: leave the predictions alone.  MORE_ROWS: the same, but there are too few rows to be
 * sure.  SLOPE, SHIFT, SLOPE_AND_SHIFT: fit a factor, an intercept, or both on the logit scale.
 * SHAPE: fit a curve.  GRADED_SCORES: every score is 0 or 1, so nothing can be fitted.  VARIANCE,
 * QUANTILES: map predicted variances or quantiles.  WIDER_PREDICTIONS: targets lie beyond the
 * outermost quantiles or samples, which no map of them reaches.  OTHER_METHOD: the method that
 * suits has been applied already. */
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
  int binary;       /* one column: scores of class 1 */
  double rows;      /* effective sample size */
  pcal_advice advice;
  const char *method, *alternative; /* calibrators to try, or NULL */
  /* Classes. */
  double claimed, observed; /* mean score, share of hits */
  double margin;            /* of claimed - observed */
  int off_average;          /* |claimed - observed| exceeds the margin */
  double error;             /* ECE in 15 bins of equal width */
  double chance;            /* mean ECE of a calibrated model with these scores */
  int chance_is_drawn;      /* chance is a mean over replicas of the null, else closed form */
  int has_where;
  pcal_verdict_bin where;
  /* Means with variances, and samples: u = F(target), uniform in a calibrated model. */
  double mean, variance; /* of u; 1/2 and 1/12 in a calibrated model */
  double mean_margin, variance_margin;
  /* Quantiles. */
  double lowest_level, highest_level;
  double inside, inside_margin; /* share of targets between the outermost quantiles */
  double level;                 /* the level that is most off, */
  double level_share;           /* share of targets up to its quantile, */
  double level_margin;
} pcal_verdict;

#define PCAL_VERDICT_INIT                                                                     \
  {                                                                                           \
    sizeof(pcal_verdict), PCAL_VERDICT_CALIBRATED, 0, PCAL_PROBABILITY, 0, 0.0,               \
        PCAL_ADVICE_NONE, NULL, NULL, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0, 0,                       \
        {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 \
  }

/* The verdict on results over all rows.  out->size must be set: start from PCAL_VERDICT_INIT.
 * PCAL_USAGE when it is not, or when results or out is NULL. */
PCAL_API pcal_status pcal_results_get_verdict(const pcal_results *results, pcal_verdict *out);
/* The same in a few sentences; the results own the text. */
PCAL_API const char *pcal_results_verdict_text(const pcal_results *results);

PCAL_API pcal_status pcal_results_write(const pcal_results *results, pcal_format format,
                                        pcal_sink sink, void *user, pcal_error *err);

/* A plan from a pilot set: results with intervals and, for power, differences. */
typedef struct pcal_plan_config {
  size_t size;
  double width;      /* how wide an interval may be; 0: no such goal */
  double power;      /* probability to see a difference to the other model; 0: no such goal */
  double difference; /* how large it is; 0: as in the results */
} pcal_plan_config;

#define PCAL_PLAN_CONFIG_INIT \
  { sizeof(pcal_plan_config), 0.0, 0.0, 0.0 }

/* Writes how many rows each metric would take. */
PCAL_API pcal_status pcal_plan_write(const pcal_results *results,
                                     const pcal_plan_config *config, pcal_format format,
                                     pcal_sink sink, void *user, pcal_error *err);

/* ---- Comparing ----------------------------------------------------------- */

/* A model to compare; all models have the same rows, in the same order. */
typedef struct pcal_model {
  size_t size;
  const char *name;     /* NULL where there is one model */
  pcal_source *source;  /* rows to judge on; read several times */
  pcal_source *fitting; /* other rows to fit on, or NULL: cross-validation */
} pcal_model;

#define PCAL_MODEL_INIT \
  { sizeof(pcal_model), NULL, NULL, NULL }

typedef struct pcal_compare_config {
  size_t size;
  const char *const *methods; /* calibrators; none: all that suit one model, nothing for several
                               */
  size_t method_count;
  const char *const *specs; /* metrics; none: accuracy, brier, log, rbs, ece, ks, cwce */
  size_t spec_count;
  const char *by;  /* the metric that ranks; NULL: brier */
  size_t folds;    /* of the cross-validation; 0: 5 */
  double interval; /* level; 0: 0.95 */
  size_t replicas; /* 0: 1000 */
  int normalize, skip_missing;
} pcal_compare_config;

#define PCAL_COMPARE_CONFIG_INIT \
  { sizeof(pcal_compare_config), NULL, 0, NULL, 0, NULL, 0, 0.0, 0, 0, 0 }

typedef struct pcal_comparison pcal_comparison;

/* Fits every method to every model, judges it on rows that it has not seen, and ranks.  The
 * first model, as it is, is what improvements are told against.  A method of the default list
 * that does not suit the data is told with its reason; one asked for is an error. */
PCAL_API pcal_status pcal_compare_run(const pcal_model *models, size_t model_count,
                                      const pcal_compare_config *config, const pcal_env *env,
                                      pcal_comparison **out, pcal_error *err);
PCAL_API void pcal_comparison_free(pcal_comparison *comparison);
PCAL_API pcal_status pcal_comparison_write(const pcal_comparison *comparison,
                                           pcal_format format, pcal_sink sink, void *user,
                                           pcal_error *err);
/* What is best: a spec or, of several models, "NAME" or "NAME + spec".  "identity": leave it
 * alone. */
PCAL_API const char *pcal_comparison_chosen(const pcal_comparison *comparison);
/* Its calibrator, fitted to all rows that there are for fitting. */
PCAL_API const pcal_calibrator *pcal_comparison_calibrator(const pcal_comparison *comparison);

/* ---- Figures, inspection, simulation ------------------------------------- */

/* A figure as data: panels with their axes, and marks in data units. */
typedef struct pcal_figure pcal_figure;

typedef struct pcal_figure_config {
  size_t size;
  const char *figure;   /* with options: "ks-graph:rank=2"; pcal_registry_at("figures", i) */
  pcal_source *fitting; /* a second set, for figures that show one; or NULL */
  const pcal_calibrator *calibrator; /* scores are drawn after it, or NULL */
  int normalize, skip_missing;       /* as in pcal_measure_config */
  double interval;          /* level, where the figure shows how sure; 0: it does not */
  size_t replicas;          /* 0: 1000 */
  double width, height;     /* in pixels of the usual size; 0: the figure's own */
  const char *title;        /* instead of the figure's own, or NULL */
  const pcal_model *models; /* for figures of several models, such as range-bounds:
                                         drawn in this order, with the source NULL */
  size_t model_count;
} pcal_figure_config;

#define PCAL_FIGURE_CONFIG_INIT                                                           \
  {                                                                                       \
    sizeof(pcal_figure_config), "reliability", NULL, NULL, 0, 0, 0.95, 0, 0.0, 0.0, NULL, \
        NULL, 0                                                                           \
  }

/* Measures what a figure needs and builds it.  Sources are read from the start, some figures
 * read them several times.  The environment's seed counts. */
PCAL_API pcal_status pcal_figure_run(pcal_source *source, const pcal_figure_config *config,
                                     const pcal_env *env, pcal_figure **out, pcal_error *err);
PCAL_API void pcal_figure_free(pcal_figure *figure);

/* The figure as an SVG document.  theme is "light", "dark" or, as NULL, "auto": what the
 * reader's page asks for. */
PCAL_API pcal_status pcal_figure_svg(const pcal_figure *figure, const char *theme,
                                     pcal_sink sink, void *user, pcal_error *err);
/* The figure as JSON: panels and marks in data units, in the order in which they are drawn. */
PCAL_API pcal_status pcal_figure_json(const pcal_figure *figure, pcal_sink sink, void *user,
                                      pcal_error *err);

/* A figure from finished results, as SVG or JSON; refused where they do not hold what it needs.
 * "reliability" can always be had. */
PCAL_API pcal_status pcal_figure_write(const pcal_results *results, const char *figure,
                                       pcal_sink sink, void *user, pcal_error *err);
PCAL_API pcal_status pcal_figure_describe(const pcal_results *results, const char *figure,
                                          pcal_sink sink, void *user, pcal_error *err);

/* Everything about one model: verdict, table, figures, before and after a calibrator. */
typedef struct pcal_report pcal_report;

typedef struct pcal_report_config {
  size_t size;
  pcal_source *fitting;              /* other rows, to fit a calibrator on; or NULL */
  const pcal_calibrator *calibrator; /* fitted already, or NULL: */
  const char *method;       /* is fitted to the other rows or, without any, by cross-validation
                               of 5 folds; NULL with other rows: the best by pcal_compare_run */
  const char *const *specs; /* metrics of the table; none: "default" */
  size_t spec_count;
  double interval; /* level; 0: none */
  size_t replicas; /* 0: 1000 */
  int normalize, skip_missing;
  const char *title; /* or NULL */
  /* How a reader can make all this again, copied into the report; each may be NULL: the command
   * as a whole, and flags that name the rows, the other rows and the file of the calibrator. */
  const char *command, *input_flags, *fitting_flags, *calibrator_file;
} pcal_report_config;

#define PCAL_REPORT_CONFIG_INIT                                                             \
  {                                                                                         \
    sizeof(pcal_report_config), NULL, NULL, NULL, NULL, 0, 0.95, 0, 0, 0, NULL, NULL, NULL, \
        NULL, NULL                                                                          \
  }

/* Measures everything; sources are read several times. */
PCAL_API pcal_status pcal_report_run(pcal_source *source, const pcal_report_config *config,
                                     const pcal_env *env, pcal_report **out, pcal_error *err);
/* PCAL_HTML: one page that needs nothing else, with the numbers as JSON inside; PCAL_MARKDOWN,
 * for a pull request; PCAL_JSON, the numbers. */
PCAL_API pcal_status pcal_report_write(const pcal_report *report, pcal_format format,
                                       pcal_sink sink, void *user, pcal_error *err);
PCAL_API void pcal_report_free(pcal_report *report);

/* Says what is in a file ("file.npy", "file.csv:columns"), and what in it would keep it from
 * being measured.  header is that of pcal_inputs. */
PCAL_API pcal_status pcal_inspect_file(const char *file, int header, const pcal_env *env,
                                       pcal_format format, pcal_sink sink, void *user,
                                       size_t *problems_out, pcal_error *err);
/* The same for a whole data set.  problems_out, if given, receives the number of problems. */
PCAL_API pcal_status pcal_inspect_source(pcal_source *source, const pcal_env *env,
                                         pcal_format format, pcal_sink sink, void *user,
                                         size_t *problems_out, pcal_error *err);

/* Predictions whose true calibration is known (Gruber & Buettner, G.1). */
typedef struct pcal_simulation {
  size_t size;
  uint64_t rows;
  size_t classes;
  double factor;      /* logits are multiplied by this; 1 is calibrated */
  double scale;       /* s of the inverse-Wishart scale matrix I/s */
  uint64_t first_row; /* of the endless sequence of rows that a seed stands for; a multiple of
                         the number of classes */
} pcal_simulation;

#define PCAL_SIMULATION_INIT \
  { sizeof(pcal_simulation), 10000, 100, 1.0, 0.01, 0 }

/* Fills rows x classes logits (row-major), labels, and, where not NULL, the true
 * class probabilities.  The seed is the environment's. */
PCAL_API pcal_status pcal_simulate(const pcal_simulation *simulation, const pcal_env *env,
                                   float *logits, int32_t *labels, double *truth,
                                   pcal_error *err);

/* What each metric (a spec, not a group) would say without end of rows of a simulation: the
 * integral over labels is exact, that over predictions a mean over ten million scores.  NaN for
 * metrics over pairs of rows, those that refuse weights that are not whole, and tests, whose
 * statistics grow with the rows. */
PCAL_API pcal_status pcal_simulation_population_values(const pcal_simulation *simulation,
                                                       const char *const *specs, size_t count,
                                                       const pcal_env *env, double *values,
                                                       pcal_error *err);

/* ---- Studies -------------------------------------------------------------- */

/* Experiments, by the names of the registry ("studies").  What a study does not use is ignored.
 */
typedef struct pcal_study_config {
  size_t size;
  const char *const *specs; /* metrics, or none for the study's own choice */
  size_t spec_count;
  pcal_simulation simulation; /* rows are those of one set; 0 rows, classes or factor: the
                                 study's own choice */
  uint64_t sets;              /* how many are drawn; 0: the study's own choice */
  double interval;            /* level; 0: 0.95 */
  size_t replicas;            /* 0: the study's own choice */
  const char *interval_method;
  const uint64_t
      *row_counts; /* rows of a set, one experiment for each; none: the simulation's */
  size_t row_count_count;
  const double *factors; /* the same for the simulation's factor */
  size_t factor_count;
  uint64_t null_sets;       /* calibrated sets for the size of tests; 0: as many as sets */
  const pcal_model *models; /* predictions of the user's, with a set to fit on where wanted */
  size_t model_count;
  const char *const *methods; /* calibrators, or none for the study's own choice */
  size_t method_count;
  uint64_t repeats;            /* of each step; 0: the study's own choice */
  pcal_source *features;       /* numbers to learn from and their target, of the kind samples */
  int normalize, skip_missing; /* as in pcal_measure_config */
} pcal_study_config;

#define PCAL_STUDY_CONFIG_INIT                                                                 \
  {                                                                                            \
    sizeof(pcal_study_config), NULL, 0, {sizeof(pcal_simulation), 0, 0, 0.0, 0.01, 0}, 0, 0.0, \
        0, NULL, NULL, 0, NULL, 0, 0, NULL, 0, NULL, 0, 0, NULL, 0, 0                          \
  }

typedef struct pcal_study pcal_study;

/* Runs a study, such as "test-size:space=squared"; the environment's seed and threads count. */
PCAL_API pcal_status pcal_study_run(const char *study, const pcal_study_config *config,
                                    const pcal_env *env, pcal_study **out, pcal_error *err);
PCAL_API void pcal_study_free(pcal_study *study);

/* Its tables. */
PCAL_API pcal_status pcal_study_write(const pcal_study *study, pcal_format format,
                                      pcal_sink sink, void *user, pcal_error *err);

/* Its figure; of the configuration width, height and title count, and it may be NULL. */
PCAL_API pcal_status pcal_figure_from_study(const pcal_study *study,
                                            const pcal_figure_config *config, pcal_figure **out,
                                            pcal_error *err);

/* ---- Writing files ------------------------------------------------------ */

/* An output file that appears whole or not at all: written beside the target without a name, or
 * under a temporary one where the file system needs it, and put in its place by commit. Devices
 * and pipes are written directly; "-" is standard output. */
typedef struct pcal_output pcal_output;

PCAL_API pcal_status pcal_output_open(const char *path, const pcal_env *env, pcal_output **out,
                                      pcal_error *err);
PCAL_API int pcal_output_write(void *output, const char *bytes, size_t count); /* a pcal_sink */
PCAL_API const char *pcal_output_temporary_path(const pcal_output *output); /* name, or NULL */
/* Writes everything out and reports any failure so far, without renaming: so that several
 * files can be made sure of before the first one is committed. */
PCAL_API pcal_status pcal_output_flush(pcal_output *output, pcal_error *err);
/* Commits several outputs, which become new together: everything is on the disk before the
 * first name changes.  A process that is killed, or a machine that loses power, between two
 * names leaves a list beside each file (.NAME.pending), and the next call that opens one of
 * these files, for reading or writing, gives the other names; other programs may see some files
 * new and some old until then.  At most 16 files.  Frees the outputs. */
PCAL_API pcal_status pcal_output_commit_all(pcal_output *const *outputs, size_t count,
                                            pcal_error *err);
/* Gives such files their names now; for programs that read files by themselves. */
PCAL_API void pcal_output_recover(const char *path);
/* Both free the output.  Commit reports any failure since open. */
PCAL_API pcal_status pcal_output_commit(pcal_output *output, pcal_error *err);
PCAL_API void pcal_output_discard(pcal_output *output);

/* Header of a .npy file of little-endian float32, float64 or int32 values:
 * type is "<f4", "<f8" or "<i4"; columns 0 makes it one-dimensional. */
PCAL_API pcal_status pcal_npy_header_write(const char *type, uint64_t rows, size_t columns,
                                           pcal_sink sink, void *user, pcal_error *err);

#ifdef __cplusplus
}
#endif
#endif
