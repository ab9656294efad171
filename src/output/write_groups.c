/* Values by group.  Text: a table with a column for each group, or, for more than
 * PC_GROUP_COLUMNS_SHOWN groups and for intervals, a block for each metric with a line for each
 * group, and above them the worst groups.  Markdown: for more groups than that, a table of
 * their own with a line for each group, and below it the worst ones.
 *
 * Edge cases:
 *  1. groups are in the order of the results: by name, periods by time.
 *  2. undefined values are never listed as worst; infinite ones are.
 *  3. metrics without a better direction, and few groups, have no line of worst groups.
 * Cost: O(groups) for each line of worst groups. */
#include <math.h>
#include <string.h>

#include "metrics/metric.h"
#include "output/table_row.h"
#include "output/write_results.h"

#define GROUPS_WIDTH 12

static void groups_padded_count(double count, size_t width, pc_text *out) {
  pc_text cell;
  pc_text_init(&cell, out->env);
  pc_write_count(count, &cell);
  out->failed |= cell.failed;
  pc_write_padded(cell.bytes == NULL ? "" : cell.bytes, width, 1, out);
  pc_text_free(&cell);
}

void pc_write_padded_value(const pc_result_record *record, size_t width, pc_text *out) {
  pc_text cell;
  pc_text_init(&cell, out->env);
  pc_write_value(record, &cell);
  out->failed |= cell.failed;
  pc_write_padded(cell.bytes == NULL ? "" : cell.bytes, width, 1, out);
  pc_text_free(&cell);
}

static const pc_result_record *groups_record(const pcal_results *results, size_t group,
                                             size_t metric, pc_result_record *room) {
  return pc_results_at(results, (group + 1) * results->metric_count + metric, room);
}

static size_t groups_column_width(const pcal_results *results, size_t group) {
  const size_t name = pc_terminal_width(results->group_names[group]);
  return name > GROUPS_WIDTH ? name : GROUPS_WIDTH;
}

/* ---- Columns ---- */

static void groups_columns(const pcal_results *results, size_t labels, pc_text *out) {
  const size_t head = strlen("by group"), width = labels > head ? labels : head;
  pc_result_record room;
  pc_text_add(out, "\n");
  pc_write_padded("by group", width, 0, out);
  for (size_t g = 0; g < results->group_count; g++) {
    pc_text_add(out, "  ");
    pc_write_padded(results->group_names[g], GROUPS_WIDTH, 1, out);
  }
  pc_text_add(out, "\n");
  pc_write_padded("weight", width, 0, out);
  for (size_t g = 0; g < results->group_count; g++) {
    pc_text_add(out, "  ");
    groups_padded_count(results->group_weights[g], groups_column_width(results, g), out);
  }
  pc_text_add(out, "\n");
  for (size_t m = 0; m < results->metric_count; m++) {
    pc_write_padded(results->records[m].label, width, 0, out);
    for (size_t g = 0; g < results->group_count; g++) {
      pc_text_add(out, "  ");
      pc_write_padded_value(groups_record(results, g, m, &room),
                            groups_column_width(results, g), out);
    }
    pc_text_add(out, "\n");
  }
}

/* ---- Lines ---- */

/* The next worst group after `bound` among those of equal or better value, or group_count. */
static size_t groups_next_worst(const pcal_results *results, size_t metric, int sign,
                                double bound, size_t after, double *value) {
  pc_result_record room;
  size_t found = results->group_count;
  for (size_t g = 0; g < results->group_count; g++) {
    const pc_result_record *record = groups_record(results, g, metric, &room);
    const double here = sign * record->outcome.value;
    const int later = here < bound || (here == bound && g > after && after != SIZE_MAX);
    if (record->outcome.undefined || isnan(here) || !(after == SIZE_MAX || later))
      continue;
    if (found == results->group_count || here > *value) {
      found = g;
      *value = here;
    }
  }
  return found;
}

size_t pc_worst_groups(const pcal_results *results, size_t metric,
                       size_t out[PC_WORST_GROUPS]) {
  const pc_metric *row =
      pc_metric_find_for(results->layout.form, results->records[metric].metric);
  const pcal_better better = row == NULL ? PCAL_BETTER_NONE : row->row.better;
  if (better == PCAL_BETTER_NONE || results->group_count <= PC_GROUP_COLUMNS_SHOWN)
    return 0;
  const int sign = better == PCAL_BETTER_LOWER ? 1 : -1;
  double bound = 0, value = 0;
  size_t last = SIZE_MAX, count = 0;
  for (; count < PC_WORST_GROUPS; count++) {
    const size_t g = groups_next_worst(results, metric, sign, bound, last, &value);
    if (g == results->group_count)
      break;
    out[count] = last = g;
    bound = value;
  }
  return count;
}

