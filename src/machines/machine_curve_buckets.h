/* The curve machine for sources that can be read again: bucket curves (curve/bucket_curve.h),
 * refined pass by pass where metrics ask.  The evidence gives the same bits as that of the
 * curve machine, but the memory does not grow with the number of rows. */
#ifndef PC_MACHINE_CURVE_BUCKETS_H
#define PC_MACHINE_CURVE_BUCKETS_H

#include "curve/bucket_curve.h"
#include "machines/machine.h"

extern const pc_machine pc_machine_curve_buckets;

/* The same for rows that several processes read (measure/rounds.h): fewer buckets, states can be
 * saved and merged, and rows may have whole weights. */
extern const pc_machine pc_machine_curve_rounds;

/* True for both. */
int pc_machine_has_buckets(const pc_machine *machine);

/* The buckets of the first pass of pc_machine_curve_rounds, for a need of `parts` parts. */
pc_bucket_layout pc_machine_curve_rounds_layout(const pc_need *need, size_t parts);

/* True if a loaded state of pc_machine_curve_rounds holds the scores of rows of this total
 * weight, a whole number. */
int pc_machine_curve_rounds_fits(const void *state, const pc_layout *layout, double weight);

/* Adds plain rows (data/rows.h).  The view has one part and its scores are the stored ones. */
PC_CHECKED pcal_status pc_machine_curve_buckets_add_stored(void *state,
                                                           const pc_stored_rows *rows,
                                                           pcal_error *err);

/* True if the curves of a need are only counted in the first pass (curve/class_counts.h); adds
 * rows that a device has counted to them. */
int pc_machine_curve_buckets_counts(const pc_need *need, const pc_layout *layout);
PC_CHECKED pcal_status pc_machine_curve_buckets_join_counts(void *state, const uint32_t *cells,
                                                            pcal_error *err);

/* Adds the rows of a segment to bucket `index`, as pc_bucket_tally_join_segment.  The view has
 * one part and buckets of equal width. */
PC_CHECKED pcal_status pc_machine_curve_buckets_join(void *state, size_t index,
                                                     const pc_segment *segment,
                                                     pcal_error *err);

/* Splits buckets of a state without rows at `ends` (pc_bucket_tally_split).  The view has one
 * part and buckets of equal width. */
PC_CHECKED pcal_status pc_machine_curve_buckets_split(void *state, const double *ends,
                                                      size_t count, pcal_error *err);

/* The curve of one part, built from the first pass at the first call; the part then takes no
 * more rows.  Must be called for every part before a state with rows is finished; evidence
 * borrows the curves.  Parts may be built by several threads at once. */
PC_CHECKED pcal_status pc_machine_curve_buckets_part(const pcal_env *env, void *state,
                                                     size_t part, pc_bucket_curve **out,
                                                     pcal_error *err);

/* A copy of the same curve for metrics that join scores in cells, so that one pass can refine
 * both; made at the first call, which must be before the curve is refined. */
PC_CHECKED pcal_status pc_machine_curve_buckets_cells(const pcal_env *env, void *state,
                                                      size_t part, pc_bucket_curve **out,
                                                      pcal_error *err);

/* Adds rows to the tallies of a view, one tally for each part. */
PC_CHECKED pcal_status pc_machine_curve_buckets_add(pc_bucket_tally *tallies,
                                                    const pc_view *view, const pc_rows *rows,
                                                    const pc_view_columns *columns,
                                                    pcal_error *err);

#endif
