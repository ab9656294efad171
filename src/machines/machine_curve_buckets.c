#include "machines/machine_curve_buckets.h"

#include "curve/class_counts.h"
#include "curve/sparse_tally.h"

#define BUCKETS_GATHER 256 /* scores of a class added at once */
/* Buckets of states that are sent, over all parts; sub-buckets of their later passes. */
#define BUCKETS_SENT ((size_t)1 << 15)

typedef struct buckets_state {
  pc_view view;
  size_t part_count;
  int counted;            /* `counts` are used, not tallies */
  pc_bucket_tally *tally; /* by part: first pass; freed when refining begins */
  pc_class_counts counts; /* in place of tallies, for a part for each class */
  pc_bucket_curve *curve; /* by part: from then on */
  pc_bucket_curve *cells; /* by part: copies that are refined apart; NULL: none */
} buckets_state;

int pc_machine_has_buckets(const pc_machine *machine) {
  return machine == &pc_machine_curve_buckets || machine == &pc_machine_curve_rounds;
}

static void curve_buckets_destroy(const pcal_env *env, void *opaque) {
  buckets_state *state = opaque;
  for (size_t p = 0; state->tally != NULL && p < state->part_count; p++)
    pc_bucket_tally_free(&state->tally[p]);
  for (size_t p = 0; state->curve != NULL && p < state->part_count; p++)
    pc_bucket_curve_free(&state->curve[p]);
  for (size_t p = 0; state->cells != NULL && p < state->part_count; p++)
    pc_bucket_curve_free(&state->cells[p]);
  pc_class_counts_free(&state->counts);
  pc_free(env, state->tally);
  pc_free(env, state->curve);
  pc_free(env, state->cells);
  pc_free(env, state);
}

static void curve_buckets_clear(void *opaque) {
  buckets_state *state = opaque;
  if (state->counted)
    pc_class_counts_clear(&state->counts);
  for (size_t p = 0; p < state->part_count; p++) {
    pc_bucket_tally_clear(&state->tally[p]);
    pc_bucket_curve_free(&state->curve[p]);
    if (state->cells != NULL)
      pc_bucket_curve_free(&state->cells[p]);
  }
}

static pc_bucket_layout curve_buckets_layout(const pc_need *need, size_t parts, size_t buckets,
                                             size_t fine) {
  pc_bucket_layout layout = parts > 1 || pc_view_is_every_class(&need->view)
                                ? pc_bucket_layout_part(parts, buckets, fine)
                                : pc_bucket_layout_even(fine);
  layout.squares = (need->grid.moments & PC_MOMENT_SQUARE) != 0;
  return layout;
}

pc_bucket_layout pc_machine_curve_rounds_layout(const pc_need *need, size_t parts) {
  return curve_buckets_layout(need, parts, BUCKETS_SENT, BUCKETS_SENT);
}

static pcal_status curve_buckets_make(const pcal_env *env, buckets_state *state,
                                      const pc_bucket_layout *layout, pcal_error *err) {
  state->tally = pc_alloc(env, state->part_count, sizeof *state->tally);
  state->curve = pc_alloc(env, state->part_count, sizeof *state->curve);
  if (state->tally == NULL || state->curve == NULL)
    return pc_fail_memory(err, "preparing curves");
  if (state->counted)
    return pc_class_counts_new(env, state->part_count, &state->counts, err);
  for (size_t p = 0; p < state->part_count; p++)
    PC_TRY(pc_bucket_tally_new_layout(env, layout, &state->tally[p], err));
  return PCAL_OK;
}

int pc_machine_curve_buckets_counts(const pc_need *need, const pc_layout *layout) {
  return need->view.kind == PC_VIEW_CLASSES && (need->grid.moments & PC_MOMENT_SQUARE) == 0 &&
         pc_view_parts(&need->view, layout) <= PC_CLASS_COUNTS_CLASSES_MAX;
}

static pcal_status curve_buckets_new(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, int sent, void **out,
                                     pcal_error *err) {
  buckets_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing curves");
  state->view = need->view;
  state->part_count = pc_view_parts(&need->view, layout);
  state->counted = !sent && pc_machine_curve_buckets_counts(need, layout);
  const pc_bucket_layout buckets =
      sent ? pc_machine_curve_rounds_layout(need, state->part_count)
           : curve_buckets_layout(need, state->part_count, PC_TALLY_PARTS_BUCKETS,
                                  PC_TALLY_FINE);
  const pcal_status status = curve_buckets_make(env, state, &buckets, err);
  if (status != PCAL_OK) {
    curve_buckets_destroy(env, state);
    return status;
  }
  *out = state;
  return PCAL_OK;
}

