#include "../measure/measure_help.h"

static const given_data reading_data = {
    .kind = PCAL_PROBABILITY,
    .rows = 4,
    .columns = 3,
    .scores = (const double[]){0.5, 0.25, 0.25, 0, 0.25, 0.75, 1, 0, 0, 0.25, 0.5, 0.25},
    .labels = (const int32_t[]){0, 2, 0, 0},
    .groups = (const uint32_t[]){0, 0, 1, 1},
};

static pcal_results *reading_results(void) {
  return given_results(&reading_data,
                       "accuracy ece ece:bins=5,norm=l2 ks:rank=2 log:clip=0.001");
}

TEST(test_results_are_listed_group_by_group) {
  static const char *const groups[] = {NULL, "0", "1"};
  static const char *const metrics[] = {"accuracy", "ece", "ece", "ks", "log"};
  pcal_results *results = reading_results();
  assert_int_equal(pcal_results_count(results), 15);
  for (size_t i = 0; i < 15; i++) {
    pcal_result result = {.size = sizeof result};
    pcal_results_get(results, i, &result);
    assert_string_equal(result.metric, metrics[i % 5]);
    if (groups[i / 5] == NULL)
      assert_null(result.group);
    else
      assert_string_equal(result.group, groups[i / 5]);
  }
  pcal_result beyond = {.size = sizeof beyond, .metric = "left", .value = 3};
  assert_int_equal(pcal_results_get(results, 15, &beyond), PCAL_USAGE);
  assert_null(beyond.metric);
  assert_int_equal(beyond.size, sizeof beyond);
  pcal_results_free(results);
  assert_int_equal(pcal_results_count(NULL), 0);
}

