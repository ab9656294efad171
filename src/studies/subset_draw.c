/* Formula:  a subset of n out of N rows by Floyd's method: for j = N - n .. N - 1 draw t from
 *           0 .. j; take t, or j if t is taken already.  Above N / 2 the rows left out are drawn
 *           instead.
 * Edge cases:
 *   (1) all rows, or none, need no draw;
 *   (2) t is the upper half of the product of 64 random bits and j + 1: no value is favoured by
 *       more than 2^-32.
 * Source:   Bentley & Floyd, A sample of brilliance, CACM 1987.
 * Cost:     O(n + N / 64). */
#include "base/assert.h"
#include "base/float_bits.h"
#include "studies/subset_metrics.h"

size_t pc_subset_words(size_t rows) {
  return rows / 64 + 1;
}

/* A number below `bound`, by the product's upper half. */
static uint64_t subset_below(const pc_rng *rng, uint64_t index, uint64_t bound) {
  uint32_t block[4];
  pc_rng_block(rng, index, block);
  const uint64_t bits = (uint64_t)block[0] << 32 | block[1];
  return (uint64_t)(((pc_uint128)bits * bound) >> 64);
}

void pc_subset_draw(const pc_rng *rng, size_t rows, size_t count, uint64_t *marks,
                    uint32_t *out) {
  pc_assert(count <= rows);
  const int inverse = count > rows / 2;
  const size_t drawn = inverse ? rows - count : count, words = pc_subset_words(rows);
  for (size_t j = rows - drawn; j < rows; j++) {
    size_t t = (size_t)subset_below(rng, j, (uint64_t)j + 1);
    if (marks[t / 64] >> (t % 64) & 1)
      t = j;
    marks[t / 64] |= UINT64_C(1) << (t % 64);
  }
  for (size_t w = 0; w < words; w++) {
    uint64_t word = inverse ? ~marks[w] : marks[w];
    if (inverse && w + 1 == words)
      word &= (UINT64_C(1) << (rows % 64)) - 1;
    for (; word != 0; word &= word - 1)
      *out++ = (uint32_t)(w * 64 + (size_t)__builtin_ctzll(word));
    marks[w] = 0;
  }
}
