/* The parts of a source, shared by the files that open one. */
#ifndef PC_SOURCE_STATE_H
#define PC_SOURCE_STATE_H

#include "base/budget.h"
#include "base/sum.h"
#include "data/forecast_event.h"
#include "data/weight_unit.h"
#include "io/data_columns.h"
#include "io/formats/arrow_reader.h"
#include "io/group_reader.h"
#include "io/id_reader.h"
#include "io/input_check.h"
#include "io/input_file.h"
#include "io/label_reader.h"
#include "io/reader.h"
#include "io/source.h"
#include "io/source_batch.h"
#include "io/source_derived.h"

typedef struct pc_source_file {
  char *path; /* owned */
  pc_input_file bytes;
} pc_source_file;

/* An input that is not a file. */
typedef struct pc_source_input {
  char *name; /* owned */
  pc_input_file bytes;
  pc_arrow_table arrow;
} pc_source_input;

/* Data for regression: label_cells are targets.  If means and variances are separate parts,
 * the part `spread` exists, and windows of both are joined into rows of two. */
typedef struct pc_source_forecast {
  double levels[PCAL_LEVELS_MAX]; /* of quantiles */
  size_t level_count;             /* 0: not given */
  size_t dimensions;              /* of samples of several numbers; else 0 */
  void *rows;                     /* joined means and spreads */
  size_t capacity;                /* in bytes */
} pc_source_forecast;

/* An event about the predicted number, and rows of its probability. */
typedef struct pc_source_event {
  int used;
  pc_forecast_event event;
  double *probs; /* of the last window */
  int32_t *labels;
  double *row; /* one prediction */
  size_t prob_capacity, label_capacity, row_capacity;
} pc_source_event;

/* Rows with different numbers of choices. */
typedef struct pc_source_ragged {
  int used;
} pc_source_ragged;

/* The column of scores of each class; PC_NO_DATA_COLUMN: a choice that no row has. */
typedef struct pc_source_arranged {
  size_t *from; /* owned; NULL: the columns are the classes */
  size_t count;
} pc_source_arranged;

/* Rows in which the model did not answer. */
typedef struct pc_source_abstain {
  pc_reader cells;
  pc_label_reader answers;
  pc_name_table names; /* none */
  int32_t *correct;    /* of the last window */
  size_t capacity;
  uint64_t count, most; /* in this pass; in any pass */
} pc_source_abstain;

/* Weights in units of effective rows: source_weights.c. */
typedef struct pc_source_scaling {
  int known;   /* meaning and unit are set, which a pass over all rows has done */
  int used;    /* weights are divided by unit */
  int meaning; /* pcal_weights, never auto; or PC_WEIGHTS_EXPECTED or PC_WEIGHTS_SCALED */
  double unit;
  double *weights; /* of the last window */
  size_t capacity;
} pc_source_scaling;

/* Labels that are distributions over classes: source_soft.c. */
typedef struct pc_source_soft {
  int used;
  int allowed;    /* whoever reads the rows knows about soft labels */
  int clusters;   /* each row is a group */
  size_t classes; /* rows for one row of the data */
  double *scores; /* of the last window, expanded */
  int32_t *labels;
  double *weights;
  uint32_t *groups;
  size_t capacity; /* rows */
  pcal_batch held; /* the last window */
  size_t next;     /* row of it that is returned next */
  size_t given;    /* row of it that was returned first in the last call */
  uint64_t read;   /* rows of the data read so far */
  uint64_t first;  /* the same before the last window */
  uint64_t most;   /* the most rows of the data read in one pass */
  uint64_t kept;   /* rows of this pass with a label and a weight above 0 */
  pc_sum square;   /* of their weights, squared */
  pc_weight_sums sums;
  pcal_row_locator place;
} pc_source_soft;

