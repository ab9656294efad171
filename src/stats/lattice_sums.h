/* Many sums over rows at once, whose bits do not depend on the order of the rows.
 *
 * Kernels add to `lanes`, sums on the lattice of linear_kernels.h, which are exact up to
 * PC_LATTICE_FULL; before that limit they are moved into wide integers. */
#ifndef PC_LATTICE_SUMS_H
#define PC_LATTICE_SUMS_H

#include "base/memory.h"
#include "base/sum.h"
#include "kernels/linear_kernels.h"

typedef struct pc_lattice_sums {
  size_t count;
  double *lanes;
  pc_fixed *totals;
} pc_lattice_sums;

PC_CHECKED pcal_status pc_lattice_sums_new(const pcal_env *env, size_t count,
                                           pc_lattice_sums *out, pcal_error *err);
/* A zeroed struct is allowed. */
void pc_lattice_sums_free(const pcal_env *env, pc_lattice_sums *sums);
void pc_lattice_sums_clear(pc_lattice_sums *sums);

/* Adds `weight` times the lanes to the totals and clears the lanes. */
void pc_lattice_sums_empty(pc_lattice_sums *sums, double weight);
void pc_lattice_sums_merge(pc_lattice_sums *into,
                           const pc_lattice_sums *from); /* both with empty lanes */

/* Sum i; the lanes must be empty. */
double pc_lattice_sums_value(const pc_lattice_sums *sums, size_t i);

#endif
