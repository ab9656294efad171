#include "../unit.h"

#include "figure/class_order.h"

static void class_order_is(size_t most, int sorted, size_t count, size_t first, size_t second) {
  double values[] = {0.1, NAN, 0.3, 0.3, 0.2};
  const pcal_env env = pc_env_resolve(NULL);
  pc_metric_result outcome;
  pc_class_order order;
  memset(&outcome, 0, sizeof outcome);
  outcome.class_values = values;
  outcome.class_count = 5;
  assert_int_equal(pc_class_order_make(&env, &outcome, most, sorted, &order, NULL), PCAL_OK);
  assert_int_equal(order.count, count);
  assert_int_equal(order.total, 5);
  assert_int_equal(order.classes[0], first);
  assert_int_equal(order.classes[1], second);
  pc_class_order_free(&env, &order);
}

TEST(test_orders) {
  class_order_is(9, 0, 5, 0, 1);
  class_order_is(9, 1, 5, 2, 3);
  class_order_is(2, 0, 2, 2, 3);
}

TEST(test_refused) {
  pc_metric_result outcome;
  pc_class_order order;
  pcal_error err;
  const pcal_env env = pc_env_resolve(NULL);
  memset(&outcome, 0, sizeof outcome);
  assert_int_equal(pc_class_order_make(&env, &outcome, 3, 0, &order, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "there are no values of single classes to draw");
  const pc_layout single = {PCAL_CONFIDENCE, 1, 1}, binary = {PCAL_LOGIT, 1, 2};
  const pc_layout classes = {PCAL_LOGIT, 2, 2};
  assert_int_equal(pc_figure_needs_classes("x", &classes, &err), PCAL_OK);
  assert_int_equal(pc_figure_needs_classes("x", &single, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "figure x needs the probabilities of all classes, but the data have only "
                  "confidences; draw reliability, or give probs");
  assert_int_equal(pc_figure_needs_classes("x", &binary, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "figure x compares classes, but one column of scores has only class 1; "
                  "draw reliability, or give a column for each class");
}
