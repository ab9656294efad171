/* The phases for one type of numbers, for class_curves_body.h only: included with NUMBER float and
 * NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* For each strip, after pc_class_bins_load: the thread counts the scores of its class; sums not NULL: it
 * adds them to segments. */
static inline void NAMED(pc_class_curves_strip)(const pc_class_curves *curves,
                                                const pc_class_bins_thread *mine,
                                                uint64_t first,
                                                const pc_class_bins_shared *shared,
                                                pc_class_curves_sums *sums) {
  const pc_class_bins *bins = &curves->bins;
  const uint64_t left = bins->rows - first;
  const uint32_t rows = left < PC_CLASS_BINS_THREADS ? (uint32_t)left : PC_CLASS_BINS_THREADS;
  const NUMBER *z = (const NUMBER *)bins->scores + first * bins->classes + mine->class_index;
  if (!mine->active)
    return;
  for (uint32_t r = mine->thread / pc_class_bins_width(bins); r < rows; r += mine->step) {
    const double score = NAMED(pc_class_bins_probability)(bins, z, r, shared);
    if (sums == NULL)
      pc_class_curves_count(curves, mine->class_index, score);
    else
      pc_class_curves_add(curves, mine->class_index, score,
                          shared->label[r] == (int32_t)mine->class_index, sums);
  }
}
