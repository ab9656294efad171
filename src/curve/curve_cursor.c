#include "curve/curve_cursor.h"

#include <math.h>

pc_curve_cursor pc_curve_first(const pc_curve_table *table) {
  return table->form == PC_CURVE_REPLICA ? pc_curve_prefix_at(table->prefix, 0)
                                         : (pc_curve_cursor){0};
}

pc_curve_cursor pc_curve_last(const pc_curve_table *table) {
  return table->form == PC_CURVE_REPLICA
             ? pc_curve_prefix_last(table->prefix)
             : (pc_curve_cursor){.entry = table->count, .rows = table->total};
}

pc_curve_cursor pc_curve_above(const pc_curve_table *table, double threshold) {
  if (!(threshold > 0))
    return pc_curve_first(table);
  if (table->form == PC_CURVE_REPLICA)
    return pc_curve_prefix_above(table->prefix, threshold);
  size_t low = 0, high = table->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (pc_curve_table_high(table, middle) > threshold)
      high = middle;
    else
      low = middle + 1;
  }
  return (pc_curve_cursor){.entry = low};
}

int pc_curve_at_end(const pc_curve_table *table, const pc_curve_cursor *cursor) {
  return table->form == PC_CURVE_REPLICA ? cursor->rows >= table->total
                                         : cursor->entry >= table->count;
}

void pc_curve_seek_reaching(const pc_curve_table *table, pc_curve_cursor *cursor, double rows) {
  if (table->form == PC_CURVE_REPLICA) { /* weights are whole */
    *cursor = pc_curve_prefix_seek(table->prefix, rows - 0.5);
    return;
  }
  while (cursor->entry + 1 < table->count &&
         cursor->rows + pc_curve_table_weight(table, cursor->entry) < rows)
    cursor->rows += pc_curve_table_weight(table, cursor->entry++);
}

void pc_curve_seek_exceeding(const pc_curve_table *table, pc_curve_cursor *cursor,
                             double rows) {
  if (table->form == PC_CURVE_REPLICA) {
    *cursor = pc_curve_prefix_seek(table->prefix, rows);
    return;
  }
  while (cursor->entry + 1 < table->count &&
         cursor->rows + pc_curve_table_weight(table, cursor->entry) <= rows)
    cursor->rows += pc_curve_table_weight(table, cursor->entry++);
}

void pc_curve_next(const pc_curve_table *table, pc_curve_cursor *cursor) {
  if (table->form == PC_CURVE_REPLICA)
    pc_curve_prefix_next(table->prefix, cursor);
  else
    cursor->rows += pc_curve_table_weight(table, cursor->entry++);
}

double pc_curve_low(const pc_curve_table *table, const pc_curve_cursor *cursor) {
  return table->form == PC_CURVE_REPLICA ? table->prefix->score[cursor->entry]
                                         : pc_curve_table_low(table, cursor->entry);
}

double pc_curve_high(const pc_curve_table *table, const pc_curve_cursor *cursor) {
  return table->form == PC_CURVE_REPLICA ? table->prefix->score[cursor->entry]
                                         : pc_curve_table_high(table, cursor->entry);
}

/* ---- sums ---- */

/* Weights are nearly always whole: the whole part is added as an integer, the rest in fixed
 * point. */
typedef struct cursor_weight {
  int64_t whole;
  pc_fixed rest;
} cursor_weight;

static void cursor_weight_add(cursor_weight *sum, double weight) {
  const int64_t whole = (int64_t)weight;
  sum->whole += whole;
  if (weight != (double)whole)
    pc_fixed_add_weighted(&sum->rest, weight - (double)whole, 1.0);
}

static double cursor_weight_value(const cursor_weight *sum) {
  const pc_fixed all = {sum->rest.units + (pc_int128)sum->whole * pc_fixed_units(1.0)};
  return pc_fixed_value(&all);
}

static pc_bin cursor_bin_of_entries(const pc_curve_table *table, size_t begin, size_t end) {
  cursor_weight weight = {0}, hits = {0};
  pc_fixed score = {0};
  for (size_t i = begin; i < end; i++) {
    cursor_weight_add(&weight, pc_curve_table_weight(table, i));
    cursor_weight_add(&hits, pc_curve_table_hits(table, i));
    if (table->form == PC_CURVE_SCORES && table->weight[i] == 1.0)
      pc_fixed_add(&score, table->score[i]);
    else
      score.units += pc_curve_table_score_sum(table, i).units;
  }
  return (pc_bin){.weight = cursor_weight_value(&weight),
                  .hits = cursor_weight_value(&hits),
                  .score = pc_fixed_value(&score),
                  .score_square = (double)NAN,
                  .score_hit = (double)NAN};
}

pc_bin pc_curve_bin(const pc_curve_table *table, const pc_curve_cursor *begin,
                    const pc_curve_cursor *end) {
  if (table->form != PC_CURVE_REPLICA)
    return cursor_bin_of_entries(table, begin->entry, end->entry);
  return (pc_bin){.weight = end->rows - begin->rows,
                  .hits = end->hits - begin->hits,
                  .score = end->scores - begin->scores,
                  .score_square = (double)NAN,
                  .score_hit = (double)NAN};
}
