/* The phases for one type of logits, for temperature_rows_body.h only: included with NUMBER float
 * and NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

static inline const NUMBER *NAMED(pc_temperature_rows_scores)(const pc_temperature_rows *rows,
                                                              uint64_t item) {
  return (const NUMBER *)rows->scores + pc_temperature_rows_row(rows, item) * rows->classes;
}

/* Finishes a row: the gap of its label, or the word for the host. */
static inline void NAMED(pc_temperature_rows_end)(const pc_temperature_rows *rows,
                                                  uint64_t item, double largest,
                                                  const pc_temperature_rows_sums *sums) {
  const NUMBER *z = NAMED(pc_temperature_rows_scores)(rows, item);
  const int64_t label =
      pc_gpu_label(rows->labels, rows->label_size, pc_temperature_rows_row(rows, item));
  if (label < 0 || label >= (int64_t)rows->classes)
    rows->words[PC_TEMPERATURE_ROWS_ODD] = 1;
  pc_temperature_rows_finish(
      rows, item, sums,
      label < 0 || label >= (int64_t)rows->classes ? 0 : (double)z[label] - largest);
}

/* A narrow row. */
static inline void NAMED(pc_temperature_rows_narrow)(const pc_temperature_rows *rows,
                                                     uint64_t item,
                                                     const pc_temperature_rows_shared *shared) {
  const pc_temperature_rows_scales scales = pc_temperature_rows_scales_of(rows);
  NUMBER top = (NUMBER)-INFINITY, odd = 0;
  pc_temperature_rows_sums sums;
  uint32_t at = 0;
  if (item >= rows->rows)
    return;
  const NUMBER *z = NAMED(pc_temperature_rows_scores)(rows, item);
  for (uint32_t j = 0; j < rows->classes; j++) {
    const NUMBER here = z[j];
    at = here > top ? j : at;
    top = here > top ? here : top;
    odd += here - here;
  }
  if (odd != 0)
    rows->words[PC_TEMPERATURE_ROWS_ODD] = 1;
  pc_temperature_rows_clear(&sums);
  PC_GPU_UNROLL(2)
  for (uint32_t j = 0; j < rows->classes; j++)
    if (j != at)
      pc_temperature_rows_add_term(&scales, shared->roots, (double)z[j] - (double)top, &sums);
  NAMED(pc_temperature_rows_end)(rows, item, (double)top, &sums);
}

/* Wide rows, first phase: the largest logit of each thread. */
static inline void NAMED(pc_temperature_rows_look)(const pc_temperature_rows *rows,
                                                   uint32_t block, uint32_t thread,
                                                   pc_temperature_rows_shared *shared) {
  const uint64_t item = pc_temperature_rows_item(block, thread);
  uint32_t at;
  int odd;
  if (item >= rows->rows)
    return;
  const NUMBER *z = NAMED(pc_temperature_rows_scores)(rows, item);
  shared->top[thread] =
      (double)NAMED(pc_row_top)(z, rows->classes, thread % PC_TEMPERATURE_ROWS_LANES,
                                PC_TEMPERATURE_ROWS_LANES, &at, &odd);
  shared->at[thread] = at;
  if (odd)
    rows->words[PC_TEMPERATURE_ROWS_ODD] = 1;
}

/* The classes of a thread in a block of classes that has the largest logit or is incomplete. */
static inline void
NAMED(pc_temperature_rows_odd_block)(const NUMBER *z, uint32_t classes, uint32_t first,
                                     uint32_t at, double largest,
                                     const pc_temperature_rows_scales *scales,
                                     const double *roots, pc_temperature_rows_sums *sums) {
  for (uint32_t j = first; j < first + PC_TEMPERATURE_ROWS_BLOCK;
       j += PC_TEMPERATURE_ROWS_LANES)
    if (j < classes && j != at)
      pc_temperature_rows_add_term(scales, roots, (double)z[j] - largest, sums);
}

