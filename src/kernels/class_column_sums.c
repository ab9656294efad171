/* Sums for every class: see class_column_sums.h.  They are integers, so all variants give the
 * same bits. */
#include "kernels/class_column_sums.h"

#include "kernels/lane_math.h"
#include "kernels/row_kernels.h"
#include "kernels/variant.h"

/* Adds one score to its class.  S: with squares, K: counts scores. */
#define CLASS_COLUMN_STEP(S, K, j, l)                        \
  const double here = scores[j];                             \
  const int inside = here <= last && (!(K) || here > above); \
  const double counted = inside ? here : 0.0;                \
  score[j] += pc_double_bits(counted + anchor);              \
  if (S)                                                     \
    square[j] += pc_double_bits(counted * counted + anchor); \
  if (K)                                                     \
    kept[j] += inside ? UINT64_C(1) : UINT64_C(0);           \
  beyond[l] += here > last ? UINT64_C(1) : UINT64_C(0)

#define CLASS_COLUMN_ADD(name, S, K)                                             \
  static size_t name(const double *restrict scores, size_t count,                \
                     const pc_class_column_rule *rule, uint64_t *restrict score, \
                     uint64_t *restrict square, uint64_t *restrict kept) {       \
    const double last = rule->last, above = rule->above, anchor = rule->anchor;  \
    uint64_t beyond[PC_LANES] = {0}, total = 0;                                  \
    const size_t whole = count / PC_LANES * PC_LANES;                            \
    (void)above, (void)square, (void)kept;                                       \
    for (size_t i = 0; i < whole; i += PC_LANES)                                 \
      for (size_t l = 0; l < PC_LANES; l++) {                                    \
        CLASS_COLUMN_STEP(S, K, i + l, l);                                       \
      }                                                                          \
    for (size_t i = whole; i < count; i++) {                                     \
      CLASS_COLUMN_STEP(S, K, i, i - whole);                                     \
    }                                                                            \
    for (size_t l = 0; l < PC_LANES; l++)                                        \
      total += beyond[l];                                                        \
    return (size_t)total;                                                        \
  }

CLASS_COLUMN_ADD(class_column_add_scores, 0, 0)
CLASS_COLUMN_ADD(class_column_add_squares, 1, 0)
CLASS_COLUMN_ADD(class_column_add_kept, 0, 1)
CLASS_COLUMN_ADD(class_column_add_all, 1, 1)

static size_t class_column_add(const double *scores, size_t count,
                               const pc_class_column_rule *rule,
                               const pc_class_column_sums *sums) {
  if (sums->kept != NULL && sums->square != NULL)
    return class_column_add_all(scores, count, rule, sums->score, sums->square, sums->kept);
  if (sums->kept != NULL)
    return class_column_add_kept(scores, count, rule, sums->score, NULL, sums->kept);
  if (sums->square != NULL)
    return class_column_add_squares(scores, count, rule, sums->score, sums->square, NULL);
  return class_column_add_scores(scores, count, rule, sums->score, NULL, NULL);
}

const pc_class_column_kernels PC_VARIANT_TABLE(pc_class_column_kernels) = {
    .add = class_column_add,
};