static pcal_status curve_buckets_create(const pcal_env *env, const pc_need *need,
                                        const pc_layout *layout, void **out, pcal_error *err) {
  return curve_buckets_new(env, need, layout, 0, out, err);
}

static pcal_status curve_rounds_create(const pcal_env *env, const pc_need *need,
                                       const pc_layout *layout, void **out, pcal_error *err) {
  return curve_buckets_new(env, need, layout, 1, out, err);
}

/* ---- adding ---- */

/* Adds the scores of rows [begin, begin + count). */
static pcal_status curve_buckets_rows(pc_bucket_tally *tally, const pc_rows *rows, size_t begin,
                                      const double *score, const uint8_t *hit, size_t count,
                                      pcal_error *err) {
  return rows->weights == NULL ? pc_bucket_tally_add(tally, score, hit, count, err)
                               : pc_bucket_tally_add_weighted(
                                     tally, score, hit, rows->weights + begin, count, err);
}

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
    PC_TRY(curve_buckets_rows(tally, rows, begin, score, hit, count, err));
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
    return curve_buckets_rows(tallies, rows, 0, columns->score, columns->hit, rows->count, err);
  for (size_t i = 0; i < rows->count; i++)
    PC_TRY(curve_buckets_rows(&tallies[columns->part[i]], rows, i, &columns->score[i],
                              &columns->hit[i], 1, err));
  return PCAL_OK;
}

static pcal_status curve_buckets_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                        const pc_view_columns *columns, pcal_error *err) {
  (void)env;
  buckets_state *state = opaque;
  if (state->counted)
    return pc_class_counts_add(&state->counts, rows, err);
  return pc_machine_curve_buckets_add(state->tally, &state->view, rows, columns, err);
}

pcal_status pc_machine_curve_buckets_add_stored(void *opaque, const pc_stored_rows *rows,
                                                pcal_error *err) {
  buckets_state *state = opaque;
  return pc_bucket_tally_add_stored(&state->tally[0], rows, err);
}

pcal_status pc_machine_curve_buckets_join_counts(void *opaque, const uint32_t *cells,
                                                 pcal_error *err) {
  buckets_state *state = opaque;
  return pc_class_counts_join(&state->counts, cells, err);
}

pcal_status pc_machine_curve_buckets_join(void *opaque, size_t index, const pc_segment *segment,
                                          pcal_error *err) {
  buckets_state *state = opaque;
  return pc_bucket_tally_join_segment(&state->tally[0], index, segment, err);
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
  if (into->counted)
    return pc_class_counts_prepare(&into->counts, &from->counts, err);
  for (size_t p = 0; p < into->part_count; p++)
    PC_TRY(pc_bucket_tally_prepare(&into->tally[p], &from->tally[p], err));
  return PCAL_OK;
}

