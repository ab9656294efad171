#include "machines/machine.h"

#include <math.h>

const pc_machine *pc_machine_of(pc_machine_kind kind) {
  switch (kind) {
  case PC_SUM:
    return &pc_machine_sum;
  case PC_GRID:
    return &pc_machine_grid;
  case PC_CURVE:
    return &pc_machine_curve;
  case PC_PAIR:
    return &pc_machine_pair;
  case PC_ROWS:
    return &pc_machine_rows;
  case PC_BLOCK:
    return &pc_machine_block;
  }
  return NULL;
}

pcal_status pc_check_memory_limit_of(const pcal_env *env, size_t bytes, const char *what,
                                     const char *remedy, pcal_error *err) {
  if (env->memory_limit == 0 || bytes <= env->memory_limit)
    return PCAL_OK;
  return pc_fail(err, PCAL_MEMORY, "%-s %zu MB, beyond the memory limit of %llu MB; %-s", what,
                 bytes / 1000000 + 1, (unsigned long long)(env->memory_limit / 1000000),
                 remedy);
}

pcal_status pc_check_memory_limit(const pcal_env *env, size_t bytes, const char *remedy,
                                  pcal_error *err) {
  return pc_check_memory_limit_of(env, bytes, "keeping the rows takes", remedy, err);
}

#define MACHINE_SCALE_SLACK 1e-12

/* Scales a weight.  Equal weights sum to whole numbers of rows, up to rounding that is removed, so
 * that rules such as "a bin of at least two rows" do not depend on it. */
static void machine_scale(double *weight, double factor) {
  const double scaled = *weight * factor, whole = nearbyint(scaled);
  *weight = fabs(scaled - whole) <= MACHINE_SCALE_SLACK * whole ? whole : scaled;
}

static void machine_scale_bins(pc_evidence *evidence, double factor) {
  const size_t count = evidence->grid.part_count * evidence->grid.bin_count;
  for (size_t b = 0; b < count; b++) {
    pc_bin *bin = &evidence->grid.bins[b];
    machine_scale(&bin->weight, factor);
    machine_scale(&bin->hits, factor);
    bin->score *= factor;
    bin->score_square *= factor;
    bin->score_hit *= factor;
    for (size_t l = 0; evidence->grid.logs != NULL && l < PC_BIN_LOGS; l++)
      evidence->grid.logs[b].sum[l] *= factor;
  }
}

static void machine_scale_curve(pc_evidence *evidence, double factor) {
  for (size_t p = 0; p < evidence->curve.part_count; p++) {
    pc_curve_table *table = &evidence->curve.parts[p];
    machine_scale(&table->total, factor);
    for (size_t i = 0; i < table->count; i++) {
      machine_scale(&table->weight[i], factor);
      machine_scale(&table->hits[i], factor);
    }
  }
}

void pc_evidence_scale(pc_evidence *evidence, double factor) {
  if (evidence->machine == PC_SUM)
    return;
  machine_scale(&evidence->total, factor);
  if (evidence->machine == PC_GRID)
    machine_scale_bins(evidence, factor);
  else if (evidence->machine == PC_CURVE)
    machine_scale_curve(evidence, factor);
  for (size_t i = 0; evidence->machine == PC_PAIR && i < evidence->pair.rows.count; i++)
    machine_scale(&evidence->pair.rows.weights[i], factor);
  for (size_t i = 0; evidence->machine == PC_ROWS && i < evidence->kept.count; i++)
    machine_scale(&evidence->kept.weights[i], factor);
}
