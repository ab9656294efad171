/* The keep machine: rows as they were measured, to measure them again with other weights or
 * labels (measure/replicas/replicas.h).
 *
 * State: index, key, label, weight and score of each row and, where asked for, all its
 * probabilities and the number of its group.  Finishing sorts rows by index, so that neither
 * threads nor parts show.
 *
 * Distinct rows: sorted by key, then by what they say.  Equal neighbours become one row with a
 * number of copies; rows that share a key but differ (in their weight, their cluster or by a
 * collision of hashes) get keys of their own, numbered in that order.  So neither the order of
 * rows nor whether one is repeated or has a weight shows.
 *
 * Saved: the number of rows (u64), then column after column in the order of the index: ids and
 * keys (u64), labels and, for several columns, top labels (u32), weights, scores and, where
 * whole, probabilities (doubles). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "machines/machine_rows.h"

#define MACHINE_KEEP_ROW_BYTES 36 /* of a row of one column, as saved */

/* One column of the state: what an element takes, and where it is. */
typedef struct keep_column {
  void *data;
  size_t capacity, size, per_row; /* elements of `size` bytes, per_row of them for each row */
} keep_column;

enum {
  KEEP_IDS,
  KEEP_KEYS,
  KEEP_LABELS,
  KEEP_WEIGHTS,
  KEEP_SCORE,
  KEEP_TOP,
  KEEP_PROBS,
  KEEP_CLUSTERS,
  KEEP_COLUMNS
};

typedef struct keep_state {
  size_t classes, count;
  int regression;
  keep_column column[KEEP_COLUMNS];
} keep_state;

static void machine_keep_destroy(const pcal_env *env, void *opaque) {
  keep_state *state = opaque;
  for (size_t c = 0; c < KEEP_COLUMNS; c++)
    pc_free(env, state->column[c].data);
  pc_free(env, state);
}

static void machine_keep_clear(void *opaque) {
  keep_state *state = opaque;
  state->count = 0;
}

static pcal_status machine_keep_create(const pcal_env *env, const pc_need *need,
                                       const pc_layout *layout, void **out, pcal_error *err) {
  keep_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing to keep rows");
  const int regression = layout->form != PC_FORM_CLASSES;
  const size_t whole = need->keep.whole && layout->classes > 1 ? layout->classes : 0;
  const keep_column columns[KEEP_COLUMNS] = {
      [KEEP_IDS] = {NULL, 0, sizeof(uint64_t), 1},
      [KEEP_KEYS] = {NULL, 0, sizeof(uint64_t), 1},
      [KEEP_LABELS] = {NULL, 0, sizeof(int32_t), 1},
      [KEEP_WEIGHTS] = {NULL, 0, sizeof(double), 1},
      [KEEP_SCORE] = {NULL, 0, sizeof(double), !regression},
      [KEEP_TOP] = {NULL, 0, sizeof(int32_t), layout->columns > 1 && !regression},
      [KEEP_PROBS] = {NULL, 0, sizeof(double), whole},
      [KEEP_CLUSTERS] = {NULL, 0, sizeof(uint32_t), need->keep.clusters != 0},
  };
  memcpy(state->column, columns, sizeof columns);
  state->classes = layout->classes;
  state->regression = regression;
  *out = state;
  return PCAL_OK;
}

static size_t machine_keep_row_bytes(const keep_state *state) {
  size_t bytes = 0;
  for (size_t c = 0; c < KEEP_COLUMNS; c++)
    bytes += state->column[c].size * state->column[c].per_row;
  return bytes;
}

static pcal_status machine_keep_room(const pcal_env *env, keep_state *state, size_t more,
                                     pcal_error *err) {
  const size_t needed = state->count + more;
  PC_TRY(pc_check_memory_limit(env, needed * machine_keep_row_bytes(state),
                               "leave out {interval} and {null}, or measure fewer rows", err));
  for (size_t c = 0; c < KEEP_COLUMNS; c++) {
    keep_column *column = &state->column[c];
    void *block = column->data;
    const pcal_status status =
        pc_reserve(env, &block, &column->capacity, needed * column->per_row, column->size, err);
    column->data = block;
    PC_TRY(status);
  }
  return PCAL_OK;
}

