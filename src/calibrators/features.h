/* What parametric calibrators look at: numbers made from the scores of a row. */
#ifndef PC_FEATURES_H
#define PC_FEATURES_H

#include "data/rows.h"

typedef enum pc_feature {
  PC_FEATURE_SCORES = 1, /* the logits, or logarithms of probabilities; one for each class */
  PC_FEATURE_LOG_PROBS,  /* logarithms of probabilities, also when logits are given */
  PC_FEATURE_ODDS,       /* the logits, or log-odds of probabilities; one for each column */
  PC_FEATURE_BETA        /* log p and -log(1 - p); all of the first, then all of the second */
} pc_feature;

/* Logarithms of probabilities are at least log 2^-149, the smallest positive float32; for odds
 * and beta at least log 2^-52. */
#define PC_FEATURE_LOG_LEAST (-103.27892990343185)
#define PC_FEATURE_LOG_CLIP (-36.04365338911715)

/* Below this a sigmoid is its exponential to all digits: margins of several classes that are
 * all lower can be shifted up together without changing the shares of their sigmoids. */
#define PC_FEATURE_MARGIN_LEAST (-40.0)

/* Values that a row has. */
size_t pc_feature_count(pc_feature feature, const pc_layout *layout);

/* From the scores of a row (logits, or logarithms of probabilities): always finite. */
void pc_feature_row(pc_feature feature, const pc_layout *layout, const double *scores,
                    double *out);

#endif
