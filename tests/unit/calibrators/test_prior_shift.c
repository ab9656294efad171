/* Numbers in brackets are the edge cases of prior_shift.c. */
#include "calibrator_help.h"

#include <math.h>

/* Old prevalence from the labels: 2 of 4 rows, so odds are divided by 9. */
TEST(new_prevalence_given) {
  const double probs[] = {0.1, 0.4, 0.6, 0.9};
  const int32_t labels[] = {0, 1, 0, 1};
  double out[4];
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 4, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "prior-shift:prevalence=0.1");
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 4; i++) {
    const double odds = probs[i] / (1 - probs[i]) / 9;
    assert_near(out[i], odds / (1 + odds), 1e-15);
  }
  assert_int_equal(calibrator->fit.status, PC_FIT_CLOSED_FORM);
  assert_int_equal(pc_calibrator_traits(calibrator), PC_SUMS_TO_ONE | PC_KEEPS_ORDER);
  pcal_calibrator_free(calibrator);
}

/* [3] Both prevalences given: no labels are needed. */
TEST(both_given) {
  const double probs[][3] = {{0.5, 0.25, 0.25}, {0.0, 0.5, 0.5}};
  const double expected[][3] = {{0.25, 0.25, 0.5}, {0.0, 1.0 / 3.0, 2.0 / 3.0}};
  double out[2][3];
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], NULL, 2, 3);
  pcal_calibrator *calibrator =
      help_fit(&batch, "prior-shift:prevalence=0.25/0.25/0.5,from=0.5/0.25/0.25");
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++)
      assert_near(out[i][k], expected[i][k], 1e-15);
  pcal_calibrator_free(calibrator);
}

/* EM for two scores a and 1 - a, share s of the first: the likelihood
 * s log(1 - x + (2x - 1) ...) has its maximum where P(score = a) = s, that is
 * new_1 a + (1 - new_1)(1 - a) = s with likelihood ratios a / (1 - a) at old prevalence 1/2. */
TEST(em_solves_the_mixture) {
  const double probs[] = {0.8, 0.8, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.8};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, NULL, 10, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "prior-shift:from=0.5");
  double out[10], mean = 0;
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 10; i++)
    mean += out[i] / 10;
  assert_near(mean, (0.3 - 0.2) / 0.6, 1e-9);
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_int_equal(calibrator->fit.warning_count, 0);
  pcal_calibrator_free(calibrator);
}

/* Labels alone: the mean prediction becomes the share of each class. */
TEST(labels_alone_make_means_right) {
  const double probs[][3] = {{0.7, 0.2, 0.1}, {0.2, 0.5, 0.3}, {0.1, 0.1, 0.8},
                             {0.5, 0.3, 0.2}, {0.3, 0.3, 0.4}, {0.6, 0.1, 0.3}};
  const int32_t labels[] = {0, 1, 2, 1, 1, 0};
  const double share[] = {2.0 / 6.0, 3.0 / 6.0, 1.0 / 6.0};
  double out[6][3];
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 6, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "prior-shift");
  help_apply(calibrator, &batch, out);
  for (int k = 0; k < 3; k++) {
    double mean = 0;
    for (int i = 0; i < 6; i++)
      mean += out[i][k] / 6;
    assert_near(mean, share[k], 1e-9);
  }
  pcal_calibrator_free(calibrator);
}

/* [2] A class without labels. */
TEST(absent_class) {
  const double probs[][3] = {{0.7, 0.2, 0.1}, {0.2, 0.5, 0.3}};
  const int32_t labels[] = {0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 2, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "prior-shift:prevalence=0.2/0.3/0.5");
  assert_int_equal(calibrator->fit.warning_count, 1);
  assert_string_equal(
      calibrator->fit.warnings[0],
      "1 of 3 classes never occur among the labels: half a row is added to each class");
  pcal_calibrator_free(calibrator);
}

TEST(refused) {
  const double probs[][3] = {{0.7, 0.2, 0.1}, {0.2, 0.5, 0.3}};
  const int32_t labels[] = {0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 2, 3);
  const pcal_batch bare = help_batch(PCAL_PROBABILITY, &probs[0][0], NULL, 2, 3);
  help_refused(&batch, "prior-shift:prevalence=0.1", PCAL_USAGE,
               "prevalence of prior-shift has 1 number for 3 classes; give one for each class, "
               "separated by '/'");
  help_refused(&batch, "prior-shift:prevalence=0.125/0.25/0.25", PCAL_USAGE,
               "prevalence of prior-shift sums to 0.625; it must sum to 1");
  help_refused(&batch, "prior-shift:from=0/0.5/0.5", PCAL_USAGE,
               "from of prior-shift is 0 for class 0; every class needs a prevalence above 0");
  help_refused(&bare, "prior-shift", PCAL_USAGE,
               "without labels prior-shift needs the prevalence under which the scores hold; "
               "write prior-shift:from=0.5, or give the labels");
}

TEST(files) {
  help_parameters("prior-shift", 2, "{\"old\": [0.5, 0.5], \"new\": [0.9, 0.1]}", NULL);
  help_parameters("prior-shift", 2, "{\"old\": [0.5, 0.5], \"new\": [1]}",
                  "cal.json, line 3: there must be a prevalence for each class");
  help_parameters("prior-shift", 2, "{\"old\": [0.5, 0.5], \"new\": [1, 0]}",
                  "cal.json, line 3: a prevalence must be a number above 0 and at most 1");
}
