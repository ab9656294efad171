/* The rows of a boosting fit in memory, in an order that depends on their content alone. */
#ifndef PC_BOOSTING_ROWS_H
#define PC_BOOSTING_ROWS_H

#include "calibrators/boosting/boosting_sets.h"
#include "calibrators/calibrator.h"

#define PC_BOOSTING_FOLDS 5

/* Equal rows are one, with the sum of their weights. */
typedef struct pc_boosting_rows {
  size_t count;
  size_t width;    /* pc_boosting_width */
  double *probs;   /* count x width, before any step (pc_boosting_begin) */
  int32_t *labels; /* of two classes: 0 or 1 */
  double *weights;
  uint8_t *folds;
  uint32_t *groups;                    /* the set with the name of the row */
  pc_boosting_membership *memberships; /* of each set, of rows with exactly its name */
  pc_boosting_sets sets;
  uint64_t *set_rows; /* rows of each set as given, and their weight */
  double *set_weights;
  unsigned char *set_impossible; /* 1: a label has probability 0 */
} pc_boosting_rows;

/* Reads the task's source.  With task->by_group the source needs groups with names. */
PC_CHECKED pcal_status pc_boosting_rows_open(const pc_fit_task *task, pc_boosting_rows *out,
                                             pcal_error *err);

/* 1 if probability k of a row is that of its label. */
static inline int pc_boosting_hit(const pc_boosting_rows *rows, size_t i, size_t k) {
  return rows->width == 1 ? rows->labels[i] == 1 : rows->labels[i] == (int32_t)k;
}

#endif
