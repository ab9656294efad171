/* The pair machine: all rows.
 *
 * State: probabilities, labels and weights of every row.  Finishing sorts the rows by their
 * contents and joins equal rows, so that sums over pairs in that order depend neither on the
 * order of rows nor on whether a row is repeated or has a weight.
 *
 * Packed, while a group has few rows: their number (u64), labels (u32), weights, probabilities. */
#include <string.h>

#include "machines/machine.h"

#include "base/assert.h"

#define MACHINE_PAIR_ROW_BYTES(classes) (((classes) + 1) * sizeof(double) + sizeof(int32_t))

typedef struct pair_state {
  size_t classes, count;
  double *probs, *weights;
  int32_t *labels;
  size_t probs_capacity, weights_capacity, labels_capacity;
} pair_state;

static void machine_pair_destroy(const pcal_env *env, void *opaque) {
  pair_state *state = opaque;
  pc_free(env, state->probs);
  pc_free(env, state->weights);
  pc_free(env, state->labels);
  pc_free(env, state);
}

static void machine_pair_clear(void *opaque) {
  pair_state *state = opaque;
  state->count = 0;
}

static pcal_status machine_pair_create(const pcal_env *env, const pc_need *need,
                                       const pc_layout *layout, void **out, pcal_error *err) {
  (void)need;
  pair_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing pairs");
  state->classes = layout->classes;
  *out = state;
  return PCAL_OK;
}

static pcal_status machine_pair_room(const pcal_env *env, pair_state *state, size_t more,
                                     pcal_error *err) {
  const size_t needed = state->count + more, k = state->classes;
  PC_TRY(pc_check_memory_limit(
      env, needed * (k * sizeof(double) + 12),
      "skce:estimator=block needs only a few rows at a time, or measure a random "
      "part of the rows",
      err));
  void *probs = state->probs, *weights = state->weights, *labels = state->labels;
  pcal_status status =
      pc_reserve(env, &probs, &state->probs_capacity, needed * k, sizeof(double), err);
  state->probs = probs;
  if (status == PCAL_OK)
    status = pc_reserve(env, &weights, &state->weights_capacity, needed, sizeof(double), err);
  state->weights = weights;
  if (status == PCAL_OK)
    status = pc_reserve(env, &labels, &state->labels_capacity, needed, sizeof(int32_t), err);
  state->labels = labels;
  return status;
}

static void machine_pair_append(pair_state *state, const double *probs, const int32_t *labels,
                                const double *weights, size_t count) {
  const size_t k = state->classes;
  if (count == 0)
    return;
  memcpy(state->probs + state->count * k, probs, count * k * sizeof(double));
  memcpy(state->labels + state->count, labels, count * sizeof(int32_t));
  for (size_t i = 0; i < count; i++)
    state->weights[state->count + i] = weights == NULL ? 1.0 : weights[i];
  state->count += count;
}

static pcal_status machine_pair_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                       const pc_view_columns *columns, pcal_error *err) {
  (void)columns;
  PC_TRY(machine_pair_room(env, opaque, rows->count, err));
  machine_pair_append(opaque, rows->probs, rows->labels, rows->weights, rows->count);
  return PCAL_OK;
}

static pcal_status machine_pair_prepare(const pcal_env *env, void *opaque, const void *other,
                                        pcal_error *err) {
  const pair_state *from = other;
  return machine_pair_room(env, opaque, from->count, err);
}

static void machine_pair_merge(void *opaque, const void *other) {
  const pair_state *from = other;
  pc_assert(((const pair_state *)opaque)->classes == from->classes);
  machine_pair_append(opaque, from->probs, from->labels, from->weights, from->count);
}

/* ---- order ---- */

/* The sort key of a row: neighbours have the same label and similar probabilities. */
typedef struct pair_key {
  int32_t label, top; /* top: class of the largest probability, the lowest on ties */
  double high;        /* that probability */
  size_t row;
} pair_key;

static pair_key machine_pair_key(const pair_state *state, size_t row) {
  const double *p = state->probs + row * state->classes;
  pair_key key = {state->labels[row], 0, p[0], row};
  for (size_t c = 1; c < state->classes; c++)
    if (p[c] > key.high) {
      key.high = p[c];
      key.top = (int32_t)c;
    }
  return key;
}

