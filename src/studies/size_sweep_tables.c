/* Tables and sentences of size sweeps.
 *
 * relative:  mean divided by the mean on all rows; its error is divided by the same number.
 * Over several models: the mean of their means, with its error from the errors of each; and the
 * mean of their relative values, with its standard error over models.  Models with different
 * numbers of rows are joined step by step; `rows` is then the mean number. */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "studies/size_sweep.h"

enum {
  SIZE_TABLES_METRIC,
  SIZE_TABLES_ROWS,
  SIZE_TABLES_SUBSETS,
  SIZE_TABLES_MEAN,
  SIZE_TABLES_ERROR,
  SIZE_TABLES_RELATIVE,
  SIZE_TABLES_RELATIVE_ERROR
};

static void size_tables_columns(pc_table *table, int several) {
  static const char *const columns[] = {
      PC_SIZE_COLUMN_METRIC,        PC_SIZE_COLUMN_ROWS,  "subsets",
      PC_SIZE_COLUMN_MEAN,          PC_SIZE_COLUMN_ERROR, PC_SIZE_COLUMN_RELATIVE,
      PC_SIZE_COLUMN_RELATIVE_ERROR};
  if (several)
    pc_table_add_column(table, PC_SIZE_COLUMN_MODEL);
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
}

/* Numbers of a row of a table. */
typedef struct size_tables_row {
  double rows, subsets, mean, error, relative, relative_error;
} size_tables_row;

static size_tables_row size_tables_of(const pc_size_case *from, size_t metric, size_t size) {
  const pc_size_value *value = pc_size_value_at(from, metric, size);
  const double full = pc_size_value_at(from, metric, from->sizes.count - 1)->mean;
  return (size_tables_row){(double)from->sizes.rows[size],
                           (double)from->sizes.repeats[size],
                           value->mean,
                           value->error,
                           full == 0 ? (double)NAN : value->mean / full,
                           full == 0 ? (double)NAN : value->error / fabs(full)};
}

static pcal_status size_tables_add(pc_table *table, const char *model, const char *metric,
                                   const size_tables_row *row, pcal_error *err) {
  const double numbers[] = {row->rows,  row->subsets,  row->mean,
                            row->error, row->relative, row->relative_error};
  const size_t first = model == NULL ? 0 : 1;
  PC_TRY(pc_table_add_row(table, err));
  if (model != NULL)
    pc_table_set_word(table, 0, model);
  pc_table_set_word(table, first + SIZE_TABLES_METRIC, metric);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    pc_table_set_number(table, first + SIZE_TABLES_ROWS + i, numbers[i]);
  return PCAL_OK;
}

static pcal_status size_tables_cases(const pc_size_sweep *plan, pc_table *table,
                                     pcal_error *err) {
  const int several = plan->case_count > 1;
  size_tables_columns(table, several);
  for (size_t c = 0; c < plan->case_count; c++)
    for (size_t m = 0; m < plan->metric_count; m++)
      for (size_t s = 0; s < plan->cases[c].sizes.count; s++) {
        const size_tables_row row = size_tables_of(&plan->cases[c], m, s);
        PC_TRY(size_tables_add(table, several ? plan->cases[c].name : NULL, plan->metrics[m],
                               &row, err));
      }
  return PCAL_OK;
}

/* ---- several models ---- */

static size_tables_row size_tables_joined(const pc_size_sweep *plan, size_t metric,
                                          size_t size) {
  const double count = (double)plan->case_count;
  size_tables_row sum = {0, 0, 0, 0, 0, 0};
  double squares = 0.0;
  for (size_t c = 0; c < plan->case_count; c++) {
    const size_tables_row row = size_tables_of(&plan->cases[c], metric, size);
    sum.rows += row.rows / count;
    sum.subsets += row.subsets;
    sum.mean += row.mean / count;
    sum.error += row.error * row.error;
    sum.relative += row.relative / count;
  }
  for (size_t c = 0; c < plan->case_count; c++) {
    const double rest = size_tables_of(&plan->cases[c], metric, size).relative - sum.relative;
    squares += rest * rest;
  }
  sum.error = sqrt(sum.error) / count;
  sum.relative_error = sqrt(squares / (count * (count - 1)));
  return sum;
}

