#include "calibrators/binning/class_pair_counts.h"

#include "base/assert.h"
#include "kernels/sort.h"

#define CLASS_PAIR_COUNTS_FIRST 64

/* The cell of a key, or the free cell where it belongs; there is always a free one. */
static struct pc_class_pair_cell *class_pair_find(const pc_class_pair_counts *counts,
                                                  uint64_t key) {
  const size_t mask = counts->capacity - 1;
  uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
  size_t at = (size_t)(hash ^ (hash >> 32)) & mask;
  while (counts->cells[at].key != 0 && counts->cells[at].key != key)
    at = (at + 1) & mask;
  return &counts->cells[at];
}

static pcal_status class_pair_grow(const pcal_env *env, pc_class_pair_counts *counts,
                                   pcal_error *err) {
  pc_class_pair_counts grown = {.count = counts->count,
                                .capacity = counts->capacity == 0 ? CLASS_PAIR_COUNTS_FIRST
                                                                  : 2 * counts->capacity};
  grown.cells = pc_alloc(env, grown.capacity, sizeof *grown.cells);
  if (grown.cells == NULL)
    return pc_fail_memory(err, "counting pairs of classes");
  for (size_t i = 0; i < counts->capacity; i++)
    if (counts->cells[i].key != 0)
      *class_pair_find(&grown, counts->cells[i].key) = counts->cells[i];
  pc_free(env, counts->cells);
  *counts = grown;
  return PCAL_OK;
}

/* The cell of a pair, added if it is new. */
static pcal_status class_pair_cell(const pcal_env *env, pc_class_pair_counts *counts,
                                   uint64_t key, struct pc_class_pair_cell **out,
                                   pcal_error *err) {
  if (2 * (counts->count + 1) > counts->capacity)
    PC_TRY(class_pair_grow(env, counts, err));
  struct pc_class_pair_cell *cell = class_pair_find(counts, key);
  counts->count += cell->key == 0;
  cell->key = key;
  *out = cell;
  return PCAL_OK;
}

pcal_status pc_class_pair_counts_add(const pcal_env *env, pc_class_pair_counts *counts,
                                     uint64_t pair, double weight, pcal_error *err) {
  struct pc_class_pair_cell *cell = NULL;
  PC_TRY(class_pair_cell(env, counts, pair + 1, &cell, err));
  pc_fixed_add_weighted(&cell->weight, weight, 1.0);
  return PCAL_OK;
}

pcal_status pc_class_pair_counts_merge(const pcal_env *env, pc_class_pair_counts *into,
                                       const pc_class_pair_counts *from, pcal_error *err) {
  for (size_t i = 0; i < from->capacity; i++) {
    struct pc_class_pair_cell *cell = NULL;
    if (from->cells[i].key == 0)
      continue;
    PC_TRY(class_pair_cell(env, into, from->cells[i].key, &cell, err));
    cell->weight.units += from->cells[i].weight.units;
  }
  return PCAL_OK;
}

void pc_class_pair_counts_free(const pcal_env *env, pc_class_pair_counts *counts) {
  pc_free(env, counts->cells);
  *counts = (pc_class_pair_counts){NULL, 0, 0};
}

pcal_status pc_class_pair_counts_list(const pcal_env *env, const pc_class_pair_counts *counts,
                                      double **pairs, double **weights, pcal_error *err) {
  const size_t n = counts->count;
  double *space = pc_alloc_raw(env, n, 4 * sizeof *space);
  size_t at = 0;
  *pairs = space;
  if (space == NULL)
    return pc_fail_memory(err, "counting pairs of classes");
  *weights = space + n;
  for (size_t i = 0; i < counts->capacity; i++)
    if (counts->cells[i].key != 0) {
      (*pairs)[at] = (double)(counts->cells[i].key - 1);
      (*weights)[at++] = pc_fixed_value(&counts->cells[i].weight);
    }
  pc_assert(at == n);
  pc_sort_pairs(*pairs, *weights, space + 2 * n, space + 3 * n, n);
  pc_assert(pc_is_ascending(*pairs, n, 1));
  return PCAL_OK;
}
