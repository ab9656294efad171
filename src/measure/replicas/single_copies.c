/* A row of m copies that draw m labels is m rows, each with a key of its own (pc_draw_copy_key).
 * All replicas of a batch then draw and add up together, as they do for rows without copies.
 * Cost: that of as many rows as there are copies, once more the memory of these rows. */
#include "measure/replicas/single_copies.h"

#include <string.h>

#include "measure/replicas/draws.h"
#include "measure/replicas/score_ranges.h"

#define SINGLE_COPIES_EACH 4.0    /* most copies of a row on average */
#define SINGLE_COPIES_NUMBERS 1e8 /* most probabilities */

int pc_single_copies_apply(const pc_replica_request *request) {
  const pc_kept_rows *rows = request->rows;
  double total = 0.0;
  if (request->kind != PC_REPLICA_LABELS || request->points != NULL ||
      request->plan->layout.form != PC_FORM_CLASSES || pc_kept_rows_single(rows))
    return 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (rows->copies[i] > PC_DRAWS_UNITS)
      return 0;
    total += rows->copies[i];
  }
  return total <= SINGLE_COPIES_EACH * (double)rows->count &&
         total * (double)rows->classes <= SINGLE_COPIES_NUMBERS;
}

static void single_copies_free(const pcal_env *env, pc_kept_rows *rows) {
  pc_free(env, rows->ids);
  pc_free(env, rows->labels);
  pc_free(env, rows->weights);
  pc_free(env, rows->copies);
  pc_free(env, rows->score);
  pc_free(env, rows->top_label);
  pc_free(env, rows->probs);
}

/* Room for `count` rows with the columns that `like` has. */
static pcal_status single_copies_room(const pcal_env *env, const pc_kept_rows *like,
                                      size_t count, pc_kept_rows *out, pcal_error *err) {
  *out = (pc_kept_rows){.count = count, .classes = like->classes};
  out->ids = pc_alloc_raw(env, count, sizeof *out->ids);
  out->labels = pc_alloc_raw(env, count, sizeof *out->labels);
  out->weights = pc_alloc_raw(env, count, sizeof *out->weights);
  out->copies = pc_alloc_raw(env, count, sizeof *out->copies);
  out->score = pc_alloc_raw(env, count, sizeof *out->score);
  if (like->top_label != NULL)
    out->top_label = pc_alloc_raw(env, count, sizeof *out->top_label);
  if (like->probs != NULL)
    out->probs = pc_alloc_raw(env, count, like->classes * sizeof *out->probs);
  if (out->ids != NULL && out->labels != NULL && out->weights != NULL && out->copies != NULL &&
      out->score != NULL && (out->top_label != NULL || like->top_label == NULL) &&
      (out->probs != NULL || like->probs == NULL))
    return PCAL_OK;
  single_copies_free(env, out);
  return pc_fail_memory(err, "drawing replicas");
}

static void single_copies_put(const pc_kept_rows *from, size_t row, size_t copy, size_t at,
                              pc_kept_rows *out) {
  out->ids[at] = pc_draw_copy_key(from->ids[row], copy);
  out->labels[at] = from->labels[row];
  out->weights[at] = from->weights[row];
  out->copies[at] = 1.0;
  out->score[at] = from->score[row];
  if (out->top_label != NULL)
    out->top_label[at] = from->top_label[row];
  if (out->probs != NULL)
    memcpy(out->probs + at * out->classes, from->probs + row * from->classes,
           from->classes * sizeof *out->probs);
}

static pcal_status single_copies_make(const pcal_env *env, const pc_kept_rows *rows,
                                      pc_kept_rows *out, pcal_error *err) {
  size_t count = 0, at = 0;
  for (size_t i = 0; i < rows->count; i++)
    count += (size_t)rows->copies[i];
  PC_TRY(single_copies_room(env, rows, count, out, err));
  for (size_t i = 0; i < rows->count; i++)
    for (size_t copy = 0; copy < (size_t)rows->copies[i]; copy++)
      single_copies_put(rows, i, copy, at++, out);
  return PCAL_OK;
}

pcal_status pc_single_copies_measure(const pcal_env *env, const pc_replica_request *request,
                                     double *values, pcal_error *err) {
  pc_kept_rows rows;
  pc_replica_views views;
  pc_replica_request single = *request;
  PC_TRY(single_copies_make(env, request->rows, &rows, err));
  pcal_status status = pc_replica_views_new(env, request->plan, &rows, &views, err);
  if (status == PCAL_OK) {
    if (request->views != NULL) {
      views.cells = request->views->cells;
      views.bits = request->views->bits;
    }
    single.rows = &rows;
    single.views = &views;
    status = pc_replicas_measure(env, &single, values, err);
    pc_replica_views_free(&views);
  }
  single_copies_free(env, &rows);
  return status;
}
