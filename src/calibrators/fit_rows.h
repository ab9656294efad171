/* The rows of a fit, as often as a search asks for them.
 *
 * The first pass over the source makes the features, finds their scale and counts; when the
 * rows are few enough (PC_FIT_ROWS_BYTES for each worker, and the environment's memory limit)
 * it also keeps them, in the width of the input where that loses nothing.  Later passes read
 * what was kept, or the source again: nothing shows which.
 *
 * Features are handed out divided by 2^exponent, which makes them about 1 in size; or, where a
 * search wants them turned, as they are, and kept rows in tiles of PC_LANES rows,
 * [feature][row] each, in the width in which they are kept. */
#ifndef PC_FIT_ROWS_H
#define PC_FIT_ROWS_H

#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "kernels/row_kernels.h"

#define PC_FIT_ROWS_BYTES ((size_t)32 << 20)
#define PC_FIT_FOLDS 5

typedef enum pc_fit_rows_flags {
  PC_FIT_PLAIN = 0,
  PC_FIT_FOLDED = 1, /* rows are dealt to folds by their content */
  PC_FIT_TURNED = 2
} pc_fit_rows_flags;

/* Some rows; the arrays live until the call returns. */
typedef struct pc_fit_block {
  size_t count;
  size_t first;       /* number of the first among kept rows, the same in all passes; of turned
                         ones a multiple of PC_LANES, and below rows->places */
  const double *x;    /* count x width; NULL: see turned */
  const void *turned; /* tiles of kept rows, the last filled up with zeros */
  const int32_t *labels;
  const double *weights; /* NULL: all 1 */
  const uint8_t *folds;  /* below PC_FIT_FOLDS, or NULL when not asked for */
} pc_fit_block;

/* Adds a block; what it gathers must not depend on the order of rows. */
typedef pcal_status (*pc_fit_add)(void *user, size_t worker, const pc_fit_block *block,
                                  pcal_error *err);

typedef struct pc_fit_rows {
  const pc_fit_task *task;
  pc_feature feature;
  size_t classes, width; /* features of a row */
  int folded, turned;

  double weight;        /* of all rows */
  double *class_weight; /* of the rows of each class */
  double before;        /* mean of -log p of the label as it stands; may be infinite */
  uint64_t impossible;  /* rows whose label has probability 0 */
  size_t count;         /* rows kept */
  size_t places;        /* the same with what fills tiles up */
  int exponent;
  double shrink; /* a power of 2: x times this is at most 1 in size, far outliers apart */

  int kept, narrow;                   /* narrow: turned rows are floats */
  size_t share;                       /* private: rows that a worker may come to keep, or 0 */
  struct pc_fit_rows_worker *workers; /* private */
  size_t worker_count;
} pc_fit_rows;

/* Reads the source once; the task must outlive the rows.  order: one of pc_fit_rows_flags.  On
 * failure there is nothing to close. */
PC_CHECKED pcal_status pc_fit_rows_open(const pc_fit_task *task, pc_feature feature,
                                        pc_fit_rows_flags order, pc_fit_rows *out,
                                        pcal_error *err);
void pc_fit_rows_close(pc_fit_rows *rows); /* a zeroed one is fine */

/* Hands all rows to `add`, from several threads at once. */
PC_CHECKED pcal_status pc_fit_rows_run(const pc_fit_rows *rows, pc_fit_add add, void *user,
                                       pcal_error *err);

/* Hands all kept rows to `add` on this thread, always as worker 0; `scratch` is the number of
 * the worker whose space is used. */
PC_CHECKED pcal_status pc_fit_rows_run_serial(const pc_fit_rows *rows, size_t scratch,
                                              pc_fit_add add, void *user, pcal_error *err);

#endif
