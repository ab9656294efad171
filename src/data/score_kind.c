#include "data/rows.h"

const char *pcal_kind_name(pcal_kind kind) {
  switch (kind) {
  case PCAL_PROBABILITY:
    return "probability";
  case PCAL_LOGIT:
    return "logit";
  case PCAL_LOG_PROBABILITY:
    return "log-probability";
  case PCAL_CONFIDENCE:
    return "confidence";
  case PCAL_MEAN_VARIANCE:
    return "mean-variance";
  case PCAL_MEAN_STD:
    return "mean-std";
  case PCAL_QUANTILES:
    return "quantiles";
  case PCAL_SAMPLES:
    return "samples";
  case PCAL_SAMPLE_VECTORS:
    return "sample-vectors";
  }
  return NULL;
}

const char *pc_kind_title(pcal_kind kind) {
  switch (kind) {
  case PCAL_PROBABILITY:
    break;
  case PCAL_LOGIT:
    return "logits";
  case PCAL_LOG_PROBABILITY:
    return "log-probabilities";
  case PCAL_CONFIDENCE:
    return "confidences";
  case PCAL_MEAN_VARIANCE:
    return "means and variances";
  case PCAL_MEAN_STD:
    return "means and standard deviations";
  case PCAL_QUANTILES:
    return "quantiles";
  case PCAL_SAMPLES:
    return "samples";
  case PCAL_SAMPLE_VECTORS:
    return "numbers in samples of several targets";
  }
  return "probabilities";
}
