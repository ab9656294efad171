/* Features: the numbers that parametric calibrators compute from the scores of a row. */
#ifndef PC_FEATURES_H
#define PC_FEATURES_H

#include "data/rows.h"

typedef enum pc_feature {
  PC_FEATURE_SCORES = 1, /* the logits, or log-probabilities; one for each class */
  PC_FEATURE_LOG_PROBS,  /* log-probabilities, also from logits; one for each class */
  PC_FEATURE_LOG_ODDS,   /* the logits, or log-odds of probabilities; one for each column */
  PC_FEATURE_BETA        /* log p of all columns, then -log(1 - p) of all columns */
} pc_feature;

/* Lower bounds of log-probabilities: log 2^-149, the smallest positive float32; for log-odds
 * and beta log 2^-52. */
#define PC_FEATURE_LOG_LEAST (-103.27892990343185)
#define PC_FEATURE_LOG_CLIP (-36.04365338911715)

/* Below this margin m, sigmoid(m) equals exp(m) in double: if the margins of all classes are
 * lower, they can be raised together without changing the proportions of their sigmoids. */
#define PC_FEATURE_MARGIN_LEAST (-40.0)

/* Number of features of a row. */
size_t pc_feature_count(pc_feature feature, const pc_layout *layout);

/* Computes the features of a row from its scores (logits or log-probabilities).  Always
 * finite. */
void pc_feature_row(pc_feature feature, const pc_layout *layout, const double *scores,
                    double *out);

#endif
