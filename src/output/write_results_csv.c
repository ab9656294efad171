/* Results as several CSV tables with one line for each thing they describe:
 *
 *   values  a line for each metric: value, interval, null, difference, p-value, reason
 *   groups  the same for each metric in each group, with the group's weight; only with groups
 *   data    rows, and those that the model did not answer; only where rows say so
 *   bins    those of the reliability diagram: edges, weight, confidence, frequency of hits
 *
 *   1. Numbers that are not known are empty cells. */
#include <math.h>

#include "output/table_row.h"
#include "output/write_results.h"

typedef void (*results_csv_writer)(const pcal_results *, pc_text *);

static void results_csv_number(pc_table_row *row, int known, double value) {
  pc_table_row_begin_cell(row);
  if (known && !isnan(value))
    pc_text_number(row->out, value);
}

static void results_csv_cells(const pc_result_record *record, pc_table_row *row) {
  const pc_interval_result *result = &record->interval_result;
  const pc_metric_result *outcome = &record->outcome;
  const int interval = result->has_interval, null = result->has_null;
  const int both = result->has_difference_interval;
  pc_table_row_word(row, record->metric);
  pc_table_row_word(row, record->spec);
  results_csv_number(row, !outcome->undefined, outcome->value);
  results_csv_number(row, interval, result->low);
  results_csv_number(row, interval, result->high);
  results_csv_number(row, interval, result->se);
  results_csv_number(row, null, result->null_mean);
  results_csv_number(row, null, result->null_low);
  results_csv_number(row, null, result->null_high);
  results_csv_number(row, null, result->null_p_value);
  results_csv_number(row, result->has_difference, result->difference);
  results_csv_number(row, both, result->difference_low);
  results_csv_number(row, both, result->difference_high);
  results_csv_number(row, both, result->difference_p_value);
  results_csv_number(row, outcome->tested, outcome->p_value);
  pc_table_row_word(row, pcal_notion_name(record->notion));
  pc_table_row_word(row, pcal_bound_name(record->bound));
  pc_table_row_word(row, outcome->why[0] != '\0'  ? outcome->why
                         : result->why[0] != '\0' ? result->why
                                                  : result->few_rows);
}

static const char results_csv_head[] =
    "metric,spec,value,low,high,se,null_mean,null_low,null_high,null_p_value,difference,"
    "difference_low,difference_high,difference_p_value,p_value,notion,bound,why\n";

static void results_csv_values(const pcal_results *results, pc_text *out) {
  pc_text_add(out, results_csv_head);
  for (size_t m = 0; m < results->metric_count; m++) {
    pc_table_row row = pc_table_row_new(PCAL_CSV, out);
    results_csv_cells(&results->records[m], &row);
    pc_table_row_end(&row);
  }
}

static void results_csv_groups(const pcal_results *results, pc_text *out) {
  pc_result_record room;
  pc_text_format(out, "group,weight,%s", results_csv_head);
  for (size_t i = results->metric_count; i < results->count; i++) {
    const pc_result_record *record = pc_results_at(results, i, &room);
    pc_table_row row = pc_table_row_new(PCAL_CSV, out);
    pc_table_row_word(&row, results->group_names[record->group]);
    results_csv_number(&row, 1, results->group_weights[record->group]);
    results_csv_cells(record, &row);
    pc_table_row_end(&row);
  }
}

static void results_csv_bins(const pcal_results *results, pc_text *out) {
  pc_text_add(out, "low,high,weight,confidence,frequency\n");
  for (size_t b = 0; b < results->bin_count; b++) {
    const pcal_bin *bin = &results->public_bins[b];
    pc_table_row row = pc_table_row_new(PCAL_CSV, out);
    results_csv_number(&row, 1, bin->low);
    results_csv_number(&row, 1, bin->high);
    results_csv_number(&row, 1, bin->weight);
    results_csv_number(&row, bin->weight > 0, bin->confidence);
    results_csv_number(&row, bin->weight > 0, bin->frequency);
    pc_table_row_end(&row);
  }
}

static void results_csv_data(const pcal_results *results, pc_text *out) {
  pc_text_add(out, "rows,skipped_rows,normalized_rows,abstained_rows\n");
  pc_table_row row = pc_table_row_new(PCAL_CSV, out);
  results_csv_number(&row, 1, (double)results->rows);
  results_csv_number(&row, 1, (double)results->skipped);
  results_csv_number(&row, 1, (double)results->normalized);
  results_csv_number(&row, 1, (double)results->abstained);
  pc_table_row_end(&row);
}

/* The table at an index; *name is NULL after the last one. */
static results_csv_writer results_csv_table(const pcal_results *results, size_t index,
                                            const char **name) {
  const struct {
    int given;
    const char *name;
    results_csv_writer write;
  } tables[] = {{1, "values", results_csv_values},
                {results->group_count > 0, "groups", results_csv_groups},
                {results->abstains, "data", results_csv_data},
                {results->bin_count > 0, "bins", results_csv_bins}};
  *name = NULL;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (tables[i].given && index-- == 0) {
      *name = tables[i].name;
      return tables[i].write;
    }
  return NULL;
}

const char *pc_results_table_name(const pcal_results *results, size_t index) {
  const char *name;
  results_csv_table(results, index, &name);
  return name;
}

void pc_results_table_write(const pcal_results *results, size_t index, pc_text *out) {
  const char *name;
  const results_csv_writer write = results_csv_table(results, index, &name);
  if (write != NULL)
    write(results, out);
}
