#include "calibrators/calibrator_file.h"

#include "calibrator_help.h"
#include "io/source.h"

static const char written[] =
    "{\n"
    "  \"format\": \"propercal-calibrator\",\n"
    "  \"version\": 1,\n"
    "  \"spec\": \"histogram:bins=2,binning=width,classwise=yes,bootstrap=0\",\n"
    "  \"method\": \"histogram\",\n"
    "  \"classes\": 2,\n"
    "  \"columns\": 2,\n"
    "  \"input\": \"probability\",\n"
    "  \"normalize\": false,\n"
    "  \"class_names\": [\n"
    "    \"cat\",\n"
    "    \"d\\\"og\"\n"
    "  ],\n"
    "  \"parameters\": {\n"
    "    \"values\": [\n"
    "      [0, 0.3333333333333333],\n"
    "      [0.6666666666666666, 1]\n"
    "    ]\n"
    "  },\n"
    "  \"fit\": {\n"
    "    \"status\": \"closed-form\",\n"
    "    \"iterations\": 0,\n"
    "    \"gradient\": null,\n"
    "    \"objective\": null,\n"
    "    \"rows\": 4,\n"
    "    \"weighted\": true,\n"
    "    \"weights\": \"frequency\",\n"
    "    \"weight\": 9,\n"
    "    \"normalized_rows\": 0,\n"
    "    \"skipped_rows\": 0,\n"
    "    \"warnings\": []\n"
    "  }\n"
    "}\n";

/* Readable, in a fixed order, with the shortest exact numbers. */
TEST(writes_this_very_text) {
  static const char *const names[] = {"cat", "d\"og"};
  const double probs[][2] = {{0.8, 0.2}, {0.7, 0.3}, {0.6, 0.4}, {0.1, 0.9}};
  const double weights[] = {2, 2, 2, 3};
  const int32_t labels[] = {0, 1, 1, 1};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 4, 2);
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.method = "histogram:bins=2";
  batch.weights = weights;
  assert_int_equal(pc_source_borrow(&batch, names, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, &config, NULL, &calibrator, NULL), PCAL_OK);
  sink_bytes text = help_save(calibrator);
  assert_string_equal(text.bytes, written);
  free(text.bytes);
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
}

/* Save, load, save: the same bytes; and the same results, bit for bit. */
static void check_round_trip(const pcal_batch *batch, const char *method) {
  pcal_calibrator *calibrator = help_fit(batch, method);
  sink_bytes first = help_save(calibrator);
  pcal_calibrator *again = help_load(first.bytes);
  sink_bytes second = help_save(again);
  assert_string_equal(first.bytes, second.bytes);
  const size_t cells = batch->rows * batch->columns;
  double *a = calloc(cells, sizeof *a), *b = calloc(cells, sizeof *b);
  help_apply(calibrator, batch, a);
  help_apply(again, batch, b);
  assert_memory_equal(a, b, cells * sizeof *a);
  free(a);
  free(b);
  free(first.bytes);
  free(second.bytes);
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(again);
}

TEST(round_trips_exactly) {
  enum { ROWS = 500, K = 4 };
  static const char *const methods[] = {
      "identity",
      "temperature",
      "temperature:objective=brier",
      "histogram",
      "histogram:classwise=no",
      "histogram:bins=7,binning=mass",
      "histogram:bins=1",
  };
  static double logits[ROWS * K], confidence[ROWS];
  int32_t labels[ROWS], hits[ROWS];
  help_draw(logits, labels, ROWS, K, 3.0, 2.0);
  for (size_t i = 0; i < ROWS; i++) {
    confidence[i] = 1 / (1 + exp(-logits[i]));
    hits[i] = labels[i] == 0;
  }
  const pcal_batch many = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  const pcal_batch one = help_batch(PCAL_PROBABILITY, confidence, hits, ROWS, 1);
  const pcal_batch top = help_batch(PCAL_CONFIDENCE, confidence, hits, ROWS, 1);
  for (size_t m = 0; m < UNIT_COUNT(methods); m++) {
    check_round_trip(&many, methods[m]);
    check_round_trip(&one, methods[m]);
    if (strncmp(methods[m], "temperature", 11) != 0)
      check_round_trip(&top, methods[m]);
  }
}

/* Fits with infinite numbers and warnings. */
TEST(round_trips_unusual_fits) {
  const double extreme[] = {1.7e308, -1.7e308, -1.7e308, 1.7e308};
  const double certain[] = {1, 0, 0, 1};
  const int32_t wrong[] = {1, 0}, right[] = {0, 1};
  const pcal_batch a = help_batch(PCAL_LOGIT, extreme, wrong, 2, 2);
  const pcal_batch b = help_batch(PCAL_PROBABILITY, certain, wrong, 2, 2);
  const pcal_batch c = help_batch(PCAL_LOGIT, certain, right, 2, 2);
  check_round_trip(&a, "temperature");
  check_round_trip(&b, "temperature");
  check_round_trip(&c, "temperature");
}

TEST(reports_a_full_sink) {
  const double probs[] = {0.5, 0.25};
  const int32_t labels[] = {0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 2, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  pcal_error err;
  assert_int_equal(pcal_calibrator_save(calibrator, sink_refuse, NULL, &err), PCAL_IO);
  assert_sentence(err, PCAL_IO, "the output could not be written");
  pcal_calibrator_free(calibrator);
}
