/* Results of groups, kept in as few bytes as they need.
 *
 * A pc_result_record has room for everything that a result may hold, some kilobytes.  There is
 * one for each metric over all rows; what groups add to it is kept here. */
#ifndef PC_GROUP_RECORDS_H
#define PC_GROUP_RECORDS_H

#include "measure/results.h"

struct pc_group_record {
  double value, p_value;
  int undefined, tested;
  char *why;        /* or NULL */
  pcal_part *parts; /* with the names of those that are called by a number behind */
  size_t part_count;
  pc_interval_result *interval_result;     /* NULL: nothing is known */
  pc_part_interval *part_interval_results; /* of each part, or NULL */
  double *class_values;
  size_t class_count;
  pc_plot_table *graph; /* NULL: none */
};

/* Moves the records of a group, one for each metric, into the results, whose place for it was
 * empty; class values and graphs change hands. */
PC_CHECKED pcal_status pc_group_records_keep(pcal_results *results, size_t group,
                                             pc_result_record *records, pcal_error *err);
void pc_group_records_free(pcal_results *results);

/* The group's own part of a result, or NULL for results over all rows. */
const pc_group_record *pc_group_record_at(const pcal_results *results, size_t index);

#endif
