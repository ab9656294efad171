/* conformal-sets: sets of classes that contain the true one with a given probability.
 *
 * Formula:  s_i: the score of the label of row i (stats/prediction_sets.h);  t: the
 *           ceil(coverage (n + 1))-th smallest of them;  the set of a row: all classes whose score
 *           is at most t
 * Edge cases:
 *   1. Sets may be empty (lac; aps and raps with random=yes) or hold all classes.
 *   2. One column of scores has sets of two columns, class 0 and class 1.
 *   3. Too few rows for the coverage (9 for 0.9) are refused.
 *   4. penalty and rank are used by raps alone, random and seed by aps and raps.
 * Source:   Sadinle et al. 2019; Romano et al. 2020; Angelopoulos et al. 2021.
 * Cost:     one pass, O(K m) for a label at place m, and a sort. */
#include "base/number.h"
#include "calibrators/conformal/conformal_scores.h"
#include "calibrators/parameter_lists.h"
#include "stats/prediction_sets.h"

enum { SETS_COVERAGE, SETS_SCORE, SETS_PENALTY, SETS_RANK, SETS_RANDOM, SETS_SEED };

static const pcal_option sets_options[] = {
    {"coverage", PCAL_OPTION_REAL, "0.9", 0.01, 0.999, NULL,
     "share of rows whose set contains the true class"},
    {"rule", PCAL_OPTION_CHOICE, "lac", 0, 0, PC_SET_RULES,
     "lac: all classes above one probability, the smallest sets; aps: sets that grow where the "
     "model is unsure; raps: the same with a penalty on large sets"},
    {"penalty", PCAL_OPTION_REAL, "0.01", 0, 10, NULL, "of raps, for each class beyond rank"},
    {"rank", PCAL_OPTION_INT, "5", 0, 1000000, NULL, "classes of raps without penalty"},
    {"random", PCAL_OPTION_BOOL, "yes", 0, 0, NULL,
     "aps, raps: the last class is in the set with the probability that makes the coverage "
     "exact; "
     "no: always, so sets are larger than needed"},
    {"seed", PCAL_OPTION_INT, "0", 0, 1000000000, NULL, "of these draws"},
};

static pc_set_scoring sets_scoring(const pcal_calibrator *calibrator) {
  const pc_option_value *option = calibrator->options.value;
  return (pc_set_scoring){.rule = (pc_set_rule)option[SETS_SCORE].choice,
                          .penalty = option[SETS_PENALTY].number,
                          .rank = option[SETS_RANK].number,
                          .random = option[SETS_RANDOM].number != 0,
                          .seed = (uint64_t)option[SETS_SEED].number};
}

static double sets_score(const pcal_calibrator *calibrator, const pc_rows *rows, size_t i) {
  const pc_set_scoring scoring = sets_scoring(calibrator);
  return pc_set_score(&scoring, rows->probs + i * rows->classes, rows->classes,
                      (size_t)rows->labels[i]);
}

static pcal_status sets_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(double), err));
  return pc_conformal_threshold(task, sets_score,
                                calibrator->options.value[SETS_COVERAGE].number,
                                calibrator->parameters, err);
}

static void sets_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                       double *out) {
  const pc_set_scoring scoring = sets_scoring(calibrator);
  const size_t classes = calibrator->layout.classes;
  for (size_t i = 0; i < count; i++)
    pc_set_fill(&scoring, in + i * classes, classes, *(const double *)calibrator->parameters,
                out + i * classes);
}

static size_t sets_columns(const pcal_calibrator *calibrator) {
  return calibrator->layout.classes;
}

static void sets_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_json_key(json, "threshold");
  pc_json_number(json, *(const double *)calibrator->parameters);
}

static pcal_status sets_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                             const char *file, pcal_error *err) {
  return pc_conformal_read_threshold(calibrator, parameters, file, err);
}

static void sets_describe(const pcal_calibrator *calibrator, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_round(*(const double *)calibrator->parameters, 6, digits);
  pc_text_format(out, "classes with a score up to %s\n", digits);
}

const pc_calibrator_method pc_calibrator_conformal_sets = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "conformal-sets",
            .title = "sets of classes with guaranteed coverage",
            .formula =
                "{k: s_k <= t}, t: the ceil(coverage (n + 1))-th smallest score of a label\n"
                "lac: s_k = 1 - p_k;  aps: s_k = probability above class k + u p_k\n"
                "raps: aps + penalty for places beyond rank",
            .about = "Split conformal prediction for classes: a set for each row that contains "
                     "the true class of a further row with at least the given probability, for "
                     "any model, if the rows of the fit and later ones are exchangeable. Fit "
                     "on rows that the model was not trained on. apply writes a column for "
                     "each class, 1 in the set and 0 outside.",
            .citation = "Sadinle, Lei & Wasserman, JASA 2019; Romano, Sesia & Candes, NeurIPS "
                        "2020; Angelopoulos, Bates, Malik & Jordan, ICLR 2021",
            .options = sets_options,
            .option_count = sizeof sets_options / sizeof *sets_options,
        },
    .comparison_spec = "",
    .makes_sets = 1,
    .fit = sets_fit,
    .apply = sets_apply,
    .output_columns = sets_columns,
    .write = sets_write,
    .read = sets_read,
    .describe = sets_describe,
};
