/* The rows machine: all rows, to measure them again with other weights or labels
 * (measure/replicas/replicas.h).
 *
 * State: index, key, label, weight and score of each row; if requested also all its
 * probabilities and the number of its group.  Finishing sorts rows by index, so that the result
 * depends neither on threads nor on merges.
 *
 * Distinct rows are sorted by key, then by content.  Equal neighbours become one row with a
 * number of copies.  Rows that share a key but differ (in weight, cluster, or by a hash
 * collision) get keys of their own, numbered in that order.  So the result depends neither on
 * the order of rows nor on whether a row is repeated or has a weight.
 *
 * Saved: the number of rows (u64), then column by column in the order of the index: ids and
 * keys (u64), labels and, for several columns, top labels (u32), weights, scores and, if
 * stored, probabilities
 * (doubles). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "machines/machine_rows.h"

#define MACHINE_ROWS_ROW_BYTES 36 /* bytes of a row of one column, as saved */

/* One column of the state. */
typedef struct rows_column {
  void *data;
  size_t capacity, size, per_row; /* per_row elements of `size` bytes per row */
} rows_column;

enum {
  ROWS_IDS,
  ROWS_KEYS,
  ROWS_LABELS,
  ROWS_WEIGHTS,
  ROWS_SCORE,
  ROWS_TOP,
  ROWS_PROBS,
  ROWS_CLUSTERS,
  ROWS_COLUMNS
};

typedef struct rows_state {
  size_t classes, count;
  int regression;
  rows_column column[ROWS_COLUMNS];
} rows_state;

static void machine_rows_destroy(const pcal_env *env, void *opaque) {
  rows_state *state = opaque;
  for (size_t c = 0; c < ROWS_COLUMNS; c++)
    pc_free(env, state->column[c].data);
  pc_free(env, state);
}

static void machine_rows_clear(void *opaque) {
  rows_state *state = opaque;
  state->count = 0;
}

static pcal_status machine_rows_create(const pcal_env *env, const pc_need *need,
                                       const pc_layout *layout, void **out, pcal_error *err) {
  rows_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing to keep rows");
  const int regression = layout->form != PC_FORM_CLASSES;
  const size_t whole = need->rows.all_probs && layout->classes > 1 ? layout->classes : 0;
  const rows_column columns[ROWS_COLUMNS] = {
      [ROWS_IDS] = {NULL, 0, sizeof(uint64_t), 1},
      [ROWS_KEYS] = {NULL, 0, sizeof(uint64_t), 1},
      [ROWS_LABELS] = {NULL, 0, sizeof(int32_t), 1},
      [ROWS_WEIGHTS] = {NULL, 0, sizeof(double), 1},
      [ROWS_SCORE] = {NULL, 0, sizeof(double), !regression},
      [ROWS_TOP] = {NULL, 0, sizeof(int32_t), layout->columns > 1 && !regression},
      [ROWS_PROBS] = {NULL, 0, sizeof(double), whole},
      [ROWS_CLUSTERS] = {NULL, 0, sizeof(uint32_t), need->rows.clusters != 0},
  };
  memcpy(state->column, columns, sizeof columns);
  state->classes = layout->classes;
  state->regression = regression;
  *out = state;
  return PCAL_OK;
}

static size_t machine_rows_row_bytes(const rows_state *state) {
  size_t bytes = 0;
  for (size_t c = 0; c < ROWS_COLUMNS; c++)
    bytes += state->column[c].size * state->column[c].per_row;
  return bytes;
}

static pcal_status machine_rows_room(const pcal_env *env, rows_state *state, size_t more,
                                     pcal_error *err) {
  const size_t needed = state->count + more;
  PC_TRY(pc_check_memory_limit(env, needed * machine_rows_row_bytes(state),
                               "leave out {interval} and {null}, or measure fewer rows", err));
  for (size_t c = 0; c < ROWS_COLUMNS; c++) {
    rows_column *column = &state->column[c];
    void *block = column->data;
    const pcal_status status =
        pc_reserve(env, &block, &column->capacity, needed * column->per_row, column->size, err);
    column->data = block;
    PC_TRY(status);
  }
  return PCAL_OK;
}

