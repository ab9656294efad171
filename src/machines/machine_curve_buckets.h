/* The curve machine for sources that can be read again: coarse curves, refined pass by pass
 * where metrics ask (curve/bucket_curve.h).  Same evidence, same bits as the curve machine; the
 * memory does not grow with the rows. */
#ifndef PC_MACHINE_CURVE_BUCKETS_H
#define PC_MACHINE_CURVE_BUCKETS_H

#include "curve/bucket_curve.h"
#include "machines/machine.h"

extern const pc_machine pc_machine_curve_buckets;

/* Adds plain rows (data/rows.h) whose scores are those of the view, which has one part. */
PC_CHECKED pcal_status pc_machine_curve_buckets_add_stored(void *state,
                                                           const pc_stored_rows *rows,
                                                           pcal_error *err);

/* Cuts the curve of a state without rows, which has one part, by the scores in its view, at
 * ends: see pc_bucket_tally_split. */
PC_CHECKED pcal_status pc_machine_curve_buckets_split(void *state, const double *ends,
                                                      size_t count, pcal_error *err);

/* The curve of a part of a state; built from the first pass when first asked for, after which
 * the state takes no more rows.  A state with rows must have been asked for all before it is
 * finished; the evidence borrows from them. */
PC_CHECKED pcal_status pc_machine_curve_buckets_part(const pcal_env *env, void *state,
                                                     size_t part, pc_bucket_curve **out,
                                                     pcal_error *err);

/* Adds rows to the tallies of a view, one for each part; the columns are those of the view. */
PC_CHECKED pcal_status pc_machine_curve_buckets_add(pc_bucket_tally *tallies,
                                                    const pc_view *view, const pc_rows *rows,
                                                    const pc_view_columns *columns,
                                                    pcal_error *err);

#endif
