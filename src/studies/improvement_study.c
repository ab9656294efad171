/* improvement: how much does a calibrator seem to improve a model, at which number of rows?
 *
 * Formula:  e(D, f) - e(D, h o f), D a random subset of the rows (size_sweep.c), f the model, h a
 *           calibrator; space=squared: e(D, f)^2 - e(D, h o f)^2
 * Edge cases:
 *   (1) h is fitted once, to the second set; without one, in 5-fold cross-validation, so that
 *       every row is mapped by a calibrator that has not seen it;
 *   (2) rbs is always among the metrics, as the reference: for an injective h its change is that
 *       of the calibration error, and unbiased in squared space;
 *   (3) several methods are reported one by one; several models under one method are also
 *       averaged.
 * Source:   Gruber & Buettner 2022, Figures 1, 6 and 7 (second row), appendix G.4; Proposition
 *           4.5. */
#include <stdio.h>
#include <string.h>

#include "compare/held_out.h"
#include "studies/size_sweep.h"

enum { IMPROVEMENT_SPACE };
enum { IMPROVEMENT_PLAIN, IMPROVEMENT_SQUARED };

#define IMPROVEMENT_FOLDS 5
#define IMPROVEMENT_REFERENCE "rbs"

static const pcal_option improvement_options[] = {
    {"space", PCAL_OPTION_CHOICE, "plain", 0, 0, "plain|squared",
     "study the metrics, or the squares of errors; brier and other scores are not squared "
     "again"},
};

static const char *const improvement_specs[] = {"paper"};
static const char *const improvement_methods[] = {"temperature"};

static size_t improvement_method_count(const pc_study_job *job) {
  return job->config->method_count == 0 ? 1 : job->config->method_count;
}

static const char *improvement_method(const pc_study_job *job, size_t index) {
  return job->config->method_count == 0 ? improvement_methods[index]
                                        : job->config->methods[index];
}

/* ---- rows after a calibrator ---- */

static pcal_status improvement_map(const pc_study_job *job, const pc_held_out *held_out,
                                   pcal_calibrator *const *calibrators, pc_study_probs *out,
                                   pcal_error *err) {
  pc_recalibrated_source mapped;
  pcal_status status = pc_held_out_open(held_out, calibrators, &mapped, err);
  if (status == PCAL_OK)
    status = pc_study_probs_read(job, mapped.source, out, err);
  pc_recalibrated_source_close(&mapped);
  return status;
}

/* Fits the method, stores its name in `label`, and maps the rows. */
static pcal_status improvement_fit(const pc_study_job *job, const pcal_model *model,
                                   const char *method, char label[PC_SPEC_MAX],
                                   pc_study_probs *out, pcal_error *err) {
  const size_t folds = model->val != NULL ? 1 : IMPROVEMENT_FOLDS;
  const pc_held_out held_out = {.env = job->env,
                                .source = model->source,
                                .val = model->val,
                                .folds = {job->env->seed, folds, 0},
                                .normalize = job->config->normalize,
                                .skip_missing = job->config->skip_missing};
  pcal_calibrator *calibrators[IMPROVEMENT_FOLDS] = {NULL};
  memset(out, 0, sizeof *out);
  pcal_status status = pc_held_out_fit(&held_out, method, calibrators, err);
  if (status == PCAL_OK) {
    pc_options_write(&calibrators[0]->options, 0, label, PC_SPEC_MAX);
    status = improvement_map(job, &held_out, calibrators, out, err);
  }
  for (size_t i = 0; i < folds; i++)
    pc_calibrator_free(calibrators[i]);
  return status;
}

/* ---- the study ---- */

static pcal_status improvement_measure(pc_size_sweep *plan, const pcal_model *model,
                                       const char *method, const pc_study_probs *before,
                                       pc_size_case *out, pcal_error *err) {
  char label[PC_SPEC_MAX];
  pc_study_probs after;
  pcal_status status = improvement_fit(plan->job, model, method, label, &after, err);
  if (status == PCAL_OK) {
    snprintf(out->name, sizeof out->name, "%.45s%s%.45s",
             model->name == NULL ? "" : model->name, model->name == NULL ? "" : " + ", label);
    out->data = before;
    out->after = &after;
    status = pc_size_sweep_measure(plan, out, err);
    out->data = out->after = NULL;
  }
  pc_study_probs_free(&after);
  return status;
}

