/* The rows machine: all rows, to measure them again with other weights or labels
 * (measure/replicas/replicas.h).
 *
 * State: index, key, label, weight and score of each row; if requested also all its
 * probabilities and the number of its group.  Finishing sorts rows by index, so that the result
 * depends neither on threads nor on merges.
 *
 * Saved: the number of rows (u64), then column by column in the order of the index: ids and
 * keys (u64), labels and, for several columns, top labels (u32), weights, scores and, if
 * stored, probabilities
 * (doubles). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/copy_pieces.h"
#include "base/executor.h"
#include "base/rng.h"
#include "machines/rows_state.h"

#define MACHINE_ROWS_ROW_BYTES 36            /* bytes of a row of one column, as saved */
#define MACHINE_ROWS_BLOCK ((size_t)1 << 12) /* rows that a task puts in order */
#define MACHINE_ROWS_BYTE_COST 1.0           /* nanoseconds, for the executor */

static void machine_rows_destroy(const pcal_env *env, void *opaque) {
  pc_rows_state *state = opaque;
  for (size_t c = 0; c < PC_ROWS_COLUMNS; c++)
    pc_free(env, state->column[c].data);
  pc_free(env, state);
}

static void machine_rows_clear(void *opaque) {
  pc_rows_state *state = opaque;
  state->count = 0;
}

static pcal_status machine_rows_create(const pcal_env *env, const pc_need *need,
                                       const pc_layout *layout, void **out, pcal_error *err) {
  pc_rows_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing to keep rows");
  const int regression = layout->form != PC_FORM_CLASSES;
  const size_t whole = need->rows.all_probs && layout->classes > 1 ? layout->classes : 0;
  const pc_rows_column columns[PC_ROWS_COLUMNS] = {
      [PC_ROWS_IDS] = {NULL, 0, sizeof(uint64_t), 1},
      [PC_ROWS_KEYS] = {NULL, 0, sizeof(uint64_t), 1},
      [PC_ROWS_LABELS] = {NULL, 0, sizeof(int32_t), 1},
      [PC_ROWS_WEIGHTS] = {NULL, 0, sizeof(double), 1},
      [PC_ROWS_SCORE] = {NULL, 0, sizeof(double), !regression},
      [PC_ROWS_TOP] = {NULL, 0, sizeof(int32_t), layout->columns > 1 && !regression},
      [PC_ROWS_PROBS] = {NULL, 0, sizeof(double), whole},
      [PC_ROWS_CLUSTERS] = {NULL, 0, sizeof(uint32_t), need->rows.clusters != 0},
  };
  memcpy(state->column, columns, sizeof columns);
  state->classes = layout->classes;
  state->regression = regression;
  *out = state;
  return PCAL_OK;
}

static size_t machine_rows_row_bytes(const pc_rows_state *state) {
  size_t bytes = 0;
  for (size_t c = 0; c < PC_ROWS_COLUMNS; c++)
    bytes += state->column[c].size * state->column[c].per_row;
  return bytes;
}

static pcal_status machine_rows_room(const pcal_env *env, pc_rows_state *state, size_t more,
                                     pcal_error *err) {
  const size_t needed = state->count + more;
  PC_TRY(pc_check_memory_limit(env, needed * machine_rows_row_bytes(state),
                               "leave out {interval} and {null}, or measure fewer rows", err));
  for (size_t c = 0; c < PC_ROWS_COLUMNS; c++) {
    pc_rows_column *column = &state->column[c];
    void *block = column->data;
    const pcal_status status =
        pc_reserve(env, &block, &column->capacity, needed * column->per_row, column->size, err);
    column->data = block;
    PC_TRY(status);
  }
  return PCAL_OK;
}

static void machine_rows_copy(pc_rows_state *state, size_t c, size_t at, const void *from,
                              size_t rows) {
  const pc_rows_column *column = &state->column[c];
  const size_t bytes = column->size * column->per_row;
  if (rows * bytes > 0)
    memcpy((char *)column->data + at * bytes, from, rows * bytes);
}

