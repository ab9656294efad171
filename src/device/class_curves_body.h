/* Sorted scores of every class: the body of the kernels pc_class_counts_* and pc_class_segments_*.
 *
 * The probabilities, the strips of rows and the threads are those of class_bins_body.h.  The first pass
 * counts rows in the buckets of curve/class_counts.h; the second adds up the scores of segments, which
 * are ranges of buckets, and lists those of segments that contain an edge, as curve/class_sums.h.  All
 * sums are integers, so that any number of blocks and any order give the bits of the CPU.
 *
 * Edge cases:
 *   1. rows that the host must check, and threads without a class: as class_bins_body.h.
 *   2. more scores in wanted segments than there is room for: they are only counted.
 * Cost: about 40 double operations for each score, and one addition to the results in the first pass, two
 * to six in the second; runs of scores in one segment are added up in registers.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_CLASS_CURVES_BODY_H
#define PC_CLASS_CURVES_BODY_H

#include "device/class_bins_body.h"
#include "device/class_curves.h"

/* What a thread has added up for one segment; counts stay below 2^32. */
typedef struct pc_class_curves_sums {
  uint32_t segment, hits;
  uint64_t low, high, hit_low, hit_high;
} pc_class_curves_sums;

static inline void pc_class_curves_clear(uint32_t segment, pc_class_curves_sums *sums) {
  sums->segment = segment;
  sums->hits = 0;
  sums->low = sums->high = sums->hit_low = sums->hit_high = 0;
}

/* As bin_index_class_block of kernels/bin_index.c. */
static inline uint32_t pc_class_curves_bucket(const pc_class_bucket_rule *rule, double score) {
  const double some = score > rule->base[0] ? score : rule->base[0];
  const int piece = some < rule->base[1] ? 0 : some < rule->base[2] ? 1 : 2;
  const uint64_t bits = pc_double_bits(some), base = pc_double_bits(rule->base[piece]);
  const uint32_t shift = rule->shift[piece];
  const uint64_t at = rule->first[piece] - (base >> shift) + (bits >> shift);
  if (score < 0 || !(score > 0))
    return score < 0 ? 0 : 1;
  return (uint32_t)(score < 1 ? at : score > 1 ? rule->one + 1 : rule->one);
}

/* First pass: counts a score. */
static inline void pc_class_curves_count(const pc_class_curves *curves, uint32_t class_index,
                                         double score) {
  const uint32_t bucket = pc_class_curves_bucket(&curves->rule, score);
  if (bucket < curves->buckets) /* edge case 1 */
    pc_gpu_add_32(&curves->counts[(uint64_t)class_index * curves->buckets + bucket], 1);
}

static inline void pc_class_curves_add_word(uint64_t *word, uint64_t value) {
  if (value != 0)
    pc_gpu_add_64(word, value);
}

/* Moves what a thread has added up to the results. */
static inline void pc_class_curves_publish(const pc_class_curves *curves,
                                           const pc_class_curves_sums *sums) {
  uint64_t *words = curves->words + (uint64_t)sums->segment * PC_CLASS_CURVES_WORDS;
  pc_class_curves_add_word(&words[PC_CLASS_CURVES_SCORE], sums->low);
  pc_class_curves_add_word(&words[PC_CLASS_CURVES_SCORE_HIGH], sums->high);
  pc_class_curves_add_word(&words[PC_CLASS_CURVES_HITS], sums->hits);
  pc_class_curves_add_word(&words[PC_CLASS_CURVES_HIT], sums->hit_low);
  pc_class_curves_add_word(&words[PC_CLASS_CURVES_HIT_HIGH], sums->hit_high);
}

/* Second pass: adds a score to its segment. */
static inline void pc_class_curves_add(const pc_class_curves *curves, uint32_t class_index,
                                       double score, uint32_t hit, pc_class_curves_sums *sums) {
  const uint32_t bucket = pc_class_curves_bucket(&curves->rule, score);
  if (bucket >= curves->buckets) /* edge case 1 */
    return;
  const uint32_t at = curves->segment[(uint64_t)class_index * curves->buckets + bucket];
  const uint32_t segment = curves->first[class_index] + at % PC_CLASS_CURVES_WANTED;
  const uint64_t units = (uint64_t)(int64_t)(score * 0x1p61);
  if (segment != sums->segment) {
    pc_class_curves_publish(curves, sums);
    pc_class_curves_clear(segment, sums);
  }
  sums->low += units & UINT32_MAX;
  sums->high += units >> 32;
  sums->hits += hit;
  sums->hit_low += hit ? units & UINT32_MAX : 0;
  sums->hit_high += hit ? units >> 32 : 0;
  if (at < PC_CLASS_CURVES_WANTED)
    return;
  const uint32_t place = pc_gpu_count_32(curves->listed);
  if (place < curves->room) { /* edge case 2 */
    curves->scores[place] = score;
    curves->places[place] = 2 * class_index + hit;
  }
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/class_curves_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/class_curves_template.h"
#undef NAMED
#undef NUMBER

#endif
