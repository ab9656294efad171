/* From a caller's batch to checked rows of probabilities.
 *
 * Workers validate a chunk of a batch and convert it to doubles in their scratch.  All later
 * code sees only valid rows. */
#ifndef PC_ROWS_H
#define PC_ROWS_H

#include "base/memory.h"
#include "device/device.h"
#include "kernels/fast_kernels.h"
#include "kernels/prob_row.h"
#include "kernels/row_kernels.h"

/* The form of a converted prediction. */
typedef enum pc_form {
  PC_FORM_CLASSES,   /* probabilities of classes */
  PC_FORM_GAUSSIAN,  /* mean and standard deviation */
  PC_FORM_QUANTILES, /* ascending, one for each level */
  PC_FORM_SAMPLES,   /* ascending */
  PC_FORM_DISTANCES  /* of samples of several numbers (data/convert_vectors.c): half their mean
                        distance, fair and empirical, then their mean distance from the targets */
} pc_form;

/* The shape of the rows of a data set.  A row of regression is its prediction followed by its
 * target, and `classes` is the length of that row, so that code that keeps, selects, sorts,
 * saves or merges rows of probabilities also works for regression. */
typedef struct pc_layout {
  pcal_kind kind;
  size_t columns;
  size_t classes; /* 2 for one column; 1 for confidences; columns + 1 for regression; 3 for
                     distances */
  pc_form form;
  double levels[PCAL_LEVELS_MAX]; /* of quantiles */
} pc_layout;

#define PC_CLASSES_MAX 1000000
#define PC_DISTANCES 3 /* numbers of a row of PC_FORM_DISTANCES */

/* For weights_are of a batch: expected frequencies, which need not be whole. */
#define PC_WEIGHTS_EXPECTED 3
/* The same: importance weights in units of effective rows; fits alone read them. */
#define PC_WEIGHTS_SCALED 4

PC_CHECKED pcal_status pc_layout_make(pcal_kind kind, size_t columns, pc_layout *out,
                                      pcal_error *err);
/* The same with the levels of quantiles, or NULL for other kinds. */
PC_CHECKED pcal_status pc_layout_make_levels(pcal_kind kind, size_t columns,
                                             const double *levels, pc_layout *out,
                                             pcal_error *err);
int pc_layout_equal(const pc_layout *a, const pc_layout *b);

/* The form that a kind of scores is converted to. */
pc_form pc_kind_form(pcal_kind kind);

/* The input that holds the outcomes of a kind: "labels", "correct" or "target"; and the same
 * for messages: "{labels}" ... (base/argument_names.def). */
const char *pc_kind_outcome(pcal_kind kind);
const char *pc_kind_outcome_argument(pcal_kind kind);
/* Scores of a kind, for text output: "means and variances". */
const char *pc_kind_title(pcal_kind kind);

/* True for one column of scores of class 1 of two. */
int pc_layout_is_binary(const pc_layout *layout);

/* Which probabilities of a row are filled. */
typedef enum pc_probs_policy {
  PC_PROBS_FILLED, /* all */
  PC_PROBS_LEAN,   /* none if there are more than two classes */
  PC_PROBS_FAST    /* the same, and float32 logits may be exponentiated in float */
} pc_probs_policy;

/* Which scores of a row are filled.  Each level leaves out more than the one before. */
typedef enum pc_scores_policy {
  PC_SCORES_NONE,     /* no scores */
  PC_SCORES_FILLED,   /* scores, and all other columns */
  PC_SCORES_ONLY,     /* of several columns of logits, only scores and top_label */
  PC_SCORES_IN_PLACE, /* the same; float32 logits may stay in the batch (pc_rows_floats) */
  PC_SCORES_UNCHECKED /* the same; logits left in the batch are not checked, and top_label is
                         not filled */
} pc_scores_policy;

/* How rows are checked and which columns of pc_rows are filled.  A zeroed policy requires
 * complete rows and fills all columns except scores, log_true and keys. */
