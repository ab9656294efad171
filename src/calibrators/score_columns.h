/* The scores of a fit, column by column, apart by outcome and sorted: what methods need that
 * learn from the order of scores.
 *
 * A row has one or several scores, its columns, of which at most one came true.  As many
 * columns as fit PC_SCORE_COLUMNS_BYTES, or half of the memory limit, are kept at a time; then
 * the source is read again. */
#ifndef PC_SCORE_COLUMNS_H
#define PC_SCORE_COLUMNS_H

#include "calibrators/calibrator.h"
#include "curve/curve_table.h"
#include "data/pass.h"

#define PC_SCORE_COLUMNS_BYTES ((uint64_t)256 << 20)
#define PC_NO_COLUMN UINT32_MAX

typedef struct pc_score_columns_request {
  size_t columns;
  int pooled;         /* the pairs of all columns make one table */
  int lean;           /* no probabilities of more than two classes */
  int bare;           /* of one column of scores nothing else is looked at */
  size_t row_space;   /* numbers for each row, and */
  size_t space;       /* besides, that look may use */
  const char *remedy; /* words for a memory limit that one column exceeds */
  const void *look_user;
  /* The scores of some rows, row after row, and for each row the column that came true, or
   * PC_NO_COLUMN.  Called from several threads at once. */
  const double *(*look)(const void *look_user, const pc_rows *rows, double *space,
                        uint32_t *hit);
  void *user;
  /* Takes one column, or the pooled ones as number 0; may be called from several threads at
   * once when there are several. */
  pcal_status (*use)(void *user, size_t column, const pc_sorted_column *misses,
                     const pc_sorted_column *hits, pcal_error *err);
} pc_score_columns_request;

/* Leaves counts of rows and weights in the calibrator's fit. */
PC_CHECKED pcal_status pc_score_columns_run(const pc_fit_task *task,
                                            const pc_score_columns_request *request,
                                            pcal_error *err);

/* The probability of each class, or the one score of a row: columns as the layout has them,
 * nothing pooled.  `use` and `user` are still to be set. */
pc_score_columns_request pc_score_columns_of_classes(const pc_layout *layout);

#endif
