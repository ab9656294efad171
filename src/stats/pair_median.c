/* Selection without storing the distances.
 *
 * Distances are not negative, so they are ordered like their bits.  Each pass over all pairs
 * divides the interval that still contains the median, as bits, into 2^13 cells and counts the
 * distances in each; the cell of the median becomes the next interval.  Once few pairs are left
 * in it, a last pass stores them.  Five passes narrow any interval to a single number.  Counts
 * are integers: the result depends neither on threads nor on the order of rows.
 *
 * Cost: usually three passes, at most six, each with one inner product of length K per pair. */
#include "stats/pair_median.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/float_bits.h"
#include "kernels/dispatch.h"
#include "kernels/pair_kernels.h"
#include "kernels/sort.h"

#define PAIR_MEDIAN_BITS 13
#define PAIR_MEDIAN_CELLS ((size_t)1 << PAIR_MEDIAN_BITS)
#define PAIR_MEDIAN_KEPT ((size_t)1 << 17)
#define PAIR_MEDIAN_PACKS 16 /* of a task */

typedef struct median_search {
  const pcal_env *env;
  const pc_pair_rows *rows;
  pc_pair_form form;
  uint64_t low, high;   /* the interval of bits that contains the median, inclusive */
  pc_uint128 below;     /* pairs below the interval */
  pc_uint128 inside;    /* pairs inside it */
  pc_uint128 at_zero;   /* pairs of a row with a copy of itself */
  unsigned shift;       /* from a difference of bits to its cell */
  pc_uint128 *cells;    /* per worker */
  double *kept, *times; /* distances inside, and their multiplicities; NULL: count only */
  atomic_size_t kept_count;
  uint64_t *above; /* per worker: the lowest bits above the interval */
} median_search;

/* ---- one pass over the pairs ---- */

/* Adds the distance `value` of a pair that occurs w > 0 times. */
static void pair_median_meet(median_search *search, size_t worker, double value, uint64_t w) {
  const uint64_t bits = pc_double_bits(value);
  if (bits - search->low <= search->high - search->low) {
    if (search->kept == NULL) {
      const size_t cell = (size_t)((bits - search->low) >> search->shift);
      search->cells[worker * PAIR_MEDIAN_CELLS + cell] += w;
    } else {
      const size_t at = atomic_fetch_add(&search->kept_count, 1);
      search->kept[at] = value;
      search->times[at] = (double)w;
    }
  } else if (bits > search->high && bits < search->above[worker]) {
    search->above[worker] = bits;
  }
}

static void pair_median_tile(median_search *search, size_t worker, size_t a, size_t b) {
  const pc_pair_pack left = pc_pair_pack_at(search->rows, a);
  const pc_pair_pack right = pc_pair_pack_at(search->rows, b);
  double far[PC_PACK_PAIRS];
  uint64_t times[PC_LANES];
  pc_kernels_best()->pair->distances(&search->form, search->rows->classes, &left, &right, far);
  for (size_t l = 0; l < PC_LANES; l++)
    times[l] = (uint64_t)right.weights[l];
  for (size_t r = 0; r < PC_LANES; r++) {
    const uint64_t own = (uint64_t)left.weights[r];
    for (size_t l = a == b ? r + 1 : 0; l < PC_LANES; l++)
      if (own * times[l] > 0)
        pair_median_meet(search, worker, far[r * PC_LANES + l], own * times[l]);
  }
}

static pcal_status pair_median_task(void *user, size_t index, size_t worker, pcal_error *err) {
  (void)err;
  median_search *search = user;
  const size_t all = pc_pair_pack_count(search->rows), first = index * PAIR_MEDIAN_PACKS;
  const size_t end = first + PAIR_MEDIAN_PACKS < all ? first + PAIR_MEDIAN_PACKS : all;
  for (size_t b = first; b < all; b++)
    for (size_t a = first; a < end && a <= b; a++)
      pair_median_tile(search, worker, a, b);
  return PCAL_OK;
}

static pcal_status pair_median_pass(median_search *search, pcal_error *err) {
  const size_t packs = pc_pair_pack_count(search->rows), workers = pc_worker_count(search->env);
  const double rows = (double)search->rows->count;
  const double cost = (2.0 + 0.1 * (double)search->rows->classes) * rows * rows / 2;
  memset(search->cells, 0, workers * PAIR_MEDIAN_CELLS * sizeof *search->cells);
  for (size_t w = 0; w < workers; w++)
    search->above[w] = UINT64_MAX;
  return pc_run_with_progress(search->env, "finding the median distance",
                              (packs + PAIR_MEDIAN_PACKS - 1) / PAIR_MEDIAN_PACKS, cost,
                              pair_median_task, search, err);
}

/* ---- narrowing ---- */

static pc_uint128 pair_median_cell(const median_search *search, size_t cell) {
  pc_uint128 count = cell == 0 && search->low == 0 ? search->at_zero : 0;
  for (size_t w = 0; w < pc_worker_count(search->env); w++)
    count += search->cells[w * PAIR_MEDIAN_CELLS + cell];
  return count;
}

