#include "output/write_comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "measure/interval_formula.h"
#include "output/latex.h"
#include "output/table.h"
#include "output/write_results.h"

/* Most metrics in a table. */
#define WRITE_COMPARISON_METRICS_MAX 12

static const pc_result_record *write_comparison_record(const pcal_comparison *table, size_t m) {
  return &table->contestants[0].results->records[m];
}

static size_t write_comparison_metrics(const pcal_comparison *table) {
  const size_t count = table->contestants[0].results->metric_count;
  return count < WRITE_COMPARISON_METRICS_MAX ? count : WRITE_COMPARISON_METRICS_MAX;
}

/* ---- advice ---- */

static const char *write_comparison_round(double value, char out[PC_NUMBER_MAX]) {
  pc_number_round(value, 2, out);
  return out;
}

static void write_comparison_gain(const pcal_comparison *table, const pc_gain *gain,
                                  pc_text *out) {
  char value[PC_NUMBER_MAX], low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  pc_text_format(out, "%s by %s", write_comparison_record(table, 0)->label,
                 write_comparison_round(gain->value, value));
  if (gain->sure)
    pc_text_format(out, " [%s, %s]", write_comparison_round(gain->low, low),
                   write_comparison_round(gain->high, high));
}

/* Names the contestants that the data cannot distinguish from the chosen one. */
static void write_comparison_tied(const pcal_comparison *table, pc_text *out) {
  size_t tied = 0;
  for (size_t i = 0; i < table->count; i++) {
    const pc_contestant *here = &table->contestants[i];
    char name[PC_SPEC_MAX + 128];
    if (i == table->chosen || here->results == NULL || !here->behind.sure ||
        here->behind.low > 0)
      continue;
    pc_contestant_name(table, here, name, sizeof name);
    pc_text_format(out, "%s%s", tied++ == 0 ? " These rows cannot distinguish it from " : ", ",
                   name);
  }
  pc_text_add(out, tied > 0 ? "." : "");
}

static int write_comparison_proper(const pcal_comparison *table) {
  return write_comparison_record(table, 0)->notion == PCAL_NOTION_PROPER;
}

static void write_comparison_why(const pcal_comparison *table, pc_text *out) {
  const pc_contestant *chosen = &table->contestants[table->chosen];
  if (!write_comparison_proper(table))
    pc_text_format(out,
                   " Note that %s is not a proper score: a method can lower it by discarding "
                   "information%s; rank by %s to be safe.",
                   write_comparison_record(table, 0)->label,
                   table->folds > 0 ? ", or by chance under cross-validation, since the folds "
                                      "together were fitted to the rows that judge them"
                                    : "",
                   table->contestants[0].results->layout.form == PC_FORM_CLASSES
                       ? "brier or log"
                       : "dss or crps");
  else if (table->chosen != 0 && table->model_names == NULL &&
           (chosen->traits & PC_INJECTIVE) != 0)
    pc_text_format(out,
                   " %s is injective, so its gain is also the decrease of its calibration "
                   "error (Gruber & Buettner 2022, Proposition 4.5).",
                   table->name);
}

/* Explains why the contestant of rank 1 was not chosen. */
static void write_comparison_best(const pcal_comparison *table, pc_text *out) {
  const pc_contestant *best = &table->contestants[table->best];
  const pc_gain *gain = &best->gains[0];
  char name[PC_SPEC_MAX + 128];
  if (table->chosen == table->best || !gain->known)
    return;
  pc_contestant_name(table, best, name, sizeof name);
  pc_text_format(out, " %s has rank 1, but its gain, ", name);
  write_comparison_gain(table, gain, out);
  pc_text_add(out, gain->sure ? ", may be chance: its interval reaches down to 0."
                              : ", has no interval, so it may be chance.");
}

