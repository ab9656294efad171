/* Pairs of rows: see pair_kernels.h.
 *
 * Formulas:  <e_y - p, e_z - q> = [y = z] - p_z - q_y + <p, q>
 *            |p - q|^2 / 2      = |p|^2 / 2 + |q|^2 / 2 - <p, q>
 *
 * Four rows are paired with the lanes of one register at a time.  The distances of a group are
 * started before the exponentials of the previous group, so that their square roots overlap. */
#include "kernels/pair_kernels.h"

#include "kernels/pair_vector.h"
#include "kernels/variant.h"

/* ---- inner products and distances ---- */

/* One vector for each row of a group; separate members, so that compilers keep them in
 * registers. */
typedef struct pair_four {
  pair_vector a, b, c, d;
} pair_four;

typedef struct pair_group {
  pair_four dot, far;
} pair_group;

/* <p_r, q> for PAIR_ROWS rows. */
PAIR_INLINE pair_four pair_dot(size_t classes, const double *p, const pair_vector *q) {
  pair_four dot = {{0.0}, {0.0}, {0.0}, {0.0}};
  for (size_t k = 0; k < classes; k++, p += PC_LANES, q += PAIR_PARTS) {
    const pair_vector here = *q;
    dot.a += p[0] * here;
    dot.b += p[1] * here;
    dot.c += p[2] * here;
    dot.d += p[3] * here;
  }
  return dot;
}

/* |p - q|^2 / 2 from differences. */
PAIR_INLINE pair_vector pair_half_square(size_t classes, const double *p,
                                         const pair_vector *q) {
  pair_vector sum = {0.0};
  for (size_t k = 0; k < classes; k++, p += PC_LANES, q += PAIR_PARTS) {
    const pair_vector gap = p[0] - *q;
    sum += gap * gap;
  }
  return 0.5 * sum;
}

PAIR_INLINE pair_vector pair_variation(size_t classes, const double *p, const pair_vector *q) {
  const pair_bits sign = (pair_bits){0} + INT64_MAX;
  pair_vector sum = {0.0};
  for (size_t k = 0; k < classes; k++, p += PC_LANES, q += PAIR_PARTS)
    sum += (pair_vector)((pair_bits)(p[0] - *q) & sign);
  return 0.5 * sum;
}

/* The arguments of a call that all pairs share. */
typedef struct pair_call {
  const pc_pair_form *form;
  size_t classes;
  const pc_pair_pack *left, *right;
  const double *shift; /* p_z - [y = z], for each row or (mixed) for each pair */
} pair_call;

/* Flags that select a loop; compile-time constants in the hot calls. */
typedef struct pair_choice {
  int tv, gaussian, near, mixed, weighted, careful;
} pair_choice;

/* A multiple of the distance of each pair or, for Gaussian kernels, of its square; pair_term
 * multiplies it by -factor.  The sign bit of *small is set if some u is below form->close; if
 * careful, those are computed from differences. */
PAIR_INLINE pair_vector pair_far(const pair_call *call, pair_choice choice, size_t row,
                                 size_t part, pair_vector dot, pair_bits *small) {
  const pair_words limit = (pair_words){0} + pc_double_bits(call->form->close);
  const double *p = call->left->probs + row;
  const pair_vector *q = pair_part(call->right->probs, part);
  if (choice.tv) {
    pair_vector variation = pair_variation(call->classes, p, q);
    if (choice.gaussian)
      variation *= variation;
    return variation;
  }
  pair_vector u = (*pair_part(call->right->halves, part) + call->left->halves[row]) - dot;
  const pair_bits below = (pair_bits)((pair_words)u - limit) | (pair_bits)u;
  *small |= below;
  if (choice.careful)
    u = pair_choose(below, pair_half_square(call->classes, p, q), u);
  return choice.gaussian ? u : pair_root(u);
}

