/* Merging the states of the workers of a pass. */
#ifndef PC_MERGE_WORKERS_H
#define PC_MERGE_WORKERS_H

#include "measure/measure.h"

/* The number of workers that have states. */
size_t pc_workers_ready(const pcal_measure *measure);

/* Merges all workers into worker 0, side by side where there is much to merge. */
PC_CHECKED pcal_status pc_workers_merge(pcal_measure *measure, pcal_error *err);

#endif
