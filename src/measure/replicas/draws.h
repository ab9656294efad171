/* Random draws of replicas.
 *
 * Each is a pure function of the seed, the replica and the key of a row (machine_rows.h), so
 * neither threads nor the order of rows show.  A row that stands for m copies draws for all of
 * them at once: Poisson(m) for weights, a multinomial split for blocks and for outcomes.  The
 * work for a row does not grow with m, beyond the bounds that draws.c names. */
#ifndef PC_DRAWS_H
#define PC_DRAWS_H

#include "machines/machine.h"

#define PC_DRAWS_BATCH 8 /* replicas that are drawn together */

/* How often a row of m copies occurs in a replica, m > 1. */
double pc_draw_count(uint64_t seed, size_t replica, uint64_t key, double copies);

/* Fills out[q], for q < PC_DRAWS_BATCH, with how many copies of a row are in block first + q of
 * `blocks`; first is a multiple of PC_DRAWS_BATCH. */
void pc_draw_blocks(uint64_t seed, uint64_t key, double copies, size_t blocks, size_t first,
                    double out[PC_DRAWS_BATCH]);

/* An outcome and how many copies of a row drew it. */
typedef struct pc_drawn_outcome {
  double outcome; /* label or target */
  double copies;
} pc_drawn_outcome;

/* What the rows of several copies drew in one replica.  Starts zeroed. */
typedef struct pc_drawn_outcomes {
  pc_drawn_outcome *list; /* row after row, labels ascending */
  size_t count, capacity;
  size_t *begin; /* where the shares of each such row begin */
  size_t row_count, row_capacity;
} pc_drawn_outcomes;

void pc_drawn_outcomes_free(const pcal_env *env, pc_drawn_outcomes *shares);
void pc_drawn_outcomes_clear(pc_drawn_outcomes *shares);
size_t pc_drawn_outcomes_end(const pc_drawn_outcomes *shares,
                             size_t row); /* past the last share of a row */
/* How many copies have a label. */
double pc_drawn_outcomes_copies(const pc_drawn_outcomes *shares, size_t row, int32_t label);

/* The label that a row of one copy draws from its prediction. */
int32_t pc_draw_label(uint64_t seed, size_t replica, const pc_kept_rows *rows, size_t row);

/* The labels of all copies of a row, or for regression their targets, appended to `shares`. */
PC_CHECKED pcal_status pc_draw_labels(const pcal_env *env, uint64_t seed, size_t replica,
                                      const pc_kept_rows *rows, size_t row,
                                      pc_drawn_outcomes *shares, pcal_error *err);
PC_CHECKED pcal_status pc_draw_targets(const pcal_env *env, uint64_t seed, size_t replica,
                                       const pc_layout *layout, const pc_kept_rows *rows,
                                       size_t row, pc_drawn_outcomes *shares, pcal_error *err);
double pc_draw_target(uint64_t seed, size_t replica, const pc_layout *layout,
                      const pc_kept_rows *rows, size_t row);

/* A step that visits all of `count` places, neighbours far apart. */
size_t pc_draw_step(size_t count);

#endif