static void machine_rows_copy(rows_state *state, size_t c, size_t at, const void *from,
                              size_t rows) {
  const rows_column *column = &state->column[c];
  const size_t bytes = column->size * column->per_row;
  if (rows * bytes > 0)
    memcpy((char *)column->data + at * bytes, from, rows * bytes);
}

static pcal_status machine_rows_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                       const pc_view_columns *columns, pcal_error *err) {
  (void)columns;
  rows_state *state = opaque;
  const size_t at = state->count, n = rows->count;
  PC_TRY(machine_rows_room(env, state, n, err));
  machine_rows_copy(state, ROWS_IDS, at, rows->ids, n);
  machine_rows_copy(state, ROWS_LABELS, at, rows->labels, n);
  machine_rows_copy(state, ROWS_TOP, at, rows->top_label, n);
  machine_rows_copy(state, ROWS_PROBS, at, rows->probs, n);
  machine_rows_copy(state, ROWS_SCORE, at,
                    state->column[ROWS_TOP].per_row > 0 ? rows->top : rows->positive, n);
  machine_rows_copy(state, ROWS_CLUSTERS, at, rows->groups, n);
  double *weights = state->column[ROWS_WEIGHTS].data;
  uint64_t *keys = state->column[ROWS_KEYS].data;
  for (size_t i = 0; i < n; i++) {
    weights[at + i] = rows->weights == NULL ? 1.0 : rows->weights[i];
    keys[at + i] = rows->keys == NULL ? 0 : rows->keys[i];
  }
  state->count += n;
  return PCAL_OK;
}

static pcal_status machine_rows_prepare(const pcal_env *env, void *opaque, const void *other,
                                        pcal_error *err) {
  const rows_state *from = other;
  return machine_rows_room(env, opaque, from->count, err);
}

static void machine_rows_merge(void *opaque, const void *other) {
  rows_state *into = opaque;
  const rows_state *from = other;
  for (size_t c = 0; c < ROWS_COLUMNS; c++)
    machine_rows_copy(into, c, into->count, from->column[c].data, from->count);
  into->count += from->count;
}

size_t pc_machine_rows_count(const void *opaque) {
  const rows_state *state = opaque;
  return state->count;
}

