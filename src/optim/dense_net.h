/* Small dense networks: layers of weights and offsets, with ReLU between them. */
#ifndef PC_DENSE_NET_H
#define PC_DENSE_NET_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/network_kernels.h"

#define PC_DENSE_NET_LAYERS_MAX 8

/* sizes[0] inputs and sizes[layers] outputs; ReLU follows every layer but the last. */
typedef struct pc_dense_net {
  size_t layers;
  size_t sizes[PC_DENSE_NET_LAYERS_MAX + 1];
} pc_dense_net;

/* The number of parameters.  Their order: for each layer the weights, row i for input i, then
 * the offsets. */
size_t pc_dense_net_count(const pc_dense_net *net);

/* Initialises the parameters: Glorot's uniform weights, offsets 0.  A pure function of seed and
 * stream. */
void pc_dense_net_init(const pc_dense_net *net, uint64_t seed, uint64_t stream,
                       double *parameters);

/* Number of doubles that the scratch `room` of forward and backward needs.  Inputs, outputs and
 * slopes are stored by columns, stride = pc_network_stride(rows) numbers for each, and gradients in
 * lanes (kernels/network_kernels.h). */
size_t pc_dense_net_scratch(const pc_dense_net *net, size_t stride);

/* Returns the outputs; they are in `room`. */
const double *pc_dense_net_forward(const pc_dense_net *net, const double *parameters,
                                   const double *inputs, size_t stride, double *room);

/* After forward of the same rows: given the gradient `slope` of a function by the outputs, adds
 * its gradient by the parameters to `lanes`, and fills its gradient by the inputs unless
 * input_slope is NULL. */
void pc_dense_net_backward(const pc_dense_net *net, const double *parameters,
                           const double *inputs, size_t stride, const double *slope,
                           double *room, double *lanes, double *input_slope);

#endif
