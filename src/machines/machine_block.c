/* The block machine: pairs of rows inside blocks of m consecutive ones.
 *
 * State: the exact sums of the values of complete blocks and of their squares, how many there
 * were, and the rows of blocks that are not complete yet.  Rows [b m, (b + 1) m) of the whole
 * data set are block b. A block is evaluated as soon as one update brings all of its rows, or a
 * merge the last of them; its value does not depend on when.  Without groups little more than
 * the two ends of what was met is ever kept, and beside it blocks with a missing row, which
 * never complete. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "machines/machine.h"

#define MACHINE_BLOCK_LEAST (-0.1) /* of a probability, and by how much it may exceed 1 */

typedef struct block_state {
  size_t classes, rows;
  double least; /* that a number of a row can be, and by how much it may exceed 1 */
  pc_block_function value;
  double params[3];
  pc_sum sum, squares;
  uint64_t blocks;
  size_t count; /* of rows kept */
  uint64_t *ids;
  double *probs;
  int32_t *labels;
  size_t ids_capacity, probs_capacity, labels_capacity;
  size_t *order; /* for merges: twice as many as rows */
  size_t order_capacity;
  void *space; /* for one block side by side, or NULL */
} block_state;

static void machine_block_destroy(const pcal_env *env, void *opaque) {
  block_state *state = opaque;
  pc_free(env, state->ids);
  pc_free(env, state->probs);
  pc_free(env, state->labels);
  pc_free(env, state->order);
  pc_free(env, state->space);
  pc_free(env, state);
}

static void machine_block_clear(void *opaque) {
  block_state *state = opaque;
  pc_sum_clear(&state->sum);
  pc_sum_clear(&state->squares);
  state->blocks = 0;
  state->count = 0;
}

static pcal_status machine_block_create(const pcal_env *env, const pc_need *need,
                                        const pc_layout *layout, void **out, pcal_error *err) {
  block_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing blocks");
  state->classes = layout->classes;
  state->least = layout->form == PC_FORM_CLASSES ? MACHINE_BLOCK_LEAST : -DBL_MAX;
  state->rows = need->block.rows;
  state->value = need->block.value;
  memcpy(state->params, need->block.params, sizeof state->params);
  machine_block_clear(state);
  *out = state;
  return PCAL_OK;
}

static pcal_status machine_block_room(const pcal_env *env, block_state *state, size_t more,
                                      pcal_error *err) {
  const size_t needed = state->count + more, k = state->classes;
  PC_TRY(pc_check_memory_limit(env, needed * (k * sizeof(double) + 12),
                               "make the blocks smaller, or measure without groups", err));
  void *ids = state->ids, *probs = state->probs, *labels = state->labels;
  pcal_status status =
      pc_reserve(env, &ids, &state->ids_capacity, needed, sizeof(uint64_t), err);
  state->ids = ids;
  if (status == PCAL_OK)
    status = pc_reserve(env, &probs, &state->probs_capacity, needed * k, sizeof(double), err);
  state->probs = probs;
  if (status == PCAL_OK)
    status = pc_reserve(env, &labels, &state->labels_capacity, needed, sizeof(int32_t), err);
  state->labels = labels;
  return status;
}

/* Space for the rows of one block. */
static pcal_status machine_block_space(const pcal_env *env, const block_state *state,
                                       void **space, pcal_error *err) {
  const size_t bytes = pc_pair_rows_bytes(state->rows, state->classes);
  if (*space == NULL && bytes > 0)
    *space = pc_alloc_raw(env, bytes, 1);
  return *space == NULL ? pc_fail_memory(err, "preparing blocks") : PCAL_OK;
}

static void machine_block_append(block_state *state, const uint64_t *ids, const double *probs,
                                 const int32_t *labels, size_t count) {
  const size_t k = state->classes;
  if (count == 0)
    return;
  memcpy(state->ids + state->count, ids, count * sizeof *ids);
  memcpy(state->probs + state->count * k, probs, count * k * sizeof *probs);
  memcpy(state->labels + state->count, labels, count * sizeof *labels);
  state->count += count;
}

/* ---- update ---- */

static pcal_status machine_block_run(const pcal_env *env, block_state *state,
                                     const pc_rows *rows, size_t begin, size_t count,
                                     pcal_error *err) {
  const size_t k = state->classes;
  const double *probs = rows->probs + begin * k;
  if (count < state->rows) {
    PC_TRY(machine_block_room(env, state, count, err));
    machine_block_append(state, rows->ids + begin, probs, rows->labels + begin, count);
    return PCAL_OK;
  }
  PC_TRY(machine_block_space(env, state, &state->space, err));
  pc_pair_rows block = pc_pair_rows_in(state->space, count, k);
  for (size_t i = 0; i < count; i++)
    pc_pair_rows_add(&block, probs + i * k, rows->labels[begin + i], 1.0);
  pc_pair_rows_close(&block);
  const double value = state->value(state->params, &block);
  pc_sum_add(&state->sum, value);
  pc_sum_add(&state->squares, value * value);
  state->blocks++;
  return PCAL_OK;
}