static void machine_keep_copy(keep_state *state, size_t c, size_t at, const void *from,
                              size_t rows) {
  const keep_column *column = &state->column[c];
  const size_t bytes = column->size * column->per_row;
  if (rows * bytes > 0)
    memcpy((char *)column->data + at * bytes, from, rows * bytes);
}

static pcal_status machine_keep_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                       const pc_view_columns *columns, pcal_error *err) {
  (void)columns;
  keep_state *state = opaque;
  const size_t at = state->count, n = rows->count;
  PC_TRY(machine_keep_room(env, state, n, err));
  machine_keep_copy(state, KEEP_IDS, at, rows->ids, n);
  machine_keep_copy(state, KEEP_LABELS, at, rows->labels, n);
  machine_keep_copy(state, KEEP_TOP, at, rows->top_label, n);
  machine_keep_copy(state, KEEP_PROBS, at, rows->probs, n);
  machine_keep_copy(state, KEEP_SCORE, at,
                    state->column[KEEP_TOP].per_row > 0 ? rows->top : rows->positive, n);
  machine_keep_copy(state, KEEP_CLUSTERS, at, rows->groups, n);
  double *weights = state->column[KEEP_WEIGHTS].data;
  uint64_t *keys = state->column[KEEP_KEYS].data;
  for (size_t i = 0; i < n; i++) {
    weights[at + i] = rows->weights == NULL ? 1.0 : rows->weights[i];
    keys[at + i] = rows->keys == NULL ? 0 : rows->keys[i];
  }
  state->count += n;
  return PCAL_OK;
}

static pcal_status machine_keep_prepare(const pcal_env *env, void *opaque, const void *other,
                                        pcal_error *err) {
  const keep_state *from = other;
  return machine_keep_room(env, opaque, from->count, err);
}

static void machine_keep_merge(void *opaque, const void *other) {
  keep_state *into = opaque;
  const keep_state *from = other;
  for (size_t c = 0; c < KEEP_COLUMNS; c++)
    machine_keep_copy(into, c, into->count, from->column[c].data, from->count);
  into->count += from->count;
}

size_t pc_machine_rows_count(const void *opaque) {
  const keep_state *state = opaque;
  return state->count;
}

void pc_machine_rows_renumber_clusters(void *opaque, size_t first, const size_t *map) {
  keep_state *state = opaque;
  uint32_t *clusters = state->column[KEEP_CLUSTERS].data;
  for (size_t i = first; clusters != NULL && i < state->count; i++)
    clusters[i] = (uint32_t)map[clusters[i]];
}

/* ---- in order ---- */

/* Merge sort of positions by index; `spare` has the same length. */
static void machine_keep_sort(const uint64_t *ids, size_t *order, size_t *spare, size_t n) {
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t low = 0; low < n; low += 2 * width) {
      const size_t middle = low + width < n ? low + width : n;
      const size_t high = low + 2 * width < n ? low + 2 * width : n;
      size_t a = low, b = middle;
      for (size_t out = low; out < high; out++)
        spare[out] = a < middle && (b >= high || ids[order[a]] <= ids[order[b]]) ? order[a++]
                                                                                 : order[b++];
    }
    memcpy(order, spare, n * sizeof *order);
  }
}

