/* The curve machine: columns of scores, kept apart by outcome, sorted when asked.
 *
 * State: for each part of the view (one, or one for each predicted label) the scores of rows
 * that came true and of rows that did not.  Weights are kept only once a row has one.
 * Sorting and joining equal scores removes every trace of the order of rows. */
#include <string.h>

#include "machines/machine.h"

typedef struct curve_store {
  double *score, *weight; /* weight NULL: all ones so far */
  size_t count, score_capacity, weight_capacity;
} curve_store;

typedef struct curve_state {
  size_t part_count;
  size_t row_count;   /* over all stores */
  curve_store *store; /* [2 * part + hit] */
} curve_state;

static void machine_curve_destroy(const pcal_env *env, void *opaque) {
  curve_state *state = opaque;
  for (size_t s = 0; s < 2 * state->part_count; s++) {
    pc_free(env, state->store[s].score);
    pc_free(env, state->store[s].weight);
  }
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
  state->store = pc_alloc(env, 2 * state->part_count, sizeof *state->store);
  if (state->store == NULL) {
    pc_free(env, state);
    return pc_fail_memory(err, "preparing curves");
  }
  *out = state;
  return PCAL_OK;
}

/* Room for `more` entries; turns weights on, filling in ones, when `weighted`. */
static pcal_status machine_curve_room(const pcal_env *env, curve_store *store, size_t more,
                                      int weighted, pcal_error *err) {
  const size_t needed = store->count + more;
  void *block = store->score;
  pcal_status status =
      pc_reserve(env, &block, &store->score_capacity, needed, sizeof(double), err);
  store->score = block;
  if (status != PCAL_OK || (!weighted && store->weight == NULL))
    return status;
  const int fresh = store->weight == NULL;
  block = store->weight;
  status = pc_reserve(env, &block, &store->weight_capacity, needed, sizeof(double), err);
  store->weight = block;
  for (size_t i = 0; status == PCAL_OK && fresh && i < store->count; i++)
    store->weight[i] = 1.0;
  return status;
}

static pcal_status machine_curve_limit(const pcal_env *env, const curve_state *state,
                                       size_t more, int weighted, pcal_error *err) {
  return pc_check_limit(env, (state->row_count + more) * sizeof(double) * (weighted ? 2 : 1),
                        "ask for equal-width bins instead of ks or equal-mass bins", err);
}

static pcal_status machine_curve_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                        const pc_columns *columns, pcal_error *err) {
  curve_state *state = opaque;
  const int weighted = rows->weights != NULL;
  PC_TRY(machine_curve_limit(env, state, rows->count, weighted, err));
  for (size_t i = 0; i < rows->count; i++) {
    const size_t part = columns->part == NULL ? 0 : columns->part[i];
    curve_store *store = &state->store[2 * part + columns->hit[i]];
    PC_TRY(machine_curve_room(env, store, 1, weighted, err));
    store->score[store->count] = columns->score[i];
    if (store->weight != NULL)
      store->weight[store->count] = weighted ? rows->weights[i] : 1.0;
    store->count++;
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
    PC_TRY(machine_curve_room(env, &into->store[s], from->store[s].count,
                              from->store[s].weight != NULL, err));
  return PCAL_OK;
}

static void machine_curve_append(curve_store *into, const curve_store *from) {
  if (from->count == 0)
    return;
  memcpy(into->score + into->count, from->score, from->count * sizeof(double));
  for (size_t i = 0; into->weight != NULL && i < from->count; i++)
    into->weight[into->count + i] = from->weight == NULL ? 1.0 : from->weight[i];
  into->count += from->count;
}

static void machine_curve_merge(void *opaque, const void *other) {
  curve_state *into = opaque;
  const curve_state *from = other;
  for (size_t s = 0; s < 2 * into->part_count; s++)
    machine_curve_append(&into->store[s], &from->store[s]);
  into->row_count += from->row_count;
}

static void machine_curve_release(const pcal_env *env, pc_evidence *evidence) {
  for (size_t p = 0; evidence->curve.parts != NULL && p < evidence->curve.part_count; p++)
    pc_curve_table_free(env, &evidence->curve.parts[p]);
  pc_free(env, evidence->curve.parts);
  evidence->curve.parts = NULL;
}

static pc_outcome_column machine_curve_column(const curve_store *store) {
  return (pc_outcome_column){store->score, store->weight, store->count};
}

static pcal_status machine_curve_finish(const pcal_env *env, const void *opaque,
                                        pc_evidence *out, pcal_error *err) {
  const curve_state *state = opaque;
  out->curve.part_count = state->part_count;
  out->curve.parts = pc_alloc(env, state->part_count, sizeof *out->curve.parts);
  if (out->curve.parts == NULL)
    return pc_fail_memory(err, "sorting scores");
  for (size_t p = 0; p < state->part_count; p++) {
    const pc_outcome_column misses = machine_curve_column(&state->store[2 * p]);
    const pc_outcome_column hits = machine_curve_column(&state->store[2 * p + 1]);
    const pcal_status status =
        pc_curve_table_new(env, &misses, &hits, &out->curve.parts[p], err);
    if (status != PCAL_OK) {
      machine_curve_release(env, out);
      return status;
    }
  }
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
    .finish = machine_curve_finish,
    .release = machine_curve_release,
};
