/* Histogram binning: how tables are fitted. */
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

/* A fit under way. */
typedef struct pc_histogram_fit {
  const pc_fit_task *task;
  size_t bins, columns;
  size_t resamples;    /* 0: the rows themselves */
  pc_bin_maps *tables; /* of equal width: with room */
  uint64_t *empty;     /* of each table: bins without rows */
} pc_histogram_fit;

/* Fits tables of equal mass: keeps scores, class after class where they are too many. */
PC_CHECKED pcal_status pc_histogram_fit_mass(pc_histogram_fit *fit, pcal_error *err);

/* What is in a bin: hits / weight, or its middle if it is empty; with resamples the mean of
 * that over them.  `bin` of all bins of all tables numbers the draws. */
double pc_histogram_bin_value(const pc_histogram_fit *fit, size_t table, size_t bin,
                              double weight, double hits);

/* The table of equal mass of rows, or the mean of those of resamples. */
PC_CHECKED pcal_status pc_histogram_fit_table(const pc_histogram_fit *fit, size_t table,
                                              const pc_curve_table *rows, pcal_error *err);
PC_CHECKED pcal_status pc_histogram_fit_resamples(const pc_histogram_fit *fit, size_t table,
                                                  const pc_curve_table *rows, pcal_error *err);

#endif
