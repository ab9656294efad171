#include "output/write_sample_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "output/table.h"
#include "simulate/sample_plan.h"

enum {
  SAMPLE_PLAN_METRIC,
  SAMPLE_PLAN_VALUE,
  SAMPLE_PLAN_PILOT_ROWS,
  SAMPLE_PLAN_SE,
  SAMPLE_PLAN_WIDTH,
  SAMPLE_PLAN_ROWS_NEEDED
};

static void sample_plan_columns(const pcal_results *results, const pcal_plan_config *config,
                                pc_table *table) {
  char level[PC_NUMBER_MAX], goal[PC_NUMBER_MAX];
  const int power = config->power > 0;
  const char *const columns[] = {
      "metric", power ? "difference" : "value", "pilot_rows", "se", "width", "rows_needed"};
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  if (power)
    snprintf(table->summary, sizeof table->summary,
             "rows at which the difference from the other model is detected with probability "
             "%s, by %s intervals",
             pc_show(config->power, goal), pc_show(results->level, level));
  else
    snprintf(table->summary, sizeof table->summary, "rows at which the %s interval is %s wide",
             pc_show(results->level, level), pc_show(config->width, goal));
}

/* Adds the row of one metric; sets *unknown where the pilot gives no answer. */
static pcal_status sample_plan_row(const pcal_results *results, const pcal_plan_config *config,
                                   const pc_result_record *record, pc_table *table,
                                   int *unknown, pcal_error *err) {
  const pc_sample_plan plan = pc_sample_plan_for(results, config, record);
  PC_TRY(pc_table_add_row(table, err));
  pc_table_set_word(table, SAMPLE_PLAN_METRIC, record->label);
  pc_table_set_number(table, SAMPLE_PLAN_PILOT_ROWS, results->effective);
  pc_table_set_number(table, SAMPLE_PLAN_VALUE, plan.value);
  pc_table_set_number(table, SAMPLE_PLAN_SE, plan.se);
  pc_table_set_number(table, SAMPLE_PLAN_WIDTH, plan.width);
  pc_table_set_number(table, SAMPLE_PLAN_ROWS_NEEDED, plan.rows_needed);
  *unknown |= !plan.known;
  return PCAL_OK;
}

static pcal_status sample_plan_table(const pcal_results *results,
                                     const pcal_plan_config *config, pc_table *table,
                                     pcal_error *err) {
  int unknown = 0;
  sample_plan_columns(results, config, table);
  for (size_t m = 0; m < results->metric_count; m++)
    PC_TRY(sample_plan_row(results, config, &results->records[m], table, &unknown, err));
  const size_t length = strlen(table->summary);
  if (unknown)
    snprintf(table->summary + length, sizeof table->summary - length,
             "; tests and undefined values have no interval, and so no answer");
  return PCAL_OK;
}

pcal_status pc_write_sample_plan(const pcal_results *results, const pcal_plan_config *config,
                                 pcal_format format, pc_text *out, pcal_error *err) {
  pc_table table;
  PC_TRY(pc_sample_plan_check(results, config, err));
  pc_table_init(&table, &results->env, "plan");
  const pcal_status status = sample_plan_table(results, config, &table, err);
  if (status == PCAL_OK)
    pc_table_write(&table, format, out);
  pc_table_free(&table);
  return status;
}
