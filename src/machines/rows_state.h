/* The state of the rows machine (machine_rows.c), for the files that read it. */
#ifndef PC_ROWS_STATE_H
#define PC_ROWS_STATE_H

#include "machines/machine_rows.h"

/* One column of the state. */
typedef struct pc_rows_column {
  void *data;
  size_t capacity, size, per_row; /* per_row elements of `size` bytes per row */
} pc_rows_column;

enum {
  PC_ROWS_IDS,
  PC_ROWS_KEYS,
  PC_ROWS_LABELS,
  PC_ROWS_WEIGHTS,
  PC_ROWS_SCORE,
  PC_ROWS_TOP,
  PC_ROWS_PROBS,
  PC_ROWS_CLUSTERS,
  PC_ROWS_COLUMNS
};

typedef struct pc_rows_state {
  size_t classes, count;
  int regression;
  pc_rows_column column[PC_ROWS_COLUMNS];
} pc_rows_state;

/* A column in the given order of rows; NULL if the state has none.  Sets *enough to 0 if
 * memory runs out. */
void *pc_rows_ordered(const pcal_env *env, const pc_rows_state *state, size_t column,
                      const size_t *order, int *enough);
/* Frees the rows of evidence. */
void pc_rows_release(const pcal_env *env, pc_evidence *evidence);

#endif
