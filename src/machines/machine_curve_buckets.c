#include "machines/machine_curve_buckets.h"

#include "curve/class_counts.h"

#define BUCKETS_GATHER 256 /* scores of a class added at once */

typedef struct buckets_state {
  pc_view view;
  size_t part_count;
  pc_bucket_tally *tally; /* by part: first pass; freed when refining begins */
  pc_class_counts counts; /* in place of tallies, for a part for each class */
  pc_bucket_curve *curve; /* by part: from then on */
} buckets_state;

static int curve_buckets_counts(const buckets_state *state) {
  return state->view.kind == PC_VIEW_CLASSES &&
         state->part_count <= PC_CLASS_COUNTS_CLASSES_MAX;
}

static void curve_buckets_destroy(const pcal_env *env, void *opaque) {
  buckets_state *state = opaque;
  for (size_t p = 0; state->tally != NULL && p < state->part_count; p++)
    pc_bucket_tally_free(&state->tally[p]);
  for (size_t p = 0; state->curve != NULL && p < state->part_count; p++)
    pc_bucket_curve_free(&state->curve[p]);
  pc_class_counts_free(&state->counts);
  pc_free(env, state->tally);
  pc_free(env, state->curve);
  pc_free(env, state);
}

static void curve_buckets_clear(void *opaque) {
  buckets_state *state = opaque;
  if (curve_buckets_counts(state))
    pc_class_counts_clear(&state->counts);
  for (size_t p = 0; p < state->part_count; p++) {
    pc_bucket_tally_clear(&state->tally[p]);
    pc_bucket_curve_free(&state->curve[p]);
  }
}

static pcal_status curve_buckets_make(const pcal_env *env, buckets_state *state,
                                      int every_class, pcal_error *err) {
  state->tally = pc_alloc(env, state->part_count, sizeof *state->tally);
  state->curve = pc_alloc(env, state->part_count, sizeof *state->curve);
  if (state->tally == NULL || state->curve == NULL)
    return pc_fail_memory(err, "preparing curves");
  if (curve_buckets_counts(state))
    return pc_class_counts_new(env, state->part_count, &state->counts, err);
  const int many = state->part_count > 1 || every_class;
  for (size_t p = 0; p < state->part_count; p++)
    PC_TRY(many ? pc_bucket_tally_new_part(env, state->part_count, &state->tally[p], err)
                : pc_bucket_tally_new(env, NULL, &state->tally[p], err));
  return PCAL_OK;
}

static pcal_status curve_buckets_create(const pcal_env *env, const pc_need *need,
                                        const pc_layout *layout, void **out, pcal_error *err) {
  buckets_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing curves");
  state->view = need->view;
  state->part_count = pc_view_parts(&need->view, layout);
  const pcal_status status =
      curve_buckets_make(env, state, pc_view_is_every_class(&need->view), err);
  if (status != PCAL_OK) {
    curve_buckets_destroy(env, state);
    return status;
  }
  *out = state;
  return PCAL_OK;
}

/* ---- adding ---- */

/* Adds one class of all rows. */
static pcal_status curve_buckets_class(pc_bucket_tally *tally, const pc_rows *rows,
                                       size_t class_index, pcal_error *err) {
  double score[BUCKETS_GATHER];
  uint8_t hit[BUCKETS_GATHER];
  for (size_t begin = 0; begin < rows->count; begin += BUCKETS_GATHER) {
    const size_t left = rows->count - begin;
    const size_t count = left < BUCKETS_GATHER ? left : BUCKETS_GATHER;
    for (size_t i = 0; i < count; i++) {
      score[i] = rows->probs[(begin + i) * rows->classes + class_index];
      hit[i] = (size_t)rows->labels[begin + i] == class_index;
    }
    PC_TRY(pc_bucket_tally_add(tally, score, hit, count, err));
  }
  return PCAL_OK;
}