static pcal_status size_tables_all(const pc_size_sweep *plan, pc_table *table,
                                   pcal_error *err) {
  size_tables_columns(table, 0);
  for (size_t m = 0; m < plan->metric_count; m++)
    for (size_t s = 0; s < plan->cases[0].sizes.count; s++) {
      const size_tables_row row = size_tables_joined(plan, m, s);
      PC_TRY(size_tables_add(table, NULL, plan->metrics[m], &row, err));
    }
  return PCAL_OK;
}

static int size_tables_same_steps(const pc_size_sweep *plan) {
  int same = 1;
  for (size_t c = 1; c < plan->case_count; c++)
    same &= plan->cases[c].sizes.count == plan->cases[0].sizes.count;
  return same;
}

/* ---- sentences ---- */

static size_tables_row size_tables_step(const pc_size_sweep *plan, size_t metric, size_t size) {
  return plan->case_count == 1 ? size_tables_of(&plan->cases[0], metric, size)
                               : size_tables_joined(plan, metric, size);
}

/* Compares the smallest size with all rows: "ece 1.31, ks 1.02"; of improvements, whose sign may
 * change, both values: "ece 0.007 and 0.036". */
static void size_tables_change(const pc_size_sweep *plan, pc_findings *findings) {
  const size_t last = plan->cases[0].sizes.count - 1;
  char list[1024] = "", small[PC_NUMBER_MAX], full[PC_NUMBER_MAX];
  size_t used = 0;
  for (size_t m = 0; m < plan->metric_count; m++) {
    const size_tables_row row = size_tables_step(plan, m, 0);
    if (isnan(row.relative) || used + PC_TABLE_WORD_MAX + 2 * PC_NUMBER_MAX > sizeof list)
      continue;
    pc_number_round(plan->improvements ? row.mean : row.relative, 3, small);
    pc_number_round(size_tables_step(plan, m, last).mean, 3, full);
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %s%s%s",
                             used > 0 ? ", " : "", plan->metrics[m], small,
                             plan->improvements ? " and " : "", plan->improvements ? full : "");
  }
  if (used > 0)
    pc_findings_add_sentence(
        findings,
        plan->improvements ? "On the smallest subsets and on all rows: %s."
                           : "Mean on the smallest subsets divided by that on all rows: %s.",
        list);
}

void pc_size_sweep_report_left_out(const pc_size_sweep *plan, pc_findings *findings) {
  for (size_t c = 0; c < plan->case_count; c++)
    for (size_t m = 0; m < plan->metric_count; m++)
      for (size_t s = 0; s < plan->cases[c].sizes.count; s++) {
        const pc_size_case *here = &plan->cases[c];
        const pc_size_value *value = pc_size_value_at(here, m, s);
        if (value->undefined > 0)
          pc_findings_add_sentence(
              findings, "Left out: %s at %zu rows%s%s, undefined in %zu of %zu subsets%s%s.",
              plan->metrics[m], here->sizes.rows[s], plan->case_count > 1 ? " of " : "",
              plan->case_count > 1 ? here->name : "", value->undefined, here->sizes.repeats[s],
              value->why[0] != '\0' ? ": " : "", value->why);
      }
}

pcal_status pc_size_sweep_report(const pc_size_sweep *plan, pc_findings *findings,
                                 pcal_error *err) {
  const int joined = plan->case_count > 1 && !plan->apart && size_tables_same_steps(plan);
  pc_table *table = pc_findings_add_table(findings, plan->case_count > 1 ? "Each model" : "");
  PC_TRY(size_tables_cases(plan, table, err));
  if (joined)
    PC_TRY(size_tables_all(plan, pc_findings_add_table(findings, "All models together"), err));
  if (plan->case_count == 1 || joined)
    size_tables_change(plan, findings);
  pc_size_sweep_report_left_out(plan, findings);
  return PCAL_OK;
}
