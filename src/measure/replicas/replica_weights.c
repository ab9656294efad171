/* A row that stands for m copies takes one Poisson(m) draw (draws.h). */
#include "measure/replicas/replica_weights.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/exchange.h"

#define REPLICA_EXCHANGE_STREAM UINT64_C(5) /* the others are in draws.c */

const uint64_t *pc_replica_keys(const pc_kept_rows *rows) {
  return rows->clusters == NULL ? rows->ids : rows->clusters;
}

/* Weights of a row with a weight or copies other than 1, from its draws. */
static void replica_weights_weigh(const pc_kept_rows *rows, size_t row, float *out) {
  const double weight = rows->weights[row], copies = rows->copies[row];
  const int alone = rows->clusters == NULL && copies > 1.0;
  for (size_t q = 0; q < PC_REPLICA_LANES; q++)
    out[q] = (float)(weight * (alone ? (double)out[q] : copies * (double)out[q]));
}

/* Weights of a row if one block at a time is left out.  A cluster is in one block. */
static void replica_weights_leave(const pc_replica_request *request, uint64_t seed,
                                  size_t batch, size_t row, float *out) {
  const pc_kept_rows *rows = request->rows;
  const double copies = rows->copies[row];
  const int alone = rows->clusters == NULL;
  double left_out[PC_REPLICA_LANES];
  pc_draw_blocks(seed, pc_replica_keys(rows)[row], alone ? copies : 1.0, request->count,
                 batch * PC_REPLICA_LANES, left_out);
  for (size_t q = 0; q < PC_REPLICA_LANES; q++)
    out[q] = (float)(rows->weights[row] * (copies - (alone ? 1.0 : copies) * left_out[q]));
}

static void replica_weights_draw_weights(const pc_replica_request *request, uint64_t seed,
                                         size_t batch, float *drawn) {
  const pc_kept_rows *rows = request->rows;
  pc_draw_count_lanes(seed, batch * PC_REPLICA_LANES, pc_replica_keys(rows),
                      rows->clusters == NULL ? rows->copies : NULL, rows->count, drawn);
  for (size_t i = 0; i < rows->count; i++)
    if (rows->weights[i] != 1.0 || rows->copies[i] != 1.0)
      replica_weights_weigh(rows, i, drawn + i * PC_REPLICA_LANES);
}

pc_rng pc_replica_exchange_rng(uint64_t seed) {
  return (pc_rng){seed, REPLICA_EXCHANGE_STREAM << 40};
}

/* Draws the bits of all rows for the block of exchanges that contains `first`. */
static void replica_weights_fill_bits(const pc_replica_request *request, uint64_t seed,
                                      uint64_t first, pc_replica_bits *bits) {
  const uint64_t block = first / PC_EXCHANGE_BLOCK;
  const uint64_t *keys = pc_replica_keys(request->rows);
  const pc_rng rng = pc_replica_exchange_rng(seed);
  if (bits->block == block + 1)
    return;
  for (size_t i = 0; i < request->rows->count; i++)
    pc_exchange_bits(&rng, keys[i], block * PC_EXCHANGE_BLOCK, bits->bits[i]);
  bits->block = block + 1;
}

/* Weights of a row that changes sides as a whole. */
static void replica_weights_swap(double weight, size_t side, uint64_t first,
                                 const uint32_t bits[4], float *out) {
  const uint64_t at = first % PC_EXCHANGE_BLOCK;
  const uint32_t moves =
      bits[at / 32] >> (at % 32) & (first == 0 ? ~UINT32_C(1) : ~UINT32_C(0));
  const float whole = (float)weight;
  for (size_t e = 0; e < PC_EXCHANGE_BATCH; e++) {
    const float moved = whole * (float)(int32_t)(moves >> e & 1);
    out[2 * e + side] = whole - moved;
    out[2 * e + 1 - side] = moved;
  }
}

/* Weights of a row of one of two models in a batch of exchanges. */
static void replica_weights_exchange(const pc_replica_request *request, uint64_t seed,
                                     uint64_t first, size_t row, const uint32_t bits[4],
                                     float *out) {
  const pc_kept_rows *rows = request->rows;
  const size_t side = row < request->half ? 0 : 1;
  const int whole = request->whole && rows->clusters == NULL;
  const pc_rng rng = pc_replica_exchange_rng(seed);
  const double weight = rows->weights[row];
  double moved[PC_EXCHANGE_BATCH];
  if (!whole || weight == 1.0) {
    replica_weights_swap(weight, side, first, bits, out);
    return;
  }
  pc_exchange_draw(&rng, rows->ids[row], first, weight, whole, moved);
  for (size_t q = 0; q < PC_REPLICA_LANES; q++)
    out[q] = (float)(q % 2 == side ? weight - moved[q / 2] : moved[q / 2]);
}

