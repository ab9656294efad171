/* A sample-size plan as a table. */
#ifndef PC_WRITE_SAMPLE_PLAN_H
#define PC_WRITE_SAMPLE_PLAN_H

#include "base/text.h"
#include "measure/results.h"

/* Writes the plan of every metric (simulate/sample_plan.h), which it checks first. */
PC_CHECKED pcal_status pc_write_sample_plan(const pcal_results *results,
                                            const pcal_plan_config *config, pcal_format format,
                                            pc_text *out, pcal_error *err);

#endif
