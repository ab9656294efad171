/* From rows to the scores that are mapped (of a rank, of several ranks, of a class), and
 * back. */
#include "calibrators/one_vs_rest.h"
#include "calibrators/spline/spline.h"
#include "kernels/class_ranking.h"

/* The published code computes in float. */
static double spline_rows_score(const pc_spline_model *model, double score) {
  return model->published ? (double)(float)score : score;
}

/* ---- Scores of rows ---- */

static const double *spline_rows_finish(const pc_spline_model *model, const double *scores,
                                        size_t count, double *space) {
  if (!model->published)
    return scores;
  for (size_t i = 0; i < count; i++)
    space[i] = spline_rows_score(model, scores[i]);
  return space;
}

static const double *spline_rows_look_column(const void *user, const pc_rows *rows,
                                             double *space, uint32_t *hit) {
  for (size_t i = 0; i < rows->count; i++)
    hit[i] = rows->labels[i] == 1 ? 0 : PC_NO_COLUMN;
  return spline_rows_finish(user, rows->positive, rows->count, space);
}

static const double *spline_rows_look_top(const void *user, const pc_rows *rows, double *space,
                                          uint32_t *hit) {
  for (size_t i = 0; i < rows->count; i++)
    hit[i] = rows->labels[i] == rows->top_label[i] ? 0 : PC_NO_COLUMN;
  return spline_rows_finish(user, rows->top, rows->count, space);
}

/* The score of the rank, or the sum over the first ranks. */
static double spline_rows_ranked(const pc_spline_model *model, const uint32_t *order,
                                 const double *probs) {
  if (model->target == PC_SPLINE_TOP)
    return spline_rows_score(model, probs[order[model->rank - 1]]);
  double sum = spline_rows_score(model, probs[order[0]]);
  for (size_t r = 1; r < model->rank; r++)
    sum = spline_rows_score(model, sum + spline_rows_score(model, probs[order[r]]));
  return sum;
}

static const double *spline_rows_look_ranked(const void *user, const pc_rows *rows,
                                             double *space, uint32_t *hit) {
  const pc_spline_model *model = user;
  const size_t k = model->classes;
  uint32_t *order = (uint32_t *)(void *)(space + rows->count);
  for (size_t i = 0; i < rows->count; i++) {
    pc_class_ranking(rows->probs + i * k, k, order, order + k);
    space[i] = spline_rows_ranked(model, order, rows->probs + i * k);
    hit[i] = PC_NO_COLUMN;
    for (size_t r = model->target == PC_SPLINE_TOP ? model->rank - 1 : 0; r < model->rank; r++)
      if (order[r] == (uint32_t)rows->labels[i])
        hit[i] = 0;
  }
  return space;
}

static const double *spline_rows_look_class(const void *user, const pc_rows *rows,
                                            double *space, uint32_t *hit) {
  const pc_spline_model *model = user;
  for (size_t i = 0; i < rows->count; i++) {
    space[i] = spline_rows_score(model, rows->probs[i * model->classes + model->class]);
    hit[i] = (size_t)rows->labels[i] == model->class ? 0 : PC_NO_COLUMN;
  }
  return space;
}

static const double *spline_rows_look_all(const void *user, const pc_rows *rows, double *space,
                                          uint32_t *hit) {
  const pc_spline_model *model = user;
  const size_t k = model->classes;
  uint32_t *order = (uint32_t *)(void *)(space + rows->count * k);
  for (size_t i = 0; i < rows->count; i++) {
    pc_class_ranking(rows->probs + i * k, k, order, order + k);
    for (size_t r = 0; r < k; r++) {
      space[i * k + r] = spline_rows_score(model, rows->probs[i * k + order[r]]);
      if (order[r] == (uint32_t)rows->labels[i])
        hit[i] = (uint32_t)r;
    }
  }
  return space;
}

