#include "class_rows.h"

static double tce_asked(const class_rows *from, const char *spec) {
  const given_data data = class_rows_given(from);
  return given_value(&data, spec);
}

/* Bins (lo, hi] of equal width over the scores of one class, or of the top class. */
static double tce_powers(const class_rows *from, size_t k, int top, size_t bins, double p,
                         int debias) {
  double total = 0;
  for (size_t b = 0; b < bins; b++) {
    const double low = (double)b / (double)bins, high = (double)(b + 1) / (double)bins;
    double n = 0, score = 0, hits = 0;
    for (size_t i = 0; i < from->rows; i++) {
      const size_t c = top ? class_rows_top(from, i) : k;
      const double here = from->probs[i * from->classes + c];
      if (!(here <= high && (here > low || b == 0)))
        continue;
      n += 1;
      score += here;
      hits += (size_t)from->labels[i] == c;
    }
    if (n < 1 + debias)
      continue;
    const double acc = hits / n;
    total += n / (double)from->rows *
             (pow(fabs(score / n - acc), p) - (debias ? acc * (1 - acc) / (n - 1) : 0));
  }
  return debias ? fmax(total, 0) : total;
}

TEST(test_orders) {
  static class_rows rows;
  static const double orders[] = {1, 1.5, 2, 3, 7.25, 50};
  for (uint64_t stream = 0; stream < 4; stream++) {
    class_rows_draw(stream, 400, 3 + stream, stream % 2 == 1, &rows);
    for (size_t o = 0; o < UNIT_COUNT(orders); o++) {
      const double p = orders[o];
      char spec[64];
      snprintf(spec, sizeof spec, "tce:p=%g,bins=12", p);
      assert_near(tce_asked(&rows, spec), pow(tce_powers(&rows, 0, 1, 12, p, 0), 1 / p), 1e-12);
      double sum = 0;
      for (size_t k = 0; k < rows.classes; k++)
        sum += tce_powers(&rows, k, 0, 12, p, 0);
      snprintf(spec, sizeof spec, "cwce:p=%g,bins=12", p);
      assert_near(tce_asked(&rows, spec), pow(sum, 1 / p), 1e-12);
      snprintf(spec, sizeof spec, "cwce:p=%g,bins=12,classes=mean", p);
      assert_near(tce_asked(&rows, spec), pow(sum / (double)rows.classes, 1 / p), 1e-12);
    }
  }
}

TEST(test_same_as_other_names) {
  static class_rows rows;
  class_rows_draw(9, 300, 4, 0, &rows);
  static const char *const same[][2] = {
      {"tce:p=1", "ece"},
      {"tce:p=2", "ece:norm=l2"},
      {"tce", "tce:p=2"},
      {"tce:binning=mass", "ece:binning=mass,norm=l2"},
      {"tce:debias=yes", "ece:norm=l2,debias=yes"},
      {"tce:binning=mass,debias=yes,bins=7", "ece:binning=mass,norm=l2,debias=yes,bins=7"},
  };
  for (size_t i = 0; i < UNIT_COUNT(same); i++)
    assert_near(tce_asked(&rows, same[i][0]), tce_asked(&rows, same[i][1]), 1e-14);
}

TEST(test_3_debiased_classes) {
  static class_rows rows;
  size_t clipped = 0;
  for (uint64_t stream = 0; stream < 10; stream++) {
    class_rows_draw(stream, 60, 4, 0, &rows);
    double sum = 0;
    for (size_t k = 0; k < rows.classes; k++) {
      const double part = tce_powers(&rows, k, 0, 15, 2, 1);
      clipped += part == 0;
      sum += part;
    }
    assert_near(tce_asked(&rows, "cwce:debias=yes"), sqrt(sum), 1e-12);
    assert_near(tce_asked(&rows, "cwce:debias=yes,classes=mean"), sqrt(sum / 4), 1e-12);
  }
  assert_true(clipped > 0);
}

/* Powers of small gaps far below the smallest double. */
TEST(test_4_high_orders_of_small_gaps) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){1 - 1e-9, 1 - 1e-9},
                           .labels = (const int32_t[]){1, 1}};
  assert_near(given_value(&data, "tce:p=100"), 1e-9, 1e-6); /* 1 - 1e-9 has 1e-16 of error */
  const given_data two = {.kind = PCAL_CONFIDENCE,
                          .rows = 2,
                          .columns = 1,
                          .scores = (const double[]){1e-9, 1},
                          .labels = (const int32_t[]){0, 1}};
  assert_near(given_value(&two, "tce:p=100"), 1e-9 * pow(0.5, 0.01), 1e-6);
}

