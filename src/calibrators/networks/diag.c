/* diag: one increasing function for all scores, learned by a network.
 *
 * Formula:  q = softmax(f(z_1), ..., f(z_K)),  f(z) = integral of h from the lowest score to z,
 *           h = e + (1 - e) (ELU(u) + 1), e = 1e-8, at 257 knots between the lowest and the
 *           highest score of the fit, linear between them and constant outside; u = network of
 *           the knot, 1-10-10-1.
 * Edge cases:
 *   1. The search starts with u = 0, h = 1, which leaves probabilities unchanged.
 *   2. All scores equal: h is one number.
 *   3. on=logits uses the logits as given, on=log-probs their log-softmax; probabilities always
 *      enter as logarithms.
 *   4. See network_train.c.
 * Traits:   h > 0, so f rises strictly and the order of classes stays.  On log-probabilities it
 *           is injective: softmax(f(l)) = softmax(f(l')) makes f(l_k) - f(l'_k) equal for all
 *           k, so all l_k - l'_k have one sign, but both rows of probabilities sum to one.
 * Source:   Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020; there each score has its own
 *           quadrature with 51 nodes.
 * Cost:     a few hundred passes of a few operations for each score. */
#include <stdint.h>
#include <string.h>

#include "calibrators/linear/linear_model.h"
#include "calibrators/networks/network_model.h"
#include "kernels/lane_math.h"

#define DIAG_STREAM 0x64696167 /* stream of random numbers */
#define DIAG_KNOTS 257
#define DIAG_STRIDE 264 /* the same, in whole vectors */
#define DIAG_HIDDEN 10
#define DIAG_LEAST 1e-8

enum { DIAG_ON, DIAG_L2 };

static const pcal_option diag_options[] = {PC_LINEAR_ON_OPTION, PC_NETWORK_L2_OPTION("0.001")};

static void diag_shape(const pc_network_model *net, pc_dense_net *out) {
  (void)net;
  *out = (pc_dense_net){3, {1, DIAG_HIDDEN, DIAG_HIDDEN, 1}};
}

static void diag_start(const pc_network_model *net, uint64_t seed, double *parameters) {
  pc_dense_net_init(&net->dense, seed, DIAG_STREAM, parameters);
  for (size_t i = net->count - (DIAG_HIDDEN + 1); i < net->count; i++)
    parameters[i] = 0.0;
}

/* Values at the knots, derivatives of the objective by h and f there, scratch of the
 * network. */
typedef struct diag_knots {
  double *at, *u, *h, *f, *slope_h, *slope_f, *dense;
  double step; /* distance between knots */
} diag_knots;

static size_t diag_scratch_size(const pc_network_model *net, size_t stride) {
  (void)stride;
  return 6 * DIAG_STRIDE + pc_dense_net_scratch(&net->dense, DIAG_STRIDE);
}

/* The distance between knots. */
static double diag_step(const pc_network_model *net) {
  const double span = net->high - net->low;
  return (span > 0.0 ? span : 1.0) / (DIAG_KNOTS - 1);
}

static diag_knots diag_split(const pc_network_model *net, double *scratch) {
  return (diag_knots){scratch,
                      scratch + DIAG_STRIDE,
                      scratch + 2 * DIAG_STRIDE,
                      scratch + 3 * DIAG_STRIDE,
                      scratch + 4 * DIAG_STRIDE,
                      scratch + 5 * DIAG_STRIDE,
                      scratch + 6 * DIAG_STRIDE,
                      diag_step(net)};
}

static void diag_fill(const pc_network_model *net, const double *parameters,
                      const diag_knots *knots) {
  for (size_t i = 0; i < DIAG_STRIDE; i++)
    knots->at[i] = i < DIAG_KNOTS ? 2.0 * (double)i / (DIAG_KNOTS - 1) - 1.0 : 0.0;
  const double *u =
      pc_dense_net_forward(&net->dense, parameters, knots->at, DIAG_STRIDE, knots->dense);
  for (size_t i = 0; i < DIAG_KNOTS; i++) {
    knots->u[i] = u[i];
    knots->h[i] =
        DIAG_LEAST + (1.0 - DIAG_LEAST) * (u[i] > 0.0 ? u[i] + 1.0 : pc_lane_exp(u[i]));
    knots->f[i] =
        i == 0 ? 0.0 : knots->f[i - 1] + 0.5 * knots->step * (knots->h[i - 1] + knots->h[i]);
  }
}

/* The interval of a score, by its lower knot, and the distance from that knot; outside the
 * range the outermost knot. */
static size_t diag_cell(const pc_network_model *net, double step, double z, double *distance) {
  const double place = (z - net->low) / step;
  size_t cell = 0;
  if (place >= DIAG_KNOTS - 1)
    cell = DIAG_KNOTS - 1;
  else if (place > 0.0)
    cell = (size_t)place;
  *distance = z - (net->low + (double)cell * step);
  return cell;
}

/* Distances of the scores of a block, and the intervals. */
static size_t diag_prepared_size(const pc_network_model *net) {
  return net->classes + (net->classes + 1) / 2;
}

