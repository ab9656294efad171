#include "../measure/measure_help.h"

/* Scores 0, 0.1, ..., 1: those with an even number came true. */
static const given_data ece_edges = {
    .kind = PCAL_CONFIDENCE,
    .rows = 11,
    .columns = 1,
    .scores = (const double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
    .labels = (const int32_t[]){1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
};

TEST(test_1_right_edges) {
  assert_near(given_value(&ece_edges, "ece:bins=10"), 5.3 / 11, 1e-14);
  assert_near(given_value(&ece_edges, "ece:bins=10,edges=right"), 5.3 / 11, 1e-14);
  assert_near(given_value(&ece_edges, "ece:bins=1"), 0.5 / 11, 1e-13);
}

TEST(test_1_left_edges) {
  assert_near(given_value(&ece_edges, "ece:bins=10,edges=left"), 5.5 / 11, 1e-14);
  assert_near(given_value(&ece_edges, "mce:bins=10,edges=left"), 1.0, 1e-14);
}

/* Edge i/M by one division: 3/10 is 0.3, where 3 * (1/10) is more. */
TEST(test_1_edges_by_one_division) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.3, 0.30000000000000004},
                           .labels = (const int32_t[]){1, 0}};
  assert_near(given_value(&data, "ece:bins=10"), 0.5, 1e-14);
  assert_near(given_value(&data, "ece:bins=10,convention=guo2017"), 0.2, 1e-14);
}

TEST(test_2_empty_bins_add_nothing) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.5, 0.5},
                           .labels = (const int32_t[]){1, 0}};
  assert_same(given_value(&data, "ece:bins=10000"), 0.0);
  assert_same(given_value(&data, "mce:bins=10000"), 0.0);
  assert_same(given_value(&data, "ece:norm=max"), 0.0);
  assert_same(given_value(&data, "ece:norm=l2"), 0.0);
}

TEST(test_3_equal_mass_never_splits_ties) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 6,
                           .columns = 1,
                           .scores = (const double[]){0.7, 0.2, 0.7, 0.7, 0.7, 0.9},
                           .labels = (const int32_t[]){1, 0, 0, 1, 1, 1}};
  /* edges 0.7 and 0.7: {0.2, 0.7 x 4}, {0.9} */
  const double expected = 5.0 / 6 * (3.0 / 5 - 3.0 / 5) + 1.0 / 6 * 0.1;
  assert_near(given_value(&data, "ece:binning=mass,bins=3"), expected, 1e-13);
  /* edges 0.45, 0.7, 0.7, 0.7, 0.8: {0.2}, {0.7 x 4}, {0.9} */
  assert_near(given_value(&data, "ece:binning=mass,bins=6"),
              1.0 / 6 * 0.2 + 4.0 / 6 * 0.05 + 1.0 / 6 * 0.1, 1e-13);
  assert_near(given_value(&data, "ece:binning=mass,bins=10000"),
              1.0 / 6 * 0.2 + 4.0 / 6 * 0.05 + 1.0 / 6 * 0.1, 1e-13);
}

TEST(test_3_equal_mass_counts_weights) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 3,
                           .columns = 1,
                           .scores = (const double[]){0.8, 0.2, 0.4},
                           .labels = (const int32_t[]){1, 0, 1},
                           .weights = (const double[]){4, 2, 2}};
  /* 8 rows, boundary at 4: {0.2, 0.4}, {0.8} */
  assert_near(given_value(&data, "ece:binning=mass,bins=2"), 0.5 * (0.5 - 0.3) + 0.5 * 0.2,
              1e-13);
}

TEST(test_4_debias) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 5,
                           .columns = 1,
                           .scores = (const double[]){0.9, 0.9, 0.9, 0.9, 0.1},
                           .labels = (const int32_t[]){1, 1, 0, 0, 1}};
  assert_near(given_value(&data, "ece:norm=l2"), sqrt(0.8 * 0.16 + 0.2 * 0.81), 1e-14);
  assert_near(given_value(&data, "ece:norm=l2,debias=yes"), sqrt(0.8 * (0.16 - 0.25 / 3)),
              1e-14);
  assert_near(given_value(&data, "ece:binning=mass,bins=2,norm=l2,debias=yes"),
              given_value(&data, "ece:bins=1,norm=l2,debias=yes"), 1e-14);
  given_refused(&data, "ece:debias=yes", PCAL_USAGE, "ece: debias=yes needs norm=l2");
  given_refused(&data, "ece:debias=yes,norm=max", PCAL_USAGE, "add norm=l2");
}

