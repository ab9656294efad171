#include "calibrators/calibrator_describe.h"

#include "base/json_read.h"
#include "calibrator_help.h"

static sink_bytes describe(const pcal_calibrator *calibrator, pcal_format format) {
  sink_bytes text = {0};
  assert_int_equal(pcal_calibrator_describe(calibrator, format, sink_collect, &text, NULL),
                   PCAL_OK);
  return text;
}

/* Ten scores of 2, eight right: T = 2 / log 4. */
static pcal_calibrator *fit_ten(const double *weights) {
  static double logits[10];
  static int32_t labels[10];
  for (int i = 0; i < 10; i++) {
    logits[i] = 2.0;
    labels[i] = i < 8;
  }
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 10, 1);
  batch.weights = weights;
  return help_fit(&batch, "temperature");
}

TEST(text_of_a_temperature) {
  pcal_calibrator *calibrator = fit_ten(NULL);
  calibrator->fit.gradient = 0.0;
  calibrator->fit.iterations = 3;
  sink_bytes text = describe(calibrator, PCAL_TEXT);
  assert_string_equal(
      text.bytes,
      "calibrator   temperature:objective=log\n"
      "learned      T = 1.44270: over-confident before, probabilities become more even\n"
      "status       converged after 3 passes, gradient 0.0\n"
      "objective    log: 0.52693 before, 0.50040 after\n"
      "data         10 rows of logits, 2 classes\n"
      "warning      all rows have the same scores: only the frequencies of the labels can be "
      "learned\n");
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}

TEST(text_of_a_histogram) {
  const double probs[][3] = {{0.8, 0.1, 0.1}};
  const int32_t labels[] = {0};
  const double weights[] = {2.5};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 1, 3);
  batch.weights = weights;
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2");
  calibrator->fit.skipped = 7;
  calibrator->fit.normalized = 1;
  sink_bytes text = describe(calibrator, PCAL_TEXT);
  assert_string_equal(
      text.bytes, "calibrator   histogram:bins=2,binning=width,classwise=yes,bootstrap=0\n"
                  "learned      3 tables of up to 2 bins of equal width, one for each class\n"
                  "status       closed-form\n"
                  "data         1 row of probabilities, 3 classes, importance weights, "
                  "effective sample size 1.000, 1 normalized, 7 skipped\n"
                  "keeps        rows that sum to one\n"
                  "warning      3 of 6 bins have no rows and get their midpoint\n"
                  "warning      2 of 3 classes never occur among the labels: nothing is "
                  "learned about them\n");
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}

TEST(fields_of_the_contract) {
  const double weights[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  pcal_calibrator *calibrator = fit_ten(weights);
  sink_bytes text = describe(calibrator, PCAL_JSON);
  pc_json_tree tree;
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_json_read(text.bytes, text.length, "d", &env, &tree, NULL), PCAL_OK);
  static const char *const keys[] = {"propercal",  "method",   "spec",      "status",
                                     "iterations", "gradient", "objective", "parameters",
                                     "traits",     "warnings", "data"};
  const pc_json_node *member = tree.root->list.first;
  for (size_t i = 0; i < UNIT_COUNT(keys); i++, member = member->next)
    assert_string_equal(member->key, keys[i]);
  assert_null(member);
  assert_string_equal(pc_json_find(tree.root, "method")->text, "temperature");
  assert_string_equal(pc_json_find(tree.root, "spec")->text, "temperature:objective=log");
  assert_string_equal(pc_json_find(tree.root, "status")->text, "converged");
  const pc_json_node *objective = pc_json_find(tree.root, "objective");
  assert_string_equal(pc_json_find(objective, "name")->text, "log");
  assert_true(pc_json_find(objective, "before")->number >
              pc_json_find(objective, "after")->number);
  assert_near(pc_json_find(pc_json_find(tree.root, "parameters"), "T")->number, 2 / log(4.0),
              1e-10);
  const pc_json_node *traits = pc_json_find(tree.root, "traits");
  assert_int_equal(traits->list.count, 5);
  assert_int_equal(pc_json_find(traits, "guarded")->truth, 1);
  const pc_json_node *data = pc_json_find(tree.root, "data");
  assert_same(pc_json_find(data, "rows")->number, 10.0);
  assert_same(pc_json_find(data, "weight")->number, 10.0);
  assert_same(pc_json_find(data, "classes")->number, 2.0);
  pc_json_tree_free(&tree);
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}
