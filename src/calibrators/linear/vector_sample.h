/* A sample of the rows of a fit, on which a search starts: a pc_fit_block of transposed
 * doubles.
 *
 * A row belongs to it if a hash of its label and a few of its features is small: the order of
 * rows and threads do not matter, and a row of weight w equals w rows. */
#ifndef PC_VECTOR_SAMPLE_H
#define PC_VECTOR_SAMPLE_H

#include "base/sum.h"
#include "calibrators/fit_rows.h"
#include "system/threads.h"

typedef struct pc_vector_sample {
  pc_fit_block block; /* the sample; count 0: none */
  double weight;      /* of its rows */

  const pc_fit_rows *rows; /* the rest is private */
  double *tiles, *weights;
  int32_t *labels;
  size_t most;     /* rows, and weight, that it may have */
  uint64_t below;  /* rows with keys below this belong to it */
  uint64_t chosen; /* rows that belong to it, also those without room */
  pc_sum total;
  pc_mutex lock;
} pc_vector_sample;

/* The number of rows, or their weight if that is larger. */
double pc_vector_sample_population(const pc_fit_rows *rows);

/* Draws about `wanted` rows in one pass.  The sample is empty if there are fewer rows, or if
 * far too many belong to it, as with equal rows. */
PC_CHECKED pcal_status pc_vector_sample_draw(const pc_fit_rows *rows, size_t wanted,
                                             pc_vector_sample *out, pcal_error *err);
void pc_vector_sample_free(pc_vector_sample *sample); /* a zeroed one is allowed */

#endif
