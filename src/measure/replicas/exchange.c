/* Exchanges two models row by row, and the distance between their distributions of scores.
 *
 * Exchange: each row of one model goes to the first or the second side with probability 1/2, and
 *           the same row of the other model to the other side.
 * Formula:  distance = |sum d| / sqrt(sum d^2 - (sum d)^2 / m), over m rows, the larger of two:
 *             classes: d is the difference of scores, or that of squared scores;
 *             predictions of a number: d is the difference of the first column, or that of the
 *             last (mean and standard deviation; lowest and highest quantile or sample).
 *           Exchanging a row changes the sign of its d.
 * Edge cases:
 *   (1) a row of whole weight w stands for w rows, which are exchanged one by one; if any
 *       weight is not whole, rows are exchanged with all their weight;
 *   (2) clusters are exchanged as a whole;
 *   (3) weights above EXCHANGE_BITS: a rounded normal draw;
 *   (4) rows with equal predictions in both models have no effect;
 *   (5) the distance is infinite if all d are equal, and 0 for a single row.
 * Source: Good, Permutation Tests, 2000, section 3.2. */
#include "measure/replicas/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXCHANGE_BITS 4096

/* ---- draws ---- */

static unsigned exchange_ones(uint32_t bits) {
  unsigned count = 0;
  for (; bits != 0; bits &= bits - 1)
    count++;
  return count;
}

/* First stream for rows of weight above 1.  Rows of weight 1 use the streams below, one bit of
 * a block for each exchange. */
#define EXCHANGE_MANY (UINT64_C(1) << 36)

/* The number of ones among `count` bits, for one exchange of a row. */
static unsigned exchange_binomial(const pc_rng *rng, uint64_t id, uint64_t exchange,
                                  unsigned count) {
  const uint64_t first = EXCHANGE_MANY + exchange * (EXCHANGE_BITS / PC_EXCHANGE_BLOCK);
  unsigned ones = 0;
  for (unsigned block = 0; count > 0; block++) {
    const pc_rng here = {rng->seed, rng->stream + first + block};
    uint32_t bits[4];
    pc_rng_block(&here, id, bits);
    for (size_t q = 0; q < 4 && count > 0; q++) {
      const unsigned take = count < 32 ? count : 32;
      ones += exchange_ones(take == 32 ? bits[q] : bits[q] & ((UINT32_C(1) << take) - 1));
      count -= take;
    }
  }
  return ones;
}

static double exchange_many(const pc_rng *rng, uint64_t id, uint64_t exchange, double weight) {
  if (weight <= EXCHANGE_BITS)
    return (double)exchange_binomial(rng, id, exchange, (unsigned)weight);
  const pc_rng here = {rng->seed, rng->stream + EXCHANGE_MANY +
                                      exchange * (EXCHANGE_BITS / PC_EXCHANGE_BLOCK)};
  const double drawn = floor(0.5 * (weight + sqrt(weight) * pc_rng_normal(&here, id)) + 0.5);
  return fmin(fmax(drawn, 0.0), weight);
}

void pc_exchange_bits(const pc_rng *rng, uint64_t id, uint64_t first, uint32_t bits[4]) {
  const pc_rng here = {rng->seed, rng->stream + first / PC_EXCHANGE_BLOCK};
  pc_rng_block(&here, id, bits);
}

void pc_exchange_draw(const pc_rng *rng, uint64_t id, uint64_t first, double weight, int whole,
                      double moved[PC_EXCHANGE_BATCH]) {
  const int single = !whole || weight == 1.0;
  uint32_t bits[4];
  if (single)
    pc_exchange_bits(rng, id, first, bits);
  for (size_t e = 0; e < PC_EXCHANGE_BATCH; e++) {
    const uint64_t exchange = first + e, bit = exchange % PC_EXCHANGE_BLOCK;
    if (exchange == 0)
      moved[e] = 0.0;
    else if (single)
      moved[e] = (bits[bit / 32] >> (bit % 32) & 1) != 0 ? weight : 0.0;
    else
      moved[e] = exchange_many(rng, id, exchange, weight);
  }
}