static int machine_pair_compare(const pair_state *state, const pair_key *a, const pair_key *b) {
  const double *p = state->probs + a->row * state->classes;
  const double *q = state->probs + b->row * state->classes;
  if (a->label != b->label)
    return a->label < b->label ? -1 : 1;
  if (a->top != b->top)
    return a->top < b->top ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  for (size_t c = 0; c < state->classes; c++)
    if (p[c] != q[c])
      return p[c] < q[c] ? -1 : 1;
  return 0;
}

/* Equal rows are ordered by weight, so that weights are always added in the same order. */
static int machine_pair_in_order(const pair_state *state, const pair_key *a,
                                 const pair_key *b) {
  const int order = machine_pair_compare(state, a, b);
  return order < 0 || (order == 0 && state->weights[a->row] <= state->weights[b->row]);
}

#define PC_SORT_NAME machine_pair_sort
#define PC_SORT_TYPE pair_key
#define PC_SORT_CONTEXT const pair_state *
#define PC_SORT_IN_ORDER machine_pair_in_order
#include "base/stable_sort.h"

static void machine_pair_release(const pcal_env *env, pc_evidence *evidence) {
  pc_free(env, evidence->pair.block);
  evidence->pair.block = NULL;
}

static void machine_pair_join(const pair_state *state, const pair_key *keys,
                              pc_pair_rows *rows) {
  for (size_t i = 0; i < state->count; i++) {
    const size_t at = keys[i].row;
    if (i > 0 && machine_pair_compare(state, &keys[i - 1], &keys[i]) == 0)
      rows->weights[rows->count - 1] += state->weights[at];
    else
      pc_pair_rows_add(rows, state->probs + at * state->classes, state->labels[at],
                       state->weights[at]);
  }
  pc_pair_rows_close(rows);
}

static pcal_status machine_pair_finish(const pcal_env *env, const void *opaque,
                                       pc_evidence *out, pcal_error *err) {
  const pair_state *state = opaque;
  const size_t n = state->count, bytes = pc_pair_rows_bytes(n, state->classes);
  pair_key *keys = pc_alloc_raw(env, 2 * n, sizeof *keys);
  out->pair.block = bytes == 0 ? NULL : pc_alloc_raw(env, bytes, 1);
  const int enough = keys != NULL && out->pair.block != NULL;
  if (enough) {
    for (size_t i = 0; i < n; i++)
      keys[i] = machine_pair_key(state, i);
    machine_pair_sort(state, keys, keys + n, n);
    out->pair.rows = pc_pair_rows_in(out->pair.block, n, state->classes);
    machine_pair_join(state, keys, &out->pair.rows);
  } else {
    machine_pair_release(env, out);
  }
  pc_free(env, keys);
  return enough ? PCAL_OK : pc_fail_memory(err, "ordering rows for pairs");
}

/* ---- as bytes ---- */

static pcal_status machine_pair_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                     pcal_error *err) {
  const pair_state *state = opaque;
  (void)env;
  (void)err;
  pc_encode_u64(out, state->count);
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u32(out, (uint32_t)state->labels[i]);
  pc_encode_doubles(out, state->weights, state->count);
  pc_encode_doubles(out, state->probs, state->count * state->classes);
  return PCAL_OK;
}

static pcal_status machine_pair_load(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, const pc_saved_totals *totals,
                                     pc_decoder *in, void **out, pcal_error *err) {
  PC_TRY(machine_pair_create(env, need, layout, out, err));
  pair_state *state = *out;
  const size_t rows = pc_decode_count(in, MACHINE_PAIR_ROW_BYTES(state->classes));
  pc_decoder_expect(in, rows == totals->rows);
  if (in->failed)
    return PCAL_OK;
  PC_TRY(machine_pair_room(env, state, rows, err));
  for (size_t i = 0; i < rows; i++)
    state->labels[i] = (int32_t)pc_decode_u32(in);
  pc_decode_doubles(in, state->weights, rows);
  pc_decode_doubles(in, state->probs, rows * state->classes);
  state->count = rows;
  return PCAL_OK;
}

const pc_machine pc_machine_pair = {
    .name = "pair",
    .create = machine_pair_create,
    .destroy = machine_pair_destroy,
    .clear = machine_pair_clear,
    .update = machine_pair_update,
    .prepare = machine_pair_prepare,
    .merge = machine_pair_merge,
    .finish = machine_pair_finish,
    .release = machine_pair_release,
    .save = machine_pair_save,
    .load = machine_pair_load,
    .packed_only = 1,
};
