/* Histogram binning: fitting the tables of bins. */
#ifndef PC_HISTOGRAM_H
#define PC_HISTOGRAM_H

#include "calibrators/bin_maps.h"
#include "curve/curve_table.h"

enum {
  PC_HISTOGRAM_BINS,
  PC_HISTOGRAM_BINNING,
  PC_HISTOGRAM_CLASSWISE,
  PC_HISTOGRAM_BOOTSTRAP
};
enum { PC_HISTOGRAM_BY_WIDTH, PC_HISTOGRAM_BY_MASS };

/* A fit in progress. */
typedef struct pc_histogram_fit {
  const pc_fit_task *task;
  size_t bins, columns;
  size_t resamples;    /* 0: no bootstrap */
  pc_bin_maps *tables; /* the calibrator's parameters */
  uint64_t *empty;     /* bins without rows, of each table */
} pc_histogram_fit;

/* Fits bins of equal mass to sorted scores (score_columns.h). */
PC_CHECKED pcal_status pc_histogram_fit_mass(pc_histogram_fit *fit, pcal_error *err);

/* The value of a bin: hits / weight, or its midpoint if it is empty; with a bootstrap the mean
 * of that over resamples.  Table and bin number the random draws. */
double pc_histogram_bin_value(const pc_histogram_fit *fit, size_t table, size_t bin,
                              double weight, double hits);

/* Fits one table of equal mass to rows, or the mean of the tables of resamples.  Temporary
 * memory comes from `scratch`, the table from `memory`. */
PC_CHECKED pcal_status pc_histogram_fit_table(const pc_histogram_fit *fit,
                                              const pcal_env *scratch, const pcal_env *memory,
                                              size_t table, const pc_curve_table *rows,
                                              pcal_error *err);
PC_CHECKED pcal_status pc_histogram_fit_resamples(const pc_histogram_fit *fit,
                                                  const pcal_env *scratch,
                                                  const pcal_env *memory, size_t table,
                                                  const pc_curve_table *rows, pcal_error *err);

#endif