static pcal_status machine_rows_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                       const pc_view_columns *columns, pcal_error *err) {
  (void)columns;
  pc_rows_state *state = opaque;
  const size_t at = state->count, n = rows->count;
  PC_TRY(machine_rows_room(env, state, n, err));
  machine_rows_copy(state, PC_ROWS_IDS, at, rows->ids, n);
  machine_rows_copy(state, PC_ROWS_LABELS, at, rows->labels, n);
  machine_rows_copy(state, PC_ROWS_TOP, at, rows->top_label, n);
  machine_rows_copy(state, PC_ROWS_PROBS, at, rows->probs, n);
  machine_rows_copy(state, PC_ROWS_SCORE, at,
                    state->column[PC_ROWS_TOP].per_row > 0 ? rows->top : rows->positive, n);
  machine_rows_copy(state, PC_ROWS_CLUSTERS, at, rows->groups, n);
  double *weights = state->column[PC_ROWS_WEIGHTS].data;
  uint64_t *keys = state->column[PC_ROWS_KEYS].data;
  for (size_t i = 0; i < n; i++) {
    weights[at + i] = rows->weights == NULL ? 1.0 : rows->weights[i];
    keys[at + i] = rows->keys == NULL ? 0 : rows->keys[i];
  }
  state->count += n;
  return PCAL_OK;
}

static pcal_status machine_rows_prepare(const pcal_env *env, void *opaque, const void *other,
                                        pcal_error *err) {
  const pc_rows_state *from = other;
  return machine_rows_room(env, opaque, from->count, err);
}

static void machine_rows_merge(void *opaque, const void *other) {
  pc_rows_state *into = opaque;
  const pc_rows_state *from = other;
  for (size_t c = 0; c < PC_ROWS_COLUMNS; c++)
    machine_rows_copy(into, c, into->count, from->column[c].data, from->count);
  into->count += from->count;
}

static pcal_status machine_rows_gather_states(const pcal_env *env, void *opaque,
                                              void *const *others, size_t count,
                                              pcal_error *err) {
  pc_rows_state *into = opaque;
  size_t rows = 0;
  for (size_t i = 0; i < count; i++)
    rows += ((const pc_rows_state *)others[i])->count;
  PC_TRY(machine_rows_room(env, into, rows, err));
  pc_copy_piece *pieces = pc_alloc(env, PC_ROWS_COLUMNS * count, sizeof *pieces);
  if (pieces == NULL)
    return pc_fail_memory(err, "keeping rows");
  for (size_t c = 0; c < PC_ROWS_COLUMNS; c++) {
    const size_t bytes = into->column[c].size * into->column[c].per_row;
    char *to = (char *)into->column[c].data + into->count * bytes;
    for (size_t i = 0; i < count; i++) {
      const pc_rows_state *from = others[i];
      pieces[c * count + i] = (pc_copy_piece){to, from->column[c].data, from->count * bytes};
      to += from->count * bytes;
    }
  }
  const pcal_status status = pc_copy_pieces(env, pieces, PC_ROWS_COLUMNS * count, err);
  pc_free(env, pieces);
  into->count += status == PCAL_OK ? rows : 0;
  for (size_t i = 0; i < count && status == PCAL_OK; i++)
    machine_rows_clear(others[i]);
  return status;
}

size_t pc_machine_rows_count(const void *opaque) {
  const pc_rows_state *state = opaque;
  return state->count;
}

void pc_machine_rows_renumber_clusters(void *opaque, size_t first, const size_t *map) {
  pc_rows_state *state = opaque;
  uint32_t *clusters = state->column[PC_ROWS_CLUSTERS].data;
  for (size_t i = first; clusters != NULL && i < state->count; i++)
    clusters[i] = (uint32_t)map[clusters[i]];
}

/* ---- in order ---- */

#define PC_SORT_NAME machine_rows_sort_positions
#define PC_SORT_TYPE size_t
#define PC_SORT_CONTEXT const uint64_t *
#define PC_SORT_IN_ORDER(ids, a, b) ((ids)[*(a)] <= (ids)[*(b)])
#include "base/stable_sort.h"

/* The positions of rows by ascending index.  The caller frees *out. */
static pcal_status machine_rows_order(const pcal_env *env, const pc_rows_state *state,
                                      size_t **out, pcal_error *err) {
  const size_t n = state->count;
  const uint64_t *ids = state->column[PC_ROWS_IDS].data;
  size_t *order = pc_alloc_raw(env, 2 * n, sizeof *order);
  if (order == NULL)
    return pc_fail_memory(err, "ordering rows");
  int sorted = 1;
  for (size_t i = 0; i < n; i++) {
    order[i] = i;
    sorted &= i == 0 || ids[i - 1] <= ids[i];
  }
  if (!sorted)
    machine_rows_sort_positions(ids, order, order + n, n);
  *out = order;
  return PCAL_OK;
}

