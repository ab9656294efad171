/* The block machine: pairs of rows inside blocks of m consecutive rows.
 *
 * State: exact sums of the values of complete blocks and of their squares, the number of these
 * blocks, and the rows of incomplete blocks.  Block b consists of rows [b m, (b + 1) m) of the
 * whole data set.  A block is evaluated as soon as one update contains all of its rows, or a
 * merge adds the last of them; its value does not depend on when that happens.  Without groups
 * the machine stores little more than the rows of incomplete blocks at both ends of the rows
 * read, and of blocks with a missing row, which never become complete. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "machines/machine.h"

#define MACHINE_BLOCK_LEAST \
  (-0.1) /* lower bound of probabilities; the upper one is 1 minus this */

typedef struct block_state {
  size_t classes, rows;
  double least; /* lower bound of the numbers of a row; the upper one is 1 - least */
  pc_block_function value;
  double params[3];
  pc_sum sum, squares;
  uint64_t blocks;
  size_t count; /* stored rows */
  uint64_t *ids;
  double *probs;
  int32_t *labels;
  size_t ids_capacity, probs_capacity, labels_capacity;
  size_t *order; /* for merges: 2 * rows elements */
  size_t order_capacity;
  void *space; /* memory for the rows of one block, or NULL */
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

/* Allocates memory for the rows of one block. */
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

/* Indices ascend within an update, so that the rows of a block are neighbours. */
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

/* True if the m rows of a block begin at position `at` of the order. */
static int machine_block_complete(const block_state *state, const size_t *order, size_t at) {
  const size_t m = state->rows;
  if (at + m > state->count || state->ids[order[at]] % m != 0)
    return 0;
  return state->ids[order[at + m - 1]] == state->ids[order[at]] + (m - 1);
}

/* The complete blocks among the stored rows. */
typedef struct block_gain {
  pc_sum sum, squares;
  uint64_t blocks;
  size_t left; /* number of rows in other blocks: the first elements of the order */
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

/* A state with all complete blocks evaluated, computed without changing it. */
typedef struct block_summary {
  size_t *order;
  void *space;
  block_gain gain;
} block_summary;

static pcal_status machine_block_summarize(const pcal_env *env, const block_state *state,
                                           block_summary *out, pcal_error *err) {
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

static void machine_block_summary_free(const pcal_env *env, block_summary *summary) {
  pc_free(env, summary->order);
  pc_free(env, summary->space);
}

static pcal_status machine_block_finish(const pcal_env *env, const void *opaque,
                                        pc_evidence *out, pcal_error *err) {
  block_summary summary;
  PC_TRY(machine_block_summarize(env, opaque, &summary, err));
  out->block.count = summary.gain.blocks;
  out->block.sum = pc_sum_value(&summary.gain.sum);
  out->block.squares = pc_sum_value(&summary.gain.squares);
  machine_block_summary_free(env, &summary);
  return PCAL_OK;
}

static void machine_block_release(const pcal_env *env, pc_evidence *evidence) {
  (void)env;
  (void)evidence;
}

/* Saved: the number of complete blocks, the sums of their values and squares, then the other
 * rows by index. */
static pcal_status machine_block_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                      pcal_error *err) {
  const block_state *state = opaque;
  block_summary summary;
  PC_TRY(machine_block_summarize(env, state, &summary, err));
  pc_encode_u64(out, summary.gain.blocks);
  pc_encode_sum(out, &summary.gain.sum);
  pc_encode_sum(out, &summary.gain.squares);
  pc_encode_u64(out, summary.gain.left);
  for (size_t i = 0; i < summary.gain.left; i++) {
    const size_t at = summary.order[i];
    pc_encode_u64(out, state->ids[at]);
    pc_encode_u32(out, (uint32_t)state->labels[at]);
    pc_encode_doubles(out, state->probs + at * state->classes, state->classes);
  }
  machine_block_summary_free(env, &summary);
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

/* True if no block among the stored rows is complete, as in every saved state. */
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
