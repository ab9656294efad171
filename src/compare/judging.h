/* Fitting and judging the contestants of a comparison. */
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

/* Weight of the steps of a contestant in progress: a slow method counts as eight fast ones. */
static inline uint64_t pc_judging_share(const pc_contestant *contestant) {
  return contestant->slow ? 8 : 1;
}

/* Steps of a contestant for progress: its folds, and judging it. */
static inline uint64_t pc_judging_steps(const pc_judging *state) {
  return (state->table->folds == 0 ? 1 : state->table->folds) + 1;
}
/* Counts steps that are done; several threads may. */
void pc_judging_count(const pc_judging *state, const pc_contestant *contestant, uint64_t steps);

/* True if contestants of these rows can be judged side by side. */
int pc_judging_suits_stages(const pc_judging *state);
/* True if there are so few rows that all contestants can be judged at once: nobody waits long
 * for the fast ones. */
int pc_judging_suits_one_run(const pc_judging *state);
/* Judges several contestants as pc_judging_try does one after the other, but in stages, each
 * with all threads: first folds, other folds, measuring.  The results are the same. */
PC_CHECKED pcal_status pc_judging_try_all(pc_judging *state, pc_contestant *const *contestants,
                                          size_t count, pcal_error *err);

/* Judges a contestant, or records why it is left out. */
PC_CHECKED pcal_status pc_judging_try(pc_judging *state, pc_contestant *contestant,
                                      pcal_error *err);

#endif
