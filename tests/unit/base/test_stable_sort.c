#include "../unit.h"

#include "base/rng.h"

#define SORT_MAX 1000

typedef struct sort_item {
  int key;
  size_t position; /* before sorting */
} sort_item;

#define PC_SORT_NAME sort_items
#define PC_SORT_TYPE sort_item
#define PC_SORT_CONTEXT int
#define PC_SORT_IN_ORDER(sign, a, b) ((sign) * (a)->key <= (sign) * (b)->key)
#include "base/stable_sort.h"

TEST(sorts_and_keeps_the_order_of_equal_items) {
  static const size_t counts[] = {0, 1, 2, 3, 7, 64, 65, 999, SORT_MAX};
  sort_item items[SORT_MAX], spare[SORT_MAX];
  for (size_t c = 0; c < UNIT_COUNT(counts); c++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const pc_rng rng = {c, 0};
      for (size_t i = 0; i < counts[c]; i++)
        items[i] = (sort_item){(int)(pc_rng_uniform(&rng, i) * 20), i};
      sort_items(sign, items, spare, counts[c]);
      for (size_t i = 1; i < counts[c]; i++) {
        assert_true(sign * items[i - 1].key <= sign * items[i].key);
        assert_true(items[i - 1].key != items[i].key ||
                    items[i - 1].position < items[i].position);
      }
    }
}
