/* Results beside those of an earlier run, its JSON output. */
#ifndef PC_BASELINE_H
#define PC_BASELINE_H

#include "measure/results.h"

/* Fills results->changes: for each result its change from the earlier run.  `name` names the JSON
 * text in messages.  Fails if nothing can be compared. */
PC_CHECKED pcal_status pc_baseline_compare(pcal_results *results, const void *json,
                                           size_t length, const char *name, pcal_error *err);

#endif
