/* Point masses on [0, 1] under a Gaussian that is reflected at both ends:
 *
 *   f(t) = sum_i m_i K(t, x_i),
 *   K(t, x) = sum over whole k of phi((t - x + 2k) / sigma) + phi((t + x + 2k) / sigma), /
 * sigma
 */
#ifndef PC_SMOOTH_H
#define PC_SMOOTH_H

#include "curve/point_masses.h"

#define PC_SMOOTH_SIGMA_MIN 0x1p-24

/* Nodes of the grid in sigma, at least; below twice as many.  The rough one is off by 1e-4. */
#define PC_SMOOTH_FINE 16.0
#define PC_SMOOTH_ROUGH 4.0

/* What pc_smooth_norm is off by at most on the fine grid, for masses whose sizes add up to 1.
 */
#define PC_SMOOTH_ERROR 2.7e-7

/* The integral of |f| over [0, 1], for sigma in [PC_SMOOTH_SIGMA_MIN, 1].  Where it is asked
 * for with sigma between one power of two and the next it is continuous in sigma. */
double pc_smooth_norm(const pc_point_masses *masses, double sigma, double fine);

/* Intervals of the grid on which that is done: 1 / h. */
int64_t pc_smooth_grid(double sigma, double fine);

/* The masses as pc_smooth_norm shares them among the nodes of a grid, for repeated use with
 * widths of that grid: the same values but for rounding.  out has room for grid + 1 masses. */
void pc_smooth_gather(const pc_point_masses *masses, int64_t grid, pc_point_masses *out);

#endif