/* What holds for every sample: Jensen's inequality, and gaps of bins against those of rows. */
TEST(test_inequalities) {
  static class_rows rows;
  for (uint64_t stream = 0; stream < 60; stream++) {
    class_rows_draw(100 + stream, 5 + 9 * (size_t)stream, 2 + stream % 5, stream % 3 == 0,
                    &rows);
    const double rbs = tce_asked(&rows, "rbs"), slack = 1e-12;
    static const char *const below[] = {"cwce",         "cwce:bins=100", "cwce:binning=mass",
                                        "tce:bins=100", "tce",           "tce:binning=mass"};
    for (size_t i = 0; i < UNIT_COUNT(below); i++)
      assert_true(rbs >= tce_asked(&rows, below[i]) - slack);
    static const char *const orders[] = {"1", "1.5", "2", "4", "20"};
    double before[3] = {0, 0, 0};
    for (size_t o = 0; o < UNIT_COUNT(orders); o++) {
      static const char *const forms[] = {"tce:p=%s", "tce:p=%s,binning=mass",
                                          "cwce:p=%s,classes=mean"};
      for (size_t f = 0; f < 3; f++) {
        char spec[64];
        snprintf(spec, sizeof spec, forms[f], orders[o]);
        const double now = tce_asked(&rows, spec);
        assert_true(now >= before[f] - slack);
        before[f] = now;
      }
    }
    assert_true(tce_asked(&rows, "tce:p=1") >= tce_asked(&rows, "ece") - slack);
    assert_true(tce_asked(&rows, "mce") >= tce_asked(&rows, "tce:p=20") - slack);
  }
}

/* CWCE is not above TCE, as the first version of Gruber & Buettner had it. */
TEST(test_classes_may_be_right_and_the_top_label_wrong) {
  const given_data data = {
      .kind = PCAL_PROBABILITY,
      .rows = 11,
      .columns = 4,
      .scores = (const double[]){0.4, 0.3, 0.3, 0,   0.4, 0.3, 0.3, 0,   0.4, 0.3, 0.3,
                                 0,   0.4, 0.1, 0,   0.5, 0.4, 0.1, 0,   0.5, 0.4, 0.1,
                                 0,   0.5, 0.1, 0.3, 0.6, 0,   0.1, 0.3, 0.6, 0,   0.1,
                                 0.3, 0.6, 0,   0.3, 0.1, 0.6, 0,   0.3, 0.1, 0.6, 0},
      .labels = (const int32_t[]){0, 1, 2, 0, 1, 3, 0, 1, 2, 0, 2},
      .weights = (const double[]){5, 2, 3, 3, 2, 5, 1, 4, 5, 3, 7}};
  assert_true(given_value(&data, "cwce:p=1,bins=10") < 1e-15);
  assert_true(given_value(&data, "cwce:bins=10") < 1e-15);
  assert_near(given_value(&data, "tce:p=1,bins=10"), 0.025, 1e-13);
  assert_near(given_value(&data, "tce:bins=10"), 0.05, 1e-13);
}

TEST(test_values_of_classes) {
  static class_rows rows;
  class_rows_draw(5, 300, 5, 0, &rows);
  const given_data data = class_rows_given(&rows);
  pcal_results *results = given_results(&data, "cwce tce");
  const pcal_result cwce = given_result(results, "cwce");
  assert_int_equal(cwce.class_count, 5);
  for (size_t k = 0; k < 5; k++)
    assert_near(cwce.class_values[k], sqrt(tce_powers(&rows, k, 0, 15, 2, 0)), 1e-12);
  assert_null(given_result(results, "tce").class_values);
  assert_string_equal(cwce.spec, "cwce:p=2,bins=15,binning=width,debias=no,classes=sum");
  assert_int_equal(cwce.notion, PCAL_NOTION_CLASS_WISE);
  pcal_results_free(results);
}

TEST(test_what_is_refused) {
  static class_rows rows;
  class_rows_draw(1, 10, 3, 0, &rows);
  given_data data = class_rows_given(&rows);
  given_refused(&data, "tce:p=1,debias=yes", PCAL_USAGE,
                "tce: debias=yes needs p=2; add it or remove debias");
  given_refused(&data, "cwce:p=3,debias=yes", PCAL_USAGE,
                "cwce: debias=yes needs p=2; add it or remove debias");
  given_refused(&data, "tce:p=0.5", PCAL_USAGE, "option p must be between 1 and 100");
  given_refused(&data, "tce:view=positive", PCAL_USAGE, "view=positive needs two classes");
  data.kind = PCAL_CONFIDENCE;
  data.columns = 1;
  data.labels = (const int32_t[]){0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  given_refused(&data, "cwce", PCAL_USAGE, "cwce needs the probabilities of all classes");
}

/* The bins of every class, class after class. */
TEST(test_curve_of_classes) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 3,
                           .scores = (const double[]){0.5, 0.25, 0.25, 0.125, 0.125, 0.75},
                           .labels = (const int32_t[]){0, 1}};
  pcal_results *results = given_results_with_curves(&data, "cwce:bins=2 tce:bins=1 sce:bins=1");
  given_check_column(results, 0, "class", (const double[]){0, 0, 1, 1, 2, 2}, 6);
  given_check_column(results, 0, "weight", (const double[]){2, 0, 2, 0, 1, 1}, 6);
  given_check_column(results, 0, "accuracy", (const double[]){0.5, NAN, 0.5, NAN, 0, 0}, 6);
  given_check_column(results, 1, "confidence", (const double[]){0.625}, 1);
  pcal_results_free(results);
}
