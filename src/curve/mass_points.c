/* Edge cases:
 *   (1) a bin that holds the lowest or the highest score is divided there; the bins are those
 *       of all rows;
 *   (2) a mean is kept between the lowest and the highest score of its bin: sums have units of
 *       2^-61, in which much smaller scores are lost;
 *   (3) means that rounding does not leave in ascending order are joined with the entry before. */
#include "curve/mass_points.h"

#include <math.h>

#include "curve/curve_bins.h"
#include "curve/curve_cursor.h"

size_t pc_mass_points_wants(const pc_curve_table *table, size_t bins, uint8_t *wanted) {
  size_t count = pc_bins_by_mass_wants(table, bins, wanted);
  for (int last = 0; last < 2; last++) {
    const size_t entry = last ? table->count - 1 : 0;
    if (table->count > 0 && pc_curve_table_open(table, entry) && !wanted[entry]) {
      wanted[entry] = 1;
      count++;
    }
  }
  return count;
}

/* Appends entries [begin, end) of `table`. */
static void mass_points_add(const pc_curve_table *table, size_t begin, size_t end,
                            pc_curve_table *out) {
  const pc_curve_cursor from = {.entry = begin}, to = {.entry = end};
  if (begin >= end)
    return;
  const pc_bin bin = pc_curve_bin(table, &from, &to);
  const double low = pc_curve_table_low(table, begin);
  const double score =
      fmax(low, fmin(pc_curve_table_high(table, end - 1), bin.score / bin.weight));
  if (out->count > 0 && !(score > out->score[out->count - 1])) {
    out->weight[out->count - 1] += bin.weight;
    out->hits[out->count - 1] += bin.hits;
    return;
  }
  out->score[out->count] = score;
  out->weight[out->count] = bin.weight;
  out->hits[out->count++] = bin.hits;
}

static void mass_points_fill(const pc_curve_table *table, const size_t *ends, size_t count,
                             pc_curve_table *out) {
  const size_t last = table->count - 1;
  size_t begin = last == 0 ? 0 : 1;
  out->total = table->total;
  out->count = 0;
  mass_points_add(table, 0, begin, out);
  for (size_t b = 0; b < count && begin < last; b++) {
    const size_t end = ends[b] < last ? ends[b] : last;
    mass_points_add(table, begin, end, out);
    begin = end > begin ? end : begin;
  }
  mass_points_add(table, last, last + 1, out);
}

pcal_status pc_mass_points(const pcal_env *env, const pc_curve_table *table, size_t bins,
                           pc_curve_table *out, pcal_error *err) {
  pc_bin *made = pc_alloc_raw(env, bins, sizeof *made);
  size_t *ends = pc_alloc_raw(env, bins, sizeof *ends);
  pcal_status status = made == NULL || ends == NULL
                           ? pc_fail_memory(err, "making equal-mass bins")
                           : pc_curve_table_room(env, bins + 2, out, err);
  if (status == PCAL_OK)
    mass_points_fill(table, ends, pc_bins_by_mass_ends(table, bins, made, ends), out);
  pc_free(env, ends);
  pc_free(env, made);
  return status;
}
