#include "measure/group_states.h"

#include "../unit.h"

/* One state: confidences in 15 bins. */
static pc_measure_plan ledger_plan(const pcal_env *env) {
  static const char *const specs[] = {"ece"};
  const pc_layout layout = {PCAL_CONFIDENCE, 1, 1};
  pc_measure_plan plan;
  assert_int_equal(pc_measure_plan_new(env, &layout, NULL, specs, 1, &plan, NULL), PCAL_OK);
  assert_int_equal(plan.slot_count, 1);
  return plan;
}

/* `count` rows with score 0.5, the first of them hits, weight 2 each if weighted. */
static pcal_status ledger_add(pc_group_states *ledger, size_t number, size_t count, size_t hits,
                              int weighted, pcal_error *err) {
  static const double score[] = {0.5, 0.5, 0.5, 0.5}, weights[] = {2, 2, 2, 2};
  static const uint64_t ids[] = {0, 1, 2, 3};
  int32_t labels[4];
  double scores[4];
  uint8_t hit[4];
  for (size_t i = 0; i < 4; i++) {
    labels[i] = i < hits;
    hit[i] = i < hits;
    scores[i] = score[i];
  }
  const pc_rows rows = {.count = count,
                        .classes = 1,
                        .ids = ids,
                        .labels = labels,
                        .weights = weighted ? weights : NULL,
                        .probs = score};
  const pc_view_columns columns = {.score = scores, .hit = hit};
  return pc_group_states_update(ledger, number, &rows, &columns, err);
}

static void ledger_check(const pc_group_states *ledger, size_t number, uint64_t rows,
                         double weight, double hits) {
  const pc_group_state *account = pc_group_states_find(ledger, number);
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  assert_non_null(account);
  assert_int_equal(account->tally.rows, rows);
  assert_same(pc_sum_value(&account->tally.weight), weight);
  const pc_machine *machine = ledger->plan->slots[0].machine;
  assert_int_equal(machine->finish(ledger->env, account->states[0], &evidence, NULL), PCAL_OK);
  assert_same(evidence.grid.bins[7].weight, weight);
  assert_same(evidence.grid.bins[7].hits, hits);
  machine->release(ledger->env, &evidence);
}

TEST(test_accounts_are_apart) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = ledger_plan(&env);
  pc_group_states ledger;
  pc_group_states_init(&ledger, &env, &plan);
  assert_int_equal(ledger_add(&ledger, 0, 3, 1, 0, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&ledger, 5, 2, 2, 1, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&ledger, 0, 1, 0, 1, NULL), PCAL_OK);
  ledger_check(&ledger, 0, 4, 5.0, 1.0);
  ledger_check(&ledger, 5, 2, 4.0, 4.0);
  assert_null(pc_group_states_find(&ledger, 3));
  assert_null(pc_group_states_find(&ledger, 6));
  assert_int_equal(pc_group_states_find(&ledger, 0)->tally.label_low, 0);
  assert_int_equal(pc_group_states_find(&ledger, 0)->tally.label_high, 1);
  assert_int_equal(pc_group_states_find(&ledger, 5)->tally.label_low, 1);
  pc_group_states_free(&ledger);
  pc_measure_plan_free(&env, &plan);
}

TEST(test_merge_and_total) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = ledger_plan(&env);
  pc_group_states left, right, total;
  pc_group_states_init(&left, &env, &plan);
  pc_group_states_init(&right, &env, &plan);
  pc_group_states_init(&total, &env, &plan);
  assert_int_equal(ledger_add(&left, 0, 3, 1, 0, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&right, 0, 1, 1, 0, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&right, 2, 4, 3, 0, NULL), PCAL_OK);
  assert_int_equal(pc_group_states_merge(&left, &right, NULL), PCAL_OK);
  ledger_check(&left, 0, 4, 4.0, 2.0);
  ledger_check(&left, 2, 4, 4.0, 3.0);
  assert_null(pc_group_states_find(&left, 1));
  ledger_check(&right, 2, 4, 4.0, 3.0);
  assert_int_equal(pc_group_states_total(&total, &left, NULL), PCAL_OK);
  ledger_check(&total, 0, 8, 8.0, 5.0);
  pc_group_states_free(&left);
  pc_group_states_free(&right);
  pc_group_states_free(&total);
  pc_measure_plan_free(&env, &plan);
}

/* Accounts that were cleared have no rows, and a merge does not carry them over. */
TEST(test_clear_leaves_no_trace) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = ledger_plan(&env);
  pc_group_states worker, ledger;
  pc_group_states_init(&worker, &env, &plan);
  pc_group_states_init(&ledger, &env, &plan);
  assert_int_equal(ledger_add(&worker, 7, 4, 4, 0, NULL), PCAL_OK);
  pc_group_states_clear(&worker);
  assert_null(pc_group_states_find(&worker, 7));
  assert_int_equal(ledger_add(&worker, 1, 2, 1, 0, NULL), PCAL_OK);
  assert_int_equal(pc_group_states_merge(&ledger, &worker, NULL), PCAL_OK);
  assert_int_equal(ledger.count, 2);
  ledger_check(&ledger, 1, 2, 2.0, 1.0);
  pc_group_states_free(&worker);
  pc_group_states_free(&ledger);
  pc_measure_plan_free(&env, &plan);
}

TEST(test_too_many_accounts) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = ledger_plan(&env);
  pc_group_states ledger;
  pcal_error err;
  pc_group_states_init(&ledger, &env, &plan);
  assert_int_equal(ledger_add(&ledger, PC_GROUPS_MAX, 1, 1, 0, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "more than 1048576 groups; groups are meant for a few kinds of rows");
  assert_int_equal(ledger.count, 0);
  pc_group_states_free(&ledger);
  pc_measure_plan_free(&env, &plan);
}

static pcal_status ledger_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pc_measure_plan *plan = user;
  pc_group_states left, right;
  pc_group_states_init(&left, env, plan);
  pc_group_states_init(&right, env, plan);
  pcal_status status = ledger_add(&left, 0, 1, 1, 0, err);
  if (status == PCAL_OK)
    status = ledger_add(&right, 3, 2, 1, 0, err);
  const size_t before = left.count;
  if (status == PCAL_OK)
    status = pc_group_states_merge(&left, &right, err);
  if (status != PCAL_OK)
    assert_true(left.count == before);
  pc_group_states_free(&left);
  pc_group_states_free(&right);
  return status;
}

TEST(test_out_of_memory) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = ledger_plan(&env);
  unit_fail_each_allocation(ledger_scenario, &plan);
  pc_measure_plan_free(&env, &plan);
}
