/* The rows of a fit as features, as often as a search needs them.
 *
 * The first pass over the source computes the features, their scale and counts.  If the rows
 * fit into PC_FIT_ROWS_BYTES for each worker, and into the memory limit, they are kept, as
 * floats where that is exact; later passes read the kept rows, or else the source again.  Fits
 * by rounds keep no rows.
 * Results are identical either way.
 *
 * Features are handed out divided by 2^exponent, so that their absolute values are about 1; or,
 * if transposed rows were asked for, undivided: kept rows in tiles of PC_LANES rows, each tile
 * [feature][row]. */
#ifndef PC_FIT_ROWS_H
#define PC_FIT_ROWS_H

#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "calibrators/fit_tally.h"
#include "kernels/row_kernels.h"

#define PC_FIT_ROWS_BYTES ((size_t)32 << 20)
#define PC_FIT_FOLDS 5

typedef enum pc_fit_rows_flags {
  PC_FIT_PLAIN = 0,
  PC_FIT_FOLDED = 1,    /* assigns rows to folds by their content */
  PC_FIT_TRANSPOSED = 2 /* hands out kept rows in tiles */
} pc_fit_rows_flags;

/* Some rows; the arrays are valid until the callback returns. */
typedef struct pc_fit_block {
  size_t count;
  size_t first;           /* index of the first row among kept rows, the same in all passes; for
                             tiles a multiple of PC_LANES, below rows->padded_count */
  const double *x;        /* count x width; NULL: see transposed */
  const void *transposed; /* tiles of kept rows, the last one padded with zeros */
  const int32_t *labels;
  const double *weights; /* NULL: all 1 */
  const uint8_t *folds;  /* below PC_FIT_FOLDS; NULL without PC_FIT_FOLDED */
} pc_fit_block;

/* Adds a block to the sums of a worker, which must not depend on the order of rows. */
typedef pcal_status (*pc_fit_add)(void *user, size_t worker, const pc_fit_block *block,
                                  pcal_error *err);

typedef struct pc_fit_rows {
  const pc_fit_task *task;
  pc_feature feature;
  size_t classes, width; /* width: features of a row */
  int folded, transposed;
  int soft; /* labels are distributions over classes: rows of one row of the data are in one fold */

  double weight;        /* of all rows */
  double *class_weight; /* of the rows of each class */
  double before;        /* mean of -log p of the label before the fit; may be infinite */
  uint64_t impossible;  /* rows whose label has probability 0 */
  size_t count;         /* kept rows */
  size_t padded_count;  /* kept rows and the padding of tiles */
  int exponent;
  double shrink; /* a power of 2: |x * shrink| <= 1, except for far outliers */

  int kept;                           /* rows are kept */
  int floats;                         /* kept rows are floats */
  size_t share;                       /* private: expected rows of a worker, or 0 */
  struct pc_fit_rows_worker *workers; /* private */
  size_t worker_count;
} pc_fit_rows;

/* Reads the source once; the task must outlive the rows.  order: flags of pc_fit_rows_flags. */
PC_CHECKED pcal_status pc_fit_rows_open(const pc_fit_task *task, pc_feature feature,
                                        pc_fit_rows_flags order, pc_fit_rows *out,
                                        pcal_error *err);

/* Hands all rows to `add`, from several threads at once.  list: as for pc_fit_pass. */
PC_CHECKED pcal_status pc_fit_rows_run(const pc_fit_rows *rows, pc_fit_add add,
                                       pc_fit_list_fields list, void *user, pcal_error *err);

/* Hands all kept rows to `add` on this thread, always as worker 0, through the buffers of
 * worker number `buffers`. */
PC_CHECKED pcal_status pc_fit_rows_run_serial(const pc_fit_rows *rows, size_t buffers,
                                              pc_fit_add add, void *user, pcal_error *err);

#endif
