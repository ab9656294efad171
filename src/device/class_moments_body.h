/* Bins of the probability of every class with squares, scores of hits and a threshold, for rows of
 * logits: the body of the kernels pc_class_moments_*.
 *
 * The probabilities, the strips of rows and the threads are those of class_bins_body.h.  A thread adds
 * the scores of the first cell of its class in registers, those of other cells at once into the
 * results.  All sums are integers, as those of machines/grid_every_class.c, so that any number of
 * blocks and any order give the bits of the CPU.
 *
 * Edge cases:
 *   1. rows that the host must check, and threads without a class: as class_bins_body.h.
 *   2. a grid without cuts has one cell, for all scores.
 * Cost: about 45 double operations for each logit, and six additions to the results for each score
 * beyond the first cell. */
#ifndef PC_CLASS_MOMENTS_BODY_H
#define PC_CLASS_MOMENTS_BODY_H

#include "device/class_bins_body.h"
#include "device/class_moments.h"

/* The sums of a thread in the first cell of its class. */
typedef struct pc_class_moments_first {
  uint64_t count, score, square, hit;
} pc_class_moments_first;

/* A number of the first cell in units of the last bit of `anchor`. */
static inline uint64_t pc_class_moments_units(double value, double anchor) {
  return pc_double_bits(value + anchor) - pc_double_bits(anchor);
}

static inline void pc_class_moments_word(uint64_t *words, uint32_t word, uint64_t units) {
  const uint64_t low = units & ((UINT64_C(1) << PC_CLASS_BINS_HIGH) - 1);
  const uint64_t high = units >> PC_CLASS_BINS_HIGH;
  if (low != 0)
    pc_gpu_add_64(&words[word], low);
  if (high != 0)
    pc_gpu_add_64(&words[word + 1], high);
}

/* Adds sums to a cell of the results. */
static inline void pc_class_moments_publish(const pc_class_moments *moments, uint32_t cell,
                                            const pc_class_moments_first *sums) {
  uint64_t *words = moments->bins.words + (uint64_t)cell * PC_CLASS_MOMENTS_WORDS;
  if (sums->count != 0)
    pc_gpu_add_64(&words[PC_CLASS_MOMENTS_COUNT], sums->count);
  pc_class_moments_word(words, PC_CLASS_MOMENTS_SCORE, sums->score);
  pc_class_moments_word(words, PC_CLASS_MOMENTS_SQUARE, sums->square);
  pc_class_moments_word(words, PC_CLASS_MOMENTS_HIT, sums->hit);
}

/* Adds a score of the class of a thread. */
static inline void pc_class_moments_score(const pc_class_moments *moments, uint32_t class_index,
                                          double score, uint32_t hit,
                                          const pc_class_bins_shared *shared,
                                          pc_class_moments_first *first) {
  const pc_class_bins_grid *grid = &moments->bins.grid[0];
  const double square = score * score;
  if (!(score > moments->above))
    return;
  if (score <= grid->last) {
    const uint64_t units = pc_class_moments_units(score, grid->anchor);
    first->count += 1 + ((uint64_t)hit << 32);
    first->score += units;
    first->square += pc_class_moments_units(square, grid->anchor);
    first->hit += hit ? units : 0;
  } else if (score <= 1.0) { /* edge case 1 */
    const uint64_t units = (uint64_t)(int64_t)(score * 0x1p53);
    const pc_class_moments_first one = {.count = 1 + ((uint64_t)hit << 32),
                                        .score = units,
                                        .square = (uint64_t)(int64_t)(square * 0x1p53),
                                        .hit = hit ? units : 0};
    pc_class_moments_publish(moments, pc_class_bins_find(grid, class_index, score, shared),
                             &one);
  }
}

/* After the last strip: adds the sums of the first cell. */
static inline void pc_class_moments_end(const pc_class_moments *moments,
                                        const pc_class_bins_thread *mine,
                                        const pc_class_moments_first *first) {
  if (mine->active)
    pc_class_moments_publish(moments, mine->class_index * (moments->bins.grid[0].cut_count + 1),
                             first);
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/class_moments_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/class_moments_template.h"
#undef NAMED
#undef NUMBER

#endif
