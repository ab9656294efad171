#include "machines/machine_coarse.h"

typedef struct coarse_state {
  pc_coarse_tally tally; /* of the first pass */
  pc_coarse curve;       /* once refining has begun */
} coarse_state;

static void machine_coarse_destroy(const pcal_env *env, void *opaque) {
  coarse_state *state = opaque;
  pc_coarse_tally_free(&state->tally);
  pc_coarse_free(&state->curve);
  pc_free(env, state);
}

static void machine_coarse_clear(void *opaque) {
  coarse_state *state = opaque;
  pc_coarse_tally_clear(&state->tally);
  pc_coarse_free(&state->curve);
}

static pcal_status machine_coarse_create(const pcal_env *env, const pc_need *need,
                                         const pc_layout *layout, void **out, pcal_error *err) {
  (void)need;
  (void)layout;
  coarse_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing curves");
  const pcal_status status = pc_coarse_tally_new(env, NULL, &state->tally, err);
  if (status != PCAL_OK) {
    pc_free(env, state);
    return status;
  }
  *out = state;
  return PCAL_OK;
}

static pcal_status machine_coarse_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                         const pc_columns *columns, pcal_error *err) {
  (void)env;
  coarse_state *state = opaque;
  return pc_coarse_tally_add(&state->tally, columns->score, columns->hit, rows->count, err);
}

static pcal_status machine_coarse_prepare(const pcal_env *env, void *opaque, const void *other,
                                          pcal_error *err) {
  (void)env;
  coarse_state *into = opaque;
  const coarse_state *from = other;
  return pc_coarse_tally_prepare(&into->tally, &from->tally, err);
}

static void machine_coarse_merge(void *opaque, const void *other) {
  coarse_state *into = opaque;
  const coarse_state *from = other;
  pc_coarse_tally_merge(&into->tally, &from->tally);
}

pcal_status pc_machine_coarse_curve(const pcal_env *env, void *opaque, pc_coarse **out,
                                    pcal_error *err) {
  coarse_state *state = opaque;
  if (state->curve.env == NULL)
    PC_TRY(pc_coarse_new(env, &state->tally, &state->curve, err));
  *out = &state->curve;
  return PCAL_OK;
}

static pcal_status machine_coarse_finish(const pcal_env *env, const void *opaque,
                                         pc_evidence *out, pcal_error *err) {
  const coarse_state *state = opaque;
  pc_coarse fresh = {0};
  if (state->curve.env == NULL)
    PC_TRY(pc_coarse_new(env, &state->tally, &fresh, err));
  out->curve.part_count = 1;
  out->curve.parts = pc_alloc(env, 1, sizeof *out->curve.parts);
  pcal_status status =
      out->curve.parts == NULL ? pc_fail_memory(err, "building a curve") : PCAL_OK;
  if (status == PCAL_OK)
    status = pc_coarse_table(state->curve.env == NULL ? &fresh : &state->curve,
                             &out->curve.parts[0], err);
  if (status != PCAL_OK)
    pc_machine_curve.release(env, out);
  pc_coarse_free(&fresh);
  return status;
}

static void machine_coarse_release(const pcal_env *env, pc_evidence *evidence) {
  pc_machine_curve.release(env, evidence);
}

const pc_machine pc_machine_coarse = {
    .name = "curve",
    .create = machine_coarse_create,
    .destroy = machine_coarse_destroy,
    .clear = machine_coarse_clear,
    .update = machine_coarse_update,
    .prepare = machine_coarse_prepare,
    .merge = machine_coarse_merge,
    .finish = machine_coarse_finish,
    .release = machine_coarse_release,
};
