#include "machines/machine.h"

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
  case PC_KEEP:
    return &pc_machine_keep;
  case PC_BLOCK:
    return &pc_machine_block;
  }
  return NULL;
}

pcal_status pc_check_limit_of(const pcal_env *env, size_t bytes, const char *what,
                              const char *remedy, pcal_error *err) {
  if (env->memory_limit == 0 || bytes <= env->memory_limit)
    return PCAL_OK;
  return pc_fail(err, PCAL_MEMORY, "%-s %zu MB, beyond the memory limit of %llu MB; %-s", what,
                 bytes / 1000000 + 1, (unsigned long long)(env->memory_limit / 1000000),
                 remedy);
}

pcal_status pc_check_limit(const pcal_env *env, size_t bytes, const char *remedy,
                           pcal_error *err) {
  return pc_check_limit_of(env, bytes, "keeping the rows takes", remedy, err);
}
