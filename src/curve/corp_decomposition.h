/* Decomposition of proper scores by isotonic regression (CORP). */
#ifndef PC_CORP_DECOMPOSITION_H
#define PC_CORP_DECOMPOSITION_H

#include "curve/curve_table.h"
#include "stats/decompose.h"

/* Adds the parts of a score to *sum.  Tables of scores only. */
PC_CHECKED pcal_status pc_decompose_corp(const pcal_env *env, const pc_curve_table *table,
                                         pc_binary_score score, pc_decomposition *sum,
                                         pcal_error *err);

#endif
