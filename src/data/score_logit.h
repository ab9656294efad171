/* Scores as logits, which a temperature divides. */
#ifndef PC_SCORE_LOGIT_H
#define PC_SCORE_LOGIT_H

#include "propercal.h"

/* The logarithm of a probability (log-odds for one column), or the logit itself; finite unless
 * the score is NaN. */
double pc_score_logit(pcal_kind kind, size_t columns, double score);

#endif
