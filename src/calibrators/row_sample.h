/* A sample of rows that depends on nothing but the rows themselves.
 *
 * Each row has a key, a hash of its label and a few of its scores.  The sample holds the rows
 * whose key starts with `level` zero bits, for the lowest level at which they weigh at most
 * `limit`; levels at which as many rows as there are would hardly ever do so are passed over.
 * So neither the order of rows nor threads show, and a row of weight w is w rows. */
#ifndef PC_ROW_SAMPLE_H
#define PC_ROW_SAMPLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "data/rows.h"

/* A row of the sample.  Its scores stay in their slot when others leave. */
typedef struct pc_sampled_row {
  uint64_t key;
  double weight;
  int32_t label, top_label;
  size_t slot;
} pc_sampled_row;

typedef struct pc_row_sample {
  const pcal_env *env;
  size_t classes;
  size_t limit;      /* of `heavy`; also bounds the number of rows */
  atomic_uint level; /* 0: every row */
  double heavy;      /* sum of the weights, each rounded up */
  size_t count, capacity;
  pc_sampled_row *rows; /* those behind `count` own the free slots */
  int floats;           /* scores are floats, as they were in memory */
  void *scores;         /* capacity x classes */
  pthread_mutex_t lock; /* held while rows are taken */
} pc_row_sample;

/* `rows`: at least as many are to come, 0 if that is not known. */
PC_CHECKED pcal_status pc_row_sample_init(pc_row_sample *sample, const pcal_env *env,
                                          size_t classes, size_t limit, uint64_t rows,
                                          pcal_error *err);
void pc_row_sample_free(pc_row_sample *sample); /* a zeroed sample is fine */

/* Is row i one of about a 2^bits-th of the sample, which has the same properties? */
static inline int pc_row_sample_few(const pc_row_sample *sample, size_t i, unsigned bits) {
  const unsigned level = atomic_load_explicit(&sample->level, memory_order_relaxed) + bits;
  return level == 0 || (level < 64 && sample->rows[i].key >> (64 - level) == 0);
}

/* Takes what belongs in from rows with scores; several threads may do so at once.  Scores that
 * lie where they were (pc_rows_flat) may be unchecked: rows that are not finite are passed
 * over.  Other rows have their top_label. */
PC_CHECKED pcal_status pc_row_sample_add(pc_row_sample *sample, const pc_rows *rows,
                                         pcal_error *err);

/* Scores of row i, in whichever form they are. */
static inline const float *pc_row_sample_floats(const pc_row_sample *sample, size_t i) {
  return (const float *)sample->scores + sample->rows[i].slot * sample->classes;
}

static inline const double *pc_row_sample_doubles(const pc_row_sample *sample, size_t i) {
  return (const double *)sample->scores + sample->rows[i].slot * sample->classes;
}

#endif
