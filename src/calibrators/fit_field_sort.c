/* The order of the rows of merged samples and lists (fit_tally.h). */
#include <string.h>

#include "calibrators/fit_tally.h"

/* An order of rows: by key, then by their bytes. */
static int field_row_before(const pc_fit_field *field, size_t a, size_t b) {
  const double *rows = field->items;
  if (field->kind == PC_FIT_SAMPLE && field->keys[a] != field->keys[b])
    return field->keys[a] < field->keys[b];
  return memcmp(rows + a * field->width, rows + b * field->width, field->width * sizeof *rows) <
         0;
}

static void field_swap_rows(pc_fit_field *field, size_t a, size_t b) {
  double *left = (double *)field->items + a * field->width;
  double *right = (double *)field->items + b * field->width;
  for (size_t i = 0; i < field->width; i++) {
    const double kept = left[i];
    left[i] = right[i];
    right[i] = kept;
  }
  if (field->kind == PC_FIT_SAMPLE) {
    const uint64_t key = field->keys[a];
    field->keys[a] = field->keys[b];
    field->keys[b] = key;
  }
}

/* Moves row `at` of a heap of `count` rows down to its place. */
static void field_sink_row(pc_fit_field *field, size_t at, size_t count) {
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && field_row_before(field, child, child + 1))
      child++;
    if (!field_row_before(field, at, child))
      return;
    field_swap_rows(field, at, child);
    at = child;
  }
}

/* A heap sort, which needs no memory. */
void pc_fit_field_sort_rows(pc_fit_field *field) {
  for (size_t i = field->count / 2; i-- > 0;)
    field_sink_row(field, i, field->count);
  for (size_t left = field->count; left-- > 1;) {
    field_swap_rows(field, 0, left);
    field_sink_row(field, 0, left);
  }
}
