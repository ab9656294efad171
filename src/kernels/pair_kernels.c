/* Pairs of rows; see pair_kernels.h.  Compiled with PC_VARIANT set to the name of an
 * instruction set.
 *
 * Formula:  <e_y - p, e_z - q> = [y = z] - p_z - q_y + <p, q>.  */
#include "kernels/pair_kernels.h"

#include <math.h>

#include "kernels/lane_math.h"

#define PAIR_JOIN(a, b) a##b
#define PAIR_NAME(variant) PAIR_JOIN(pc_pair_kernels_, variant)
#define PAIR_TEXT(variant) PAIR_QUOTE(variant)
#define PAIR_QUOTE(text) #text

static double pair_close(const double *p, int32_t label, const double square[PC_LANES],
                         const double dot[PC_LANES], const pc_pair_pack *pack) {
  const double *own = pack->probs + (size_t)label * PC_LANES;
  double inner[PC_LANES], term[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++)
    inner[l] = (pack->label[l] == label ? 1.0 : 0.0) - p[pack->label[l]];
  for (size_t l = 0; l < PC_LANES; l++) {
    const double positive = square[l] > 0.0 ? square[l] : 0.0;
    term[l] = pack->weight[l] * pc_lane_exp(-sqrt(positive)) * (inner[l] - own[l] + dot[l]);
  }
  for (size_t width = PC_LANES / 2; width > 0; width /= 2)
    for (size_t l = 0; l < width; l++)
      term[l] += term[l + width];
  return term[0];
}

/* The registers of the instruction set as the compilers' own vector type: plain loops over
 * lanes inside the loop over classes are vectorised along the wrong one. */
#if defined(__AVX512F__)
#define PAIR_WIDTH 8
#elif defined(__AVX__)
#define PAIR_WIDTH 4
#else
#define PAIR_WIDTH 2
#endif
#define PAIR_PARTS (PC_LANES / PAIR_WIDTH)
typedef double pair_vector
    __attribute__((vector_size(PAIR_WIDTH * sizeof(double)), aligned(8)));

static double pair_skce_direct(const double *p, int32_t label, const pc_pair_pack *pack) {
  const pair_vector *q = (const pair_vector *)(const void *)pack->probs;
  pair_vector square[PAIR_PARTS] = {{0.0}}, dot[PAIR_PARTS] = {{0.0}};
  for (size_t c = 0; c < pack->classes; c++, q += PAIR_PARTS)
    for (size_t v = 0; v < PAIR_PARTS; v++) {
      const pair_vector gap = p[c] - q[v];
      square[v] += gap * gap;
      dot[v] += p[c] * q[v];
    }
  double squares[PC_LANES], dots[PC_LANES];
  memcpy(squares, square, sizeof squares);
  memcpy(dots, dot, sizeof dots);
  return pair_close(p, label, squares, dots, pack);
}

static void pair_dots(const double *rows, size_t stride, const pc_pair_pack *pack,
                      double out[PC_DOT_ROWS][PC_LANES]) {
  const pair_vector *q = (const pair_vector *)(const void *)pack->probs;
  pair_vector sum[PC_DOT_ROWS][PAIR_PARTS] = {{{0.0}}};
  for (size_t c = 0; c < pack->classes; c++, q += PAIR_PARTS)
    for (size_t r = 0; r < PC_DOT_ROWS; r++)
      for (size_t v = 0; v < PAIR_PARTS; v++)
        sum[r][v] += rows[r * stride + c] * q[v];
  memcpy(out, sum, sizeof sum);
}

static double pair_skce_dots(const double *p, int32_t label, double norm, const double *dots,
                             const pc_pair_pack *pack) {
  double square[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++)
    square[l] = (norm + pack->norm[l]) - 2.0 * dots[l];
  return pair_close(p, label, square, dots, pack);
}

const pc_pair_kernels PAIR_NAME(PC_VARIANT) = {
    .name = PAIR_TEXT(PC_VARIANT),
    .skce_direct = pair_skce_direct,
    .dots = pair_dots,
    .skce_dots = pair_skce_dots,
};