/* Inner products and distances of PAIR_ROWS rows. */
PAIR_INLINE void pair_begin(const pair_call *call, pair_choice choice, size_t row, size_t part,
                            pair_bits *small, pair_group *out) {
  const pair_four dot =
      pair_dot(call->classes, call->left->probs + row, pair_part(call->right->probs, part));
  out->dot = dot;
  out->far.a = pair_far(call, choice, row, part, dot.a, small);
  out->far.b = pair_far(call, choice, row + 1, part, dot.b, small);
  out->far.c = pair_far(call, choice, row + 2, part, dot.c, small);
  out->far.d = pair_far(call, choice, row + 3, part, dot.d, small);
}

/* ---- skce ---- */

PAIR_INLINE pair_vector pair_term(const pair_call *call, pair_choice choice, size_t row,
                                  size_t part, pair_vector dot, pair_vector far) {
  const size_t label = (size_t)call->left->labels[row];
  const pair_vector x = far * -call->form->factor;
  const pair_vector kernel = choice.near ? pair_exp_near(x) : pair_exp(x);
  pair_vector both = *pair_part(call->right->probs + label * PC_LANES, part);
  if (choice.mixed)
    both += *pair_part(call->shift + row * PC_LANES, part);
  else
    both += call->shift[row];
  pair_vector term = kernel * (dot - both);
  if (choice.weighted)
    term *= call->left->weights[row];
  return term;
}

PAIR_INLINE pair_vector pair_end(const pair_call *call, pair_choice choice, size_t row,
                                 size_t part, const pair_group *group, pair_vector sum) {
  sum += pair_term(call, choice, row, part, group->dot.a, group->far.a);
  sum += pair_term(call, choice, row + 1, part, group->dot.b, group->far.b);
  sum += pair_term(call, choice, row + 2, part, group->dot.c, group->far.c);
  return sum + pair_term(call, choice, row + 3, part, group->dot.d, group->far.d);
}

/* All rows of the left pack and one part of the right one. */
PAIR_INLINE pair_bits pair_skce_part(const pair_call *call, pair_choice choice, size_t part,
                                     double *sums) {
  _Alignas(64) pair_group group[2];
  pair_vector sum = *pair_part(sums, part);
  pair_bits small = {0};
  pair_begin(call, choice, 0, part, &small, &group[0]);
  for (size_t row = PAIR_ROWS; row < PC_LANES; row += PAIR_ROWS) {
    pair_begin(call, choice, row, part, &small, &group[row / PAIR_ROWS % 2]);
    sum = pair_end(call, choice, row - PAIR_ROWS, part, &group[(row / PAIR_ROWS + 1) % 2], sum);
  }
  sum = pair_end(call, choice, PC_LANES - PAIR_ROWS, part, &group[1], sum);
  memcpy(sums + part * PAIR_WIDTH, &sum, sizeof sum);
  return small;
}

/* Not inlined, because values shared by all parts would occupy registers that the inner loop
 * needs.  Return 1 if some pair is too close for inner products; unless careful, the sums are
 * then invalid. */
static __attribute__((noinline)) int pair_usual_part(const pair_call *call, size_t part,
                                                     double *sums) {
  const pair_choice choice = {.near = 1};
  return pair_negative(pair_skce_part(call, choice, part, sums));
}

static __attribute__((noinline)) int pair_any_part(const pair_call *call, int careful,
                                                   size_t part, double *sums) {
  const pc_pair_form *form = call->form;
  const pair_choice choice = {
      form->tv, form->gaussian, form->near, call->right->label < 0, form->weighted, careful};
  return pair_negative(pair_skce_part(call, choice, part, sums));
}

static void pair_shift_all(const pc_pair_pack *left, const pc_pair_pack *right, double *shift) {
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t l = 0; l < PC_LANES; l++)
      shift[r * PC_LANES + l] = left->probs[(size_t)right->labels[l] * PC_LANES + r] -
                                (left->labels[r] == right->labels[l] ? 1.0 : 0.0);
}

