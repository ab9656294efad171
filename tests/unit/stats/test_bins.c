#include "stats/bins.h"

#include "../unit.h"
#include "base/rng.h"

static const pc_edge_rule rules[] = {PC_EDGES_RIGHT,   PC_EDGES_LEFT,     PC_EDGES_GUO,
                                     PC_EDGES_OWN_ONE, PC_EDGES_NETCAL,   PC_EDGES_KULL,
                                     PC_EDGES_TORCH,   PC_EDGES_TORCH_F64};

static pc_partition partition(pc_edge_rule rule, size_t bins) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_partition out;
  assert_int_equal(pc_partition_new(&env, rule, bins, &out, NULL), PCAL_OK);
  return out;
}

static void partition_free(pc_partition *cells) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_partition_free(&env, cells);
}

/* ---- Each rule as its package words it ---- */

static double numpy_linspace(size_t i, size_t bins) {
  return i == bins ? 1.0 : (double)i * (1.0 / (double)bins);
}

/* Elements of numpy.arange(h, 1 + h, h): start + i * ((start + step) - start). */
static double numpy_arange(size_t i, size_t bins) {
  const double h = 1.0 / (double)bins;
  return h + (double)i * ((h + h) - h);
}

/* torch.linspace in long double, rounded once for each operation of its kernel. */
static double torch_linspace(int floats, size_t i, size_t bins) {
  if (i == bins)
    return 1.0;
  if (floats) {
    const float step = 1.0f / (float)bins;
    const double exact = (double)step * (double)(i < (bins + 1) / 2 ? i : bins - i);
    return (double)(float)(i < (bins + 1) / 2 ? exact : 1.0 - exact);
  }
  const double step = 1.0 / (double)bins;
  return i < (bins + 1) / 2 ? step * (double)i : fma(-step, (double)(bins - i), 1.0);
}

static int rule_owns_one(pc_edge_rule rule) {
  return rule == PC_EDGES_OWN_ONE || rule == PC_EDGES_TORCH || rule == PC_EDGES_TORCH_F64;
}

static size_t rule_bin_count(pc_edge_rule rule, size_t bins) {
  const double h = 1.0 / (double)bins;
  if (rule == PC_EDGES_KULL)
    return (size_t)ceil(((1.0 + h) - h) / h);
  return rule_owns_one(rule) ? bins + 1 : bins;
}

static void rule_edges(pc_edge_rule rule, size_t bins, size_t b, double *low, double *high) {
  if (rule == PC_EDGES_KULL) {
    *high = numpy_arange(b, bins);
    *low = *high - 1.0 / (double)bins;
  } else if (rule == PC_EDGES_RIGHT || rule == PC_EDGES_LEFT) {
    *low = (double)b / (double)bins;
    *high = (double)(b + 1) / (double)bins;
  } else if (rule == PC_EDGES_GUO || rule == PC_EDGES_TORCH || rule == PC_EDGES_TORCH_F64) {
    *low = torch_linspace(rule != PC_EDGES_TORCH_F64, b < bins ? b : bins, bins);
    *high = torch_linspace(rule != PC_EDGES_TORCH_F64, b < bins ? b + 1 : bins, bins);
  } else {
    *low = b == bins ? 1.0 : numpy_linspace(b, bins);
    *high = b == bins ? 1.0 : numpy_linspace(b + 1, bins);
  }
}

static int rule_holds(pc_edge_rule rule, size_t bins, size_t b, double score) {
  double low, high;
  rule_edges(rule, bins, b, &low, &high);
  switch (rule) {
  case PC_EDGES_RIGHT:
    return (score > low && score <= high) || (b == 0 && score == 0);
  case PC_EDGES_GUO:
    score = (double)(float)score;
    return score > low && score <= high;
  case PC_EDGES_KULL:
    return (low == 0 ? score >= low : score > low) && score <= high;
  case PC_EDGES_TORCH:
    score = (double)(float)score;
    return b == bins ? score == 1.0 : score >= low && score < high;
  case PC_EDGES_TORCH_F64:
  case PC_EDGES_OWN_ONE:
    return b == bins ? score == 1.0 : score >= low && score < high;
  case PC_EDGES_LEFT:
  case PC_EDGES_NETCAL:
    break;
  }
  return score >= low && (b + 1 == bins ? score <= high : score < high);
}

