/* The phases for one type of logits, for row_sums_body.h only: included with NUMBER float and
 * NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

#define ROW_SUMS_LOADS 4 /* at once, of narrow rows */

/* The threads of a block copy its narrow rows, from row `first` on, into shared memory. */
static inline void NAMED(pc_row_sums_load)(const pc_row_sums *sums,
                                           const pc_row_sums_thread *mine, uint64_t first) {
  const uint64_t left = sums->rows - first;
  const uint32_t rows = left < PC_ROW_SUMS_THREADS ? (uint32_t)left : PC_ROW_SUMS_THREADS;
  const uint32_t classes = sums->classes, stride = pc_row_sums_stride(sums);
  const uint32_t rows_on = PC_ROW_SUMS_THREADS / classes;
  const uint32_t on = PC_ROW_SUMS_THREADS % classes, count = rows * classes;
  const NUMBER *z = (const NUMBER *)sums->scores + first * classes;
  NUMBER *tile = (NUMBER *)(void *)(mine->shared + mine->at.work);
  uint32_t row = mine->thread / classes, column = mine->thread % classes;
  for (uint32_t i = mine->thread; i < count; i += ROW_SUMS_LOADS * PC_ROW_SUMS_THREADS) {
    NUMBER here[ROW_SUMS_LOADS];
    PC_GPU_UNROLL(4)
    for (uint32_t l = 0; l < ROW_SUMS_LOADS; l++) {
      const uint32_t at = i + l * PC_ROW_SUMS_THREADS;
      here[l] = z[at < count ? at : i];
    }
    PC_GPU_UNROLL(4)
    for (uint32_t l = 0; l < ROW_SUMS_LOADS; l++) {
      if (i + l * PC_ROW_SUMS_THREADS < count)
        tile[row * stride + column] = here[l];
      row += rows_on;
      column += on;
      row += column >= classes;
      column -= column >= classes ? classes : 0;
    }
  }
}

#undef ROW_SUMS_LOADS

/* Wide rows, first phase of a step: the largest logit of each thread. */
static inline void NAMED(pc_row_sums_look)(const pc_row_sums *sums,
                                           const pc_row_sums_thread *mine, uint64_t first,
                                           uint32_t step) {
  const uint64_t row = pc_row_sums_wide_row(mine, first, step);
  const NUMBER *z = (const NUMBER *)sums->scores + row * sums->classes;
  pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  uint32_t at;
  int odd;
  if (row >= sums->rows)
    return;
  wide->top[mine->thread] = (double)NAMED(pc_row_top)(
      z, sums->classes, mine->thread % PC_ROW_SUMS_LANES, PC_ROW_SUMS_LANES, &at, &odd);
  wide->at[mine->thread] = at;
  if (odd)
    sums->words[PC_ROW_SUMS_ODD] = 1;
}

/* Second phase: the sums of each thread. */
static inline void NAMED(pc_row_sums_add)(const pc_row_sums *sums,
                                          const pc_row_sums_thread *mine, uint64_t first,
                                          uint32_t step) {
  const uint64_t row = pc_row_sums_wide_row(mine, first, step);
  const NUMBER *z = (const NUMBER *)sums->scores + row * sums->classes;
  const uint32_t lane = mine->thread % PC_ROW_SUMS_LANES, classes = sums->classes;
  double sum = 0, square = 0;
  uint32_t at;
  NUMBER here[PC_ROW_SUMS_LOADS];
  if (row >= sums->rows)
    return;
  const double largest = pc_row_sums_largest(pc_row_sums_wide_of(mine), mine->thread, &at);
  for (uint32_t j = lane; j < classes; j += PC_ROW_SUMS_LOADS * PC_ROW_SUMS_LANES) {
    PC_GPU_UNROLL(PC_ROW_SUMS_LOADS)
    for (uint32_t i = 0; i < PC_ROW_SUMS_LOADS; i++)
      here[i] = z[pc_row_sums_class(j, i) < classes ? pc_row_sums_class(j, i) : j];
    PC_GPU_UNROLL(PC_ROW_SUMS_LOADS)
    for (uint32_t i = 0; i < PC_ROW_SUMS_LOADS; i++) {
      const uint32_t c = pc_row_sums_class(j, i);
      const double term = pc_softmax_rows_term((double)here[i], largest);
      const double added = ((c == at) | (c >= classes)) ? 0.0 : term;
      sum += added;
      square += added * added;
    }
  }
  pc_row_sums_keep_thread(mine, step, largest, at, sum, square);
}

/* After the steps of a round: the thread adds one row. */
static inline void NAMED(pc_row_sums_finish_wide)(const pc_row_sums *sums,
                                                  pc_row_sums_thread *mine, uint64_t first) {
  const pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  const uint64_t row = pc_row_sums_finished_row(mine, first);
  if (row >= sums->rows)
    return;
  const int64_t label = pc_row_sums_label(sums, row);
  if (label < 0 || label >= (int64_t)sums->classes) {
    sums->words[PC_ROW_SUMS_ODD] = 1;
    return;
  }
  const double z =
      (double)((const NUMBER *)sums->scores)[row * sums->classes + (uint64_t)label];
  pc_row_sums_finish(sums, mine, row, wide->row_rest[mine->thread],
                     wide->row_square[mine->thread], wide->row_top[mine->thread],
                     z - wide->row_top[mine->thread], wide->row_at[mine->thread],
                     (uint32_t)label);
}
