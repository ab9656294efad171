/* Formula:  network x -> (m, r), mean m, variance v = exp(r), or |r| if `absolute`;
 *           a step of Adam (optim/adam.c) on the mean over the training rows of
 *             (m - y)^2 / v + log v
 *           then w, b of v' = w v + b by variance-platt on the validation rows, and on the test
 *           rows the mean squared error, mean (m - y)^2 / v + log v, skce, mean v and the mean and
 *           standard deviation of (m - y)^2 / v, with v and with v'.  w and b do not change the
 *           network.
 * Edge cases:
 *   (1) r is limited to [-40, 40], |r| to at least 1e-12; outside, the slope is 0 or that of the
 *       limit;
 *   (2) skce divides means, deviations and targets by the length.
 * Source:   Gruber & Buettner 2022, section 5.3 and appendix G.5.
 * Cost:     of a step: a forward pass of all rows and a backward pass of the training rows
 *           (optim/dense_net.c), some sixty evaluations of the validation rows, and two pairings
 *           of the test rows. */
#include "studies/variance_training.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"

#define VARIANCE_TRAINING_LARGEST 40.0
#define VARIANCE_TRAINING_LEAST 1e-12

static double variance_training_variance(const pc_variance_plan *plan, double raw) {
  return plan->absolute
             ? fmax(fabs(raw), VARIANCE_TRAINING_LEAST)
             : pc_exp(fmax(-VARIANCE_TRAINING_LARGEST, fmin(raw, VARIANCE_TRAINING_LARGEST)));
}

static size_t variance_training_most(const pc_variance_plan *plan) {
  size_t most = 0;
  for (int s = 0; s < PC_VARIANCE_SETS; s++)
    most = plan->sets[s].count > most ? plan->sets[s].count : most;
  return most;
}

static size_t variance_training_stride(const pc_variance_training *training, int set) {
  return pc_network_stride(training->plan.sets[set].count);
}

/* Copies the inputs of each set by columns. */
static pcal_status variance_training_turn(pc_variance_training *training, pcal_error *err) {
  const size_t in = training->plan.net.sizes[0];
  for (int s = 0; s < PC_VARIANCE_SETS; s++) {
    const pc_variance_rows *rows = &training->plan.sets[s];
    const size_t stride = variance_training_stride(training, s);
    double *columns = pc_alloc(training->env, stride * in, sizeof *columns);
    training->columns[s] = columns;
    if (columns == NULL)
      return pc_fail_memory(err, "preparing a network");
    for (size_t i = 0; i < rows->count; i++)
      for (size_t c = 0; c < in; c++)
        columns[c * stride + i] = rows->inputs[i * in + c];
  }
  return PCAL_OK;
}

pcal_status pc_variance_training_new(const pcal_env *env, const pc_variance_plan *plan,
                                     pc_variance_training *out, pcal_error *err) {
  const size_t count = pc_dense_net_count(&plan->net),
               most = pc_network_stride(variance_training_most(plan));
  *out = (pc_variance_training){.env = env, .plan = *plan};
  PC_TRY(pc_adam_new(env, count, plan->rate, &out->adam, err));
  out->parameters = pc_alloc_raw(env, count, sizeof *out->parameters);
  out->gradient = pc_alloc_raw(env, count, sizeof *out->gradient);
  out->lanes = pc_alloc_raw(env, count * PC_NETWORK_LANES, sizeof *out->lanes);
  out->room = pc_alloc_raw(env, pc_dense_net_scratch(&plan->net, most), sizeof *out->room);
  out->slopes = pc_alloc(env, 2 * most, sizeof *out->slopes);
  out->table.entries = pc_alloc_raw(env, most, sizeof *out->table.entries);
  out->rows = pc_alloc_raw(env, most, sizeof *out->rows);
  if (out->parameters == NULL || out->gradient == NULL || out->lanes == NULL ||
      out->room == NULL || out->slopes == NULL || out->table.entries == NULL ||
      out->rows == NULL)
    return pc_fail_memory(err, "preparing a network");
  pc_dense_net_init(&plan->net, plan->seed, plan->stream, out->parameters);
  return variance_training_turn(out, err);
}

void pc_variance_training_free(pc_variance_training *training) {
  if (training->env == NULL)
    return;
  pc_adam_free(&training->adam);
  pc_free(training->env, training->parameters);
  pc_free(training->env, training->gradient);
  pc_free(training->env, training->lanes);
  for (int s = 0; s < PC_VARIANCE_SETS; s++)
    pc_free(training->env, training->columns[s]);
  pc_free(training->env, training->room);
  pc_free(training->env, training->slopes);
  pc_free(training->env, training->table.entries);
  pc_free(training->env, training->rows);
  *training = (pc_variance_training){0};
}