static int in_bin(const pc_partition *cells, size_t b, double score) {
  const size_t cell = pc_partition_find(cells, score);
  return cell >= cells->runs[b].first && cell <= cells->runs[b].last;
}

/* All bins, or those near the score when there are very many. */
static void check_score(const pc_partition *cells, pc_edge_rule rule, size_t bins,
                        double score) {
  const size_t near = (size_t)(score * (double)bins), reach = bins <= 200 ? bins : 3;
  const size_t begin = near > reach ? near - reach : 0;
  for (size_t b = begin; b < cells->bin_count && b <= near + reach; b++) {
    if (in_bin(cells, b, score) != rule_holds(rule, bins, b, score)) {
      char shown[PC_NUMBER_MAX];
      fail_msg("rule %d, %zu bins: bin %zu and score %s", (int)rule, bins, b,
               pc_show(score, shown));
    }
  }
}

static void check_partition(pc_edge_rule rule, size_t bins) {
  pc_partition cells = partition(rule, bins);
  assert_int_equal(cells.bin_count, rule_bin_count(rule, bins));
  for (size_t i = 1; i < cells.cut_count; i++)
    assert_true(cells.cuts[i] > cells.cuts[i - 1]);
  for (size_t b = 0; b < cells.bin_count; b++) {
    double low, high;
    rule_edges(rule, bins, b, &low, &high);
    assert_same(cells.runs[b].low, low);
    assert_same(cells.runs[b].high, high);
    const float narrow = (float)high;
    const double around[] = {low,
                             high,
                             nextafter(high, 0),
                             fmin(nextafter(high, 2), 1),
                             (low + high) / 2,
                             (double)narrow,
                             (double)nextafterf(narrow, 0.0f),
                             ((double)narrow + (double)nextafterf(narrow, 0.0f)) / 2,
                             (double)nextafterf(narrow, 2.0f)};
    for (size_t i = 0; i < UNIT_COUNT(around); i++)
      check_score(&cells, rule, bins, fmin(around[i], 1));
  }
  check_score(&cells, rule, bins, 0.0);
  check_score(&cells, rule, bins, 5e-324);
  check_score(&cells, rule, bins, nextafter(1, 0));
  check_score(&cells, rule, bins, 1.0);
  partition_free(&cells);
}

TEST(scores_on_edges_go_where_each_rule_says) {
  static const size_t counts[] = {1,  2,  3,  5,  6,  7,   10,  14,  15,   20,
                                  24, 28, 29, 30, 49, 100, 128, 200, 1000, PC_BINS_MAX};
  for (size_t r = 0; r < UNIT_COUNT(rules); r++) {
    for (size_t c = 0; c < UNIT_COUNT(counts); c++)
      check_partition(rules[r], counts[c]);
  }
}

/* Rows may be off [0, 1] by rounding; they stay in the outer cells. */
TEST(scores_just_outside_are_found) {
  for (size_t r = 0; r < UNIT_COUNT(rules); r++) {
    pc_partition cells = partition(rules[r], 10);
    assert_int_equal(pc_partition_find(&cells, -1e-5), 0);
    assert_int_equal(pc_partition_find(&cells, 1 + 1e-5), cells.cut_count);
    assert_int_equal(pc_partition_find(&cells, -0.0), pc_partition_find(&cells, 0.0));
    partition_free(&cells);
  }
}

/* linspace(0, 1, 101) and i/100 differ in the last bit at 10 edges, those of 15 bins nowhere.
 */
TEST(division_and_linspace_differ_where_published) {
  static const size_t counts[] = {15, 100}, differ[] = {0, 10};
  for (size_t c = 0; c < 2; c++) {
    pc_partition divided = partition(PC_EDGES_LEFT, counts[c]);
    pc_partition spaced = partition(PC_EDGES_NETCAL, counts[c]);
    size_t differences = 0;
    for (size_t b = 0; b < counts[c]; b++)
      differences += divided.runs[b].high != spaced.runs[b].high;
    assert_int_equal(differences, differ[c]);
    partition_free(&divided);
    partition_free(&spaced);
  }
}

