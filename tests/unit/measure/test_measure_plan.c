#include "measure/measure_plan.h"

#include "../unit.h"

static const pc_layout plan_classes = {PCAL_PROBABILITY, 3, 3};
static const pc_layout plan_binary = {PCAL_LOGIT, 1, 2};
static const pc_layout plan_confidence = {PCAL_CONFIDENCE, 1, 1};

static pc_measure_plan plan_make(const pc_layout *layout, const char *const *specs,
                                 size_t count) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan;
  pcal_error err;
  if (pc_measure_plan_new(&env, layout, NULL, specs, count, &plan, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return plan;
}

static void plan_free(pc_measure_plan *plan) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan_free(&env, plan);
}

static void plan_refused(const pc_layout *layout, const char *spec, const char *sentence) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan;
  pcal_error err;
  assert_int_equal(pc_measure_plan_new(&env, layout, NULL, &spec, 1, &plan, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, sentence);
  assert_null(plan.entries);
}

TEST(test_metrics_share_states) {
  static const char *const specs[] = {"brier",
                                      "rbs",
                                      "brier:half=yes",
                                      "ece",
                                      "mce",
                                      "ece:norm=l2",
                                      "ks",
                                      "ece:binning=mass",
                                      "ece:binning=mass,bins=7"};
  pc_measure_plan plan = plan_make(&plan_classes, specs, UNIT_COUNT(specs));
  assert_int_equal(plan.entry_count, UNIT_COUNT(specs));
  assert_int_equal(plan.slot_count, 3);
  for (size_t i = 0; i < plan.entry_count; i++)
    assert_int_equal(plan.entries[i].slot, i / 3);
  assert_int_equal(plan.reliability_slot, plan.entries[3].slot);
  assert_int_equal(plan.view_count, 1);
  assert_int_equal(plan.slots[0].view, PC_NO_VIEW);
  assert_int_equal(plan.slots[1].view, 0);
  assert_int_equal(plan.slots[2].view, 0);
  assert_string_equal(plan.slots[0].machine->name, "sum");
  assert_string_equal(plan.slots[1].machine->name, "grid");
  assert_string_equal(plan.slots[2].machine->name, "curve");
  plan_free(&plan);
}

TEST(test_different_needs_have_their_own_states) {
  static const char *const specs[] = {"ece:bins=10",  "ece:edges=left", "ks:rank=2",  "log",
                                      "log:clip=0.1", "accuracy",       "ks:by=label"};
  pc_measure_plan plan = plan_make(&plan_classes, specs, UNIT_COUNT(specs));
  assert_int_equal(plan.slot_count, UNIT_COUNT(specs) + 1); /* and the reliability table */
  for (size_t i = 0; i < plan.entry_count; i++)
    assert_int_equal(plan.entries[i].slot, i);
  assert_int_equal(plan.reliability_slot, UNIT_COUNT(specs));
  assert_int_equal(plan.view_count, 3); /* rank 1, rank 2, rank 1 by label */
  plan_free(&plan);
}

TEST(test_same_spec_is_measured_once) {
  static const char *const specs[] = {"ece",     "ece:bins=15", "ece:view=top", "default",
                                      "default", "all",         "ks:rank=1",    "mce"};
  static const char *const once[] = {"default", "all"};
  pc_measure_plan plan = plan_make(&plan_classes, specs, UNIT_COUNT(specs));
  pc_measure_plan same = plan_make(&plan_classes, once, UNIT_COUNT(once));
  assert_int_equal(plan.entry_count, same.entry_count);
  size_t of_classes = 0;
  for (size_t m = 0; m < pc_metric_count(); m++)
    of_classes += pc_metric_at(m)->row.task == PCAL_CLASSIFICATION;
  assert_true(plan.entry_count >= of_classes);
  assert_string_equal(plan.entries[0].metric->row.name, "ece");
  plan_free(&plan);
  plan_free(&same);
}

TEST(test_nothing_asked_for_is_default) {
  static const char *const group[] = {"default"};
  pc_measure_plan plan = plan_make(&plan_classes, NULL, 0),
                  same = plan_make(&plan_classes, group, 1);
  assert_true(plan.entry_count > 3);
  assert_true(pc_measure_plan_equal(&plan, &same));
  plan_free(&plan);
  plan_free(&same);
}

