/* Numbers in brackets are the edge cases of group_boosting.c.  Values against a brute force:
 * tests/python/test_group_boosting.py. */
#include "calibrator_help.h"

#include <float.h>
#include <math.h>

#include "calibrators/boosting/boosting_sets.h"
#include "calibrators/boosting/group_boosting.h"
#include "calibrators/group_calibrators.h"
#include "measure/overlapping_groups.h"

TEST(bins_are_closed_on_the_right) {
  assert_int_equal(pc_boosting_bin(0.0, 10), 1);
  assert_int_equal(pc_boosting_bin(0.1, 10), 1);
  assert_int_equal(pc_boosting_bin(nextafter(0.1, 1.0), 10), 2);
  assert_int_equal(pc_boosting_bin(3.0 / 10.0, 10), 3);
  assert_int_equal(pc_boosting_bin(1.0, 10), 10);
  assert_int_equal(pc_boosting_bin(1.0 + 1e-6, 10), 10);
  assert_int_equal(pc_boosting_bin(-1e-6, 10), 1);
  assert_int_equal(pc_boosting_bin(0.5, 1), 1);
}

/* [2] */
TEST(moves_of_log_odds) {
  const pc_layout binary = {PCAL_PROBABILITY, 1, 2, PC_FORM_CLASSES, {0}};
  const pc_layout three = {PCAL_PROBABILITY, 3, 3, PC_FORM_CLASSES, {0}};
  const double never[2] = {1.0, 0.0}, first[3] = {1.000002, 0.0, 0.0};
  double one = 0.25, zero, near = 1.0 - DBL_EPSILON, begun[3];
  double row[3] = {0.5, 0.25, 0.25};
  pc_boosting_move(&one, 1, 0, log(2.0));
  pc_boosting_begin(never, &binary, &zero);
  pc_boosting_begin(first, &three, begun);
  pc_boosting_move(&near, 1, 0, 4.0);
  pc_boosting_move(row, 3, 0, log(3.0));
  assert_near(one, 0.4, 1e-15);
  assert_true(zero == DBL_EPSILON && near == 1.0 - DBL_EPSILON);
  assert_near(begun[0], 1.0, 1e-15);
  assert_true(begun[1] > 0.0 && begun[1] < 3e-16);
  assert_near(row[0], 0.75, 1e-15);
  assert_near(row[1], 0.125, 1e-15);
  assert_near(pc_boosting_gain(0.25, 1, log(2.0)), log(0.4 / 0.25), 1e-15);
  assert_near(pc_boosting_gain(0.25, 0, log(2.0)), log(0.6 / 0.75), 1e-15);
}

/* One cell of equal probabilities: the best step makes the mean right. */
TEST(one_cell) {
  double probs[8], out[8];
  const int32_t labels[] = {1, 1, 1, 1, 1, 1, 0, 0};
  for (int i = 0; i < 8; i++)
    probs[i] = 0.5;
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 8, 1);
  pcal_calibrator *calibrator =
      help_fit(&batch, "group-boosting:steps=50,rate=1,validate=no,bins=1");
  help_apply(calibrator, &batch, out);
  assert_near(out[0], 0.75, 1e-9);
  assert_int_equal(calibrator->fit.iterations, 1);
  assert_near(calibrator->fit.before, log(2.0), 1e-14);
  assert_near(calibrator->fit.after, -0.75 * log(0.75) - 0.25 * log(0.25), 1e-12);
  pcal_calibrator_free(calibrator);
}

TEST(names_and_their_parts) {
  static const char *const names[] = {"b=2 & a=x", "b=1 & a=x", "plain", "b=1 & a=y"};
  pc_arena arena;
  pc_boosting_sets sets;
  pc_boosting_membership in;
  pcal_error err;
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_arena_open(&arena, &env, &err), PCAL_OK);
  assert_int_equal(pc_boosting_sets_new(&arena.env, names, 4, 100, &sets, &err), PCAL_OK);
  static const char *const sorted[] = {"a=x",   "a=y",       "b=1",       "b=2",
                                       "plain", "b=1 & a=x", "b=1 & a=y", "b=2 & a=x"};
  assert_int_equal(sets.count, 9);
  for (size_t s = 1; s < sets.count; s++)
    assert_string_equal(sets.names[s], sorted[s - 1]);
  pc_boosting_sets_of(&sets, "b=1 & a=y", &in);
  static const uint32_t expected[] = {0, 2, 3, 7};
  assert_int_equal(in.count, 4);
  for (size_t s = 0; s < in.count; s++)
    assert_int_equal(in.sets[s], expected[s]);
  assert_int_equal(pc_boosting_sets_new(&arena.env, names, 4, 7, &sets, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "there are 8 groups; give at most 7");
  pc_arena_close(&arena);
  assert_true(pc_group_is_part("a=x", "b=1 & a=x") && !pc_group_is_part("a=", "b=1 & a=x"));
  assert_true(pc_group_parts_order("a=9 & b=x", "a=10 & b=w") < 0);
  assert_true(pc_group_parts_order("a=9 & b=10", "a=9 & b=9") > 0);
  assert_true(pc_group_parts_order("a=10", "a=x") < 0 &&
              pc_group_parts_order("a=x", "a=x") == 0);
  assert_true(pc_group_parts_order("a=07", "a=7") != 0);
  assert_true(pc_group_is_part("plain", "plain") && !pc_group_is_part("plain", "plain & x"));
}

TEST(files) {
  help_parameters("group-boosting", 1, "{\"steps\": 3}",
                  "cal.json, line 3: steps must be a list of at most 10,000 steps");
  help_parameters("group-boosting", 1, "{\"steps\": [[1, 0]]}",
                  "cal.json, line 3: a step must hold class, bin and size");
  help_parameters("group-boosting", 1, "{\"steps\": [[0, 0, 1]]}",
                  "cal.json, line 3: the class of a step does not exist");
  help_parameters("group-boosting", 3, "{\"steps\": [[3, 0, 1]]}",
                  "cal.json, line 3: the class of a step does not exist");
  help_parameters("group-boosting", 3, "{\"steps\": [[2, 11, 1]]}",
                  "cal.json, line 3: the bin of a step does not exist");
  help_parameters("group-boosting", 3, "{\"steps\": [[2, 1, 4.5]]}",
                  "cal.json, line 3: the size of a step must be from -4 to 4");
}
