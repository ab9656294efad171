/* The phases for one type of logits, for scaled_softmax_body.h only: included with NUMBER float and
 * NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* Classes first, first + step, ... of a row; `at` is the class of the largest logit. */
static inline void NAMED(pc_scaled_softmax_write_row)(const pc_scaled_softmax *softmax,
                                                      const NUMBER *z, NUMBER *out,
                                                      uint32_t first, uint32_t step,
                                                      uint32_t at, double largest,
                                                      double share) {
  const NUMBER most = (NUMBER)(pc_scaled_softmax_term(largest, largest, softmax->beta) * share);
  const NUMBER below = NAMED(pc_scaled_softmax_below)(most);
  PC_GPU_UNROLL(4)
  for (uint32_t j = first; j < softmax->classes; j += step) {
    const NUMBER p =
        (NUMBER)(pc_scaled_softmax_term((double)z[j], largest, softmax->beta) * share);
    const int ties = j < at ? p >= most : p > most;
    out[j] = ties ? below : p;
  }
}

/* A narrow row. */
static inline void NAMED(pc_scaled_softmax_narrow_row)(const pc_scaled_softmax *softmax,
                                                       uint64_t row) {
  const NUMBER *z = (const NUMBER *)softmax->scores + row * softmax->classes;
  NUMBER top = (NUMBER)-INFINITY, odd = 0;
  double sum = 0;
  uint32_t at = 0;
  if (row >= softmax->rows)
    return;
  for (uint32_t j = 0; j < softmax->classes; j++) {
    const NUMBER here = z[j];
    at = here > top ? j : at;
    top = here > top ? here : top;
    odd += here - here;
  }
  PC_GPU_UNROLL(2)
  for (uint32_t j = 0; j < softmax->classes; j++)
    sum += pc_scaled_softmax_term((double)z[j], (double)top, softmax->beta);
  if (odd != 0)
    *softmax->odd = 1;
  NAMED(pc_scaled_softmax_write_row)
  (softmax, z, (NUMBER *)softmax->out + row * softmax->classes, 0, 1, at, (double)top,
   1.0 / sum);
}

/* Wide rows, first phase: the largest logit of each thread. */
static inline void NAMED(pc_scaled_softmax_look)(const pc_scaled_softmax *softmax,
                                                 uint32_t block, uint32_t thread,
                                                 pc_scaled_softmax_shared *shared) {
  const uint64_t row = pc_scaled_softmax_row(block, thread);
  const NUMBER *z = (const NUMBER *)softmax->scores + row * softmax->classes;
  uint32_t at;
  int odd;
  if (row >= softmax->rows)
    return;
  shared->top[thread] =
      (double)NAMED(pc_row_top)(z, softmax->classes, thread % PC_SCALED_SOFTMAX_LANES,
                                PC_SCALED_SOFTMAX_LANES, &at, &odd);
  shared->at[thread] = at;
  if (odd)
    *softmax->odd = 1;
}

/* Second phase: the sum of each thread. */
static inline void NAMED(pc_scaled_softmax_add)(const pc_scaled_softmax *softmax,
                                                uint32_t block, uint32_t thread,
                                                pc_scaled_softmax_shared *shared) {
  const uint64_t row = pc_scaled_softmax_row(block, thread);
  const NUMBER *z = (const NUMBER *)softmax->scores + row * softmax->classes;
  double sum = 0;
  uint32_t at;
  if (row >= softmax->rows)
    return;
  const double largest = pc_scaled_softmax_largest(shared, thread, &at);
  uint32_t j = thread % PC_SCALED_SOFTMAX_LANES;
  for (; j + 3 * PC_SCALED_SOFTMAX_LANES < softmax->classes; j += 4 * PC_SCALED_SOFTMAX_LANES) {
    NUMBER here[4]; /* loaded at once */
    PC_GPU_UNROLL(4)
    for (uint32_t i = 0; i < 4; i++)
      here[i] = z[j + i * PC_SCALED_SOFTMAX_LANES];
    PC_GPU_UNROLL(4)
    for (uint32_t i = 0; i < 4; i++)
      sum += pc_scaled_softmax_term((double)here[i], largest, softmax->beta);
  }
  for (; j < softmax->classes; j += PC_SCALED_SOFTMAX_LANES)
    sum += pc_scaled_softmax_term((double)z[j], largest, softmax->beta);
  shared->sum[thread] = sum;
}

/* Third phase: each thread writes its classes. */
static inline void NAMED(pc_scaled_softmax_write)(const pc_scaled_softmax *softmax,
                                                  uint32_t block, uint32_t thread,
                                                  const pc_scaled_softmax_shared *shared) {
  const uint64_t row = pc_scaled_softmax_row(block, thread);
  const uint32_t lane = thread % PC_SCALED_SOFTMAX_LANES;
  uint32_t at;
  if (row >= softmax->rows)
    return;
  const double largest = pc_scaled_softmax_largest(shared, thread, &at);
  NAMED(pc_scaled_softmax_write_row)
  (softmax, (const NUMBER *)softmax->scores + row * softmax->classes,
   (NUMBER *)softmax->out + row * softmax->classes, lane, PC_SCALED_SOFTMAX_LANES, at, largest,
   1.0 / pc_scaled_softmax_fold(shared->sum + (thread - lane)));
}