_Static_assert(PC_REPLICA_LANES == 2 * PC_EXCHANGE_BATCH, "a batch has both sides");

#define REPLICA_PATTERNS (1 << PC_EXCHANGE_BATCH) /* of the bits of a row in a batch */

/* True if every row has weight 1. */
static int replica_weights_are_one(const pc_kept_rows *rows) {
  size_t i = 0;
  while (i < rows->count && rows->weights[i] == 1.0)
    i++;
  return i == rows->count;
}

/* Weights of all rows in a batch of exchanges, if every row has weight 1: they are one of few
 * patterns, which are counted for the totals. */
static void replica_weights_exchange_ones(const pc_replica_request *request, uint64_t first,
                                          const pc_replica_bits *bits, float *drawn,
                                          double total[PC_REPLICA_LANES]) {
  const size_t count = request->rows->count, at = first % PC_EXCHANGE_BLOCK;
  const size_t bounds[] = {0, request->half < count ? request->half : count, count};
  float patterns[REPLICA_PATTERNS][PC_REPLICA_LANES];
  for (size_t side = 0; side < 2; side++) {
    size_t seen[REPLICA_PATTERNS] = {0};
    for (uint32_t p = 0; p < REPLICA_PATTERNS; p++) {
      const uint32_t bit[4] = {p};
      replica_weights_swap(1.0, side, first == 0 ? 0 : PC_EXCHANGE_BLOCK, bit, patterns[p]);
    }
    for (size_t i = bounds[side]; i < bounds[side + 1]; i++) {
      const uint32_t p = bits->bits[i][at / 32] >> (at % 32) & (REPLICA_PATTERNS - 1);
      memcpy(drawn + i * PC_REPLICA_LANES, patterns[p], sizeof patterns[p]);
      seen[p]++;
    }
    for (size_t p = 0; p < REPLICA_PATTERNS; p++)
      for (size_t q = 0; q < PC_REPLICA_LANES; q++)
        total[q] += (double)seen[p] * (double)patterns[p][q];
  }
}

/* The sum of the weights of each replica, in the order of the rows. */
static void replica_weights_total(const float *drawn, size_t count,
                                  double total[PC_REPLICA_LANES]) {
  double sums[PC_REPLICA_LANES] = {0.0};
  for (size_t i = 0; i < count; i++)
    for (size_t q = 0; q < PC_REPLICA_LANES; q++)
      sums[q] += (double)drawn[i * PC_REPLICA_LANES + q];
  memcpy(total, sums, sizeof sums);
}

void pc_replica_weights(const pc_replica_request *request, uint64_t seed, size_t batch,
                        pc_replica_bits *bits, float *drawn, double total[PC_REPLICA_LANES]) {
  const pc_kept_rows *rows = request->rows;
  const pc_replica_kind kind = request->kind;
  const uint64_t first = batch * PC_EXCHANGE_BATCH;
  if (kind == PC_REPLICA_EXCHANGE)
    replica_weights_fill_bits(request, seed, first, bits);
  if (kind == PC_REPLICA_WEIGHTS)
    replica_weights_draw_weights(request, seed, batch, drawn);
  if (kind == PC_REPLICA_EXCHANGE && replica_weights_are_one(rows)) {
    memset(total, 0, PC_REPLICA_LANES * sizeof *total);
    replica_weights_exchange_ones(request, first, bits, drawn, total);
    return;
  }
  for (size_t i = 0; kind != PC_REPLICA_WEIGHTS && i < rows->count; i++) {
    float *weights = drawn + i * PC_REPLICA_LANES;
    if (kind == PC_REPLICA_WITHOUT)
      replica_weights_leave(request, seed, batch, i, weights);
    else if (kind == PC_REPLICA_EXCHANGE)
      replica_weights_exchange(request, seed, first, i, bits->bits[i], weights);
    else
      for (size_t q = 0; q < PC_REPLICA_LANES; q++)
        weights[q] = (float)(rows->weights[i] * rows->copies[i]);
  }
  replica_weights_total(drawn, rows->count, total);
}
