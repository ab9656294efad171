/* order-invariant and order-preserving: networks that keep the order of the classes.
 *
 * Formula:  z_(1) >= ... >= z_(K) the sorted scores, d_i = z_(i) - z_(i+1),
 *             f_(j) = sum over i >= j of d_i softplus(u_i),   f_(K) = 0,   q = softmax(f),
 *           u = network of z_(1..K) / s (order-invariant) or of z / s (order-preserving), one
 *           hidden layer of 2 K units, s the root of the mean square of all scores.
 * Edge cases:
 *   1. The search starts with u = log(e - 1), softplus(u) = 1, which leaves probabilities
 *      unchanged.
 *   2. Equal scores stay equal.
 *   3. on=logits uses the logits as given, on=log-probs their log-softmax; probabilities always
 *      enter as logarithms.
 *   4. See network_train.c.
 *   5. The inputs of the network are clipped to the range of the fit, so that softplus(u) does
 *      not vanish far outside; the gaps d_i are not.
 * Traits:   softplus > 0, so f falls along the order as z does.  The order of rows of one
 *           column is not kept: u differs from row to row.
 * Source:   Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020, without the defects of the
 *           published code (folds that were never averaged).
 * Cost:     a few hundred passes of 16 K^2 operations for each row. */
#include <math.h>
#include <string.h>

#include "calibrators/linear/linear_model.h"
#include "calibrators/networks/network_model.h"
#include "kernels/class_ranking.h"
#include "kernels/dispatch.h"

#define ORDER_NETWORK_STREAM 0x6f72646572    /* stream of random numbers */
#define ORDER_NETWORK_ONE 0.5413248546129181 /* softplus(x) = 1 */

enum { ORDER_NETWORK_ON, ORDER_NETWORK_L2 };

static const pcal_option order_network_options[] = {PC_LINEAR_ON_OPTION,
                                                    PC_NETWORK_L2_OPTION("0.001")};

static void order_network_shape(const pc_network_model *net, pc_dense_net *out) {
  *out = (pc_dense_net){2, {net->classes, 2 * net->classes, net->classes - 1}};
}

static void order_network_start(const pc_network_model *net, uint64_t seed,
                                double *parameters) {
  const size_t k = net->classes, first = (k + 1) * 2 * k;
  pc_dense_net_init(&net->dense, seed, ORDER_NETWORK_STREAM, parameters);
  for (size_t i = first; i < net->count; i++)
    parameters[i] = i < net->count - (k - 1) ? 0.0 : ORDER_NETWORK_ONE;
}

/* Of a block of rows: inputs of the network and gaps by columns; the classes in their order, row by
 * row. */
typedef struct order_network_prepared {
  const double *inputs, *gaps;
  const uint32_t *order;
} order_network_prepared;

static size_t order_network_prepared_size(const pc_network_model *net) {
  return 2 * net->classes + (net->classes + 1) / 2;
}

static order_network_prepared order_network_split(const pc_network_model *net,
                                                  const pc_network_rows *rows) {
  const size_t cells = rows->stride * net->classes;
  const double *inputs = rows->prepared;
  return (order_network_prepared){inputs, inputs + cells,
                                  (const uint32_t *)(const void *)(inputs + 2 * cells)};
}

static const uint32_t *order_network_order(const pc_network_model *net,
                                           const pc_network_rows *rows) {
  return order_network_split(net, rows).order;
}

static void order_network_prepare(const pc_network_model *net, int sorted, const double *x,
                                  size_t rows, double *out) {
  const size_t k = net->classes, stride = pc_network_stride(rows);
  double *inputs = out, *gaps = inputs + stride * k;
  uint32_t *order = (uint32_t *)(void *)(gaps + stride * k);
  for (size_t r = 0; r < rows; r++) /* the inputs, written below, are the scratch */
    pc_class_ranking(x + r * k, k, order + r * k, (uint32_t *)(void *)inputs);
  memset(out, 0, 2 * stride * k * sizeof *out);
  for (size_t r = 0; r < rows; r++, x += k, order += k)
    for (size_t j = 0; j < k; j++) {
      const double seen = fmin(fmax(sorted ? x[order[j]] : x[j], net->low), net->high);
      inputs[j * stride + r] = seen / net->scale;
      gaps[j * stride + r] = j + 1 < k ? x[order[j]] - x[order[j + 1]] : 0.0;
    }
}

/* Derivatives of softplus; softplus or derivatives by u; the scratch of the network. */
static size_t order_network_scratch_size(const pc_network_model *net, size_t stride) {
  return 2 * stride * net->classes + pc_dense_net_scratch(&net->dense, stride);
}

/* Scores are in their order, not in that of the classes. */
static void order_network_map(const pc_network_model *net, const double *parameters,
                              const pc_network_rows *rows, double *scratch, double *scores) {
  const pc_network_kernels *kernels = pc_kernels_best()->network;
  const size_t k = net->classes, stride = rows->stride;
  const order_network_prepared at = order_network_split(net, rows);
  double *rise = scratch, *factors = rise + stride * k, *dense = factors + stride * k;
  const double *u = pc_dense_net_forward(&net->dense, parameters, at.inputs, stride, dense);
  memcpy(factors, u, stride * (k - 1) * sizeof *u);
  kernels->softplus(factors, stride * (k - 1), rise);
  kernels->stretch(at.gaps, factors, k, stride, scores);
}

