/* LSD radix sort on the bits of doubles.  Only the bits between the lowest and the highest in
 * which keys differ are used, at most 11 in a pass; a pass in which all keys agree is skipped.
 * Doubles sort like integers once the bits of negative numbers are flipped.  -0 sorts before
 * 0. */
#include "kernels/sort.h"

#include <stdint.h>
#include <string.h>

#include "base/assert.h"

#define SORT_BITS 11
#define SORT_BUCKETS (1u << SORT_BITS)
#define SORT_SMALL 64
#define SORT_AHEAD 3 /* digits counted in one pass */

static uint64_t sort_key(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits ^ ((bits >> 63) != 0 ? UINT64_MAX : (uint64_t)1 << 63);
}

static void sort_insertion(double *keys, double *payload, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const double key = keys[i], carried = payload == NULL ? 0.0 : payload[i];
    const uint64_t bits = sort_key(key);
    size_t j = i;
    for (; j > 0 && sort_key(keys[j - 1]) > bits; j--) {
      keys[j] = keys[j - 1];
      if (payload != NULL)
        payload[j] = payload[j - 1];
    }
    keys[j] = key;
    if (payload != NULL)
      payload[j] = carried;
  }
}

/* Digits of keys: `passes` of them, `bits` wide, from bit `low` on. */
typedef struct sort_digits {
  unsigned low, bits, passes;
} sort_digits;

static sort_digits sort_digits_of(const double *keys, size_t count) {
  const uint64_t first = sort_key(keys[0]);
  uint64_t differ = 0;
  for (size_t i = 1; i < count; i++)
    differ |= sort_key(keys[i]) ^ first;
  sort_digits digits = {0, 1, 0};
  if (differ == 0)
    return digits;
  while ((differ >> digits.low & 1) == 0)
    digits.low++;
  unsigned width = 1;
  while (differ >> digits.low >> (width - 1) > 1)
    width++;
  digits.passes = (width + SORT_BITS - 1) / SORT_BITS;
  digits.bits = (width + digits.passes - 1) / digits.passes;
  return digits;
}

/* Counts the values of SORT_AHEAD digits from `pass` on; the last digits may be beyond the
 * highest. */
static void sort_count(const double *keys, size_t count, const sort_digits *digits,
                       unsigned pass, size_t found[SORT_AHEAD][SORT_BUCKETS]) {
  const uint64_t mask = ((uint64_t)1 << digits->bits) - 1;
  const unsigned shift = digits->low + pass * digits->bits;
  memset(found, 0, SORT_AHEAD * sizeof found[0]);
  for (size_t i = 0; i < count; i++) {
    const uint64_t key = sort_key(keys[i]) >> shift;
    found[0][key & mask]++;
    found[1][key >> digits->bits & mask]++;
    found[2][key >> digits->bits >> digits->bits & mask]++;
  }
}

/* Turns counts into start positions; 0 if all keys have the same digit. */
static int sort_positions(size_t count, size_t buckets, size_t *position) {
  size_t begin = 0;
  for (size_t b = 0; b < buckets; b++) {
    const size_t here = position[b];
    if (here == count)
      return 0;
    position[b] = begin;
    begin += here;
  }
  return 1;
}

static void sort_scatter(const double *keys, const double *payload, double *keys_out,
                         double *payload_out, size_t count, unsigned shift, size_t buckets,
                         size_t *position) {
  for (size_t i = 0; i < count; i++) {
    const size_t to = position[(sort_key(keys[i]) >> shift) & (buckets - 1)]++;
    keys_out[to] = keys[i];
    if (payload != NULL)
      payload_out[to] = payload[i];
  }
}

void pc_sort_pairs(double *keys, double *payload, double *key_scratch, double *payload_scratch,
                   size_t count) {
  size_t position[SORT_AHEAD][SORT_BUCKETS];
  if (count <= SORT_SMALL) {
    sort_insertion(keys, payload, count);
    return;
  }
  const sort_digits digits = sort_digits_of(keys, count);
  const size_t buckets = (size_t)1 << digits.bits;
  double *from = keys, *to = key_scratch, *carried = payload, *carried_to = payload_scratch;
  for (unsigned pass = 0; pass < digits.passes; pass++) {
    const unsigned shift = digits.low + pass * digits.bits;
    size_t *here = position[pass % SORT_AHEAD];
    if (pass % SORT_AHEAD == 0)
      sort_count(from, count, &digits, pass, position);
    if (!sort_positions(count, buckets, here))
      continue;
    sort_scatter(from, carried, to, carried_to, count, shift, buckets, here);
    double *swap = from;
    from = to;
    to = swap;
    swap = carried;
    carried = carried_to;
    carried_to = swap;
  }
  if (from != keys) {
    memcpy(keys, from, count * sizeof *keys);
    if (payload != NULL)
      memcpy(payload, carried, count * sizeof *payload);
  }
  pc_assert(pc_is_ascending(keys, count, 0));
}

void pc_sort(double *values, double *scratch, size_t count) {
  pc_sort_pairs(values, NULL, scratch, NULL, count);
}
