/* Pool adjacent violators.
 *
 * Formula:  the non-decreasing f that minimises sum_i w_i (f(s_i) - a_i)^2; it minimises every
 * other proper score of a binary outcome as well.  At entry i it is
 *   max_{j <= i} min_{k >= i} (hits of entries j..k) / (weight of entries j..k)
 * Edge cases: (1) blocks of equal value are joined, so that values are distinct; (2) an empty
 * table has no blocks; (3) values are compared by products, which for whole weights are exact
 * below 2^53, and beyond that still equal where the values are.
 * Source: Ayer et al. 1955; optimal for all proper scores: Bruemmer & du Preez 2013,
 * Dimitriadis, Gneiting & Jordan 2021.
 * Accuracy: whole weights exact.   Cost: O(n); memory for the blocks. */
#include "stats/isotonic.h"

double pc_isotonic_value(const pc_isotonic_block *block) {
  return block->hits / block->weight;
}

static int isotonic_violates(const pc_isotonic_block *left, const pc_isotonic_block *right) {
  return left->hits * right->weight >= right->hits * left->weight;
}

static void isotonic_pool(pc_isotonic_block *into, const pc_isotonic_block *next) {
  into->high = next->high;
  into->weight += next->weight;
  into->hits += next->hits;
}

static pcal_status isotonic_grow(const pcal_env *env, pc_isotonic *fit, pcal_error *err) {
  void *space = fit->blocks;
  const pcal_status status =
      pc_reserve(env, &space, &fit->capacity, fit->count + 1, sizeof *fit->blocks, err);
  fit->blocks = space;
  return status;
}

pcal_status pc_isotonic_fit(const pcal_env *env, const pc_curve_table *table, pc_isotonic *out,
                            pcal_error *err) {
  *out = (pc_isotonic){NULL, 0, 0};
  for (size_t i = 0; i < table->count; i++) {
    pc_isotonic_block last = {table->score[i], table->score[i], table->weight[i],
                              table->hits[i]};
    while (out->count > 0 && isotonic_violates(&out->blocks[out->count - 1], &last)) {
      pc_isotonic_block *left = &out->blocks[--out->count];
      isotonic_pool(left, &last);
      last = *left;
    }
    const pcal_status status =
        out->count < out->capacity ? PCAL_OK : isotonic_grow(env, out, err);
    if (status != PCAL_OK) {
      pc_isotonic_free(env, out);
      return status;
    }
    out->blocks[out->count++] = last;
  }
  return PCAL_OK;
}

void pc_isotonic_free(const pcal_env *env, pc_isotonic *fit) {
  pc_free(env, fit->blocks);
  *fit = (pc_isotonic){NULL, 0, 0};
}