static void order_network_backward(const pc_network_model *net, const double *parameters,
                                   const pc_network_rows *rows, const double *slopes,
                                   double *scratch, double *lanes) {
  const size_t k = net->classes, stride = rows->stride;
  const order_network_prepared at = order_network_split(net, rows);
  double *rise = scratch, *slope = rise + stride * k, *dense = slope + stride * k;
  pc_kernels_best()->network->stretch_slope(slopes, at.gaps, rise, k, stride, slope);
  pc_dense_net_backward(&net->dense, parameters, at.inputs, stride, slope, dense, lanes, NULL);
}

static void order_network_prepare_sorted(const pc_network_model *net, const double *x,
                                         size_t rows, double *out) {
  order_network_prepare(net, 1, x, rows, out);
}

static void order_network_prepare_raw(const pc_network_model *net, const double *x, size_t rows,
                                      double *out) {
  order_network_prepare(net, 0, x, rows, out);
}

#define ORDER_NETWORK_KIND                                                                  \
  .shape = order_network_shape, .start = order_network_start,                               \
  .prepared_size = order_network_prepared_size, .scratch_size = order_network_scratch_size, \
  .order = order_network_order, .map = order_network_map, .backward = order_network_backward

static const pc_network_kind order_network_invariant = {.prepare = order_network_prepare_sorted,
                                                        ORDER_NETWORK_KIND};
static const pc_network_kind order_network_preserving = {.prepare = order_network_prepare_raw,
                                                         ORDER_NETWORK_KIND};

static pcal_status order_network_fit(const pc_fit_task *task, const pc_network_kind *kind,
                                     pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const pc_feature feature = pc_linear_feature(calibrator, ORDER_NETWORK_ON);
  return pc_network_train(task, kind, feature,
                          calibrator->options.value[ORDER_NETWORK_L2].number, err);
}

static pcal_status order_network_fit_invariant(const pc_fit_task *task, pcal_error *err) {
  return order_network_fit(task, &order_network_invariant, err);
}

static pcal_status order_network_fit_preserving(const pc_fit_task *task, pcal_error *err) {
  return order_network_fit(task, &order_network_preserving, err);
}

static pcal_status order_network_read_invariant(pcal_calibrator *calibrator,
                                                const pc_json_node *parameters,
                                                const char *file, pcal_error *err) {
  return pc_network_model_read(calibrator, &order_network_invariant,
                               pc_linear_feature(calibrator, ORDER_NETWORK_ON), parameters,
                               file, err);
}

static pcal_status order_network_read_preserving(pcal_calibrator *calibrator,
                                                 const pc_json_node *parameters,
                                                 const char *file, pcal_error *err) {
  return pc_network_model_read(calibrator, &order_network_preserving,
                               pc_linear_feature(calibrator, ORDER_NETWORK_ON), parameters,
                               file, err);
}

/* With one column, rows may change their order. */
static unsigned order_network_traits(const pcal_calibrator *calibrator) {
  const unsigned traits = calibrator->method->traits;
  return calibrator->layout.columns == 1 ? traits & ~(unsigned)PC_KEEPS_ORDER : traits;
}

#define ORDER_NETWORK_ABOUT                                                                  \
  "Stretches the gaps between the sorted scores of a row by positive factors from a "        \
  "network, so the order of the classes and the predicted class stay. Needs more rows than " \
  "it has parameters, about 4 K^2 for K classes."

#define ORDER_NETWORK_ROW                                                                     \
  .traits = PC_SUMS_TO_ONE | PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_GUARDED | PC_SQUARE,     \
  .fitted_traits = order_network_traits, .objective = pc_network_model_objective, .slow = 1,  \
  .needs_scores = 1, .scratch_size = pc_network_model_space, .apply = pc_network_model_apply, \
  .write = pc_network_model_write, .describe = pc_network_model_describe

const pc_calibrator_method pc_calibrator_order_invariant = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "order-invariant",
            .title = "an order-invariant network",
            .formula = "f_(j) = sum over i >= j of (z_(i) - z_(i+1)) softplus(u_i)\n"
                       "u = network(z_(1), ..., z_(K)),  q = softmax(f)",
            .about = ORDER_NETWORK_ABOUT " The network gets the sorted scores, so all classes "
                                         "are treated alike.",
            .citation = "Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020",
            .options = order_network_options,
            .option_count = sizeof order_network_options / sizeof *order_network_options,
        },
    .fit = order_network_fit_invariant,
    .read = order_network_read_invariant,
    ORDER_NETWORK_ROW,
};

const pc_calibrator_method pc_calibrator_order_preserving = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "order-preserving",
            .title = "an order-preserving network",
            .formula = "f_(j) = sum over i >= j of (z_(i) - z_(i+1)) softplus(u_i)\n"
                       "u = network(z_1, ..., z_K),  q = softmax(f)",
            .about = ORDER_NETWORK_ABOUT " The network gets the scores in the order of the "
                                         "classes.",
            .citation = "Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020",
            .options = order_network_options,
            .option_count = sizeof order_network_options / sizeof *order_network_options,
        },
    .fit = order_network_fit_preserving,
    .read = order_network_read_preserving,
    ORDER_NETWORK_ROW,
};
