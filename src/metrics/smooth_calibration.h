/* A smooth calibration curve: the frequency of the event as a function of its score. */
#ifndef PC_SMOOTH_CALIBRATION_H
#define PC_SMOOTH_CALIBRATION_H

#include "base/memory.h"
#include "curve/curve_table.h"

#define PC_SMOOTH_KNOTS_MAX 7

/* One point of the curve: a distinct score, or several scores that were joined. */
typedef struct pc_smooth_point {
  double score, weight, hits;
  double logit; /* of the score */
  double rate;  /* fitted frequency of the event */
} pc_smooth_point;

typedef struct pc_smooth_calibration {
  pc_smooth_point *points; /* ascending scores */
  size_t count;
  double knots[PC_SMOOTH_KNOTS_MAX]; /* on the logit scale, ascending and distinct */
  size_t knot_count;                 /* 0: no spline, a straight line on the logit scale */
  size_t terms;                      /* coefficients */
  double coefficient[PC_SMOOTH_KNOTS_MAX];
  double factor[PC_SMOOTH_KNOTS_MAX * PC_SMOOTH_KNOTS_MAX]; /* of the Hessian, for the band */
  int has_band;                                             /* factor is valid */
} pc_smooth_calibration;

/* Fits a table of distinct scores, which must have rows; free even after a failure. */
PC_CHECKED pcal_status pc_smooth_calibration_fit(const pcal_env *env,
                                                 const pc_curve_table *table, size_t knots,
                                                 pc_smooth_calibration *out, pcal_error *err);
void pc_smooth_calibration_free(const pcal_env *env, pc_smooth_calibration *fit);

/* The terms of the fit at a logit, and the rate for a sum of terms times coefficients. */
void pc_smooth_calibration_terms(const pc_smooth_calibration *fit, double logit, double *out);
double pc_smooth_calibration_rate(double sum);

/* The fitted frequency at a score, and its interval for a normal quantile z. */
typedef struct pc_smooth_value {
  double rate, low, high;
} pc_smooth_value;

pc_smooth_value pc_smooth_calibration_at(const pc_smooth_calibration *fit, double score,
                                         double z);

#endif
