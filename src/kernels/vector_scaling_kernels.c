/* Formula, u_k = w_k x_k + b_k, m = max u, t_k = exp(u_k - m), S = sum t_k:  p_k = t_k / S,
 *   -log p_y = log S - (u_y - m),  r_k = p_k - [k = y],  r_y = -(S - t_y) / S;
 *   derivatives by w_k and b_k: r_k x_k and r_k.
 * Edge cases: (1) one largest term is exactly 1 and kept out of the sum, so that losses and
 * residuals next to 0 keep their digits; (2) terms below 2^-1022.5 are 0; (3) u counts as at
 * most 1e300 in size, and so does a loss.
 * Accuracy: a term to 1e-14 and |u_k - m| ulp; sums to half a step of the lattice for each
 * row.   Cost: one exp, and some 30 operations, for each class of a row.
 *
 * Each step has a loop of its own over [class][lane], which compilers turn into vectors. */
#include "kernels/vector_scaling_kernels.h"

#include "kernels/lane_math.h"
#include "kernels/variant.h"

#define DIAGONAL_BIG (0x1.8p52 * PC_LATTICE)
#define DIAGONAL_MOST 1e300
#define DIAGONAL_INLINE static inline __attribute__((always_inline))

/* Compilers that saw constant limits would make selections of a clamp. */
DIAGONAL_INLINE double diagonal_cut(double x, double least, double most) {
  const double low = x < least ? least : x;
  return low > most ? most : low;
}

/* DIAGONAL_MOST, for any finite number; see above. */
DIAGONAL_INLINE double diagonal_most(double any) {
  return (any - any) + DIAGONAL_MOST;
}

/* What the lanes of a tile know of their rows. */
typedef struct diagonal_rows {
  double label[PC_LANES]; /* as a number, to be compared with vectors */
  double top[PC_LANES];   /* largest score */
  double own[PC_LANES];   /* score of the label; then its residual */
  double term[PC_LANES];  /* of the label */
  double rest[PC_LANES];  /* sum of the terms without a largest */
  double scale[PC_LANES]; /* 1 / S */
} diagonal_rows;

/* u, its largest and that of the label. */
#define DIAGONAL_MAP(name, type)                                                             \
  DIAGONAL_INLINE void name(const pc_vector_scaling_tile *tile, const type *restrict x,      \
                            double *restrict u, diagonal_rows *restrict rows) {              \
    const double most = diagonal_most(tile->most), least = -most;                            \
    for (size_t k = 0; k < tile->classes; k++) {                                             \
      const double w = tile->w[k], b = tile->b[k], class = (double)k;                        \
      for (size_t l = 0; l < PC_LANES; l++) {                                                \
        const double score = diagonal_cut(b + (double)x[k * PC_LANES + l] * w, least, most); \
        u[k * PC_LANES + l] = score;                                                         \
        rows->top[l] = score > rows->top[l] ? score : rows->top[l];                          \
        rows->own[l] = rows->label[l] == class ? score : rows->own[l];                       \
      }                                                                                      \
    }                                                                                        \
  }
DIAGONAL_MAP(diagonal_map_f32, float)
DIAGONAL_MAP(diagonal_map_f64, double)

