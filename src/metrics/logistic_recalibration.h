/* Logistic recalibration of a curve: logit P(y = 1) = a + b logit p, by maximum likelihood.
 *
 * A score of exactly 0 or 1 has no finite logit.  If it came true, it is certain for every a and
 * every b > 0 and adds nothing; if it did not, no finite a and b explain it. */
#ifndef PC_LOGISTIC_RECALIBRATION_H
#define PC_LOGISTIC_RECALIBRATION_H

#include "curve/bucket_tally.h"
#include "curve/curve_table.h"

/* Which parameters are fitted. */
typedef enum pc_recalibration_model {
  PC_RECALIBRATION_INTERCEPT, /* a; b is 1 */
  PC_RECALIBRATION_BOTH
} pc_recalibration_model;

/* Parameters, with the log-likelihood and its derivatives there. */
typedef struct pc_logistic_recalibration {
  double intercept, slope, likelihood;
  double start;                   /* the log-likelihood at a = 0, b = 1 */
  double gradient[2], hessian[3]; /* hessian of -likelihood: aa, ab, bb */
  double certain;                 /* weight of the rows whose score is exactly 0 or 1 */
} pc_logistic_recalibration;

/* Fits a table of scores; or one of segments that has all sums.  Returns the reason why there
 * is no fit, or NULL; `start` and `certain` are set in any case. */
const char *pc_logistic_recalibration_fit(const pc_curve_table *table, double clip,
                                          pc_recalibration_model model,
                                          pc_logistic_recalibration *out);

/* As pc_metric.next_points. */
size_t pc_logistic_recalibration_next(const pc_curve_table *table, double clip,
                                      pc_recalibration_model model,
                                      pc_logit_point out[PC_REFINE_POINTS_MAX]);

/* Standard errors from the inverse of the Hessian. */
double pc_logistic_recalibration_se(const pc_logistic_recalibration *fit,
                                    pc_recalibration_model model);

#endif