struct pcal_source {
  pcal_env env;
  pc_source_file **files; /* one block each: readers point to them */
  size_t file_count, file_capacity;
  pcal_kind kind;
  pc_reader table;              /* a data file with all its columns; owns their names */
  const pc_input_file *archive; /* a data file that is a container of arrays or fields */
  pc_name_table members;        /* names of the members of either */
  pc_data_columns columns;      /* columns of the table, or indices of members */
  pc_source_input inputs[PC_INPUT_COUNT]; /* arrays and Arrow data, by pc_input_field */
  const char **arrow_names;               /* owned: of the columns of Arrow data in `data` */
  pc_source_batch borrowed;               /* one batch of the caller */
  pc_source_derived derived;              /* transformed rows of another source */
  pc_reader scores, label_cells, weights, group_cells, spread, id_cells;
  pc_source_forecast forecast;    /* of regression */
  pc_source_event event;          /* of regression; if used, rows are binary predictions */
  const char *const *class_names; /* owned by a reader, by columns or by given_names */
  char **given_names;
  size_t given_name_count;
  pc_name_table classes;
  pc_label_reader labels;
  pc_group_reader groups;
  pc_period period; /* if has_periods */
  int has_periods;  /* groups are periods of time */
  int given_groups; /* groups are an input of their own, not a column of `data` */
  pc_id_reader ids;
  pcal_weights weights_are;
  int percent; /* scores are divided by 100 */
  pc_source_ragged ragged;
  pc_source_arranged arranged; /* only of ragged rows */
  pc_source_abstain abstain;
  pc_source_soft soft;
  double *own_rows; /* scores of the last window, if they are changed */
  size_t own_capacity;
  double *class_factors; /* of weights, for each class; NULL: prevalences are as observed */
  size_t factor_count;
  double *class_weights; /* of the last window */
  size_t class_weights_capacity;
  pc_source_scaling scaling;
  uint64_t first_row;
  char *positive;    /* label of class 1, owned, or NULL */
  int placed;        /* first_row was computed from the content of the files */
  uint64_t position; /* rows returned so far */
  uint64_t window;   /* rows returned before the last window */
  pcal_header header;
  void *from_device;           /* the last window of scores, copied from a device; owned */
  size_t from_device_capacity; /* in bytes */
  pcal_device *device;         /* that rows may be copied to, or NULL */
  void *uploaded;              /* the last window of scores there; owned */
  size_t uploaded_capacity;    /* in bytes */
  const pcal_input *data;      /* the input of that name; used while opening */
  const char *file_format; /* of inputs that do not name theirs, or NULL; used while opening */
};

/* Allocates a source without parts; NULL without memory. */
pcal_source *pc_source_new(const pcal_env *env);

/* True if the part is given. */
static inline int pc_source_has(const pc_reader *part) {
  return part->format != NULL;
}

/* True if scores are copied and changed window by window. */
static inline int pc_source_changes_rows(const pcal_source *source) {
  return source->percent || source->ragged.used || pc_source_has(&source->abstain.cells);
}

/* Fails if a part, of which a window of `rows` was read, ends before or after the scores. */
PC_CHECKED pcal_status pc_source_check_end(const pcal_source *source, const pc_reader *part,
                                           size_t rows, size_t score_rows, pcal_error *err);

/* The name of a part for messages, or NULL. */
const char *pc_source_part_name(const pc_reader *part);

/* " after its header", or "". */
const char *pc_source_header_hint(const pc_reader *part);

/* Fails if the index of a row would reach PCAL_NO_ROW. */
PC_CHECKED pcal_status pc_source_check_first_row(const char *name, uint64_t first_row,
                                                 uint64_t rows, pcal_error *err);

/* Sets *out to the file of a selector and opens it unless it is already open. */
PC_CHECKED pcal_status pc_source_file_open(pcal_source *source, const pc_selector *selector,
                                           const pc_input_file **out, pcal_error *err);

/* What to open of a file, in place of its selector. */
typedef struct pc_source_pick {
  const char *member;    /* of a container, or NULL */
  const size_t *columns; /* by number, or NULL */
  size_t column_count;
} pc_source_pick;

/* Opens a part of the file or files of an input; pick NULL: what their selectors say. */
PC_CHECKED pcal_status pc_source_file_part(pcal_source *source, const pcal_input *input,
                                           const pc_source_pick *pick, pc_column_role as,
                                           pc_reader *part, pcal_error *err);

/* The first file of an input that names files. */
static inline const char *pc_source_first_file(const pcal_input *input) {
  return input->file != NULL ? input->file : input->files[0];
}

/* Opens a member of the container in source->archive. */
PC_CHECKED pcal_status pc_source_member(pcal_source *source, size_t number, pc_column_role as,
                                        pc_reader *part, pcal_error *err);

/* Opens an input or, if it is not given, a column of `data`.  If neither exists, the part stays
 * empty.  field PC_INPUT_COUNT and column PC_NO_DATA_COLUMN mean none. */
PC_CHECKED pcal_status pc_source_part_open(pcal_source *source, const pc_checked_inputs *inputs,
                                           pc_input_field field, size_t column,
                                           pc_column_role as, pc_reader *part, pcal_error *err);

/* The names of all columns of Arrow data.  The caller frees the array. */
PC_CHECKED pcal_status pc_source_arrow_names(const pcal_source *source,
                                             const pc_arrow_table *table, const char ***out,
                                             size_t *count, pcal_error *err);

/* Names an input that is not a file, for messages. */
PC_CHECKED pcal_status pc_source_input_name(pcal_source *source, const char *name,
                                            pc_source_input *place, pcal_error *err);

int pc_source_regression(const pcal_source *source);

