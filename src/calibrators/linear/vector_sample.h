/* A sample of the rows of a fit on which a search starts: a pc_fit_block of turned doubles.
 *
 * A row is in it when a hash of its label and a few of its features says so: neither the order
 * of rows nor threads show, and a row of weight w is w rows. */
#ifndef PC_VECTOR_SAMPLE_H
#define PC_VECTOR_SAMPLE_H

#include <pthread.h>

#include "base/sum.h"
#include "calibrators/fit_rows.h"

typedef struct pc_vector_sample {
  pc_fit_block block; /* the sample; count 0: none */
  double weight;      /* of its rows */

  const pc_fit_rows *rows; /* private */
  double *tiles, *weights;
  int32_t *labels;
  size_t most;     /* rows, and weight, that it may have */
  uint64_t below;  /* the keys of its rows are */
  uint64_t chosen; /* rows, also those that had no room */
  pc_sum total;
  pthread_mutex_t lock;
} pc_vector_sample;

/* Rows there are, or their weight where that is more. */
double pc_vector_sample_population(const pc_fit_rows *rows);

/* Draws about so many rows, in one pass; there is none where rows are fewer, or too many are
 * chosen, as when they are all equal.  On failure there is nothing to free. */
PC_CHECKED pcal_status pc_vector_sample_draw(const pc_fit_rows *rows, size_t wanted,
                                             pc_vector_sample *out, pcal_error *err);
void pc_vector_sample_free(pc_vector_sample *sample); /* a zeroed one is fine */

#endif
