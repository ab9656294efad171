/* Public entry points for simulation: check arguments, then call the implementation. */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "simulate/population.h"
#include "simulate/simulate.h"

pcal_status pcal_simulate(const pcal_simulation *simulation, const pcal_env *env, float *logits,
                          int32_t *labels, double *truth, pcal_error *err) {
  pc_error_clear(err);
  if (simulation == NULL || logits == NULL || labels == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_simulate needs a simulation and arrays for logits and labels");
  pcal_simulation full = PCAL_SIMULATION_INIT;
  memcpy(&full, simulation, simulation->size < sizeof full ? simulation->size : sizeof full);
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_simulate(&full, &opened, logits, labels, truth, err), err);
}

#define SIMULATE_POPULATION 10000000u /* scores */

static pcal_status simulate_population(const pcal_simulation *simulation,
                                       const char *const *specs, size_t count,
                                       const pcal_env *env, double *values, pcal_error *err) {
  pc_metric_result *outcomes = pc_alloc(env, count, sizeof *outcomes);
  if (outcomes == NULL)
    return pc_fail_memory(err, "measuring the population");
  const uint64_t rows = SIMULATE_POPULATION / simulation->classes;
  const pcal_status status =
      pc_population_outcomes(simulation, rows, specs, count, env, outcomes, err);
  for (size_t i = 0; status == PCAL_OK && i < count; i++)
    values[i] = outcomes[i].undefined || outcomes[i].tested ? (double)NAN : outcomes[i].value;
  pc_free(env, outcomes);
  return status;
}

pcal_status pcal_simulation_population_values(const pcal_simulation *simulation,
                                              const char *const *specs, size_t count,
                                              const pcal_env *env, double *values,
                                              pcal_error *err) {
  pc_error_clear(err);
  if (simulation == NULL || (count > 0 && (specs == NULL || values == NULL)))
    return pc_fail(
        err, PCAL_USAGE,
        "pcal_simulation_population_values needs a simulation, metrics and an out pointer");
  pcal_simulation full = PCAL_SIMULATION_INIT;
  memcpy(&full, simulation, simulation->size < sizeof full ? simulation->size : sizeof full);
  if (full.classes < 2)
    return pc_fail(err, PCAL_USAGE, "classes is %zu; a simulation needs at least 2",
                   full.classes);
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, simulate_population(&full, specs, count, &opened, values, err),
                      err);
}
