#include "table_help.h"

#define ADAPTIVE_BINS 64

/* As the published code goes about it: numpy's linspace, round, sort and digitize. */
static void adaptive_direct(const table_row *rows, size_t count, double threshold, size_t bins,
                            pc_bin *out) {
  size_t first = 0;
  while (threshold > 0 && first < count && !(rows[first].score > threshold))
    first++;
  const size_t kept = count - first;
  double edges[ADAPTIVE_BINS];
  const double step = (double)kept / (double)bins;
  memset(out, 0, bins * sizeof *out);
  for (size_t r = 1; r < bins && kept > 0; r++) {
    const double place = nearbyint((double)r * step); /* halves to even by default */
    const size_t index =
        fmin(place, (double)kept - 1) < 0 ? 0 : (size_t)fmin(place, (double)kept - 1);
    edges[r - 1] = rows[first + index].score;
  }
  for (size_t i = first; i < count; i++) {
    size_t b = 0;
    while (b + 1 < bins && edges[b] <= rows[i].score)
      b++;
    out[b].weight += 1;
    out[b].hits += rows[i].hit;
    out[b].score += rows[i].score;
  }
}

static void adaptive_compare(const pc_curve_table *table, double threshold, size_t bins) {
  pc_bin found[ADAPTIVE_BINS], expected[ADAPTIVE_BINS];
  size_t count;
  table_row *rows = table_write_out(table, &count);
  pc_bins_adaptive(table, threshold, bins, found);
  adaptive_direct(rows, count, threshold, bins, expected);
  for (size_t b = 0; b < bins; b++) {
    assert_same(found[b].weight, expected[b].weight);
    assert_same(found[b].hits, expected[b].hits);
    assert_true(fabs(found[b].score - expected[b].score) <= 1e-9);
    assert_true(isnan(found[b].score_square) && isnan(found[b].score_hit));
    if (b > 0)
      assert_same(found[b].low, found[b - 1].high);
  }
  free(rows);
}

TEST(test_as_the_published_code) {
  static table_rows rows;
  static const size_t counts[] = {1, 2, 7, 100, 985, 1000};
  static const size_t bins[] = {1, 2, 10, 15, 30, ADAPTIVE_BINS};
  static const double thresholds[] = {0, 0.01, 0.3, 1};
  for (size_t k = 0; k < UNIT_COUNT(table_kinds); k++)
    for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
      table_draw(table_kinds[k], counts[c], c, &rows);
      for (int weighted = 0; weighted < 2; weighted++) {
        pc_curve_table table = table_make(&rows, weighted);
        for (size_t b = 0; b < UNIT_COUNT(bins); b++)
          for (size_t t = 0; t < UNIT_COUNT(thresholds); t++)
            adaptive_compare(&table, thresholds[t], bins[b]);
        table_free(&table);
      }
    }
}

/* Ten rows in four bins: 2.5, 5 and 7.5 round to 2, 5 and 8. */
TEST(test_halves_go_to_even) {
  static table_rows rows;
  for (size_t i = 0; i < 10; i++)
    rows.score[0][i] = (double)i / 16;
  rows.count[0] = 10;
  rows.count[1] = 0;
  pc_curve_table table = table_make(&rows, 0);
  pc_bin found[4];
  pc_bins_adaptive(&table, 0, 4, found);
  static const double weights[] = {2, 3, 3, 2}, highs[] = {2.0 / 16, 5.0 / 16, 0.5, 1};
  for (size_t b = 0; b < 4; b++) {
    assert_same(found[b].weight, weights[b]);
    assert_same(found[b].high, highs[b]);
  }
  table_free(&table);
}

TEST(test_fractions_of_rows) {
  static table_rows rows;
  rows.score[0][0] = 0.25;
  rows.weight[0][0] = 0.5;
  rows.score[1][0] = 0.75;
  rows.weight[1][0] = 1.75;
  rows.count[0] = rows.count[1] = 1;
  pc_curve_table table = table_make(&rows, 1);
  pc_bin found[2];
  pc_bins_adaptive(&table, 0, 2, found);
  assert_same(found[0].weight, 0.5); /* round(2.25 / 2) = 1 lies in the second score */
  assert_same(found[1].weight, 1.75);
  assert_same(found[1].hits, 1.75);
  assert_same(found[1].score, 0.75 * 1.75);
  table_free(&table);
}

/* ---- ranges of equal weight ---- */

/* numpy.array_split of the sorted rows, for scores without ties. */
TEST(test_even_ranges_are_array_split) {
  static table_rows rows;
  pc_bin found[ADAPTIVE_BINS];
  for (size_t n = 1; n < 200; n += 9)
    for (size_t bins = 1; bins <= ADAPTIVE_BINS; bins += 7) {
      table_draw(table_uniform, n, n, &rows);
      pc_curve_table table = table_make(&rows, 0);
      size_t count, begin = 0;
      table_row *sorted = table_write_out(&table, &count);
      pc_bins_split_ties(&table, bins, found);
      for (size_t b = 0; b < bins; b++) {
        const size_t size = n / bins + (b < n % bins);
        double hits = 0, score = 0;
        for (size_t i = begin; i < begin + size; i++) {
          hits += sorted[i].hit;
          score += sorted[i].score;
        }
        begin += size;
        assert_same(found[b].weight, (double)size);
        assert_same(found[b].hits, hits);
        assert_near(found[b].score, score, 1e-13);
      }
      free(sorted);
      table_free(&table);
    }
}

/* Four rows of 0.5, one of them a hit, and two of 0.75, both hits, in three ranges. */
TEST(test_ties_are_shared) {
  static table_rows rows;
  pc_bin found[3];
  rows.count[0] = 3;
  rows.count[1] = 3;
  for (size_t i = 0; i < 3; i++) {
    rows.score[0][i] = 0.5;
    rows.score[1][i] = i == 0 ? 0.5 : 0.75;
  }
  pc_curve_table table = table_make(&rows, 0);
  pc_bins_split_ties(&table, 3, found);
  assert_same(found[0].hits, 0.5);
  assert_same(found[1].hits, 0.5);
  assert_same(found[2].hits, 2);
  assert_same(found[0].score, 1);
  assert_same(found[2].score, 1.5);
  table_free(&table);
}