/* Indices ascend within an update, so rows of one block are neighbours. */
static pcal_status machine_block_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                        const pc_view_columns *columns, pcal_error *err) {
  (void)columns;
  block_state *state = opaque;
  for (size_t begin = 0; begin < rows->count;) {
    const uint64_t block = rows->ids[begin] / state->rows;
    size_t end = begin + 1;
    while (end < rows->count && rows->ids[end] / state->rows == block)
      end++;
    PC_TRY(machine_block_run(env, state, rows, begin, end - begin, err));
    begin = end;
  }
  return PCAL_OK;
}

/* ---- rows kept, in order ---- */

#define PC_SORT_NAME machine_block_sort_positions
#define PC_SORT_TYPE size_t
#define PC_SORT_CONTEXT const uint64_t *
#define PC_SORT_IN_ORDER(ids, a, b) ((ids)[*(a)] <= (ids)[*(b)])
#include "base/stable_sort.h"

/* Writes the positions of the rows, by index, to order[0 .. n - 1]; order has 2 n elements. */
static void machine_block_sort(const block_state *state, size_t *order) {
  for (size_t i = 0; i < state->count; i++)
    order[i] = i;
  machine_block_sort_positions(state->ids, order, order + state->count, state->count);
}

/* Do m rows of one block begin at a place in the order? */
static int machine_block_complete(const block_state *state, const size_t *order, size_t at) {
  const size_t m = state->rows;
  if (at + m > state->count || state->ids[order[at]] % m != 0)
    return 0;
  return state->ids[order[at + m - 1]] == state->ids[order[at]] + (m - 1);
}

/* What complete blocks among the rows kept add. */
typedef struct block_gain {
  pc_sum sum, squares;
  uint64_t blocks;
  size_t left; /* rows of the others: the first so many of the order */
} block_gain;

static void machine_block_gather(const block_state *state, size_t *order, void *space,
                                 block_gain *gain) {
  const size_t m = state->rows, k = state->classes;
  pc_sum_clear(&gain->sum);
  pc_sum_clear(&gain->squares);
  gain->blocks = 0;
  gain->left = 0;
  machine_block_sort(state, order);
  for (size_t at = 0; at < state->count;) {
    if (!machine_block_complete(state, order, at)) {
      order[gain->left++] = order[at++];
      continue;
    }
    pc_pair_rows block = pc_pair_rows_in(space, m, k);
    for (const size_t end = at + m; at < end; at++)
      pc_pair_rows_add(&block, state->probs + order[at] * k, state->labels[order[at]], 1.0);
    pc_pair_rows_close(&block);
    const double value = state->value(state->params, &block);
    pc_sum_add(&gain->sum, value);
    pc_sum_add(&gain->squares, value * value);
    gain->blocks++;
  }
}

/* ---- merge ---- */

static pcal_status machine_block_prepare(const pcal_env *env, void *opaque, const void *other,
                                         pcal_error *err) {
  block_state *state = opaque;
  const block_state *from = other;
  const size_t count = state->count + from->count;
  PC_TRY(machine_block_room(env, state, from->count, err));
  void *order = state->order;
  const pcal_status status =
      pc_reserve(env, &order, &state->order_capacity, 2 * count + 2, sizeof *state->order, err);
  state->order = order;
  if (status != PCAL_OK || count < state->rows)
    return status;
  return machine_block_space(env, state, &state->space, err);
}

/* Keeps the rows whose positions are order[0 .. left-1]. */
static void machine_block_keep(block_state *state, const size_t *order, size_t left,
                               size_t *place) {
  const size_t k = state->classes;
  size_t kept = 0;
  memset(place, 0, state->count * sizeof *place);
  for (size_t i = 0; i < left; i++)
    place[order[i]] = 1;
  for (size_t i = 0; i < state->count; i++) {
    if (place[i] == 0)
      continue;
    state->ids[kept] = state->ids[i];
    state->labels[kept] = state->labels[i];
    memmove(state->probs + kept * k, state->probs + i * k, k * sizeof *state->probs);
    kept++;
  }
  state->count = kept;
}

static void machine_block_merge(void *opaque, const void *other) {
  block_state *state = opaque;
  const block_state *from = other;
  block_gain gain;
  machine_block_append(state, from->ids, from->probs, from->labels, from->count);
  machine_block_gather(state, state->order, state->space, &gain);
  if (gain.blocks > 0)
    machine_block_keep(state, state->order, gain.left, state->order + state->count);
  pc_sum_merge(&state->sum, &gain.sum);
  pc_sum_merge(&state->sum, &from->sum);
  pc_sum_merge(&state->squares, &gain.squares);
  pc_sum_merge(&state->squares, &from->squares);
  state->blocks += gain.blocks + from->blocks;
}

/* ---- finish, save, load ---- */

/* A settled state, seen without changing it. */
typedef struct block_sight {
  size_t *order;
  void *space;
  block_gain gain;
} block_sight;

