#include "curve/curve_bins.h"

#include "../unit.h"
#include "base/rng.h"

#define MASS_ROWS 300
#define MASS_BINS 40

typedef struct mass_row {
  double score;
  int hit;
} mass_row;

static int mass_compare(const void *a, const void *b) {
  const double left = ((const mass_row *)a)->score, right = ((const mass_row *)b)->score;
  return left < right ? -1 : left > right;
}

/* numpy.array_split of sorted rows, midpoints between neighbouring parts, 1 at the end, each
 * edge once; a row goes to the first edge not below it.  Parts without rows have no edge. */
static size_t mass_direct(const mass_row *sorted, size_t rows, size_t bins, pc_bin *out) {
  const size_t quotient = rows / bins, rest = rows % bins;
  double edges[MASS_BINS];
  size_t count = 0, end = 0;
  for (size_t part = 0; part + 1 < bins; part++) {
    end += part < rest ? quotient + 1 : quotient;
    if (end == 0 || end == rows)
      continue;
    const double edge = (sorted[end - 1].score + sorted[end].score) / 2;
    if (edge != 1.0 && (count == 0 || edges[count - 1] != edge))
      edges[count++] = edge;
  }
  edges[count++] = 1.0;
  memset(out, 0, count * sizeof *out);
  for (size_t b = 0; b < count; b++) {
    out[b].low = b == 0 ? 0 : edges[b - 1];
    out[b].high = edges[b];
  }
  for (size_t i = 0; i < rows; i++) {
    size_t b = 0;
    while (edges[b] < sorted[i].score)
      b++;
    out[b].weight += 1;
    out[b].hits += sorted[i].hit;
    out[b].score += sorted[i].score;
    out[b].score_square += sorted[i].score * sorted[i].score;
    out[b].score_hit += sorted[i].score * sorted[i].hit;
  }
  return count;
}

/* Builds a table from sorted rows; by_weight: equal rows become one entry whose weight is their
 * number. */
static pc_curve_table mass_table(const mass_row *rows, size_t count, int by_weight) {
  static double score[2][MASS_ROWS], weight[2][MASS_ROWS];
  size_t used[2] = {0, 0};
  for (size_t i = 0; i < count; i++) {
    const int h = rows[i].hit;
    if (by_weight && used[h] > 0 && score[h][used[h] - 1] == rows[i].score) {
      weight[h][used[h] - 1] += 1;
      continue;
    }
    score[h][used[h]] = rows[i].score;
    weight[h][used[h]++] = 1;
  }
  const pc_outcome_column misses = {score[0], by_weight ? weight[0] : NULL, used[0]};
  const pc_outcome_column hits = {score[1], by_weight ? weight[1] : NULL, used[1]};
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table;
  assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &table, NULL), PCAL_OK);
  return table;
}

static void assert_same_bins(const pc_bin *bins, const pc_bin *expected, size_t count) {
  for (size_t b = 0; b < count; b++) {
    assert_same(bins[b].low, expected[b].low);
    assert_same(bins[b].high, expected[b].high);
    assert_same(bins[b].weight, expected[b].weight);
    assert_same(bins[b].hits, expected[b].hits);
    assert_near(bins[b].score, expected[b].score, 1e-13);
    assert_near(bins[b].score_square, expected[b].score_square, 1e-13);
    assert_near(bins[b].score_hit, expected[b].score_hit, 1e-13);
  }
}

static void mass_check(mass_row *rows, size_t count, size_t bins) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_bin expected[MASS_BINS], found[2][MASS_BINS];
  qsort(rows, count, sizeof *rows, mass_compare);
  const size_t expected_count = mass_direct(rows, count, bins, expected);
  for (int by_weight = 0; by_weight <= 1; by_weight++) {
    pc_curve_table table = mass_table(rows, count, by_weight);
    const size_t found_count = pc_bins_by_mass(&table, bins, found[by_weight]);
    double edges[MASS_BINS];
    assert_int_equal(pc_bins_by_mass_edges(&table, bins, edges), found_count);
    for (size_t b = 0; b < found_count; b++)
      assert_true(edges[b] == found[by_weight][b].high);
    assert_int_equal(found_count, expected_count);
    assert_same_bins(found[by_weight], expected, found_count);
    pc_curve_table_free(&env, &table);
  }
  assert_memory_equal(found[0], found[1], expected_count * sizeof(pc_bin));
}

