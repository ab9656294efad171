/* Equal-mass bins of many curves that differ in their hits alone: those at the gap points of a
 * replica (pc_prefix_gaps), whose weights and scores are those of the data.
 *
 * The bins are found once; a curve then costs three products for each bin, a new replica a walk
 * inside the range of each end.  Results depend on the curve alone, not on what was cached. */
#ifndef PC_MASS_BIN_CACHE_H
#define PC_MASS_BIN_CACHE_H

#include "curve/curve_table.h"
#include "data/rows.h"
#include "stats/bins.h"

typedef struct pc_mass_bin_cache pc_mass_bin_cache;

/* A cache for curves with the ranges of one prefix; the sums of the data and of the shift must
 * stay the same. */
PC_CHECKED pcal_status pc_mass_bin_cache_new(const pcal_env *env, pc_mass_bin_cache **out,
                                             pcal_error *err);
void pc_mass_bin_cache_free(const pcal_env *env,
                            pc_mass_bin_cache *cache); /* NULL is allowed */

/* To be called when the sums of the replica have changed. */
void pc_mass_bin_cache_renew(pc_mass_bin_cache *cache);

/* As pc_bins_by_mass, for a replica with gaps.  Returns 0 if `bins` is not 1 ..
 * PC_MASS_BIN_CACHE_BINS, or if that many different numbers were cached that there is no memory
 * for another. */
size_t pc_mass_bin_cache_bins(pc_mass_bin_cache *cache, const pc_curve_table *table,
                              size_t bins, pc_bin *out);

#define PC_MASS_BIN_CACHE_BINS 1024 /* of all numbers of bins together */

#endif
