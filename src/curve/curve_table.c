#include "curve/curve_table.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/sum.h"
#include "kernels/sort.h"

void pc_sorted_column_free(const pcal_env *env, pc_sorted_column *column) {
  pc_free(env, column->score);
  pc_free(env, column->weight);
  *column = (pc_sorted_column){0};
}

/* Equal scores are left sorted by weight, so that their sum has one order. */
static void curve_sort_ties(pc_sorted_column *column, double *scratch) {
  for (size_t begin = 0; begin < column->count;) {
    size_t end = begin + 1;
    while (end < column->count && column->score[end] == column->score[begin])
      end++;
    pc_sort(column->weight + begin, scratch, end - begin);
    begin = end;
  }
}

pcal_status pc_sorted_column_sort(const pcal_env *env, pc_sorted_column *column,
                                  pcal_error *err) {
  const int weighted = column->weight != NULL;
  double *scores = pc_alloc_raw(env, column->count, sizeof(double));
  double *weights = weighted ? pc_alloc_raw(env, column->count, sizeof(double)) : NULL;
  const int enough = scores != NULL && (!weighted || weights != NULL);
  if (enough)
    pc_sort_pairs(column->score, column->weight, scores, weights, column->count);
  if (enough && weighted)
    curve_sort_ties(column, weights);
  pc_free(env, scores);
  pc_free(env, weights);
  return enough ? PCAL_OK : pc_fail_memory(err, "sorting scores");
}

pcal_status pc_sorted_column_new(const pcal_env *env, const pc_outcome_column *from,
                                 pc_sorted_column *out, pcal_error *err) {
  const size_t n = from->count;
  const int weighted = from->weight != NULL;
  *out = (pc_sorted_column){.count = n};
  out->score = pc_alloc_raw(env, n, sizeof(double));
  out->weight = weighted ? pc_alloc_raw(env, n, sizeof(double)) : NULL;
  pcal_status status = PCAL_OK;
  if (out->score == NULL || (weighted && out->weight == NULL)) {
    status = pc_fail_memory(err, "sorting scores");
  } else {
    for (size_t i = 0; i < n; i++)
      out->score[i] = from->score[i] + 0.0; /* -0 becomes 0 */
    if (weighted && n > 0)
      memcpy(out->weight, from->weight, n * sizeof(double));
    status = pc_sorted_column_sort(env, out, err);
  }
  if (status != PCAL_OK)
    pc_sorted_column_free(env, out);
  return status;
}

/* Total weight of the entries of a column equal to score, moving past them. */
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

/* Of a cumulated column, what each entry adds. */
static void curve_differences(double *cumulated, size_t count) {
  for (size_t i = count; i > 1; i--)
    cumulated[i - 1] -= cumulated[i - 2];
}

/* Entries so far, as what there is up to each score. */
typedef struct curve_counts {
  size_t misses, hits, entries;
  double last;
} curve_counts;

/* Takes the smaller of two scores, or both.  No branch depends on how outcomes follow each
 * other, which no processor could foresee. */
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

/* All but the last of either outcome.  What may come next is read before it is known which of
 * the two does: loads would be waited for. */
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

/* Without weights: an entry is what there is up to it less what there is before it. */
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
  out->score = pc_alloc_raw(env, entries, 3 * sizeof(double));
  if (out->score == NULL)
    return pc_fail_memory(err, "sorting scores");
  out->weight = out->score + entries;
  out->hits = out->weight + entries;
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
  pc_free(env, table->owned);
  *table = (pc_curve_table){0};
}

pc_fixed pc_curve_table_hit_sum(const pc_curve_table *table, size_t entry) {
  pc_fixed sum = {0};
  if (table->segments != NULL)
    return table->segments[entry].hit_score;
  pc_fixed_add_weighted(&sum, table->hits[entry], table->score[entry]);
  return sum;
}

pc_fixed pc_curve_table_score_sum(const pc_curve_table *table, size_t entry) {
  pc_fixed sum = {0};
  if (table->segments != NULL)
    return table->segments[entry].score;
  pc_fixed_add_weighted(&sum, table->weight[entry], table->score[entry]);
  return sum;
}

int pc_curve_table_open(const pc_curve_table *table, size_t entry) {
  return pc_curve_table_low(table, entry) < pc_curve_table_high(table, entry);
}

/* The gap behind entry i, given the gap before it. */
static pc_fixed curve_step(const pc_curve_table *table, size_t i, pc_fixed running) {
  if (table->segments != NULL) {
    const pc_int128 one = pc_fixed_units(1.0);
    running.units += table->segments[i].score.units - one * (pc_int128)table->segments[i].hits;
    return running;
  }
  pc_fixed_add_weighted(&running, table->weight[i], table->score[i]);
  pc_fixed_add_weighted(&running, table->hits[i], -1.0);
  return running;
}

/* The first entry behind which the gap, as a double, is largest; the table is not empty. */
static size_t curve_widest(const pc_curve_table *table, double *gap) {
  pc_fixed running = {0}, widest = {0};
  size_t best = 0;
  for (size_t i = 0; i < table->count; i++) {
    running = curve_step(table, i, running);
    const pc_fixed size = {running.units < 0 ? -running.units : running.units};
    if (i > 0 && size.units <= widest.units)
      continue;
    const double here = pc_fixed_value(&running);
    widest = size;
    if (i == 0 || fabs(here) > fabs(*gap)) {
      *gap = here;
      best = i;
    }
  }
  return best;
}

pc_gap pc_curve_table_gap(const pc_curve_table *table) {
  pc_gap gap = {0.0, NAN};
  if (table->prefix != NULL && table->total > 0)
    gap.value = pc_curve_prefix_gap(table->prefix, &gap.at);
  else if (table->prefix == NULL && table->count > 0)
    gap.at = pc_curve_table_high(table, curve_widest(table, &gap.value));
  return gap;
}

/* Inside a segment the gap rises by at most the scores of its misses and falls by at most
 * (1 - score) over its hits. */
static double curve_reach(const pc_segment *segment, pc_fixed before) {
  const pc_int128 one = pc_fixed_units(1.0), hits = segment->hit_score.units;
  const pc_int128 up = before.units + (segment->score.units - hits);
  const pc_int128 down = before.units + hits - one * (pc_int128)segment->hits;
  const pc_int128 high = up < 0 ? -up : up, low = down < 0 ? -down : down;
  const pc_fixed reach = {high > low ? high : low};
  return pc_fixed_value(&reach);
}

size_t pc_curve_table_gap_wants(const pc_curve_table *table, uint8_t *wanted) {
  pc_fixed running = {0};
  double gap = 0.0;
  size_t count = 0;
  const size_t widest = table->count == 0 ? 0 : curve_widest(table, &gap);
  for (size_t i = 0; i < table->count; i++) {
    if (pc_curve_table_open(table, i) &&
        (i == widest || curve_reach(&table->segments[i], running) >= fabs(gap))) {
      count += !wanted[i];
      wanted[i] = 1;
    }
    running = curve_step(table, i, running);
  }
  return count;
}
