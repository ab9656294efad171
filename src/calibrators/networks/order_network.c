/* order-invariant and order-preserving: networks that keep the order of the classes.
 *
 * Formula:  z_(1) >= ... >= z_(K) the scores in order, d_i = z_(i) - z_(i+1),
 *             f_(j) = sum over i >= j of d_i softplus(u_i),   f_(K) = 0,   q = softmax(f),
 *           u = network of z_(1..K) / s (order-invariant) or of z / s (order-preserving), one
 *           hidden layer of 2 K units, s the root of the mean square of all scores.
 *
 * Edge cases: (1) it starts with u = log(e - 1), softplus(u) = 1, which leaves rows alone; (2)
 * equal scores stay equal; (3) on=logits sees the logits as given, on=log-probs their
 * log-softmax, probabilities always enter as logarithms; (4) see network_train.c; (5) the network
 * sees scores beyond those that it was fitted to at the nearest of them, so that softplus(u)
 * does not vanish far away; the gaps are those of the row.
 *
 * Traits: softplus > 0, so that f falls along the order as z does.  The order of rows of one
 * column is not kept: u differs from row to row.
 *
 * Source: Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020, without the defects of the
 * published code (folds that were never averaged).
 *
 * Cost: a few hundred passes of 16 K^2 operations for each row. */
#include <math.h>

#include "calibrators/linear/linear_model.h"
#include "calibrators/networks/network_model.h"
#include "kernels/class_ranking.h"
#include "kernels/softmax.h"

#define ORDER_NET_STREAM 0x6f72646572    /* of random numbers */
#define ORDER_NET_ONE 0.5413248546129181 /* softplus of it is 1 */

enum { ORDER_NET_ON, ORDER_NET_L2 };

static const pcal_option order_net_options[] = {PC_LINEAR_ON_OPTION,
                                                PC_NETWORK_L2_OPTION("0.001")};

static void order_net_shape(const pc_network_model *net, pc_dense_net *out) {
  *out = (pc_dense_net){2, {net->classes, 2 * net->classes, net->classes - 1}};
}

static void order_net_start(const pc_network_model *net, uint64_t seed, double *parameters) {
  const size_t k = net->classes, first = (k + 1) * 2 * k;
  pc_dense_net_init(&net->dense, seed, ORDER_NET_STREAM, parameters);
  for (size_t i = first; i < net->count; i++)
    parameters[i] = i < net->count - (k - 1) ? 0.0 : ORDER_NET_ONE;
}

/* Of each row: inputs, order (two numbers in each double), gaps, slopes of softplus and of u.
 */
static size_t order_net_room(const pc_network_model *net, size_t rows) {
  return 5 * rows * net->classes + pc_dense_net_scratch(&net->dense, rows);
}

typedef struct order_net_parts {
  double *inputs, *gaps, *rise, *slope, *dense; /* rise: slope of softplus */
  uint32_t *order;                              /* 2 K for each row */
} order_net_parts;

static order_net_parts order_net_split(const pc_network_model *net, size_t rows, double *room) {
  const size_t cells = rows * net->classes;
  return (order_net_parts){.inputs = room,
                           .order = (uint32_t *)(void *)(room + cells),
                           .gaps = room + 2 * cells,
                           .rise = room + 3 * cells,
                           .slope = room + 4 * cells,
                           .dense = room + 5 * cells};
}

/* log(1 + exp(u)), and its slope. */
static double order_net_softplus(double u, double *slope) {
  double pair[2];
  const double rest = pc_sigmoid_pair(u, pair);
  *slope = pair[1];
  return (u > 0.0 ? u : 0.0) + rest;
}

static void order_net_row(const pc_network_model *net, const double *x, int sorted,
                          const order_net_parts *parts, size_t row) {
  const size_t k = net->classes;
  uint32_t *order = parts->order + 2 * k * row;
  pc_class_ranking(x, k, order, order + k);
  for (size_t j = 0; j < k; j++) {
    const double seen = fmin(fmax(sorted ? x[order[j]] : x[j], net->low), net->high);
    parts->inputs[row * k + j] = seen / net->scale;
    parts->gaps[row * k + j] = j + 1 < k ? x[order[j]] - x[order[j + 1]] : 0.0;
  }
}

static void order_net_map(const pc_network_model *net, int sorted, const double *parameters,
                          const double *x, size_t rows, double *room, double *scores) {
  const size_t k = net->classes;
  const order_net_parts parts = order_net_split(net, rows, room);
  for (size_t i = 0; i < rows; i++)
    order_net_row(net, x + i * k, sorted, &parts, i);
  const double *u =
      pc_dense_net_forward(&net->dense, parameters, parts.inputs, rows, parts.dense);
  for (size_t i = 0; i < rows; i++) {
    const uint32_t *order = parts.order + 2 * k * i;
    double sum = 0.0;
    scores[i * k + order[k - 1]] = 0.0;
    for (size_t j = k - 1; j-- > 0;) {
      sum += parts.gaps[i * k + j] *
             order_net_softplus(u[i * (k - 1) + j], &parts.rise[i * k + j]);
      scores[i * k + order[j]] = sum;
    }
  }
}