/* The means; the raw variances follow after the stride of the set. */
static const double *variance_training_forward(pc_variance_training *training, int set) {
  return pc_dense_net_forward(&training->plan.net, training->parameters, training->columns[set],
                              variance_training_stride(training, set), training->room);
}

static void variance_training_learn(pc_variance_training *training) {
  const pc_variance_plan *plan = &training->plan;
  const pc_variance_rows *rows = &plan->sets[PC_VARIANCE_TRAIN];
  const double *made = variance_training_forward(training, PC_VARIANCE_TRAIN);
  const size_t stride = variance_training_stride(training, PC_VARIANCE_TRAIN);
  const size_t count = training->adam.count;
  const double share = 1.0 / (double)rows->count;
  for (size_t i = 0; i < rows->count; i++) {
    const double error = made[i] - rows->targets[i], raw = made[stride + i];
    const double v = variance_training_variance(plan, raw);
    const double slope = 1.0 - error * error / v; /* in log v */
    const int outside = !plan->absolute && fabs(raw) >= VARIANCE_TRAINING_LARGEST;
    training->slopes[i] = share * 2.0 * error / v;
    training->slopes[stride + i] = outside          ? 0.0
                                   : plan->absolute ? share * slope / (raw < 0 ? -v : v)
                                                    : share * slope;
  }
  memset(training->lanes, 0, count * PC_NETWORK_LANES * sizeof *training->lanes);
  pc_dense_net_backward(&plan->net, training->parameters, training->columns[PC_VARIANCE_TRAIN],
                        stride, training->slopes, training->room, training->lanes, NULL);
  for (size_t i = 0; i < count; i++)
    training->gradient[i] = pc_network_fold(training->lanes + i * PC_NETWORK_LANES);
  pc_adam_step(&training->adam, training->gradient, training->parameters);
}

static pc_variance_map variance_training_fit(pc_variance_training *training) {
  const pc_variance_rows *rows = &training->plan.sets[PC_VARIANCE_VAL];
  const double *made = variance_training_forward(training, PC_VARIANCE_VAL);
  const size_t stride = variance_training_stride(training, PC_VARIANCE_VAL);
  for (size_t i = 0; i < rows->count; i++)
    training->table.entries[i] =
        (pc_forecast_entry){fabs(made[i] - rows->targets[i]),
                            variance_training_variance(&training->plan, made[stride + i]), 1.0};
  training->table.count = rows->count;
  training->table.total = (double)rows->count;
  return pc_variance_platt_solve(&training->table);
}

/* Judges the test rows with mapped variances. */
static void variance_training_judge(pc_variance_training *training, const double *made,
                                    pc_variance_map map, int after, pc_variance_point *out) {
  const pc_variance_rows *rows = &training->plan.sets[PC_VARIANCE_TEST];
  const double n = (double)rows->count, length = training->plan.length;
  const size_t stride = variance_training_stride(training, PC_VARIANCE_TEST);
  double mse = 0.0, dss = 0.0, variance = 0.0, ratio = 0.0, square = 0.0;
  for (size_t i = 0; i < rows->count; i++) {
    const double y = rows->targets[i], e2 = (made[i] - y) * (made[i] - y);
    const double v =
        map.w * variance_training_variance(&training->plan, made[stride + i]) + map.b;
    mse += e2 / n;
    dss += (e2 / v + pc_log(v)) / n;
    variance += v / n;
    ratio += e2 / v / n;
    square += e2 / v * (e2 / v);
    training->rows[i] = (pc_gaussian_row){made[i] / length, sqrt(v) / length, y / length};
  }
  out->mse = mse;
  out->dss[after] = dss;
  out->variance[after] = variance;
  out->ratio[after] = ratio;
  out->deviation[after] = sqrt(fmax(square - n * ratio * ratio, 0.0) / (n - 1.0));
  out->skce[after] = pc_skce_gaussian(training->rows, rows->count);
}

void pc_variance_training_step(pc_variance_training *training, pc_variance_point *out) {
  static const pc_variance_map as_it_is = {1.0, 0.0};
  variance_training_learn(training);
  if (out == NULL)
    return;
  out->map = variance_training_fit(training);
  const double *made = variance_training_forward(training, PC_VARIANCE_TEST);
  variance_training_judge(training, made, as_it_is, 0, out);
  variance_training_judge(training, made, out->map, 1, out);
}
