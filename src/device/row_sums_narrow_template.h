/* Narrow rows, for row_sums_body.h only: included with NUMBER float and NAMED(x) x_f32, with NUMBER double
 * and NAMED(x) x_f64, and for the fast precision with NUMBER float and NAMED(x) x_fast.
 * TERM(z, largest) is the exponential of z - largest, of type REAL. */

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
  for (uint32_t j = 0; j < sums->classes; j++) {
    const REAL term = j == at ? 0 : TERM(z[j], largest);
    sum += term;
    square += term * term;
  }
  pc_row_sums_finish(sums, mine, row, (double)sum, (double)square, largest,
                     (double)z[label] - largest, at, (uint32_t)label);
}