static void diag_prepare(const pc_network_model *net, const double *x, size_t rows,
                         double *out) {
  const size_t k = net->classes, stride = pc_network_stride(rows), cells = stride * k;
  const double step = diag_step(net);
  uint32_t *at = (uint32_t *)(void *)(out + cells);
  for (size_t i = 0; i < cells; i++) {
    const size_t c = i / stride, r = i % stride;
    at[i] = (uint32_t)diag_cell(net, step, r < rows ? x[r * k + c] : net->low, &out[i]);
  }
}

static void diag_map(const pc_network_model *net, const double *parameters,
                     const pc_network_rows *rows, double *scratch, double *scores) {
  const size_t cells = rows->stride * net->classes;
  const uint32_t *at = (const uint32_t *)(const void *)(rows->prepared + cells);
  const diag_knots knots = diag_split(net, scratch);
  diag_fill(net, parameters, &knots);
  for (size_t i = 0; i < cells; i++) {
    const double d = rows->prepared[i];
    const size_t c = at[i];
    const int inside = d >= 0.0 && c + 1 < DIAG_KNOTS;
    const double bend = inside ? (knots.h[c + 1] - knots.h[c]) / (2.0 * knots.step) : 0.0;
    scores[i] = knots.f[c] + knots.h[c] * d + bend * d * d;
  }
}

/* Turns derivatives by f and h at the knots into derivatives by u. */
static void diag_gather(const diag_knots *knots) {
  double above = 0.0;
  for (size_t i = DIAG_KNOTS - 1; i > 0; i--) {
    above += knots->slope_f[i];
    knots->slope_h[i] += 0.5 * knots->step * above;
    knots->slope_h[i - 1] += 0.5 * knots->step * above;
  }
  for (size_t i = 0; i < DIAG_KNOTS; i++)
    knots->slope_h[i] *=
        (1.0 - DIAG_LEAST) * (knots->u[i] > 0.0 ? 1.0 : pc_lane_exp(knots->u[i]));
}

static void diag_backward(const pc_network_model *net, const double *parameters,
                          const pc_network_rows *rows, const double *slopes, double *scratch,
                          double *lanes) {
  const size_t cells = rows->stride * net->classes;
  const uint32_t *at = (const uint32_t *)(const void *)(rows->prepared + cells);
  const diag_knots knots = diag_split(net, scratch);
  memset(knots.slope_h, 0, 2 * DIAG_STRIDE * sizeof *knots.slope_h);
  for (size_t i = 0; i < cells; i++) {
    const double d = rows->prepared[i];
    const size_t c = at[i];
    const int inside = d >= 0.0 && c + 1 < DIAG_KNOTS;
    const double bend = inside ? d * d / (2.0 * knots.step) : 0.0;
    knots.slope_f[c] += slopes[i];
    knots.slope_h[c] += slopes[i] * (d - bend);
    if (inside)
      knots.slope_h[c + 1] += slopes[i] * bend;
  }
  diag_gather(&knots);
  pc_dense_net_backward(&net->dense, parameters, knots.at, DIAG_STRIDE, knots.slope_h,
                        knots.dense, lanes, NULL);
}

static const pc_network_kind diag_kind = {
    .shape = diag_shape,
    .start = diag_start,
    .prepared_size = diag_prepared_size,
    .prepare = diag_prepare,
    .scratch_size = diag_scratch_size,
    .map = diag_map,
    .backward = diag_backward,
};

static pcal_status diag_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const pc_feature feature = pc_linear_feature(calibrator, DIAG_ON);
  return pc_network_train(task, &diag_kind, feature, calibrator->options.value[DIAG_L2].number,
                          err);
}

static pcal_status diag_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                             const char *file, pcal_error *err) {
  return pc_network_model_read(calibrator, &diag_kind, pc_linear_feature(calibrator, DIAG_ON),
                               parameters, file, err);
}

static unsigned diag_traits(const pcal_calibrator *calibrator) {
  const pc_network_model *net = calibrator->parameters;
  const int of_probabilities =
      net->feature == PC_FEATURE_LOG_PROBS || calibrator->layout.kind != PCAL_LOGIT;
  return calibrator->method->traits | (of_probabilities ? PC_INJECTIVE : 0u);
}

const pc_calibrator_method pc_calibrator_diag = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "diag",
            .title = "one increasing function for all scores",
            .formula = "q = softmax(f(z_1), ..., f(z_K)),  f' = ELU(u) + 1 > 0\n"
                       "u = network of the score, 1-10-10-1",
            .about = "Maps the scores of all classes by one increasing function: temperature "
                     "scaling with a temperature that depends on the score. Keeps the order "
                     "of the classes and has about 140 parameters for any number of classes. "
                     "The search starts from random weights drawn with the seed.",
            .citation = "Rahimi, Shaban, Cheng, Hartley & Boots, NeurIPS 2020",
            .options = diag_options,
            .option_count = sizeof diag_options / sizeof *diag_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_GUARDED,
    .fitted_traits = diag_traits,
    .objective = pc_network_model_objective,
    .slow = 1,
    .needs_scores = 1,
    .fit = diag_fit,
    .scratch_size = pc_network_model_space,
    .apply = pc_network_model_apply,
    .write = pc_network_model_write,
    .read = diag_read,
    .describe = pc_network_model_describe,
};
