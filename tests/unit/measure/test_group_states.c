#include "measure/group_states.h"
#include "measure/row_ranges.h"

#include "../unit.h"

/* One state: confidences in 15 bins. */
static pc_measure_plan group_states_plan(const pcal_env *env) {
  static const char *const specs[] = {"ece"};
  const pc_layout layout = {PCAL_CONFIDENCE, 1, 1};
  pc_measure_plan plan;
  assert_int_equal(pc_measure_plan_new(env, &layout, NULL, specs, 1, &plan, NULL), PCAL_OK);
  assert_int_equal(plan.slot_count, 1);
  return plan;
}

/* `count` rows with score 0.5, the first of them hits, weight 2 each if weighted. */
static pcal_status group_states_add(pc_group_states *groups, size_t number, size_t count,
                                    size_t hits, int weighted, pcal_error *err) {
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
  return pc_group_states_update(groups, number, &rows, &columns, err);
}

static void group_states_check(const pc_group_states *groups, size_t number, uint64_t rows,
                               double weight, double hits) {
  const pc_group_state *state = pc_group_states_find(groups, number);
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  assert_non_null(state);
  assert_int_equal(state->totals.rows, rows);
  assert_same(pc_sum_value(&state->totals.weight), weight);
  const pc_machine *machine = groups->plan->slots[0].machine;
  assert_int_equal(machine->finish(groups->env, state->slots[0], &evidence, NULL), PCAL_OK);
  assert_same(evidence.grid.bins[7].weight, weight);
  assert_same(evidence.grid.bins[7].hits, hits);
  machine->release(groups->env, &evidence);
}

TEST(test_accounts_are_apart) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = group_states_plan(&env);
  pc_group_states groups;
  pc_group_states_init(&groups, &env, &plan);
  assert_int_equal(group_states_add(&groups, 0, 3, 1, 0, NULL), PCAL_OK);
  assert_int_equal(group_states_add(&groups, 5, 2, 2, 1, NULL), PCAL_OK);
  assert_int_equal(group_states_add(&groups, 0, 1, 0, 1, NULL), PCAL_OK);
  group_states_check(&groups, 0, 4, 5.0, 1.0);
  group_states_check(&groups, 5, 2, 4.0, 4.0);
  assert_null(pc_group_states_find(&groups, 3));
  assert_null(pc_group_states_find(&groups, 6));
  assert_int_equal(pc_group_states_find(&groups, 0)->totals.label_low, 0);
  assert_int_equal(pc_group_states_find(&groups, 0)->totals.label_high, 1);
  assert_int_equal(pc_group_states_find(&groups, 5)->totals.label_low, 1);
  pc_group_states_free(&groups);
  pc_measure_plan_free(&env, &plan);
}

TEST(test_merge_and_total) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = group_states_plan(&env);
  pc_group_states left, right, total;
  pc_group_states_init(&left, &env, &plan);
  pc_group_states_init(&right, &env, &plan);
  pc_group_states_init(&total, &env, &plan);
  assert_int_equal(group_states_add(&left, 0, 3, 1, 0, NULL), PCAL_OK);
  assert_int_equal(group_states_add(&right, 0, 1, 1, 0, NULL), PCAL_OK);
  assert_int_equal(group_states_add(&right, 2, 4, 3, 0, NULL), PCAL_OK);
  assert_int_equal(pc_group_states_merge(&left, &right, NULL), PCAL_OK);
  group_states_check(&left, 0, 4, 4.0, 2.0);
  group_states_check(&left, 2, 4, 4.0, 3.0);
  assert_null(pc_group_states_find(&left, 1));
  group_states_check(&right, 2, 4, 4.0, 3.0);
  assert_int_equal(pc_group_states_total(&total, &left, NULL), PCAL_OK);
  group_states_check(&total, 0, 8, 8.0, 5.0);
  pc_group_states_free(&left);
  pc_group_states_free(&right);
  pc_group_states_free(&total);
  pc_measure_plan_free(&env, &plan);
}

/* Accounts that were cleared have no rows, and a merge does not carry them over. */
TEST(test_clear_leaves_no_trace) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = group_states_plan(&env);
  pc_group_states worker, groups;
  pc_group_states_init(&worker, &env, &plan);
  pc_group_states_init(&groups, &env, &plan);
  assert_int_equal(group_states_add(&worker, 7, 4, 4, 0, NULL), PCAL_OK);
  pc_group_states_clear(&worker);
  assert_null(pc_group_states_find(&worker, 7));
  assert_int_equal(group_states_add(&worker, 1, 2, 1, 0, NULL), PCAL_OK);
  assert_int_equal(pc_group_states_merge(&groups, &worker, NULL), PCAL_OK);
  assert_int_equal(groups.count, 2);
  group_states_check(&groups, 1, 2, 2.0, 1.0);
  pc_group_states_free(&worker);
  pc_group_states_free(&groups);
  pc_measure_plan_free(&env, &plan);
}

TEST(test_too_many_accounts) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = group_states_plan(&env);
  pc_group_states groups;
  pcal_error err;
  pc_group_states_init(&groups, &env, &plan);
  assert_int_equal(group_states_add(&groups, PC_GROUPS_MAX, 1, 1, 0, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "more than 1048576 groups; give a column with fewer distinct values");
  assert_int_equal(groups.count, 0);
  pc_group_states_free(&groups);
  pc_measure_plan_free(&env, &plan);
}

static pcal_status group_states_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pc_measure_plan *plan = user;
  pc_group_states left, right;
  pc_group_states_init(&left, env, plan);
  pc_group_states_init(&right, env, plan);
  pcal_status status = group_states_add(&left, 0, 1, 1, 0, err);
  if (status == PCAL_OK)
    status = group_states_add(&right, 3, 2, 1, 0, err);
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
  pc_measure_plan plan = group_states_plan(&env);
  unit_fail_each_allocation(group_states_scenario, &plan);
  pc_measure_plan_free(&env, &plan);
}
