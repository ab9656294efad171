#include "measure/replicas/replica_rows.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "measure/replicas/draws.h"

#define REPLICA_ROWS_NO_LABEL INT32_MIN

void pc_replica_rows_free(const pcal_env *env, pc_replica_rows *rows) {
  void *const blocks[] = {rows->weights,  rows->probs,         rows->score,    rows->top,
                          rows->true_gap, rows->others_square, rows->log_true, rows->ids,
                          rows->labels,   rows->top_label,     rows->first};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    pc_free(env, blocks[b]);
  *rows = (pc_replica_rows){.kept = rows->kept,
                            .layout = rows->layout,
                            .needs_row_terms = rows->needs_row_terms,
                            .same_rows = rows->same_rows};
}

pcal_status pc_replica_rows_reserve(const pcal_env *env, pc_replica_rows *rows, size_t count,
                                    pcal_error *err) {
  double **const columns[] = {&rows->weights,  &rows->score,         &rows->top,
                              &rows->true_gap, &rows->others_square, &rows->log_true};
  int enough = 1;
  pc_replica_rows_free(env, rows);
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
    *columns[c] = pc_alloc_raw(env, count, sizeof(double));
    enough &= *columns[c] != NULL;
  }
  rows->ids = pc_alloc_raw(env, count, sizeof(uint64_t));
  rows->labels = pc_alloc_raw(env, count, sizeof(int32_t));
  rows->top_label = pc_alloc_raw(env, count, sizeof(int32_t));
  if (rows->kept->probs != NULL && !rows->same_rows)
    rows->probs = pc_alloc_raw(env, count * rows->kept->classes, sizeof(double));
  if (!enough || rows->ids == NULL || rows->labels == NULL || rows->top_label == NULL ||
      (rows->kept->probs != NULL && !rows->same_rows && rows->probs == NULL))
    return pc_fail_memory(err, "drawing replicas");
  rows->room = count;
  for (size_t i = 0; i < count; i++)
    rows->labels[i] = REPLICA_ROWS_NO_LABEL;
  if (!rows->same_rows || !rows->needs_row_terms)
    return PCAL_OK;
  rows->first = pc_alloc_raw(env, count, sizeof *rows->first);
  if (rows->first == NULL)
    return pc_fail_memory(err, "drawing replicas");
  for (size_t i = 0; i < count; i++)
    rows->first[i].true_gap = (double)NAN;
  return PCAL_OK;
}

static const double *replica_rows_probs(const pc_replica_rows *rows) {
  return rows->same_rows ? rows->kept->probs : rows->probs;
}

static pc_row_terms replica_rows_terms(const pc_replica_rows *rows, size_t at) {
  const size_t classes = rows->kept->classes;
  const double *probs = replica_rows_probs(rows) + at * classes;
  const double p = probs[rows->labels[at]];
  double square = 0.0;
  for (size_t k = 0; k < classes; k++)
    square += k == (size_t)rows->labels[at] ? 0.0 : probs[k] * probs[k];
  return (pc_row_terms){1.0 - p, square, pc_log(p > 0 ? p : 0.0)};
}

/* Most rows draw the class of the natural view: its terms are computed once. */
static void replica_rows_put_terms(pc_replica_rows *rows, size_t row, size_t at) {
  const int first = rows->first != NULL && rows->labels[at] == pc_draw_first(rows->kept, row);
  const pc_row_terms terms = first && !isnan(rows->first[at].true_gap)
                                 ? rows->first[at]
                                 : replica_rows_terms(rows, at);
  if (first)
    rows->first[at] = terms;
  rows->true_gap[at] = terms.true_gap;
  rows->others_square[at] = terms.others_square;
  rows->log_true[at] = terms.log_true;
}

static void replica_rows_put_score(pc_replica_rows *rows, size_t row, size_t at) {
  const pc_kept_rows *kept = rows->kept;
  const double score = kept->score[row];
  rows->score[at] = score;
  rows->top[at] = score;
  if (kept->top_label != NULL) {
    rows->top_label[at] = kept->top_label[row];
  } else if (kept->classes == 2) {
    rows->top_label[at] = score > 1.0 - score;
    rows->top[at] = score > 1.0 - score ? score : 1.0 - score;
  }
}

void pc_replica_rows_put(pc_replica_rows *rows, size_t row, size_t at, double weight,
                         int32_t label) {
  const pc_kept_rows *kept = rows->kept;
  const int classes = rows->layout->form == PC_FORM_CLASSES;
  const int before = rows->same_rows && rows->labels[at] != REPLICA_ROWS_NO_LABEL;
  if (before && rows->labels[at] == label)
    return;
  rows->labels[at] = label;
  if (!before) {
    rows->ids[at] = at;
    rows->weights[at] = weight;
  }
  if (classes && !before)
    replica_rows_put_score(rows, row, at);
  if (kept->probs == NULL)
    return;
  if (!rows->same_rows)
    memcpy(rows->probs + at * kept->classes, kept->probs + row * kept->classes,
           kept->classes * sizeof(double));
  if (classes && rows->needs_row_terms)
    replica_rows_put_terms(rows, row, at);
}

void pc_replica_rows_relabel(pc_replica_rows *rows, const int32_t *labels) {
  for (size_t i = 0; i < rows->kept->count; i++)
    if (labels[i] != rows->labels[i])
      pc_replica_rows_put(rows, i, i, 1.0, labels[i]);
}

void pc_replica_rows_put_target(pc_replica_rows *rows, size_t at, double target) {
  rows->probs[(at + 1) * rows->kept->classes - 1] = target;
}

pc_rows pc_replica_rows_view(const pc_replica_rows *rows, size_t count) {
  const pc_layout *layout = rows->layout;
  return (pc_rows){.count = count,
                   .classes = rows->kept->classes,
                   .ids = rows->ids,
                   .labels = rows->labels,
                   .weights = rows->same_rows ? NULL : rows->weights,
                   .probs = replica_rows_probs(rows),
                   .positive = rows->kept->top_label == NULL ? rows->score : NULL,
                   .top = rows->top,
                   .top_label = rows->top_label,
                   .true_gap = rows->true_gap,
                   .others_square = rows->others_square,
                   .log_true = rows->log_true,
                   .levels = layout->form == PC_FORM_QUANTILES ? layout->levels : NULL};
}