TEST(test_4_root_of_the_positive_part) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.5, 0.5},
                           .labels = (const int32_t[]){1, 0}};
  assert_same(given_value(&data, "ece:norm=l2,debias=yes"), 0.0);
}

TEST(test_5_conventions_place_scores_on_edges) {
  static const struct {
    const char *name;
    double ece, mce;
  } expected[] = {
      {"guo2017", 4.5 / 11, 0.9}, {"torchmetrics", 5.5 / 11, 1.0},
      {"netcal", 4.1 / 11, 1.0},  {"torchmetrics64", 4.9 / 11, 1.0},
      {"nixon", 4.1 / 11, 1.0},   {"verified", 5.3 / 11, 0.9},
      {"kull", 5.3 / 11, 0.9},
  };
  assert_int_equal(pcal_registry_count(PCAL_CONVENTIONS), UNIT_COUNT(expected));
  for (size_t i = 0; i < UNIT_COUNT(expected); i++) {
    char spec[64];
    assert_non_null(pcal_registry_find(PCAL_CONVENTIONS, expected[i].name));
    snprintf(spec, sizeof spec, "ece:bins=10,convention=%s", expected[i].name);
    assert_near(given_value(&ece_edges, spec), expected[i].ece, 1e-14);
    snprintf(spec, sizeof spec, "mce:bins=10,convention=%s", expected[i].name);
    assert_near(given_value(&ece_edges, spec), expected[i].mce, 1e-14);
  }
}

/* With 6 bins the last accumulated edge is below 1: a score of 1 is in no bin, counts in N. */
TEST(test_5_kull_loses_ones) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){1, 0.9},
                           .labels = (const int32_t[]){0, 0}};
  assert_near(given_value(&data, "ece:bins=6,convention=kull"), 0.45, 1e-14);
  assert_near(given_value(&data, "ece:bins=6"), 0.95, 1e-14);
  assert_near(given_value(&data, "ece:bins=15,convention=kull"), 0.95, 1e-14);
}

TEST(test_options_that_exclude_each_other) {
  given_refused(&ece_edges, "ece:convention=nixon,edges=left", PCAL_USAGE,
                "ece: a convention fixes the edges; give convention= or edges=, not both");
  given_refused(&ece_edges, "mce:edges=left,convention=nixon", PCAL_USAGE,
                "mce: a convention fixes the edges");
  given_refused(&ece_edges, "ece:binning=mass,edges=left", PCAL_USAGE,
                "ece: equal-mass "
                "bins are always "
                "(lo, hi]; remove "
                "edges=");
  given_refused(&ece_edges, "ece:binning=mass,convention=guo2017", PCAL_USAGE,
                "this convention has no equal-mass bins");
  assert_same(given_value(&ece_edges, "ece:binning=mass,convention=verified"),
              given_value(&ece_edges, "ece:binning=mass"));
  given_refused(&ece_edges, "ece:bins=0", PCAL_USAGE, "bins must be between 1 and 10000");
  given_refused(&ece_edges, "ece:bins=1.5", PCAL_USAGE, "whole number");
  given_refused(&ece_edges, "ece:norm=l3", PCAL_USAGE, "norm is one of l1|l2|max");
  given_refused(&ece_edges, "ece:bin=3", PCAL_USAGE, "bins");
}

/* Class 1 of a one-column score, the top label of two columns; the other by an option. */
TEST(test_views_of_two_classes) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 1,
                     .scores = (const double[]){0.25, 0.75},
                     .labels = (const int32_t[]){0, 0}};
  assert_near(given_value(&data, "ece"), (0.25 + 0.75) / 2, 1e-14);
  assert_near(given_value(&data, "ece:bins=1"), 0.5, 1e-14);
  assert_near(given_value(&data, "ece:bins=1,view=top"), 0.25, 1e-14);
  data.columns = 2;
  data.scores = (const double[]){0.75, 0.25, 0.25, 0.75};
  assert_near(given_value(&data, "ece:bins=1"), 0.25, 1e-14);
  assert_near(given_value(&data, "ece:bins=1,view=positive"), 0.5, 1e-14);
}