static void diagonal_terms(size_t classes, double *restrict u, diagonal_rows *restrict rows) {
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

/* From scores and sums to losses and residuals of the labels. */
static void diagonal_close(diagonal_rows *restrict rows, double loss[restrict PC_LANES]) {
  for (size_t l = 0; l < PC_LANES; l++) {
    const double gap = rows->own[l] - rows->top[l], rest = rows->rest[l];
    const double others = gap < 0.0 ? 1.0 + (rest - rows->term[l]) : rest;
    const double low = gap < -DIAGONAL_MOST ? -DIAGONAL_MOST : gap;
    rows->scale[l] = 1.0 / (1.0 + rest);
    rows->own[l] = -(others * rows->scale[l]);
    loss[l] = pc_lane_log1p(rest) - low;
  }
}

/* Half of the lanes as the compilers' own vector type: they would write loops as short as that
 * out before they could make vectors of them. */
typedef double diagonal_half __attribute__((
    vector_size(PC_VECTOR_SCALING_FOLD * sizeof(double)), aligned(8), may_alias));

/* Half of the terms of a sum, rounded to steps of the lattice; weights NULL: all 1. */
DIAGONAL_INLINE void diagonal_add_half(diagonal_half *sums, const double *x,
                                       const double *weights, double big) {
  diagonal_half terms = (*(const diagonal_half *)(const void *)x + big) - big;
  if (weights != NULL)
    terms = (*(const diagonal_half *)(const void *)weights * terms + big) - big;
  *sums += terms;
}

/* Adds the lanes of a number, two and two. */
DIAGONAL_INLINE void diagonal_add(double *restrict sums, const double *restrict x,
                                  const double *restrict weights, double big) {
  diagonal_half both = {0.0};
  diagonal_add_half(&both, x, weights, big);
  diagonal_add_half(&both, x + PC_VECTOR_SCALING_FOLD,
                    weights == NULL ? NULL : weights + PC_VECTOR_SCALING_FOLD, big);
  *(diagonal_half *)(void *)sums += both;
}

/* Sums of derivatives; terms become probabilities. */
#define DIAGONAL_SLOPES(name, type)                                                           \
  DIAGONAL_INLINE void name(const pc_vector_scaling_tile *tile, const type *restrict x,       \
                            const double *restrict weights, int metric,                       \
                            const diagonal_rows *restrict rows, const double *restrict terms, \
                            double *restrict out, double *restrict sums) {                    \
    const size_t numbers = metric ? PC_VECTOR_SCALING_ALL : PC_VECTOR_SCALING_SLOPES;         \
    const double most = tile->most, least = -most;                                            \
    const double big = DIAGONAL_BIG, big_x = big * most, big_xx = big_x * most;               \
    for (size_t k = 0; k < tile->classes; k++, sums += numbers * PC_VECTOR_SCALING_FOLD) {    \
      const double class = (double)k;                                                         \
      double r[PC_LANES], rx[PC_LANES], c[PC_LANES], cx[PC_LANES], cxx[PC_LANES];             \
      for (size_t l = 0; l < PC_LANES; l++) {                                                 \
        const double p = terms[k * PC_LANES + l] * rows->scale[l];                            \
        const double feature = diagonal_cut((double)x[k * PC_LANES + l], least, most);        \
        out[k * PC_LANES + l] = p;                                                            \
        r[l] = rows->label[l] == class ? rows->own[l] : p;                                    \
        rx[l] = r[l] * feature;                                                               \
        c[l] = p * (1.0 - p);                                                                 \
        cx[l] = c[l] * feature;                                                               \
        cxx[l] = cx[l] * feature;                                                             \
      }                                                                                       \
      diagonal_add(sums, rx, weights, big_x);                                                 \
      diagonal_add(sums + PC_VECTOR_SCALING_FOLD, r, weights, big);                           \
      if (!metric)                                                                            \
        continue;                                                                             \
      diagonal_add(sums + 2 * PC_VECTOR_SCALING_FOLD, c, weights, big);                       \
      diagonal_add(sums + 3 * PC_VECTOR_SCALING_FOLD, cx, weights, big_x);                    \
      diagonal_add(sums + 4 * PC_VECTOR_SCALING_FOLD, cxx, weights, big_xx);                  \
    }                                                                                         \
  }
DIAGONAL_SLOPES(diagonal_slopes_f32, float)
DIAGONAL_SLOPES(diagonal_slopes_f64, double)

#define DIAGONAL_EVALUATE(name, map, slopes, features)                            \
  static void name(const pc_vector_scaling_tile *tile, int metric, double *terms, \
                   double *loss, double *p, double *sums) {                       \
    diagonal_rows rows;                                                           \
    for (size_t l = 0; l < PC_LANES; l++) {                                       \
      rows.label[l] = (double)tile->labels[l];                                    \
      rows.top[l] = -2.0 * DIAGONAL_MOST;                                         \
      rows.own[l] = 0.0;                                                          \
    }                                                                             \
    map(tile, tile->features, terms, &rows);                                      \
    diagonal_terms(tile->classes, terms, &rows);                                  \
    diagonal_close(&rows, loss);                                                  \
    if (tile->weights != NULL)                                                    \
      slopes(tile, tile->features, tile->weights, metric, &rows, terms, p, sums); \
    else if (metric)                                                              \
      slopes(tile, tile->features, NULL, 1, &rows, terms, p, sums);               \
    else                                                                          \
      slopes(tile, tile->features, NULL, 0, &rows, terms, p, sums);               \
  }
DIAGONAL_EVALUATE(diagonal_evaluate_f32, diagonal_map_f32, diagonal_slopes_f32, narrow)
DIAGONAL_EVALUATE(diagonal_evaluate_f64, diagonal_map_f64, diagonal_slopes_f64, wide)

static void diagonal_evaluate(const pc_vector_scaling_tile *tile, int metric, double *terms,
                              double loss[PC_LANES], double *p, double *sums) {
  (tile->narrow != NULL ? diagonal_evaluate_f32 : diagonal_evaluate_f64)(tile, metric, terms,
                                                                         loss, p, sums);
}

/* u = w * x + b and its means under p. */
#define DIAGONAL_MEAN(name, type)                                                       \
  DIAGONAL_INLINE void name(const pc_vector_scaling_tile *tile, const type *restrict x, \
                            const double *restrict p, double *restrict u,               \
                            double mean[restrict PC_LANES]) {                           \
    const double most = tile->most, least = -most;                                      \
    for (size_t k = 0; k < tile->classes; k++) {                                        \
      const double w = tile->w[k], b = tile->b[k];                                      \
      for (size_t l = 0; l < PC_LANES; l++) {                                           \
        const double feature = diagonal_cut((double)x[k * PC_LANES + l], least, most);  \
        const double part = p[k * PC_LANES + l] * (b + feature * w);                    \
        u[k * PC_LANES + l] = part;                                                     \
        mean[l] += part;                                                                \
      }                                                                                 \
    }                                                                                   \
  }
DIAGONAL_MEAN(diagonal_mean_f32, float)
DIAGONAL_MEAN(diagonal_mean_f64, double)

#define DIAGONAL_PRODUCTS(name, type)                                                   \
  DIAGONAL_INLINE void name(const pc_vector_scaling_tile *tile, const type *restrict x, \
                            const double *restrict weights, const double *restrict p,   \
                            const double *restrict u, const double *restrict mean,      \
                            double *restrict sums) {                                    \
    const double most = tile->most, least = -most;                                      \
    const double big = DIAGONAL_BIG, big_x = big * most;                                \
    for (size_t k = 0; k < tile->classes;                                               \
         k++, sums += PC_VECTOR_SCALING_SLOPES * PC_VECTOR_SCALING_FOLD) {              \
      double q[PC_LANES], qx[PC_LANES];                                                 \
      for (size_t l = 0; l < PC_LANES; l++) {                                           \
        q[l] = u[k * PC_LANES + l] - p[k * PC_LANES + l] * mean[l];                     \
        qx[l] = q[l] * diagonal_cut((double)x[k * PC_LANES + l], least, most);          \
      }                                                                                 \
      diagonal_add(sums, qx, weights, big_x);                                           \
      diagonal_add(sums + PC_VECTOR_SCALING_FOLD, q, weights, big);                     \
    }                                                                                   \
  }
DIAGONAL_PRODUCTS(diagonal_products_f32, float)
DIAGONAL_PRODUCTS(diagonal_products_f64, double)

#define DIAGONAL_MULTIPLY(name, mean, products, features)                          \
  static void name(const pc_vector_scaling_tile *tile, const double *p, double *u, \
                   double *sums) {                                                 \
    double means[PC_LANES] = {0.0};                                                \
    mean(tile, tile->features, p, u, means);                                       \
    if (tile->weights != NULL)                                                     \
      products(tile, tile->features, tile->weights, p, u, means, sums);            \
    else                                                                           \
      products(tile, tile->features, NULL, p, u, means, sums);                     \
  }
DIAGONAL_MULTIPLY(diagonal_multiply_f32, diagonal_mean_f32, diagonal_products_f32, narrow)
DIAGONAL_MULTIPLY(diagonal_multiply_f64, diagonal_mean_f64, diagonal_products_f64, wide)

static void diagonal_multiply(const pc_vector_scaling_tile *tile, const double *p,
                              double *terms, double *sums) {
  (tile->narrow != NULL ? diagonal_multiply_f32 : diagonal_multiply_f64)(tile, p, terms, sums);
}

const pc_vector_scaling_kernels PC_VARIANT_TABLE(pc_vector_scaling_kernels) = {
    .name = PC_VARIANT_NAME,
    .evaluate = diagonal_evaluate,
    .multiply = diagonal_multiply,
};
