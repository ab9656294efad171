/* Metrics of one event with a probability: class 1 of two, or "the prediction is correct". */
#ifndef PC_EVENT_VIEW_H
#define PC_EVENT_VIEW_H

#include "metrics/metric.h"

/* The option "view" of these metrics; choices as PC_CHOICE_AUTO and so on. */
#define PC_EVENT_VIEW_OPTION                                                             \
  {                                                                                      \
    "view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive",                       \
        "class 1 of two (positive), or the predicted class (top); auto is positive for " \
        "two classes, in one column or in two, else top"                                 \
  }

/* As pc_metric_choose_view, with this meaning of auto. */
PC_CHECKED pcal_status pc_event_view_choose(pc_options *options, size_t index,
                                            const pc_layout *layout, pc_metric_config *config,
                                            pcal_error *err);

/* The probability of the event of a row, and 1 if it occurred, for the sum machine.  positive:
 * class 1, else the predicted class. */
static inline double pc_event_score(const pc_rows *rows, size_t row, int positive) {
  if (rows->classes == 1 || (positive && rows->positive != NULL))
    return rows->positive[row];
  return positive ? rows->probs[row * rows->classes + 1] : rows->top[row];
}

static inline double pc_event_outcome(const pc_rows *rows, size_t row, int positive) {
  const int32_t label = rows->labels[row];
  return positive || rows->classes == 1 ? label == 1 : label == rows->top_label[row];
}

#endif
