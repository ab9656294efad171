/* Results as a tabular environment of LaTeX: a row for each metric, with its unit.
 *
 *   1. Columns for intervals, the null, differences and p-values are there if some metric has
 *      them.  A row has the same number of decimals in its value and interval.
 *   2. With groups there is a column for each, and the best group of a metric is bold.
 *   3. Remarks and the verdict are comments below the table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/number.h"
#include "output/latex.h"
#include "output/verdict.h"
#include "output/write_results.h"

typedef struct latex_columns {
  int interval, null, difference, p_value;
} latex_columns;

static latex_columns results_latex_columns(const pcal_results *results) {
  latex_columns out = {0, 0, 0, 0};
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_result_record *record = &results->records[m];
    out.interval |= record->interval_result.has_interval;
    out.null |= record->interval_result.has_null;
    out.difference |= record->interval_result.has_difference;
    out.p_value |= record->outcome.tested && !record->outcome.undefined;
  }
  return out;
}

static pcal_unit results_latex_unit(const pcal_results *results,
                                    const pc_result_record *record) {
  const pc_metric *metric = pc_metric_find_for(results->layout.form, record->metric);
  return metric == NULL ? PCAL_UNIT_NONE : metric->row.unit;
}

static double results_latex_value(const pcal_results *results, const pc_result_record *record) {
  const double scale = pc_latex_scale(results_latex_unit(results, record));
  return record->outcome.undefined ? (double)NAN : record->outcome.value * scale;
}

static void results_latex_p(int known, double p_value, pc_text *out) {
  pc_text_add(out, " & ");
  if (known && p_value < 1e-4)
    pc_text_add(out, "$<$0.0001");
  else if (known)
    pc_latex_number(p_value, 4, 0, out);
}

static void results_latex_head(const pcal_results *results, const latex_columns *columns,
                               pc_text *out) {
  char level[PC_NUMBER_MAX];
  pc_text alignment;
  pc_text_init(&alignment, out->env);
  pc_text_format(&alignment, "lr%s%s%s%s", columns->interval ? "r" : "",
                 columns->null ? "rr" : "", columns->difference ? "rrr" : "",
                 columns->p_value ? "r" : "");
  pc_text_add_repeated(&alignment, 'r', results->group_count);
  pc_latex_begin(alignment.failed ? "" : alignment.bytes, out);
  out->failed |= alignment.failed;
  pc_text_free(&alignment);
  pc_number_round(100 * results->level, 3, level);
  if (columns->interval || columns->difference)
    pc_number_format(round(1e4 * results->level) / 100.0, level);
  pc_text_add(out, "metric & value");
  if (columns->interval)
    pc_text_format(out, " & %s\\,\\%% interval", level);
  pc_text_add(out, columns->null ? " & if calibrated & $p$" : "");
  if (columns->difference)
    pc_text_format(out, " & difference & %s\\,\\%% interval & $p$", level);
  pc_text_add(out, columns->p_value ? " & $p$ of the test" : "");
  for (size_t g = 0; g < results->group_count; g++) {
    pc_text_add(out, " & ");
    pc_text_latex(out, results->group_names[g]);
  }
  pc_text_add(out, " \\\\\n\\midrule\n");
}

static void results_latex_difference(const pc_interval_result *result, double scale,
                                     int decimals, pc_text *out) {
  pc_text_add(out, " & ");
  if (result->has_difference)
    pc_latex_number(scale * result->difference, decimals, 0, out);
  pc_text_add(out, " & ");
  if (result->has_difference_interval)
    pc_latex_interval(scale * result->difference_low, scale * result->difference_high, decimals,
                      out);
  results_latex_p(result->has_difference_interval, result->difference_p_value, out);
}

static void results_latex_certainty(const pc_result_record *record,
                                    const latex_columns *columns, double scale, int decimals,
                                    pc_text *out) {
  const pc_interval_result *result = &record->interval_result;
  pc_text_add(out, columns->interval ? " & " : "");
  if (result->has_interval)
    pc_latex_interval(scale * result->low, scale * result->high, decimals, out);
  if (columns->null) {
    pc_text_add(out, " & ");
    if (result->has_null)
      pc_latex_number(scale * result->null_mean, decimals, 0, out);
    results_latex_p(result->has_null, result->null_p_value, out);
  }
  if (columns->difference)
    results_latex_difference(result, scale, decimals, out);
  if (columns->p_value)
    results_latex_p(record->outcome.tested && !record->outcome.undefined,
                    record->outcome.p_value, out);
}

/* Fills values with those of a metric in all groups, then over all rows, then the ends of the
 * interval; returns the decimals that suit them all. */
