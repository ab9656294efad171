/* Small dense networks: layers of weights and offsets with a ReLU between them. */
#ifndef PC_DENSE_NET_H
#define PC_DENSE_NET_H

#include <stddef.h>
#include <stdint.h>

#define PC_DENSE_NET_LAYERS_MAX 8

/* sizes[0] numbers go in, sizes[layers] come out; after every layer but the last negative
 * numbers become 0. */
typedef struct pc_dense_net {
  size_t layers;
  size_t sizes[PC_DENSE_NET_LAYERS_MAX + 1];
} pc_dense_net;

/* Parameters stand layer after layer: weights, row i those of input i, then offsets. */
size_t pc_dense_net_count(const pc_dense_net *net);

/* Glorot's uniform weights, offsets 0; a pure function of seed and stream. */
void pc_dense_net_init(const pc_dense_net *net, uint64_t seed, uint64_t stream,
                       double *parameters);

/* Numbers that forward keeps for so many rows, and backward uses. */
size_t pc_dense_net_scratch(const pc_dense_net *net, size_t rows);

/* What comes out for rows of inputs, row after row; it lies in room. */
const double *pc_dense_net_forward(const pc_dense_net *net, const double *parameters,
                                   const double *inputs, size_t rows, double *room);

/* After forward of the same rows: from the slope of a function in what came out to its slope in
 * the parameters, which is added to `gradient`, and, unless NULL, in the inputs. */
void pc_dense_net_backward(const pc_dense_net *net, const double *parameters,
                           const double *inputs, size_t rows, const double *slope, double *room,
                           double *gradient, double *input_slope);

#endif
