/* Formula:  with s the score, a the outcome, w the weight of a row in the data, v in the replica,
 *           the hits before a place are, as in pc_prefix_gaps,
 *             sum w s - factor[0] sum w (s - a) - factor[1] sum v (s - a) - factor[2] sum w tilt(s)
 *           over the rows before it.  Only the third sum depends on the replica, only the
 *           factors on the gap point.
 * Edge cases:
 *   1. No memory for more bins: the caller walks over the curve, with the same bins.
 *   2. The last place of each number of bins is the end of the curve. */
#include "curve/mass_bin_cache.h"

#include <string.h>

#include "curve/curve_bins.h"
#include "curve/curve_cursor.h"

#define MASS_BIN_SETS 16 /* most different numbers of bins */

/* The bins of one number of bins: places first .. first + count - 1. */
typedef struct mass_bin_set {
  size_t bins, first, count;
  int filled; /* with sums of the replica */
} mass_bin_set;

/* Arrays with one element for each end of a bin. */
struct pc_mass_bin_cache {
  mass_bin_set sets[MASS_BIN_SETS];
  size_t set_count;
  pc_bin bin[PC_MASS_BIN_CACHE_BINS];                                /* hits are unknown */
  size_t range[PC_MASS_BIN_CACHE_BINS], end[PC_MASS_BIN_CACHE_BINS]; /* the place */
  double scores[PC_MASS_BIN_CACHE_BINS];                             /* sums before the place */
  double gap[PC_GAP_PARTS][PC_MASS_BIN_CACHE_BINS];                  /* the same */
  double hits[PC_MASS_BIN_CACHE_BINS];
};

pcal_status pc_mass_bin_cache_new(const pcal_env *env, pc_mass_bin_cache **out,
                                  pcal_error *err) {
  *out = pc_alloc(env, 1, sizeof **out);
  return *out == NULL ? pc_fail_memory(err, "drawing replicas") : PCAL_OK;
}

void pc_mass_bin_cache_free(const pcal_env *env, pc_mass_bin_cache *cache) {
  pc_free(env, cache);
}

void pc_mass_bin_cache_renew(pc_mass_bin_cache *cache) {
  for (size_t s = 0; s < cache->set_count; s++)
    cache->sets[s].filled = 0;
}

/* The range that contains an entry, or begins with it; `count`: the end. */
static size_t mass_bin_range(const pc_curve_prefix *prefix, size_t entry) {
  size_t low = 0, high = prefix->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (prefix->begin[middle + 1] > entry)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Fills the sums of the data and of the shift before a place. */
static void mass_bin_place(const pc_curve_prefix *prefix, size_t at, pc_mass_bin_cache *cache) {
  const pc_prefix_gaps *gaps = prefix->gaps;
  const size_t range = mass_bin_range(prefix, cache->end[at]);
  double scores = prefix->sums.scores[range], data = gaps->gap[PC_GAP_DATA][range],
         shift = gaps->gap[PC_GAP_SHIFT][range];
  for (size_t i = prefix->begin[range]; i < cache->end[at]; i++) {
    const double weight = (double)gaps->weight[prefix->row[i]], score = prefix->score[i];
    scores += weight * score;
    data += weight * (score - prefix->hit[i]);
    shift += weight * pc_gap_tilt(score);
  }
  cache->range[at] = range;
  cache->scores[at] = scores;
  cache->gap[PC_GAP_DATA][at] = data;
  cache->gap[PC_GAP_SHIFT][at] = shift;
}

/* The set for a number of bins; NULL if there is no memory for it. */
static mass_bin_set *mass_bin_find(pc_mass_bin_cache *cache, const pc_curve_table *table,
                                   size_t bins) {
  for (size_t s = 0; s < cache->set_count; s++)
    if (cache->sets[s].bins == bins)
      return &cache->sets[s];
  const mass_bin_set *last = cache->set_count == 0 ? NULL : &cache->sets[cache->set_count - 1];
  const size_t first = last == NULL ? 0 : last->first + last->count;
  if (cache->set_count == MASS_BIN_SETS || bins > PC_MASS_BIN_CACHE_BINS - first)
    return NULL;
  mass_bin_set *set = &cache->sets[cache->set_count++];
  *set = (mass_bin_set){.bins = bins, .first = first};
  set->count = pc_bins_by_mass_ends(table, bins, cache->bin + first, cache->end + first);
  for (size_t b = 0; b < set->count; b++)
    mass_bin_place(table->prefix, first + b, cache);
  return set;
}

/* Fills the sums of the replica. */
static void mass_bin_fill(const pc_curve_prefix *prefix, const mass_bin_set *set,
                          pc_mass_bin_cache *cache) {
  const double *before = prefix->gaps->gap[PC_GAP_REPLICA];
  for (size_t at = set->first; at < set->first + set->count; at++) {
    double gap = before[cache->range[at]];
    for (size_t i = prefix->begin[cache->range[at]]; i < cache->end[at]; i++)
      gap += (double)prefix->weight[prefix->row[i] * prefix->stride] *
             (prefix->score[i] - prefix->hit[i]);
    cache->gap[PC_GAP_REPLICA][at] = gap;
  }
}

size_t pc_mass_bin_cache_bins(pc_mass_bin_cache *cache, const pc_curve_table *table,
                              size_t bins, pc_bin *out) {
  const pc_curve_prefix *prefix = table->prefix;
  mass_bin_set *set = bins == 0 ? NULL : mass_bin_find(cache, table, bins);
  if (set == NULL)
    return 0;
  if (!set->filled)
    mass_bin_fill(prefix, set, cache);
  set->filled = 1;
  const double *factor = prefix->gaps->factor;
  const size_t first = set->first, end = first + set->count;
  for (size_t at = first; at < end; at++)
    cache->hits[at] = cache->scores[at] - factor[PC_GAP_DATA] * cache->gap[PC_GAP_DATA][at] -
                      factor[PC_GAP_REPLICA] * cache->gap[PC_GAP_REPLICA][at] -
                      factor[PC_GAP_SHIFT] * cache->gap[PC_GAP_SHIFT][at];
  for (size_t at = first; at < end; at++) {
    *out = cache->bin[at];
    (out++)->hits = cache->hits[at] - (at == first ? 0.0 : cache->hits[at - 1]);
  }
  return set->count;
}
