#include "curve/curve_prefix.h"

#include <math.h>

double pc_curve_prefix_total(const pc_curve_prefix *prefix) {
  return prefix->sums.rows[prefix->count];
}

double pc_curve_prefix_hits(const pc_curve_prefix *prefix, size_t r) {
  const pc_prefix_gaps *gaps = prefix->gaps;
  if (gaps == NULL)
    return prefix->sums.hits[r];
  return gaps->data.scores[r] - gaps->own * (gaps->data.scores[r] - gaps->data.hits[r]) -
         gaps->drawn * (gaps->replica.scores[r] - gaps->replica.hits[r]) -
         gaps->shift * gaps->tilt[r];
}

/* Before range r. */
static pc_curve_cursor prefix_at(const pc_curve_prefix *prefix, size_t r) {
  return (pc_curve_cursor){prefix->begin[r], prefix->sums.rows[r],
                           pc_curve_prefix_hits(prefix, r), prefix->sums.scores[r]};
}

pc_curve_cursor pc_curve_prefix_first(const pc_curve_prefix *prefix) {
  return prefix_at(prefix, 0);
}

pc_curve_cursor pc_curve_prefix_last(const pc_curve_prefix *prefix) {
  return prefix_at(prefix, prefix->count);
}

double pc_gap_tilt(double score) {
  return fmax(score * (1.0 - score), 1e-100);
}

/* The hits of one row, made of its gap in the data and in the replica. */
static double prefix_made_hits(const pc_prefix_gaps *gaps, double weight, double drawn,
                               double score, double hit) {
  return weight * score - (gaps->own * weight + gaps->drawn * drawn) * (score - hit) -
         gaps->shift * weight * pc_gap_tilt(score);
}

void pc_curve_prefix_pass(const pc_curve_prefix *prefix, pc_curve_cursor *place) {
  const size_t end = prefix->begin[prefix->count];
  const double score = prefix->score[place->entry];
  const pc_prefix_gaps *gaps = prefix->gaps;
  while (place->entry < end && prefix->score[place->entry] == score) {
    const uint32_t row = prefix->row[place->entry];
    const double drawn = (double)prefix->weight[row * prefix->stride];
    const double hit = prefix->hit[place->entry];
    const double weight = gaps == NULL ? drawn : (double)gaps->weight[row];
    place->rows += weight;
    place->hits +=
        gaps == NULL ? weight * hit : prefix_made_hits(gaps, weight, drawn, score, hit);
    place->scores += weight * score;
    place->entry++;
  }
}

pc_curve_cursor pc_curve_prefix_above(const pc_curve_prefix *prefix, double threshold) {
  size_t low = 0, high = prefix->count; /* the first range that ends above it */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (prefix->score[prefix->begin[middle + 1] - 1] > threshold)
      high = middle;
    else
      low = middle + 1;
  }
  pc_curve_cursor place = prefix_at(prefix, low);
  while (low < prefix->count && !(prefix->score[place.entry] > threshold))
    pc_curve_prefix_pass(prefix, &place);
  return place;
}

pc_curve_cursor pc_curve_prefix_seek(const pc_curve_prefix *prefix, double rows) {
  const double index = fmin(rows, pc_curve_prefix_total(prefix) - 0.5);
  size_t low = 0, high = prefix->count - 1; /* the first range after which there are more */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (prefix->sums.rows[middle + 1] > index)
      high = middle;
    else
      low = middle + 1;
  }
  pc_curve_cursor place = prefix_at(prefix, low);
  for (;;) {
    pc_curve_cursor next = place;
    pc_curve_prefix_pass(prefix, &next);
    if (next.rows > index || next.entry >= prefix->begin[low + 1])
      return place;
    place = next;
  }
}

/* ---- the gap ---- */

typedef struct prefix_widest {
  double gap, at;
} prefix_widest;

/* Distinct scores of a range one by one. */
static void prefix_gap_inside(const pc_curve_prefix *prefix, size_t r, prefix_widest *widest) {
  pc_curve_cursor place = prefix_at(prefix, r);
  while (place.entry < prefix->begin[r + 1]) {
    const double before = place.rows;
    pc_curve_prefix_pass(prefix, &place);
    const double gap = place.scores - place.hits, at = prefix->score[place.entry - 1];
    const double more = fabs(gap) - fabs(widest->gap);
    if (place.rows > before && (more > 0 || (more == 0 && !(at >= widest->at))))
      *widest = (prefix_widest){gap, at};
  }
}

/* Sum of |score - outcome| in range r; an upper bound where scores of hits are not known. */
static double prefix_sizes(const pc_prefix_sums *sums, size_t r) {
  const double of_hits =
      sums->hit_scores == NULL ? 0.0 : sums->hit_scores[r + 1] - sums->hit_scores[r];
  return (sums->scores[r + 1] - sums->scores[r]) + (sums->hits[r + 1] - sums->hits[r]) -
         2.0 * of_hits;
}

/* How far gaps can move inside range r. */
static double prefix_gaps_reach(const pc_prefix_gaps *gaps, size_t r) {
  return fabs(gaps->own) * prefix_sizes(&gaps->data, r) +
         fabs(gaps->drawn) * prefix_sizes(&gaps->replica, r) +
         fabs(gaps->shift) * (gaps->tilt[r + 1] - gaps->tilt[r]);
}

/* Inside a range the gap rises by at most the scores of its misses and falls by at most
 * (1 - score) over its hits. */
static double prefix_reach(const pc_curve_prefix *prefix, size_t r) {
  const double before = prefix->sums.scores[r] - pc_curve_prefix_hits(prefix, r);
  if (prefix->gaps != NULL)
    return fabs(before) + prefix_gaps_reach(prefix->gaps, r);
  const double of_hits = prefix->sums.hit_scores == NULL
                             ? 0.0
                             : prefix->sums.hit_scores[r + 1] - prefix->sums.hit_scores[r];
  const double up = before + (prefix->sums.scores[r + 1] - prefix->sums.scores[r]) - of_hits;
  const double down = before -
                      (pc_curve_prefix_hits(prefix, r + 1) - pc_curve_prefix_hits(prefix, r)) +
                      of_hits;
  return fmax(up, -down);
}

double pc_curve_prefix_gap(const pc_curve_prefix *prefix, double *at) {
  double least = 0.0; /* that it has behind some range */
  for (size_t r = 1; r <= prefix->count; r++)
    least = fmax(least, fabs(prefix->sums.scores[r] - pc_curve_prefix_hits(prefix, r)));
  least *= 1 - 0x1p-40; /* sums inside a range are rounded otherwise */
  prefix_widest widest = {0.0, (double)NAN};
  for (size_t r = 0; r < prefix->count; r++)
    if (prefix_reach(prefix, r) >= fmax(least, fabs(widest.gap)))
      prefix_gap_inside(prefix, r, &widest);
  *at = widest.at;
  return widest.gap;
}