static void write_comparison_advice(const pcal_comparison *table, pc_text *out) {
  const pc_contestant *chosen = &table->contestants[table->chosen];
  if (table->chosen != 0) {
    pc_text_format(out, "Choose %s: better in ", table->name);
    write_comparison_gain(table, &chosen->gains[0], out);
    pc_text_format(out, " than %s.",
                   table->model_names == NULL ? "leaving the predictions alone"
                                              : table->model_names[0]);
  } else if (table->model_names != NULL) {
    pc_text_format(out, "Choose %s: no other is better in %s.", table->name,
                   write_comparison_record(table, 0)->label);
  } else {
    pc_text_format(out, "Leave it alone: no method is significantly better in %s.",
                   write_comparison_record(table, 0)->label);
  }
  if (table->chosen == table->best)
    write_comparison_tied(table, out);
  write_comparison_best(table, out);
  write_comparison_why(table, out);
  if (table->clusters > 0 && table->clusters < PC_INTERVAL_FEW_ROWS)
    pc_text_format(out, " Only %zu cluster%s: too few for intervals with the stated coverage.",
                   table->clusters, table->clusters == 1 ? "" : "s");
}

/* Writes the advice, escaped for the format. */
static void write_comparison_line(const pcal_comparison *table, pcal_format format,
                                  pc_text *out) {
  pc_text advice;
  pc_text_init(&advice, &table->env);
  write_comparison_advice(table, &advice);
  out->failed |= advice.failed;
  pc_write_line(format, advice.failed ? "" : advice.bytes, "\n", out);
  pc_text_free(&advice);
}

void pc_write_comparison_advice(const pcal_comparison *table, pc_text *out) {
  write_comparison_line(table, PCAL_TEXT, out);
}

/* ---- tables ---- */

/* The status of a contestant, or the word for why it was not judged. */
static const char *write_comparison_status(const pc_contestant *here, const char *unsuited) {
  if (here->status != NULL)
    return here->status;
  return here->omission == PC_OMITTED_HOPELESS ? "given up"
         : here->omission == PC_OMITTED_LATE   ? "out of time"
                                               : unsuited;
}

/* Columns of metrics, their units and which values are better. */
static void write_comparison_metric_columns(const pcal_comparison *table, pc_table *out) {
  const pc_form form = table->contestants[0].results->layout.form;
  for (size_t m = 0; m < write_comparison_metrics(table); m++) {
    const pc_result_record *record = write_comparison_record(table, m);
    const pc_metric *metric = pc_metric_find_for(form, record->metric);
    pc_table_add_column(out, record->label);
    pc_table_set_metric(out, out->column_count - 1, metric == NULL ? NULL : &metric->row);
    for (size_t c = 2; c < 5 && m == 0 && metric != NULL; c++)
      out->units[c] = metric->row.unit;
  }
}

static void write_comparison_head(const pcal_comparison *table, pc_table *out) {
  const pcal_results *results = table->contestants[0].results;
  char how[64], weights[128] = "", effective[PC_NUMBER_MAX], level[PC_NUMBER_MAX];
  if (table->folds > 0)
    snprintf(how, sizeof how, "by %zu-fold cross-validation", table->folds);
  else
    snprintf(how, sizeof how, "fitted to a second set");
  pc_number_round(results->effective, 4, effective);
  if (results->weights_are == PCAL_WEIGHTS_IMPORTANCE)
    snprintf(weights, sizeof weights, " (importance weights, effective sample size %s)",
             effective);
  else if (results->weighted)
    snprintf(weights, sizeof weights, " (frequency weights)");
  snprintf(
      out->summary, sizeof out->summary,
      "%llu rows%s, %s, ranked by %.200s; gain is over the first row, with its %s interval",
      (unsigned long long)results->rows, weights, how, write_comparison_record(table, 0)->label,
      pc_show(table->level, level));
  pc_table_add_column(out, table->model_names == NULL ? "method" : "model");
  pc_table_add_column(out, "rank");
  pc_table_add_column(out, "gain");
  pc_table_add_column(out, "low");
  pc_table_add_column(out, "high");
  write_comparison_metric_columns(table, out);
  pc_table_add_column(out, "status");
}

