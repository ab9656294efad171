/* Scores of classes for prediction sets: how far down the predicted probabilities a class is. */
#ifndef PC_PREDICTION_SETS_H
#define PC_PREDICTION_SETS_H

#include <stddef.h>
#include <stdint.h>

typedef enum pc_set_rule {
  PC_SET_LAC, /* 1 - p_k */
  PC_SET_APS, /* probability of the classes above k, plus u p_k */
  PC_SET_RAPS /* the same, plus a penalty for each place below a rank */
} pc_set_rule;

#define PC_SET_RULES "lac|aps|raps" /* words of pc_set_rule, for options */

typedef struct pc_set_scoring {
  pc_set_rule rule;
  double penalty; /* of raps */
  double rank;    /* of raps: places without penalty */
  int random;     /* u is drawn, a function of the row and the seed; else 1 */
  uint64_t seed;
} pc_set_scoring;

/* Score of class k of a row of probabilities; those a little below 0 count as 0.  Of equal
 * probabilities the lower class is above. */
double pc_set_score(const pc_set_scoring *scoring, const double *probs, size_t classes,
                    size_t k);

/* Sets out[k] to 1 if the score of class k is at most the threshold, else to 0; returns the number
 * of ones. */
size_t pc_set_fill(const pc_set_scoring *scoring, const double *probs, size_t classes,
                   double threshold, double *out);

#endif
