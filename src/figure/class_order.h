/* Chooses and orders the classes that a figure shows. */
#ifndef PC_CLASS_ORDER_H
#define PC_CLASS_ORDER_H

#include "figure/figure_registry.h"

typedef struct pc_class_order {
  size_t *classes;
  size_t count, total;
} pc_class_order;

/* Chooses at most `most` classes.  If there are more, or if `sorted`: those with the largest
 * values, largest first, equal values by class number; else all by class number.  Fails if the
 * outcome has no values of classes.  Free out even after a failure. */
PC_CHECKED pcal_status pc_class_order_make(const pcal_env *env, const pc_metric_result *outcome,
                                           size_t most, int sorted, pc_class_order *out,
                                           pcal_error *err);
void pc_class_order_free(const pcal_env *env, pc_class_order *order);

/* Fails for one column of scores and for confidences; figure: the name in the error. */
PC_CHECKED pcal_status pc_figure_needs_classes(const char *figure, const pc_layout *layout,
                                               pcal_error *err);

#endif
