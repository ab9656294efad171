/* A sample of rows that depends on nothing but the rows themselves.
 *
 * Each row has a key, a hash of its label and a few of its scores.  The sample holds the rows
 * whose key starts with `level` zero bits, for the lowest level at which they weigh at most
 * `limit`.  So neither the order of rows nor threads show, and a row of weight w is w rows. */
#ifndef PC_ROW_SAMPLE_H
#define PC_ROW_SAMPLE_H

#include "data/rows.h"

typedef struct pc_row_sample {
  const pcal_env *env;
  size_t classes;
  double limit;   /* of `heavy`; also bounds the number of rows */
  unsigned level; /* 0: every row so far */
  double heavy;   /* sum of the weights, each rounded up */
  size_t count, capacity;
  double *scores; /* count x classes */
  double *weights;
  int32_t *labels;
  uint64_t *keys;
} pc_row_sample;

void pc_row_sample_init(pc_row_sample *sample, const pcal_env *env, size_t classes,
                        size_t limit);
void pc_row_sample_free(pc_row_sample *sample); /* a zeroed sample is fine */

/* Takes what belongs in from rows with scores. */
PC_CHECKED pcal_status pc_row_sample_add(pc_row_sample *sample, const pc_rows *rows,
                                         pcal_error *err);
PC_CHECKED pcal_status pc_row_sample_merge(pc_row_sample *into, const pc_row_sample *from,
                                           pcal_error *err);

#endif
