/* The curve machine: all scores, by outcome, sorted when finished.
 *
 * State: for each part of the view (one, or one for each class) the scores of hits and of
 * misses.  Weights are stored from the first weighted row on.  Sorting and joining equal scores
 * makes the result independent of the order of rows.
 *
 * Saved: for each store the number of entries (u64), whether weights follow (u8; 1 if some
 * weight is not 1), the sorted scores and, in that case, the weights. */
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/copy_pieces.h"
#include "base/executor.h"
#include "curve/kept_scores.h"
#include "machines/machine.h"

#define MACHINE_CURVE_SCORE_END 4.0   /* bound on scores: base/sum.h */
#define MACHINE_CURVE_SCORE_COST 20.0 /* nanoseconds per score, for the executor */
#define MACHINE_CURVE_STORE_BYTES 9   /* bytes of an empty store, as saved */

typedef struct curve_state {
  size_t part_count;
  size_t classes;        /* of a view of every class, else 0 */
  size_t row_count;      /* scores in all stores */
  pc_kept_scores *store; /* [2 * part + hit] */
} curve_state;

static void machine_curve_destroy(const pcal_env *env, void *opaque) {
  curve_state *state = opaque;
  for (size_t s = 0; s < 2 * state->part_count; s++)
    pc_kept_scores_free(env, &state->store[s]);
  pc_free(env, state->store);
  pc_free(env, state);
}

static void machine_curve_clear(void *opaque) {
  curve_state *state = opaque;
  state->row_count = 0;
  for (size_t s = 0; s < 2 * state->part_count; s++)
    state->store[s].count = 0;
}

static pcal_status machine_curve_create(const pcal_env *env, const pc_need *need,
                                        const pc_layout *layout, void **out, pcal_error *err) {
  curve_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing curves");
  state->part_count = pc_view_parts(&need->view, layout);
  state->classes = pc_view_is_every_class(&need->view) ? layout->classes : 0;
  state->store = pc_alloc(env, 2 * state->part_count, sizeof *state->store);
  if (state->store == NULL) {
    pc_free(env, state);
    return pc_fail_memory(err, "preparing curves");
  }
  *out = state;
  return PCAL_OK;
}

static pcal_status machine_curve_limit(const pcal_env *env, const curve_state *state,
                                       size_t more, int weighted, pcal_error *err) {
  const size_t bytes = (state->row_count + more) * sizeof(double) * (weighted ? 2 : 1);
  if (state->classes == 0)
    return pc_check_memory_limit(
        env, bytes, "ask for equal-width bins instead of ks or equal-mass bins", err);
  return pc_check_memory_limit_of(
      env, bytes, "keeping the scores of all classes takes",
      "ask for equal-width bins (binning=width), whose memory does not "
      "grow with the rows",
      err);
}

static void machine_curve_put(pc_kept_scores *store, double score, double weight) {
  store->score[store->count] = score;
  if (store->weight != NULL)
    store->weight[store->count] = weight;
  store->count++;
}

/* Reserves memory for every class of every row: misses of each part, and the hits. */
static pcal_status machine_curve_every_class_room(const pcal_env *env, curve_state *state,
                                                  const pc_rows *rows, pcal_error *err) {
  const int weighted = rows->weights != NULL;
  const size_t misses = rows->count * (state->part_count == 1 ? state->classes : 1);
  for (size_t p = 0; p < state->part_count; p++)
    PC_TRY(pc_kept_scores_reserve(env, &state->store[2 * p], misses, weighted, err));
  for (size_t i = 0; i < rows->count; i++) {
    const size_t part = state->part_count == 1 ? 0 : (size_t)rows->labels[i];
    PC_TRY(
        pc_kept_scores_reserve(env, &state->store[2 * part + 1], rows->count, weighted, err));
  }
  return PCAL_OK;
}

static pcal_status machine_curve_every_class(const pcal_env *env, curve_state *state,
                                             const pc_rows *rows, pcal_error *err) {
  const size_t k = state->classes;
  PC_TRY(machine_curve_limit(env, state, rows->count * k, rows->weights != NULL, err));
  PC_TRY(machine_curve_every_class_room(env, state, rows, err));
  for (size_t j = 0; j < k; j++) {
    pc_kept_scores *store = &state->store[state->part_count == 1 ? 0 : 2 * j];
    for (size_t i = 0; i < rows->count; i++)
      machine_curve_put(store + ((size_t)rows->labels[i] == j), rows->probs[i * k + j],
                        rows->weights == NULL ? 1.0 : rows->weights[i]);
  }
  state->row_count += rows->count * k;
  return PCAL_OK;
}