static void pair_shift_one(const pc_pair_pack *left, int32_t label, double *shift) {
  for (size_t r = 0; r < PC_LANES; r++)
    shift[r] =
        left->probs[(size_t)label * PC_LANES + r] - (left->labels[r] == label ? 1.0 : 0.0);
}

static void pair_skce(const pc_pair_form *form, size_t classes, const pc_pair_pack *left,
                      const pc_pair_pack *right, double *sums) {
  double shift[PC_PACK_PAIRS], before[PC_LANES];
  const pair_call call = {form, classes, left, right, shift};
  const int usual =
      !form->tv && !form->gaussian && form->near && !form->weighted && right->label >= 0;
  if (right->label < 0)
    pair_shift_all(left, right, shift);
  else
    pair_shift_one(left, right->label, shift);
  memcpy(before, sums, sizeof before);
  for (size_t part = 0; part < PAIR_PARTS; part++) {
    const int close =
        usual ? pair_usual_part(&call, part, sums) : pair_any_part(&call, 0, part, sums);
    if (!close)
      continue;
    memcpy(sums + part * PAIR_WIDTH, before + part * PAIR_WIDTH, PAIR_WIDTH * sizeof *sums);
    (void)pair_any_part(&call, 1, part, sums);
  }
}

/* ---- distances ---- */

/* Stores the vectors of a group into rows of PC_LANES. */
PAIR_INLINE void pair_store(const pair_four *from, double *out) {
  memcpy(out, &from->a, sizeof from->a);
  memcpy(out + PC_LANES, &from->b, sizeof from->b);
  memcpy(out + 2 * PC_LANES, &from->c, sizeof from->c);
  memcpy(out + 3 * PC_LANES, &from->d, sizeof from->d);
}

static void pair_distances(const pc_pair_form *form, size_t classes, const pc_pair_pack *left,
                           const pc_pair_pack *right, double *out) {
  const pair_call call = {form, classes, left, right, NULL};
  pair_choice choice = {.tv = form->tv, .gaussian = !form->tv};
  for (size_t part = 0; part < PAIR_PARTS; part++)
    for (size_t row = 0; row < PC_LANES; row += PAIR_ROWS) {
      pair_group group;
      pair_bits small = {0};
      choice.careful = 0;
      pair_begin(&call, choice, row, part, &small, &group);
      choice.careful = 1;
      if (pair_negative(small))
        pair_begin(&call, choice, row, part, &small, &group);
      pair_store(&group.far, out + row * PC_LANES + part * PAIR_WIDTH);
    }
}

/* ---- Dirichlet kernels ---- */

static void pair_dots(size_t classes, const double *left, const double *right, double *out) {
  for (size_t part = 0; part < PAIR_PARTS; part++)
    for (size_t row = 0; row < PC_LANES; row += PAIR_ROWS) {
      const pair_four dot = pair_dot(classes, left + row, pair_part(right, part));
      pair_store(&dot, out + row * PC_LANES + part * PAIR_WIDTH);
    }
}

static void pair_dirichlet_norm(size_t classes, const double *probs, double inverse,
                                double *out) {
  const pair_vector zero = {0.0};
  for (size_t part = 0; part < PAIR_PARTS; part++) {
    const pair_vector *p = pair_part(probs, part);
    pair_vector sum = zero, logs = zero;
    for (size_t k = 0; k < classes; k++, p += PAIR_PARTS) {
      const pair_vector a = pair_choose((pair_bits)*p, zero, *p) * inverse + 1.0;
      sum += a;
      logs += pair_log_gamma(a);
    }
    const pair_vector norm = pair_log_gamma(sum) - logs;
    memcpy(out + part * PAIR_WIDTH, &norm, sizeof norm);
  }
}

typedef struct pair_exponents {
  const double *dots, *offset;
  double scale;
} pair_exponents;

/* Fills x with the exponents of a row minus its peak; returns the maximum of them and
 * `most`. */
