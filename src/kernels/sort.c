/* LSD radix sort on the bits of doubles, 11 bits a pass; passes in which all keys agree are
 * left out.  The bits of a double order like an integer once negative numbers are flipped.
 * -0 sorts before 0. */
#include "kernels/sort.h"

#include <stdint.h>
#include <string.h>

#define SORT_BITS 11
#define SORT_BUCKETS (1u << SORT_BITS)
#define SORT_PASSES 6
#define SORT_SMALL 64

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

static void sort_count(const double *keys, size_t count,
                       size_t tally[SORT_PASSES][SORT_BUCKETS]) {
  memset(tally, 0, sizeof(size_t) * SORT_PASSES * SORT_BUCKETS);
  for (size_t i = 0; i < count; i++) {
    const uint64_t bits = sort_key(keys[i]);
    for (unsigned pass = 0; pass < SORT_PASSES; pass++)
      tally[pass][(bits >> (pass * SORT_BITS)) & (SORT_BUCKETS - 1)]++;
  }
}

/* Turns counts into first positions; 0 when one bucket holds everything. */
static int sort_positions(size_t *tally, size_t count) {
  size_t position = 0;
  for (size_t b = 0; b < SORT_BUCKETS; b++) {
    const size_t here = tally[b];
    if (here == count)
      return 0;
    tally[b] = position;
    position += here;
  }
  return 1;
}

static void sort_scatter(const double *keys, const double *payload, double *keys_out,
                         double *payload_out, size_t count, unsigned shift, size_t *position) {
  for (size_t i = 0; i < count; i++) {
    const size_t to = position[(sort_key(keys[i]) >> shift) & (SORT_BUCKETS - 1)]++;
    keys_out[to] = keys[i];
    if (payload != NULL)
      payload_out[to] = payload[i];
  }
}

void pc_sort_pairs(double *keys, double *payload, double *key_scratch, double *payload_scratch,
                   size_t count) {
  size_t tally[SORT_PASSES][SORT_BUCKETS];
  if (count <= SORT_SMALL) {
    sort_insertion(keys, payload, count);
    return;
  }
  sort_count(keys, count, tally);
  double *from = keys, *to = key_scratch, *carried = payload, *carried_to = payload_scratch;
  for (unsigned pass = 0; pass < SORT_PASSES; pass++) {
    if (!sort_positions(tally[pass], count))
      continue;
    sort_scatter(from, carried, to, carried_to, count, pass * SORT_BITS, tally[pass]);
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
}

void pc_sort(double *values, double *scratch, size_t count) {
  pc_sort_pairs(values, NULL, scratch, NULL, count);
}