void pc_write_worst_groups(const pcal_results *results, size_t metric,
                           void (*write_name)(pc_text *out, const char *name), pc_text *out) {
  size_t worst[PC_WORST_GROUPS];
  const size_t count = pc_worst_groups(results, metric, worst);
  pc_result_record room;
  for (size_t i = 0; i < count; i++) {
    pc_text_add(out, i == 0 ? "worst first: " : ", ");
    write_name(out, results->group_names[worst[i]]);
    pc_text_add(out, " ");
    pc_write_number(groups_record(results, worst[i], metric, &room)->outcome.value, out);
  }
}

static void groups_worst(const pcal_results *results, size_t metric, pc_text *out) {
  size_t worst[PC_WORST_GROUPS];
  if (pc_worst_groups(results, metric, worst) == 0)
    return;
  pc_text_add(out, "  ");
  pc_write_worst_groups(results, metric, pc_text_terminal, out);
  pc_text_add(out, "\n");
}

static void groups_lines(const pcal_results *results, pc_text *out) {
  size_t width = GROUPS_WIDTH;
  pc_result_record room;
  for (size_t g = 0; g < results->group_count; g++) {
    const size_t here = pc_terminal_width(results->group_names[g]);
    width = here > width ? here : width;
  }
  for (size_t m = 0; m < results->metric_count; m++) {
    pc_text_add(out, "\n");
    pc_text_terminal(out, results->records[m].label);
    pc_text_add(out, " by group, and the weight of each\n");
    groups_worst(results, m, out);
    for (size_t g = 0; g < results->group_count; g++) {
      const pc_result_record *record = groups_record(results, g, m, &room);
      pc_text_add(out, "  ");
      pc_write_padded(results->group_names[g], width, 0, out);
      groups_padded_count(results->group_weights[g], GROUPS_WIDTH, out);
      pc_write_padded_value(record, GROUPS_WIDTH, out);
      pc_write_uncertainty(record, "  ", out);
      pc_text_add(out, "\n");
    }
  }
}

void pc_write_groups_text(const pcal_results *results, size_t labels, pc_text *out) {
  pc_result_record room;
  int intervals = 0;
  for (size_t g = 0; g < results->group_count && !intervals; g++)
    for (size_t m = 0; m < results->metric_count; m++) {
      const pc_result_record *record = groups_record(results, g, m, &room);
      intervals |= record->interval_result.has_interval || record->interval_result.has_null;
    }
  if (intervals || results->group_count > PC_GROUP_COLUMNS_SHOWN)
    groups_lines(results, out);
  else
    groups_columns(results, labels, out);
}

/* ---- Markdown ---- */

static void groups_markdown_head(const pcal_results *results, pc_text *out) {
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  pc_table_row_word(&row, "group");
  pc_table_row_word(&row, "weight");
  for (size_t m = 0; m < results->metric_count; m++)
    pc_table_row_name(&row, results->records[m].label);
  pc_table_row_end(&row);
  for (size_t c = 0; c < results->metric_count + 2; c++)
    pc_table_row_rule(&row, c > 0);
  pc_table_row_end(&row);
}

void pc_write_groups_markdown(const pcal_results *results, pc_text *out) {
  pc_result_record room;
  size_t worst[PC_WORST_GROUPS];
  groups_markdown_head(results, out);
  for (size_t g = 0; g < results->group_count; g++) {
    pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
    pc_table_row_word(&row, results->group_names[g]);
    pc_table_row_begin_cell(&row);
    pc_write_count(results->group_weights[g], out);
    for (size_t m = 0; m < results->metric_count; m++) {
      const pc_result_record *record = groups_record(results, g, m, &room);
      pc_table_row_begin_cell(&row);
      pc_write_value(record, out);
      pc_write_uncertainty(record, " ", out);
    }
    pc_table_row_end(&row);
  }
  pc_text_add(out, "\n");
  for (size_t m = 0; m < results->metric_count; m++) {
    if (pc_worst_groups(results, m, worst) == 0)
      continue;
    pc_text_markdown_code(out, results->records[m].label);
    pc_text_add(out, ": ");
    pc_write_worst_groups(results, m, pc_text_markdown, out);
    pc_text_add(out, "\n\n");
  }
}