static pcal_status write_comparison_row(const pcal_comparison *table, const pc_contestant *here,
                                        pc_table *out, pcal_error *err) {
  const size_t metrics = write_comparison_metrics(table);
  char name[PC_SPEC_MAX + 128];
  PC_TRY(pc_table_add_row(out, err));
  pc_contestant_name(table, here, name, sizeof name);
  pc_table_set_word(out, 0, name);
  pc_table_set_word(out, 5 + metrics, write_comparison_status(here, "not judged"));
  if (here->results == NULL)
    return PCAL_OK;
  pc_table_set_number(out, 1, (double)here->rank);
  const pc_gain *gain = &here->gains[0];
  if (gain->known && here != table->contestants) {
    pc_table_set_number(out, 2, gain->value);
    pc_table_set_number(out, 3, gain->sure ? gain->low : (double)NAN);
    pc_table_set_number(out, 4, gain->sure ? gain->high : (double)NAN);
  }
  for (size_t m = 0; m < metrics; m++) {
    const pc_metric_result *outcome = &here->results->records[m].outcome;
    pc_table_set_number(out, 5 + m, outcome->undefined ? (double)NAN : outcome->value);
  }
  return PCAL_OK;
}

/* Adds the first contestant, then the others by rank, then those not judged. */
static pcal_status write_comparison_rows(const pcal_comparison *table, pc_table *out,
                                         pcal_error *err) {
  PC_TRY(write_comparison_row(table, &table->contestants[0], out, err));
  for (size_t rank = 1; rank <= table->count; rank++)
    for (size_t i = 1; i < table->count; i++)
      if (table->contestants[i].rank == rank)
        PC_TRY(write_comparison_row(table, &table->contestants[i], out, err));
  for (size_t i = 1; i < table->count; i++)
    if (table->contestants[i].rank == 0)
      PC_TRY(write_comparison_row(table, &table->contestants[i], out, err));
  return PCAL_OK;
}

static void write_comparison_refused(const pcal_comparison *table, pcal_format format,
                                     pc_text *out) {
  for (size_t i = 0; i < table->count; i++) {
    const pc_contestant *here = &table->contestants[i];
    if (here->results != NULL)
      continue;
    pc_write_line(format, here->label, " was not judged: ", out);
    pc_write_line(format, here->why, ".\n", out);
  }
}

/* ---- notes ---- */

static int write_comparison_is_infinite(const pc_contestant *here, size_t metric) {
  return here->results != NULL && isinf(here->results->records[metric].outcome.value);
}

/* Names the contestants for which a metric is infinite, and gives the reason for the first. */
static void write_comparison_infinite(const pcal_comparison *table, size_t metric,
                                      pcal_format format, pc_text *out) {
  const char *label = write_comparison_record(table, metric)->label, *why = "";
  char name[PC_SPEC_MAX + 128];
  size_t found = 0;
  for (size_t i = 0; i < table->count; i++) {
    const pc_contestant *here = &table->contestants[i];
    if (!write_comparison_is_infinite(here, metric))
      continue;
    pc_contestant_name(table, here, name, sizeof name);
    if (found == 0) {
      why = here->results->records[metric].outcome.why;
      pc_write_line(format, label, " is infinite for ", out);
    } else {
      pc_text_add(out, ", ");
    }
    pc_write_line(format, name, "", out);
    found++;
  }
  if (found > 0) {
    pc_text_add(out, why[0] == '\0' ? "" : found == 1 ? ": " : "; for the first of them: ");
    pc_write_line(format, why, ".\n", out);
  }
}