/* Positions in ascending order of the index; the caller frees them. */
static pcal_status machine_keep_order(const pcal_env *env, const keep_state *state,
                                      size_t **out, pcal_error *err) {
  const size_t n = state->count;
  const uint64_t *ids = state->column[KEEP_IDS].data;
  size_t *order = pc_alloc_raw(env, 2 * n, sizeof *order);
  if (order == NULL)
    return pc_fail_memory(err, "ordering rows");
  int sorted = 1;
  for (size_t i = 0; i < n; i++) {
    order[i] = i;
    sorted &= i == 0 || ids[i - 1] <= ids[i];
  }
  if (!sorted)
    machine_keep_sort(ids, order, order + n, n);
  *out = order;
  return PCAL_OK;
}

static void machine_keep_release(const pcal_env *env, pc_evidence *evidence) {
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

/* A column in order, or NULL when there is none; *enough becomes 0 without memory. */
static void *machine_keep_ordered(const pcal_env *env, const keep_state *state, size_t c,
                                  const size_t *order, int *enough) {
  const keep_column *column = &state->column[c];
  const size_t bytes = column->size * column->per_row;
  if (bytes == 0)
    return NULL;
  char *out = pc_alloc_raw(env, state->count, bytes);
  for (size_t i = 0; out != NULL && i < state->count; i++)
    memcpy(out + i * bytes, (const char *)column->data + order[i] * bytes, bytes);
  *enough &= out != NULL;
  return out;
}

static pcal_status machine_keep_finish(const pcal_env *env, const void *opaque,
                                       pc_evidence *out, pcal_error *err) {
  const keep_state *state = opaque;
  size_t *order;
  int enough = 1;
  PC_TRY(machine_keep_order(env, state, &order, err));
  out->kept = (pc_kept_rows){
      .count = state->count,
      .classes = state->classes,
      .ids = machine_keep_ordered(env, state, KEEP_IDS, order, &enough),
      .labels = machine_keep_ordered(env, state, KEEP_LABELS, order, &enough),
      .weights = machine_keep_ordered(env, state, KEEP_WEIGHTS, order, &enough),
      .score = machine_keep_ordered(env, state, KEEP_SCORE, order, &enough),
      .top_label = machine_keep_ordered(env, state, KEEP_TOP, order, &enough),
      .probs = machine_keep_ordered(env, state, KEEP_PROBS, order, &enough),
  };
  pc_free(env, order);
  if (enough)
    return PCAL_OK;
  machine_keep_release(env, out);
  return pc_fail_memory(err, "ordering rows");
}

/* ---- distinct rows ---- */

/* A row on its way into the order of keys. */
typedef struct keep_key {
  uint64_t key;
  size_t row;
} keep_key;

typedef struct keep_distinct {
  const keep_state *state;
  const pc_distinct_rule *how;
} keep_distinct;

static uint64_t machine_keep_cluster(const keep_distinct *job, size_t row) {
  const uint32_t *clusters = job->state->column[KEEP_CLUSTERS].data;
  if (job->state->column[KEEP_CLUSTERS].per_row == 0)
    return 0;
  return clusters[row] < job->how->cluster_count ? job->how->cluster_keys[clusters[row]]
                                                 : clusters[row];
}

static int machine_keep_differ(double a, double b) {
  return (a > b) - (a < b);
}

/* What two rows with the same key say. */
static int machine_keep_compare(const keep_distinct *job, size_t a, size_t b) {
  const keep_column *column = job->state->column;
  const int32_t *labels = column[KEEP_LABELS].data, *top = column[KEEP_TOP].data;
  const double *score = column[KEEP_SCORE].data, *probs = column[KEEP_PROBS].data;
  const double *weights = column[KEEP_WEIGHTS].data;
  const size_t wide = column[KEEP_PROBS].per_row;
  const uint64_t here = machine_keep_cluster(job, a), there = machine_keep_cluster(job, b);
  int sign = (labels[a] > labels[b]) - (labels[a] < labels[b]);
  if (sign == 0 && column[KEEP_SCORE].per_row > 0)
    sign = machine_keep_differ(score[a], score[b]);
  if (sign == 0 && column[KEEP_TOP].per_row > 0)
    sign = (top[a] > top[b]) - (top[a] < top[b]);
  for (size_t k = 0; sign == 0 && k < wide; k++)
    sign = machine_keep_differ(probs[a * wide + k], probs[b * wide + k]);
  if (sign == 0)
    sign = (here > there) - (here < there);
  return sign == 0 && job->how->importance ? machine_keep_differ(weights[a], weights[b]) : sign;
}

static int machine_keep_before(const keep_distinct *job, const keep_key *a, const keep_key *b) {
  if (a->key != b->key)
    return a->key < b->key;
  return machine_keep_compare(job, a->row, b->row) <= 0;
}

/* Merge sort; `spare` has the same length. */
static void machine_keep_sort_keys(const keep_distinct *job, keep_key *keys, keep_key *spare,
                                   size_t n) {
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t low = 0; low < n; low += 2 * width) {
      const size_t middle = low + width < n ? low + width : n;
      const size_t high = low + 2 * width < n ? low + 2 * width : n;
      size_t a = low, b = middle;
      for (size_t out = low; out < high; out++)
        spare[out] = a < middle && (b >= high || machine_keep_before(job, &keys[a], &keys[b]))
                         ? keys[a++]
                         : keys[b++];
    }
    memcpy(keys, spare, n * sizeof *keys);
  }
}

