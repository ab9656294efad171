/* Fitting and judging the contestants of a comparison, one after the other. */
#ifndef PC_JUDGING_H
#define PC_JUDGING_H

#include "compare/comparison.h"
#include "compare/first_fold.h"

typedef struct pc_judging {
  pcal_comparison *table;
  const pcal_model *models;
  const pcal_compare_config *config;
  pcal_env env;
  const char **specs; /* the ranking metric first */
  size_t spec_count;
  pc_form form;          /* of the first model */
  double deadline;       /* of pc_clock_seconds for fits, or 0 */
  int by_cluster;        /* groups are clusters of dependent rows */
  pc_memory_source kept; /* rows of the current model */
  pc_first_fold leader;  /* of the best contestant so far; empty if none is given up */
  char leader_name[PC_SPEC_MAX];
} pc_judging;

/* How a contestant of this model is fitted and judged. */
pc_held_out pc_judging_held_out(const pc_judging *state, size_t model);

/* True for a method that takes long; false for an unknown one. */
int pc_judging_is_slow(const char *spec);

/* Judges a contestant, or records why it is left out. */
PC_CHECKED pcal_status pc_judging_try(pc_judging *state, pc_contestant *contestant,
                                      pcal_error *err);

#endif