/* Says which of the two usual Brier scores of two classes this is. */
static void write_comparison_brier(const pcal_comparison *table, pc_text *out) {
  for (size_t m = 0; m < write_comparison_metrics(table); m++) {
    const pc_result_record *record = write_comparison_record(table, m);
    for (size_t p = 0; p < record->outcome.part_count; p++)
      if (strcmp(record->outcome.parts[p].name, "one_column") == 0)
        pc_text_format(out, "%s is the sum over both classes, twice that of class 1 alone.\n",
                       record->metric);
  }
}

/* Writes, in this order: methods that were not judged, infinite values, the convention of the
 * Brier score, the advice. */
static void write_comparison_notes(const pcal_comparison *table, pcal_format format,
                                   pc_text *out) {
  write_comparison_refused(table, format, out);
  for (size_t m = 0; m < write_comparison_metrics(table); m++)
    write_comparison_infinite(table, m, format, out);
  write_comparison_brier(table, out);
  write_comparison_line(table, format, out);
}

/* ---- LaTeX ---- */

/* Removes the last column, the status, and the rows of methods that were not judged, which are
 * the last ones. */
static void write_comparison_keep_judged(const pcal_comparison *table, pc_table *rows) {
  size_t judged = 0;
  for (size_t i = 0; i < table->count; i++)
    judged += table->contestants[i].results != NULL;
  const size_t columns = rows->column_count - 1;
  rows->row_count = rows->row_count < judged ? rows->row_count : judged;
  for (size_t r = 0; r < rows->row_count; r++)
    memmove(&rows->cells[r * columns], &rows->cells[r * (columns + 1)],
            columns * sizeof *rows->cells);
  rows->column_count = columns;
}

/* Notes as comments. */
static void write_comparison_latex_notes(const pcal_comparison *table, pc_text *out) {
  pc_text notes;
  pc_text_init(&notes, &table->env);
  write_comparison_notes(table, PCAL_TEXT, &notes);
  pc_latex_comment(notes.failed ? NULL : notes.bytes, out);
  out->failed |= notes.failed;
  pc_text_free(&notes);
}

/* ---- JSON ---- */

static void write_comparison_json_gain(pc_json *json, const char *key, const pc_gain *gain) {
  pc_json_key(json, key);
  if (!gain->known) {
    pc_json_null(json);
    return;
  }
  pc_json_open(json, '{');
  pc_json_key(json, "value");
  pc_json_number(json, gain->value);
  pc_json_key(json, "low");
  pc_json_number(json, gain->sure ? gain->low : (double)NAN);
  pc_json_key(json, "high");
  pc_json_number(json, gain->sure ? gain->high : (double)NAN);
  pc_json_close(json, '}');
}

/* The metrics whose value is infinite, which is null in JSON; nothing if there are none. */
static void write_comparison_json_infinite(const pc_contestant *here, pc_json *json) {
  const size_t count = here->results == NULL ? 0 : here->results->metric_count;
  size_t first = 0;
  while (first < count && !write_comparison_is_infinite(here, first))
    first++;
  if (first == count)
    return;
  pc_json_key(json, "infinite");
  pc_json_open(json, '[');
  for (size_t m = first; m < count; m++)
    if (write_comparison_is_infinite(here, m))
      pc_json_string(json, here->results->records[m].label);
  pc_json_close(json, ']');
}

static void write_comparison_json_metrics(const pc_contestant *here, pc_json *json) {
  const pcal_results *results = here->results;
  pc_json_key(json, "metrics");
  pc_json_open(json, '{');
  for (size_t m = 0; results != NULL && m < results->metric_count; m++) {
    const pc_metric_result *outcome = &results->records[m].outcome;
    pc_json_key(json, results->records[m].label);
    pc_json_number(json, outcome->undefined ? (double)NAN : outcome->value);
  }
  pc_json_close(json, '}');
  write_comparison_json_infinite(here, json);
  pc_json_key(json, "improvement");
  pc_json_open(json, '{');
  for (size_t m = 0; results != NULL && m < results->metric_count; m++)
    write_comparison_json_gain(json, results->records[m].label, &here->gains[m]);
  pc_json_close(json, '}');
  write_comparison_json_gain(json, "behind", &here->behind);
}

