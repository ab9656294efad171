/* A lane is at most 2^53 times PC_LATTICE, so that moving it into the totals is exact.  One
 * step is 2^19 units of pc_fixed. */
#include "stats/lattice_sums.h"

#include <string.h>

#define LATTICE_SUMS_UNITS ((pc_int128)(PC_LATTICE * PC_FIXED_ONE))

pcal_status pc_lattice_sums_new(const pcal_env *env, size_t count, pc_lattice_sums *out,
                                pcal_error *err) {
  *out = (pc_lattice_sums){.count = count};
  out->lanes = pc_alloc(env, count, sizeof *out->lanes);
  out->totals = pc_alloc(env, count, sizeof *out->totals);
  if (out->lanes != NULL && out->totals != NULL)
    return PCAL_OK;
  pc_lattice_sums_free(env, out);
  return pc_fail_memory(err, "preparing sums");
}

void pc_lattice_sums_free(const pcal_env *env, pc_lattice_sums *sums) {
  pc_free(env, sums->lanes);
  pc_free(env, sums->totals);
  *sums = (pc_lattice_sums){0};
}

void pc_lattice_sums_clear(pc_lattice_sums *sums) {
  memset(sums->lanes, 0, sums->count * sizeof *sums->lanes);
  memset(sums->totals, 0, sums->count * sizeof *sums->totals);
}

void pc_lattice_sums_empty(pc_lattice_sums *sums, double weight) {
  for (size_t i = 0; i < sums->count; i++) {
    if (weight == 1.0)
      sums->totals[i].units +=
          (pc_int128)(int64_t)(sums->lanes[i] / PC_LATTICE) * LATTICE_SUMS_UNITS;
    else
      pc_fixed_add_weighted(&sums->totals[i], weight, sums->lanes[i]);
    sums->lanes[i] = 0.0;
  }
}

void pc_lattice_sums_merge(pc_lattice_sums *into, const pc_lattice_sums *from) {
  for (size_t i = 0; i < into->count; i++)
    into->totals[i].units += from->totals[i].units;
}

double pc_lattice_sums_value(const pc_lattice_sums *sums, size_t i) {
  return pc_fixed_value(&sums->totals[i]);
}