void pc_machine_rows_renumber_clusters(void *opaque, size_t first, const size_t *map) {
  rows_state *state = opaque;
  uint32_t *clusters = state->column[ROWS_CLUSTERS].data;
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
static pcal_status machine_rows_order(const pcal_env *env, const rows_state *state,
                                      size_t **out, pcal_error *err) {
  const size_t n = state->count;
  const uint64_t *ids = state->column[ROWS_IDS].data;
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

static void machine_rows_release(const pcal_env *env, pc_evidence *evidence) {
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

/* A column in the given order; NULL if the state has none.  Sets *enough to 0 if memory runs
 * out. */
static void *machine_rows_ordered(const pcal_env *env, const rows_state *state, size_t c,
                                  const size_t *order, int *enough) {
  const rows_column *column = &state->column[c];
  const size_t bytes = column->size * column->per_row;
  if (bytes == 0)
    return NULL;
  char *out = pc_alloc_raw(env, state->count, bytes);
  for (size_t i = 0; out != NULL && i < state->count; i++)
    memcpy(out + i * bytes, (const char *)column->data + order[i] * bytes, bytes);
  *enough &= out != NULL;
  return out;
}

static pcal_status machine_rows_finish(const pcal_env *env, const void *opaque,
                                       pc_evidence *out, pcal_error *err) {
  const rows_state *state = opaque;
  size_t *order;
  int enough = 1;
  PC_TRY(machine_rows_order(env, state, &order, err));
  out->kept = (pc_kept_rows){
      .count = state->count,
      .classes = state->classes,
      .ids = machine_rows_ordered(env, state, ROWS_IDS, order, &enough),
      .labels = machine_rows_ordered(env, state, ROWS_LABELS, order, &enough),
      .weights = machine_rows_ordered(env, state, ROWS_WEIGHTS, order, &enough),
      .score = machine_rows_ordered(env, state, ROWS_SCORE, order, &enough),
      .top_label = machine_rows_ordered(env, state, ROWS_TOP, order, &enough),
      .probs = machine_rows_ordered(env, state, ROWS_PROBS, order, &enough),
  };
  pc_free(env, order);
  if (enough)
    return PCAL_OK;
  machine_rows_release(env, out);
  return pc_fail_memory(err, "ordering rows");
}

/* ---- distinct rows ---- */

/* A row and its key, for sorting. */
typedef struct row_key {
  uint64_t key;
  size_t row;
} row_key;

typedef struct distinct_job {
  const rows_state *state;
  const pc_distinct_rule *how;
} distinct_job;

static uint64_t machine_rows_cluster(const distinct_job *job, size_t row) {
  const uint32_t *clusters = job->state->column[ROWS_CLUSTERS].data;
  if (job->state->column[ROWS_CLUSTERS].per_row == 0)
    return 0;
  return clusters[row] < job->how->cluster_count ? job->how->cluster_keys[clusters[row]]
                                                 : clusters[row];
}

static int machine_rows_differ(double a, double b) {
  return (a > b) - (a < b);
}

/* Compares the contents of two rows with the same key. */
static int machine_rows_compare(const distinct_job *job, size_t a, size_t b) {
  const rows_column *column = job->state->column;
  const int32_t *labels = column[ROWS_LABELS].data, *top = column[ROWS_TOP].data;
  const double *score = column[ROWS_SCORE].data, *probs = column[ROWS_PROBS].data;
  const double *weights = column[ROWS_WEIGHTS].data;
  const size_t wide = column[ROWS_PROBS].per_row;
  const uint64_t here = machine_rows_cluster(job, a), there = machine_rows_cluster(job, b);
  int sign = (labels[a] > labels[b]) - (labels[a] < labels[b]);
  if (sign == 0 && column[ROWS_SCORE].per_row > 0)
    sign = machine_rows_differ(score[a], score[b]);
  if (sign == 0 && column[ROWS_TOP].per_row > 0)
    sign = (top[a] > top[b]) - (top[a] < top[b]);
  for (size_t k = 0; sign == 0 && k < wide; k++)
    sign = machine_rows_differ(probs[a * wide + k], probs[b * wide + k]);
  if (sign == 0)
    sign = (here > there) - (here < there);
  return sign == 0 && job->how->importance ? machine_rows_differ(weights[a], weights[b]) : sign;
}

static int machine_rows_in_order(const distinct_job *job, const row_key *a, const row_key *b) {
  if (a->key != b->key)
    return a->key < b->key;
  return machine_rows_compare(job, a->row, b->row) <= 0;
}

#define PC_SORT_NAME machine_rows_sort_keys
#define PC_SORT_TYPE row_key
#define PC_SORT_CONTEXT const distinct_job *
#define PC_SORT_IN_ORDER machine_rows_in_order
#include "base/stable_sort.h"

static pcal_status machine_rows_repeated(const distinct_job *job, size_t a, size_t b,
                                         pcal_error *err) {
  const uint64_t *ids = job->state->column[ROWS_IDS].data;
  const uint64_t low = ids[a] < ids[b] ? ids[a] : ids[b];
  const uint64_t high = ids[a] < ids[b] ? ids[b] : ids[a];
  return pc_fail_row(err, PCAL_DATA, high,
                     "rows %llu and %llu have the same id; an id names one row: give each row "
                     "its own, and rows that belong together a cluster",
                     (unsigned long long)low, (unsigned long long)high);
}

/* Joins equal neighbours: order[d] becomes the first row of distinct row d.  Fills its key and
 * its number of copies; *count: the number of distinct rows. */
static pcal_status machine_rows_join(const distinct_job *job, const row_key *keys,
                                     size_t *order, uint64_t *drawn, double *copies,
                                     size_t *count, pcal_error *err) {
  const double *weights = job->state->column[ROWS_WEIGHTS].data;
  uint64_t number = 0;
  *count = 0;
  for (size_t i = 0; i < job->state->count; i++) {
    const size_t row = keys[i].row;
    const int met = i > 0 && keys[i].key == keys[i - 1].key;
    const int same = met && !job->how->by_position;
    /* Frequencies are integers, except in manipulated files. */
    const double more = job->how->importance ? 1.0 : fmax(floor(weights[row] + 0.5), 1.0);
    if (met && job->how->identified)
      return machine_rows_repeated(job, keys[i - 1].row, row, err);
    if (same && machine_rows_compare(job, keys[i - 1].row, row) == 0) {
      copies[*count - 1] += more;
      continue;
    }
    number = same ? number + 1 : 0;
    order[*count] = row;
    drawn[*count] = number == 0 ? keys[i].key : pc_hash_u64(keys[i].key + number);
    copies[(*count)++] = more;
  }
  return PCAL_OK;
}

static pcal_status machine_rows_order_keys(const pcal_env *env, const distinct_job *job,
                                           row_key **out, pcal_error *err) {
  const size_t n = job->state->count;
  const int indices = job->how->by_position && !job->how->identified;
  const uint64_t *from = job->state->column[indices ? ROWS_IDS : ROWS_KEYS].data;
  row_key *keys = pc_alloc_raw(env, 2 * n, sizeof *keys);
  if (keys == NULL)
    return pc_fail_memory(err, "ordering rows");
  for (size_t i = 0; i < n; i++)
    keys[i] = (row_key){from[i], i};
  machine_rows_sort_keys(job, keys, keys + n, n);
  *out = keys;
  return PCAL_OK;
}

/* Fills all columns of distinct rows except keys and copies; returns 0 without memory. */
static int machine_rows_gather(const pcal_env *env, const distinct_job *job,
                               const size_t *order, pc_kept_rows *out) {
  rows_state some = *job->state; /* the same columns, fewer rows */
  const double *weights = some.column[ROWS_WEIGHTS].data;
  int enough = 1;
  some.count = out->count;
  out->labels = machine_rows_ordered(env, &some, ROWS_LABELS, order, &enough);
  out->score = machine_rows_ordered(env, &some, ROWS_SCORE, order, &enough);
  out->top_label = machine_rows_ordered(env, &some, ROWS_TOP, order, &enough);
  out->probs = machine_rows_ordered(env, &some, ROWS_PROBS, order, &enough);
  out->weights = pc_alloc_raw(env, out->count, sizeof *out->weights);
  if (some.column[ROWS_CLUSTERS].per_row > 0) {
    out->clusters = pc_alloc_raw(env, out->count, sizeof *out->clusters);
    enough &= out->clusters != NULL;
  }
  for (size_t d = 0; out->weights != NULL && d < out->count; d++)
    out->weights[d] = job->how->importance ? job->how->scale * weights[order[d]] : 1.0;
  for (size_t d = 0; out->clusters != NULL && d < out->count; d++)
    out->clusters[d] = machine_rows_cluster(job, order[d]);
  return enough && out->weights != NULL;
}

pcal_status pc_machine_rows_distinct(const pcal_env *env, const void *opaque,
                                     const pc_distinct_rule *how, pc_evidence *out,
                                     pcal_error *err) {
  const distinct_job job = {opaque, how};
  const size_t n = job.state->count;
  row_key *keys = NULL;
  PC_TRY(machine_rows_order_keys(env, &job, &keys, err));
  size_t *order = pc_alloc_raw(env, n, sizeof *order);
  out->kept = (pc_kept_rows){.classes = job.state->classes,
                             .ids = pc_alloc_raw(env, n, sizeof(uint64_t)),
                             .copies = pc_alloc_raw(env, n, sizeof(double))};
  int enough = order != NULL && out->kept.ids != NULL && out->kept.copies != NULL;
  pcal_status status = PCAL_OK;
  if (enough)
    status = machine_rows_join(&job, keys, order, out->kept.ids, out->kept.copies,
                               &out->kept.count, err);
  pc_free(env, keys);
  if (enough && status == PCAL_OK)
    enough = machine_rows_gather(env, &job, order, &out->kept);
  pc_free(env, order);
  if (enough && status == PCAL_OK)
    return PCAL_OK;
  machine_rows_release(env, out);
  return enough ? status : pc_fail_memory(err, "ordering rows");
}

/* ---- saving ---- */

static void machine_rows_save_columns(const rows_state *state, const size_t *order,
                                      pc_encoder *out) {
  const uint64_t *ids = state->column[ROWS_IDS].data, *keys = state->column[ROWS_KEYS].data;
  const int32_t *labels = state->column[ROWS_LABELS].data;
  const int32_t *top = state->column[ROWS_TOP].data;
  const double *probs = state->column[ROWS_PROBS].data;
  const size_t wide = state->column[ROWS_PROBS].per_row;
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u64(out, ids[order[i]]);
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u64(out, keys[order[i]]);
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u32(out, (uint32_t)labels[order[i]]);
  for (size_t i = 0; state->column[ROWS_TOP].per_row > 0 && i < state->count; i++)
    pc_encode_u32(out, (uint32_t)top[order[i]]);
  for (size_t c = ROWS_WEIGHTS; c <= ROWS_SCORE; c++)
    for (size_t i = 0; state->column[c].per_row > 0 && i < state->count; i++)
      pc_encode_doubles(out, (const double *)state->column[c].data + order[i], 1);
  for (size_t i = 0; wide > 0 && i < state->count; i++)
    pc_encode_doubles(out, probs + order[i] * wide, wide);
}

static pcal_status machine_rows_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                     pcal_error *err) {
  const rows_state *state = opaque;
  size_t *order;
  PC_TRY(machine_rows_order(env, state, &order, err));
  pc_encode_u64(out, state->count);
  machine_rows_save_columns(state, order, out);
  pc_free(env, order);
  return PCAL_OK;
}

static void machine_rows_load_columns(rows_state *state, size_t rows, pc_decoder *in) {
  uint64_t *ids = state->column[ROWS_IDS].data, *keys = state->column[ROWS_KEYS].data;
  int32_t *labels = state->column[ROWS_LABELS].data, *top = state->column[ROWS_TOP].data;
  for (size_t i = 0; i < rows; i++)
    ids[i] = pc_decode_u64(in);
  for (size_t i = 0; i < rows; i++)
    keys[i] = pc_decode_u64(in);
  for (size_t i = 0; i < rows; i++)
    labels[i] = (int32_t)pc_decode_u32(in);
  for (size_t i = 0; state->column[ROWS_TOP].per_row > 0 && i < rows; i++)
    top[i] = (int32_t)pc_decode_u32(in);
  for (size_t c = ROWS_WEIGHTS; c <= ROWS_PROBS; c++)
    if (c != ROWS_TOP && state->column[c].per_row > 0)
      pc_decode_doubles(in, state->column[c].data, rows * state->column[c].per_row);
}

/* Fails the decoder on impossible values. */
static void machine_rows_check(const rows_state *state, const pc_saved_totals *totals,
                               pc_decoder *in) {
  const size_t labels = state->classes > 1 ? state->classes : 2;
  const double *weights = state->column[ROWS_WEIGHTS].data;
  const double *score = state->column[ROWS_SCORE].data;
  const double *probs = state->column[ROWS_PROBS].data;
  const int32_t *label = state->column[ROWS_LABELS].data, *top = state->column[ROWS_TOP].data;
  pc_sum weight;
  pc_sum_clear(&weight);
  for (size_t i = 0; i < state->count; i++) {
    const int valid = weights[i] > 0 && isfinite(weights[i]);
    pc_decoder_expect(in, valid && label[i] >= 0 && (size_t)label[i] < labels);
    pc_decoder_expect(in, state->regression || fabs(score[i]) <= 2.0);
    if (state->column[ROWS_TOP].per_row > 0)
      pc_decoder_expect(in, top[i] >= 0 && (size_t)top[i] < labels);
    pc_sum_add(&weight, valid ? weights[i] : 0.0);
  }
  const double most = state->regression ? DBL_MAX : 2.0;
  for (size_t i = 0; i < state->count * state->column[ROWS_PROBS].per_row; i++)
    pc_decoder_expect(in, fabs(probs[i]) <= most);
  pc_decoder_expect(in, pc_sum_equal(&weight, &totals->weight));
}

static pcal_status machine_rows_load(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, const pc_saved_totals *totals,
                                     pc_decoder *in, void **out, pcal_error *err) {
  PC_TRY(machine_rows_create(env, need, layout, out, err));
  rows_state *state = *out;
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
    .finish = machine_rows_finish,
    .release = machine_rows_release,
    .save = machine_rows_save,
    .load = machine_rows_load,
};
