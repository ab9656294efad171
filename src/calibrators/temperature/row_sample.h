/* A sample of rows that depends on nothing but the rows themselves.
 *
 * Each row has a key, a hash of its label and a few of its scores.  The sample holds the rows
 * whose key starts with `level` zero bits, for the lowest level at which they weigh at most
 * `limit`.  So neither the order of rows nor threads show, and a row of weight w is w rows. */
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
  unsigned start;    /* level to begin with, as the number of rows suggests */
  atomic_uint level; /* 0: every row */
  double heavy;      /* sum of the weights, each rounded up */
  double passed;     /* the same of further rows that level start - 1 would hold */
  size_t count, capacity;
  pc_sampled_row *rows; /* those behind `count` own the free slots */
  int floats;           /* scores are floats, as they were in memory */
  void *scores;         /* capacity x classes */
  pthread_mutex_t lock; /* held while rows are taken */
} pc_row_sample;

/* `rows`: as many are to come, 0 if that is not known: a sample of many rows is taken faster.
 */
PC_CHECKED pcal_status pc_row_sample_init(pc_row_sample *sample, const pcal_env *env,
                                          size_t classes, size_t limit, uint64_t rows,
                                          pcal_error *err);
void pc_row_sample_free(pc_row_sample *sample); /* a zeroed sample is fine */

/* Takes what belongs in from rows with scores; several threads may do so at once.  Scores that
 * lie where they were (pc_rows_floats) may be unchecked: rows that are not finite are passed
 * over.  Other rows have their top_label. */
PC_CHECKED pcal_status pc_row_sample_add(pc_row_sample *sample, const pc_rows *rows,
                                         pcal_error *err);

/* Did the sample begin at too high a level, as it does where most rows are repeats?  Then it
 * must be taken again, without telling the number of rows. */
int pc_row_sample_is_sparse(const pc_row_sample *sample);

/* Is row i one of about a 2^bits-th of the sample, which has the same properties? */
int pc_row_sample_in_subset(const pc_row_sample *sample, size_t i, unsigned bits);

/* Scores of row i, in whichever form they are. */
static inline const float *pc_row_sample_floats(const pc_row_sample *sample, size_t i) {
  return (const float *)sample->scores + sample->rows[i].slot * sample->classes;
}

static inline const double *pc_row_sample_doubles(const pc_row_sample *sample, size_t i) {
  return (const double *)sample->scores + sample->rows[i].slot * sample->classes;
}

#endif
