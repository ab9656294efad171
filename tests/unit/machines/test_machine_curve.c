#include "machine_help.h"

static machine_case curve_case(int by_label) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_CURVE;
  need.view.kind = PC_VIEW_RANK;
  need.view.index = 1;
  need.view.by_label = by_label;
  return machine_case_make(&pc_machine_curve, &need, 3);
}

static void curve_check(const pc_curve_table *table, size_t at, double score, double weight,
                        double hits) {
  assert_true(at < table->count);
  assert_same(table->score[at], score);
  assert_same(table->weight[at], weight);
  assert_same(table->hits[at], hits);
}

TEST(test_scores_are_sorted_and_joined) {
  machine_rows rows = {
      .score = {0.9, 0.2, 0.9, 0.2, 0.5, 0.9}, .hit = {1, 0, 0, 0, 1, 1}, .count = 6};
  const machine_case about = curve_case(0);
  void *curve = machine_state(&about);
  machine_feed(&about, curve, &rows);
  pc_evidence evidence = machine_evidence(&about, curve);
  assert_int_equal(evidence.curve.part_count, 1);
  const pc_curve_table *table = &evidence.curve.parts[0];
  assert_int_equal(table->count, 3);
  assert_same(table->total, 6.0);
  curve_check(table, 0, 0.2, 2, 0);
  curve_check(table, 1, 0.5, 1, 1);
  curve_check(table, 2, 0.9, 3, 2);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, curve);
}

TEST(test_one_part_for_each_predicted_label) {
  machine_rows rows = {
      .score = {0.9, 0.4, 0.6}, .hit = {1, 0, 1}, .part = {2, 0, 2}, .count = 3};
  const machine_case about = curve_case(1);
  void *curve = machine_state(&about);
  machine_feed(&about, curve, &rows);
  pc_evidence evidence = machine_evidence(&about, curve);
  assert_int_equal(evidence.curve.part_count, 3);
  assert_int_equal(evidence.curve.parts[0].count, 1);
  assert_int_equal(evidence.curve.parts[1].count, 0);
  assert_int_equal(evidence.curve.parts[2].count, 2);
  curve_check(&evidence.curve.parts[0], 0, 0.4, 1, 0);
  curve_check(&evidence.curve.parts[2], 0, 0.6, 1, 1);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, curve);
}

/* Rows without weights, then with, then without again. */
TEST(test_weights_may_come_late) {
  machine_rows plain = {.score = {0.5, 0.5}, .hit = {1, 0}, .count = 2};
  machine_rows weighted = {
      .score = {0.5, 0.25}, .weight = {2.5, 4}, .hit = {1, 1}, .count = 2, .weighted = 1};
  const machine_case about = curve_case(0);
  void *curve = machine_state(&about);
  machine_feed(&about, curve, &plain);
  machine_feed(&about, curve, &weighted);
  machine_feed(&about, curve, &plain);
  pc_evidence evidence = machine_evidence(&about, curve);
  curve_check(&evidence.curve.parts[0], 0, 0.25, 4, 4);
  curve_check(&evidence.curve.parts[0], 1, 0.5, 6.5, 4.5);
  assert_same(evidence.curve.parts[0].total, 10.5);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, curve);
}

TEST(test_merge_of_plain_and_weighted) {
  machine_rows plain = {.score = {0.5, 0.75}, .hit = {1, 0}, .count = 2};
  machine_rows weighted = {
      .score = {0.5, 0.75}, .weight = {2, 3}, .hit = {1, 0}, .count = 2, .weighted = 1};
  const machine_case about = curve_case(0);
  for (int turn = 0; turn < 2; turn++) {
    void *left = machine_state(&about), *right = machine_state(&about);
    machine_feed(&about, left, turn ? &plain : &weighted);
    machine_feed(&about, right, turn ? &weighted : &plain);
    machine_merge(&about, left, right);
    pc_evidence evidence = machine_evidence(&about, left);
    curve_check(&evidence.curve.parts[0], 0, 0.5, 3, 3);
    curve_check(&evidence.curve.parts[0], 1, 0.75, 4, 0);
    about.machine->release(&about.env, &evidence);
    about.machine->destroy(&about.env, left);
    about.machine->destroy(&about.env, right);
  }
}

