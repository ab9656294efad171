#include "data/group_rows.h"

pcal_status pc_group_rows_open(const pcal_env *env, const pc_layout *layout,
                               pc_group_rows *space, pcal_error *err) {
  if (space->scratch.block == NULL)
    PC_TRY(pc_scratch_new(env, layout, &space->scratch, err));
  if (space->positions == NULL)
    space->positions = pc_alloc_raw(env, pc_chunk_rows(layout), sizeof *space->positions);
  return space->positions == NULL ? pc_fail_memory(err, "preparing workers") : PCAL_OK;
}

void pc_group_rows_free(const pcal_env *env, pc_group_rows *space) {
  pc_scratch_free(env, &space->scratch);
  pc_free(env, space->positions);
  space->positions = NULL;
}

pcal_status pc_group_rows_each(const pc_rows *rows, const pc_group_rows *space,
                               pc_group_rows_add add, void *user, pcal_error *err) {
  for (uint64_t done = 0;;) {
    uint64_t group = UINT64_MAX;
    for (size_t i = 0; i < rows->count; i++)
      if (rows->groups[i] >= done && rows->groups[i] < group)
        group = rows->groups[i];
    if (group == UINT64_MAX)
      return PCAL_OK;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
      if (rows->groups[i] == group)
        space->positions[count++] = i;
    pc_rows selected;
    pc_rows_select(rows, space->positions, count, &space->scratch, &selected);
    PC_TRY(add(user, group, &selected, err));
    done = group + 1;
  }
}
