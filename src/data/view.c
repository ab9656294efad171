#include "data/view.h"

size_t pc_view_parts(const pc_view *view, const pc_layout *layout) {
  return view->by_label ? layout->classes : 1;
}

pcal_status pc_columns_new(const pcal_env *env, const pc_view *view, size_t capacity,
                           pc_columns *out, pcal_error *err) {
  *out = (pc_columns){NULL, NULL, NULL};
  out->score = pc_alloc_raw(env, capacity, sizeof(double));
  out->hit = pc_alloc_raw(env, capacity, 1);
  if (view->by_label)
    out->part = pc_alloc_raw(env, capacity, sizeof(uint32_t));
  if (out->score != NULL && out->hit != NULL && (out->part != NULL || !view->by_label))
    return PCAL_OK;
  pc_columns_free(env, out);
  return pc_fail_memory(err, "preparing views");
}

void pc_columns_free(const pcal_env *env, pc_columns *columns) {
  pc_free(env, columns->score);
  pc_free(env, columns->hit);
  pc_free(env, columns->part);
  *columns = (pc_columns){NULL, NULL, NULL};
}

static size_t view_argmax(const double *probs, size_t classes) {
  size_t best = 0;
  for (size_t j = 1; j < classes; j++)
    best = probs[j] > probs[best] ? j : best;
  return best;
}

/* Does class a rank before class b? */
static int view_before(const double *probs, size_t a, size_t b) {
  return probs[a] > probs[b] || (probs[a] == probs[b] && a < b);
}

/* The class that ranks directly after `last`, or first of all when last == classes. */
static size_t view_following(const double *probs, size_t classes, size_t last) {
  size_t best = classes;
  for (size_t j = 0; j < classes; j++) {
    if (j == last || (last < classes && !view_before(probs, last, j)))
      continue;
    if (best == classes || view_before(probs, j, best))
      best = j;
  }
  return best;
}

static void view_rank_row(const pc_view *view, const double *probs, size_t classes,
                          size_t label, double *score, uint8_t *hit) {
  size_t at = view_argmax(probs, classes);
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

static void view_class(const pc_view *view, const pc_rows *rows, pc_columns *columns) {
  const size_t c = (size_t)view->index;
  for (size_t i = 0; i < rows->count; i++) {
    columns->score[i] = rows->probs[i * rows->classes + c];
    columns->hit[i] = (size_t)rows->labels[i] == c;
  }
}

static void view_confidence(const pc_rows *rows, pc_columns *columns) {
  for (size_t i = 0; i < rows->count; i++) {
    columns->score[i] = rows->probs[i];
    columns->hit[i] = rows->labels[i] == 1;
  }
}

void pc_view_fill(const pc_view *view, const pc_rows *rows, pc_columns *columns) {
  if (rows->classes == 1) {
    view_confidence(rows, columns);
    return;
  }
  if (view->kind == PC_VIEW_CLASS) {
    view_class(view, rows, columns);
    return;
  }
  for (size_t i = 0; i < rows->count; i++) {
    const double *probs = rows->probs + i * rows->classes;
    view_rank_row(view, probs, rows->classes, (size_t)rows->labels[i], &columns->score[i],
                  &columns->hit[i]);
    if (columns->part != NULL)
      columns->part[i] = (uint32_t)view_argmax(probs, rows->classes);
  }
}
