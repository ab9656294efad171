/* Population values of metrics under a simulation: the truth that intervals should cover. */
#ifndef PC_POPULATION_H
#define PC_POPULATION_H

#include "metrics/metric.h"

/* Measures `rows` simulated rows without drawing labels: a row counts once for each class, with
 * the true probability of the class as its weight.  specs are metrics, possibly repeated; metrics
 * over pairs of rows, and those that refuse such weights, are undefined.  Errors of every class
 * that need sorted scores are measured on at most 10^8 / classes^2 rows.  Outcomes have neither
 * values of classes nor plot tables. */
PC_CHECKED pcal_status pc_population_outcomes(const pcal_simulation *simulation, uint64_t rows,
                                              const char *const *specs, size_t count,
                                              const pcal_env *env, pc_metric_result *outcomes,
                                              pcal_error *err);

#endif