/* Second phase: the sums of each thread. */
static inline void NAMED(pc_temperature_rows_add)(const pc_temperature_rows *rows,
                                                  uint32_t block, uint32_t thread,
                                                  pc_temperature_rows_shared *shared) {
  const pc_temperature_rows_scales scales = pc_temperature_rows_scales_of(rows);
  const uint64_t item = pc_temperature_rows_item(block, thread);
  const uint32_t lane = thread % PC_TEMPERATURE_ROWS_LANES;
  const uint32_t whole = rows->classes / PC_TEMPERATURE_ROWS_BLOCK * PC_TEMPERATURE_ROWS_BLOCK;
  pc_temperature_rows_sums sums;
  uint32_t at;
  if (item >= rows->rows)
    return;
  const NUMBER *z = NAMED(pc_temperature_rows_scores)(rows, item);
  const double largest = pc_temperature_rows_largest(shared, thread, &at);
  const uint32_t odd = at / PC_TEMPERATURE_ROWS_BLOCK * PC_TEMPERATURE_ROWS_BLOCK;
  pc_temperature_rows_clear(&sums);
  NAMED(pc_temperature_rows_odd_block)
  (z, rows->classes, odd + lane, at, largest, &scales, shared->roots, &sums);
  if (odd < whole && whole < rows->classes)
    NAMED(pc_temperature_rows_odd_block)
  (z, rows->classes, whole + lane, at, largest, &scales, shared->roots, &sums);
  for (uint32_t b = lane; b < whole; b += PC_TEMPERATURE_ROWS_BLOCK) {
    if (b - lane == odd)
      continue;
    NUMBER here[PC_TEMPERATURE_ROWS_BLOCK / PC_TEMPERATURE_ROWS_LANES]; /* loaded at once */
    PC_GPU_UNROLL(8)
    for (uint32_t i = 0; i < PC_TEMPERATURE_ROWS_BLOCK / PC_TEMPERATURE_ROWS_LANES; i++)
      here[i] = z[b + i * PC_TEMPERATURE_ROWS_LANES];
    PC_GPU_UNROLL(8)
    for (uint32_t i = 0; i < PC_TEMPERATURE_ROWS_BLOCK / PC_TEMPERATURE_ROWS_LANES; i++)
      pc_temperature_rows_add_term(&scales, shared->roots, (double)here[i] - largest, &sums);
  }
  PC_GPU_UNROLL(8)
  for (int v = 0; v < PC_TEMPERATURE_ROWS_VALUES; v++)
    shared->sum[v][thread] = sums.value[v];
}

/* Last phase: the first thread of each row finishes it. */
static inline void NAMED(pc_temperature_rows_write)(const pc_temperature_rows *rows,
                                                    uint32_t block, uint32_t thread,
                                                    const pc_temperature_rows_shared *shared) {
  const uint64_t item = pc_temperature_rows_item(block, thread);
  pc_temperature_rows_sums sums;
  uint32_t at;
  if (item >= rows->rows || thread % PC_TEMPERATURE_ROWS_LANES != 0)
    return;
  PC_GPU_UNROLL(8)
  for (int v = 0; v < PC_TEMPERATURE_ROWS_VALUES; v++)
    sums.value[v] = shared->sum[v][thread];
  NAMED(pc_temperature_rows_end)
  (rows, item, pc_temperature_rows_largest(shared, thread, &at), &sums);
}

/* Lists a row if it belongs to the sample. */
static inline void NAMED(pc_sample_rows_find)(const pc_sample_rows *sample, uint64_t row) {
  const NUMBER *z = (const NUMBER *)sample->scores + row * sample->classes;
  if (row >= sample->rows)
    return;
  const int64_t label = pc_gpu_label(sample->labels, sample->label_size, row);
  if (label < 0 || label >= (int64_t)sample->classes) {
    sample->found->odd = 1;
    return;
  }
  uint64_t key = pc_sample_key_begin((int32_t)label);
  uint32_t j = (uint32_t)label;
  for (int i = 0; i < PC_SAMPLE_KEY_SCORES; i++) {
    key = pc_sample_key_add(key, (double)z[j]);
    j = j + 1 < sample->classes ? j + 1 : 0;
  }
  if (!pc_sample_key_within(sample->level, key))
    return;
  const uint32_t at = pc_gpu_count_32(&sample->found->count);
  if (at < PC_SAMPLE_ROWS_MAX) {
    sample->found->key[at] = key;
    sample->found->row[at] = (uint32_t)row;
  }
}