/* A place that is missing, or whose size is not set, is refused and not written to. */
TEST(test_a_place_and_an_index_are_checked) {
  pcal_results *results = reading_results();
  pcal_result result = {.size = 0, .metric = "left"}, good = PCAL_RESULT_INIT;
  pcal_curve curve = {.size = 0, .count = 7}, fine = PCAL_CURVE_INIT;
  pcal_error err;
  assert_int_equal(pcal_results_get(results, 0, NULL), PCAL_USAGE);
  assert_int_equal(pcal_results_get(results, 0, &result), PCAL_USAGE);
  assert_string_equal(result.metric, "left");
  assert_int_equal(pcal_results_get(results, SIZE_MAX, &good), PCAL_USAGE);
  assert_int_equal(pcal_results_get(NULL, 0, &good), PCAL_USAGE);
  assert_null(good.metric);
  assert_int_equal(pcal_results_get(results, 14, &good), PCAL_OK);
  assert_string_equal(good.metric, "log");
  assert_int_equal(pcal_results_get_curve(results, 0, NULL), PCAL_USAGE);
  assert_int_equal(pcal_results_get_curve(results, 0, &curve), PCAL_USAGE);
  assert_int_equal(curve.count, 7);
  fine.count = 7;
  assert_int_equal(pcal_results_get_curve(results, 15, &fine), PCAL_USAGE);
  assert_int_equal(fine.count, 0);
  assert_int_equal(pcal_results_get_curve(results, 14, &fine), PCAL_OK);
  assert_int_equal(pcal_results_find(results, "ece", &result, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "the size of the result is not set; start from PCAL_RESULT_INIT");
  pcal_results_free(results);
}

TEST(test_find_takes_any_abbreviation) {
  static const char *const same[] = {
      "ece:bins=5,norm=l2", "ece:norm=l2,bins=5", "ece:norm=l2,bins=5.0,binning=width",
      "ece:bins=5,binning=width,norm=l2,debias=no,edges=right,view=top,convention=none",
      "ece:view=auto,norm=l2,bins=5"};
  pcal_results *results = reading_results();
  for (size_t i = 0; i < UNIT_COUNT(same); i++)
    assert_string_equal(given_result(results, same[i]).label, "ece:bins=5,norm=l2");
  assert_string_equal(given_result(results, "ece").label, "ece");
  assert_string_equal(given_result(results, "log:clip=1e-3").label, "log:clip=0.001");
  assert_string_equal(given_result(results, "ks:rank=2,by=pooled").label, "ks:rank=2");
  assert_null(given_result(results, "accuracy").group);
  pcal_results_free(results);
}

TEST(test_find_refuses_what_was_not_measured) {
  pcal_results *results = reading_results();
  pcal_result result = {.size = sizeof result};
  pcal_error err;
  assert_int_equal(pcal_results_find(results, "ks", &result, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "ks:rank=1,by=pooled was not measured; ask for it with metrics \"ks\"");
  assert_int_equal(pcal_results_find(results, "ece:bins=6", &result, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_find(results, "ke", &result, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_find(results, "ks:rank=9", &result, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_find(results, "default", &result, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_find(NULL, "ks", &result, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_find(results, NULL, &result, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_find(results, "ks", NULL, NULL), PCAL_USAGE);
  pcal_results_free(results);
}

/* A caller of an older version knows fewer fields. */
TEST(test_a_smaller_result_is_filled_as_far_as_it_goes) {
  pcal_results *results = reading_results();
  struct {
    pcal_result result;
    char guard[8];
  } place;
  memset(&place, 0x5a, sizeof place);
  place.result.size = offsetof(pcal_result, label);
  pcal_results_get(results, 1, &place.result);
  assert_string_equal(place.result.metric, "ece");
  assert_memory_equal(place.result.spec, "ece:bins=15", 11);
  for (const char *at = (const char *)&place.result.label; at < (const char *)(&place + 1);
       at++)
    assert_int_equal(*at, 0x5a);
  pcal_results_free(results);
}

/* Curves come with each group, and only where there are any. */
TEST(test_curves) {
  pcal_results *results = given_results_with_curves(&reading_data, "accuracy ks ece:bins=2");
  pcal_curve curve = {.size = sizeof curve, .count = 7};
  pcal_results_get_curve(results, 0, &curve);
  assert_int_equal(curve.count, 0);
  given_check_column(results, 1, "score", (const double[]){0.5, 0.75, 1}, 3);
  given_check_column(results, 2, "weight", (const double[]){2, 2}, 2);
  given_check_column(results, 4, "score", (const double[]){0.5, 0.75}, 2); /* group 0 */
  given_check_column(results, 8, "weight", (const double[]){1, 1}, 2);     /* group 1 */
  pcal_results_get_curve(results, 9, &curve);
  assert_int_equal(curve.count, 0);
  pcal_results_get_curve(NULL, 0, &curve);
  assert_int_equal(curve.column_count, 0);
  pcal_results_free(results);
}

TEST(test_a_smaller_curve_is_filled_as_far_as_it_goes) {
  pcal_results *results = given_results_with_curves(&reading_data, "ks");
  pcal_curve curve;
  memset(&curve, 0x5a, sizeof curve);
  curve.size = offsetof(pcal_curve, column_count);
  pcal_results_get_curve(results, 0, &curve);
  assert_int_equal(curve.count, 3);
  for (const char *at = (const char *)&curve.column_count; at < (const char *)(&curve + 1);
       at++)
    assert_int_equal(*at, 0x5a);
  pcal_results_free(results);
}

TEST(test_reliability_table) {
  size_t count = 0;
  pcal_results *results = reading_results();
  const pcal_bin *bins = pcal_results_bins(results, &count);
  assert_int_equal(count, 15);
  double weight = 0;
  for (size_t b = 0; b < count; b++) {
    assert_near(bins[b].low + 1, (double)b / 15 + 1, 1e-15);
    assert_near(bins[b].high, (double)(b + 1) / 15, 1e-15);
    weight += bins[b].weight;
    if (bins[b].weight == 0)
      assert_true(isnan(bins[b].confidence) && isnan(bins[b].frequency));
  }
  assert_same(weight, 4.0);
  assert_same(bins[7].confidence, 0.5);
  assert_same(bins[7].weight, 2.0);
  assert_same(bins[7].frequency, 0.5);
  assert_same(bins[14].frequency, 1.0);
  assert_null(pcal_results_bins(NULL, &count));
  assert_int_equal(count, 0);
  assert_null(pcal_results_verdict_text(NULL));
  pcal_results_free(results);
  pcal_results_free(NULL);
}

TEST(test_verdict_as_data) {
  pcal_results *results = reading_results();
  pcal_verdict verdict = PCAL_VERDICT_INIT;
  assert_int_equal(pcal_results_get_verdict(results, &verdict), PCAL_OK);
  assert_int_equal(verdict.size, sizeof verdict);
  assert_int_equal(verdict.scores, PCAL_PROBABILITY);
  assert_same(verdict.rows, 4.0);
  assert_true(verdict.error >= 0 && verdict.chance > 0);
  assert_true(verdict.has_where && verdict.where.low < verdict.where.high);
  assert_string_equal(pcal_verdict_kind_name(PCAL_VERDICT_TOO_WIDE), "too-wide");
  assert_string_equal(pcal_advice_name(PCAL_ADVICE_OTHER_METHOD), "other");
  assert_null(pcal_verdict_kind_name(PCAL_VERDICT_END));
  assert_null(pcal_advice_name(PCAL_ADVICE_END));
  pcal_verdict old = {.size = offsetof(pcal_verdict, shift)};
  assert_int_equal(pcal_results_get_verdict(results, &old), PCAL_OK);
  assert_int_equal(old.kind, verdict.kind);
  assert_null(old.method);
  old.size = 0;
  assert_int_equal(pcal_results_get_verdict(results, &old), PCAL_USAGE);
  assert_int_equal(pcal_results_get_verdict(results, NULL), PCAL_USAGE);
  assert_int_equal(pcal_results_get_verdict(NULL, &verdict), PCAL_USAGE);
  pcal_results_free(results);
}

TEST(test_writing_refused) {
  size_t calls = 0;
  pcal_results *results = reading_results();
  pcal_error err;
  assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_refuse, &calls, &err), PCAL_IO);
  assert_int_equal(calls, 1);
  assert_int_equal(pcal_results_write(results, (pcal_format)0, sink_collect, NULL, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_results_write(results, (pcal_format)99, sink_collect, NULL, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_results_write(NULL, PCAL_TEXT, sink_collect, NULL, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_write(results, PCAL_TEXT, NULL, NULL, &err), PCAL_USAGE);
  pcal_results_free(results);
}

TEST(test_figures) {
  sink_bytes text = {0};
  pcal_results *results = reading_results();
  pcal_error err;
  assert_int_equal(given_figure(results, "reliability", &text, &err), PCAL_OK);
  assert_contains(text.bytes, "<svg");
  assert_contains(text.bytes, "</svg>");
  free(text.bytes);
  assert_int_equal(given_figure(results, "reliabilty", &text, &err), PCAL_USAGE);
  assert_contains(err.message, "reliability");
  assert_int_equal(given_figure(NULL, "reliability", &text, &err), PCAL_USAGE);
  assert_int_equal(given_figure(results, NULL, &text, &err), PCAL_USAGE);
  pcal_results_free(results);
}

TEST(test_simulation_needs_places) {
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  float logits[8];
  int32_t labels[4];
  pcal_error err;
  simulation.rows = 4;
  simulation.classes = 2;
  simulation.size = offsetof(pcal_simulation, factor); /* factor and scale as by default */
  simulation.factor = (double)NAN;
  simulation.scale = (double)NAN;
  assert_int_equal(pcal_simulate(&simulation, NULL, logits, labels, NULL, &err), PCAL_OK);
  for (size_t i = 0; i < 8; i++)
    assert_true(isfinite(logits[i]));
  assert_int_equal(pcal_simulate(NULL, NULL, logits, labels, NULL, &err), PCAL_USAGE);
  assert_int_equal(pcal_simulate(&simulation, NULL, NULL, labels, NULL, &err), PCAL_USAGE);
  assert_int_equal(pcal_simulate(&simulation, NULL, logits, NULL, NULL, &err), PCAL_USAGE);
}

TEST(test_inspection_needs_its_arguments) {
  pcal_error err;
  size_t problems = 7;
  assert_int_equal(pcal_inspect_file(NULL, 0, NULL, PCAL_TEXT, sink_collect, NULL, NULL, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_inspect_file("x", 0, NULL, PCAL_TEXT, NULL, NULL, NULL, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_inspect_source(NULL, NULL, PCAL_TEXT, sink_collect, NULL, NULL, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_inspect_file("/nowhere/at/all.npy", 0, NULL, PCAL_TEXT, sink_collect,
                                     NULL, &problems, &err),
                   PCAL_IO);
  assert_contains(err.message, "/nowhere/at/all.npy");
}
