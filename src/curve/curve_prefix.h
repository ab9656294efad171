/* One bootstrap replica of a curve, as prefix sums over ranges of its sorted scores.
 *
 * All replicas share the scores and the ranges; a replica has its own weights and its own sums
 * before each range.  Sums inside a range are computed only where they are needed, so that the
 * cost of an evaluation depends on the number of ranges, not on the number of scores.
 *
 * Weights are whole numbers; a row of weight 0 is absent.  Equal scores are in the same
 * range. */
#ifndef PC_CURVE_PREFIX_H
#define PC_CURVE_PREFIX_H

#include <stddef.h>
#include <stdint.h>

#define PC_PREFIX_LEVEL 12 /* cells of width 2^-12 */
#define PC_PREFIX_CELLS ((1 << PC_PREFIX_LEVEL) + 1)

/* Sums over the scores before each range; the last element of each array is the total. */
typedef struct pc_prefix_sums {
  const double *rows, *hits, *scores;
  const double *hit_scores; /* sum of the scores of hits; NULL: unknown */
} pc_prefix_sums;

typedef struct pc_smooth_ladder pc_smooth_ladder;   /* smooth_ladder.h */
typedef struct pc_mass_bin_cache pc_mass_bin_cache; /* mass_bin_cache.h */

/* The gaps (score - outcome) of which those of a gap point consist. */
enum { PC_GAP_DATA, PC_GAP_REPLICA, PC_GAP_SHIFT, PC_GAP_PARTS };

/* Replaces the hits of a replica by hits computed from gaps.  A score s with outcome a, weight w
 * in the data and v in the replica, has
 *   w s - factor[0] w (s - a) - factor[1] v (s - a) - factor[2] w tilt(s)
 * hits.  See pc_gap_point in measure/replicas/replica_batch.h. */
typedef struct pc_prefix_gaps {
  const float *weight; /* w of each row */
  double factor[PC_GAP_PARTS];
  const double *gap[PC_GAP_PARTS];  /* sums before each range; the last element is the total */
  const double *size[PC_GAP_PARTS]; /* of each range: a bound on the sum of |gaps| */
  double *spare;                    /* 2 * (number of ranges + 1) numbers */
  pc_smooth_ladder *ladder;         /* NULL: none */
  pc_mass_bin_cache *bins;          /* NULL: none */
} pc_prefix_gaps;

/* tilt(s) = s (1 - s), the derivative of a score with respect to its log-odds.  At least
 * 1e-100, so that a shift is distributed evenly if all scores are 0 or 1. */
double pc_gap_tilt(double score);

typedef struct pc_curve_prefix {
  size_t count;        /* ranges */
  int single;          /* every range holds one score, and nothing inside it is read */
  const size_t *begin; /* index of the first score of each range; begin[count]: the end */
  const double *score; /* ascending */
  const double *hit;   /* of each score: 1.0 if it is a hit, else 0.0 */
  /* With other labels, in place of `hit`: a score is a hit if labels[row * stride] is its
   * label. */
  const int32_t *labels, *label; /* or NULL */
  const uint32_t *row;           /* of each score */
  const float *weight;           /* of row i in this replica: weight[i * stride] */
  size_t stride;
  pc_prefix_sums sums; /* of the replica; with `gaps`: of the data */
  /* The first range of each cell of width 2^-PC_PREFIX_LEVEL, from score 0 to score 1, then
   * `count`; NULL unless every range lies in one cell. */
  const uint32_t *cells;
  const pc_prefix_gaps *gaps; /* NULL: hits are counted */
} pc_curve_prefix;

typedef struct pc_curve_cursor pc_curve_cursor; /* curve_cursor.h */

double pc_curve_prefix_total(const pc_curve_prefix *prefix);

/* Hits before range r. */
static inline double pc_curve_prefix_hits(const pc_curve_prefix *prefix, size_t r) {
  const pc_prefix_gaps *gaps = prefix->gaps;
  if (gaps == NULL)
    return prefix->sums.hits[r];
  double hits = prefix->sums.scores[r];
  for (size_t p = 0; p < PC_GAP_PARTS; p++)
    hits -= gaps->factor[p] * gaps->gap[p][r];
  return hits;
}

/* The place before range r; r = count: after the last score. */
pc_curve_cursor pc_curve_prefix_at(const pc_curve_prefix *prefix, size_t r);
pc_curve_cursor pc_curve_prefix_last(const pc_curve_prefix *prefix);

/* The place before the first score above `threshold`. */
pc_curve_cursor pc_curve_prefix_above(const pc_curve_prefix *prefix, double threshold);

/* The place before the first score whose cumulative weight exceeds `rows`; before the last row
 * if none does.  The replica must have rows. */
pc_curve_cursor pc_curve_prefix_seek(const pc_curve_prefix *prefix, double rows);

/* Moves a place past one distinct score. */
void pc_curve_prefix_next(const pc_curve_prefix *prefix, pc_curve_cursor *cursor);

#endif