static int results_latex_values(const pcal_results *results, size_t m, double *values) {
  const pc_result_record *record = &results->records[m];
  const double scale = pc_latex_scale(results_latex_unit(results, record));
  const size_t count = results->group_count;
  pc_result_record room;
  for (size_t g = 0; g < count; g++)
    values[g] = results_latex_value(
        results, pc_results_at(results, (g + 1) * results->metric_count + m, &room));
  values[count] = results_latex_value(results, record);
  values[count + 1] = values[count + 2] = (double)NAN;
  if (record->interval_result.has_interval) {
    values[count + 1] = scale * record->interval_result.low;
    values[count + 2] = scale * record->interval_result.high;
  }
  return pc_latex_decimals(values, count + 3);
}

/* The values of all groups; the best ones are bold. */
static void results_latex_groups(const pcal_results *results, size_t m, int decimals,
                                 const double *values, uint8_t *bold, pc_text *out) {
  const pc_metric *metric =
      pc_metric_find_for(results->layout.form, results->records[m].metric);
  pc_latex_best(values, results->group_count,
                metric == NULL ? PCAL_BETTER_NONE : metric->row.better, decimals, bold);
  for (size_t g = 0; g < results->group_count; g++) {
    pc_text_add(out, " & ");
    pc_latex_number(values[g], decimals, bold[g], out);
  }
}

static void results_latex_row(const pcal_results *results, size_t m,
                              const latex_columns *columns, double *values, uint8_t *bold,
                              pc_text *out) {
  const pc_result_record *record = &results->records[m];
  const pcal_unit unit = results_latex_unit(results, record);
  const int decimals = results_latex_values(results, m, values);
  pc_text_latex(out, record->label);
  pc_text_format(out, "%s & ", pc_latex_unit(unit));
  pc_latex_number(values[results->group_count], decimals, 0, out);
  results_latex_certainty(record, columns, pc_latex_scale(unit), decimals, out);
  results_latex_groups(results, m, decimals, values, bold, out);
  pc_text_add(out, " \\\\\n");
}

static void results_latex_count(double count, pc_text *out) {
  pc_text_add(out, " & ");
  pc_write_count(count, out);
}

/* The number of rows, or their weight, over all rows and in each group. */
static void results_latex_weights(const pcal_results *results, const latex_columns *columns,
                                  pc_text *out) {
  if (results->group_count == 0)
    return;
  pc_text_add(out, results->weighted ? "weight" : "rows");
  results_latex_count(results->weight, out);
  for (int c =
           columns->interval + 2 * columns->null + 3 * columns->difference + columns->p_value;
       c > 0; c--)
    pc_text_add(out, " & ");
  for (size_t g = 0; g < results->group_count; g++)
    results_latex_count(results->group_weights[g], out);
  pc_text_add(out, " \\\\\n");
}

static void results_latex_remark(const pc_result_record *record, const char *why,
                                 pc_text *out) {
  if (why[0] == '\0')
    return;
  pc_text_format(out, "%% %s: ", record->label);
  pc_text_terminal(out, why);
  pc_text_add(out, "\n");
}

static void results_latex_notes(const pcal_results *results, pc_text *out) {
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_result_record *record = &results->records[m];
    results_latex_remark(record, record->outcome.why, out);
    results_latex_remark(record, record->interval_result.why, out);
  }
  pc_latex_comment(pc_few_rows_remark(results), out);
  pc_latex_comment(pc_verdict_sentences(results, &out->failed), out);
}

void pc_write_results_latex(const pcal_results *results, pc_text *out) {
  const latex_columns columns = results_latex_columns(results);
  double *values = pc_alloc(&results->env, results->group_count + 3, sizeof *values);
  uint8_t *bold = pc_alloc(&results->env, results->group_count + 1, sizeof *bold);
  if (values != NULL && bold != NULL) {
    pc_latex_preamble(out);
    pc_text_add(out, "% ");
    pc_write_data_summary(results, out);
    pc_text_add(out, "\n");
    results_latex_head(results, &columns, out);
    results_latex_weights(results, &columns, out);
    for (size_t n = 0; n <= pc_notion_count(); n++)
      for (size_t m = 0; m < results->metric_count; m++)
        if (pc_notion_index(&results->records[m]) == n)
          results_latex_row(results, m, &columns, values, bold, out);
    pc_latex_end(out);
    results_latex_notes(results, out);
  }
  out->failed |= values == NULL || bold == NULL;
  pc_free(&results->env, values);
  pc_free(&results->env, bold);
}
