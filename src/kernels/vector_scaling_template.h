/* Tiles of one type of features, for vector_scaling_kernels.c only: included with NUMBER float
 * and NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* u, its largest entry and that of the label. */
VECTOR_SCALING_INLINE void NAMED(vector_scaling_map)(const pc_vector_scaling_tile *tile,
                                                     const NUMBER *restrict x,
                                                     double *restrict u,
                                                     vector_scaling_rows *restrict rows) {
  const double most = vector_scaling_most(tile->most), least = -most;
  for (size_t k = 0; k < tile->classes; k++) {
    const double w = tile->w[k], b = tile->b[k], class = (double)k;
    for (size_t l = 0; l < PC_LANES; l++) {
      const double score = vector_scaling_cut(b + (double)x[k * PC_LANES + l] * w, least, most);
      u[k * PC_LANES + l] = score;
      rows->top[l] = score > rows->top[l] ? score : rows->top[l];
      rows->own[l] = rows->label[l] == class ? score : rows->own[l];
    }
  }
}

/* Adds the sums of derivatives; replaces terms by probabilities. */
VECTOR_SCALING_INLINE void
NAMED(vector_scaling_slopes)(const pc_vector_scaling_tile *tile, const NUMBER *restrict x,
                             const double *restrict weights, int preconditioner,
                             const vector_scaling_rows *restrict rows,
                             const double *restrict terms, double *restrict out,
                             double *restrict sums) {
  const size_t numbers = preconditioner ? PC_VECTOR_SCALING_ALL : PC_VECTOR_SCALING_SLOPES;
  const double most = tile->most, least = -most;
  const double big = VECTOR_SCALING_BIG, big_x = big * most, big_xx = big_x * most;
  for (size_t k = 0; k < tile->classes; k++, sums += numbers * PC_VECTOR_SCALING_FOLD) {
    const double class = (double)k;
    double r[PC_LANES], rx[PC_LANES], c[PC_LANES], cx[PC_LANES], cxx[PC_LANES];
    for (size_t l = 0; l < PC_LANES; l++) {
      const double p = terms[k * PC_LANES + l] * rows->scale[l];
      const double feature = vector_scaling_cut((double)x[k * PC_LANES + l], least, most);
      out[k * PC_LANES + l] = p;
      r[l] = rows->label[l] == class ? rows->own[l] : p;
      rx[l] = r[l] * feature;
      c[l] = p * (1.0 - p);
      cx[l] = c[l] * feature;
      cxx[l] = cx[l] * feature;
    }
    vector_scaling_add(sums, rx, weights, big_x);
    vector_scaling_add(sums + PC_VECTOR_SCALING_FOLD, r, weights, big);
    if (!preconditioner)
      continue;
    vector_scaling_add(sums + 2 * PC_VECTOR_SCALING_FOLD, c, weights, big);
    vector_scaling_add(sums + 3 * PC_VECTOR_SCALING_FOLD, cx, weights, big_x);
    vector_scaling_add(sums + 4 * PC_VECTOR_SCALING_FOLD, cxx, weights, big_xx);
  }
}

static void NAMED(vector_scaling_evaluate)(const pc_vector_scaling_tile *tile,
                                           int preconditioner, double *terms, double *loss,
                                           double *p, double *sums) {
  vector_scaling_rows rows;
  for (size_t l = 0; l < PC_LANES; l++) {
    rows.label[l] = (double)tile->labels[l];
    rows.top[l] = -2.0 * VECTOR_SCALING_MOST;
    rows.own[l] = 0.0;
  }
  NAMED(vector_scaling_map)(tile, tile->NAMED(features), terms, &rows);
  vector_scaling_terms(tile->classes, terms, &rows);
  vector_scaling_close(&rows, loss);
  if (tile->weights != NULL)
    NAMED(vector_scaling_slopes)
  (tile, tile->NAMED(features), tile->weights, preconditioner, &rows, terms, p, sums);
  else if (preconditioner)
      NAMED(vector_scaling_slopes)(tile, tile->NAMED(features), NULL, 1, &rows, terms, p, sums);
  else NAMED(vector_scaling_slopes)(tile, tile->NAMED(features), NULL, 0, &rows, terms, p,
                                    sums);
}

/* u = w * x + b and its means under p. */
VECTOR_SCALING_INLINE void NAMED(vector_scaling_mean)(const pc_vector_scaling_tile *tile,
                                                      const NUMBER *restrict x,
                                                      const double *restrict p,
                                                      double *restrict u,
                                                      double mean[restrict PC_LANES]) {
  const double most = tile->most, least = -most;
  for (size_t k = 0; k < tile->classes; k++) {
    const double w = tile->w[k], b = tile->b[k];
    for (size_t l = 0; l < PC_LANES; l++) {
      const double feature = vector_scaling_cut((double)x[k * PC_LANES + l], least, most);
      const double part = p[k * PC_LANES + l] * (b + feature * w);
      u[k * PC_LANES + l] = part;
      mean[l] += part;
    }
  }
}

VECTOR_SCALING_INLINE void
NAMED(vector_scaling_products)(const pc_vector_scaling_tile *tile, const NUMBER *restrict x,
                               const double *restrict weights, const double *restrict p,
                               const double *restrict u, const double *restrict mean,
                               double *restrict sums) {
  const double most = tile->most, least = -most;
  const double big = VECTOR_SCALING_BIG, big_x = big * most;
  for (size_t k = 0; k < tile->classes;
       k++, sums += PC_VECTOR_SCALING_SLOPES * PC_VECTOR_SCALING_FOLD) {
    double q[PC_LANES], qx[PC_LANES];
    for (size_t l = 0; l < PC_LANES; l++) {
      q[l] = u[k * PC_LANES + l] - p[k * PC_LANES + l] * mean[l];
      qx[l] = q[l] * vector_scaling_cut((double)x[k * PC_LANES + l], least, most);
    }
    vector_scaling_add(sums, qx, weights, big_x);
    vector_scaling_add(sums + PC_VECTOR_SCALING_FOLD, q, weights, big);
  }
}

static void NAMED(vector_scaling_multiply)(const pc_vector_scaling_tile *tile, const double *p,
                                           double *u, double *sums) {
  double means[PC_LANES] = {0.0};
  NAMED(vector_scaling_mean)(tile, tile->NAMED(features), p, u, means);
  if (tile->weights != NULL)
    NAMED(vector_scaling_products)
  (tile, tile->NAMED(features), tile->weights, p, u, means, sums);
  else NAMED(vector_scaling_products)(tile, tile->NAMED(features), NULL, p, u, means, sums);
}
