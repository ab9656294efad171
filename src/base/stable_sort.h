/* Template: a stable merge sort.  Include it once for each sort, after defining
 *
 *   PC_SORT_NAME                   name of the function
 *   PC_SORT_TYPE                   type of an element
 *   PC_SORT_CONTEXT                type of the context, usually a pointer to const
 *   PC_SORT_IN_ORDER(context, a, b)  true if *a may be placed before *b
 *
 * It defines
 *
 *   static void NAME(CONTEXT context, TYPE *items, TYPE *spare, size_t count)
 *
 * which sorts items[0 .. count - 1]; spare has the same length.  Cost: n log2 n comparisons, inlined.
 * The macros are undefined at the end. */
#include <stddef.h>
#include <string.h>

static void PC_SORT_NAME(PC_SORT_CONTEXT context, PC_SORT_TYPE *items, PC_SORT_TYPE *spare,
                         size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      const size_t middle = low + width < count ? low + width : count;
      const size_t high = low + 2 * width < count ? low + 2 * width : count;
      size_t a = low, b = middle;
      for (size_t out = low; out < high; out++) {
        const int left =
            a < middle && (b >= high || PC_SORT_IN_ORDER(context, &items[a], &items[b]));
        spare[out] = left ? items[a++] : items[b++];
      }
    }
    memcpy(items, spare, count * sizeof *items);
  }
}

#undef PC_SORT_NAME
#undef PC_SORT_TYPE
#undef PC_SORT_CONTEXT
#undef PC_SORT_IN_ORDER
