/* Scores of replicas with other labels, against sums by hand. */
#include "../unit.h"

#include "base/elementary.h"
#include "base/rng.h"
#include "measure/replicas/replica_label_sums.h"

#define LABEL_ROWS 600 /* more than two blocks */
#define LABEL_CLASSES 3

typedef struct label_case {
  double probs[LABEL_ROWS * LABEL_CLASSES], score[LABEL_ROWS], ones[LABEL_ROWS];
  int32_t top[LABEL_ROWS], labels[LABEL_ROWS * PC_REPLICA_LANES];
} label_case;

static pc_kept_rows label_make(label_case *at) {
  const pc_rng rng = {5, 6};
  for (size_t i = 0; i < LABEL_ROWS; i++) {
    double *p = at->probs + i * LABEL_CLASSES;
    p[0] = pc_rng_uniform(&rng, 20 * i);
    p[1] = (1.0 - p[0]) * pc_rng_uniform(&rng, 20 * i + 1);
    p[2] = 1.0 - p[0] - p[1];
    at->top[i] = p[0] >= p[1] ? (p[0] >= p[2] ? 0 : 2) : (p[1] >= p[2] ? 1 : 2);
    at->score[i] = p[at->top[i]];
    at->ones[i] = 1.0;
    for (size_t q = 0; q < PC_REPLICA_LANES; q++)
      at->labels[i * PC_REPLICA_LANES + q] =
          (int32_t)(LABEL_CLASSES * pc_rng_uniform(&rng, 20 * i + 2 + q));
  }
  return (pc_kept_rows){.count = LABEL_ROWS,
                        .classes = LABEL_CLASSES,
                        .weights = at->ones,
                        .copies = at->ones,
                        .score = at->score,
                        .top_label = at->top,
                        .probs = at->probs};
}

/* Means of the Brier score, of the log score and of hits in one replica. */
static void label_expected(const label_case *at, size_t lane, double out[3]) {
  memset(out, 0, 3 * sizeof *out);
  for (size_t i = 0; i < LABEL_ROWS; i++) {
    const int32_t label = at->labels[i * PC_REPLICA_LANES + lane];
    const double *p = at->probs + i * LABEL_CLASSES;
    for (int32_t k = 0; k < LABEL_CLASSES; k++)
      out[0] += (p[k] - (k == label)) * (p[k] - (k == label)) / LABEL_ROWS;
    out[1] -= pc_log(p[label]) / LABEL_ROWS;
    out[2] += (label == at->top[i]) / (double)LABEL_ROWS;
  }
}

static double label_value(const pcal_env *env, const pc_measure_plan *plan, size_t entry,
                          void *state) {
  const pc_plan_entry *planned = &plan->entries[entry];
  const pc_machine *machine = plan->slots[planned->slot].machine;
  pc_evidence evidence = {.machine = PC_SUM, .layout = &plan->layout, .total = LABEL_ROWS};
  pc_metric_result outcome;
  memset(&outcome, 0, sizeof outcome);
  assert_int_equal(machine->finish(env, state, &evidence, NULL), PCAL_OK);
  assert_int_equal(planned->metric->evaluate(&planned->options, &evidence, env, &outcome, NULL),
                   PCAL_OK);
  machine->release(env, &evidence);
  return outcome.value;
}

/* Twice, so that states are cleared; the second time with fewer replicas. */
TEST(test_scores_of_other_labels) {
  static const char *const specs[] = {"brier", "log", "accuracy"};
  static label_case at;
  const pcal_env env = pc_env_resolve(NULL);
  pc_layout layout;
  const pc_kept_rows rows = label_make(&at);
  pc_measure_plan plan;
  pc_replica_label_sums sums;
  uint8_t slots[8] = {0};
  assert_int_equal(pc_layout_make(PCAL_PROBABILITY, LABEL_CLASSES, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_measure_plan_new(&env, &layout, NULL, specs, 3, &plan, NULL), PCAL_OK);
  assert_true(plan.slot_count <= sizeof slots);
  for (size_t s = 0; s < plan.slot_count; s++)
    slots[s] = plan.slots[s].need.machine == PC_SUM;
  assert_true(pc_replica_label_sums_apply(&rows));
  assert_int_equal(pc_replica_label_sums_new(&env, &plan, slots, &rows, &sums, NULL), PCAL_OK);
  for (int again = 0; again < 2; again++) {
    const size_t lanes = again ? 3 : PC_REPLICA_LANES;
    assert_int_equal(pc_replica_label_sums_add(&env, &rows, at.labels, lanes, &sums, NULL),
                     PCAL_OK);
    for (size_t lane = 0; lane < lanes; lane++) {
      double want[3];
      label_expected(&at, lane, want);
      for (size_t e = 0; e < 3; e++)
        assert_near(label_value(&env, &plan, e,
                                sums.states[plan.entries[e].slot * PC_REPLICA_LANES + lane]),
                    want[e], 1e-13);
    }
  }
  pc_replica_label_sums_free(&env, &sums);
  pc_measure_plan_free(&env, &plan);
}

TEST(test_rows_without_all_probabilities) {
  static label_case at;
  pc_kept_rows rows = label_make(&at);
  rows.probs = NULL;
  assert_false(pc_replica_label_sums_apply(&rows));
  rows = label_make(&at);
  at.ones[7] = 2.0;
  assert_false(pc_replica_label_sums_apply(&rows));
}
