#include "data/view.h"

#include "data/forecast.h"

pc_view pc_view_pit(const pc_layout *layout) {
  return (pc_view){PC_VIEW_PIT, (int32_t)layout->form, 0};
}

int pc_view_is_every_class(const pc_view *view) {
  return view->kind == PC_VIEW_CLASSES || view->kind == PC_VIEW_POOLED;
}

size_t pc_view_parts(const pc_view *view, const pc_layout *layout) {
  return view->by_label || view->kind == PC_VIEW_CLASSES ? layout->classes : 1;
}

size_t pc_view_scores_per_row(const pc_view *view, const pc_layout *layout) {
  return pc_view_is_every_class(view) ? layout->classes : 1;
}

pcal_status pc_view_columns_new(const pcal_env *env, const pc_view *view, size_t capacity,
                                pc_view_columns *out, pcal_error *err) {
  *out = (pc_view_columns){NULL, NULL, NULL, NULL, NULL, NULL};
  if (pc_view_is_every_class(view))
    return PCAL_OK;
  out->score_space = pc_alloc_raw(env, capacity, sizeof(double));
  out->hit_space = pc_alloc_raw(env, capacity, 1);
  if (view->by_label)
    out->part_space = pc_alloc_raw(env, capacity, sizeof(uint32_t));
  if (out->score_space != NULL && out->hit_space != NULL &&
      (out->part_space != NULL || !view->by_label))
    return PCAL_OK;
  pc_view_columns_free(env, out);
  return pc_fail_memory(err, "preparing views");
}

void pc_view_columns_free(const pcal_env *env, pc_view_columns *columns) {
  pc_free(env, columns->score_space);
  pc_free(env, columns->hit_space);
  pc_free(env, columns->part_space);
  *columns = (pc_view_columns){NULL, NULL, NULL, NULL, NULL, NULL};
}

static size_t view_first(const double *probs, size_t classes) {
  size_t best = 0;
  for (size_t j = 1; j < classes; j++)
    best = probs[j] > probs[best] ? j : best;
  return best;
}

/* True if class a ranks before class b. */
static int view_before(const double *probs, size_t a, size_t b) {
  return probs[a] > probs[b] || (probs[a] == probs[b] && a < b);
}

/* The class that ranks directly after `last`. */
static size_t view_following(const double *probs, size_t classes, size_t last) {
  size_t best = classes;
  for (size_t j = 0; j < classes; j++) {
    if (j == last || !view_before(probs, last, j))
      continue;
    if (best == classes || view_before(probs, j, best))
      best = j;
  }
  return best;
}

static void view_rank_row(const pc_view *view, const double *probs, size_t classes,
                          size_t label, double *score, uint8_t *hit) {
  size_t at = view_first(probs, classes);
  double within = probs[at];
  int member = at == label;
  for (int32_t r = 1; r < view->index; r++) {
    at = view_following(probs, classes, at);
    within += probs[at];
    member |= at == label;
  }
  const int sum = view->kind == PC_VIEW_WITHIN;
  *score = sum ? within : probs[at];
  *hit = (uint8_t)(sum ? member : at == label);
}

static void view_class(const pc_view *view, const pc_rows *rows, pc_view_columns *columns) {
  const size_t c = (size_t)view->index;
  if (rows->positive != NULL && c == 1)
    columns->score = rows->positive;
  else
    for (size_t i = 0; i < rows->count; i++)
      columns->score_space[i] = rows->probs[i * rows->classes + c];
  if (rows->ones != NULL && c == 1)
    columns->hit = rows->ones;
  else
    for (size_t i = 0; i < rows->count; i++)
      columns->hit_space[i] = rows->labels[i] == view->index;
}

/* hit[i] = the predicted label is the true one. */
static void view_right(const pc_rows *rows, uint8_t *restrict hit) {
  const int32_t *restrict top_label = rows->top_label, *restrict labels = rows->labels;
  const size_t count = rows->count;
  for (size_t i = 0; i < count; i++)
    hit[i] = top_label[i] == labels[i];
}

static void view_top(const pc_rows *rows, pc_view_columns *columns) {
  columns->score = rows->classes == 1 ? rows->positive : rows->top;
  if (rows->ones != NULL && rows->classes == 1)
    columns->hit = rows->ones;
  for (size_t i = 0; rows->ones == NULL && rows->classes == 1 && i < rows->count; i++)
    columns->hit_space[i] = rows->labels[i] == 1;
  if (rows->classes > 1)
    view_right(rows, columns->hit_space);
  for (size_t i = 0; columns->part != NULL && i < rows->count; i++)
    columns->part_space[i] = (uint32_t)rows->top_label[i];
}

static void view_pit(const pc_view *view, const pc_rows *rows, pc_view_columns *columns) {
  const pc_forecast_shape shape = {(pc_form)view->index, rows->classes - 1, rows->levels};
  for (size_t i = 0; i < rows->count; i++) {
    columns->score_space[i] = pc_forecast_pit(&shape, rows->probs + i * rows->classes);
    columns->hit_space[i] = 0;
  }
}

void pc_view_fill(const pc_view *view, const pc_rows *rows, pc_view_columns *columns) {
  columns->score = columns->score_space;
  columns->hit = columns->hit_space;
  columns->part = columns->part_space;
  if (pc_view_is_every_class(view))
    return;
  if (view->kind == PC_VIEW_PIT) {
    view_pit(view, rows, columns);
    return;
  }
  if (rows->classes == 1 || (view->kind == PC_VIEW_RANK && view->index == 1)) {
    view_top(rows, columns);
    return;
  }
  if (view->kind == PC_VIEW_CLASS) {
    view_class(view, rows, columns);
    return;
  }
  for (size_t i = 0; i < rows->count; i++)
    view_rank_row(view, rows->probs + i * rows->classes, rows->classes, (size_t)rows->labels[i],
                  &columns->score_space[i], &columns->hit_space[i]);
}
