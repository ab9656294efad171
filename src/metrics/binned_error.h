/* Binned calibration errors, computed from the bins of one score or of each class. */
#ifndef PC_BINNED_ERROR_H
#define PC_BINNED_ERROR_H

#include "curve/curve_bins.h"
#include "metrics/metric.h"

/* E_k = sum_b w_b |conf_b - acc_b|^p over the bins of part k, w_b = n_b / n_k or 1 / bins;
 * the value is (sum_k E_k)^(1/p), or with the mean over parts. */
typedef struct pc_binned_error {
  pc_binning binning; /* of a curve; the bins of a grid are fixed */
  size_t bins;
  double threshold;  /* of adaptive bins */
  double p;          /* at least 1 */
  int debias;        /* p = 2: see pc_bins_error */
  int equal_weights; /* w_b = 1 / bins */
  int mean;          /* over parts */
} pc_binned_error;

/* Sets the value, or marks it undefined if there are no scores.  If the parts are classes,
 * also sets the value of each class and, as a part, the largest of them. */
PC_CHECKED pcal_status pc_binned_error_evaluate(const pc_binned_error *how,
                                                const pc_evidence *evidence,
                                                const pcal_env *env, pc_metric_result *out,
                                                pcal_error *err);

#define PC_BINS_OPTION \
  { "bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "number of bins" }

#endif