/* grid 0: all scores differ; else multiples of 1/grid, 0 and 1 included. */
static void mass_random(mass_row *rows, size_t count, uint64_t grid, uint64_t seed) {
  const pc_rng rng = {seed, 8};
  for (size_t i = 0; i < count; i++) {
    rows[i].score = grid == 0 ? pc_rng_uniform(&rng, 2 * i)
                              : (double)(pc_rng_bits(&rng, 2 * i) % (grid + 1)) / (double)grid;
    rows[i].hit = pc_rng_uniform(&rng, 2 * i + 1) < rows[i].score;
  }
}

TEST(equal_mass_agrees_with_array_split) {
  static const size_t counts[] = {1, 2, 3, 10, 16, 29, 31, 100, MASS_ROWS};
  static const size_t bins[] = {1, 2, 3, 7, 15, 30, MASS_BINS};
  static const uint64_t grids[] = {0, 1, 3, 10, 64, 1000};
  mass_row rows[MASS_ROWS];
  for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
    for (size_t g = 0; g < UNIT_COUNT(grids); g++) {
      for (size_t b = 0; b < UNIT_COUNT(bins); b++) {
        mass_random(rows, counts[c], grids[g], c * 100 + g * 10 + b);
        mass_check(rows, counts[c], bins[b]);
      }
    }
  }
}

TEST(equal_mass_by_hand) {
  mass_row rows[] = {{0.1, 0}, {0.2, 0}, {0.3, 1}, {0.5, 0}, {0.5, 1}, {0.5, 1}, {0.9, 1}};
  pc_bin bins[3];
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table = mass_table(rows, 7, 0);
  assert_int_equal(pc_bins_by_mass(&table, 3, bins), 3);
  assert_same(bins[0].high, (0.3 + 0.5) / 2);
  assert_same(bins[0].weight, 3);
  assert_same(bins[1].low, (0.3 + 0.5) / 2);
  assert_same(bins[1].high, 0.5);
  assert_same(bins[1].weight, 3);
  assert_same(bins[1].hits, 2);
  assert_same(bins[2].low, 0.5);
  assert_same(bins[2].high, 1.0);
  assert_same(bins[2].weight, 1);
  pc_curve_table_free(&env, &table);
}

/* Total weight 2.5 in five bins: only the cumulative weights 1 and 2 are edges, so three bins
 * remain. */
TEST(equal_mass_takes_fractional_weights) {
  const pcal_env env = pc_env_resolve(NULL);
  static const double score[] = {0.2, 0.4, 0.6}, weight[] = {1, 1, 0.5};
  const pc_outcome_column misses = {score, weight, 3}, none = {NULL, NULL, 0};
  pc_curve_table table;
  pc_bin bins[5];
  assert_int_equal(pc_curve_table_new(&env, &misses, &none, &table, NULL), PCAL_OK);
  assert_int_equal(pc_bins_by_mass(&table, 5, bins), 3);
  assert_same(bins[0].high, (0.2 + 0.4) / 2);
  assert_same(bins[1].high, (0.4 + 0.6) / 2);
  assert_same(bins[2].high, 1);
  assert_same(bins[2].weight, 0.5);
  assert_near(bins[2].score, 0.3, 1e-15);
  pc_curve_table_free(&env, &table);
}

TEST(equal_mass_of_nothing_is_one_empty_bin) {
  const pc_curve_table table = {0};
  pc_bin bins[4];
  assert_int_equal(pc_bins_by_mass(&table, 4, bins), 1);
  assert_same(bins[0].low, 0);
  assert_same(bins[0].high, 1);
  assert_same(bins[0].weight, 0);
}
