/* Sums over pairs of rows.
 *
 * Formula:  <e_y - p, e_z - q> = [y = z] - p_z - q_y + <p, q>,  so labels need no one-hot
 *           vectors.
 * Accuracy: sums of a pack over the rows of a strip are doubles in a fixed order; sums of these
 *           are exact.
 * Cost:     2 K multiplications and one exp for each pair, in vector lanes; pairs inside a pack
 *           are computed one by one. */
#include "kernels/pair_tile.h"

#include <math.h>

#include "kernels/dispatch.h"

#include "kernels/lane_math.h"

/* pc_lane_exp_near needs exponents of at least -1.5. */
#define PAIR_TILE_NEAR 1.5

static double pair_tile_factor(int tv, int gaussian, double scale) {
  if (gaussian)
    return (tv ? 0.5 : 1.0) / (scale * scale);
  return (tv ? 1.0 : 0x1.6a09e667f3bcdp+0) / scale; /* sqrt 2 */
}

pc_pair_form pc_pair_form_make(int tv, int gaussian, double scale, const pc_pair_rows *rows) {
  const double least = (4.0 + sqrt((double)rows->classes)) * 0x1p-13 / scale;
  const double far = tv ? rows->reach_tv : rows->reach / 0x1.6a09e667f3bcdp+0;
  pc_pair_form form = {.tv = tv, .gaussian = gaussian};
  form.factor = pair_tile_factor(tv, gaussian, scale);
  form.near = form.factor * (gaussian ? far * far : far) <= PAIR_TILE_NEAR;
  form.close = 0.5 * least * least;
  for (size_t i = 0; i < rows->count && !form.weighted; i++)
    form.weighted = rows->weights[i] != 1.0;
  return form;
}

pc_pair_pack pc_pair_pack_at(const pc_pair_rows *rows, size_t index) {
  const size_t at = index * PC_LANES;
  pc_pair_pack pack = {rows->probs + at * rows->classes, rows->halves + at, rows->weights + at,
                       rows->labels + at, rows->labels[at]};
  for (size_t l = 1; l < PC_LANES; l++)
    pack.label = pack.labels[l] == pack.labels[0] ? pack.label : -1;
  return pack;
}

static double pair_tile_one(const pc_pair_form *form, const pc_pair_rows *rows, size_t i,
                            size_t j) {
  const double *p = pc_pair_prob(rows, i, 0), *q = pc_pair_prob(rows, j, 0);
  const size_t y = (size_t)rows->labels[i], z = (size_t)rows->labels[j];
  double square = 0.0, variation = 0.0, dot = 0.0;
  for (size_t c = 0; c < rows->classes * PC_LANES; c += PC_LANES) {
    const double gap = p[c] - q[c];
    square += gap * gap;
    variation += fabs(gap);
    dot += p[c] * q[c];
  }
  const double far = form->tv ? 0.5 * variation : sqrt(0.5 * square);
  const double x = -form->factor * (!form->gaussian ? far
                                    : form->tv      ? far * far
                                                    : 0.5 * square);
  return pc_lane_exp(x) * (dot - (q[y * PC_LANES] + (p[z * PC_LANES] - (y == z ? 1.0 : 0.0))));
}

double pc_skce_tile(const pc_pair_form *form, const pc_pair_rows *rows, size_t i0, size_t i1,
                    size_t j0, size_t j1) {
  double total = 0.0;
  for (size_t i = i0; i < i1; i++) {
    double sum = 0.0;
    for (size_t j = j0 > i + 1 ? j0 : i + 1; j < j1; j++)
      sum += rows->weights[j] * pair_tile_one(form, rows, i, j);
    total += rows->weights[i] * sum;
  }
  return total;
}

double pc_skce_self(const pc_pair_rows *rows, size_t i) {
  double square = 0.0;
  for (size_t c = 0; c < rows->classes; c++) {
    const double gap = ((size_t)rows->labels[i] == c ? 1.0 : 0.0) - *pc_pair_prob(rows, i, c);
    square += gap * gap;
  }
  return square;
}

static double pair_tile_fold(const double *sums, const double *weights) {
  double term[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++)
    term[l] = weights[l] * sums[l];
  for (size_t width = PC_LANES / 2; width > 0; width /= 2)
    for (size_t l = 0; l < width; l++)
      term[l] += term[l + width];
  return term[0];
}

void pc_skce_strip(const pc_pair_form *form, const pc_pair_rows *rows, size_t first, size_t end,
                   pc_sum *sum) {
  const pc_pair_kernels *kernels = pc_kernels_best()->pair;
  for (size_t b = first; b < pc_pair_pack_count(rows); b++) {
    const pc_pair_pack right = pc_pair_pack_at(rows, b);
    double sums[PC_LANES] = {0.0};
    for (size_t a = first; a < end && a < b; a++) {
      const pc_pair_pack left = pc_pair_pack_at(rows, a);
      kernels->skce(form, rows->classes, &left, &right, sums);
    }
    pc_sum_add(sum, pair_tile_fold(sums, right.weights));
    if (b < end) {
      const size_t at = b * PC_LANES;
      const size_t last = at + PC_LANES < rows->count ? at + PC_LANES : rows->count;
      pc_sum_add(sum, pc_skce_tile(form, rows, at, last, at, last));
    }
  }
}