static pcal_status machine_keep_repeated(const keep_distinct *job, size_t a, size_t b,
                                         pcal_error *err) {
  const uint64_t *ids = job->state->column[KEEP_IDS].data;
  const uint64_t low = ids[a] < ids[b] ? ids[a] : ids[b];
  const uint64_t high = ids[a] < ids[b] ? ids[b] : ids[a];
  return pc_fail_row(err, PCAL_DATA, high,
                     "rows %llu and %llu have the same id; an id names one row: give each row "
                     "its own, and rows that belong together a cluster",
                     (unsigned long long)low, (unsigned long long)high);
}

/* Joins equal neighbours: order[d] becomes the first row of distinct row d.  Fills its key and
 * how many copies there are; returns the number of distinct rows. */
static pcal_status machine_keep_join(const keep_distinct *job, const keep_key *keys,
                                     size_t *order, uint64_t *drawn, double *copies,
                                     size_t *count, pcal_error *err) {
  const double *weights = job->state->column[KEEP_WEIGHTS].data;
  uint64_t number = 0;
  *count = 0;
  for (size_t i = 0; i < job->state->count; i++) {
    const size_t row = keys[i].row;
    const int met = i > 0 && keys[i].key == keys[i - 1].key;
    const int same = met && !job->how->by_position;
    /* Frequencies are whole, but for those of a file that was made to deceive. */
    const double more = job->how->importance ? 1.0 : fmax(floor(weights[row] + 0.5), 1.0);
    if (met && job->how->identified)
      return machine_keep_repeated(job, keys[i - 1].row, row, err);
    if (same && machine_keep_compare(job, keys[i - 1].row, row) == 0) {
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

static pcal_status machine_keep_order_keys(const pcal_env *env, const keep_distinct *job,
                                           keep_key **out, pcal_error *err) {
  const size_t n = job->state->count;
  const int indices = job->how->by_position && !job->how->identified;
  const uint64_t *from = job->state->column[indices ? KEEP_IDS : KEEP_KEYS].data;
  keep_key *keys = pc_alloc_raw(env, 2 * n, sizeof *keys);
  if (keys == NULL)
    return pc_fail_memory(err, "ordering rows");
  for (size_t i = 0; i < n; i++)
    keys[i] = (keep_key){from[i], i};
  machine_keep_sort_keys(job, keys, keys + n, n);
  *out = keys;
  return PCAL_OK;
}

/* The columns of distinct rows but for keys and copies; 0 without memory. */
static int machine_keep_gather(const pcal_env *env, const keep_distinct *job,
                               const size_t *order, pc_kept_rows *out) {
  keep_state some = *job->state; /* the same columns, fewer rows */
  const double *weights = some.column[KEEP_WEIGHTS].data;
  int enough = 1;
  some.count = out->count;
  out->labels = machine_keep_ordered(env, &some, KEEP_LABELS, order, &enough);
  out->score = machine_keep_ordered(env, &some, KEEP_SCORE, order, &enough);
  out->top_label = machine_keep_ordered(env, &some, KEEP_TOP, order, &enough);
  out->probs = machine_keep_ordered(env, &some, KEEP_PROBS, order, &enough);
  out->weights = pc_alloc_raw(env, out->count, sizeof *out->weights);
  if (some.column[KEEP_CLUSTERS].per_row > 0) {
    out->clusters = pc_alloc_raw(env, out->count, sizeof *out->clusters);
    enough &= out->clusters != NULL;
  }
  for (size_t d = 0; out->weights != NULL && d < out->count; d++)
    out->weights[d] = job->how->importance ? job->how->scale * weights[order[d]] : 1.0;
  for (size_t d = 0; out->clusters != NULL && d < out->count; d++)
    out->clusters[d] = machine_keep_cluster(job, order[d]);
  return enough && out->weights != NULL;
}

pcal_status pc_machine_rows_distinct(const pcal_env *env, const void *opaque,
                                     const pc_distinct_rule *how, pc_evidence *out,
                                     pcal_error *err) {
  const keep_distinct job = {opaque, how};
  const size_t n = job.state->count;
  keep_key *keys = NULL;
  PC_TRY(machine_keep_order_keys(env, &job, &keys, err));
  size_t *order = pc_alloc_raw(env, n, sizeof *order);
  out->kept = (pc_kept_rows){.classes = job.state->classes,
                             .ids = pc_alloc_raw(env, n, sizeof(uint64_t)),
                             .copies = pc_alloc_raw(env, n, sizeof(double))};
  int enough = order != NULL && out->kept.ids != NULL && out->kept.copies != NULL;
  pcal_status status = PCAL_OK;
  if (enough)
    status = machine_keep_join(&job, keys, order, out->kept.ids, out->kept.copies,
                               &out->kept.count, err);
  pc_free(env, keys);
  if (enough && status == PCAL_OK)
    enough = machine_keep_gather(env, &job, order, &out->kept);
  pc_free(env, order);
  if (enough && status == PCAL_OK)
    return PCAL_OK;
  machine_keep_release(env, out);
  return enough ? status : pc_fail_memory(err, "ordering rows");
}

/* ---- saving ---- */

static void machine_keep_save_columns(const keep_state *state, const size_t *order,
                                      pc_encoder *out) {
  const uint64_t *ids = state->column[KEEP_IDS].data, *keys = state->column[KEEP_KEYS].data;
  const int32_t *labels = state->column[KEEP_LABELS].data;
  const int32_t *top = state->column[KEEP_TOP].data;
  const double *probs = state->column[KEEP_PROBS].data;
  const size_t wide = state->column[KEEP_PROBS].per_row;
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u64(out, ids[order[i]]);
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u64(out, keys[order[i]]);
  for (size_t i = 0; i < state->count; i++)
    pc_encode_u32(out, (uint32_t)labels[order[i]]);
  for (size_t i = 0; state->column[KEEP_TOP].per_row > 0 && i < state->count; i++)
    pc_encode_u32(out, (uint32_t)top[order[i]]);
  for (size_t c = KEEP_WEIGHTS; c <= KEEP_SCORE; c++)
    for (size_t i = 0; state->column[c].per_row > 0 && i < state->count; i++)
      pc_encode_doubles(out, (const double *)state->column[c].data + order[i], 1);
  for (size_t i = 0; wide > 0 && i < state->count; i++)
    pc_encode_doubles(out, probs + order[i] * wide, wide);
}

static pcal_status machine_keep_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                     pcal_error *err) {
  const keep_state *state = opaque;
  size_t *order;
  PC_TRY(machine_keep_order(env, state, &order, err));
  pc_encode_u64(out, state->count);
  machine_keep_save_columns(state, order, out);
  pc_free(env, order);
  return PCAL_OK;
}

static void machine_keep_load_columns(keep_state *state, size_t rows, pc_decoder *in) {
  uint64_t *ids = state->column[KEEP_IDS].data, *keys = state->column[KEEP_KEYS].data;
  int32_t *labels = state->column[KEEP_LABELS].data, *top = state->column[KEEP_TOP].data;
  for (size_t i = 0; i < rows; i++)
    ids[i] = pc_decode_u64(in);
  for (size_t i = 0; i < rows; i++)
    keys[i] = pc_decode_u64(in);
  for (size_t i = 0; i < rows; i++)
    labels[i] = (int32_t)pc_decode_u32(in);
  for (size_t i = 0; state->column[KEEP_TOP].per_row > 0 && i < rows; i++)
    top[i] = (int32_t)pc_decode_u32(in);
  for (size_t c = KEEP_WEIGHTS; c <= KEEP_PROBS; c++)
    if (c != KEEP_TOP && state->column[c].per_row > 0)
      pc_decode_doubles(in, state->column[c].data, rows * state->column[c].per_row);
}

/* Fails the decoder on what no row can have. */
static void machine_keep_check(const keep_state *state, const pc_saved_totals *totals,
                               pc_decoder *in) {
  const size_t labels = state->classes > 1 ? state->classes : 2;
  const double *weights = state->column[KEEP_WEIGHTS].data;
  const double *score = state->column[KEEP_SCORE].data;
  const double *probs = state->column[KEEP_PROBS].data;
  const int32_t *label = state->column[KEEP_LABELS].data, *top = state->column[KEEP_TOP].data;
  pc_sum weight;
  pc_sum_clear(&weight);
  for (size_t i = 0; i < state->count; i++) {
    const int valid = weights[i] > 0 && isfinite(weights[i]);
    pc_decoder_expect(in, valid && label[i] >= 0 && (size_t)label[i] < labels);
    pc_decoder_expect(in, state->regression || fabs(score[i]) <= 2.0);
    if (state->column[KEEP_TOP].per_row > 0)
      pc_decoder_expect(in, top[i] >= 0 && (size_t)top[i] < labels);
    pc_sum_add(&weight, valid ? weights[i] : 0.0);
  }
  const double most = state->regression ? DBL_MAX : 2.0;
  for (size_t i = 0; i < state->count * state->column[KEEP_PROBS].per_row; i++)
    pc_decoder_expect(in, fabs(probs[i]) <= most);
  pc_decoder_expect(in, pc_sum_equal(&weight, &totals->weight));
}

static pcal_status machine_keep_load(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, const pc_saved_totals *totals,
                                     pc_decoder *in, void **out, pcal_error *err) {
  PC_TRY(machine_keep_create(env, need, layout, out, err));
  keep_state *state = *out;
  const size_t rows = pc_decode_count(in, MACHINE_KEEP_ROW_BYTES);
  pc_decoder_expect(in, rows == totals->rows &&
                            rows <= pc_decoder_left(in) / machine_keep_row_bytes(state));
  if (in->failed)
    return PCAL_OK;
  PC_TRY(machine_keep_room(env, state, rows, err));
  machine_keep_load_columns(state, rows, in);
  state->count = rows;
  if (!in->failed)
    machine_keep_check(state, totals, in);
  return PCAL_OK;
}

const pc_machine pc_machine_rows = {
    .name = "keep",
    .create = machine_keep_create,
    .destroy = machine_keep_destroy,
    .clear = machine_keep_clear,
    .update = machine_keep_update,
    .prepare = machine_keep_prepare,
    .merge = machine_keep_merge,
    .finish = machine_keep_finish,
    .release = machine_keep_release,
    .save = machine_keep_save,
    .load = machine_keep_load,
};
