#include "measure/row_ranges.h"

#include <string.h>

#include "base/assert.h"
#include "measure/group_states.h"

void pc_row_ranges_init(pc_row_ranges *census, const pcal_env *env) {
  *census = (pc_row_ranges){.env = env};
}

void pc_row_ranges_free(pc_row_ranges *census) {
  if (census->env == NULL)
    return;
  pc_free(census->env, census->ranges);
  pc_free(census->env, census->first_rows);
  *census = (pc_row_ranges){.env = census->env};
}

/* ---- rows ---- */

pcal_status pc_row_ranges_reserve(pc_row_ranges *census, size_t count, pcal_error *err) {
  void *block = census->ranges;
  const size_t needed = count < PC_ROW_RANGES_MAX ? count : PC_ROW_RANGES_MAX;
  const pcal_status status = pc_reserve(census->env, &block, &census->range_capacity, needed,
                                        sizeof *census->ranges, err);
  census->ranges = block;
  return status;
}

/* The first range that ends at row - 1 or later. */
static size_t census_find(const pc_row_ranges *census, uint64_t row) {
  size_t low = 0, high = census->range_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (row > 0 && census->ranges[middle].last < row - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void census_replace(pc_row_ranges *census, size_t begin, size_t end,
                           pc_row_range range) {
  const size_t kept = census->range_count - end;
  if (begin == end && census->range_count == PC_ROW_RANGES_MAX) {
    census->scattered = 1;
    census->range_count = 0;
    return;
  }
  memmove(census->ranges + begin + 1, census->ranges + end, kept * sizeof *census->ranges);
  census->ranges[begin] = range;
  census->range_count = begin + 1 + kept;
  pc_assert(census->range_count <= census->range_capacity);
  pc_assert(begin == 0 || census->ranges[begin - 1].last + 1 < range.first);
  pc_assert(kept == 0 || range.last + 1 < census->ranges[begin + 1].first);
}

/* Joins a range with those that it overlaps or touches. */
static void census_add_range(pc_row_ranges *census, pc_row_range range) {
  if (census->scattered)
    return;
  const size_t begin = census_find(census, range.first);
  size_t end = begin;
  while (end < census->range_count &&
         (range.last == UINT64_MAX || census->ranges[end].first <= range.last + 1)) {
    const pc_row_range *met = &census->ranges[end++];
    range.first = met->first < range.first ? met->first : range.first;
    range.last = met->last > range.last ? met->last : range.last;
  }
  census_replace(census, begin, end, range);
}

static pc_row_range census_batch_rows(const pcal_batch *batch) {
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

int pc_row_ranges_contain(const pc_row_ranges *census, const pcal_batch *batch,
                          pc_row_range *out) {
  pc_row_range rows;
  if (batch->rows == 0)
    return 0;
  rows = census_batch_rows(batch);
  const pc_row_ranges one = {.ranges = &rows, .range_count = 1};
  return pc_row_ranges_overlap(census, &one, out);
}

/* ---- groups ---- */

pcal_status pc_row_ranges_reserve_groups(pc_row_ranges *census, size_t count, pcal_error *err) {
  if (count > PC_GROUPS_MAX)
    return pc_fail(err, PCAL_DATA,
                   "more than %d groups; groups are meant for a few kinds of rows",
                   PC_GROUPS_MAX);
  void *block = census->first_rows;
  const pcal_status status = pc_reserve(census->env, &block, &census->group_capacity, count,
                                        sizeof *census->first_rows, err);
  census->first_rows = block;
  return status;
}

/* Requires room for the group. */
static void census_meet(pc_row_ranges *census, size_t group, uint64_t row) {
  while (census->group_count <= group)
    census->first_rows[census->group_count++] = PCAL_NO_ROW;
  if (row < census->first_rows[group])
    census->first_rows[group] = row;
}

static size_t census_batch_groups(const pcal_batch *batch) {
  size_t count = 0;
  for (size_t i = 0; batch->groups != NULL && i < batch->rows; i++) {
    const size_t group = batch->groups[i];
    count = group >= count ? group + 1 : count;
  }
  return count;
}

/* ---- batches and merges ---- */

pcal_status pc_row_ranges_prepare(pc_row_ranges *census, const pcal_batch *batch,
                                  pcal_error *err) {
  PC_TRY(pc_row_ranges_reserve(census, census->range_count + 1, err));
  census->expected = census_batch_groups(batch);
  return pc_row_ranges_reserve_groups(census, census->expected, err);
}

size_t pc_row_ranges_group_count(const pc_row_ranges *census) {
  return census->expected > census->group_count ? census->expected : census->group_count;
}

void pc_row_ranges_add(pc_row_ranges *census, const pcal_batch *batch) {
  if (batch->rows == 0)
    return;
  census_add_range(census, census_batch_rows(batch));
  const size_t groups = pc_row_ranges_group_count(census);
  for (size_t i = 0; batch->groups != NULL && i < batch->rows; i++) {
    const size_t group = batch->groups[i];
    if (group < groups) /* others are new: somebody overwrites the batch */
      census_meet(census, group, batch->first_row + i);
  }
  if (groups > census->group_count)
    census_meet(census, groups - 1, PCAL_NO_ROW);
}

static size_t census_target(const size_t *map, size_t group) {
  return map == NULL ? group : map[group];
}

pcal_status pc_row_ranges_prepare_merge(pc_row_ranges *into, const pc_row_ranges *from,
                                        const size_t *map, pcal_error *err) {
  size_t groups = 0;
  for (size_t g = 0; g < from->group_count; g++) {
    const size_t target = census_target(map, g);
    groups = target != SIZE_MAX && target >= groups ? target + 1 : groups;
  }
  PC_TRY(pc_row_ranges_reserve(into, into->range_count + from->range_count, err));
  return pc_row_ranges_reserve_groups(into, groups, err);
}

void pc_row_ranges_merge(pc_row_ranges *into, const pc_row_ranges *from, const size_t *map) {
  for (size_t r = 0; r < from->range_count; r++)
    census_add_range(into, from->ranges[r]);
  if (from->scattered) {
    into->scattered = 1;
    into->range_count = 0;
  }
  for (size_t g = 0; g < from->group_count; g++)
    if (census_target(map, g) != SIZE_MAX)
      census_meet(into, census_target(map, g), from->first_rows[g]);
}
