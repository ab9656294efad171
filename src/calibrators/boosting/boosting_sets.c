#include "calibrators/boosting/boosting_sets.h"

#include <stdlib.h>
#include <string.h>

#include "measure/overlapping_groups.h"

static int boosting_sets_order(const void *a, const void *b) {
  const char *x = *(char *const *)a, *y = *(char *const *)b;
  const size_t p = pc_group_fields(x), q = pc_group_fields(y);
  if (p != q)
    return p < q ? -1 : 1;
  return pc_group_parts_order(x, y);
}

/* Sorts the names after the first and drops repeated ones. */
static void boosting_sets_sort(pc_boosting_sets *sets) {
  size_t kept = 1;
  qsort(sets->names + 1, sets->count - 1, sizeof *sets->names, boosting_sets_order);
  for (size_t s = 1; s < sets->count; s++)
    if (kept == 1 || strcmp(sets->names[s], sets->names[kept - 1]) != 0)
      sets->names[kept++] = sets->names[s];
  sets->count = kept;
}

pcal_status pc_boosting_sets_new(const pcal_env *env, const char *const *names, size_t count,
                                 size_t most, pc_boosting_sets *out, pcal_error *err) {
  *out = (pc_boosting_sets){
      1, pc_alloc(env, 1 + count * (PC_BOOSTING_SETS_OF_ROW - 1), sizeof *out->names)};
  if (out->names == NULL)
    return pc_fail_memory(err, "collecting groups");
  for (size_t i = 0; i < count; i++) {
    const size_t fields = pc_group_fields(names[i]);
    const unsigned end = fields == 1 ? 1 : 1u << fields;
    for (unsigned set = fields == 1 ? 0 : 1; set < end; set++, out->count++)
      PC_TRY(pc_group_part(env, names[i], set, &out->names[out->count], err));
  }
  boosting_sets_sort(out);
  if (out->count - 1 <= most)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA, "there are %zu groups; give at most %zu", out->count - 1,
                 most);
}

void pc_boosting_sets_of(const pc_boosting_sets *sets, const char *name,
                         pc_boosting_membership *out) {
  out->count = 1;
  out->sets[0] = 0;
  for (size_t s = 1; s < sets->count && out->count < PC_BOOSTING_SETS_OF_ROW; s++)
    if (pc_group_is_part(sets->names[s], name))
      out->sets[out->count++] = (uint32_t)s;
}