typedef struct pc_row_policy {
  int normalize, skip_missing; /* the user's settings */
  int unlabelled;              /* the batch has no labels; each row counts as class 0; with
                                  PC_SCORES_ONLY no top_label */
  pc_probs_policy probs;
  pc_scores_policy scores;
  int score_alone; /* of one column, fill only positive and labels */
  int need_log;    /* fill log_true */
  int need_keys;   /* fill keys */
  int no_squares;  /* others_square may be left unfilled */
  int of_event;    /* predictions of a number become the probability of an event */
  int applying;    /* rows go to a calibrator: none may be left out, and `normalize` is the
                      calibrator's setting */
} pc_row_policy;

/* True if the fields of a policy are consistent:
 *   (1) score_alone excludes scores and need_log, which it would leave unfilled;
 *   (2) from PC_SCORES_ONLY on probabilities are not computed: need_log, need_keys and
 *       PC_PROBS_FILLED are excluded.
 * Checked by pc_assert in pc_pass_init and pc_rows_convert. */
int pc_row_policy_is_valid(const pc_row_policy *policy);

/* Rows that passed every check; weights of 0 are left out.  weights is NULL when all are 1.
 * For confidences, top is the confidence and the columns about the label are not filled; under
 * score_alone rows of one column may have only labels, weights, groups and positive filled, and
 * with need_keys ids and keys.
 */
typedef struct pc_rows {
  size_t count, classes;
  const uint64_t *ids;  /* index in the whole data set */
  const uint64_t *keys; /* of their content or id (row_keys.h), or NULL */
  const int32_t *labels;
  const uint8_t *ones; /* for one column: 1 if the label is 1; NULL if not filled */
  const double *weights;
  const double *probs;         /* count x classes, or NULL under PC_PROBS_LEAN; of regression
                                  always: prediction and target */
  const double *positive;      /* for one column: probability of class 1, or confidence */
  const double *scores;        /* count x classes: logits, or log probabilities */
  const double *top;           /* largest probability */
  const int32_t *top_label;    /* its class; the lowest on ties */
  const double *true_gap;      /* 1 - probability of the label, without cancellation */
  const double *others_square; /* sum of squared probabilities of the other classes */
  const double *log_true;      /* log probability of the label, or NULL */
  const uint32_t *groups;      /* or NULL */
  const double *levels;        /* of quantiles, else NULL */
  const void *flat;            /* scores of row flat_first as floats in place, or NULL */
  ptrdiff_t flat_stride;
  uint64_t flat_first;
} pc_rows;

/* The scores of row i as floats in place; NULL if they were converted. */
static inline const float *pc_rows_floats(const pc_rows *rows, size_t i) {
  if (rows->flat == NULL)
    return NULL;
  const ptrdiff_t at = (ptrdiff_t)(rows->ids[i] - rows->flat_first) * rows->flat_stride;
  return (const float *)(const void *)((const char *)rows->flat + at);
}

/* Counts of a chunk. */
typedef struct pc_row_counts {
  uint64_t normalized, skipped;
  uint64_t fractional_row; /* first row whose weight is not whole, or PCAL_NO_ROW */
} pc_row_counts;

/* Space for one chunk, reused; all arrays are in one block. */
typedef struct pc_scratch {
  size_t capacity; /* rows; columns that kernels fill have room for PC_NARROW_ROWS more */
  const pc_row_kernels *kernels;
  const pc_fast_kernels *fast;
  const pc_prob_row_kernels *prob_row;
  void *block;
  double *probs, *scores;             /* rows x classes */
  double *terms, *lanes, *scores_row; /* one row, or PC_NARROW_ROWS narrow ones */
  double *weights, *positive, *top, *true_gap, *others_square, *log_true;
  uint64_t *ids, *keys;
  int32_t *labels, *top_label;
  uint32_t *groups;
  uint8_t *ones;
} pc_scratch;