/* Unweighted scores of one part, without branches; both stores have room for all of them. */
static void machine_curve_put_plain(curve_state *state, const pc_view_columns *columns,
                                    size_t count) {
  double *misses = state->store[0].score, *hits = state->store[1].score;
  size_t missed = state->store[0].count, hit = state->store[1].count;
  for (size_t i = 0; i < count; i++) {
    misses[missed] = hits[hit] = columns->score[i];
    missed += !columns->hit[i];
    hit += columns->hit[i];
  }
  state->store[0].count = missed;
  state->store[1].count = hit;
  state->row_count += count;
}

static pcal_status machine_curve_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                        const pc_view_columns *columns, pcal_error *err) {
  curve_state *state = opaque;
  const int weighted = rows->weights != NULL;
  if (state->classes > 0)
    return machine_curve_every_class(env, state, rows, err);
  PC_TRY(machine_curve_limit(env, state, rows->count, weighted, err));
  for (size_t s = 0; columns->part == NULL && s < 2; s++)
    PC_TRY(pc_kept_scores_reserve(env, &state->store[s], rows->count, weighted, err));
  if (columns->part == NULL && state->store[0].weight == NULL &&
      state->store[1].weight == NULL) {
    machine_curve_put_plain(state, columns, rows->count);
    return PCAL_OK;
  }
  for (size_t i = 0; i < rows->count; i++) {
    const size_t part = columns->part == NULL ? 0 : columns->part[i];
    pc_kept_scores *store = &state->store[2 * part + columns->hit[i]];
    if (columns->part != NULL)
      PC_TRY(pc_kept_scores_reserve(env, store, 1, weighted, err));
    machine_curve_put(store, columns->score[i], weighted ? rows->weights[i] : 1.0);
    state->row_count++;
  }
  return PCAL_OK;
}

static pcal_status machine_curve_prepare(const pcal_env *env, void *opaque, const void *other,
                                         pcal_error *err) {
  curve_state *into = opaque;
  const curve_state *from = other;
  PC_TRY(machine_curve_limit(env, into, from->row_count, 0, err));
  for (size_t s = 0; s < 2 * into->part_count; s++)
    PC_TRY(pc_kept_scores_reserve(env, &into->store[s], from->store[s].count,
                                  from->store[s].weight != NULL, err));
  return PCAL_OK;
}

static void machine_curve_merge(void *opaque, const void *other) {
  curve_state *into = opaque;
  const curve_state *from = other;
  for (size_t s = 0; s < 2 * into->part_count; s++)
    pc_kept_scores_join(&into->store[s], &from->store[s]);
  into->row_count += from->row_count;
}

/* Copies the scores of other states behind those of `into`, which has room for them. */
static pcal_status machine_curve_copy(const pcal_env *env, curve_state *into,
                                      void *const *others, size_t count, pcal_error *err) {
  const size_t stores = 2 * into->part_count;
  pc_copy_piece *pieces = pc_alloc(env, stores * count, sizeof *pieces);
  if (pieces == NULL)
    return pc_fail_memory(err, "keeping scores");
  for (size_t s = 0; s < stores; s++) {
    size_t at = into->store[s].count;
    for (size_t i = 0; i < count; i++) {
      const pc_kept_scores *from = &((const curve_state *)others[i])->store[s];
      pieces[s * count + i] =
          (pc_copy_piece){into->store[s].score + at, from->score, from->count * sizeof(double)};
      at += from->count;
    }
  }
  const pcal_status status = pc_copy_pieces(env, pieces, stores * count, err);
  pc_free(env, pieces);
  return status;
}

static int machine_curve_has_weights(const curve_state *state) {
  for (size_t s = 0; s < 2 * state->part_count; s++)
    if (state->store[s].weight != NULL)
      return 1;
  return 0;
}

