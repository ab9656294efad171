/* Numbers in brackets are the edge cases of conformal_sets.c and prediction_sets.c. */
#include "calibrator_help.h"

#include <math.h>

#include "stats/prediction_sets.h"

#define SIMULATED_FIT 199
#define SIMULATED_SETS 400

/* [3] Nine rows and a coverage of 0.9: the largest of nine scores. */
TEST(rank_counts_one_more_row) {
  double scores[9];
  int32_t labels[9];
  for (int i = 0; i < 9; i++) {
    scores[i] = 0.1 * (i + 1);
    labels[i] = 1;
  }
  pcal_batch batch = help_batch(PCAL_PROBABILITY, scores, labels, 9, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "conformal-sets");
  assert_near(*(const double *)calibrator->parameters, 0.9, 1e-12);
  pcal_calibrator_free(calibrator);
  batch.rows = 8;
  help_refused(&batch, "conformal-sets", PCAL_USAGE,
               "8 rows are too few for a coverage of 0.9; give at least 9, or ask for less");
  calibrator = help_fit(&batch, "conformal-sets:coverage=0.5"); /* rank 5 of 0.2 ... 0.9 */
  assert_near(*(const double *)calibrator->parameters, 0.6, 1e-12);
  pcal_calibrator_free(calibrator);
}

/* Scores 0.1 three times, 0.3 twice, 0.5, 0.8 four times: rank ceil(5.5) = 6. */
TEST(weights_are_copies) {
  const double scores[] = {0.2, 0.5, 0.7, 0.9};
  const int32_t labels[] = {1, 1, 1, 1};
  const double weights[] = {4, 1, 2, 3};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, scores, labels, 4, 1);
  batch.weights = weights;
  pcal_calibrator *calibrator = help_fit(&batch, "conformal-sets:coverage=0.5");
  assert_near(*(const double *)calibrator->parameters, 0.5, 1e-12);
  pcal_calibrator_free(calibrator);
}

TEST(scores_by_hand) {
  const double probs[] = {0.2, 0.5, 0.2, 0.1};
  const pc_set_scoring aps = {.rule = PC_SET_APS};
  const pc_set_scoring raps = {.rule = PC_SET_RAPS, .penalty = 0.25, .rank = 1};
  double out[4];
  assert_near(pc_set_score(&aps, probs, 4, 1), 0.5, 1e-15);
  assert_near(pc_set_score(&aps, probs, 4, 0), 0.7, 1e-15); /* before class 2, of equal p */
  assert_near(pc_set_score(&aps, probs, 4, 2), 0.9, 1e-15);
  assert_near(pc_set_score(&raps, probs, 4, 2), 0.9 + 0.5, 1e-15);
  assert_int_equal(pc_set_fill(&aps, probs, 4, 0.8, out), 2);
  assert_true(out[0] == 1 && out[1] == 1 && out[2] == 0 && out[3] == 0);
  assert_int_equal(pc_set_fill(&aps, probs, 4, 0.4, out), 0); /* empty */
}

/* A class is in the set exactly when its score is at most the threshold. */
TEST(fill_and_score_agree) {
  const pc_rng rng = {HELP_SEED, 1};
  for (uint64_t n = 0; n < 200; n++) {
    const pc_set_scoring scoring = {
        .rule = PC_SET_RAPS, .penalty = 0.1, .rank = 2, .random = 1, .seed = n % 3};
    double probs[5], out[5], sum = 0;
    for (uint64_t k = 0; k < 5; k++)
      sum += probs[k] = pc_rng_uniform(&rng, 5 * n + k);
    for (int k = 0; k < 5; k++)
      probs[k] /= sum;
    const double t = pc_rng_uniform(&rng, 10000 + n);
    pc_set_fill(&scoring, probs, 5, t, out);
    for (size_t k = 0; k < 5; k++)
      assert_true(out[k] == (pc_set_score(&scoring, probs, 5, k) <= t));
  }
}

/* The guarantee, for a wrong model: labels follow other probabilities than those predicted.  For
 * aps with draws the coverage of a further row is 0.8; 400 fits have a standard error of 0.02. */
TEST(coverage_holds_for_a_wrong_model) {
  double inside = 0;
  for (uint64_t s = 0; s < SIMULATED_SETS; s++) {
    const pc_rng rng = {HELP_SEED + s, 2};
    static double probs[SIMULATED_FIT + 1][3], out[3];
    static int32_t labels[SIMULATED_FIT + 1];
    for (uint64_t i = 0; i <= SIMULATED_FIT; i++) {
      const double x = pc_rng_uniform(&rng, 3 * i), u = pc_rng_uniform(&rng, 3 * i + 1);
      const double a = 0.2 + 0.6 * x, b = (1 - a) * pc_rng_uniform(&rng, 3 * i + 2);
      probs[i][0] = a;
      probs[i][1] = b;
      probs[i][2] = 1 - a - b;
      labels[i] = u < 0.4 ? 0 : u < 0.4 + 0.3 * x ? 1 : 2;
    }
    const pcal_batch batch =
        help_batch(PCAL_PROBABILITY, &probs[0][0], labels, SIMULATED_FIT, 3);
    const pcal_batch next = help_batch(PCAL_PROBABILITY, &probs[SIMULATED_FIT][0], NULL, 1, 3);
    pcal_calibrator *calibrator = help_fit(&batch, "conformal-sets:coverage=0.8,score=aps");
    help_apply(calibrator, &next, out);
    inside += out[labels[SIMULATED_FIT]];
    pcal_calibrator_free(calibrator);
  }
  assert_true(fabs(inside / SIMULATED_SETS - 0.8) < 0.06);
}

TEST(files) {
  help_parameters("conformal-sets", 2, "{\"threshold\": 0.5}", NULL);
  help_parameters("conformal-sets", 2, "{\"threshold\": \"a\"}",
                  "cal.json, line 3: a threshold must be a number");
}
