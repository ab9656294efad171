/* 1. Importance weights: a bin counts as many rows as its share of the effective sample size.
 * 2. Scores a little outside [0, 1], as stored probabilities may be, count as 0 or 1. */
#include "figure/class_chance.h"

#include <math.h>

static double class_chance_weight(const pc_plot_table *graph, size_t class) {
  const double *of_class = pc_graph_column(graph, "class");
  const double *weight = pc_graph_column(graph, "weight");
  double total = 0;
  for (size_t i = 0; i < graph->count; i++)
    if (of_class[i] == (double)class && weight[i] > 0)
      total += weight[i];
  return total;
}

pc_chance_ece pc_class_chance(const pcal_results *results, const pc_result_record *record,
                              size_t class) {
  const pc_plot_table *graph = &record->outcome.graph;
  const double *of_class = pc_graph_column(graph, "class");
  const double *weight = pc_graph_column(graph, "weight");
  const double *score = pc_graph_column(graph, "confidence");
  pc_chance_ece sum = {0, 0};
  if (of_class == NULL || weight == NULL || score == NULL)
    return (pc_chance_ece){NAN, NAN};
  const double rows = results->effective / results->weight;
  const double total = rows * class_chance_weight(graph, class);
  for (size_t i = 0; i < graph->count; i++) {
    if (of_class[i] != (double)class || !(weight[i] > 0))
      continue;
    const double n = rows * weight[i], p = fmin(fmax(score[i], 0), 1);
    const pc_bin bin = {.weight = n, .score = n * p, .score_square = n * p * p};
    const pc_chance_ece one = pc_chance_ece_of(&bin, 1, total);
    sum.mean += one.mean;
    sum.deviation += one.deviation * one.deviation;
  }
  sum.deviation = sqrt(sum.deviation);
  return sum;
}