/* Rows of a chunk: about half a megabyte of probabilities, in whole blocks. */
size_t pc_chunk_rows(const pc_layout *layout);

PC_CHECKED pcal_status pc_scratch_new(const pcal_env *env, const pc_layout *layout,
                                      pc_scratch *out, pcal_error *err);
void pc_scratch_free(const pcal_env *env, pc_scratch *scratch);

/* Copies a caller's batch to out: fields beyond its size get their defaults, and strides of 0
 * become those of contiguous scores.  Fails if the size is not set, or if only the row stride
 * is 0 and the columns are not contiguous. */
PC_CHECKED pcal_status pc_batch_resolve(const pcal_batch *given, pcal_batch *out,
                                        pcal_error *err);

/* Fills strides of 0 for rows of `columns` items of `size` bytes; returns 0 if the row stride
 * is unknown. */
int pc_strides_fill(size_t rows, size_t columns, size_t size, ptrdiff_t *row_stride,
                    ptrdiff_t *column_stride);

/* The targets from row `at` on; NULL: there are none. */
const double *pc_batch_targets(const pcal_batch *batch, size_t at);

/* Copies the scores of one row to `out`, as doubles. */
void pc_batch_row(const pcal_batch *batch, size_t row, double *out);

/* True if exponentials of this batch are computed in float instead of double. */
int pc_batch_is_fast(const pcal_batch *batch, const pc_layout *layout,
                     const pc_row_policy *policy);

/* False for scores on a device that have gaps. */
int pc_batch_fits_device(const pcal_batch *batch);

/* Fails if the scores of a batch on a device have gaps, or are not in the memory of that
 * device: the driver would stop at the first access and leave the caller's context unusable.
 * name: of the scores. */
PC_CHECKED pcal_status pc_batch_check_device(const pcal_batch *batch, const char *name,
                                             pcal_error *err);

/* Fails if a batch does not have the layout, or lacks an array that it needs. */
PC_CHECKED pcal_status pc_batch_check(const pcal_batch *batch, const pc_layout *layout,
                                      const pc_row_policy *policy, pcal_error *err);

/* Rows of one column as stored: contiguous probabilities of class 1, or confidences, and
 * labels. */
typedef struct pc_stored_rows {
  pcal_type type;
  const void *scores;
  const int32_t *labels;
  size_t count;
  int32_t label_low, label_high; /* of plain rows */
} pc_stored_rows;

/* True if a batch has such rows, without weights and groups. */
int pc_batch_has_stored_rows(const pcal_batch *batch);

/* True if all scores are in [0, 1] and all labels 0 or 1.  Other rows may be valid too.  Fills
 * the lowest and the highest label. */
int pc_stored_rows_are_plain(pc_stored_rows *rows);

/* Checks and converts rows [begin, begin + count) of a batch, count <= capacity. */
PC_CHECKED pcal_status pc_rows_convert(const pcal_batch *batch, const pc_layout *layout,
                                       const pc_row_policy *policy, size_t begin, size_t count,
                                       const pc_scratch *scratch, pc_rows *out,
                                       pc_row_counts *counts, pcal_error *err);

/* True if the softmax that the device of the batch computes is all that the policy needs. */
int pc_device_rows_suffice(const pcal_batch *batch, const pc_layout *layout,
                           const pc_row_policy *policy);

/* As pc_rows_convert for a batch on a device, from the softmax of its rows, which begins with row
 * `begin`. */
PC_CHECKED pcal_status pc_rows_convert_device(const pcal_batch *batch, const pc_layout *layout,
                                              const pc_row_policy *policy,
                                              const pc_device_softmax *softmax, size_t begin,
                                              size_t count, const pc_scratch *scratch,
                                              pc_rows *out, pc_row_counts *counts,
                                              pcal_error *err);

/* Copies the rows at the given positions into another scratch. */
void pc_rows_select(const pc_rows *rows, const size_t *positions, size_t count,
                    const pc_scratch *scratch, pc_rows *out);

#endif
