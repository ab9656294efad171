/* Small dense networks: layers of weights and offsets with a ReLU between them. */
#ifndef PC_DENSE_H
#define PC_DENSE_H

#include <stddef.h>
#include <stdint.h>

#define PC_DENSE_LAYERS_MAX 8

/* sizes[0] numbers go in, sizes[layers] come out; after every layer but the last negative
 * numbers become 0. */
typedef struct pc_dense {
  size_t layers;
  size_t sizes[PC_DENSE_LAYERS_MAX + 1];
} pc_dense;

/* Parameters stand layer after layer: weights, row i those of input i, then offsets. */
size_t pc_dense_count(const pc_dense *net);

/* Glorot's uniform weights, offsets 0; a pure function of seed and stream. */
void pc_dense_start(const pc_dense *net, uint64_t seed, uint64_t stream, double *parameters);

/* Numbers that forward keeps for so many rows, and backward uses. */
size_t pc_dense_room(const pc_dense *net, size_t rows);

/* What comes out for rows of inputs, row after row; it lies in room. */
const double *pc_dense_forward(const pc_dense *net, const double *parameters,
                               const double *inputs, size_t rows, double *room);

/* After forward of the same rows: from the slope of a function in what came out to its slope in
 * the parameters, which is added to `gradient`, and, unless NULL, in the inputs. */
void pc_dense_backward(const pc_dense *net, const double *parameters, const double *inputs,
                       size_t rows, const double *slope, double *room, double *gradient,
                       double *input_slope);

#endif