/* ---- comparing ---- */

int pc_exchange_whole(const pc_kept_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    if (rows->weights[i] != floor(rows->weights[i]))
      return 0;
  return 1;
}

static int exchange_same_kind(const pc_layout *layouts[2], const pc_kept_rows *rows[2]) {
  const pc_layout *a = layouts[0], *b = layouts[1];
  const int confidences = (a->kind == PCAL_CONFIDENCE) == (b->kind == PCAL_CONFIDENCE);
  return a->form == b->form && a->classes == b->classes && a->columns == b->columns &&
         confidences && memcmp(a->levels, b->levels, sizeof a->levels) == 0 &&
         rows[0]->count > 0 && rows[0]->count == rows[1]->count &&
         (rows[0]->probs == NULL) == (rows[1]->probs == NULL) &&
         (rows[0]->clusters == NULL) == (rows[1]->clusters == NULL);
}

/* True if both models have the same outcomes: labels, or targets for regression.  Confidences and
 * distances have their own outcomes, which are not compared. */
static int exchange_same_outcomes(const pc_layout *layout, const pc_kept_rows *a,
                                  const pc_kept_rows *b) {
  const size_t k = a->classes;
  const int has_target = layout->form != PC_FORM_CLASSES && layout->form != PC_FORM_DISTANCES;
  int same = layout->kind == PCAL_CONFIDENCE ||
             memcmp(a->labels, b->labels, a->count * sizeof *a->labels) == 0;
  for (size_t i = 0; same && has_target && i < a->count; i++)
    same = a->probs[i * k + k - 1] == b->probs[i * k + k - 1];
  return same;
}

static int exchange_same_rows(const pc_kept_rows *a, const pc_kept_rows *b) {
  int same = memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0 &&
             memcmp(a->weights, b->weights, a->count * sizeof *a->weights) == 0;
  if (same && a->clusters != NULL)
    same = memcmp(a->clusters, b->clusters, a->count * sizeof *a->clusters) == 0;
  return same;
}

static int exchange_row_differs(const pc_kept_rows *a, const pc_kept_rows *b, size_t row) {
  const size_t k = a->classes;
  if (a->labels[row] != b->labels[row] || (a->score != NULL && a->score[row] != b->score[row]))
    return 1;
  if (a->top_label != NULL && a->top_label[row] != b->top_label[row])
    return 1;
  for (size_t c = 0; a->probs != NULL && c < k; c++)
    if (a->probs[row * k + c] != b->probs[row * k + c])
      return 1;
  return 0;
}

/* Difference number `which` of a row between the models. */
static double exchange_difference(const pc_kept_rows *a, const pc_kept_rows *b, size_t row,
                                  int second) {
  if (a->score != NULL) {
    const double x = a->score[row], y = b->score[row];
    return second ? x * x - y * y : x - y;
  }
  const size_t at = row * a->classes + (second && a->classes > 2 ? a->classes - 2 : 0);
  return a->probs[at] - b->probs[at];
}

/* Sums over units, which are rows or clusters; arrays have an entry for each unit. */
typedef struct exchange_units {
  size_t count;
  double *sums[2];
  uint8_t *differ;
} exchange_units;

static size_t exchange_unit_count(const pc_kept_rows *rows) {
  size_t count = rows->clusters == NULL ? rows->count : 0;
  for (size_t i = 0; rows->clusters != NULL && i < rows->count; i++)
    count = rows->clusters[i] >= count ? (size_t)rows->clusters[i] + 1 : count;
  return count;
}

