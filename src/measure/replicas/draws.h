/* Random draws of replicas.
 *
 * A draw is a pure function of the seed, the replica and the key of a row
 * (machines/machine_rows.h), so that it depends neither on threads nor on the order of rows.  A
 * row that stands for m copies draws once for all of them: Poisson(m) for weights, a
 * multinomial split for blocks and for outcomes.  The cost of a row does not grow with m,
 * beyond the bounds named in draws.c. */
#ifndef PC_DRAWS_H
#define PC_DRAWS_H

#include "base/rng.h"
#include "machines/machine.h"

#define PC_DRAWS_BATCH 8  /* replicas drawn together */
#define PC_DRAWS_UNITS 16 /* so many copies of a row draw their labels one by one */

/* The key with which a copy of a row draws its label: the first that of the row. */
uint64_t pc_draw_copy_key(uint64_t key, size_t copy);

/* How often a row of `copies` >= 1 copies occurs in a replica: a Poisson draw, from 32 bits of the
 * generator for up to PC_POISSON_FEW copies. */
double pc_draw_count(uint64_t seed, size_t replica, uint64_t key, double copies);

/* The generator of these counts for four replicas, of which `replica` is one. */
pc_rng pc_draw_count_rng(uint64_t seed, size_t replica);

/* The same for rows in PC_REPLICA_LANES replicas, `first` a multiple of them: out[row][replica -
 * first].  copies: NULL: 1. */
void pc_draw_count_lanes(uint64_t seed, size_t first, const uint64_t *keys,
                         const double *copies, size_t count, float *out);

/* out[q]: the number of copies of a row that are in block first + q of `blocks`, for
 * q < PC_DRAWS_BATCH; first is a multiple of PC_DRAWS_BATCH. */
void pc_draw_blocks(uint64_t seed, uint64_t key, double copies, size_t blocks, size_t first,
                    double out[PC_DRAWS_BATCH]);

/* An outcome, and the number of copies of a row that drew it. */
typedef struct pc_drawn_outcome {
  double outcome; /* label or target */
  double copies;
} pc_drawn_outcome;

/* The outcomes that rows of several copies drew in one replica.  Zeroed: empty. */
typedef struct pc_drawn_outcomes {
  pc_drawn_outcome *list; /* row after row; labels ascending */
  size_t count, capacity;
  size_t *begin; /* index in list of the first outcome of each such row */
  size_t row_count, row_capacity;
} pc_drawn_outcomes;

void pc_drawn_outcomes_free(const pcal_env *env, pc_drawn_outcomes *drawn);
void pc_drawn_outcomes_clear(pc_drawn_outcomes *drawn);
size_t pc_drawn_outcomes_end(const pc_drawn_outcomes *drawn,
                             size_t row); /* past its last outcome */
/* The number of copies with a label. */
double pc_drawn_outcomes_copies(const pc_drawn_outcomes *drawn, size_t row, int32_t label);

/* The class of the natural view of a row: the predicted class, or class 1. */
int32_t pc_draw_first(const pc_kept_rows *rows, size_t row);

/* The label that a row of one copy draws from its prediction. */
int32_t pc_draw_label(uint64_t seed, size_t replica, const pc_kept_rows *rows, size_t row);
/* The same of all rows in PC_REPLICA_LANES replicas: out[row][replica - first].  hits[row] has a
 * bit for each replica that drew pc_draw_first. */
void pc_draw_label_lanes(uint64_t seed, size_t first, const pc_kept_rows *rows, int32_t *out,
                         uint8_t *hits);

/* One of the classes other than pc_draw_first, drawn from the prediction of a row. */
int32_t pc_draw_other_label(uint64_t seed, size_t draw, const pc_kept_rows *rows, size_t row);

/* Append the labels of all copies of a row, or for regression their targets. */
PC_CHECKED pcal_status pc_draw_labels(const pcal_env *env, uint64_t seed, size_t replica,
                                      const pc_kept_rows *rows, size_t row,
                                      pc_drawn_outcomes *drawn, pcal_error *err);
PC_CHECKED pcal_status pc_draw_targets(const pcal_env *env, uint64_t seed, size_t replica,
                                       const pc_layout *layout, const pc_kept_rows *rows,
                                       size_t row, pc_drawn_outcomes *drawn, pcal_error *err);
/* The labels of all rows, with the seed of env.  A row of several copies gets -1 - its number in
 * `drawn`, which holds their outcomes, or targets for regression. */
PC_CHECKED pcal_status pc_draw_outcomes(const pcal_env *env, size_t replica,
                                        const pc_layout *layout, const pc_kept_rows *rows,
                                        pc_drawn_outcomes *drawn, int32_t *labels,
                                        pcal_error *err);
double pc_draw_target(uint64_t seed, size_t replica, const pc_layout *layout,
                      const pc_kept_rows *rows, size_t row);

/* A step that is coprime to `count` and separates neighbours: i * step mod count visits every
 * place. */
size_t pc_draw_step(size_t count);

#endif
