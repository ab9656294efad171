#include "stats/curve_table.h"

#include <math.h>
#include <string.h>

#include "core/sum.h"
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

static void curve_merge(const pc_sorted_column *misses, const pc_sorted_column *hits,
                        pc_curve_table *out) {
  pc_sum total;
  pc_sum_clear(&total);
  for (size_t m = 0, h = 0; m < misses->count || h < hits->count; out->count++) {
    const double score = fmin(curve_next(misses, m), curve_next(hits, h));
    const double missed = curve_take(misses, &m, score);
    const double hit = curve_take(hits, &h, score);
    out->score[out->count] = score;
    out->weight[out->count] = missed + hit;
    out->hits[out->count] = hit;
    pc_sum_add(&total, missed + hit);
  }
  out->total = pc_sum_value(&total);
}

pcal_status pc_curve_table_join(const pcal_env *env, const pc_sorted_column *misses,
                                const pc_sorted_column *hits, pc_curve_table *out,
                                pcal_error *err) {
  const size_t n = misses->count + hits->count;
  *out = (pc_curve_table){0};
  out->score = pc_alloc_raw(env, n, sizeof(double));
  out->weight = pc_alloc_raw(env, n, sizeof(double));
  out->hits = pc_alloc_raw(env, n, sizeof(double));
  if (out->score != NULL && out->weight != NULL && out->hits != NULL) {
    curve_merge(misses, hits, out);
    return PCAL_OK;
  }
  pc_curve_table_free(env, out);
  return pc_fail_memory(err, "sorting scores");
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
  pc_free(env, table->weight);
  pc_free(env, table->hits);
  pc_free(env, table->high);
  pc_free(env, table->sum);
  pc_free(env, table->hit_sum);
  *table = (pc_curve_table){0};
}

double pc_curve_table_high(const pc_curve_table *table, size_t entry) {
  return table->high == NULL ? table->score[entry] : table->high[entry];
}

pc_fixed pc_curve_table_sum(const pc_curve_table *table, size_t entry) {
  pc_fixed sum = {0};
  if (table->sum != NULL)
    return table->sum[entry];
  pc_fixed_add_weighted(&sum, table->weight[entry], table->score[entry]);
  return sum;
}

int pc_curve_table_open(const pc_curve_table *table, size_t entry) {
  return table->high != NULL && table->high[entry] > table->score[entry];
}

/* The gap behind entry i, given the gap before it. */
static pc_fixed curve_step(const pc_curve_table *table, size_t i, pc_fixed running) {
  running.units += pc_curve_table_sum(table, i).units;
  pc_fixed_add_weighted(&running, table->hits[i], -1.0);
  return running;
}

pc_gap pc_curve_table_gap(const pc_curve_table *table) {
  pc_gap best = {0.0, NAN};
  pc_fixed running = {0};
  for (size_t i = 0; i < table->count; i++) {
    running = curve_step(table, i, running);
    const double gap = pc_fixed_value(&running);
    if (i == 0 || fabs(gap) > fabs(best.value))
      best = (pc_gap){gap, pc_curve_table_high(table, i)};
  }
  return best;
}

/* Inside a segment the gap rises by at most the scores of its misses and falls by at most
 * (1 - score) over its hits. */
static double curve_reach(const pc_curve_table *table, size_t i, double before) {
  const pc_fixed sum = pc_curve_table_sum(table, i), hits = table->hit_sum[i];
  pc_fixed misses = {sum.units - hits.units};
  const double up = before + pc_fixed_value(&misses);
  const double down = before - (table->hits[i] - pc_fixed_value(&hits));
  return fmax(fabs(up), fabs(down));
}

size_t pc_curve_table_gap_wants(const pc_curve_table *table, uint8_t *wanted) {
  const double best = fabs(pc_curve_table_gap(table).value);
  pc_fixed running = {0};
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) {
    if (pc_curve_table_open(table, i) &&
        curve_reach(table, i, pc_fixed_value(&running)) >= best) {
      count += !wanted[i];
      wanted[i] = 1;
    }
    running = curve_step(table, i, running);
  }
  return count;
}
