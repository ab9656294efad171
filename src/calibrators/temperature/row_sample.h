/* A random sample of rows that depends only on the rows.
 *
 * Each row has a key, a hash of its label and a few of its scores.  The sample holds the rows
 * whose key starts with `level` zero bits, for the lowest level at which their weight is at
 * most `limit`. So the order of rows and threads do not matter, and a row of weight w equals w
 * rows. */
#ifndef PC_ROW_SAMPLE_H
#define PC_ROW_SAMPLE_H

#include <stdatomic.h>

#include "calibrators/fit_tally.h"
#include "data/rows.h"
#include "system/threads.h"

/* A row of the sample; `slot` is the place of its scores. */
typedef struct pc_sampled_row {
  uint64_t key;
  double weight;
  int32_t label, top_label;
  size_t slot;
} pc_sampled_row;

typedef struct pc_row_sample {
  const pcal_env *env;
  size_t classes;
  size_t limit;      /* of `heavy`, and so of the number of rows */
  unsigned start;    /* first level, from the expected number of rows */
  atomic_uint level; /* 0: every row */
  double heavy;      /* sum of the weights, each rounded up */
  double passed;     /* the same for the further rows of level start - 1 */
  size_t count, capacity;
  pc_sampled_row *rows; /* those from `count` on hold the free slots */
  int floats;           /* scores are floats, as in the input */
  void *scores;         /* capacity x classes */
  pc_mutex lock;        /* guards everything but `level` */
} pc_row_sample;

/* rows: expected number, 0 if unknown; it speeds up a sample of many rows. */
PC_CHECKED pcal_status pc_row_sample_init(pc_row_sample *sample, const pcal_env *env,
                                          size_t classes, size_t limit, uint64_t rows,
                                          pcal_error *err);
void pc_row_sample_free(pc_row_sample *sample); /* a zeroed sample is allowed */

/* Adds the rows that belong to the sample; several threads may call it at once.  Float scores
 * (pc_rows_floats) may be unchecked: rows that are not finite are left out.  Other rows need
 * top_label. */
PC_CHECKED pcal_status pc_row_sample_add(pc_row_sample *sample, const pc_rows *rows,
                                         pcal_error *err);

/* The sample as a field of a tally, for fits by rounds; taking, the sample is empty. */
PC_CHECKED pcal_status pc_row_sample_list(pc_row_sample *sample, pc_fit_fields *fields,
                                          pcal_error *err);

/* True if the first level was too high, as with many equal rows: draw the sample again, with
 * the number of rows unknown. */
int pc_row_sample_is_sparse(const pc_row_sample *sample);

/* True if row i belongs to a subset of about 2^-bits of the sample, with the same
 * properties. */
int pc_row_sample_in_subset(const pc_row_sample *sample, size_t i, unsigned bits);

/* Scores of row i: floats if sample->floats, else doubles. */
static inline const float *pc_row_sample_floats(const pc_row_sample *sample, size_t i) {
  return (const float *)sample->scores + sample->rows[i].slot * sample->classes;
}

static inline const double *pc_row_sample_doubles(const pc_row_sample *sample, size_t i) {
  return (const double *)sample->scores + sample->rows[i].slot * sample->classes;
}

#endif