void pc_rows_release(const pcal_env *env, pc_evidence *evidence) {
  pc_kept_rows *kept = &evidence->kept;
  pc_free(env, kept->ids);
  pc_free(env, kept->labels);
  pc_free(env, kept->weights);
  pc_free(env, kept->copies);
  pc_free(env, kept->score);
  pc_free(env, kept->top_label);
  pc_free(env, kept->probs);
  pc_free(env, kept->clusters);
  *kept = (pc_kept_rows){.count = 0};
}

/* A column that is put in order, block by block. */
typedef struct rows_ordering {
  const char *from;
  const size_t *order;
  char *out;
  size_t bytes, count; /* of a row; rows */
} rows_ordering;

static pcal_status machine_rows_order_block(void *user, size_t block, size_t worker,
                                            pcal_error *err) {
  const rows_ordering *work = user;
  const size_t begin = block * MACHINE_ROWS_BLOCK, left = work->count - begin;
  const size_t end = begin + (left < MACHINE_ROWS_BLOCK ? left : MACHINE_ROWS_BLOCK);
  (void)worker;
  (void)err;
  for (size_t i = begin; i < end; i++)
    memcpy(work->out + i * work->bytes, work->from + work->order[i] * work->bytes, work->bytes);
  return PCAL_OK;
}

void *pc_rows_ordered(const pcal_env *env, const pc_rows_state *state, size_t c,
                      const size_t *order, int *enough) {
  const pc_rows_column *column = &state->column[c];
  const size_t bytes = column->size * column->per_row;
  if (bytes == 0)
    return NULL;
  const size_t blocks = (state->count + MACHINE_ROWS_BLOCK - 1) / MACHINE_ROWS_BLOCK;
  rows_ordering work = {column->data, order, pc_alloc_raw(env, state->count, bytes), bytes,
                        state->count};
  pcal_env quiet = *env; /* so that nothing but memory can fail */
  quiet.interrupted = NULL;
  *enough &= work.out != NULL &&
             pc_run(&quiet, blocks, MACHINE_ROWS_BYTE_COST * (double)(state->count * bytes),
                    machine_rows_order_block, &work, NULL) == PCAL_OK;
  return work.out;
}

static pcal_status machine_rows_finish(const pcal_env *env, const void *opaque,
                                       pc_evidence *out, pcal_error *err) {
  const pc_rows_state *state = opaque;
  size_t *order;
  int enough = 1;
  PC_TRY(machine_rows_order(env, state, &order, err));
  out->kept = (pc_kept_rows){
      .count = state->count,
      .classes = state->classes,
      .ids = pc_rows_ordered(env, state, PC_ROWS_IDS, order, &enough),
      .labels = pc_rows_ordered(env, state, PC_ROWS_LABELS, order, &enough),
      .weights = pc_rows_ordered(env, state, PC_ROWS_WEIGHTS, order, &enough),
      .score = pc_rows_ordered(env, state, PC_ROWS_SCORE, order, &enough),
      .top_label = pc_rows_ordered(env, state, PC_ROWS_TOP, order, &enough),
      .probs = pc_rows_ordered(env, state, PC_ROWS_PROBS, order, &enough),
  };
  pc_free(env, order);
  if (enough)
    return PCAL_OK;
  pc_rows_release(env, out);
  return pc_fail_memory(err, "ordering rows");
}

/* ---- saving ---- */

static void machine_rows_save_columns(const pc_rows_state *state, const size_t *order,
                                      pc_encoder *out) {
  const uint64_t *ids = state->column[PC_ROWS_IDS].data,
                 *keys = state->column[PC_ROWS_KEYS].data;
  const int32_t *labels = state->column[PC_ROWS_LABELS].data;
  const int32_t *top = state->column[PC_ROWS_TOP].data;
  const double *probs = state->column[PC_ROWS_PROBS].data;
  const size_t wide = state->column[PC_ROWS_PROBS].per_row;
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u64(out, ids[order[i]]);
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u64(out, keys[order[i]]);
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u32(out, (uint32_t)labels[order[i]]);
  for (size_t i = 0; state->column[PC_ROWS_TOP].per_row > 0 && i < state->count; i++)
    pc_encode_u32(out, (uint32_t)top[order[i]]);
  for (size_t c = PC_ROWS_WEIGHTS; c <= PC_ROWS_SCORE; c++)
    for (size_t i = 0; state->column[c].per_row > 0 && i < state->count; i++)
      pc_encode_doubles(out, (const double *)state->column[c].data + order[i], 1);
  for (size_t i = 0; wide > 0 && i < state->count; i++)
    pc_encode_doubles(out, probs + order[i] * wide, wide);
}

