#include "curve/cumulative_points.h"

size_t pc_cumulative_points_max(const pc_curve_table *table, size_t stretches) {
  return table->count <= 3 * stretches ? table->count : 3 * stretches;
}

/* Sums up to an entry. */
typedef struct cumulated_sums {
  pc_fixed weight, scores, outcomes;
} cumulated_sums;

static void cumulated_add(const pc_curve_table *table, size_t i, cumulated_sums *sums) {
  pc_fixed_add_weighted(&sums->weight, table->weight[i], 1.0);
  pc_fixed_add_weighted(&sums->outcomes, table->hits[i], 1.0);
  pc_fixed_add_weighted(&sums->scores, table->weight[i], table->score[i]);
}

static pc_cumulative_point cumulated_point(const pc_curve_table *table, size_t i,
                                           const cumulated_sums *sums, double total) {
  return (pc_cumulative_point){table->score[i], pc_fixed_value(&sums->weight) / total,
                               pc_fixed_value(&sums->scores) / total,
                               pc_fixed_value(&sums->outcomes) / total};
}

/* What is kept of a stretch, in order of position. */
typedef struct cumulated_stretch {
  size_t most, least, last; /* entries */
  double high, low;         /* scores less outcomes there */
  pc_cumulative_point most_point, least_point, last_point;
} cumulated_stretch;

static void cumulated_keep(cumulated_stretch *stretch, size_t i, int fresh,
                           const pc_cumulative_point *point) {
  const double gap = point->scores - point->outcomes;
  if (fresh || gap > stretch->high) {
    stretch->most = i;
    stretch->high = gap;
    stretch->most_point = *point;
  }
  if (fresh || gap < stretch->low) {
    stretch->least = i;
    stretch->low = gap;
    stretch->least_point = *point;
  }
  stretch->last = i;
  stretch->last_point = *point;
}

static size_t cumulated_write(const cumulated_stretch *stretch, pc_cumulative_point *out) {
  const int most_first = stretch->most < stretch->least;
  const size_t first = most_first ? stretch->most : stretch->least;
  const size_t second = most_first ? stretch->least : stretch->most;
  size_t count = 0;
  out[count++] = most_first ? stretch->most_point : stretch->least_point;
  if (second != first)
    out[count++] = most_first ? stretch->least_point : stretch->most_point;
  if (stretch->last != second)
    out[count++] = stretch->last_point;
  return count;
}

/* The stretch of rows in which a fraction of a part's rows ends. */
static size_t cumulated_place(double reached, double rows, size_t stretches) {
  const double place = reached / rows * (double)stretches;
  return place >= (double)stretches ? stretches - 1 : (size_t)place;
}

static size_t cumulated_thin(const pc_curve_table *table, double total, size_t stretches,
                             pc_cumulative_point *out) {
  cumulated_sums sums = {{0}, {0}, {0}};
  cumulated_stretch stretch = {0};
  size_t count = 0, current = SIZE_MAX;
  for (size_t i = 0; i < table->count; i++) {
    cumulated_add(table, i, &sums);
    const pc_cumulative_point point = cumulated_point(table, i, &sums, total);
    const size_t place = cumulated_place(pc_fixed_value(&sums.weight), table->total, stretches);
    if (place != current && current != SIZE_MAX)
      count += cumulated_write(&stretch, out + count);
    cumulated_keep(&stretch, i, place != current, &point);
    current = place;
  }
  return count + cumulated_write(&stretch, out + count);
}

size_t pc_cumulative_points(const pc_curve_table *table, double total, size_t stretches,
                            pc_cumulative_point *out) {
  cumulated_sums sums = {{0}, {0}, {0}};
  if (table->count > 3 * stretches)
    return cumulated_thin(table, total, stretches, out);
  for (size_t i = 0; i < table->count; i++) {
    cumulated_add(table, i, &sums);
    out[i] = cumulated_point(table, i, &sums, total);
  }
  return table->count;
}