/* For scores without weights. */
static pcal_status machine_curve_gather(const pcal_env *env, void *opaque, void *const *others,
                                        size_t count, pcal_error *err) {
  curve_state *into = opaque;
  size_t rows = 0;
  int weighted = machine_curve_has_weights(into);
  for (size_t i = 0; i < count; i++) {
    rows += ((const curve_state *)others[i])->row_count;
    weighted |= machine_curve_has_weights(others[i]);
  }
  if (weighted)
    return PCAL_OK;
  PC_TRY(machine_curve_limit(env, into, rows, 0, err));
  for (size_t s = 0; s < 2 * into->part_count; s++) {
    size_t more = 0;
    for (size_t i = 0; i < count; i++)
      more += ((const curve_state *)others[i])->store[s].count;
    PC_TRY(pc_kept_scores_reserve(env, &into->store[s], more, 0, err));
  }
  PC_TRY(machine_curve_copy(env, into, others, count, err));
  for (size_t i = 0; i < count; i++) {
    const curve_state *from = others[i];
    for (size_t s = 0; s < 2 * into->part_count; s++)
      into->store[s].count += from->store[s].count;
    into->row_count += from->row_count;
    machine_curve_clear(others[i]);
  }
  return PCAL_OK;
}

static void machine_curve_release(const pcal_env *env, pc_evidence *evidence) {
  for (size_t p = 0; evidence->curve.parts != NULL && p < evidence->curve.part_count; p++)
    pc_curve_table_free(env, &evidence->curve.parts[p]);
  pc_free(env, evidence->curve.parts);
  pc_free(env, evidence->curve.cells); /* tables that own nothing */
  evidence->curve.parts = evidence->curve.cells = NULL;
}

static pc_outcome_column machine_curve_column(const pc_kept_scores *store) {
  return (pc_outcome_column){store->score, store->weight, store->count};
}

/* A task: the tables of all parts. */
typedef struct curve_work {
  const pcal_env *env;
  const curve_state *state;
  const pc_curve_question *asked; /* NULL: tables of scores */
  pc_curve_table *parts;
} curve_work;

static pcal_status machine_curve_part(void *opaque, size_t p, size_t worker, pcal_error *err) {
  const curve_work *work = opaque;
  const pc_outcome_column misses = machine_curve_column(&work->state->store[2 * p]);
  const pc_outcome_column hits = machine_curve_column(&work->state->store[2 * p + 1]);
  (void)worker;
  return pc_curve_resolve(work->env, &misses, &hits, work->asked, &work->parts[p], err);
}

pcal_status pc_machine_curve_resolve(const pcal_env *env, const void *opaque,
                                     const pc_curve_question *asked, pc_evidence *out,
                                     pcal_error *err) {
  const curve_state *state = opaque;
  out->curve.part_count = state->part_count;
  out->curve.parts = pc_alloc(env, state->part_count, sizeof *out->curve.parts);
  if (out->curve.parts == NULL)
    return pc_fail_memory(err, "sorting scores");
  /* Many parts are built in parallel; few parts one after the other, each with all threads. */
  const int aside = state->part_count >= 2 * pc_worker_count(env);
  pcal_env alone = *env;
  alone.threads = 1;
  alone.pool = NULL;
  alone.progress = NULL; /* the caller's callbacks are for its own thread */
  alone.interrupted = NULL;
  curve_work work = {aside ? &alone : env, state, asked, out->curve.parts};
  const double cost = aside ? MACHINE_CURVE_SCORE_COST * (double)state->row_count : 0.0;
  const pcal_status status =
      pc_run(aside ? env : &alone, state->part_count, cost, machine_curve_part, &work, err);
  if (status != PCAL_OK)
    machine_curve_release(env, out);
  return status;
}

static pcal_status machine_curve_finish(const pcal_env *env, const void *opaque,
                                        pc_evidence *out, pcal_error *err) {
  return pc_machine_curve_resolve(env, opaque, NULL, out, err);
}

/* ---- saving ---- */

static int machine_curve_weighted(const pc_kept_scores *store) {
  for (size_t i = 0; store->weight != NULL && i < store->count; i++)
    if (store->weight[i] != 1.0)
      return 1;
  return 0;
}

static pcal_status machine_curve_save_store(const pcal_env *env, const pc_kept_scores *store,
                                            pc_encoder *out, pcal_error *err) {
  const int weighted = machine_curve_weighted(store);
  pc_outcome_column column = machine_curve_column(store);
  column.weight = weighted ? column.weight : NULL;
  pc_encode_u64(out, store->count);
  pc_encode_u8(out, (unsigned)weighted);
  if (out->sink == NULL) {
    pc_encode_skip(out, (uint64_t)store->count * sizeof(double) * (weighted ? 2 : 1));
    return PCAL_OK;
  }
  pc_sorted_column sorted;
  PC_TRY(pc_sorted_column_new(env, &column, &sorted, err));
  pc_encode_doubles(out, sorted.score, sorted.count);
  if (weighted)
    pc_encode_doubles(out, sorted.weight, sorted.count);
  pc_sorted_column_free(env, &sorted);
  return pc_check_interrupt(env, err);
}

