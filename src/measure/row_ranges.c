#include "measure/row_ranges.h"

#include <string.h>

#include "base/assert.h"

void pc_row_ranges_init(pc_row_ranges *seen, const pcal_env *env) {
  *seen = (pc_row_ranges){.env = env};
}

void pc_row_ranges_free(pc_row_ranges *seen) {
  if (seen->env == NULL)
    return;
  pc_free(seen->env, seen->ranges);
  pc_free(seen->env, seen->first_rows);
  *seen = (pc_row_ranges){.env = seen->env};
}

/* ---- rows ---- */

pcal_status pc_row_ranges_reserve(pc_row_ranges *seen, size_t count, pcal_error *err) {
  void *block = seen->ranges;
  const pcal_status status =
      pc_reserve(seen->env, &block, &seen->range_capacity, count, sizeof *seen->ranges, err);
  seen->ranges = block;
  return status;
}

/* The first range that ends at row - 1 or later. */
static size_t row_ranges_find(const pc_row_ranges *seen, uint64_t row) {
  size_t low = 0, high = seen->range_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (row > 0 && seen->ranges[middle].last < row - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void row_ranges_replace(pc_row_ranges *seen, size_t begin, size_t end,
                               pc_row_range range) {
  const size_t kept = seen->range_count - end;
  memmove(seen->ranges + begin + 1, seen->ranges + end, kept * sizeof *seen->ranges);
  seen->ranges[begin] = range;
  seen->range_count = begin + 1 + kept;
  pc_assert(seen->range_count <= seen->range_capacity);
  pc_assert(begin == 0 || seen->ranges[begin - 1].last + 1 < range.first);
  pc_assert(kept == 0 || range.last + 1 < seen->ranges[begin + 1].first);
}

/* Adds a range; joins it with those that it overlaps or touches. */
static void row_ranges_add_range(pc_row_ranges *seen, pc_row_range range) {
  const size_t begin = row_ranges_find(seen, range.first);
  size_t end = begin;
  while (end < seen->range_count &&
         (range.last == UINT64_MAX || seen->ranges[end].first <= range.last + 1)) {
    const pc_row_range *met = &seen->ranges[end++];
    range.first = met->first < range.first ? met->first : range.first;
    range.last = met->last > range.last ? met->last : range.last;
  }
  row_ranges_replace(seen, begin, end, range);
}

static pc_row_range row_ranges_batch_rows(const pcal_batch *batch) {
  const uint64_t more = batch->rows - 1, room = UINT64_MAX - batch->first_row;
  return (pc_row_range){batch->first_row, batch->first_row + (more < room ? more : room)};
}

int pc_row_ranges_overlap(const pc_row_ranges *a, const pc_row_ranges *b, pc_row_range *out) {
  for (size_t i = 0, j = 0; i < a->range_count && j < b->range_count;) {
    const pc_row_range *x = &a->ranges[i], *y = &b->ranges[j];
    out->first = x->first > y->first ? x->first : y->first;
    out->last = x->last < y->last ? x->last : y->last;
    if (out->first <= out->last)
      return 1;
    if (x->last < y->last)
      i++;
    else
      j++;
  }
  return 0;
}

int pc_row_ranges_contain(const pc_row_ranges *seen, const pcal_batch *batch,
                          pc_row_range *out) {
  pc_row_range rows;
  if (batch->rows == 0)
    return 0;
  rows = row_ranges_batch_rows(batch);
  const pc_row_ranges one = {.ranges = &rows, .range_count = 1};
  return pc_row_ranges_overlap(seen, &one, out);
}

/* ---- groups ---- */

pcal_status pc_groups_check(size_t count, pcal_error *err) {
  if (count <= PC_GROUPS_MAX)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "more than %d groups; give a column with fewer distinct values",
                 PC_GROUPS_MAX);
}

pcal_status pc_row_ranges_reserve_groups(pc_row_ranges *seen, size_t count, pcal_error *err) {
  PC_TRY(pc_groups_check(count, err));
  void *block = seen->first_rows;
  const pcal_status status = pc_reserve(seen->env, &block, &seen->group_capacity, count,
                                        sizeof *seen->first_rows, err);
  seen->first_rows = block;
  return status;
}

/* Requires pc_row_ranges_prepare(); cannot fail. */
static void row_ranges_note_group(pc_row_ranges *seen, size_t group, uint64_t row) {
  while (seen->group_count <= group)
    seen->first_rows[seen->group_count++] = PCAL_NO_ROW;
  if (row < seen->first_rows[group])
    seen->first_rows[group] = row;
}

static size_t row_ranges_batch_groups(const pcal_batch *batch) {
  size_t count = 0;
  for (size_t i = 0; batch->groups != NULL && i < batch->rows; i++) {
    const size_t group = batch->groups[i];
    count = group >= count ? group + 1 : count;
  }
  return count;
}

/* ---- batches and merges ---- */

pcal_status pc_row_ranges_prepare(pc_row_ranges *seen, const pcal_batch *batch,
                                  pcal_error *err) {
  PC_TRY(pc_row_ranges_reserve(seen, seen->range_count + 1, err));
  seen->expected = row_ranges_batch_groups(batch);
  return pc_row_ranges_reserve_groups(seen, seen->expected, err);
}

size_t pc_row_ranges_group_count(const pc_row_ranges *seen) {
  return seen->expected > seen->group_count ? seen->expected : seen->group_count;
}

void pc_row_ranges_add(pc_row_ranges *seen, const pcal_batch *batch) {
  if (batch->rows == 0)
    return;
  row_ranges_add_range(seen, row_ranges_batch_rows(batch));
  const size_t groups = pc_row_ranges_group_count(seen);
  for (size_t i = 0; batch->groups != NULL && i < batch->rows; i++) {
    const size_t group = batch->groups[i];
    if (group < groups) /* a new group: the caller overwrites the batch */
      row_ranges_note_group(seen, group, batch->first_row + i);
  }
  if (groups > seen->group_count)
    row_ranges_note_group(seen, groups - 1, PCAL_NO_ROW);
}

static size_t row_ranges_target(const size_t *map, size_t group) {
  return map == NULL ? group : map[group];
}

pcal_status pc_row_ranges_prepare_merge(pc_row_ranges *into, const pc_row_ranges *from,
                                        const size_t *map, pcal_error *err) {
  size_t groups = 0;
  for (size_t g = 0; g < from->group_count; g++) {
    const size_t target = row_ranges_target(map, g);
    groups = target != SIZE_MAX && target >= groups ? target + 1 : groups;
  }
  PC_TRY(pc_row_ranges_reserve(into, into->range_count + from->range_count, err));
  return pc_row_ranges_reserve_groups(into, groups, err);
}

void pc_row_ranges_merge(pc_row_ranges *into, const pc_row_ranges *from, const size_t *map) {
  for (size_t r = 0; r < from->range_count; r++)
    row_ranges_add_range(into, from->ranges[r]);
  for (size_t g = 0; g < from->group_count; g++)
    if (row_ranges_target(map, g) != SIZE_MAX)
      row_ranges_note_group(into, row_ranges_target(map, g), from->first_rows[g]);
}
