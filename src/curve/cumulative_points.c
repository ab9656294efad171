#include "curve/cumulative_points.h"

size_t pc_cumulative_points_max(const pc_curve_table *table, size_t stretches) {
  return table->count <= 3 * stretches ? table->count : 3 * stretches;
}

/* Sums over the entries so far. */
typedef struct cumulative_sums {
  pc_fixed weight, scores, outcomes;
} cumulative_sums;

static void cumulative_add(const pc_curve_table *table, size_t i, cumulative_sums *sums) {
  pc_fixed_add_weighted(&sums->weight, table->weight[i], 1.0);
  pc_fixed_add_weighted(&sums->outcomes, table->hits[i], 1.0);
  pc_fixed_add_weighted(&sums->scores, table->weight[i], table->score[i]);
}

static pc_cumulative_point cumulative_point(const pc_curve_table *table, size_t i,
                                            const cumulative_sums *sums, double total) {
  return (pc_cumulative_point){table->score[i], pc_fixed_value(&sums->weight) / total,
                               pc_fixed_value(&sums->scores) / total,
                               pc_fixed_value(&sums->outcomes) / total};
}

/* The three points of a stretch. */
typedef struct cumulative_stretch {
  size_t most, least, last; /* entries */
  double high, low;         /* scores minus outcomes there */
  pc_cumulative_point most_point, least_point, last_point;
} cumulative_stretch;

static void cumulative_keep(cumulative_stretch *stretch, size_t i, int fresh,
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

static size_t cumulative_write(const cumulative_stretch *stretch, pc_cumulative_point *out) {
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

/* The stretch that holds row number `reached` of `rows`. */
static size_t cumulative_place(double reached, double rows, size_t stretches) {
  const double place = reached / rows * (double)stretches;
  return place >= (double)stretches ? stretches - 1 : (size_t)place;
}

static size_t cumulative_thin(const pc_curve_table *table, double total, size_t stretches,
                              pc_cumulative_point *out) {
  cumulative_sums sums = {{0}, {0}, {0}};
  cumulative_stretch stretch = {0};
  size_t count = 0, current = SIZE_MAX;
  for (size_t i = 0; i < table->count; i++) {
    cumulative_add(table, i, &sums);
    const pc_cumulative_point point = cumulative_point(table, i, &sums, total);
    const size_t place =
        cumulative_place(pc_fixed_value(&sums.weight), table->total, stretches);
    if (place != current && current != SIZE_MAX)
      count += cumulative_write(&stretch, out + count);
    cumulative_keep(&stretch, i, place != current, &point);
    current = place;
  }
  return count + cumulative_write(&stretch, out + count);
}

size_t pc_cumulative_points(const pc_curve_table *table, double total, size_t stretches,
                            pc_cumulative_point *out) {
  cumulative_sums sums = {{0}, {0}, {0}};
  if (table->count > 3 * stretches)
    return cumulative_thin(table, total, stretches, out);
  for (size_t i = 0; i < table->count; i++) {
    cumulative_add(table, i, &sums);
    out[i] = cumulative_point(table, i, &sums, total);
  }
  return table->count;
}
