/* Template: a stable sort, which inserts in runs of PC_SORT_RUN and then merges.  Include it
 * once for each sort, after defining
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
 * which sorts items[0 .. count - 1]; spare has the same length.  Cost: n log2 n comparisons,
 * inlined.  The macros are undefined at the end. */
#include <stddef.h>
#include <string.h>

#define PC_SORT_RUN ((size_t)8)

static void PC_SORT_NAME(PC_SORT_CONTEXT context, PC_SORT_TYPE *items, PC_SORT_TYPE *spare,
                         size_t count) {
  PC_SORT_TYPE *from = items, *to = spare;
  for (size_t i = 1; i < count; i++) {
    const size_t low = i - i % PC_SORT_RUN;
    const PC_SORT_TYPE item = items[i];
    size_t at = i;
    for (; at > low && !PC_SORT_IN_ORDER(context, &items[at - 1], &item); at--)
      items[at] = items[at - 1];
    items[at] = item;
  }
  for (size_t width = PC_SORT_RUN; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      const size_t middle = low + width < count ? low + width : count;
      const size_t high = low + 2 * width < count ? low + 2 * width : count;
      size_t a = low, b = middle;
      for (size_t out = low; out < high; out++) {
        const int left =
            a < middle && (b >= high || PC_SORT_IN_ORDER(context, &from[a], &from[b]));
        to[out] = left ? from[a++] : from[b++];
      }
    }
    PC_SORT_TYPE *swap = from;
    from = to;
    to = swap;
  }
  if (from != items)
    memcpy(items, from, count * sizeof *items);
}

#undef PC_SORT_RUN
#undef PC_SORT_NAME
#undef PC_SORT_TYPE
#undef PC_SORT_CONTEXT
#undef PC_SORT_IN_ORDER
