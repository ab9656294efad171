/* Formula, p sorted in descending order, class k at place r:
 *   lac   1 - p_k
 *   aps   p_(1) + ... + p_(r-1) + u p_k,  u uniform in (0, 1), or 1
 *   raps  aps + penalty max(0, r - rank)
 * Edge cases:
 *   1. u is a hash of the probabilities of the row and the seed: it does not depend on the order of
 *      rows, and equal rows have the same u.
 *   2. Along the places the scores of aps and raps never fall, so a set ends at the first class
 *      whose score is too large.  It may be empty.
 * Source:   Sadinle, Lei & Wasserman 2019 (lac); Romano, Sesia & Candes 2020 (aps);
 *           Angelopoulos, Bates, Malik & Jordan 2021 (raps).
 * Cost:     O(K) for a score, O(K (m + 1)) for a set of m classes. */
#include "stats/prediction_sets.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

static double set_prob(const double *probs, size_t k) {
  return fmin(fmax(probs[k], 0.0), 1.0);
}

/* u of a row. */
static double set_share(const pc_set_scoring *scoring, const double *probs, size_t classes) {
  uint64_t key = pc_hash_u64(scoring->seed + UINT64_C(0x73657473));
  if (!scoring->random)
    return 1.0;
  for (size_t k = 0; k < classes; k++) {
    const double p = set_prob(probs, k) + 0.0; /* no negative zero */
    uint64_t bits;
    memcpy(&bits, &p, sizeof bits);
    key = pc_hash_u64(key ^ bits) + k;
  }
  return pc_rng_unit(pc_hash_u64(key));
}

static double set_penalty(const pc_set_scoring *scoring, double place) {
  return scoring->rule == PC_SET_RAPS ? scoring->penalty * fmax(0.0, place - scoring->rank)
                                      : 0.0;
}

/* True if class a is above class b. */
static int set_above(const double *probs, size_t a, size_t b) {
  const double x = set_prob(probs, a), y = set_prob(probs, b);
  return x > y || (x == y && a < b);
}

/* The class below `last` (`classes`: none yet) and above all others that are below it. */
static size_t set_next(const double *probs, size_t classes, size_t last) {
  size_t best = classes;
  for (size_t k = 0; k < classes; k++)
    if (k != last && (last == classes || set_above(probs, last, k)) &&
        (best == classes || set_above(probs, k, best)))
      best = k;
  return best;
}

/* Scores are sums in the order of places, so that pc_set_score and pc_set_fill agree to the last
 * bit. */
static size_t set_walk(const pc_set_scoring *scoring, const double *probs, size_t classes,
                       double threshold, size_t stop, double *out, double *score) {
  const double u = set_share(scoring, probs, classes);
  double above = 0.0;
  size_t count = 0;
  for (size_t at = set_next(probs, classes, classes); at < classes;
       at = set_next(probs, classes, at)) {
    const double p = set_prob(probs, at);
    *score = above + u * p + set_penalty(scoring, (double)(count + 1));
    if (at == stop || *score > threshold)
      break;
    if (out != NULL)
      out[at] = 1.0;
    above += p;
    count++;
  }
  return count;
}

double pc_set_score(const pc_set_scoring *scoring, const double *probs, size_t classes,
                    size_t k) {
  double score = 0.0;
  if (scoring->rule == PC_SET_LAC)
    return 1.0 - set_prob(probs, k);
  set_walk(scoring, probs, classes, INFINITY, k, NULL, &score);
  return score;
}

size_t pc_set_fill(const pc_set_scoring *scoring, const double *probs, size_t classes,
                   double threshold, double *out) {
  double score;
  size_t count = 0;
  for (size_t k = 0; k < classes; k++)
    count += out[k] = scoring->rule == PC_SET_LAC && 1.0 - set_prob(probs, k) <= threshold;
  return scoring->rule == PC_SET_LAC
             ? count
             : set_walk(scoring, probs, classes, threshold, classes, out, &score);
}