static pcal_status improvement_case(pc_size_sweep *plan, size_t index, pcal_error *err) {
  const size_t methods = improvement_method_count(plan->job);
  const pcal_model *model = &plan->job->config->models[index / methods];
  pc_study_probs before;
  pcal_status status = pc_study_probs_read(plan->job, model->source, &before, err);
  if (status == PCAL_OK)
    status = improvement_measure(plan, model, improvement_method(plan->job, index % methods),
                                 &before, &plan->cases[index], err);
  pc_study_probs_free(&before);
  return status;
}

static void improvement_summarise(const pc_size_sweep *plan, pc_findings *findings) {
  const pcal_study_config *config = plan->job->config;
  const int one = plan->case_count == 1;
  char label[PC_TABLE_WORD_MAX];
  snprintf(label, sizeof label, "%.80s", improvement_method(plan->job, 0));
  pc_findings_add_sentence(
      findings,
      "Improvement by %s, fitted %s, as %s see it on random subsets of the rows, "
      "drawn without replacement: mean and standard error over subsets, and the "
      "mean relative to that of all rows; %s is the reference.",
      one ? label : "each method",
      config->models[0].val != NULL ? "to the second set" : "in 5-fold cross-validation",
      plan->squared ? "squares of metrics" : "metrics",
      plan->squared ? "the square of rbs, the Brier score," : "rbs");
}

/* Runs the study with the specs of the user and, where it applies, the reference. */
static pcal_status improvement_run_specs(pc_size_sweep *plan, const char **specs,
                                         pc_findings *findings, pcal_error *err) {
  const pcal_study_config *config = plan->job->config;
  pcal_shape shape = {.size = sizeof shape};
  const int own = config->spec_count == 0;
  pc_source_shape(config->models[0].source, &shape);
  for (size_t i = 0; i < config->spec_count; i++)
    specs[i] = config->specs[i];
  plan->spec_count = config->spec_count;
  if (!own && shape.kind != PCAL_CONFIDENCE)
    specs[plan->spec_count++] = IMPROVEMENT_REFERENCE;
  plan->specs = own ? improvement_specs : specs;
  plan->spec_count = own ? 1 : plan->spec_count;
  improvement_summarise(plan, findings);
  return pc_size_sweep_run(plan, improvement_case, findings, err);
}

static pcal_status improvement_run(const pc_study_job *job, pc_findings *findings,
                                   pcal_error *err) {
  const pcal_study_config *config = job->config;
  const size_t methods = improvement_method_count(job);
  pc_size_sweep plan = {.job = job,
                        .squared = job->options->value[IMPROVEMENT_SPACE].choice ==
                                   IMPROVEMENT_SQUARED,
                        .apart = methods > 1,
                        .improvements = 1,
                        .case_count = config->model_count * methods};
  const pcal_model *first;
  if (plan.case_count == 0)
    PC_TRY(pc_study_single_model(job, &first, err));
  const char **specs = pc_alloc(job->env, config->spec_count + 1, sizeof *specs);
  if (specs == NULL)
    return pc_fail_memory(err, "studying improvements");
  const pcal_status status = improvement_run_specs(&plan, specs, findings, err);
  pc_free(job->env, specs);
  return status;
}

const pc_study pc_study_improvement = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "improvement",
            .title = "how does a calibrator's improvement change with the number of rows?",
            .formula = "mean of e(D, f) - e(D, h o f) over random subsets D of n rows",
            .about =
                "Fits calibrators (`method`; temperature when none is given) to the second "
                "set, or in 5-fold cross-validation without one, and asks each metric on "
                "random subsets of the rows how much better the model has become. Sizes, "
                "subsets and metrics are those of test-size. The root Brier score is the "
                "reference: for an injective calibrator its change is that of the calibration "
                "error.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Figure 1, Proposition 4.5 and "
                        "appendix G.4",
            .options = improvement_options,
            .option_count = sizeof improvement_options / sizeof *improvement_options,
        },
    .run = improvement_run,
};