static pcal_status machine_block_look(const pcal_env *env, const block_state *state,
                                      block_sight *out, pcal_error *err) {
  out->space = NULL;
  out->order = pc_alloc_raw(env, 2 * state->count + 2, sizeof *out->order);
  pcal_status status =
      out->order == NULL ? pc_fail_memory(err, "ordering the rows of blocks") : PCAL_OK;
  if (status == PCAL_OK && state->count >= state->rows)
    status = machine_block_space(env, state, &out->space, err);
  if (status == PCAL_OK) {
    machine_block_gather(state, out->order, out->space, &out->gain);
    pc_sum_merge(&out->gain.sum, &state->sum);
    pc_sum_merge(&out->gain.squares, &state->squares);
    out->gain.blocks += state->blocks;
  } else {
    pc_free(env, out->order);
  }
  return status;
}

static void machine_block_look_away(const pcal_env *env, block_sight *sight) {
  pc_free(env, sight->order);
  pc_free(env, sight->space);
}

static pcal_status machine_block_finish(const pcal_env *env, const void *opaque,
                                        pc_evidence *out, pcal_error *err) {
  block_sight sight;
  PC_TRY(machine_block_look(env, opaque, &sight, err));
  out->block.count = sight.gain.blocks;
  out->block.sum = pc_sum_value(&sight.gain.sum);
  out->block.squares = pc_sum_value(&sight.gain.squares);
  machine_block_look_away(env, &sight);
  return PCAL_OK;
}

static void machine_block_release(const pcal_env *env, pc_evidence *evidence) {
  (void)env;
  (void)evidence;
}

/* Number of complete blocks, sums of their values and squares, then the rows of the others,
 * ascending. */
static pcal_status machine_block_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                      pcal_error *err) {
  const block_state *state = opaque;
  block_sight sight;
  PC_TRY(machine_block_look(env, state, &sight, err));
  pc_encode_u64(out, sight.gain.blocks);
  pc_encode_sum(out, &sight.gain.sum);
  pc_encode_sum(out, &sight.gain.squares);
  pc_encode_u64(out, sight.gain.left);
  for (size_t i = 0; i < sight.gain.left; i++) {
    const size_t at = sight.order[i];
    pc_encode_u64(out, state->ids[at]);
    pc_encode_u32(out, (uint32_t)state->labels[at]);
    pc_encode_doubles(out, state->probs + at * state->classes, state->classes);
  }
  machine_block_look_away(env, &sight);
  return PCAL_OK;
}

static void machine_block_load_row(block_state *state, pc_decoder *in) {
  const size_t at = state->count++, k = state->classes;
  state->ids[at] = pc_decode_u64(in);
  const uint32_t label = pc_decode_u32(in);
  pc_decode_doubles(in, state->probs + at * k, k);
  state->labels[at] = (int32_t)label;
  pc_decoder_expect(in, label < k && (at == 0 || state->ids[at] > state->ids[at - 1]));
  for (size_t c = 0; c < k && !in->failed; c++) {
    const double p = state->probs[at * k + c];
    pc_decoder_expect(in, p >= state->least && p <= 1 - state->least);
  }
}

/* No block among the rows kept may be complete: that would not have been saved. */
static int machine_block_settled(const block_state *state) {
  const size_t m = state->rows;
  for (size_t at = 0; at + m <= state->count; at++)
    if (state->ids[at] % m == 0 && state->ids[at + m - 1] == state->ids[at] + (m - 1))
      return 0;
  return 1;
}

static pcal_status machine_block_load(const pcal_env *env, const pc_need *need,
                                      const pc_layout *layout, const pc_saved_totals *totals,
                                      pc_decoder *in, void **out, pcal_error *err) {
  PC_TRY(machine_block_create(env, need, layout, out, err));
  block_state *state = *out;
  state->blocks = pc_decode_u64(in);
  pc_decode_sum(in, &state->sum);
  pc_decode_sum(in, &state->squares);
  const size_t row = sizeof(uint64_t) + sizeof(uint32_t) + state->classes * sizeof(double);
  const size_t count = pc_decode_count(in, row);
  if (in->failed)
    return PCAL_OK;
  PC_TRY(machine_block_room(env, state, count, err));
  while (state->count < count && !in->failed)
    machine_block_load_row(state, in);
  pc_decoder_expect(in, state->blocks <= totals->rows / state->rows &&
                            state->blocks * state->rows + count == totals->rows);
  const double squares = pc_sum_value(&state->squares), sum = pc_sum_value(&state->sum);
  pc_decoder_expect(in, fabs(sum) <= 4.0 * (double)state->blocks && squares >= 0.0 &&
                            squares <= 16.0 * (double)state->blocks);
  pc_decoder_expect(in, pc_sum_value(&totals->weight) == (double)totals->rows);
  pc_decoder_expect(in, in->failed || machine_block_settled(state));
  return PCAL_OK;
}

const pc_machine pc_machine_block = {
    .name = "block",
    .create = machine_block_create,
    .destroy = machine_block_destroy,
    .clear = machine_block_clear,
    .update = machine_block_update,
    .prepare = machine_block_prepare,
    .merge = machine_block_merge,
    .finish = machine_block_finish,
    .release = machine_block_release,
    .save = machine_block_save,
    .load = machine_block_load,
};