static pcal_status machine_curve_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                      pcal_error *err) {
  const curve_state *state = opaque;
  for (size_t s = 0; s < 2 * state->part_count; s++)
    PC_TRY(machine_curve_save_store(env, &state->store[s], out, err));
  return PCAL_OK;
}

/* Adds the weights of a loaded store; fails the decoder on impossible values. */
static void machine_curve_check(const pc_kept_scores *store, pc_decoder *in, pc_sum *weight) {
  for (size_t i = 0; i < store->count; i++)
    pc_decoder_expect(in, fabs(store->score[i]) < MACHINE_CURVE_SCORE_END);
  if (store->weight == NULL)
    pc_sum_add(weight, (double)store->count);
  for (size_t i = 0; store->weight != NULL && i < store->count; i++) {
    const int valid = store->weight[i] > 0 && isfinite(store->weight[i]);
    pc_decoder_expect(in, valid);
    pc_sum_add(weight, valid ? store->weight[i] : 0.0);
  }
}

static pcal_status machine_curve_load_store(const pcal_env *env, curve_state *state, size_t s,
                                            pc_decoder *in, pc_sum *weight, pcal_error *err) {
  const size_t count = pc_decode_count(in, sizeof(double));
  const unsigned weighted = pc_decode_u8(in);
  pc_decoder_expect(in, weighted <= 1 && count <= pc_decoder_left(in) /
                                                      (sizeof(double) * (1 + (weighted == 1))));
  if (in->failed)
    return PCAL_OK;
  pc_kept_scores *store = &state->store[s];
  PC_TRY(machine_curve_limit(env, state, count, weighted == 1, err));
  PC_TRY(pc_kept_scores_reserve(env, store, count, weighted == 1, err));
  pc_decode_doubles(in, store->score, count);
  if (weighted == 1)
    pc_decode_doubles(in, store->weight, count);
  store->count = count;
  state->row_count += count;
  machine_curve_check(store, in, weight);
  return PCAL_OK;
}

/* True if the loaded stores match the totals.  Views of every class have each row once per
 * class. */
static int machine_curve_fits(const curve_state *state, const pc_saved_totals *totals,
                              const pc_sum *weight) {
  const size_t copies = state->classes == 0 ? 1 : state->classes;
  pc_sum expected, doubled = totals->weight;
  pc_sum_clear(&expected);
  for (size_t left = copies; left > 0; left /= 2) {
    if (left % 2 == 1)
      pc_sum_merge(&expected, &doubled);
    const pc_sum once = doubled;
    pc_sum_merge(&doubled, &once);
  }
  return state->row_count / copies == totals->rows && state->row_count % copies == 0 &&
         pc_sum_equal(weight, &expected);
}

static pcal_status machine_curve_load(const pcal_env *env, const pc_need *need,
                                      const pc_layout *layout, const pc_saved_totals *totals,
                                      pc_decoder *in, void **out, pcal_error *err) {
  const size_t stores = 2 * pc_view_parts(&need->view, layout);
  if (stores > pc_decoder_left(in) / MACHINE_CURVE_STORE_BYTES) {
    pc_decoder_fail(in);
    return PCAL_OK;
  }
  PC_TRY(machine_curve_create(env, need, layout, out, err));
  curve_state *state = *out;
  pc_sum weight;
  pc_sum_clear(&weight);
  for (size_t s = 0; s < stores && !in->failed; s++)
    PC_TRY(machine_curve_load_store(env, state, s, in, &weight, err));
  pc_decoder_expect(in, machine_curve_fits(state, totals, &weight));
  return PCAL_OK;
}

const pc_machine pc_machine_curve = {
    .name = "curve",
    .create = machine_curve_create,
    .destroy = machine_curve_destroy,
    .clear = machine_curve_clear,
    .update = machine_curve_update,
    .prepare = machine_curve_prepare,
    .merge = machine_curve_merge,
    .gather = machine_curve_gather,
    .finish = machine_curve_finish,
    .release = machine_curve_release,
    .save = machine_curve_save,
    .load = machine_curve_load,
};
