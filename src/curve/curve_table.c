#include "curve/curve_table.h"

#include <math.h>

#include "base/assert.h"
#include "base/sum.h"

/* Total weight of the entries equal to `score`; moves *at past them. */
static double curve_take(const pc_sorted_column *column, size_t *at, double score) {
  double weight = 0.0;
  for (; *at < column->count && column->score[*at] == score; (*at)++)
    weight += column->weight == NULL ? 1.0 : column->weight[*at];
  return weight;
}

static double curve_next(const pc_sorted_column *column, size_t at) {
  return at < column->count ? column->score[at] : INFINITY;
}

static void curve_merge_weighted(const pc_sorted_column *misses, const pc_sorted_column *hits,
                                 pc_curve_table *out) {
  pc_sum total;
  pc_sum_clear(&total);
  for (size_t m = 0, h = 0; m < misses->count || h < hits->count; out->count++) {
    const double miss = curve_next(misses, m), next = curve_next(hits, h);
    const double score = miss < next ? miss : next;
    const double missed = curve_take(misses, &m, score);
    const double hit = curve_take(hits, &h, score);
    out->score[out->count] = score;
    out->weight[out->count] = missed + hit;
    out->hits[out->count] = hit;
    pc_sum_add(&total, missed + hit);
  }
  out->total = pc_sum_value(&total);
}

/* Replaces cumulative sums by their differences. */
static void curve_differences(double *cumulative, size_t count) {
  for (size_t i = count; i > 1; i--)
    cumulative[i - 1] -= cumulative[i - 2];
}

/* Rows of each outcome and entries so far; `last` is the score of the last entry. */
typedef struct curve_counts {
  size_t misses, hits, entries;
  double last;
} curve_counts;

/* Adds the smaller of two scores, or both if they are equal.  Writes cumulative counts.  Has no
 * branches, which would be mispredicted. */
static inline void curve_count(curve_counts *seen, double miss, double hit,
                               const pc_curve_table *out) {
  const double score = miss < hit ? miss : hit;
  seen->misses += miss <= hit;
  seen->hits += hit <= miss;
  seen->entries += score != seen->last;
  seen->last = score;
  out->score[seen->entries - 1] = score;
  out->weight[seen->entries - 1] = (double)(int64_t)(seen->misses + seen->hits);
  out->hits[seen->entries - 1] = (double)(int64_t)seen->hits;
}

/* All but the last score of either outcome.  Both candidates for the next step are loaded
 * before the comparison, which hides the latency of the loads. */
static void curve_count_both(curve_counts *seen, const pc_sorted_column *misses,
                             const pc_sorted_column *hits, const pc_curve_table *out) {
  if (misses->count == 0 || hits->count == 0)
    return;
  double miss = misses->score[0], hit = hits->score[0];
  while (seen->misses + 1 < misses->count && seen->hits + 1 < hits->count) {
    const double next_miss = misses->score[seen->misses + 1];
    const double next_hit = hits->score[seen->hits + 1];
    const int missed = miss <= hit, was_hit = hit <= miss;
    curve_count(seen, miss, hit, out);
    miss = missed ? next_miss : miss;
    hit = was_hit ? next_hit : hit;
  }
}

/* Without weights: entries are differences of cumulative counts. */
static void curve_merge_counts(const pc_sorted_column *misses, const pc_sorted_column *hits,
                               pc_curve_table *out) {
  curve_counts seen = {0, 0, 0, NAN};
  curve_count_both(&seen, misses, hits, out);
  while (seen.misses < misses->count && seen.hits < hits->count)
    curve_count(&seen, misses->score[seen.misses], hits->score[seen.hits], out);
  while (seen.misses < misses->count)
    curve_count(&seen, misses->score[seen.misses], INFINITY, out);
  while (seen.hits < hits->count)
    curve_count(&seen, INFINITY, hits->score[seen.hits], out);
  curve_differences(out->weight, seen.entries);
  curve_differences(out->hits, seen.entries);
  out->count = seen.entries;
  out->total = (double)(misses->count + hits->count);
}

pcal_status pc_curve_table_room(const pcal_env *env, size_t entries, pc_curve_table *out,
                                pcal_error *err) {
  *out = (pc_curve_table){0};
  out->score = pc_alloc_raw(env, entries, 2 * sizeof(double));
  out->hits = out->score == NULL ? NULL : pc_alloc_raw(env, entries, sizeof(double));
  if (out->hits == NULL) {
    pc_curve_table_free(env, out);
    return pc_fail_memory(err, "sorting scores");
  }
  out->weight = out->score + entries;
  return PCAL_OK;
}

pcal_status pc_curve_table_join(const pcal_env *env, const pc_sorted_column *misses,
                                const pc_sorted_column *hits, pc_curve_table *out,
                                pcal_error *err) {
  PC_TRY(pc_curve_table_room(env, misses->count + hits->count, out, err));
  if (misses->weight != NULL || hits->weight != NULL)
    curve_merge_weighted(misses, hits, out);
  else
    curve_merge_counts(misses, hits, out);
  pc_assert(out->count <= misses->count + hits->count);
  pc_assert(pc_is_ascending(out->score, out->count, 1));
  return PCAL_OK;
}

pcal_status pc_curve_table_new(const pcal_env *env, const pc_outcome_column *misses,
                               const pc_outcome_column *hits, pc_curve_table *out,
                               pcal_error *err) {
  pc_sorted_column sorted[2] = {{0}, {0}};
  *out = (pc_curve_table){0};
  pcal_status status = pc_sorted_column_new(env, misses, &sorted[0], err);
  if (status == PCAL_OK)
    status = pc_sorted_column_new(env, hits, &sorted[1], err);
  if (status == PCAL_OK)
    status = pc_curve_table_join(env, &sorted[0], &sorted[1], out, err);
  pc_sorted_column_free(env, &sorted[0]);
  pc_sorted_column_free(env, &sorted[1]);
  return status;
}

void pc_curve_table_free(const pcal_env *env, pc_curve_table *table) {
  pc_free(env, table->score);
  pc_free(env, table->hits);
  pc_free(env, table->owned_segments);
  *table = (pc_curve_table){0};
}

pc_fixed pc_curve_table_hit_sum(const pc_curve_table *table, size_t entry) {
  pc_fixed sum = {0};
  if (table->form == PC_CURVE_SEGMENTS)
    return table->segments[entry].hit_score;
  pc_fixed_add_weighted(&sum, table->hits[entry], table->score[entry]);
  return sum;
}

pc_fixed pc_curve_table_square_sum(const pc_curve_table *table, size_t entry) {
  const double unit = 1 / PC_SEGMENT_SQUARE_ONE;
  pc_fixed sum = {0};
  if (table->form == PC_CURVE_SEGMENTS)
    sum.units = table->segments[entry].square * pc_fixed_units(unit);
  else
    pc_fixed_add_weighted(&sum, table->weight[entry],
                          (double)pc_segment_square(table->score[entry]) * unit);
  return sum;
}

pc_fixed pc_curve_table_score_sum(const pc_curve_table *table, size_t entry) {
  pc_fixed sum = {0};
  if (table->form == PC_CURVE_SEGMENTS)
    return table->segments[entry].score;
  pc_fixed_add_weighted(&sum, table->weight[entry], table->score[entry]);
  return sum;
}
