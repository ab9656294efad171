/* test-size: which numbers can be trusted at which number of rows?
 *
 * Design:   metrics on random subsets of 100 rows up to all rows (size_sweep.c); an unbiased
 *           estimator is a flat line.  relative = Error(n) / Error(all rows), averaged over models
 *           where there are several.
 * Edge cases:
 *   (1) space=squared studies the squares of metrics, where the Brier score, the square of rbs, is
 *       unbiased;
 *   (2) models of one data set share the same subsets.
 * Source:   Gruber & Buettner 2022, Figures 3 (both sides), 5 and 7; appendix G.2. */
#include <stdio.h>

#include "studies/size_sweep.h"

enum { TEST_SIZE_SPACE };
enum { TEST_SIZE_PLAIN, TEST_SIZE_SQUARED };

static const pcal_option test_size_options[] = {
    {"space", PCAL_OPTION_CHOICE, "plain", 0, 0, "plain|squared",
     "study the metrics, or the squares of errors; brier and other scores are not squared "
     "again"},
};

static const char *const test_size_specs[] = {"paper"};

static pcal_status test_size_case(pc_size_sweep *plan, size_t index, pcal_error *err) {
  const pcal_model *model = &plan->job->config->models[index];
  pc_size_case *studied = &plan->cases[index];
  pc_study_probs data;
  snprintf(studied->name, sizeof studied->name, "%.95s",
           model->name == NULL ? "" : model->name);
  pcal_status status = pc_study_probs_read(plan->job, model->source, &data, err);
  studied->data = &data;
  if (status == PCAL_OK)
    status = pc_size_sweep_measure(plan, studied, err);
  studied->data = NULL;
  pc_study_probs_free(&data);
  return status;
}

static pcal_status test_size_run(const pc_study_job *job, pc_findings *findings,
                                 pcal_error *err) {
  const pcal_study_config *config = job->config;
  const int own = config->spec_count == 0;
  pc_size_sweep plan = {.job = job,
                        .specs = own ? test_size_specs : config->specs,
                        .spec_count = own ? 1 : config->spec_count,
                        .squared =
                            job->options->value[TEST_SIZE_SPACE].choice == TEST_SIZE_SQUARED,
                        .case_count = config->model_count};
  const pcal_model *first;
  if (plan.case_count == 0)
    PC_TRY(pc_study_single_model(job, &first, err));
  pc_findings_add_sentence(
      findings,
      "%s on random subsets of the rows, drawn without replacement: mean and "
      "standard error over subsets, and the mean relative to that of all rows.",
      plan.squared ? "Squares of metrics" : "Metrics");
  return pc_size_sweep_run(&plan, test_size_case, findings, err);
}

const pc_study pc_study_test_size = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "test-size",
            .title = "how do errors change with the number of rows?",
            .formula = "mean of a metric over random subsets of n rows, divided by its value "
                       "on all rows",
            .about =
                "Draws subsets of your rows without replacement, ten sizes from 100 rows to "
                "all of them (or those of `rows`), and measures each: 20000 subsets of the "
                "smallest size down to 2 of the largest, as published, or `repeats` of each. "
                "A metric that depends on the number of rows describes the sample size as much "
                "as the model. The metrics are the group paper unless `metric` says otherwise; "
                "several models are also averaged.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Figure 3 and appendix G.2",
            .options = test_size_options,
            .option_count = sizeof test_size_options / sizeof *test_size_options,
        },
    .run = test_size_run,
};
