/* Sums of a logistic regression over scores: the log-likelihood of
 * logit P(y = 1) = a + b logit p and its derivatives at one point (a, b).
 *
 * Each term is rounded to a multiple of 2^-44, and integers are added: sums depend on the rows
 * only, a row of whole weight w adds as much as w rows, and sums of parts add up to those of
 * all rows (measure/rounds.h).  Terms are at most 2^18, weights together at most 2^62. */
#ifndef PC_LOGIT_SUMS_H
#define PC_LOGIT_SUMS_H

#include "base/codec.h"
#include "base/memory.h"

typedef struct pc_logit_point {
  double intercept, slope;
  double clip; /* scores are clipped to [clip, 1 - clip] */
} pc_logit_point;

typedef struct pc_logit_sums {
  pc_logit_point at;
  uint64_t rows;                                 /* whole weights together */
  pc_int128 likelihood, gradient[2], hessian[3]; /* in units of 2^-44; hessian of -likelihood:
                                                    aa, ab, bb */
  pc_fixed certain;       /* weight of scores of exactly 0 or 1, which have no logit */
  int refuted;            /* one of them did not come true */
  double low[2], high[2]; /* of all other scores, by outcome; low > high: there are none */
} pc_logit_sums;

/* log(p / (1 - p)) */
double pc_log_odds(double p);

int pc_logit_points_equal(const pc_logit_point *a, const pc_logit_point *b);

/* Sums without rows. */
pc_logit_sums pc_logit_sums_none(pc_logit_point at);
/* Adds the rows of one score, by weight. */
void pc_logit_sums_add(pc_logit_sums *sums, double score, double misses, double hits);
/* A list of sums without rows, one for each point; NULL: no memory.  Freed with pc_free. */
pc_logit_sums *pc_logit_sums_list(const pcal_env *env, const pc_logit_point *points,
                                  size_t count);
/* Adds rows to each of `points` sums.  hits NULL: all rows have the outcome `hit`; weight NULL:
 * all weights are 1, else they are whole. */
void pc_logit_sums_add_rows(pc_logit_sums *sums, size_t points, const double *score,
                            const uint8_t *hits, int hit, const double *weight, size_t count);
/* Adds sums of the same point; at most 2^62 rows together. */
void pc_logit_sums_merge(pc_logit_sums *into, const pc_logit_sums *from);
/* A sum as a number. */
double pc_logit_sums_value(pc_int128 units);

/* Points are doubles; sums are varints, signed ones with the sign in the lowest bit. */
void pc_encode_logit_point(pc_encoder *out, const pc_logit_point *point);
void pc_decode_logit_point(pc_decoder *in, pc_logit_point *out);
void pc_encode_logit_sums(pc_encoder *out, const pc_logit_sums *sums);
/* Sums that no rows could have fail the decoder. */
void pc_decode_logit_sums(pc_decoder *in, pc_logit_sums *out);

#endif