/* Fails if outcomes given with a data file do not match its kind of scores. */
PC_CHECKED pcal_status pc_source_check_outcomes(const pcal_source *source,
                                                const pc_checked_inputs *inputs,
                                                pcal_error *err);

/* The type of scores; for two joined parts float32 only if both are. */
pcal_type pc_source_type(const pcal_source *source);

/* Largest number of joined rows in a window. */
#define PC_SOURCE_JOINED_ROWS ((size_t)1 << 16)

/* Checks columns and levels of regression; levels that were not given are read from the
 * column names of a data file (quantiles.0.05). */
PC_CHECKED pcal_status pc_source_check_forecast(pcal_source *source, pcal_error *err);

/* Joins a window of means and one of spreads into the batch. */
PC_CHECKED pcal_status pc_source_join_spread(pcal_source *source, const pc_window *means,
                                             const pc_window *spreads, pcal_batch *batch,
                                             pcal_error *err);

/* Parses an event (data/forecast_event.h) about the predicted numbers; NULL: none. */
PC_CHECKED pcal_status pc_source_set_event(pcal_source *source, const char *text,
                                           pcal_error *err);
/* Replaces the predictions and targets of a window by the probability of the event and its
 * outcome: the batch then holds rows of the source. */
PC_CHECKED pcal_status pc_source_make_event(pcal_source *source, pcal_batch *batch,
                                            pcal_error *err);

/* Copies the scores of a window as doubles, which may be changed: the batch then holds rows of the
 * source. */
PC_CHECKED pcal_status pc_source_own_rows(pcal_source *source, pcal_batch *batch,
                                          pcal_error *err);

/* Columns of the rows of classes: those of the scores, or more if rows lack choices. */
size_t pc_source_class_columns(const pcal_source *source);
/* Takes the names of classes that the inputs give: source_classes.c. */
PC_CHECKED pcal_status pc_source_set_classes(pcal_source *source, const pcal_inputs *inputs,
                                             pcal_error *err);

/* Finds out whether labels are distributions; the labels are at their beginning afterwards. */
PC_CHECKED pcal_status pc_source_open_soft(pcal_source *source, const pcal_inputs *inputs,
                                           pcal_error *err);
/* Expands a window of rows and of their shares, row after row. */
PC_CHECKED pcal_status pc_source_soft_expand(pcal_source *source, const pcal_batch *base,
                                             const double *shares, pcal_error *err);
/* Returns the next rows of the expanded window. */
void pc_source_soft_take(pcal_source *source, size_t max_rows, pcal_batch *out);
void pc_source_soft_free(pcal_source *source);

/* True if a score of a row is missing. */
int pc_source_row_is_missing(const pcal_batch *batch, size_t row);
/* Scales the weights of a window, while pc_source_scale_weights is in force. */
PC_CHECKED pcal_status pc_source_scale_batch(pcal_source *source, pcal_batch *batch,
                                             pcal_error *err);

/* Replaces missing scores by choices of probability 0, and normalises the others:
 * source_ragged.c. */
PC_CHECKED pcal_status pc_source_rule_out(pcal_source *source, pcal_batch *batch,
                                          pcal_error *err);

/* Reads the abstentions of a window and replaces its confidences and outcomes there:
 * source_abstain.c. */
PC_CHECKED pcal_status pc_source_mark_abstentions(pcal_source *source, size_t max_rows,
                                                  pcal_batch *batch, pcal_error *err);

/* Divides the scores of a window by 100: the batch then holds rows of the source. */
PC_CHECKED pcal_status pc_source_scale_percent(pcal_source *source, pcal_batch *batch,
                                               pcal_error *err);

/* Reads the labels once and sets weights by class, as if the classes had these prevalences; none
 * (count 0) leaves the weights alone.  The source is at its beginning before and after. */
PC_CHECKED pcal_status pc_source_set_prevalence(pcal_source *source, const double *given,
                                                size_t count, pcal_error *err);
/* Replaces the weights of a window whose labels are converted. */
PC_CHECKED pcal_status pc_source_weigh_classes(pcal_source *source, pcal_batch *batch,
                                               pcal_error *err);

/* An index for the first row that depends on the content of all files of the source only.  Above
 * 2^62, far from the indices that callers count. */
PC_CHECKED pcal_status pc_source_place_rows(const pcal_source *source, uint64_t *out,
                                            pcal_error *err);

/* Fails unless a part has one column; `what` names its values: "weights". */
PC_CHECKED pcal_status pc_source_one_column(const pc_reader *part, const char *what,
                                            pcal_error *err);

/* Sets *out to the source, or frees it if status is a failure; returns status. */
pcal_status pc_source_return(pcal_source *source, pcal_status status, pcal_source **out);

#endif
