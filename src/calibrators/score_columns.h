/* The scores of a fit, column by column, split by outcome and sorted: the input of methods that
 * learn from the order of scores.
 *
 * A row has one or more scores (its columns), of which at most one came true.  As many columns
 * are kept at a time as fit into PC_SCORE_COLUMNS_BYTES, or into half of the memory limit; for
 * the others the source is read again.  Fits by rounds keep ranges of scores (fit_ranges.h), or
 * all columns: their tallies then hold every different score. */
#ifndef PC_SCORE_COLUMNS_H
#define PC_SCORE_COLUMNS_H

#include "calibrators/calibrator.h"
#include "curve/curve_table.h"
#include "curve/isotonic_ranges.h"
#include "data/pass.h"

#define PC_SCORE_COLUMNS_BYTES ((uint64_t)256 << 20)
#define PC_NO_COLUMN UINT32_MAX

typedef struct pc_score_columns_request {
  size_t columns;
  int pooled;         /* all columns are joined into one */
  int lean;           /* `look` needs no probabilities of more than two classes */
  int bare;           /* `look` needs nothing but the one column of scores */
  size_t row_space;   /* doubles of `space` for each row, and */
  size_t space;       /* further ones */
  const char *remedy; /* for the error if one column exceeds the memory limit */
  const void *look_user;
  /* Returns the scores of some rows, row after row, and sets hit[i] to the column of row i that
   * came true, or to PC_NO_COLUMN.  May use `space`.  Called from several threads at once. */
  const double *(*look)(const void *look_user, const pc_rows *rows, double *space,
                        uint32_t *hit);
  void *user;
  /* Takes one sorted column, or all as number 0 if pooled.  `scratch` allocates memory that is
   * freed when the call returns.  Called from several threads at once if there are several. */
  pcal_status (*use)(void *user, const pcal_env *scratch, size_t column,
                     const pc_sorted_column *misses, const pc_sorted_column *hits,
                     pcal_error *err);
  /* For fits by rounds: marks the entries of a table of segments (pc_range_mark) that the
   * method must know better, none if they are enough.  settled: entries that an earlier call
   * has not marked.  NULL: the method needs every score. */
  pcal_status (*wants)(void *user, const pcal_env *env, const pc_curve_table *table,
                       const uint8_t *settled, uint8_t *marks, pcal_error *err);
  /* Takes one column as segments, in place of `use`. */
  pcal_status (*use_ranges)(void *user, const pcal_env *scratch, size_t column,
                            const pc_curve_table *table, pcal_error *err);
} pc_score_columns_request;

/* Also sets the counts of rows and weights in the calibrator's fit. */
PC_CHECKED pcal_status pc_score_columns_run(const pc_fit_task *task,
                                            const pc_score_columns_request *request,
                                            pcal_error *err);

/* A request for the probability of each class, or for the one score of a row; the caller sets
 * `use` and `user`. */
pc_score_columns_request pc_score_columns_of_classes(const pc_layout *layout);

#endif