TEST(test_clear_forgets_rows) {
  machine_rows weighted = {
      .score = {0.5}, .weight = {7}, .hit = {1}, .count = 1, .weighted = 1};
  machine_rows plain = {.score = {0.75}, .hit = {0}, .count = 1};
  const machine_case about = curve_case(0);
  void *curve = machine_state(&about);
  machine_feed(&about, curve, &weighted);
  about.machine->clear(curve);
  machine_feed(&about, curve, &plain);
  pc_evidence evidence = machine_evidence(&about, curve);
  assert_int_equal(evidence.curve.parts[0].count, 1);
  curve_check(&evidence.curve.parts[0], 0, 0.75, 1, 0);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, curve);
}

TEST(test_limit_of_memory) {
  machine_rows rows = {.score = {0.5, 0.6, 0.7}, .hit = {1, 0, 1}, .count = 3};
  machine_case about = curve_case(0);
  pcal_error err;
  about.env.memory_limit = 3 * sizeof(double);
  void *curve = machine_state(&about), *other = machine_state(&about);
  machine_feed(&about, curve, &rows);
  rows.count = 1;
  machine_feed(&about, other, &rows);
  assert_int_equal(about.machine->prepare(&about.env, curve, other, &err), PCAL_MEMORY);
  assert_non_null(strstr(err.message, "equal-width bins"));
  pc_evidence evidence = machine_evidence(&about, curve);
  assert_same(evidence.curve.parts[0].total, 3.0);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, curve);
  about.machine->destroy(&about.env, other);
}

static machine_case curve_spread_case(pc_view_kind kind) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_CURVE;
  need.view.kind = (int32_t)kind;
  return machine_case_make(&pc_machine_curve, &need, 3);
}

static const double curve_probs[] = {0.5, 0.25, 0.25, 0, 1, 0};
static const int32_t curve_labels[] = {1, 1};
static const double curve_weights[] = {2, 1};

TEST(test_every_class_has_a_part) {
  const pc_rows rows = {.count = 2,
                        .classes = 3,
                        .labels = curve_labels,
                        .weights = curve_weights,
                        .probs = curve_probs};
  const machine_case about = curve_spread_case(PC_VIEW_CLASSES);
  void *curve = machine_state(&about);
  machine_update(&about, curve, &rows, NULL);
  pc_evidence evidence = machine_evidence(&about, curve);
  assert_int_equal(evidence.curve.part_count, 3);
  for (size_t p = 0; p < 3; p++) {
    assert_int_equal(evidence.curve.parts[p].count, 2);
    assert_same(evidence.curve.parts[p].total, 3);
  }
  curve_check(&evidence.curve.parts[0], 0, 0, 1, 0);
  curve_check(&evidence.curve.parts[0], 1, 0.5, 2, 0);
  curve_check(&evidence.curve.parts[1], 0, 0.25, 2, 2);
  curve_check(&evidence.curve.parts[1], 1, 1, 1, 1);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, curve);
}

TEST(test_all_classes_in_one_part) {
  const pc_rows rows = {.count = 2, .classes = 3, .labels = curve_labels, .probs = curve_probs};
  const machine_case about = curve_spread_case(PC_VIEW_POOLED);
  void *curve = machine_state(&about);
  machine_update(&about, curve, &rows, NULL);
  pc_evidence evidence = machine_evidence(&about, curve);
  assert_int_equal(evidence.curve.part_count, 1);
  assert_int_equal(evidence.curve.parts[0].count, 4);
  assert_same(evidence.curve.parts[0].total, 6);
  curve_check(&evidence.curve.parts[0], 0, 0, 2, 0);
  curve_check(&evidence.curve.parts[0], 1, 0.25, 2, 1);
  curve_check(&evidence.curve.parts[0], 2, 0.5, 1, 0);
  curve_check(&evidence.curve.parts[0], 3, 1, 1, 1);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, curve);
}

TEST(test_scores_of_all_classes_have_a_limit) {
  const pc_rows rows = {.count = 2, .classes = 3, .labels = curve_labels, .probs = curve_probs};
  machine_case about = curve_spread_case(PC_VIEW_CLASSES);
  void *curve = machine_state(&about);
  pcal_error err;
  about.env.memory_limit = 47;
  assert_int_equal(about.machine->update(&about.env, curve, &rows, NULL, &err), PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "keeping the scores of all classes takes 1 MB, beyond the memory limit of 0 "
                  "MB; ask for equal-width bins (binning=width), whose memory does not grow "
                  "with the rows");
  about.env.memory_limit = 48;
  machine_update(&about, curve, &rows, NULL);
  about.machine->destroy(&about.env, curve);
}