static void order_net_slope(const pc_network_model *net, const double *parameters,
                            const double *x, size_t rows, const double *slopes, double *room,
                            double *gradient) {
  const size_t k = net->classes;
  const order_net_parts parts = order_net_split(net, rows, room);
  (void)x;
  for (size_t i = 0; i < rows; i++) {
    const uint32_t *order = parts.order + 2 * k * i;
    double above = 0.0;
    for (size_t j = 0; j + 1 < k; j++) {
      above += slopes[i * k + order[j]];
      parts.slope[i * (k - 1) + j] = above * parts.gaps[i * k + j] * parts.rise[i * k + j];
    }
  }
  pc_dense_net_backward(&net->dense, parameters, parts.inputs, rows, parts.slope, parts.dense,
                        gradient, NULL);
}

static void order_net_map_sorted(const pc_network_model *net, const double *parameters,
                                 const double *x, size_t rows, double *room, double *scores) {
  order_net_map(net, 1, parameters, x, rows, room, scores);
}

static void order_net_map_raw(const pc_network_model *net, const double *parameters,
                              const double *x, size_t rows, double *room, double *scores) {
  order_net_map(net, 0, parameters, x, rows, room, scores);
}

static const pc_network_kind order_net_invariant = {
    0, order_net_shape, order_net_start, order_net_room, order_net_map_sorted, order_net_slope};
static const pc_network_kind order_net_preserving = {
    0, order_net_shape, order_net_start, order_net_room, order_net_map_raw, order_net_slope};

static pcal_status order_net_fit(const pc_fit_task *task, const pc_network_kind *kind,
                                 pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const pc_feature feature = pc_linear_feature(calibrator, ORDER_NET_ON);
  return pc_network_train(task, kind, feature, calibrator->options.value[ORDER_NET_L2].number,
                          err);
}

static pcal_status order_net_fit_invariant(const pc_fit_task *task, pcal_error *err) {
  return order_net_fit(task, &order_net_invariant, err);
}

static pcal_status order_net_fit_preserving(const pc_fit_task *task, pcal_error *err) {
  return order_net_fit(task, &order_net_preserving, err);
}

static pcal_status order_net_read_invariant(pcal_calibrator *calibrator,
                                            const pc_json_node *parameters, const char *file,
                                            pcal_error *err) {
  return pc_network_model_read(calibrator, &order_net_invariant,
                               pc_linear_feature(calibrator, ORDER_NET_ON), parameters, file,
                               err);
}

static pcal_status order_net_read_preserving(pcal_calibrator *calibrator,
                                             const pc_json_node *parameters, const char *file,
                                             pcal_error *err) {
  return pc_network_model_read(calibrator, &order_net_preserving,
                               pc_linear_feature(calibrator, ORDER_NET_ON), parameters, file,
                               err);
}

/* Of one column, rows need not stay in order. */
static unsigned order_net_traits(const pcal_calibrator *calibrator) {
  const unsigned traits = calibrator->row->traits;
  return calibrator->layout.columns == 1 ? traits & ~(unsigned)PC_KEEPS_ORDER : traits;
}

#define ORDER_NET_ABOUT                                                                       \
  "The gaps between the ordered scores of a row are stretched by positive numbers that a "    \
  "network finds, so that classes stay in order and the predicted one stays the same. Needs " \
  "more rows than it has parameters, about 4 K^2 for K classes."

#define ORDER_NET_ROW                                                                         \
  .traits = PC_SUMS_TO_ONE | PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_GUARDED | PC_SQUARE,     \
  .traits_now = order_net_traits, .objective = pc_network_model_objective, .needs_scores = 1, \
  .space = pc_network_model_space, .apply = pc_network_model_apply,                           \
  .write = pc_network_model_write, .tell = pc_network_model_describe,                         \
  .release = pc_network_model_release

const pc_calibrator_method pc_calibrator_order_invariant = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "order-invariant",
            .title = "an order-invariant network",
            .formula = "f_(j) = sum over i >= j of (z_(i) - z_(i+1)) softplus(u_i)\n"
                       "u = network(z_(1), ..., z_(K)),  q = softmax(f)",
            .about = ORDER_NET_ABOUT " Sees the scores in order: which class has which does "
                                     "not matter.",
            .citation = "Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020",
            .options = order_net_options,
            .option_count = sizeof order_net_options / sizeof *order_net_options,
        },
    .fit = order_net_fit_invariant,
    .read = order_net_read_invariant,
    ORDER_NET_ROW,
};

const pc_calibrator_method pc_calibrator_order_preserving = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "order-preserving",
            .title = "an order-preserving network",
            .formula = "f_(j) = sum over i >= j of (z_(i) - z_(i+1)) softplus(u_i)\n"
                       "u = network(z_1, ..., z_K),  q = softmax(f)",
            .about = ORDER_NET_ABOUT " Sees which class has which score.",
            .citation = "Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020",
            .options = order_net_options,
            .option_count = sizeof order_net_options / sizeof *order_net_options,
        },
    .fit = order_net_fit_preserving,
    .read = order_net_read_preserving,
    ORDER_NET_ROW,
};