static void write_comparison_json_one(const pcal_comparison *table, const pc_contestant *here,
                                      pc_json *json) {
  char name[PC_SPEC_MAX + 128];
  pc_contestant_name(table, here, name, sizeof name);
  pc_json_open(json, '{');
  pc_json_key(json, "name");
  pc_json_string(json, name);
  if (table->model_names != NULL) {
    pc_json_key(json, "model");
    pc_json_string(json, table->model_names[here->model]);
  }
  pc_json_key(json, "spec");
  pc_json_string(json, here->spec);
  pc_json_key(json, "status");
  pc_json_string(json, write_comparison_status(here, "refused"));
  if (here->results == NULL) {
    pc_json_key(json, "why");
    pc_json_string(json, here->why);
  }
  write_comparison_json_metrics(here, json);
  pc_json_key(json, "rank");
  if (here->rank > 0)
    pc_json_integer(json, here->rank);
  else
    pc_json_null(json);
  pc_json_close(json, '}');
}

static void write_comparison_json_weights(const pcal_results *results, pc_json *json) {
  if (!results->weighted)
    return;
  pc_json_key(json, "weights");
  pc_json_open(json, '{');
  pc_json_key(json, "are");
  pc_json_string(json, pc_weights_name(results));
  pc_json_key(json, "effective_sample_size");
  pc_json_number(json, results->effective);
  pc_json_close(json, '}');
}

static void write_comparison_json(const pcal_comparison *table, pc_text *out) {
  pc_json json;
  pc_text advice;
  pc_json_init(&json, out);
  pc_text_init(&advice, &table->env);
  pc_write_comparison_advice(table, &advice);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  pc_json_key(&json, "rows");
  pc_json_integer(&json, table->contestants[0].results->rows);
  write_comparison_json_weights(table->contestants[0].results, &json);
  pc_json_key(&json, "folds");
  if (table->folds > 0)
    pc_json_integer(&json, table->folds);
  else
    pc_json_null(&json);
  pc_json_key(&json, "by");
  pc_json_string(&json, write_comparison_record(table, 0)->label);
  pc_json_key(&json, "level");
  pc_json_number(&json, table->level);
  pc_json_key(&json, "methods");
  pc_json_open(&json, '[');
  for (size_t i = 0; i < table->count; i++)
    write_comparison_json_one(table, &table->contestants[i], &json);
  pc_json_close(&json, ']');
  pc_json_key(&json, "chosen");
  pc_json_string(&json, table->name);
  pc_json_key(&json, "advice");
  pc_json_string(&json, advice.failed ? NULL : advice.bytes);
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
  out->failed |= advice.failed;
  pc_text_free(&advice);
}

pcal_status pc_write_comparison(const pcal_comparison *table, pcal_format format, pc_text *out,
                                pcal_error *err) {
  if (format == PCAL_JSON) {
    write_comparison_json(table, out);
    return PCAL_OK;
  }
  pc_table rows;
  pc_table_init(&rows, &table->env, "compare");
  write_comparison_head(table, &rows);
  const pcal_status status = write_comparison_rows(table, &rows, err);
  if (status == PCAL_OK && format == PCAL_LATEX)
    write_comparison_keep_judged(table, &rows);
  if (status == PCAL_OK)
    pc_table_write(&rows, format, out);
  pc_table_free(&rows);
  if (status == PCAL_OK && format == PCAL_LATEX)
    write_comparison_latex_notes(table, out);
  else if (status == PCAL_OK && format != PCAL_CSV) {
    pc_text_add(out, "\n");
    write_comparison_notes(table, format, out);
  }
  return status;
}
