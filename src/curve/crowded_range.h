/* Many scores in few neighbouring targets of many sub-buckets, added to one tally by all
 * threads: scores are divided at borders of sub-buckets, so that no two tasks meet in a
 * sub-bucket. */
#ifndef PC_CROWDED_RANGE_H
#define PC_CROWDED_RANGE_H

#include "curve/bucket_tally.h"
#include "curve/sorted_column.h"

/* Adds the scores of misses and hits, without weights, to targets [begin, end) of the tally,
 * none of which stores scores.  PCAL_MEMORY: no score was added. */
PC_CHECKED pcal_status pc_crowded_range_add(const pcal_env *env, pc_bucket_tally *tally,
                                            size_t begin, size_t end,
                                            const pc_outcome_column columns[2],
                                            pcal_error *err);

#endif
