/* network: a temperature plus a small network.
 *
 * Formula:  q = softmax(v l + W_2 max(0, W_1 l / s + b_1) + b_2),  l = log p, 2 K hidden units,
 *           s the root of the mean square of l.  The parameters minimise the mean of -log q_y
 *           plus l2 times the sum of squared weights (without v).  With W_2 = 0 it is
 *           temperature scaling.
 * Edge cases:
 *   1. log p is at least log 2^-149.
 *   2. The search starts with v = 1 and W_2 = 0, which leaves probabilities unchanged, and W_1
 *      by Glorot's rule from the seed.
 *   3. See network_train.c.
 * Traits:   rows sum to one; nothing else is guaranteed.
 * Source:   a network with a skip connection, as compared by Kull et al. 2019 and Rahimi et al.
 *           2020.
 * Cost:     a few hundred passes of 16 K^2 operations for each row. */
#include "calibrators/networks/network_model.h"
#include "calibrators/recipe.h"

#define NETWORK_STREAM 0x6e6574 /* stream of random numbers */

static const pcal_option network_options[] = {PC_NETWORK_L2_OPTION("0.001")};

static void network_shape(const pc_network_model *net, pc_dense_net *out) {
  *out = (pc_dense_net){2, {net->classes, 2 * net->classes, net->classes}};
}

static void network_start(const pc_network_model *net, uint64_t seed, double *parameters) {
  const size_t first = (net->classes + 1) * 2 * net->classes;
  pc_dense_net_init(&net->dense, seed, NETWORK_STREAM, parameters);
  for (size_t i = first; i < net->count; i++)
    parameters[i] = i + 1 < net->count ? 0.0 : 1.0;
}

/* The features, and the inputs of the network. */
static size_t network_prepared_size(const pc_network_model *net) {
  return 2 * net->classes;
}

static void network_prepare(const pc_network_model *net, const double *x, size_t rows,
                            double *out) {
  const size_t k = net->classes, stride = pc_network_stride(rows);
  for (size_t c = 0; c < k; c++)
    for (size_t r = 0; r < stride; r++) {
      out[c * stride + r] = r < rows ? x[r * k + c] : 0.0;
      out[(k + c) * stride + r] = out[c * stride + r] / net->scale;
    }
}

static size_t network_scratch_size(const pc_network_model *net, size_t stride) {
  return pc_dense_net_scratch(&net->dense, stride);
}

static void network_map(const pc_network_model *net, const double *parameters,
                        const pc_network_rows *rows, double *scratch, double *scores) {
  const size_t cells = net->classes * rows->stride;
  const double *x = rows->prepared, skip = parameters[net->count - 1];
  const double *added =
      pc_dense_net_forward(&net->dense, parameters, x + cells, rows->stride, scratch);
  for (size_t i = 0; i < cells; i++)
    scores[i] = skip * x[i] + added[i];
}

static void network_backward(const pc_network_model *net, const double *parameters,
                             const pc_network_rows *rows, const double *slopes, double *scratch,
                             double *lanes) {
  const size_t cells = net->classes * rows->stride;
  const double *x = rows->prepared;
  double *skip = lanes + (net->count - 1) * PC_NETWORK_LANES;
  for (size_t i = 0; i < cells; i += PC_NETWORK_LANES)
    for (size_t l = 0; l < PC_NETWORK_LANES; l++)
      skip[l] += slopes[i + l] * x[i + l];
  pc_dense_net_backward(&net->dense, parameters, x + cells, rows->stride, slopes, scratch,
                        lanes, NULL);
}

static const pc_network_kind network_kind = {
    .extra = 1,
    .shape = network_shape,
    .start = network_start,
    .prepared_size = network_prepared_size,
    .prepare = network_prepare,
    .scratch_size = network_scratch_size,
    .map = network_map,
    .backward = network_backward,
};

static pcal_status network_fit(const pc_fit_task *task, pcal_error *err) {
  return pc_network_train(task, &network_kind, PC_FEATURE_LOG_PROBS,
                          task->calibrator->options.value[0].number, err);
}

static pcal_status network_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                const char *file, pcal_error *err) {
  return pc_network_model_read(calibrator, &network_kind, PC_FEATURE_LOG_PROBS, parameters,
                               file, err);
}

static const char *network_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const pc_network_model *net = calibrator->parameters;
  const size_t k = net->classes, hidden = 2 * k;
  const double *first = net->parameters, *second = first + (k + 1) * hidden;
  pc_recipe_add_feature(calibrator, net->feature, out);
  if (!net->identity) {
    const double skip = net->parameters[net->count - 1];
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 1});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = skip});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 0});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_LOAD, .size = 1});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = 1.0 / net->scale});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_MATRIX,
                                 .w = first,
                                 .offsets = first + k * hidden,
                                 .stride = hidden,
                                 .size = hidden});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_AT_LEAST});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_MATRIX,
                                 .w = second,
                                 .offsets = second + hidden * k,
                                 .stride = k,
                                 .size = k});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_ADD, .size = 0});
  }
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SOFTMAX});
  return NULL;
}

const pc_calibrator_method pc_calibrator_network = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "network",
            .title = "a small network",
            .formula = "q = softmax(v log p + W_2 max(0, W_1 log p / s + b_1) + b_2)\n"
                       "the parameters minimise the mean of -log q_y + l2 * sum of squares",
            .about =
                "A temperature plus one hidden layer with two units for each class. Corrects "
                "errors that depend on several classes at once, and may overfit. Needs far "
                "more rows than it has parameters, 4 K^2 + 3 K + 1 for K classes. The search "
                "starts from random weights drawn with the seed.",
            .citation = "Rahimi et al., NeurIPS 2020; Glorot & Bengio, AISTATS 2010",
            .options = network_options,
            .option_count = sizeof network_options / sizeof *network_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_GUARDED | PC_SQUARE,
    .objective = pc_network_model_objective,
    .slow = 1,
    .needs_scores = 1,
    .fit = network_fit,
    .scratch_size = pc_network_model_space,
    .apply = pc_network_model_apply,
    .recipe = network_recipe,
    .write = pc_network_model_write,
    .read = network_read,
    .describe = pc_network_model_describe,
};
