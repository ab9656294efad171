/* Many sums over rows at once, whose bits do not depend on the order of the rows.
 *
 * `lanes` are sums on the lattice of linear_kernels.h, which kernels add to; before they could
 * get full they are emptied into wide integers. */
#ifndef PC_TALLY_H
#define PC_TALLY_H

#include "core/memory.h"
#include "core/sum.h"
#include "kernels/linear_kernels.h"

typedef struct pc_tally {
  size_t count;
  double *lanes;
  pc_fixed *totals;
} pc_tally;

PC_CHECKED pcal_status pc_tally_new(const pcal_env *env, size_t count, pc_tally *out,
                                    pcal_error *err);
void pc_tally_free(const pcal_env *env, pc_tally *tally); /* a zeroed one is fine */
void pc_tally_clear(pc_tally *tally);

/* Empties the lanes, `weight` times over. */
void pc_tally_empty(pc_tally *tally, double weight);
void pc_tally_merge(pc_tally *into, const pc_tally *from); /* lanes empty */

/* Sum number i, lanes empty. */
double pc_tally_value(const pc_tally *tally, size_t i);

#endif
