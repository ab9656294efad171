/* Cubic splines with knots i / (k - 1) in [0, 1], given by their values at the knots. */
#ifndef PC_CUBIC_SPLINE_H
#define PC_CUBIC_SPLINE_H

#include "base/memory.h"

/* Boundary conditions for the outer intervals. */
typedef enum pc_runout {
  PC_RUNOUT_NATURAL,   /* no curvature at the ends */
  PC_RUNOUT_QUADRATIC, /* a parabola in the outer intervals */
  PC_RUNOUT_CUBIC      /* one cubic in the two outer intervals */
} pc_runout;

typedef struct pc_spline_space {
  size_t knots; /* at least 3 */
  double step;  /* between knots */
  double *bend; /* knots x knots: maps values at the knots to second derivatives there */
} pc_spline_space;

PC_CHECKED pcal_status pc_spline_space_new(const pcal_env *env, size_t knots, pc_runout runout,
                                           pc_spline_space *out, pcal_error *err);
void pc_spline_space_free(const pcal_env *env, pc_spline_space *space);

/* A value or slope of a spline between two knots, as a linear form: coefficients of the second
 * derivatives at knots `at` and `at` + 1, then of the values there. */
typedef struct pc_spline_form {
  size_t at;
  double c[4];
} pc_spline_form;

/* The value and the slope at x; the outer cubics extend beyond [0, 1]. */
pc_spline_form pc_spline_value(const pc_spline_space *space, double x);
pc_spline_form pc_spline_slope(const pc_spline_space *space, double x);

/* The first function computes `bends`, the second derivatives at all knots, from the values;
 * the second evaluates a form from both. */
void pc_spline_second_derivatives(const pc_spline_space *space, const double *values,
                                  double *bends);
double pc_spline_evaluate(const pc_spline_form *form, const double *values,
                          const double *bends);

/* Slopes at `count` ascending points. */
void pc_spline_slopes(const pc_spline_space *space, const double *x, size_t count,
                      const double *values, const double *bends, double *out);

/* row += factor * form, with the form expressed in the values at all knots. */
void pc_spline_add_coefficients(const pc_spline_space *space, const pc_spline_form *form,
                                double factor, double *row);

/* The mean slope from a to x, or the slope at x if a equals x; and the same as a form:
 * row += factor * form. */
double pc_spline_mean_slope(const pc_spline_space *space, double a, double x,
                            const double *values, const double *bends);
void pc_spline_add_mean_slope(const pc_spline_space *space, double a, double x, double factor,
                              double *row);

/* Weighted least squares for points (x, y), x ascending: sums for each interval between knots;
 * then the matrix and right side of the normal equations in the values at the knots. */
typedef struct pc_spline_sums {
  double cross[10], right[4];
} pc_spline_sums;

void pc_spline_add(const pc_spline_space *space, const double *x, const double *y,
                   const double *weight, size_t count,
                   pc_spline_sums *sums); /* knots - 1 of them, zero at first */
PC_CHECKED pcal_status pc_spline_normal(const pcal_env *env, const pc_spline_space *space,
                                        const pc_spline_sums *sums, double *matrix,
                                        double *right, pcal_error *err);

#endif
