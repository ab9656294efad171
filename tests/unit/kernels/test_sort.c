#include "kernels/sort.h"

#include <float.h>

#include "../unit.h"
#include "base/rng.h"

#define LONGEST 10000

static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 66, 1000, LONGEST};

/* How the keys of a test come about. */
typedef double (*key_maker)(size_t i);

static double key_any_bits(size_t i) {
  const pc_rng rng = {11, 1};
  const uint64_t bits = pc_rng_bits(&rng, i);
  double value;
  memcpy(&value, &bits, sizeof value);
  return isnan(value) ? (double)i : value;
}

static double key_probability(size_t i) {
  const pc_rng rng = {11, 2};
  return pc_rng_uniform(&rng, i);
}

static double key_signed_with_ties(size_t i) {
  const pc_rng rng = {11, 3};
  return (double)(int)(pc_rng_bits(&rng, i) % 17) / 4 - 2;
}

static double key_zeros(size_t i) {
  return i % 3 == 0 ? -0.0 : 0.0;
}

static double key_equal(size_t i) {
  (void)i;
  return 0.25;
}

static double key_ascending(size_t i) {
  return (double)i - 5000;
}

static double key_descending(size_t i) {
  return 5000 - (double)i;
}

/* Keys that differ in one digit of the radix sort, and in three: an odd number of passes. */
static double key_one_digit(size_t i) {
  return 1 + (double)(i * 7 % 2000) * 0x1p-52;
}

static double key_three_digits(size_t i) {
  return 1 + (double)(i * 104729 % 8000000) * 0x1p-46;
}

/* Floats: low bits that are all 0, and few exponents. */
static double key_float(size_t i) {
  return (double)(float)key_probability(i);
}

static double key_extreme(size_t i) {
  static const double ends[] = {INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 5e-324, -5e-324,
                                0.0,      -0.0,      DBL_MIN, -DBL_MIN, 1,      -1};
  return ends[i * 7 % UNIT_COUNT(ends)];
}

static const key_maker makers[] = {
    key_any_bits,   key_probability, key_signed_with_ties, key_zeros, key_equal,  key_ascending,
    key_descending, key_one_digit,   key_three_digits,     key_float, key_extreme};

typedef struct pair {
  double key;
  size_t place;
} pair;

/* By value, -0 before 0, then by place: what a stable sort gives. */
static int compare_pairs(const void *a, const void *b) {
  const pair *left = a, *right = b;
  if (left->key != right->key)
    return left->key < right->key ? -1 : 1;
  const int sign = (signbit(left->key) == 0) - (signbit(right->key) == 0);
  if (sign != 0)
    return sign;
  return left->place < right->place ? -1 : left->place > right->place;
}

typedef struct arrays {
  double keys[LONGEST], payload[LONGEST], key_scratch[LONGEST], payload_scratch[LONGEST];
  pair expected[LONGEST];
} arrays;

static void check(arrays *a, key_maker maker, size_t count) {
  for (size_t i = 0; i < count; i++) {
    a->keys[i] = maker(i);
    a->payload[i] = (double)i;
    a->expected[i] = (pair){a->keys[i], i};
  }
  qsort(a->expected, count, sizeof a->expected[0], compare_pairs);
  pc_sort_pairs(a->keys, a->payload, a->key_scratch, a->payload_scratch, count);
  for (size_t i = 0; i < count; i++) {
    assert_same(a->keys[i], a->expected[i].key);
    assert_same(a->payload[i], (double)a->expected[i].place);
  }
  for (size_t i = 0; i < count; i++)
    a->keys[i] = maker(i);
  pc_sort(a->keys, a->key_scratch, count);
  for (size_t i = 0; i < count; i++)
    assert_same(a->keys[i], a->expected[i].key);
}

TEST(agrees_with_a_comparison_sort) {
  arrays *a = malloc(sizeof *a);
  assert_non_null(a);
  for (size_t m = 0; m < UNIT_COUNT(makers); m++) {
    for (size_t s = 0; s < UNIT_COUNT(sizes); s++)
      check(a, makers[m], sizes[s]);
  }
  free(a);
}

TEST(touches_nothing_beyond_the_count) {
  for (size_t s = 0; s < UNIT_COUNT(sizes); s++) {
    const size_t count = sizes[s];
    double *keys = malloc((count + 1) * sizeof *keys);
    double *scratch = malloc((count + 1) * sizeof *scratch);
    assert_non_null(keys);
    assert_non_null(scratch);
    for (size_t i = 0; i < count; i++)
      keys[i] = key_probability(i);
    keys[count] = scratch[count] = -1;
    pc_sort(keys, scratch, count);
    assert_same(keys[count], -1);
    assert_same(scratch[count], -1);
    free(keys);
    free(scratch);
  }
}
