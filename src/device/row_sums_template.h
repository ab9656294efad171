/* The phases for one type of logits, for row_sums_body.h only: included with NUMBER float and
 * NAMED(x) x_f32, with NUMBER double and NAMED(x) x_f64, and for the fast precision with NUMBER float
 * and NAMED(x) x_fast.  TERM(z, largest) is the exponential of z - largest, of type REAL, in units of
 * UNIT. */

/* ---- Narrow rows ---- */

/* The threads of a block copy its rows, from row `first` on, into shared memory. */
static inline void NAMED(pc_row_sums_load)(const pc_row_sums *sums,
                                           const pc_row_sums_thread *mine, uint64_t first) {
  const uint64_t left = sums->rows - first;
  const uint32_t rows = left < PC_ROW_SUMS_THREADS ? (uint32_t)left : PC_ROW_SUMS_THREADS;
  const uint32_t classes = sums->classes, stride = pc_row_sums_stride(sums);
  const uint32_t rows_on = PC_ROW_SUMS_THREADS / classes;
  const uint32_t on = PC_ROW_SUMS_THREADS % classes;
  const NUMBER *z = (const NUMBER *)sums->scores + first * classes;
  NUMBER *tile = (NUMBER *)(void *)(mine->shared + mine->at.work);
  uint32_t row = mine->thread / classes, column = mine->thread % classes;
  PC_GPU_UNROLL(8)
  for (uint32_t i = mine->thread; i < rows * classes; i += PC_ROW_SUMS_THREADS) {
    tile[row * stride + column] = z[i];
    row += rows_on;
    column += on;
    if (column >= classes) {
      column -= classes;
      row++;
    }
  }
}

/* The row of the thread. */
static inline void NAMED(pc_row_sums_add_narrow)(const pc_row_sums *sums,
                                                 pc_row_sums_thread *mine, uint64_t first) {
  const NUMBER *z = (const NUMBER *)(const void *)(mine->shared + mine->at.work) +
                    mine->thread * pc_row_sums_stride(sums);
  const uint64_t row = first + mine->thread;
  NUMBER top = (NUMBER)-INFINITY, odd = 0;
  REAL sum = 0, square = 0;
  uint32_t at = 0;
  if (row >= sums->rows)
    return;
  const int64_t label = pc_row_sums_label(sums, row);
  for (uint32_t j = 0; j < sums->classes; j++) {
    const NUMBER here = z[j];
    at = here > top ? j : at;
    top = here > top ? here : top;
    odd += here - here;
  }
  if (odd != 0 || label < 0 || label >= (int64_t)sums->classes) {
    sums->words[PC_ROW_SUMS_ODD] = 1;
    return;
  }
  const double largest = (double)top;
  PC_GPU_UNROLL(PC_ROW_SUMS_UNROLL_NARROW)
  for (uint32_t j = 0; j < sums->classes; j++) {
    const REAL term = j == at ? 0 : TERM(z[j], largest);
    sum += term;
    square += term * term;
  }
  pc_row_sums_finish(sums, mine, row, (double)sum * UNIT, (double)square * (UNIT * UNIT),
                     largest, (double)z[label] - largest, at, (uint32_t)label);
}

/* ---- Wide rows ---- */

/* First phase of a step: the largest logit of each thread. */
static inline void NAMED(pc_row_sums_look)(const pc_row_sums *sums,
                                           const pc_row_sums_thread *mine, uint64_t first,
                                           uint32_t step) {
  const uint64_t row = pc_row_sums_wide_row(mine, first, step);
  const NUMBER *z = (const NUMBER *)sums->scores + row * sums->classes;
  pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  NUMBER top = (NUMBER)-INFINITY, odd = 0;
  uint32_t at = 0;
  if (row >= sums->rows)
    return;
  PC_GPU_UNROLL(8)
  for (uint32_t j = mine->thread % PC_ROW_SUMS_LANES; j < sums->classes;
       j += PC_ROW_SUMS_LANES) {
    const NUMBER here = z[j];
    at = here > top ? j : at;
    top = here > top ? here : top;
    odd += here - here;
  }
  wide->top[mine->thread] = (double)top;
  wide->at[mine->thread] = at;
  if (odd != 0)
    sums->words[PC_ROW_SUMS_ODD] = 1;
}

/* Second phase: the sums of each thread. */
static inline void NAMED(pc_row_sums_add)(const pc_row_sums *sums,
                                          const pc_row_sums_thread *mine, uint64_t first,
                                          uint32_t step) {
  const uint64_t row = pc_row_sums_wide_row(mine, first, step);
  const NUMBER *z = (const NUMBER *)sums->scores + row * sums->classes;
  pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  REAL sum = 0, square = 0;
  uint32_t at;
  if (row >= sums->rows)
    return;
  const double largest = pc_row_sums_largest(wide, mine->thread, &at);
  PC_GPU_UNROLL(PC_ROW_SUMS_UNROLL_WIDE)
  for (uint32_t j = mine->thread % PC_ROW_SUMS_LANES; j < sums->classes;
       j += PC_ROW_SUMS_LANES) {
    const REAL term = j == at ? 0 : TERM(z[j], largest);
    sum += term;
    square += term * term;
  }
  wide->sum[mine->thread] = (double)sum * UNIT;
  wide->square[mine->thread] = (double)square * (UNIT * UNIT);
  if (mine->thread % PC_ROW_SUMS_LANES == 0) {
    wide->row_top[pc_row_sums_slot(mine, step)] = largest;
    wide->row_at[pc_row_sums_slot(mine, step)] = at;
  }
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
