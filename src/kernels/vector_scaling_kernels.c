/* Formula, with u_k = w_k x_k + b_k, m = max u, t_k = exp(u_k - m), S = sum t_k:
 *   p_k = t_k / S
 *   -log p_y = log S - (u_y - m)
 *   r_k = p_k - [k = y],  r_y = -(S - t_y) / S
 *   derivatives of the loss: r_k x_k by w_k, r_k by b_k
 *
 * Edge cases:
 *  1. the largest term is exactly 1 and left out of the sum, so that losses and residuals close
 *     to 0 keep their digits.
 *  2. terms below 2^-1022.5 are 0.
 *  3. |u| and losses are at most 1e300.
 *
 * Accuracy: relative error of a term 1e-14 plus |u_k - m| ulp; error of a sum half a lattice
 *           step for each row.
 * Cost: one exp and about 30 operations for each class of a row.
 *
 * Each step is a loop of its own over [class][lane], which compilers vectorise. */
#include "kernels/vector_scaling_kernels.h"

#include "kernels/lane_math.h"
#include "kernels/variant.h"

#define VECTOR_SCALING_BIG (0x1.8p52 * PC_LATTICE)
#define VECTOR_SCALING_MOST 1e300
#define VECTOR_SCALING_INLINE static inline __attribute__((always_inline))

/* A clamp.  With constant limits compilers would generate slower selections. */
VECTOR_SCALING_INLINE double vector_scaling_cut(double x, double least, double most) {
  const double low = x < least ? least : x;
  return low > most ? most : low;
}

/* VECTOR_SCALING_MOST; `any` is a finite number that hides the constant from the compiler. */
VECTOR_SCALING_INLINE double vector_scaling_most(double any) {
  return (any - any) + VECTOR_SCALING_MOST;
}

/* The rows of a tile, one in each lane. */
typedef struct vector_scaling_rows {
  double label[PC_LANES]; /* as a double, for comparisons in vectors */
  double top[PC_LANES];   /* largest score */
  double own[PC_LANES];   /* score of the label, later its residual */
  double term[PC_LANES];  /* of the label */
  double rest[PC_LANES];  /* sum of the terms without the largest one */
  double scale[PC_LANES]; /* 1 / S */
} vector_scaling_rows;

static void vector_scaling_terms(size_t classes, double *restrict u,
                                 vector_scaling_rows *restrict rows) {
  const double lowest = pc_lane_exp2_lowest(rows->label[0]);
  double same[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++)
    rows->rest[l] = rows->term[l] = same[l] = 0.0;
  for (size_t k = 0; k < classes; k++) {
    const double class = (double)k;
    for (size_t l = 0; l < PC_LANES; l++) {
      const double below = u[k * PC_LANES + l] - rows->top[l];
      const double power = below * PC_LANE_LOG2_E;
      const double term = pc_lane_exp2(power < lowest ? lowest : power);
      u[k * PC_LANES + l] = term;
      rows->rest[l] += below < 0.0 ? term : 0.0;
      same[l] += below < 0.0 ? 0.0 : 1.0;
      rows->term[l] = rows->label[l] == class ? term : rows->term[l];
    }
  }
  for (size_t l = 0; l < PC_LANES; l++)
    rows->rest[l] += same[l] - 1.0;
}

/* Computes the losses, and the residuals of the labels. */
static void vector_scaling_close(vector_scaling_rows *restrict rows,
                                 double loss[restrict PC_LANES]) {
  for (size_t l = 0; l < PC_LANES; l++) {
    const double gap = rows->own[l] - rows->top[l], rest = rows->rest[l];
    const double others = gap < 0.0 ? 1.0 + (rest - rows->term[l]) : rest;
    const double low = gap < -VECTOR_SCALING_MOST ? -VECTOR_SCALING_MOST : gap;
    rows->scale[l] = 1.0 / (1.0 + rest);
    rows->own[l] = -(others * rows->scale[l]);
    loss[l] = pc_lane_log1p(rest) - low;
  }
}

/* Half of the lanes, as a compiler vector: compilers unroll loops this short before they can
 * vectorise them. */
typedef double vector_scaling_half __attribute__((
    vector_size(PC_VECTOR_SCALING_FOLD * sizeof(double)), aligned(8), may_alias));

/* Adds half of the terms of a sum, rounded to the lattice; weights NULL: all 1. */
VECTOR_SCALING_INLINE void vector_scaling_add_half(vector_scaling_half *sums, const double *x,
                                                   const double *weights, double big) {
  vector_scaling_half terms = (*(const vector_scaling_half *)(const void *)x + big) - big;
  if (weights != NULL)
    terms = (*(const vector_scaling_half *)(const void *)weights * terms + big) - big;
  *sums += terms;
}

/* Adds x of all lanes to sums: lanes l and l + PC_VECTOR_SCALING_FOLD are added first. */
VECTOR_SCALING_INLINE void vector_scaling_add(double *restrict sums, const double *restrict x,
                                              const double *restrict weights, double big) {
  vector_scaling_half both = {0.0};
  vector_scaling_add_half(&both, x, weights, big);
  vector_scaling_add_half(&both, x + PC_VECTOR_SCALING_FOLD,
                          weights == NULL ? NULL : weights + PC_VECTOR_SCALING_FOLD, big);
  *(vector_scaling_half *)(void *)sums += both;
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "kernels/vector_scaling_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "kernels/vector_scaling_template.h"
#undef NAMED
#undef NUMBER

static void vector_scaling_evaluate(const pc_vector_scaling_tile *tile, int preconditioner,
                                    double *terms, double loss[PC_LANES], double *p,
                                    double *sums) {
  (tile->features_f32 != NULL ? vector_scaling_evaluate_f32 : vector_scaling_evaluate_f64)(
      tile, preconditioner, terms, loss, p, sums);
}

static void vector_scaling_multiply(const pc_vector_scaling_tile *tile, const double *p,
                                    double *terms, double *sums) {
  (tile->features_f32 != NULL ? vector_scaling_multiply_f32
                              : vector_scaling_multiply_f64)(tile, p, terms, sums);
}

const pc_vector_scaling_kernels PC_VARIANT_TABLE(pc_vector_scaling_kernels) = {
    .evaluate = vector_scaling_evaluate,
    .multiply = vector_scaling_multiply,
};
