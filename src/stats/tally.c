/* A lane holds a multiple of PC_LATTICE of at most 2^53 steps, so that emptying it is exact;
 * one step is 2^19 units of a pc_fixed. */
#include "stats/tally.h"

#include <string.h>

#define TALLY_UNITS ((pc_int128)(PC_LATTICE * PC_FIXED_ONE))

pcal_status pc_tally_new(const pcal_env *env, size_t count, pc_tally *out, pcal_error *err) {
  *out = (pc_tally){.count = count};
  out->lanes = pc_alloc(env, count, sizeof *out->lanes);
  out->totals = pc_alloc(env, count, sizeof *out->totals);
  if (out->lanes != NULL && out->totals != NULL)
    return PCAL_OK;
  pc_tally_free(env, out);
  return pc_fail_memory(err, "preparing sums");
}

void pc_tally_free(const pcal_env *env, pc_tally *tally) {
  pc_free(env, tally->lanes);
  pc_free(env, tally->totals);
  *tally = (pc_tally){0};
}

void pc_tally_clear(pc_tally *tally) {
  memset(tally->lanes, 0, tally->count * sizeof *tally->lanes);
  memset(tally->totals, 0, tally->count * sizeof *tally->totals);
}

void pc_tally_empty(pc_tally *tally, double weight) {
  for (size_t i = 0; i < tally->count; i++) {
    if (weight == 1.0)
      tally->totals[i].units +=
          (pc_int128)(int64_t)(tally->lanes[i] / PC_LATTICE) * TALLY_UNITS;
    else
      pc_fixed_add_weighted(&tally->totals[i], weight, tally->lanes[i]);
    tally->lanes[i] = 0.0;
  }
}

void pc_tally_merge(pc_tally *into, const pc_tally *from) {
  for (size_t i = 0; i < into->count; i++)
    into->totals[i].units += from->totals[i].units;
}

double pc_tally_value(const pc_tally *tally, size_t i) {
  return pc_fixed_value(&tally->totals[i]);
}