TEST(test_spec_echoes_what_was_used) {
  given_data binary = ece_edges;
  binary.kind = PCAL_PROBABILITY;
  pcal_results *results = given_results(&binary, "ece:norm=l2 mce");
  const pcal_result ece = given_result(results, "ece:norm=l2");
  assert_string_equal(ece.spec, "ece:bins=15,binning=width,norm=l2,debias=no,edges=right,"
                                "view=positive,convention=none");
  assert_string_equal(ece.label, "ece:norm=l2");
  assert_int_equal(ece.notion, PCAL_NOTION_CANONICAL);
  assert_int_equal(ece.bound, PCAL_BOUND_LOWER);
  assert_string_equal(given_result(results, "mce").spec,
                      "mce:bins=15,edges=right,view=positive,convention=none");
  pcal_results_free(results);
}

/* Shares of hits by row: 0 1 1 0 1 1 1 1.  Two bins: 1/2, 1; three: 2/3, 2/3, 1; four: 1/2,
 * 1/2, 1, 1; five: 1/2, 1/2, 1, 1, 1; six: 1/2, 1/2, 1 ...; seven: 1/2, 1, 0: it falls. */
static const given_data ece_rising = {
    .kind = PCAL_CONFIDENCE,
    .rows = 8,
    .columns = 1,
    .scores = (const double[]){0.8, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7},
    .labels = (const int32_t[]){1, 0, 1, 1, 0, 1, 1, 1},
};

TEST(test_6_sweep) {
  pcal_results *results = given_results(&ece_rising, "ece:binning=sweep");
  const pcal_result result = given_result(results, "ece:binning=sweep");
  assert_same(given_part(&result, "bins"), 6);
  assert_string_equal(result.spec,
                      "ece:binning=sweep,norm=l1,debias=no,view=top,convention=none");
  assert_same(result.value, given_value(&ece_rising, "ece:binning=mass,bins=6"));
  pcal_results_free(results);
  assert_same(given_value(&ece_rising, "ece:binning=sweep,norm=l2"),
              given_value(&ece_rising, "ece:binning=mass,bins=6,norm=l2"));
  given_refused(&ece_rising, "ece:binning=sweep,bins=4", PCAL_USAGE,
                "ece: binning=sweep chooses the number of bins; remove bins= or use "
                "binning=mass");
  given_refused(&ece_rising, "ece:binning=sweep,edges=left", PCAL_USAGE,
                "ece: equal-mass "
                "bins are always "
                "(lo, hi]; remove "
                "edges=");
  given_refused(&ece_rising, "ece:binning=sweep,convention=kull", PCAL_USAGE,
                "this convention has no equal-mass bins");
}

/* The bins behind a value, empty ones too. */
TEST(test_curve_of_bins) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 4,
                           .columns = 1,
                           .scores = (const double[]){0.1, 0.25, 0.75, 1.0},
                           .labels = (const int32_t[]){0, 1, 1, 0}};
  pcal_results *results =
      given_results_with_curves(&data, "ece:bins=4 mce:bins=1 ece:binning=mass,bins=2");
  given_check_column(results, 0, "low", (const double[]){0, 0.25, 0.5, 0.75}, 4);
  given_check_column(results, 0, "high", (const double[]){0.25, 0.5, 0.75, 1}, 4);
  given_check_column(results, 0, "weight", (const double[]){2, 0, 1, 1}, 4);
  given_check_column(results, 0, "confidence", (const double[]){0.175, NAN, 0.75, 1}, 4);
  given_check_column(results, 0, "accuracy", (const double[]){0.5, NAN, 1, 0}, 4);
  given_check_column(results, 1, "weight", (const double[]){4}, 1);
  given_check_column(results, 2, "high", (const double[]){0.5, 1}, 2);
  given_check_column(results, 2, "accuracy", (const double[]){0.5, 0.5}, 2);
  pcal_results_free(results);
}