TEST(test_groups_leave_out_what_does_not_fit) {
  static const char *const all[] = {"all"};
  pc_measure_plan plan = plan_make(&plan_confidence, all, 1);
  for (size_t i = 0; i < plan.entry_count; i++)
    assert_false(plan.entries[i].metric->traits & PC_NEEDS_CLASSES);
  assert_true(plan.entry_count > 0 && plan.entry_count < pc_metric_count());
  assert_false(plan.needs_log);
  assert_null(plan.whole_weights);
  plan_free(&plan);
}

TEST(test_a_named_metric_must_fit) {
  plan_refused(&plan_confidence, "log",
               "log needs the probabilities of all classes; give them as probs or logits "
               "instead of confidence");
  plan_refused(&plan_classes, "ks:rank=4",
               "ks: rank=4 is too large for the data; the largest possible is 3");
  plan_refused(&plan_confidence, "canonical",
               "none of the requested metrics fits confidence; pcal_registry_at shows "
               "all metrics");
}

TEST(test_what_rows_must_be_ready_for) {
  static const char *const plain[] = {"ece"}, *const more[] = {"ece", "log", "skce"};
  pc_measure_plan plan = plan_make(&plan_classes, plain, 1);
  assert_false(plan.needs_log);
  assert_null(plan.whole_weights);
  plan_free(&plan);
  plan = plan_make(&plan_classes, more, 3);
  assert_true(plan.needs_log);
  assert_string_equal(plan.whole_weights, "skce");
  assert_null(plan.no_weights);
  assert_null(plan.by_index);
  plan_free(&plan);
  static const char *const blocks[] = {"ece", "kce", "skce:estimator=block"};
  plan = plan_make(&plan_classes, blocks, 3); /* the default of kce takes any weights */
  assert_null(plan.whole_weights);
  assert_string_equal(plan.no_weights, "skce");
  assert_string_equal(plan.by_index, "skce");
  plan_free(&plan);
}

/* The reliability table is that of class 1 for a one-column score, else of the top class. */
TEST(test_reliability_follows_the_data) {
  static const char *const specs[] = {"accuracy"};
  pc_measure_plan plan = plan_make(&plan_binary, specs, 1);
  const pc_need *need = &plan.slots[plan.reliability_slot].need;
  assert_int_equal(need->view.kind, PC_VIEW_CLASS);
  assert_int_equal(need->view.index, 1);
  assert_int_equal(need->grid.bins, PC_RELIABILITY_BINS);
  plan_free(&plan);
  plan = plan_make(&plan_confidence, specs, 1);
  assert_int_equal(plan.slots[plan.reliability_slot].need.view.kind, PC_VIEW_RANK);
  plan_free(&plan);
}

TEST(test_equal_plans) {
  static const char *const one[] = {"ece", "ks"}, *const other[] = {"ks", "ece"},
                           *const longer[] = {"ece", "ks", "mce"},
                           *const spelled[] = {"ece:bins=15,norm=l1", "ks:rank=1"};
  pc_measure_plan plan = plan_make(&plan_classes, one, 2),
                  swapped = plan_make(&plan_classes, other, 2);
  pc_measure_plan more = plan_make(&plan_classes, longer, 3),
                  same = plan_make(&plan_classes, spelled, 2);
  const pc_layout four = {PCAL_PROBABILITY, 4, 4};
  pc_measure_plan wider = plan_make(&four, one, 2);
  assert_true(pc_measure_plan_equal(&plan, &plan));
  assert_true(pc_measure_plan_equal(&plan, &same));
  assert_false(pc_measure_plan_equal(&plan, &swapped));
  assert_false(pc_measure_plan_equal(&plan, &more));
  assert_false(pc_measure_plan_equal(&plan, &wider));
  plan_free(&plan);
  plan_free(&swapped);
  plan_free(&more);
  plan_free(&same);
  plan_free(&wider);
}

static pcal_status plan_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const specs[] = {"all", "ece:bins=3", "ks:rank=2"};
  pc_measure_plan plan;
  (void)user;
  PC_TRY(pc_measure_plan_new(env, &plan_classes, NULL, specs, 3, &plan, err));
  pc_measure_plan_free(env, &plan);
  return PCAL_OK;
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(plan_scenario, NULL);
}

