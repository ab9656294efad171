/* The curve machine for sources that can be read again: coarse curves, refined pass by pass
 * where metrics ask (stats/coarse.h).  Same evidence, same bits as the curve machine; the
 * memory does not grow with the rows. */
#ifndef PC_MACHINE_COARSE_H
#define PC_MACHINE_COARSE_H

#include "machines/machine.h"
#include "stats/coarse.h"

extern const pc_machine pc_machine_coarse;

/* Adds plain rows (data/rows.h) whose scores are those of the view, which has one part. */
PC_CHECKED pcal_status pc_machine_coarse_take(void *state, const pc_stored_rows *rows,
                                              pcal_error *err);

/* Cuts the curve of a state without rows, which has one part, by the scores in its view, at
 * ends: see pc_coarse_tally_cut. */
PC_CHECKED pcal_status pc_machine_coarse_cut(void *state, const double *ends, size_t count,
                                             pcal_error *err);

/* The curve of a part of a state; built from the first pass when first asked for, after which
 * the state takes no more rows.  A state with rows must have been asked for all before it is
 * finished; the evidence borrows from them. */
PC_CHECKED pcal_status pc_machine_coarse_curve(const pcal_env *env, void *state, size_t part,
                                               pc_coarse **out, pcal_error *err);

/* Adds rows to the tallies of a view, one for each part; the columns are those of the view. */
PC_CHECKED pcal_status pc_machine_coarse_add(pc_coarse_tally *tallies, const pc_view *view,
                                             const pc_rows *rows, const pc_columns *columns,
                                             pcal_error *err);

#endif
