/* Converts rows of samples of several numbers at once, x_1 .. x_m, and as many targets y, to the
 * distances that the energy score is made of.
 *
 * Formula:  1/(2 m (m-1)) sum_ij |x_i - x_j|, 1/(2 m^2) sum_ij |x_i - x_j|, (1/m) sum_i |x_i - y|;
 *           |.|: Euclidean distance
 * Edge cases, after those of weights (row_check.h):
 *  1. a target or a number of a sample is NaN: missing, refused, or skipped and counted.
 *  2. a number beyond 1e100: refused.
 *  3. samples in any order: sorted, so that sums are the same to the last bit.
 * Cost: O(m^2 d) for m samples of d numbers. */
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "data/row_convert.h"

/* Samples of one row, one after the other. */
typedef struct vectors_row {
  double *numbers;
  size_t samples, dimensions;
} vectors_row;

static double *vectors_at(const vectors_row *row, size_t i) {
  return row->numbers + i * row->dimensions;
}

/* True if sample i comes before sample j: the first numbers that differ decide. */
static int vectors_before(const vectors_row *row, size_t i, size_t j) {
  const double *a = vectors_at(row, i), *b = vectors_at(row, j);
  for (size_t k = 0; k < row->dimensions; k++)
    if (a[k] != b[k])
      return a[k] < b[k];
  return 0;
}

static void vectors_swap(const vectors_row *row, size_t i, size_t j) {
  double *a = vectors_at(row, i), *b = vectors_at(row, j);
  for (size_t k = 0; k < row->dimensions; k++) {
    const double kept = a[k];
    a[k] = b[k];
    b[k] = kept;
  }
}

/* Moves sample i down the heap of the first `count` samples. */
static void vectors_sift(const vectors_row *row, size_t i, size_t count) {
  for (size_t child; (child = 2 * i + 1) < count; i = child) {
    child += child + 1 < count && vectors_before(row, child, child + 1);
    if (!vectors_before(row, i, child))
      return;
    vectors_swap(row, i, child);
  }
}

/* Heap sort: qsort cannot know the number of dimensions. */
static void vectors_sort(const vectors_row *row) {
  for (size_t i = row->samples / 2; i > 0; i--)
    vectors_sift(row, i - 1, row->samples);
  for (size_t left = row->samples; left > 1; left--) {
    vectors_swap(row, 0, left - 1);
    vectors_sift(row, 0, left - 1);
  }
}

static double vectors_distance(const double *a, const double *b, size_t dimensions) {
  double sum = 0.0;
  for (size_t k = 0; k < dimensions; k++)
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sqrt(sum);
}

static void vectors_distances(const vectors_row *row, const double *target,
                              double out[PC_DISTANCES]) {
  const double m = (double)row->samples;
  double apart = 0.0, away = 0.0;
  for (size_t i = 0; i < row->samples; i++) {
    const double *x = vectors_at(row, i);
    for (size_t j = 0; j < i; j++)
      apart += vectors_distance(x, vectors_at(row, j), row->dimensions);
    away += vectors_distance(x, target, row->dimensions);
  }
  out[0] = apart / (m * (m - 1.0));
  out[1] = apart / (m * m);
  out[2] = away / m;
}

pcal_status pc_convert_vectors(pc_row_convert *convert, size_t begin, size_t count,
                               pcal_error *err) {
  const pcal_batch *batch = convert->batch;
  const size_t dimensions = batch->dimensions;
  const vectors_row numbers = {convert->scratch->scores_row, batch->columns / dimensions,
                               dimensions};
  pc_assert(batch->columns % dimensions == 0 && numbers.samples >= 2);
  for (size_t i = begin; i < begin + count; i++) {
    double *out = convert->scratch->probs + convert->kept * PC_DISTANCES;
    const double *target = pc_batch_targets(batch, i);
    pc_checked_row row;
    PC_TRY(pc_row_convert_begin(convert, i, &row, err));
    if (!row.missing && !convert->policy->unlabelled)
      PC_TRY(pc_row_check_targets(&row, target, dimensions, err));
    pc_row_convert_load_row(batch, i, numbers.numbers);
    if (!row.missing)
      PC_TRY(pc_convert_forecasts_check(&row, numbers.numbers, err));
    if (!row.missing) {
      vectors_sort(&numbers);
      vectors_distances(&numbers, convert->policy->unlabelled ? numbers.numbers : target, out);
    }
    pc_row_convert_end(convert, &row);
  }
  return PCAL_OK;
}
