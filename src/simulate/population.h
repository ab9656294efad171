/* What metrics would show if there were no end of rows: the truth that intervals should cover.
 */
#ifndef PC_POPULATION_H
#define PC_POPULATION_H

#include "metrics/metric.h"

/* Measures `rows` simulated rows in which every class occurs as often as it is probable: a row
 * counts once for each class, with its true probability as weight, so that no label is drawn.
 * specs are metrics, and may come more than once; one that cannot take such weights, or is made
 * of pairs of rows, is undefined.  Outcomes have neither values of classes nor graphs. */
PC_CHECKED pcal_status pc_population_outcomes(const pcal_simulation *simulation, uint64_t rows,
                                              const char *const *specs, size_t count,
                                              const pcal_env *env, pc_metric_result *outcomes,
                                              pcal_error *err);

#endif