/* The reliability table wants squares; ece with the same bins shares it. */
TEST(test_grids_share_their_moments) {
  static const char *const specs[] = {"ece", "mce", "tce", "ece:edges=left"};
  pc_measure_plan plan = plan_make(&plan_classes, specs, UNIT_COUNT(specs));
  assert_int_equal(plan.slot_count, 2);
  assert_int_equal(plan.reliability_slot, 0);
  assert_int_equal(plan.slots[0].need.grid.moments, PC_MOMENT_SQUARE);
  assert_int_equal(plan.slots[1].need.grid.moments, 0);
  plan_free(&plan);
}

static pc_measure_plan plan_judging(const pc_layout *layout, const char *spec) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_measure_plan plan = plan_make(layout, &spec, 1);
  assert_true(plan.classes_slot == PC_NO_SLOT);
  assert_int_equal(pc_measure_plan_judge_classes(&env, &plan, NULL), PCAL_OK);
  return plan;
}

/* The verdict reads the bins of every class if these are measured, those of cwce; of two columns in
 * any case, with squares; and none of one column and of confidences. */
TEST(test_states_of_each_class) {
  const pc_layout two = {.kind = PCAL_LOGIT, .columns = 2, .classes = 2};
  const pc_layout one = {.kind = PCAL_PROBABILITY, .columns = 1, .classes = 2};
  const pc_layout top = {.kind = PCAL_CONFIDENCE, .columns = 1, .classes = 1};
  pc_measure_plan plan = plan_judging(&plan_classes, "cwce");
  assert_int_equal(plan.classes_slot, plan.entries[0].slot);
  assert_int_equal(plan.slots[plan.classes_slot].need.grid.moments, 0);
  plan_free(&plan);
  plan = plan_judging(&plan_classes, "ece");
  assert_true(plan.classes_slot == PC_NO_SLOT);
  plan_free(&plan);
  plan = plan_judging(&two, "cwce");
  assert_int_equal(plan.classes_slot, plan.entries[0].slot);
  assert_int_equal(plan.slots[plan.classes_slot].need.grid.moments, PC_MOMENT_SQUARE);
  plan_free(&plan);
  plan = plan_judging(&two, "ece");
  assert_int_equal(plan.classes_slot, 1);
  assert_int_equal(plan.slots[1].need.view.kind, PC_VIEW_CLASSES);
  assert_int_equal(plan.slots[1].need.grid.moments, PC_MOMENT_SQUARE);
  assert_true(pc_measure_plan_reads(&plan, 1));
  plan_free(&plan);
  plan = plan_judging(&two, "ece:view=positive");
  assert_int_equal(plan.classes_slot, plan.entries[0].slot);
  assert_int_equal(plan.slots[plan.classes_slot].need.view.kind, PC_VIEW_CLASS);
  plan_free(&plan);
  plan = plan_judging(&one, "ece");
  assert_true(plan.classes_slot == PC_NO_SLOT);
  plan_free(&plan);
  plan = plan_judging(&top, "ece");
  assert_true(plan.classes_slot == PC_NO_SLOT);
  plan_free(&plan);
}

TEST(test_gce_variants_share_states) {
  static const char *const specs[] = {"gce32"};
  pc_measure_plan plan = plan_make(&plan_classes, specs, 1);
  assert_int_equal(plan.entry_count, 32);
  /* widths: 4 kinds of scores, 2 thresholds; curves: 4 kinds; and the reliability table */
  assert_int_equal(plan.slot_count, 8 + 4 + 1);
  assert_int_equal(plan.view_count, 4);
  plan_free(&plan);
}

TEST(test_curves_that_may_stay_coarse) {
  static const char *const specs[] = {"ece:binning=mass",           "ks",
                                      "ece:binning=sweep,view=top", "ace",
                                      "ace:weights=equal",          "ks:rank=2"};
  pc_measure_plan plan = plan_make(&plan_classes, specs, UNIT_COUNT(specs));
  assert_false(pc_measure_plan_can_refine(&plan, plan.entries[0].slot)); /* shared with sweep */
  assert_int_equal(plan.entries[0].slot, plan.entries[2].slot);
  assert_false(
      pc_measure_plan_can_refine(&plan, plan.entries[3].slot)); /* shared with weights=equal */
  assert_true(pc_measure_plan_can_refine(&plan, plan.entries[5].slot));
  plan_free(&plan);
}