static void exchange_add(const pc_kept_rows *rows[2], const exchange_units *units) {
  for (size_t i = 0; i < rows[0]->count; i++) {
    const size_t unit = rows[0]->clusters == NULL ? i : rows[0]->clusters[i];
    const double weight =
        rows[0]->clusters == NULL ? sqrt(rows[0]->weights[i]) : rows[0]->weights[i];
    units->differ[unit] |= (uint8_t)exchange_row_differs(rows[0], rows[1], i);
    for (int s = 0; s < 2; s++)
      units->sums[s][unit] += weight * exchange_difference(rows[0], rows[1], i, s);
  }
}

/* Student's statistic of the differences.  w equal rows add w d to the sum and w d^2 to its
 * variance. */
static double exchange_distance(const pc_kept_rows *rows, const exchange_units *units, int s) {
  double sum = 0.0, square = 0.0, count = 0.0;
  for (size_t u = 0; u < units->count; u++) {
    const double d = units->sums[s][u];
    sum += rows->clusters == NULL ? d * sqrt(rows->weights[u]) : d;
    square += d * d;
    if (units->differ[u])
      count += rows->clusters == NULL ? rows->weights[u] : 1.0;
  }
  const double variance = square - sum * sum / fmax(count, 1.0);
  return variance > 1e-12 * square   ? fabs(sum) / sqrt(variance)
         : count > 1.0 && sum != 0.0 ? (double)INFINITY
                                     : 0.0;
}

pcal_status pc_exchange_compare(const pcal_env *env, const pc_layout *layouts[2],
                                const pc_kept_rows *rows[2], pc_exchange_check *out,
                                pcal_error *err) {
  *out = (pc_exchange_check){.possible = 0};
  if (!exchange_same_kind(layouts, rows))
    return PCAL_OK;
  if (!exchange_same_rows(rows[0], rows[1]) ||
      !exchange_same_outcomes(layouts[0], rows[0], rows[1]))
    return pc_fail(err, PCAL_DATA,
                   "the two models are measured on different rows: indices, labels, weights or "
                   "clusters differ; drop rows that are missing in one of them from both");
  exchange_units units = {.count = exchange_unit_count(rows[0])};
  units.sums[0] = pc_alloc(env, units.count, sizeof(double));
  units.sums[1] = pc_alloc(env, units.count, sizeof(double));
  units.differ = pc_alloc(env, units.count, 1);
  const int enough = units.sums[0] != NULL && units.sums[1] != NULL && units.differ != NULL;
  if (enough) {
    exchange_add(rows, &units);
    out->possible = 1;
    for (size_t u = 0; u < units.count; u++)
      out->differ += units.differ[u];
    out->score_distance =
        fmax(exchange_distance(rows[0], &units, 0), exchange_distance(rows[0], &units, 1));
  }
  pc_free(env, units.sums[0]);
  pc_free(env, units.sums[1]);
  pc_free(env, units.differ);
  return enough ? PCAL_OK : pc_fail_memory(err, "comparing two models");
}

/* ---- clusters ---- */