pcal_status pc_machine_curve_buckets_add(pc_bucket_tally *tallies, const pc_view *view,
                                         const pc_rows *rows, const pc_view_columns *columns,
                                         pcal_error *err) {
  if (pc_view_is_every_class(view)) {
    for (size_t j = 0; j < rows->classes; j++)
      PC_TRY(
          curve_buckets_class(&tallies[view->kind == PC_VIEW_CLASSES ? j : 0], rows, j, err));
    return PCAL_OK;
  }
  if (columns->part == NULL)
    return pc_bucket_tally_add(tallies, columns->score, columns->hit, rows->count, err);
  for (size_t i = 0; i < rows->count; i++)
    PC_TRY(pc_bucket_tally_add(&tallies[columns->part[i]], &columns->score[i], &columns->hit[i],
                               1, err));
  return PCAL_OK;
}

static pcal_status curve_buckets_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                        const pc_view_columns *columns, pcal_error *err) {
  (void)env;
  buckets_state *state = opaque;
  if (curve_buckets_counts(state))
    return pc_class_counts_add(&state->counts, rows, err);
  return pc_machine_curve_buckets_add(state->tally, &state->view, rows, columns, err);
}

pcal_status pc_machine_curve_buckets_add_stored(void *opaque, const pc_stored_rows *rows,
                                                pcal_error *err) {
  buckets_state *state = opaque;
  return pc_bucket_tally_add_stored(&state->tally[0], rows, err);
}

pcal_status pc_machine_curve_buckets_split(void *opaque, const double *ends, size_t count,
                                           pcal_error *err) {
  buckets_state *state = opaque;
  return pc_bucket_tally_split(&state->tally[0], ends, count, err);
}

static pcal_status curve_buckets_prepare(const pcal_env *env, void *opaque, const void *other,
                                         pcal_error *err) {
  (void)env;
  buckets_state *into = opaque;
  const buckets_state *from = other;
  if (curve_buckets_counts(into))
    return pc_class_counts_prepare(&into->counts, &from->counts, err);
  for (size_t p = 0; p < into->part_count; p++)
    PC_TRY(pc_bucket_tally_prepare(&into->tally[p], &from->tally[p], err));
  return PCAL_OK;
}

static void curve_buckets_merge(void *opaque, const void *other) {
  buckets_state *into = opaque;
  const buckets_state *from = other;
  if (curve_buckets_counts(into)) {
    pc_class_counts_merge(&into->counts, &from->counts);
    return;
  }
  for (size_t p = 0; p < into->part_count; p++)
    pc_bucket_tally_merge(&into->tally[p], &from->tally[p]);
}

/* ---- reading ---- */

pcal_status pc_machine_curve_buckets_part(const pcal_env *env, void *opaque, size_t part,
                                          pc_bucket_curve **out, pcal_error *err) {
  buckets_state *state = opaque;
  *out = &state->curve[part];
  if (curve_buckets_counts(state))
    return state->curve[part].env != NULL
               ? PCAL_OK
               : pc_class_counts_curve(env, &state->counts, part, &state->curve[part], err);
  if (state->curve[part].env == NULL)
    PC_TRY(pc_bucket_curve_new(env, &state->tally[part], &state->curve[part], err));
  pc_bucket_tally_free(&state->tally[part]);
  return PCAL_OK;
}

static pcal_status curve_buckets_finish(const pcal_env *env, const void *opaque,
                                        pc_evidence *out, pcal_error *err) {
  const buckets_state *state = opaque;
  out->curve.parts = pc_alloc(env, state->part_count, sizeof *out->curve.parts);
  if (out->curve.parts == NULL)
    return pc_fail_memory(err, "building a curve");
  out->curve.part_count = state->part_count;
  for (size_t p = 0; p < state->part_count; p++)
    out->curve.parts[p] = pc_bucket_curve_table(&state->curve[p]);
  return PCAL_OK;
}

static void curve_buckets_release(const pcal_env *env, pc_evidence *evidence) {
  pc_machine_curve.release(env, evidence);
}

const pc_machine pc_machine_curve_buckets = {
    .name = "curve",
    .create = curve_buckets_create,
    .destroy = curve_buckets_destroy,
    .clear = curve_buckets_clear,
    .update = curve_buckets_update,
    .prepare = curve_buckets_prepare,
    .merge = curve_buckets_merge,
    .finish = curve_buckets_finish,
    .release = curve_buckets_release,
};
