#include "measure/ledger.h"

#include "../unit.h"

/* One state: confidences in 15 bins. */
static pc_plan ledger_plan(const pcal_env *env) {
  static const char *const specs[] = {"ece"};
  const pc_layout layout = {PCAL_CONFIDENCE, 1, 1};
  pc_plan plan;
  assert_int_equal(pc_plan_make(env, &layout, NULL, specs, 1, &plan, NULL), PCAL_OK);
  assert_int_equal(plan.slot_count, 1);
  return plan;
}

/* `count` rows with score 0.5, the first of them hits, weight 2 each if weighted. */
static pcal_status ledger_add(pc_ledger *ledger, size_t number, size_t count, size_t hits,
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
  const pc_columns columns = {.score = scores, .hit = hit};
  return pc_ledger_update(ledger, number, &rows, &columns, err);
}

static void ledger_check(const pc_ledger *ledger, size_t number, uint64_t rows, double weight,
                         double hits) {
  const pc_account *account = pc_ledger_find(ledger, number);
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

static void test_accounts_are_apart(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_plan plan = ledger_plan(&env);
  pc_ledger ledger;
  pc_ledger_init(&ledger, &env, &plan);
  assert_int_equal(ledger_add(&ledger, 0, 3, 1, 0, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&ledger, 5, 2, 2, 1, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&ledger, 0, 1, 0, 1, NULL), PCAL_OK);
  ledger_check(&ledger, 0, 4, 5.0, 1.0);
  ledger_check(&ledger, 5, 2, 4.0, 4.0);
  assert_null(pc_ledger_find(&ledger, 3));
  assert_null(pc_ledger_find(&ledger, 6));
  assert_int_equal(pc_ledger_find(&ledger, 0)->tally.label_low, 0);
  assert_int_equal(pc_ledger_find(&ledger, 0)->tally.label_high, 1);
  assert_int_equal(pc_ledger_find(&ledger, 5)->tally.label_low, 1);
  pc_ledger_free(&ledger);
  pc_plan_free(&env, &plan);
}

static void test_merge_and_total(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_plan plan = ledger_plan(&env);
  pc_ledger left, right, total;
  pc_ledger_init(&left, &env, &plan);
  pc_ledger_init(&right, &env, &plan);
  pc_ledger_init(&total, &env, &plan);
  assert_int_equal(ledger_add(&left, 0, 3, 1, 0, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&right, 0, 1, 1, 0, NULL), PCAL_OK);
  assert_int_equal(ledger_add(&right, 2, 4, 3, 0, NULL), PCAL_OK);
  assert_int_equal(pc_ledger_merge(&left, &right, NULL), PCAL_OK);
  ledger_check(&left, 0, 4, 4.0, 2.0);
  ledger_check(&left, 2, 4, 4.0, 3.0);
  assert_null(pc_ledger_find(&left, 1));
  ledger_check(&right, 2, 4, 4.0, 3.0);
  assert_int_equal(pc_ledger_total(&total, &left, NULL), PCAL_OK);
  ledger_check(&total, 0, 8, 8.0, 5.0);
  pc_ledger_free(&left);
  pc_ledger_free(&right);
  pc_ledger_free(&total);
  pc_plan_free(&env, &plan);
}

/* Accounts that were cleared have no rows, and a merge does not carry them over. */
static void test_clear_leaves_no_trace(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_plan plan = ledger_plan(&env);
  pc_ledger worker, ledger;
  pc_ledger_init(&worker, &env, &plan);
  pc_ledger_init(&ledger, &env, &plan);
  assert_int_equal(ledger_add(&worker, 7, 4, 4, 0, NULL), PCAL_OK);
  pc_ledger_clear(&worker);
  assert_null(pc_ledger_find(&worker, 7));
  assert_int_equal(ledger_add(&worker, 1, 2, 1, 0, NULL), PCAL_OK);
  assert_int_equal(pc_ledger_merge(&ledger, &worker, NULL), PCAL_OK);
  assert_int_equal(ledger.count, 2);
  ledger_check(&ledger, 1, 2, 2.0, 1.0);
  pc_ledger_free(&worker);
  pc_ledger_free(&ledger);
  pc_plan_free(&env, &plan);
}

static void test_too_many_accounts(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_plan plan = ledger_plan(&env);
  pc_ledger ledger;
  pcal_error err;
  pc_ledger_init(&ledger, &env, &plan);
  assert_int_equal(ledger_add(&ledger, PC_GROUPS_MAX, 1, 1, 0, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "more than 1048576 groups; groups are meant for a few kinds of rows");
  assert_int_equal(ledger.count, 0);
  pc_ledger_free(&ledger);
  pc_plan_free(&env, &plan);
}

static pcal_status ledger_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pc_plan *plan = user;
  pc_ledger left, right;
  pc_ledger_init(&left, env, plan);
  pc_ledger_init(&right, env, plan);
  pcal_status status = ledger_add(&left, 0, 1, 1, 0, err);
  if (status == PCAL_OK)
    status = ledger_add(&right, 3, 2, 1, 0, err);
  const size_t before = left.count;
  if (status == PCAL_OK)
    status = pc_ledger_merge(&left, &right, err);
  if (status != PCAL_OK)
    assert_true(left.count == before);
  pc_ledger_free(&left);
  pc_ledger_free(&right);
  return status;
}

static void test_out_of_memory(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_plan plan = ledger_plan(&env);
  unit_fail_each_allocation(ledger_scenario, &plan);
  pc_plan_free(&env, &plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accounts_are_apart),    cmocka_unit_test(test_merge_and_total),
      cmocka_unit_test(test_clear_leaves_no_trace), cmocka_unit_test(test_too_many_accounts),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
