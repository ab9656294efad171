/* class-conditional: does ECE detect the errors that histogram binning causes in single
 * classes?
 *
 * Design:  the probabilities as they are, after histogram binning with one table for all classes,
 *          and after histogram binning class by class, fitted to rows that they are not judged
 *          on, are measured by ECE (variant 4) and by the class-conditional ECE (variant 0),
 *          which measures each predicted class separately.
 * Edge cases: those of metric_ranks_study.c.
 * Source:  Nixon et al. 2019, section 5.1, Tables 1 and 2.
 * Cost:    three fits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "studies/gce_variants.h"
#include "studies/method_grid.h"

enum { CLASS_CONDITIONAL_BINS };

static const pcal_option class_conditional_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 10000, NULL, "number of bins, of metrics and methods"},
};

static pcal_status class_conditional_rows(const pc_method_grid *grid, const char *const *names,
                                          pc_findings *findings, pcal_error *err) {
  pc_table *table = pc_findings_add_table(findings, "");
  const int several = grid->model_count > 1;
  if (several)
    pc_table_add_column(table, "model");
  pc_table_add_column(table, "method");
  pc_table_add_column(table, "ece");
  pc_table_add_column(table, "class_ece");
  pc_table_add_column(table, "ratio");
  for (size_t c = 1; c < 3; c++)
    pc_table_set_metric(table, c + (size_t)several, pcal_registry_find(PCAL_METRICS, "ece"));
  for (size_t model = 0; model < grid->model_count; model++)
    for (size_t m = 0; m < grid->method_count; m++) {
      const double ece = pc_method_grid_value(grid, model, m, 0);
      const double each = pc_method_grid_value(grid, model, m, 1);
      const size_t first = (size_t)several;
      PC_TRY(pc_table_add_row(table, err));
      if (several)
        pc_table_set_word(table, 0, grid->models[model].name);
      pc_table_set_word(table, first, names == NULL ? grid->methods[m] : names[m]);
      pc_table_set_number(table, first + 1, ece);
      pc_table_set_number(table, first + 2, each);
      pc_table_set_number(table, first + 3, ece > 0 ? each / ece : (double)NAN);
    }
  return PCAL_OK;
}

/* Adds the finding of Table 1, for the first model. */
static void class_conditional_summarise(const pc_method_grid *grid, pc_findings *findings) {
  char ece[PC_NUMBER_MAX], each[PC_NUMBER_MAX];
  pc_number_round(pc_method_grid_value(grid, 0, 1, 0), 3, ece);
  pc_number_round(pc_method_grid_value(grid, 0, 1, 1), 3, each);
  pc_findings_add_sentence(
      findings,
      "After histogram binning of all classes together ECE is %s, and %s when each "
      "predicted class is measured separately.",
      ece, each);
}

static pcal_status class_conditional_run(const pc_study_job *job, pc_findings *findings,
                                         pcal_error *err) {
  static const char *const names[] = {"as it is", "histogram binning",
                                      "histogram binning by class"};
  const size_t bins = (size_t)job->options->value[CLASS_CONDITIONAL_BINS].number;
  char together[64], each[64];
  const char *const methods[] = {"identity", together, each};
  pc_gce_specs specs;
  pc_method_grid grid;
  snprintf(together, sizeof together, "histogram:classwise=no,bins=%zu", bins);
  snprintf(each, sizeof each, "histogram:classwise=yes,bins=%zu", bins);
  pc_gce_specs_make(bins, &specs);
  const char *const measured[] = {specs.spec[PC_GCE_ECE], specs.spec[PC_GCE_CLASS_ECE]};
  const int own = job->config->method_count == 0;
  pcal_status status =
      pc_method_grid_run(job, methods, 3, 0, measured, 2, &grid, findings, err);
  if (status == PCAL_OK) {
    pc_findings_add_sentence(findings, "%zu methods %s.", grid.method_count,
                             pc_method_grid_fitted(&grid));
    status = class_conditional_rows(&grid, own ? names : NULL, findings, err);
  }
  if (status == PCAL_OK && own)
    class_conditional_summarise(&grid, findings);
  return status;
}

const pc_study pc_study_class_conditional = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "class-conditional",
            .title =
                "does ECE detect the errors that histogram binning causes in single classes?",
            .formula =
                "gce:variant=4 and gce:variant=0, before and after histogram binning with\n"
                "one table for all classes, and class by class",
            .about = "A method that minimises a binned error over all classes together looks "
                     "better by that error than it is for single classes. Methods given with "
                     "`method` take the place of the study's own.",
            .citation =
                "Nixon et al., Measuring Calibration in Deep Learning, 2019, Tables 1 and 2",
            .options = class_conditional_options,
            .option_count =
                sizeof class_conditional_options / sizeof *class_conditional_options,
        },
    .run = class_conditional_run,
};