static void curve_buckets_merge(void *opaque, const void *other) {
  buckets_state *into = opaque;
  const buckets_state *from = other;
  if (into->counted) {
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
  if (state->counted)
    return state->curve[part].env != NULL
               ? PCAL_OK
               : pc_class_counts_curve(env, &state->counts, part, &state->curve[part], err);
  if (state->curve[part].env == NULL)
    PC_TRY(pc_bucket_curve_new(env, &state->tally[part], &state->curve[part], err));
  pc_bucket_tally_free(&state->tally[part]);
  return PCAL_OK;
}

pcal_status pc_machine_curve_buckets_cells(const pcal_env *env, void *opaque, size_t part,
                                           pc_bucket_curve **out, pcal_error *err) {
  buckets_state *state = opaque;
  if (state->cells == NULL)
    state->cells = pc_alloc(env, state->part_count, sizeof *state->cells);
  if (state->cells == NULL)
    return pc_fail_memory(err, "building a curve");
  *out = &state->cells[part];
  return state->cells[part].env != NULL
             ? PCAL_OK
             : pc_bucket_curve_copy(&state->curve[part], &state->cells[part], err);
}

/* Tables of all parts; the caller frees them. */
static pc_curve_table *curve_buckets_tables(const pcal_env *env, const buckets_state *state,
                                            const pc_bucket_curve *curves) {
  pc_curve_table *tables = pc_alloc(env, state->part_count, sizeof *tables);
  for (size_t p = 0; tables != NULL && p < state->part_count; p++)
    tables[p] = pc_bucket_curve_table(&curves[p]);
  return tables;
}

static pcal_status curve_buckets_finish(const pcal_env *env, const void *opaque,
                                        pc_evidence *out, pcal_error *err) {
  const buckets_state *state = opaque;
  out->curve.parts = curve_buckets_tables(env, state, state->curve);
  out->curve.part_count = out->curve.parts == NULL ? 0 : state->part_count;
  if (state->cells != NULL)
    out->curve.cells = curve_buckets_tables(env, state, state->cells);
  if (out->curve.parts != NULL && (state->cells == NULL || out->curve.cells != NULL))
    return PCAL_OK;
  pc_machine_curve.release(env, out);
  return pc_fail_memory(err, "building a curve");
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

/* ---- states that are sent ---- */

static pc_uint128 curve_rounds_part_rows(const buckets_state *state, size_t part) {
  const pc_bucket_tally *tally = &state->tally[part];
  pc_uint128 rows = 0;
  for (size_t b = 0; b < pc_bucket_tally_bucket_count(tally); b++)
    rows += pc_bucket_tally_segment(tally, b).rows;
  return rows;
}

int pc_machine_curve_rounds_fits(const void *opaque, const pc_layout *layout, double weight) {
  const buckets_state *state = opaque;
  const size_t each = pc_view_is_every_class(&state->view) ? layout->classes : 1;
  const int classes = state->view.kind == PC_VIEW_CLASSES;
  pc_uint128 rows = 0;
  for (size_t p = 0; p < state->part_count; p++) {
    const pc_uint128 here = curve_rounds_part_rows(state, p);
    if (classes && (double)here != weight)
      return 0;
    rows += here;
  }
  /* beyond 2^53 the weight is rounded, and the rows are not */
  return each > 0 && rows % each == 0 && (double)(rows / each) == weight;
}

/* Also fails if the sums of scores could overflow. */
static pcal_status curve_rounds_prepare(const pcal_env *env, void *opaque, const void *other,
                                        pcal_error *err) {
  const buckets_state *into = opaque, *from = other;
  for (size_t p = 0; p < into->part_count; p++)
    if (curve_rounds_part_rows(into, p) + curve_rounds_part_rows(from, p) >
        PC_SPARSE_TALLY_ROWS_MAX)
      return pc_fail(err, PCAL_DATA, "the weights are too large to be added");
  return curve_buckets_prepare(env, opaque, other, err);
}

static pcal_status curve_rounds_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                     pcal_error *err) {
  const buckets_state *state = opaque;
  for (size_t p = 0; p < state->part_count; p++) {
    pc_sparse_tally sparse;
    PC_TRY(pc_sparse_tally_new(env, &state->tally[p], &sparse, err));
    pc_encode_sparse_tally(out, &sparse);
    pc_sparse_tally_free(&sparse);
  }
  return PCAL_OK;
}

static pcal_status curve_rounds_load_part(const pcal_env *env, pc_bucket_tally *tally,
                                          pc_decoder *in, pcal_error *err) {
  pc_sparse_tally sparse;
  int fits = 0;
  pcal_status status = pc_decode_sparse_tally(in, env, &sparse, err);
  pc_decoder_expect(in, sparse.kept[0].count == 0 && sparse.kept[1].count == 0);
  if (status == PCAL_OK && !in->failed) {
    status = pc_sparse_tally_fill(&sparse, tally, &fits, err);
    pc_decoder_expect(in, fits);
  }
  pc_sparse_tally_free(&sparse);
  return status;
}

static pcal_status curve_rounds_load(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, const pc_saved_totals *totals,
                                     pc_decoder *in, void **out, pcal_error *err) {
  (void)
      totals; /* weights that are not whole are found out later: pc_machine_curve_rounds_fits */
  if (pc_view_parts(&need->view, layout) > pc_decoder_left(in)) {
    pc_decoder_fail(in);
    return PCAL_OK;
  }
  PC_TRY(curve_rounds_create(env, need, layout, out, err));
  const buckets_state *state = *out;
  for (size_t p = 0; p < state->part_count && !in->failed; p++)
    PC_TRY(curve_rounds_load_part(env, &state->tally[p], in, err));
  return PCAL_OK;
}

const pc_machine pc_machine_curve_rounds = {
    .name = "curve",
    .create = curve_rounds_create,
    .destroy = curve_buckets_destroy,
    .clear = curve_buckets_clear,
    .update = curve_buckets_update,
    .prepare = curve_rounds_prepare,
    .merge = curve_buckets_merge,
    .finish = curve_buckets_finish,
    .release = curve_buckets_release,
    .save = curve_rounds_save,
    .load = curve_rounds_load,
};