/* numpy's arange ends below 1 for these numbers of bins, so that a score of 1 is in none. */
TEST(arange_loses_the_score_one) {
  static const size_t bad[] = {6, 14, 24, 28, 29, 38, 54, 68, 70, 72, 78, 79, 84, 94, 96, 98};
  for (size_t bins = 1, next = 0; bins <= 100; bins++) {
    const int is_bad = next < UNIT_COUNT(bad) && bad[next] == bins;
    next += (size_t)is_bad;
    pc_partition cells = partition(PC_EDGES_KULL, bins);
    assert_int_equal(cells.bin_count, bins == 49 ? 50 : bins);
    assert_int_equal(cells.runs[cells.bin_count - 1].high < 1.0, is_bad);
    size_t holding = 0;
    for (size_t b = 0; b < cells.bin_count; b++)
      holding += (size_t)in_bin(&cells, b, 1.0);
    assert_int_equal(holding == 0, is_bad);
    partition_free(&cells);
  }
}

/* ---- From rows to errors ---- */

typedef struct bin_rows {
  const double *score, *hit;
  size_t count;
} bin_rows;

static double width_error(pc_edge_rule rule, size_t bins, bin_rows rows, pc_norm norm) {
  pc_partition cells = partition(rule, bins);
  pc_bin *filled = calloc(cells.bin_count, sizeof *filled);
  assert_non_null(filled);
  for (size_t i = 0; i < rows.count; i++) {
    for (size_t b = 0; b < cells.bin_count; b++) {
      if (!in_bin(&cells, b, rows.score[i]))
        continue;
      filled[b].weight += 1;
      filled[b].hits += rows.hit[i];
      filled[b].score += rows.score[i];
    }
  }
  const double error = pc_bins_error(filled, cells.bin_count, (double)rows.count, norm, 0);
  free(filled);
  partition_free(&cells);
  return error;
}

/* The scores 0, 0.1, ..., 1 with outcomes 1, 0, 1, ..., 1. */
TEST(eleven_scores_give_the_published_errors) {
  static const struct {
    pc_edge_rule rule;
    double ten;
  } expected[] = {{PC_EDGES_GUO, 0.40909090909090906},
                  {PC_EDGES_RIGHT, 0.48181818181818187},
                  {PC_EDGES_KULL, 0.4818181818181818},
                  {PC_EDGES_OWN_ONE, 0.3727272727272727},
                  {PC_EDGES_NETCAL, 0.3727272727272728},
                  {PC_EDGES_LEFT, 5.5 / 11},
                  {PC_EDGES_TORCH, 0.5},
                  {PC_EDGES_TORCH_F64, 0.44545454545454544}};
  double score[11], hit[11];
  for (int i = 0; i < 11; i++) {
    score[i] = i / 10.0;
    hit[i] = i % 2 == 0;
  }
  const bin_rows rows = {score, hit, 11};
  for (size_t r = 0; r < UNIT_COUNT(expected); r++)
    assert_near(width_error(expected[r].rule, 10, rows, PC_NORM_L1), expected[r].ten, 1e-12);
  assert_near(width_error(PC_EDGES_KULL, 6, rows, PC_NORM_L1), 3.3 / 11, 1e-12);
  assert_near(width_error(PC_EDGES_KULL, 49, rows, PC_NORM_L1), 0.5, 1e-12);
  assert_near(width_error(PC_EDGES_RIGHT, 10, rows, PC_NORM_MAX), 0.9, 1e-12);
  assert_near(width_error(PC_EDGES_LEFT, 10, rows, PC_NORM_MAX), 1, 1e-12);
}

