/* The phase for one type of logits, for class_bins_body.h only: included with NUMBER float and
 * NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* The score of the thread's class in a row of the strip. */
static inline double NAMED(pc_class_bins_probability)(const pc_class_bins *bins,
                                                      const NUMBER *z, uint32_t row,
                                                      const pc_class_bins_shared *shared) {
  const double stored = (double)z[(uint64_t)row * bins->classes];
  if (bins->form != PC_ROW_LOGITS)
    return pc_prob_rows_scaled(pc_prob_rows_value(stored, bins->form), shared->total[row]);
  const double term = pc_softmax_rows_term(stored, shared->largest[row]);
  return bins->classes <= PC_CLASS_BINS_NARROW ? term / shared->total[row]
                                               : term * shared->total[row];
}

/* Third phase, for each strip: the thread adds the scores of its class. */
static inline void NAMED(pc_class_bins_add)(const pc_class_bins *bins,
                                            pc_class_bins_thread *mine, uint64_t first,
                                            pc_class_bins_shared *shared) {
  const uint64_t left = bins->rows - first;
  const uint32_t rows = left < PC_CLASS_BINS_THREADS ? (uint32_t)left : PC_CLASS_BINS_THREADS;
  const NUMBER *z = (const NUMBER *)bins->scores + first * bins->classes + mine->class_index;
  double score[PC_CLASS_BINS_UNROLL];
  if (!mine->active)
    return;
  for (uint32_t r = mine->thread / pc_class_bins_width(bins); r < rows;
       r += PC_CLASS_BINS_UNROLL * mine->step) {
    PC_GPU_UNROLL(4)
    for (uint32_t i = 0; i < PC_CLASS_BINS_UNROLL; i++) {
      const uint32_t row = r + i * mine->step;
      score[i] = NAMED(pc_class_bins_probability)(bins, z, row < rows ? row : r, shared);
    }
    PC_GPU_UNROLL(4)
    for (uint32_t i = 0; i < PC_CLASS_BINS_UNROLL; i++) {
      const uint32_t row = r + i * mine->step;
      if (row < rows)
        pc_class_bins_score(bins, mine, score[i],
                            shared->label[row] == (int32_t)mine->class_index, shared);
    }
  }
}
