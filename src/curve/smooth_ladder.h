/* The smooth calibration error (metrics/smece.c) of many curves whose gaps are combinations of
 * the same three (pc_prefix_gaps): those of the data, of a replica, and of a shift.
 *
 * Smoothing is linear, so each of the three is smoothed once for each width of a ladder; every
 * combination then costs its integrals only.  Relative error: below 2e-3. */
#ifndef PC_SMOOTH_LADDER_H
#define PC_SMOOTH_LADDER_H

#include "curve/curve_prefix.h"
#include "data/rows.h"

typedef struct pc_smooth_ladder pc_smooth_ladder;

/* A ladder for curves with the ranges of this prefix, which must have cells.  prefix->gaps and
 * its sums of the data and of the shift must stay the same. */
PC_CHECKED pcal_status pc_smooth_ladder_new(const pcal_env *env, pc_smooth_ladder **out,
                                            pcal_error *err);
void pc_smooth_ladder_free(const pcal_env *env, pc_smooth_ladder *ladder);

/* To be called when the sums of the replica have changed. */
void pc_smooth_ladder_renew(pc_smooth_ladder *ladder);

/* The s for which the integral of |smoothed gaps| is s, for gaps divided by `total`.  NaN if it
 * is smaller than the least width of the ladder, 2^-10. */
PC_CHECKED pcal_status pc_smooth_ladder_root(const pcal_env *env, pc_smooth_ladder *ladder,
                                             const pc_curve_prefix *prefix, double total,
                                             double *out, pcal_error *err);

#endif