static int exchange_order(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The index of a key among `count` distinct ascending keys. */
static uint64_t exchange_place(const uint64_t *keys, size_t count, uint64_t key) {
  size_t low = 0, high = count;
  while (low + 1 < high) {
    const size_t middle = low + (high - low) / 2;
    if (keys[middle] <= key)
      low = middle;
    else
      high = middle;
  }
  return low;
}

pcal_status pc_exchange_number(const pcal_env *env, pc_kept_rows *rows, pcal_error *err) {
  if (rows->clusters == NULL)
    return PCAL_OK;
  uint64_t *keys = pc_alloc_raw(env, rows->count, sizeof *keys);
  if (keys == NULL)
    return pc_fail_memory(err, "numbering clusters");
  memcpy(keys, rows->clusters, rows->count * sizeof *keys);
  qsort(keys, rows->count, sizeof *keys, exchange_order);
  size_t count = 0;
  for (size_t i = 0; i < rows->count; i++)
    if (count == 0 || keys[count - 1] != keys[i])
      keys[count++] = keys[i];
  for (size_t i = 0; i < rows->count; i++)
    rows->clusters[i] = exchange_place(keys, count, rows->clusters[i]);
  pc_free(env, keys);
  return PCAL_OK;
}

/* ---- joining ---- */

/* The columns of kept rows: where they are, and the bytes of a row. */
#define EXCHANGE_COLUMNS 7

typedef struct exchange_column {
  void *data;
  size_t bytes;
} exchange_column;

static void exchange_columns(const pc_kept_rows *rows, exchange_column *out) {
  const exchange_column columns[EXCHANGE_COLUMNS] = {
      {rows->ids, sizeof *rows->ids},
      {rows->labels, sizeof *rows->labels},
      {rows->weights, sizeof *rows->weights},
      {rows->score, sizeof *rows->score},
      {rows->top_label, sizeof *rows->top_label},
      {rows->probs, rows->classes * sizeof *rows->probs},
      {rows->clusters, sizeof *rows->clusters}};
  memcpy(out, columns, sizeof columns);
}

size_t pc_exchange_bytes(const pc_kept_rows *rows) {
  exchange_column columns[EXCHANGE_COLUMNS];
  size_t bytes = 0;
  exchange_columns(rows, columns);
  for (size_t c = 0; c < EXCHANGE_COLUMNS; c++)
    bytes += columns[c].data == NULL ? 0 : columns[c].bytes * rows->count;
  return bytes;
}

void pc_exchange_free(const pcal_env *env, pc_kept_rows *rows) {
  exchange_column columns[EXCHANGE_COLUMNS];
  exchange_columns(rows, columns);
  for (size_t c = 0; c < EXCHANGE_COLUMNS; c++)
    pc_free(env, columns[c].data);
  *rows = (pc_kept_rows){.count = 0};
}

pcal_status pc_exchange_join(const pcal_env *env, const pc_kept_rows *rows[2],
                             pc_kept_rows *out, pcal_error *err) {
  const size_t n = rows[0]->count;
  exchange_column columns[2][EXCHANGE_COLUMNS];
  void *joined[EXCHANGE_COLUMNS];
  int enough = 1;
  PC_TRY(pc_check_memory_limit(env, 2 * pc_exchange_bytes(rows[0]),
                               "compare fewer rows, or raise the limit", err));
  for (size_t m = 0; m < 2; m++)
    exchange_columns(rows[m], columns[m]);
  for (size_t c = 0; c < EXCHANGE_COLUMNS; c++) {
    const size_t bytes = columns[0][c].bytes;
    joined[c] = columns[0][c].data == NULL ? NULL : pc_alloc_raw(env, 2 * n, bytes);
    enough &= columns[0][c].data == NULL || joined[c] != NULL;
    for (size_t m = 0; joined[c] != NULL && m < 2; m++)
      memcpy((char *)joined[c] + m * n * bytes, columns[m][c].data, n * bytes);
  }
  *out = (pc_kept_rows){.count = 2 * n,
                        .classes = rows[0]->classes,
                        .ids = joined[0],
                        .labels = joined[1],
                        .weights = joined[2],
                        .score = joined[3],
                        .top_label = joined[4],
                        .probs = joined[5],
                        .clusters = joined[6]};
  if (enough)
    return PCAL_OK;
  pc_exchange_free(env, out);
  return pc_fail_memory(err, "comparing two models");
}

pcal_status pc_exchange_take(const pcal_env *env, pc_kept_rows *rows, pc_kept_rows *out,
                             pcal_error *err) {
  PC_TRY(pc_exchange_number(env, rows, err));
  for (size_t i = 0; i < rows->count; i++)
    rows->weights[i] = pc_kept_weight(rows, i);
  pc_free(env, rows->copies);
  rows->copies = NULL;
  *out = *rows;
  *rows = (pc_kept_rows){.count = 0};
  return PCAL_OK;
}
