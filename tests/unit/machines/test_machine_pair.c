#include "machine_help.h"

static machine_case pair_case(void) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_PAIR;
  return machine_case_make(&pc_machine_pair, &need, 2);
}

static void pair_feed(const machine_case *about, void *state, const double *probs,
                      const int32_t *labels, const double *weights, size_t count) {
  const pc_rows rows = {
      .count = count, .classes = 2, .labels = labels, .weights = weights, .probs = probs};
  machine_update(about, state, &rows, NULL);
}

static void pair_check(const pc_evidence *evidence, size_t at, double first, int32_t label,
                       double weight) {
  const pc_pair_rows *rows = &evidence->pair.rows;
  assert_true(at < rows->count);
  assert_same(*pc_pair_prob(rows, at, 0), first);
  assert_same(*pc_pair_prob(rows, at, 1), 1 - first);
  assert_int_equal(rows->labels[at], label);
  assert_same(rows->weights[at], weight);
}

/* By label, then predicted class, then its probability; equal rows joined. */
TEST(test_rows_are_sorted_and_joined) {
  static const double probs[] = {0.75, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75, 0.25, 0.5, 0.5};
  static const int32_t labels[] = {1, 0, 0, 1, 1};
  const machine_case about = pair_case();
  void *pairs = machine_state(&about);
  pair_feed(&about, pairs, probs, labels, NULL, 5);
  pc_evidence evidence = machine_evidence(&about, pairs);
  assert_int_equal(evidence.pair.rows.count, 4);
  assert_int_equal(evidence.pair.rows.classes, 2);
  pair_check(&evidence, 0, 0.75, 0, 1); /* class 0 is predicted */
  pair_check(&evidence, 1, 0.25, 0, 1);
  pair_check(&evidence, 2, 0.5, 1, 1);
  pair_check(&evidence, 3, 0.75, 1, 2);
  about.machine->release(&about.env, &evidence);
  assert_null(evidence.pair.block);
  about.machine->destroy(&about.env, pairs);
}

TEST(test_merge_adds_weights_of_equal_rows) {
  static const double probs[] = {0.5, 0.5, 0.25, 0.75}, weights[] = {3, 4}, more[] = {5};
  static const int32_t labels[] = {1, 0};
  const machine_case about = pair_case();
  void *left = machine_state(&about), *right = machine_state(&about);
  pair_feed(&about, left, probs, labels, weights, 2);
  pair_feed(&about, right, probs, labels, more, 1);
  pair_feed(&about, right, probs, labels, NULL, 1);
  machine_merge(&about, left, right);
  pc_evidence evidence = machine_evidence(&about, left);
  assert_int_equal(evidence.pair.rows.count, 2);
  pair_check(&evidence, 0, 0.25, 0, 4);
  pair_check(&evidence, 1, 0.5, 1, 9);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, left);
  about.machine->destroy(&about.env, right);
}

/* 0.1 + 0.2 + 0.3 has other bits than 0.3 + 0.2 + 0.1. */
TEST(test_weights_are_added_in_one_order) {
  static const double probs[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  static const double up[] = {0.1, 0.2, 0.3}, down[] = {0.3, 0.2, 0.1};
  static const int32_t labels[] = {1, 1, 1};
  const machine_case about = pair_case();
  for (int turn = 0; turn <= 1; turn++) {
    void *pairs = machine_state(&about);
    pair_feed(&about, pairs, probs, labels, turn ? down : up, 3);
    pc_evidence evidence = machine_evidence(&about, pairs);
    pair_check(&evidence, 0, 0.5, 1, (0.1 + 0.2) + 0.3);
    about.machine->release(&about.env, &evidence);
    about.machine->destroy(&about.env, pairs);
  }
}

/* (1 - p, p) with p from 0 to 1/2: class 0 is predicted, with ever less probability. */
TEST(test_many_rows_in_any_order) {
  enum { ROWS = 257 };
  static double probs[2 * ROWS];
  static int32_t labels[ROWS];
  const machine_case about = pair_case();
  void *pairs = machine_state(&about);
  for (size_t i = 0; i < ROWS; i++) {
    probs[2 * i + 1] = (double)(i * 100 % ROWS) / 512;
    probs[2 * i] = 1 - probs[2 * i + 1];
  }
  pair_feed(&about, pairs, probs, labels, NULL, ROWS);
  pc_evidence evidence = machine_evidence(&about, pairs);
  assert_int_equal(evidence.pair.rows.count, ROWS);
  for (size_t i = 0; i < ROWS; i++)
    pair_check(&evidence, i, 0.5 + (double)i / 512, 0, 1);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, pairs);
}

/* Rows with the same largest probability go by the others; 0.5 0.5 predicts the lower class. */
TEST(test_ties) {
  static const double probs[] = {0.5, 0.25, 0.25, 0.5, 0.375, 0.125, 0.5, 0.125, 0.375,
                                 0.5, 0.5,  0.0,  0.0, 0.5,   0.5,   0.5, 0.25,  0.25};
  static const double second[] = {0.125, 0.25, 0.375, 0.5, 0.5};
  static const int32_t labels[6] = {0};
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_PAIR;
  const machine_case about = machine_case_make(&pc_machine_pair, &need, 3);
  const pc_rows rows = {.count = 6, .classes = 3, .labels = labels, .probs = probs};
  void *pairs = machine_state(&about);
  machine_update(&about, pairs, &rows, NULL);
  pc_evidence evidence = machine_evidence(&about, pairs);
  assert_int_equal(evidence.pair.rows.count, 5);
  for (size_t i = 0; i < 5; i++)
    assert_same(*pc_pair_prob(&evidence.pair.rows, i, 1), second[i]);
  assert_same(evidence.pair.rows.weights[1], 2.0);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, pairs);
}

TEST(test_clear_and_no_rows) {
  static const double probs[] = {0.5, 0.5};
  static const int32_t labels[] = {1};
  const machine_case about = pair_case();
  void *pairs = machine_state(&about);
  pair_feed(&about, pairs, probs, labels, NULL, 1);
  about.machine->clear(pairs);
  pair_feed(&about, pairs, probs, labels, NULL, 0);
  pc_evidence evidence = machine_evidence(&about, pairs);
  assert_int_equal(evidence.pair.rows.count, 0);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, pairs);
}

TEST(test_limit_of_memory) {
  static const double probs[] = {0.5, 0.5, 0.25, 0.75};
  static const int32_t labels[] = {1, 0};
  const pc_rows rows = {.count = 2, .classes = 2, .labels = labels, .probs = probs};
  machine_case about = pair_case();
  pcal_error err;
  about.env.memory_limit = 2 * (2 * sizeof(double) + 12) - 1;
  void *pairs = machine_state(&about);
  assert_int_equal(about.machine->update(&about.env, pairs, &rows, NULL, &err), PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "keeping the rows takes 1 MB, beyond the memory limit of 0 MB; "
                  "skce:estimator=block needs only a few rows at a time, or measure a random "
                  "part of the rows");
  about.env.memory_limit++;
  assert_int_equal(about.machine->update(&about.env, pairs, &rows, NULL, &err), PCAL_OK);
  about.machine->destroy(&about.env, pairs);
}