/* Nixon et al. 2019, Figure 4: errors cancel inside a bin. */
TEST(errors_of_one_bin_cancel) {
  static double score[1000], hit[1000];
  for (int i = 0; i < 1000; i++) {
    score[i] = i < 450 ? 0.52 : 0.58;
    hit[i] = i >= 450;
  }
  const bin_rows rows = {score, hit, 1000};
  assert_near(width_error(PC_EDGES_RIGHT, 10, rows, PC_NORM_L1), 0.003, 1e-10);
  assert_near(width_error(PC_EDGES_RIGHT, 15, rows, PC_NORM_L1), 0.465, 1e-12);
}

static const pc_bin some_bins[] = {{.weight = 4, .hits = 1, .score = 3},
                                   {.weight = 0},
                                   {.weight = 1, .hits = 1, .score = 0.25},
                                   {.weight = 5, .hits = 2, .score = 2.5}};

TEST(errors_follow_their_formulas) {
  assert_same(pc_bin_confidence(&some_bins[0]), 0.75);
  assert_same(pc_bin_frequency(&some_bins[0]), 0.25);
  assert_near(pc_bins_error(some_bins, 4, 10, PC_NORM_L1, 0), 0.2 + 0.075 + 0.05, 1e-15);
  assert_near(pc_bins_error(some_bins, 4, 10, PC_NORM_L2, 0),
              sqrt(0.4 * 0.25 + 0.1 * 0.5625 + 0.5 * 0.01), 1e-15);
  assert_near(pc_bins_error(some_bins, 4, 10, PC_NORM_MAX, 0), 0.75, 1e-15);
  assert_near(pc_bins_error(some_bins, 4, 20, PC_NORM_L1, 0), 0.1625, 1e-15);
}

TEST(debiasing_follows_its_formula) {
  const double first = 0.4 * (0.25 - 0.25 * 0.75 / 3), last = 0.5 * (0.01 - 0.4 * 0.6 / 4);
  assert_near(pc_bins_error(some_bins, 4, 10, PC_NORM_L2, 1), sqrt(first + last), 1e-15);
  assert_same(pc_bins_error(some_bins + 2, 1, 10, PC_NORM_L2, 1), 0.0);
  assert_same(pc_bins_error(some_bins + 3, 1, 10, PC_NORM_L2, 1), 0.0);
}

/* Three rows without a miss are no proof that there is none: their rate counts as 3.5 / 4. */
TEST(noise_does_not_vanish_without_misses) {
  const pc_bin bins[] = {{.weight = 3, .hits = 3, .score = 2.4, .score_square = (double)NAN},
                         {.weight = 1, .hits = 0, .score = 0.5}};
  const double s = 0.875 * 0.125, share = 0.75;
  const double noise = share * share * 2 * s * s / 6;
  assert_near(pc_bins_debiased(bins, 2, 4).noise, noise, 1e-15);
  assert_near(pc_bins_debiased(bins, 2, 4).square, share * 0.04, 1e-15);
  assert_near(pc_bins_sharpness(bins, 2, 4).noise, noise, 1e-15);
  assert_near(pc_bins_sharpness(bins, 2, 4).square, share * 0.0625 + 0.75 * 0.25 / 3, 1e-15);
}

TEST(empty_bins_add_nothing) {
  const pc_bin empty[] = {{.weight = 0}, {.weight = 0}};
  assert_same(pc_bins_error(empty, 2, 10, PC_NORM_L1, 0), 0.0);
  assert_same(pc_bins_error(empty, 2, 10, PC_NORM_L2, 0), 0.0);
  assert_same(pc_bins_error(empty, 2, 10, PC_NORM_L2, 1), 0.0);
  assert_same(pc_bins_error(empty, 2, 10, PC_NORM_MAX, 0), 0.0);
  assert_same(pc_bins_error(NULL, 0, 10, PC_NORM_L1, 0), 0.0);
}

static pcal_status bins_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_partition cells;
  PC_TRY(pc_partition_new(env, *(pc_edge_rule *)user, 15, &cells, err));
  pc_partition_free(env, &cells);
  return PCAL_OK;
}

TEST(survives_every_failed_allocation) {
  for (size_t r = 0; r < UNIT_COUNT(rules); r++) {
    pc_edge_rule rule = rules[r];
    unit_fail_each_allocation(bins_scenario, &rule);
  }
}
