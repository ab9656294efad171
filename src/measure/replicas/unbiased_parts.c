/* Formula:  interval of a biased part = interval of its unbiased twin, extended to the part's
 *           own value
 * Why:      chance enlarges calibration and sharpness; their debiased twins estimate the same
 *           true values, and the variance of these is known.  Replicas of the biased part show
 *           its bias twice, and the union of percentile and basic intervals, which covers both
 *           ways of reading them, is up to twice as wide as needed.
 * Edge cases:
 *   1. a twin without an interval: the part keeps its own;
 *   2. a part is not negative where its own interval is not.
 * Source: docs/interval-coverage.md.
 * Cost: none. */
#include "measure/replicas/unbiased_parts.h"

#include <math.h>

void pc_unbiased_parts(pc_result_record *record) {
  const pc_metric_result *outcome = &record->outcome;
  for (size_t p = 0; p < outcome->part_count; p++) {
    pc_part_interval *own = &record->part_interval_results[p];
    if (outcome->part_twin[p] == 0 || !own->has_interval)
      continue;
    const pc_part_interval *twin = &record->part_interval_results[outcome->part_twin[p]];
    const double value = outcome->parts[p].value;
    if (!twin->has_interval)
      continue;
    own->low = fmin(own->low >= 0.0 ? fmax(twin->low, 0.0) : twin->low, value);
    own->high = fmax(twin->high, value);
  }
}