PAIR_INLINE pair_vector pair_relative(const pair_exponents *from, size_t row, double peak,
                                      pair_vector most, pair_vector *x) {
  for (size_t part = 0; part < PAIR_PARTS; part++) {
    const pair_vector dot = *pair_part(from->dots + row * PC_LANES, part);
    x[part] = (dot * from->scale + *pair_part(from->offset, part)) - peak;
    most = pair_max(most, x[part]);
  }
  return most;
}

PAIR_INLINE void pair_add_exp(const pair_vector *x, size_t count, double *sums) {
  for (size_t v = 0; v < count; v++) {
    const pair_vector sum = *pair_part(sums, v) + pair_exp_rough(x[v]);
    memcpy(sums + v * PAIR_WIDTH, &sum, sizeof sum);
  }
}

/* Adds the kernels row by row; returns a bit mask of the rows with an exponent above 0, which
 * are not added. */
static __attribute__((noinline)) unsigned pair_dirichlet_rows(const pair_exponents *from,
                                                              const double *peak, unsigned rows,
                                                              double *sums) {
  const pair_vector lowest = (pair_vector){0.0} - INFINITY;
  unsigned above = 0;
  for (size_t r = 0; r < PC_LANES; r++) {
    pair_vector x[PAIR_PARTS];
    if ((rows >> r & 1) == 0)
      continue;
    const pair_vector most = pair_relative(from, r, peak[r], lowest, x);
    if (pair_above(most, 0.0))
      above |= 1u << r;
    else if (pair_above(most, PAIR_NOTHING))
      pair_add_exp(x, PAIR_PARTS, sums + r * PC_LANES);
  }
  return above;
}

static unsigned pair_dirichlet(const double *dots, double scale, const double *offset,
                               const double *peak, unsigned rows, double *sums) {
  const pair_exponents from = {dots, offset, scale};
  unsigned above = 0;
  for (size_t row = 0; row < PC_LANES; row += PAIR_ROWS) {
    const unsigned here = rows & (((1u << PAIR_ROWS) - 1) << row);
    _Alignas(64) pair_vector x[PAIR_ROWS * PAIR_PARTS];
    pair_vector most = (pair_vector){0.0} - INFINITY;
    if (here != ((1u << PAIR_ROWS) - 1) << row) {
      above |= pair_dirichlet_rows(&from, peak, here, sums);
      continue;
    }
    for (size_t r = 0; r < PAIR_ROWS; r++)
      most = pair_relative(&from, row + r, peak[row + r], most, x + r * PAIR_PARTS);
    if (pair_above(most, 0.0))
      above |= pair_dirichlet_rows(&from, peak, here, sums);
    else if (pair_above(most, PAIR_NOTHING))
      pair_add_exp(x, PAIR_ROWS * PAIR_PARTS, sums + row * PC_LANES);
  }
  return above;
}

/* ---- columns ---- */

#define PAIR_MIX_BLOCK 32 /* columns in registers */

static void pair_mix(const float *tile, const float *right, float *left) {
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t b = 0; b < PC_MIX_WIDTH; b += PAIR_MIX_BLOCK) {
      float *to = left + r * PC_MIX_WIDTH + b;
      float sum[PAIR_MIX_BLOCK];
      memcpy(sum, to, sizeof sum);
      for (size_t l = 0; l < PC_LANES; l++) {
        const float *from = right + l * PC_MIX_WIDTH + b, times = tile[r * PC_LANES + l];
        for (size_t k = 0; k < PAIR_MIX_BLOCK; k++)
          sum[k] += times * from[k];
      }
      memcpy(to, sum, sizeof sum);
    }
}

const pc_pair_kernels PC_VARIANT_TABLE(pc_pair_kernels) = {
    .skce = pair_skce,
    .distances = pair_distances,
    .dots = pair_dots,
    .mix = pair_mix,
    .dirichlet_norm = pair_dirichlet_norm,
    .dirichlet = pair_dirichlet,
};