/* Narrows the interval to the cell that holds the pair of rank `rank`. */
static pcal_status pair_median_narrow(median_search *search, pc_uint128 rank, pcal_error *err) {
  const uint64_t width = search->high - search->low;
  search->shift = 0;
  while (width >> search->shift >= PAIR_MEDIAN_CELLS)
    search->shift++;
  PC_TRY(pair_median_pass(search, err));
  size_t cell = 0;
  pc_uint128 count = pair_median_cell(search, 0);
  while (search->below + count <= rank) {
    search->below += count;
    count = pair_median_cell(search, ++cell);
  }
  const uint64_t last = ((uint64_t)1 << search->shift) - 1;
  search->low += (uint64_t)cell << search->shift;
  search->high = last < search->high - search->low ? search->low + last : search->high;
  search->inside = count;
  return PCAL_OK;
}

/* ---- the end ---- */

static uint64_t pair_median_behind(const median_search *search) {
  uint64_t least = UINT64_MAX;
  for (size_t w = 0; w < pc_worker_count(search->env); w++)
    least = search->above[w] < least ? search->above[w] : least;
  return least;
}

/* The distance of a rank among the stored ones, sorted. */
static double pair_median_pick(const median_search *search, pc_uint128 rank) {
  pc_uint128 before = search->below;
  const size_t count = atomic_load(&search->kept_count);
  for (size_t i = 0; i < count; i++) {
    before += (pc_uint128)search->times[i];
    if (rank < before)
      return search->kept[i];
  }
  return pc_double_from_bits(pair_median_behind(search));
}

static pcal_status pair_median_last(median_search *search, pc_uint128 rank, double *low,
                                    double *high, pcal_error *err) {
  const size_t room = (size_t)search->inside + 1;
  double *scratch = pc_alloc_raw(search->env, 4 * room, sizeof *scratch);
  if (scratch == NULL)
    return pc_fail_memory(err, "finding the median distance");
  search->kept = scratch;
  search->times = scratch + room;
  atomic_store(&search->kept_count, 0);
  if (search->low == 0 && search->at_zero > 0) {
    search->kept[0] = 0.0;
    search->times[0] = (double)search->at_zero;
    atomic_store(&search->kept_count, 1);
  }
  const pcal_status status = pair_median_pass(search, err);
  if (status == PCAL_OK) {
    pc_sort_pairs(search->kept, search->times, scratch + 2 * room, scratch + 3 * room,
                  atomic_load(&search->kept_count));
    *low = pair_median_pick(search, rank);
    *high = pair_median_pick(search, rank + 1);
  }
  pc_free(search->env, scratch);
  search->kept = search->times = NULL;
  return status;
}

/* The distances of two neighbouring ranks. */
static pcal_status pair_median_select(median_search *search, pc_uint128 rank, double *low,
                                      double *high, pcal_error *err) {
  do {
    PC_TRY(pair_median_narrow(search, rank, err));
  } while (search->low < search->high && search->inside > PAIR_MEDIAN_KEPT);
  if (search->inside <= PAIR_MEDIAN_KEPT)
    return pair_median_last(search, rank, low, high, err);
  *low = *high = pc_double_from_bits(search->low);
  if (rank + 1 < search->below + search->inside)
    return PCAL_OK;
  PC_TRY(pair_median_pass(search, err));
  *high = pc_double_from_bits(pair_median_behind(search));
  return PCAL_OK;
}

static pc_uint128 pair_median_copies(const pc_pair_rows *rows, pc_uint128 *total) {
  pc_uint128 copies = 0;
  *total = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const pc_uint128 w = (pc_uint128)rows->weights[i];
    copies += w * (w - 1) / 2;
    *total += w;
  }
  return copies;
}

pcal_status pc_pair_median(const pcal_env *env, const pc_pair_rows *rows, int tv, double *out,
                           pcal_error *err) {
  const size_t workers = pc_worker_count(env);
  pc_uint128 total;
  median_search search = {.env = env, .rows = rows, .high = pc_double_bits(INFINITY)};
  search.form = pc_pair_form_make(tv, 0, 1.0, rows);
  search.at_zero = pair_median_copies(rows, &total);
  search.cells = pc_alloc_raw(env, workers * PAIR_MEDIAN_CELLS, sizeof *search.cells);
  search.above = pc_alloc_raw(env, workers, sizeof *search.above);
  pcal_status status = PCAL_OK;
  if (search.cells == NULL || search.above == NULL)
    status = pc_fail_memory(err, "finding the median distance");
  const pc_uint128 pairs = total * (total - 1) / 2;
  double low = 0.0, high = 0.0;
  if (status == PCAL_OK)
    status = pair_median_select(&search, (pairs - 1) / 2, &low, &high, err);
  if (status == PCAL_OK && pairs % 2 == 1)
    high = low;
  pc_free(env, search.cells);
  pc_free(env, search.above);
  *out = tv ? (low + high) / 2 : (sqrt(2 * low) + sqrt(2 * high)) / 2;
  return status;
}
