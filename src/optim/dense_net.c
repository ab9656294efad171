/* Formula:  a_0 = x,  a_l = max(0, a_{l-1} W_l + b_l);  the last layer without the maximum.
 *           Backward, with d_l the gradient by layer l before the maximum:
 *             by W_l: a_{l-1}^T d_l,  by b_l: sum of d_l,  d_{l-1} = d_l W_l^T where a_{l-1} >
 *             0.
 * Start:    weights uniform in +-sqrt(6 / (in + out)).
 * Edge cases:
 *  1. the derivative of the maximum at 0 is 0.
 *  2. sums run in the order of inputs and outputs, and over rows in lanes (network_kernels.h), so
 *     bits do not vary.
 * Source:   Glorot & Bengio, AISTATS 2010; Rumelhart, Hinton & Williams, Nature 323, 1986.
 * Cost:     for each weight and row, two operations in forward and four in backward. */
#include "optim/dense_net.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/dispatch.h"

size_t pc_dense_net_count(const pc_dense_net *net) {
  size_t count = 0;
  for (size_t l = 0; l < net->layers; l++)
    count += (net->sizes[l] + 1) * net->sizes[l + 1];
  return count;
}

void pc_dense_net_init(const pc_dense_net *net, uint64_t seed, uint64_t stream,
                       double *parameters) {
  const pc_rng rng = {seed, stream};
  uint64_t draw = 0;
  for (size_t l = 0; l < net->layers; l++) {
    const size_t in = net->sizes[l], out = net->sizes[l + 1];
    const double reach = sqrt(6.0 / (double)(in + out));
    for (size_t i = 0; i < in * out; i++)
      *parameters++ = reach * (2.0 * pc_rng_uniform(&rng, draw++) - 1.0);
    for (size_t j = 0; j < out; j++)
      *parameters++ = 0.0;
  }
}

typedef struct dense_net_size {
  size_t cells;  /* outputs of all layers for one row */
  size_t widest; /* size of the widest layer */
} dense_net_size;

static dense_net_size dense_net_measure(const pc_dense_net *net) {
  dense_net_size size = {0, net->sizes[0]};
  for (size_t l = 1; l <= net->layers; l++) {
    size.cells += net->sizes[l];
    size.widest = net->sizes[l] > size.widest ? net->sizes[l] : size.widest;
  }
  return size;
}

/* The outputs of each layer, and two gradients of the widest layer. */
size_t pc_dense_net_scratch(const pc_dense_net *net, size_t stride) {
  const dense_net_size size = dense_net_measure(net);
  return stride * (size.cells + 2 * size.widest);
}

const double *pc_dense_net_forward(const pc_dense_net *net, const double *parameters,
                                   const double *inputs, size_t stride, double *room) {
  const double *from = inputs;
  for (size_t l = 0; l < net->layers; l++) {
    const size_t in = net->sizes[l], out = net->sizes[l + 1];
    pc_kernels_best()->network->layer(parameters, in, out, from, stride, l + 1 < net->layers,
                                      room);
    from = room;
    room += stride * out;
    parameters += (in + 1) * out;
  }
  return from;
}

void pc_dense_net_backward(const pc_dense_net *net, const double *parameters,
                           const double *inputs, size_t stride, const double *slope,
                           double *room, double *lanes, double *input_slope) {
  const pc_network_kernels *kernels = pc_kernels_best()->network;
  const dense_net_size size = dense_net_measure(net);
  double *const end = room + stride * size.cells;
  double *const slopes[2] = {end, end + stride * size.widest};
  const double *values = end;
  size_t at = pc_dense_net_count(net);
  for (size_t l = net->layers; l-- > 0;) {
    const size_t in = net->sizes[l], out = net->sizes[l + 1];
    at -= (in + 1) * out;
    values -= stride * out;
    const double *from = l == 0 ? inputs : values - stride * in;
    double *to = l == 0 ? input_slope : slopes[l % 2];
    kernels->gradient(from, in, out, slope, stride, lanes + at * PC_NETWORK_LANES);
    if (to != NULL)
      kernels->slope(parameters + at, in, out, slope, stride, l == 0 ? NULL : from, to);
    slope = to;
  }
}