pc_score_columns_request pc_spline_score_columns(const pc_spline_model *model) {
  pc_score_columns_request request = {
      .columns = 1, .row_space = 1, .space = model->classes, .look_user = model};
  switch (model->target) {
  case PC_SPLINE_COLUMN:
    request.bare = 1;
    request.look = spline_rows_look_column;
    break;
  case PC_SPLINE_TOP:
    request.lean = model->rank == 1;
    request.look = model->rank == 1 ? spline_rows_look_top : spline_rows_look_ranked;
    break;
  case PC_SPLINE_ALL:
    request.columns = request.row_space = model->classes;
    request.look = spline_rows_look_all;
    break;
  case PC_SPLINE_WITHIN:
    request.look = spline_rows_look_ranked;
    break;
  case PC_SPLINE_OF_CLASS:
    request.look = spline_rows_look_class;
    break;
  }
  return request;
}

/* ---- Applying ---- */

size_t pc_spline_row_space(const pcal_calibrator *calibrator) {
  return calibrator->layout.classes; /* two uint32_t in each */
}

static double spline_rows_map(const pc_spline_model *model, size_t line, double score) {
  return pc_line_map_value(&model->lines->maps[line], spline_rows_score(model, score));
}

/* Maps the chosen class; the others share the rest in their old proportions. */
static void spline_rows_top(const pc_spline_model *model, size_t chosen, const double *in,
                            double *out) {
  const size_t k = model->classes;
  const double value = spline_rows_map(model, 0, in[chosen]);
  double others = 0.0;
  for (size_t c = 0; c < k; c++)
    others += c == chosen || in[c] < 0.0 ? 0.0 : in[c];
  for (size_t c = 0; c < k; c++)
    out[c] = others > 0.0 ? (1.0 - value) * ((in[c] < 0.0 ? 0.0 : in[c]) / others)
                          : (1.0 - value) / (double)(k - 1);
  out[chosen] = value;
}

static void spline_rows_all(const pc_spline_model *model, const uint32_t *order,
                            const double *in, double *out) {
  for (size_t r = 0; r < model->classes; r++)
    out[order[r]] = spline_rows_map(model, r, in[order[r]]);
  if (!model->unscaled)
    pc_rescale_row(out, model->classes);
}

/* order: classes by rank, if the target needs them.  A single output goes to the last place. */
static void spline_rows_apply(const pc_spline_model *model, const uint32_t *order,
                              const double *in, double *out) {
  const size_t k = model->classes;
  switch (model->target) {
  case PC_SPLINE_TOP:
    spline_rows_top(model, order[model->rank - 1], in, out);
    return;
  case PC_SPLINE_ALL:
    spline_rows_all(model, order, in, out);
    return;
  case PC_SPLINE_WITHIN:
    out[k - 1] = spline_rows_map(model, 0, spline_rows_ranked(model, order, in));
    return;
  case PC_SPLINE_OF_CLASS:
    out[k - 1] = spline_rows_map(model, 0, in[model->class]);
    return;
  case PC_SPLINE_COLUMN:
    out[k - 1] = spline_rows_map(model, 0, in[k - 1]);
    if (k > 1)
      out[0] = 1.0 - out[k - 1];
    return;
  }
}

static void spline_rows_run(const pc_spline_model *model, const double *in, size_t count,
                            double *out) {
  const size_t k = model->classes;
  uint32_t *order = (uint32_t *)(void *)(out + count * k);
  const int ranked = model->target != PC_SPLINE_OF_CLASS && model->target != PC_SPLINE_COLUMN;
  const int first = ranked && model->target != PC_SPLINE_ALL && model->rank == 1;
  for (size_t i = 0; i < count; i++, in += k, out += k) {
    if (first) {
      order[0] = 0;
      for (size_t c = 1; c < k; c++)
        order[0] = in[c] > in[order[0]] ? (uint32_t)c : order[0];
    } else if (ranked) {
      pc_class_ranking(in, k, order, order + k);
    }
    spline_rows_apply(model, order, in, out);
  }
}

void pc_spline_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                     double *out) {
  spline_rows_run(calibrator->parameters, in, count, out);
}

void pc_spline_apply_unclipped(const pcal_calibrator *calibrator, const double *in,
                               size_t count, double *out) {
  pc_spline_model model = *(const pc_spline_model *)calibrator->parameters;
  model.lines = model.unclipped;
  model.unscaled = 1;
  spline_rows_run(&model, in, count, out);
}
