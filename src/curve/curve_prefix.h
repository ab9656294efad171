/* One of many replicas of a curve: sorted scores in ranges that are the same for all of them,
 * with sums up to each range.  What lies inside a range is looked up only where it matters.
 *
 * Weights are whole; rows of weight 0 are absent.  Ranges split no ties. */
#ifndef PC_CURVE_PREFIX_H
#define PC_CURVE_PREFIX_H

#include <stddef.h>
#include <stdint.h>

#define PC_PREFIX_LEVEL 12
#define PC_PREFIX_CELLS ((1 << PC_PREFIX_LEVEL) + 1)

/* Sums before each range, and behind them all the totals. */
typedef struct pc_prefix_sums {
  const double *rows, *hits, *scores;
  const double *hit_scores; /* scores of hits, or NULL */
} pc_prefix_sums;

/* How hits are made of gaps, score - outcome, in place of being counted: a score s with outcome
 * a that has weight w in the data and v in the replica has hits
 *   w s - (own w + drawn v) (s - a) - shift w tilt(s). */
typedef struct pc_prefix_gaps {
  const float *weight; /* in the data, by row */
  double own, drawn, shift;
  pc_prefix_sums data, replica;
  const double *tilt; /* sums of tilts in the data, before each range and behind them all */
} pc_prefix_gaps;

/* How much a score moves when all log-odds shift by the same amount: s (1 - s); never 0, so that
 * scores that are all 0 or 1 share a shift evenly. */
double pc_gap_tilt(double score);

typedef struct pc_curve_prefix {
  size_t count;        /* ranges */
  const size_t *begin; /* the first score of each range, and behind them all the end */
  const double *score; /* ascending */
  const double *hit;   /* of each score: 1 where it came true, else 0 */
  const uint32_t *row; /* of each score */
  const float *weight; /* of row i: weight[i * stride] */
  size_t stride;
  pc_prefix_sums sums;
  /* Where ranges lie inside cells of 2^-PC_PREFIX_LEVEL, the first range of each cell, from
   * scores of 0 to those of 1, and behind them count; else NULL. */
  const uint32_t *cells;
  const pc_prefix_gaps *gaps; /* hits are made of gaps, and sums are the data's; or NULL */
} pc_curve_prefix;

/* A place between two distinct scores, and the sums before it. */
typedef struct pc_curve_cursor {
  size_t entry; /* the first score behind it */
  double rows, hits, scores;
} pc_curve_cursor;

double pc_curve_prefix_total(const pc_curve_prefix *prefix);

/* Hits before range r. */
double pc_curve_prefix_hits(const pc_curve_prefix *prefix, size_t r);

/* Before the first score, and behind the last. */
pc_curve_cursor pc_curve_prefix_first(const pc_curve_prefix *prefix);
pc_curve_cursor pc_curve_prefix_last(const pc_curve_prefix *prefix);

/* Before the first score above a threshold. */
pc_curve_cursor pc_curve_prefix_above(const pc_curve_prefix *prefix, double threshold);

/* Before the distinct score with which the rows come to more than `rows`; that of the last row
 * where they never do.  There are rows. */
pc_curve_cursor pc_curve_prefix_seek(const pc_curve_prefix *prefix, double rows);

/* Moves a place behind the distinct score that it is before. */
void pc_curve_prefix_pass(const pc_curve_prefix *prefix, pc_curve_cursor *place);

/* The largest distance between the cumulated scores and outcomes, signed, and the score at
 * which it is reached: as pc_curve_table_gap.  There are rows. */
double pc_curve_prefix_gap(const pc_curve_prefix *prefix, double *at);

#endif
