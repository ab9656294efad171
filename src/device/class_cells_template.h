/* The phase for one type of numbers, for class_cells_body.h only: included with NUMBER float and NAMED(x)
 * x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* For each strip, after pc_class_cells_load: the thread adds the scores of its class. */
static inline void NAMED(pc_class_cells_add)(const pc_class_cells *cells,
                                             const pc_class_bins_thread *mine, uint64_t first,
                                             const pc_class_cells_shared *shared,
                                             pc_class_cells_sums *sums) {
  const pc_class_bins *bins = &cells->bins;
  const uint64_t left = bins->rows - first;
  const uint32_t rows = left < PC_CLASS_BINS_THREADS ? (uint32_t)left : PC_CLASS_BINS_THREADS;
  const NUMBER *z = (const NUMBER *)bins->scores + first * bins->classes + mine->class_index;
  if (!mine->active)
    return;
  for (uint32_t r = mine->thread / pc_class_bins_width(bins); r < rows; r += mine->step)
    pc_class_cells_score(cells, mine->class_index, r,
                         NAMED(pc_class_bins_probability)(bins, z, r, &shared->bins), shared,
                         sums);
}
