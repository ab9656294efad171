#include "figure/class_order.h"

#include <stdlib.h>

#include "data/rows.h"

typedef struct class_order_entry {
  double value;
  size_t class;
} class_order_entry;

static int class_order_compare(const void *a, const void *b) {
  const class_order_entry *x = a, *y = b;
  if (x->value != y->value)
    return x->value > y->value ? -1 : 1;
  return x->class < y->class ? -1 : x->class > y->class;
}

pcal_status pc_class_order_make(const pcal_env *env, const pc_metric_result *outcome,
                                size_t most, int sorted, pc_class_order *out, pcal_error *err) {
  const size_t total = outcome->class_count;
  *out = (pc_class_order){NULL, total < most ? total : most, total};
  if (outcome->class_values == NULL || total == 0)
    return pc_fail(err, PCAL_DATA, "there are no values of single classes to draw");
  class_order_entry *entries = pc_alloc(env, total, sizeof *entries);
  out->classes = pc_alloc(env, total, sizeof *out->classes);
  if (entries == NULL || out->classes == NULL) {
    pc_free(env, entries);
    pc_class_order_free(env, out);
    return pc_fail_memory(err, "ordering classes for a figure");
  }
  for (size_t c = 0; c < total; c++) {
    const double value = outcome->class_values[c];
    entries[c] = (class_order_entry){value == value ? value : -1, c};
  }
  if (sorted || total > most)
    qsort(entries, total, sizeof *entries, class_order_compare);
  for (size_t c = 0; c < total; c++)
    out->classes[c] = entries[c].class;
  pc_free(env, entries);
  return PCAL_OK;
}

void pc_class_order_free(const pcal_env *env, pc_class_order *order) {
  pc_free(env, order->classes);
  order->classes = NULL;
}

pcal_status pc_figure_needs_classes(const char *figure, const pc_layout *layout,
                                    pcal_error *err) {
  if (layout->kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s needs the probabilities of all classes, but the data have only "
                   "confidences; draw reliability, or give {probs}",
                   figure);
  if (pc_layout_is_binary(layout))
    return pc_fail(err, PCAL_USAGE,
                   "figure %s compares classes, but one column of scores has only class 1; "
                   "draw reliability, or give a column for each class",
                   figure);
  return PCAL_OK;
}
