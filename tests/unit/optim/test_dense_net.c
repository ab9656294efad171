/* Networks: values by hand, gradients against differences, initialisation, and learning. */
#include "../unit.h"
#include "base/rng.h"
#include "optim/adam.h"
#include "optim/dense_net.h"

/* 2-2-1 by hand: hidden max(0, x1 + 2 x2 - 1), max(0, -x1 + 0.5); out 3 h1 - 2 h2 + 0.25. */
TEST(dense_values) {
  const pc_dense_net net = {2, {2, 2, 1}};
  const double parameters[] = {1, -1, 2, 0, -1, 0.5, 3, -2, 0.25};
  const double inputs[2 * 8] = {1, 0, -2, 0, 0, 0, 0, 0, 1, 0, 4};
  double room[64];
  assert_int_equal(pc_dense_net_count(&net), 9);
  assert_true(pc_dense_net_scratch(&net, 8) <= 64);
  const double *out = pc_dense_net_forward(&net, parameters, inputs, 8, room);
  assert_same(out[0], 6.25);
  assert_same(out[1], -0.75);
  assert_same(out[2], 10.25);
}

#define DENSE_STRIDE 16
#define DENSE_MOST 400 /* parameters */

/* Half the sum of squares of the outputs. */
static double dense_loss(const pc_dense_net *net, const double *parameters,
                         const double *inputs, double *room) {
  const double *out = pc_dense_net_forward(net, parameters, inputs, DENSE_STRIDE, room);
  double sum = 0;
  for (size_t i = 0; i < DENSE_STRIDE * net->sizes[net->layers]; i++)
    sum += 0.5 * out[i] * out[i];
  return sum;
}

static void dense_slopes_of(const pc_dense_net *net) {
  const pc_rng rng = {5, 1};
  double parameters[DENSE_MOST], inputs[100], slope[100], room[2000], input_slope[100];
  double lanes[DENSE_MOST * PC_NETWORK_LANES] = {0};
  const size_t count = pc_dense_net_count(net), in = DENSE_STRIDE * net->sizes[0];
  assert_true(count <= DENSE_MOST && pc_dense_net_scratch(net, DENSE_STRIDE) <= 2000);
  pc_dense_net_init(net, 3, 9, parameters);
  for (size_t i = 0; i < count; i++)
    parameters[i] += 0.1 * pc_rng_normal(&rng, 1000 + i);
  for (size_t i = 0; i < in; i++)
    inputs[i] = pc_rng_normal(&rng, i);
  const double *out = pc_dense_net_forward(net, parameters, inputs, DENSE_STRIDE, room);
  memcpy(slope, out, DENSE_STRIDE * net->sizes[net->layers] * sizeof *slope);
  pc_dense_net_backward(net, parameters, inputs, DENSE_STRIDE, slope, room, lanes, input_slope);
  for (size_t i = 0; i < count + in; i++) {
    double *x = i < count ? &parameters[i] : &inputs[i - count];
    const double here = *x, step = 1e-6;
    *x = here + step;
    const double above = dense_loss(net, parameters, inputs, room);
    *x = here - step;
    const double below = dense_loss(net, parameters, inputs, room);
    *x = here;
    const double expected = (above - below) / (2 * step);
    const double got =
        i < count ? pc_network_fold(lanes + i * PC_NETWORK_LANES) : input_slope[i - count];
    assert_true(fabs(got - expected) < 1e-6 * (1 + fabs(expected)));
  }
}

TEST(dense_slopes) {
  static const pc_dense_net nets[] = {
      {1, {3, 2}}, {2, {3, 5, 2}}, {3, {2, 6, 5, 3}}, {4, {1, 4, 4, 4, 1}}};
  for (size_t i = 0; i < UNIT_COUNT(nets); i++)
    dense_slopes_of(&nets[i]);
}

/* Glorot: uniform with variance 2 / (in + out). */
TEST(dense_glorot) {
  const pc_dense_net net = {1, {100, 60}};
  static double parameters[6060], others[6060];
  double sum = 0, squares = 0, largest = 0;
  pc_dense_net_init(&net, 1, 2, parameters);
  pc_dense_net_init(&net, 1, 3, others);
  assert_true(memcmp(parameters, others, sizeof parameters) != 0);
  pc_dense_net_init(&net, 1, 2, others);
  assert_memory_equal(parameters, others, sizeof parameters);
  for (size_t i = 0; i < 6000; i++) {
    sum += parameters[i];
    squares += parameters[i] * parameters[i];
    largest = fmax(largest, fabs(parameters[i]));
  }
  assert_true(largest < sqrt(6.0 / 160) && largest > 0.99 * sqrt(6.0 / 160));
  assert_true(fabs(sum / 6000) < 4 * sqrt(2.0 / 160 / 6000));
  assert_near(squares / 6000, 2.0 / 160, 0.06);
  for (size_t i = 6000; i < 6060; i++)
    assert_same(parameters[i], 0.0);
}

/* A network learns |x|, which no straight line is. */
TEST(dense_learns) {
  enum { ROWS = 21, STRIDE = 24, COUNT = 25 };
  const pc_dense_net net = {2, {1, 8, 1}};
  double inputs[STRIDE] = {0}, slope[STRIDE] = {0}, parameters[COUNT], gradient[COUNT];
  double lanes[COUNT * PC_NETWORK_LANES], room[STRIDE * 40], loss = 0;
  pcal_env env = pc_env_resolve(NULL);
  pc_adam adam;
  assert_true(pc_dense_net_scratch(&net, STRIDE) <= UNIT_COUNT(room));
  for (int i = 0; i < ROWS; i++)
    inputs[i] = (i - 10) / 10.0;
  pc_dense_net_init(&net, 0, 1, parameters);
  assert_int_equal(pc_adam_new(&env, COUNT, 0.02, &adam, NULL), PCAL_OK);
  for (int step = 0; step < 2000; step++) {
    const double *out = pc_dense_net_forward(&net, parameters, inputs, STRIDE, room);
    loss = 0;
    for (int i = 0; i < ROWS; i++) {
      slope[i] = out[i] - fabs(inputs[i]);
      loss += slope[i] * slope[i] / ROWS;
    }
    memset(lanes, 0, sizeof lanes);
    pc_dense_net_backward(&net, parameters, inputs, STRIDE, slope, room, lanes, NULL);
    for (size_t i = 0; i < COUNT; i++)
      gradient[i] = pc_network_fold(lanes + i * PC_NETWORK_LANES);
    pc_adam_step(&adam, gradient, parameters);
  }
  assert_true(loss < 1e-4);
  pc_adam_free(&adam);
}
