/* The phases for one type of logits, for softmax_rows_body.h only: included with NUMBER float
 * and NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* Wide rows, first phase: the largest logit of each thread. */
static inline void NAMED(pc_softmax_rows_look)(const pc_softmax_rows *rows, uint32_t block,
                                               uint32_t thread,
                                               pc_softmax_rows_shared *shared) {
  const uint64_t row = pc_softmax_rows_wide_row(block, thread);
  const NUMBER *z = (const NUMBER *)rows->scores + row * rows->classes;
  double top = -INFINITY, odd = 0;
  uint32_t at = 0;
  if (row >= rows->rows)
    return;
  for (uint32_t j = thread % PC_SOFTMAX_ROWS_LANES; j < rows->classes;
       j += PC_SOFTMAX_ROWS_LANES) {
    const double here = (double)z[j];
    at = here > top ? j : at;
    top = here > top ? here : top;
    odd += here - here;
  }
  shared->top[thread] = top;
  shared->at[thread] = at;
  if (odd != 0)
    *rows->odd = 1;
}

/* Second phase: the sum of each thread. */
static inline void NAMED(pc_softmax_rows_add)(const pc_softmax_rows *rows, uint32_t block,
                                              uint32_t thread, pc_softmax_rows_shared *shared) {
  const uint64_t row = pc_softmax_rows_wide_row(block, thread);
  const NUMBER *z = (const NUMBER *)rows->scores + row * rows->classes;
  double sum = 0, square = 0;
  uint32_t at;
  if (row >= rows->rows)
    return;
  const double largest =
      pc_softmax_rows_largest(shared, thread - thread % PC_SOFTMAX_ROWS_LANES, &at);
  for (uint32_t j = thread % PC_SOFTMAX_ROWS_LANES; j < rows->classes;
       j += PC_SOFTMAX_ROWS_LANES) {
    const double term = j == at ? 0.0 : pc_softmax_rows_term((double)z[j], largest);
    sum += term;
    square += term * term;
  }
  shared->sum[thread] = sum;
  shared->square[thread] = square;
}

/* Third phase: the first thread of each row writes it. */
static inline void NAMED(pc_softmax_rows_write)(const pc_softmax_rows *rows, uint32_t block,
                                                uint32_t thread,
                                                const pc_softmax_rows_shared *shared) {
  const uint64_t row = pc_softmax_rows_wide_row(block, thread);
  const NUMBER *z = (const NUMBER *)rows->scores + row * rows->classes;
  uint32_t at;
  if (row >= rows->rows || thread % PC_SOFTMAX_ROWS_LANES != 0)
    return;
  const double largest = pc_softmax_rows_largest(shared, thread, &at);
  rows->rest[row] = pc_softmax_rows_fold(shared->sum + thread);
  rows->rest_square[row] = pc_softmax_rows_fold(shared->square + thread);
  rows->gap[row] = (double)z[pc_softmax_rows_label(rows, row)] - largest;
  rows->top[row] = (int32_t)at;
}

/* A narrow row. */
static inline void NAMED(pc_softmax_rows_narrow)(const pc_softmax_rows *rows, uint64_t row) {
  const NUMBER *z = (const NUMBER *)rows->scores + row * rows->classes;
  double largest = -INFINITY, odd = 0, sum = 0, square = 0;
  uint32_t at = 0;
  if (row >= rows->rows)
    return;
  for (uint32_t j = 0; j < rows->classes; j++) {
    const double here = (double)z[j];
    at = here > largest ? j : at;
    largest = here > largest ? here : largest;
    odd += here - here;
  }
  for (uint32_t j = 0; j < rows->classes; j++) {
    const double term = j == at ? 0.0 : pc_softmax_rows_term((double)z[j], largest);
    sum += term;
    square += term * term;
  }
  rows->rest[row] = sum;
  rows->rest_square[row] = square;
  rows->gap[row] = (double)z[pc_softmax_rows_label(rows, row)] - largest;
  rows->top[row] = (int32_t)at;
  if (odd != 0)
    *rows->odd = 1;
}
