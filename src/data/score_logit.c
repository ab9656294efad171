/* Scores as logits.
 *
 * 1. A probability of 0 has the logit -1e30: it stays 0 under every temperature. */
#include "data/score_logit.h"

#include <math.h>

#include "base/elementary.h"

#define SCORE_LOGIT_RULED_OUT (-1e30) /* the logit of probability 0 */

double pc_score_logit(pcal_kind kind, size_t columns, double score) {
  if (kind == PCAL_PROBABILITY)
    score = columns == 1 ? pc_log(score) - pc_log1p(-score) : pc_log(score);
  if (isnan(score))
    return score;
  return fmin(fmax(score, SCORE_LOGIT_RULED_OUT), -SCORE_LOGIT_RULED_OUT);
}