static pcal_status machine_rows_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                     pcal_error *err) {
  const pc_rows_state *state = opaque;
  size_t *order;
  PC_TRY(machine_rows_order(env, state, &order, err));
  pc_encode_u64(out, state->count);
  machine_rows_save_columns(state, order, out);
  pc_free(env, order);
  return PCAL_OK;
}

static void machine_rows_load_columns(pc_rows_state *state, size_t rows, pc_decoder *in) {
  uint64_t *ids = state->column[PC_ROWS_IDS].data, *keys = state->column[PC_ROWS_KEYS].data;
  int32_t *labels = state->column[PC_ROWS_LABELS].data, *top = state->column[PC_ROWS_TOP].data;
  for (size_t i = 0; i < rows; i++)
    ids[i] = pc_decode_u64(in);
  for (size_t i = 0; i < rows; i++)
    keys[i] = pc_decode_u64(in);
  for (size_t i = 0; i < rows; i++)
    labels[i] = (int32_t)pc_decode_u32(in);
  for (size_t i = 0; state->column[PC_ROWS_TOP].per_row > 0 && i < rows; i++)
    top[i] = (int32_t)pc_decode_u32(in);
  for (size_t c = PC_ROWS_WEIGHTS; c <= PC_ROWS_PROBS; c++)
    if (c != PC_ROWS_TOP && state->column[c].per_row > 0)
      pc_decode_doubles(in, state->column[c].data, rows * state->column[c].per_row);
}

/* Fails the decoder on impossible values. */
static void machine_rows_check(const pc_rows_state *state, const pc_saved_totals *totals,
                               pc_decoder *in) {
  const size_t labels = state->classes > 1 ? state->classes : 2;
  const double *weights = state->column[PC_ROWS_WEIGHTS].data;
  const double *score = state->column[PC_ROWS_SCORE].data;
  const double *probs = state->column[PC_ROWS_PROBS].data;
  const int32_t *label = state->column[PC_ROWS_LABELS].data,
                *top = state->column[PC_ROWS_TOP].data;
  pc_sum weight;
  pc_sum_clear(&weight);
  for (size_t i = 0; i < state->count; i++) {
    const int valid = weights[i] > 0 && isfinite(weights[i]);
    pc_decoder_expect(in, valid && label[i] >= 0 && (size_t)label[i] < labels);
    pc_decoder_expect(in, state->regression || fabs(score[i]) <= 2.0);
    if (state->column[PC_ROWS_TOP].per_row > 0)
      pc_decoder_expect(in, top[i] >= 0 && (size_t)top[i] < labels);
    pc_sum_add(&weight, valid ? weights[i] : 0.0);
  }
  const double most = state->regression ? DBL_MAX : 2.0;
  for (size_t i = 0; i < state->count * state->column[PC_ROWS_PROBS].per_row; i++)
    pc_decoder_expect(in, fabs(probs[i]) <= most);
  pc_decoder_expect(in, pc_sum_equal(&weight, &totals->weight));
}

static pcal_status machine_rows_load(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, const pc_saved_totals *totals,
                                     pc_decoder *in, void **out, pcal_error *err) {
  PC_TRY(machine_rows_create(env, need, layout, out, err));
  pc_rows_state *state = *out;
  const size_t rows = pc_decode_count(in, MACHINE_ROWS_ROW_BYTES);
  pc_decoder_expect(in, rows == totals->rows &&
                            rows <= pc_decoder_left(in) / machine_rows_row_bytes(state));
  if (in->failed)
    return PCAL_OK;
  PC_TRY(machine_rows_room(env, state, rows, err));
  machine_rows_load_columns(state, rows, in);
  state->count = rows;
  if (!in->failed)
    machine_rows_check(state, totals, in);
  return PCAL_OK;
}

const pc_machine pc_machine_rows = {
    .name = "keep",
    .create = machine_rows_create,
    .destroy = machine_rows_destroy,
    .clear = machine_rows_clear,
    .update = machine_rows_update,
    .prepare = machine_rows_prepare,
    .merge = machine_rows_merge,
    .gather = machine_rows_gather_states,
    .finish = machine_rows_finish,
    .release = pc_rows_release,
    .save = machine_rows_save,
    .load = machine_rows_load,
};
