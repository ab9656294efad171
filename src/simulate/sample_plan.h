/* How many rows it takes, from a pilot set. */
#ifndef PC_SAMPLE_PLAN_H
#define PC_SAMPLE_PLAN_H

#include "measure/results.h"
#include "output/table.h"

/* Fills the table: for a width, the rows at which each interval is that narrow; for a power,
 * the rows at which a difference to the other model is seen with that probability. */
PC_CHECKED pcal_status pc_sample_plan(const pcal_results *results,
                                      const pcal_plan_config *config, pc_table *table,
                                      pcal_error *err);

#endif
