/* The phases for one type of numbers, for prob_rows_body.h only: included with NUMBER float and NAMED(x)
 * x_f32, and with NUMBER double and NAMED(x) x_f64. */

static inline const NUMBER *NAMED(pc_prob_rows_at)(const pc_prob_rows *rows, uint64_t row) {
  return (const NUMBER *)rows->scores + row * rows->classes;
}

/* Looks at the classes of a thread. */
static inline void NAMED(pc_prob_rows_look_at)(const pc_prob_rows *rows, uint64_t row,
                                               uint32_t thread, double scale,
                                               pc_prob_rows_shared *shared) {
  const NUMBER *p = NAMED(pc_prob_rows_at)(rows, row);
  double low = INFINITY, high = -INFINITY, sum = 0;
  uint64_t bits = 0;
  uint32_t at = UINT32_MAX;
  for (uint32_t j = thread % PC_PROB_ROWS_LANES; j < rows->classes; j += PC_PROB_ROWS_LANES) {
    const double value = pc_prob_rows_value((double)p[j], rows->form);
    const double here = pc_prob_rows_scaled(value, scale);
    low = here < low ? here : low;
    at = here > high ? j : at;
    high = here > high ? here : high;
    sum += here;
    bits |= pc_double_bits(here);
  }
  shared->low[thread] = low;
  shared->high[thread] = high;
  shared->sum[thread] = sum;
  shared->bits[thread] = bits;
  shared->at[thread] = at;
}

/* First phase: range and sum of the classes of each thread. */
static inline void NAMED(pc_prob_rows_look)(const pc_prob_rows *rows, uint32_t block,
                                            uint32_t thread, pc_prob_rows_shared *shared) {
  const uint64_t row = pc_prob_rows_row(block, thread);
  if (row < rows->rows)
    NAMED(pc_prob_rows_look_at)(rows, row, thread, 0.0, shared);
}

/* Second phase: the first thread of a row decides on it. */
static inline void NAMED(pc_prob_rows_check)(const pc_prob_rows *rows, uint32_t block,
                                             uint32_t thread, pc_prob_rows_shared *shared) {
  const uint64_t row = pc_prob_rows_row(block, thread);
  uint32_t odd;
  double sum = 0;
  if (row >= rows->rows || thread % PC_PROB_ROWS_LANES != 0)
    return;
  const pc_prob_rows_found found = pc_prob_rows_join(shared, thread);
  if (pc_prob_rows_verdict(rows, &found, &odd)) {
    const NUMBER *p = NAMED(pc_prob_rows_at)(rows, row);
    for (uint32_t j = 0; j < rows->classes; j++) {
      const double value = pc_prob_rows_value((double)p[j], rows->form);
      sum += value < 0 ? 0.0 : value;
    }
  }
  if (odd != PC_PROB_ROWS_EVEN)
    pc_gpu_max_32(rows->odd, odd);
  shared->scale[thread / PC_PROB_ROWS_LANES] = sum;
}

/* Third phase: rows that are rescaled are looked at again. */
static inline void NAMED(pc_prob_rows_again)(const pc_prob_rows *rows, uint32_t block,
                                             uint32_t thread, pc_prob_rows_shared *shared) {
  const uint64_t row = pc_prob_rows_row(block, thread);
  if (row < rows->rows && shared->scale[thread / PC_PROB_ROWS_LANES] != 0)
    NAMED(pc_prob_rows_look_at)
  (rows, row, thread, shared->scale[thread / PC_PROB_ROWS_LANES], shared);
}

/* Fourth phase: the sum of squares of each thread; the largest is left out.  Of two classes the other one
 * is not squared. */
static inline double NAMED(pc_prob_rows_square)(const pc_prob_rows *rows, uint32_t block,
                                                uint32_t thread,
                                                const pc_prob_rows_shared *shared,
                                                pc_prob_rows_found *found) {
  const uint64_t row = pc_prob_rows_row(block, thread);
  const NUMBER *p = NAMED(pc_prob_rows_at)(rows, row);
  const double scale = shared->scale[thread / PC_PROB_ROWS_LANES];
  const uint32_t lane = thread % PC_PROB_ROWS_LANES;
  double square = 0;
  if (row >= rows->rows)
    return 0;
  *found = pc_prob_rows_join(shared, thread);
  for (int part = 0; part < 2; part++) {
    const uint32_t end = part == 0 && found->at < rows->classes ? found->at : rows->classes;
    for (uint32_t j = part == 0 ? lane : found->at + 1 + lane; j < end;
         j += PC_PROB_ROWS_LANES) {
      const double value = pc_prob_rows_value((double)p[j], rows->form);
      const double here = pc_prob_rows_scaled(value, scale);
      square += rows->classes == 2 ? here : here * here;
    }
  }
  return square;
}

/* Last phase: the first thread of a row writes it; `sum` of the block has the sums of squares. */
static inline void NAMED(pc_prob_rows_write)(const pc_prob_rows *rows, uint32_t block,
                                             uint32_t thread, const pc_prob_rows_shared *shared,
                                             const pc_prob_rows_found *found) {
  const uint64_t row = pc_prob_rows_row(block, thread);
  if (row >= rows->rows || thread % PC_PROB_ROWS_LANES != 0)
    return;
  rows->out.high[row] = found->high;
  rows->out.rest_square[row] = pc_prob_rows_fold(shared->sum + thread);
  rows->out.stored[row] =
      (double)NAMED(pc_prob_rows_at)(rows, row)[pc_prob_rows_label(rows, row)];
  rows->out.scale[row] = shared->scale[thread / PC_PROB_ROWS_LANES];
  rows->out.top[row] = (int32_t)found->at;
}
