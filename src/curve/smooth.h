/* Point masses on [0, 1], smoothed by a Gaussian that is reflected at both ends:
 *
 *   f(t) = sum_i m_i K(t, x_i)
 *   K(t, x) = 1/sigma sum over whole k of phi((t - x + 2k) / sigma) + phi((t + x + 2k) / sigma)
 */
#ifndef PC_SMOOTH_H
#define PC_SMOOTH_H

#include "curve/point_masses.h"

#define PC_SMOOTH_SIGMA_MIN 0x1p-24

/* The grid has at least this many nodes per sigma, and fewer than twice as many.  The error of
 * the rough grid is 1e-4. */
#define PC_SMOOTH_FINE 16.0
#define PC_SMOOTH_ROUGH 4.0

/* Bound on the error of pc_smooth_norm on the fine grid, for masses whose sizes sum to 1. */
#define PC_SMOOTH_ERROR 2.7e-7

/* The integral of |f| over [0, 1], for sigma in [PC_SMOOTH_SIGMA_MIN, 1].  fine: PC_SMOOTH_FINE
 * or PC_SMOOTH_ROUGH.  Continuous in sigma within each interval between two powers of two.
 * env: whose threads compute it, with the same bits; NULL: the calling thread. */
double pc_smooth_norm(const pcal_env *env, const pc_point_masses *masses, double sigma,
                      double fine);

/* The number of intervals of that grid, 1 / h. */
int64_t pc_smooth_grid(double sigma, double fine);

/* Distributes a mass at f in [0, 1] between nodes 0 and 1 to the nodes -2 .. 3, with the weights
 * of polynomial interpolation. */
void pc_smooth_spread(double f, double mass, double out[6]);

/* Distributes the masses to the nodes of a grid, as pc_smooth_norm does, so that several sigmas
 * with this grid can share the work; results then differ by rounding only.  out has room for
 * grid + 1 masses.  env: as above. */
void pc_smooth_gather(const pcal_env *env, const pc_point_masses *masses, int64_t grid,
                      pc_point_masses *out);

#endif
