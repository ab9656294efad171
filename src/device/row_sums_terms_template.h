/* The phases with exponentials, for row_sums_body.h only: included with NUMBER float and NAMED(x) x_f32,
 * with NUMBER double and NAMED(x) x_f64, and for the fast precision with NUMBER float and NAMED(x)
 * x_fast.  TERM(z, largest) is the exponential of z - largest, of type REAL, in units of UNIT; LOADS
 * logits of a wide row are loaded at once. */

/* Adds the term of class j, unless it is the top class `at`. */
static inline void NAMED(pc_row_sums_add_term)(NUMBER z, uint32_t j, uint32_t at,
                                               double largest, REAL *sum, REAL *square) {
  const REAL term = j == at ? 0 : TERM(z, largest);
  *sum += term;
  *square += term * term;
}

/* The narrow row of the thread. */
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
  for (uint32_t j = 0; j < sums->classes; j++)
    NAMED(pc_row_sums_add_term)(z[j], j, at, largest, &sum, &square);
  pc_row_sums_finish(sums, mine, row, (double)sum * UNIT, (double)square * (UNIT * UNIT),
                     largest, (double)z[label] - largest, at, (uint32_t)label);
}

/* Wide rows, second phase: the sums of each thread. */
static inline void NAMED(pc_row_sums_add)(const pc_row_sums *sums,
                                          const pc_row_sums_thread *mine, uint64_t first,
                                          uint32_t step) {
  const uint64_t row = pc_row_sums_wide_row(mine, first, step);
  const NUMBER *z = (const NUMBER *)sums->scores + row * sums->classes;
  pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  uint32_t at, j = mine->thread % PC_ROW_SUMS_LANES;
  REAL sum = 0, square = 0;
  NUMBER here[LOADS];
  if (row >= sums->rows)
    return;
  const double largest = pc_row_sums_largest(wide, mine->thread, &at);
  for (; j + (LOADS - 1) * PC_ROW_SUMS_LANES < sums->classes; j += LOADS * PC_ROW_SUMS_LANES) {
    PC_GPU_UNROLL(LOADS)
    for (uint32_t i = 0; i < LOADS; i++)
      here[i] = z[j + i * PC_ROW_SUMS_LANES];
    PC_GPU_UNROLL(LOADS)
    for (uint32_t i = 0; i < LOADS; i++)
      NAMED(pc_row_sums_add_term)
    (here[i], j + i * PC_ROW_SUMS_LANES, at, largest, &sum, &square);
  }
  for (; j < sums->classes; j += PC_ROW_SUMS_LANES)
    NAMED(pc_row_sums_add_term)(z[j], j, at, largest, &sum, &square);
  wide->sum[mine->thread] = (double)sum * UNIT;
  wide->square[mine->thread] = (double)square * (UNIT * UNIT);
  if (mine->thread % PC_ROW_SUMS_LANES == 0) {
    wide->row_top[pc_row_sums_slot(mine, step)] = largest;
    wide->row_at[pc_row_sums_slot(mine, step)] = at;
  }
}
