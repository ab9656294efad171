/* From scores to what metrics ask of a row.
 *
 * Formula, logits z with m = max z, e_j = exp(z_j - m), r = sum of e_j over j != top:
 *   p_j = e_j / (1 + r),  log p_y = (z_y - m) - log(1 + r),
 *   1 - p_y = r / (1 + r) when y is the top class, else (1 + r - e_y) / (1 + r);
 * the sum of squares of the other classes goes the same way.  Nothing is lost to cancellation
 * when p_y is close to 1.  Probabilities are used as stored.
 * Edge cases: see row_check.h; ties for the top class go to the lowest index.
 * Cost: one exp for each logit; up to 32 classes one row in each vector lane, beyond that the
 * vectors run along the row. */
#include <math.h>
#include <string.h>

#include "data/row_check.h"
#include "kernels/lane_math.h"
#include "kernels/softmax.h"

typedef struct derive_state {
  const pcal_batch *batch;
  const pc_layout *layout;
  const pc_policy *policy;
  const pc_scratch *scratch;
  pc_row_counts *counts;
  size_t kept;
} derive_state;

static const char *derive_at(const pcal_batch *batch, size_t position) {
  return (const char *)batch->scores + (ptrdiff_t)position * batch->row_stride;
}

static double derive_load(const pcal_batch *batch, const char *at) {
  if (batch->type == PCAL_F32) {
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void derive_load_row(const pcal_batch *batch, size_t position, double *out) {
  const char *at = derive_at(batch, position);
  for (size_t j = 0; j < batch->columns; j++, at += batch->column_stride)
    out[j] = derive_load(batch, at);
}

static double *derive_probs(const derive_state *d) {
  return d->scratch->probs + d->kept * d->layout->classes;
}

static int derive_keeps_probs(const derive_state *d) {
  return !d->policy->lean || d->layout->classes <= 2;
}

static pcal_status derive_begin(const derive_state *d, size_t position, pc_row *row,
                                pcal_error *err) {
  *row = (pc_row){.batch = d->batch,
                  .layout = d->layout,
                  .policy = d->policy,
                  .position = position,
                  .id = d->batch->first_row + position};
  PC_TRY(pc_row_label(row, err));
  return pc_row_weight(row, err);
}

/* Counts the row and keeps it, unless it is missing or occurred no times. */
static void derive_end(derive_state *d, const pc_row *row) {
  d->counts->skipped += (uint64_t)row->missing;
  d->counts->normalized += (uint64_t)row->normalized;
  if (row->missing || row->weight == 0)
    return;
  if (row->weight != floor(row->weight) && row->id < d->counts->fractional_row)
    d->counts->fractional_row = row->id;
  d->scratch->ids[d->kept] = row->id;
  d->scratch->labels[d->kept] = row->label;
  d->scratch->weights[d->kept] = row->weight;
  d->scratch->groups[d->kept] = d->batch->groups == NULL ? 0 : d->batch->groups[row->position];
  d->kept++;
}

/* ---- logits ---- */

/* Facts of one row of logits, whichever kernel found them. */
typedef struct derive_logits {
  double rest, rest_square, log_norm;
  size_t top;
  double true_shift; /* z_y - m */
  double true_term;  /* e_y */
} derive_logits;

static void derive_logit_facts(const derive_state *d, const pc_row *row,
                               const derive_logits *facts) {
  const pc_scratch *s = d->scratch;
  const double sum = 1.0 + facts->rest, e = facts->true_term;
  const int is_top = facts->top == (size_t)row->label;
  const double others = is_top ? facts->rest : 1.0 + (facts->rest - e);
  const double square = is_top ? facts->rest_square : 1.0 + (facts->rest_square - e * e);
  s->top[d->kept] = 1.0 / sum;
  s->top_label[d->kept] = (int32_t)facts->top;
  s->true_gap[d->kept] = others / sum;
  s->others_square[d->kept] = square / (sum * sum);
  s->log_true[d->kept] = facts->true_shift - facts->log_norm;
}

/* Are the scores of a row floats next to each other, where a kernel can read them? */
static int derive_flat(const pcal_batch *batch, const char *at) {
  return batch->type == PCAL_F32 && batch->column_stride == sizeof(float) &&
         (uintptr_t)at % sizeof(float) == 0;
}

static void derive_softmax(const derive_state *d, size_t position, double *terms,
                           pc_softmax_facts *found) {
  const pc_scratch *s = d->scratch;
  const size_t k = d->layout->classes;
  const char *at = derive_at(d->batch, position);
  const float *flat = derive_flat(d->batch, at) ? (const float *)(const void *)at : NULL;
  if (flat != NULL && d->policy->fast && terms == NULL) {
    s->kernels->softmax_fast(flat, k, found);
  } else if (flat != NULL) {
    s->kernels->softmax_f32(flat, k, terms, found);
  } else {
    derive_load_row(d->batch, position, s->scores_row);
    s->kernels->softmax_f64(s->scores_row, k, terms, found);
  }
}

static pcal_status derive_wide_row(derive_state *d, size_t position, pcal_error *err) {
  const pcal_batch *batch = d->batch;
  const pc_scratch *s = d->scratch;
  const size_t k = d->layout->classes;
  pc_row row;
  pc_softmax_facts found;
  PC_TRY(derive_begin(d, position, &row, err));
  derive_softmax(d, position, derive_keeps_probs(d) ? s->terms : NULL, &found);
  if (!found.finite) {
    derive_load_row(batch, position, s->scores_row);
    PC_TRY(pc_row_not_finite(&row, s->scores_row, err));
  }
  if (!row.missing) {
    const char *label =
        derive_at(batch, position) + (ptrdiff_t)row.label * batch->column_stride;
    const double shift = derive_load(batch, label) - found.max;
    const derive_logits facts = {
        found.rest, found.rest_square, pc_lane_log1p(found.rest), found.top,
        shift,      pc_lane_exp(shift)};
    derive_logit_facts(d, &row, &facts);
    if (derive_keeps_probs(d))
      s->kernels->divide(s->terms, k, 1.0 + found.rest, derive_probs(d));
    if (d->policy->need_scores)
      derive_load_row(batch, position, s->scores + d->kept * k);
  }
  derive_end(d, &row);
  return PCAL_OK;
}

/* A row of which only the logits themselves are wanted. */
static pcal_status derive_scores_row(derive_state *d, size_t position, pcal_error *err) {
  const pc_scratch *s = d->scratch;
  const size_t k = d->layout->classes;
  const char *at = derive_at(d->batch, position);
  double *scores = s->scores + d->kept * k;
  pc_column_facts facts;
  pc_row row;
  PC_TRY(derive_begin(d, position, &row, err));
  if (derive_flat(d->batch, at)) {
    s->kernels->column_f32((const float *)(const void *)at, k, scores, &facts);
  } else {
    derive_load_row(d->batch, position, s->scores_row);
    s->kernels->column_f64(s->scores_row, k, scores, &facts);
  }
  if (!facts.finite)
    PC_TRY(pc_row_not_finite(&row, scores, err));
  derive_end(d, &row);
  return PCAL_OK;
}

/* Loads up to PC_LANES rows side by side; lanes without a row repeat the first. */
static void derive_fill_lanes(const derive_state *d, size_t begin, size_t count) {
  const pcal_batch *batch = d->batch;
  double *lanes = d->scratch->lanes;
  for (size_t l = 0; l < PC_LANES; l++) {
    const char *at = derive_at(batch, begin + (l < count ? l : 0));
    if (batch->type == PCAL_F32)
      for (size_t j = 0; j < batch->columns; j++, at += batch->column_stride) {
        float value;
        memcpy(&value, at, sizeof value);
        lanes[j * PC_LANES + l] = (double)value;
      }
    else
      for (size_t j = 0; j < batch->columns; j++, at += batch->column_stride)
        memcpy(&lanes[j * PC_LANES + l], at, sizeof(double));
  }
}

static void derive_lane_softmax(const derive_state *d, pc_softmax_lanes *found) {
  const pc_scratch *s = d->scratch;
  const size_t k = d->layout->classes;
  if (!d->policy->fast || d->batch->type != PCAL_F32 || derive_keeps_probs(d)) {
    s->kernels->softmax_lanes(s->lanes, k, s->terms, found);
    return;
  }
  float narrow[PC_NARROW_CLASSES * PC_LANES];
  for (size_t i = 0; i < k * PC_LANES; i++)
    narrow[i] = (float)s->lanes[i];
  s->kernels->softmax_fast_lanes(narrow, k, found);
}

static void derive_lane(const derive_state *d, const pc_row *row, size_t lane,
                        const pc_softmax_lanes *found) {
  const pc_scratch *s = d->scratch;
  const size_t k = d->layout->classes, y = (size_t)row->label;
  const double shift = s->lanes[y * PC_LANES + lane] - found->max[lane];
  const derive_logits facts = {found->rest[lane],
                               found->rest_square[lane],
                               found->log_norm[lane],
                               (size_t)found->top[lane],
                               shift,
                               pc_lane_exp(shift)};
  derive_logit_facts(d, row, &facts);
  double *probs = derive_probs(d), *scores = s->scores + d->kept * k;
  const double sum = 1.0 + facts.rest;
  for (size_t j = 0; derive_keeps_probs(d) && j < k; j++)
    probs[j] = s->terms[j * PC_LANES + lane] / sum;
  for (size_t j = 0; d->policy->need_scores && j < k; j++)
    scores[j] = s->lanes[j * PC_LANES + lane];
}

static pcal_status derive_narrow_rows(derive_state *d, size_t begin, size_t count,
                                      pcal_error *err) {
  pc_softmax_lanes found;
  derive_fill_lanes(d, begin, count);
  derive_lane_softmax(d, &found);
  for (size_t l = 0; l < count; l++) {
    pc_row row;
    PC_TRY(derive_begin(d, begin + l, &row, err));
    if (!row.missing && found.odd[l] != 0.0) {
      derive_load_row(d->batch, begin + l, d->scratch->scores_row);
      PC_TRY(pc_row_not_finite(&row, d->scratch->scores_row, err));
    }
    if (!row.missing)
      derive_lane(d, &row, l, &found);
    derive_end(d, &row);
  }
  return PCAL_OK;
}

/* ---- one column ---- */

static void derive_pair(const derive_state *d, const pc_row *row, const double pair[2],
                        double log_true) {
  const pc_scratch *s = d->scratch;
  const int top = pair[1] > pair[0];
  const double other = pair[1 - row->label];
  memcpy(derive_probs(d), pair, 2 * sizeof(double));
  s->positive[d->kept] = pair[1];
  s->top[d->kept] = pair[top];
  s->top_label[d->kept] = top;
  s->true_gap[d->kept] = other;
  s->others_square[d->kept] = other * other;
  s->log_true[d->kept] = log_true;
}

static double derive_log(double p) {
  return log(p > 0 ? p : 0.0);
}

static void derive_binary(const derive_state *d, const pc_row *row, double score) {
  double pair[2] = {1.0 - score, score};
  double *scores = d->scratch->scores + d->kept * 2;
  if (d->layout->kind == PCAL_LOGIT) {
    const double side = row->label == 1 ? score : -score;
    const double rest = pc_sigmoid_pair(score, pair);
    derive_pair(d, row, pair, (side < 0 ? side : 0.0) - rest);
    scores[0] = 0.0;
    scores[1] = score;
    return;
  }
  derive_pair(d, row, pair, d->policy->need_log ? derive_log(pair[row->label]) : 0.0);
  if (d->policy->need_scores) {
    scores[0] = derive_log(pair[0]);
    scores[1] = derive_log(pair[1]);
  }
}

static pcal_status derive_one_column(derive_state *d, size_t position, pcal_error *err) {
  pc_row row;
  PC_TRY(derive_begin(d, position, &row, err));
  const double score = derive_load(d->batch, derive_at(d->batch, position));
  if (!row.missing && !isfinite(score))
    PC_TRY(pc_row_not_finite(&row, &score, err));
  if (!row.missing && d->layout->kind != PCAL_LOGIT && pc_outside(score) > PC_AS_STORED)
    return pc_row_bad_range(&row, 0, score, err);
  if (!row.missing && d->layout->kind == PCAL_CONFIDENCE) {
    d->scratch->positive[d->kept] = score;
    d->scratch->top[d->kept] = score;
  } else if (!row.missing) {
    derive_binary(d, &row, score);
  }
  derive_end(d, &row);
  return PCAL_OK;
}

/* Scores of a block of rows next to each other; 0 where they do not lie so. */
static int derive_column(const derive_state *d, size_t begin, size_t count,
                         pc_column_facts *facts) {
  const pcal_batch *batch = d->batch;
  const char *at = derive_at(batch, begin);
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  if (batch->row_stride != (ptrdiff_t)size || (uintptr_t)at % size != 0)
    return 0;
  if (batch->type == PCAL_F32)
    d->scratch->kernels->column_f32((const float *)(const void *)at, count,
                                    d->scratch->positive, facts);
  else
    d->scratch->kernels->column_f64((const double *)(const void *)at, count,
                                    d->scratch->positive, facts);
  return 1;
}

/* The common case, a block at a time: one column of probabilities or confidences in which
 * nothing is missing, out of range or weighted.  0 when some row needs a closer look. */
static int derive_plain(const derive_state *d, size_t begin, size_t count) {
  pc_column_facts facts;
  if (d->layout->kind == PCAL_LOGIT || d->batch->weights != NULL || d->policy->unlabelled ||
      !derive_column(d, begin, count, &facts))
    return 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < count; i++)
    bits |= (uint32_t)d->batch->labels[begin + i];
  return facts.finite && facts.low >= -PC_AS_STORED && facts.high - 1 <= PC_AS_STORED &&
         bits <= 1;
}

static void derive_plain_facts(const derive_state *d, size_t count) {
  const pc_scratch *s = d->scratch;
  for (size_t i = 0; i < count; i++) {
    const double p = s->positive[i], rest = 1.0 - p;
    const double other = s->labels[i] == 1 ? rest : p;
    s->probs[2 * i] = rest;
    s->probs[2 * i + 1] = p;
    s->true_gap[i] = other;
    s->others_square[i] = other * other;
    s->top_label[i] = p > rest;
    s->top[i] = p > rest ? p : rest;
  }
  for (size_t i = 0; d->policy->need_log && i < count; i++)
    s->log_true[i] = derive_log(s->probs[2 * i + (size_t)s->labels[i]]);
  for (size_t i = 0; d->policy->need_scores && i < 2 * count; i++)
    s->scores[i] = derive_log(s->probs[i]);
}

static void derive_plain_rows(derive_state *d, size_t begin, size_t count) {
  const pc_scratch *s = d->scratch;
  memcpy(s->labels, d->batch->labels + begin, count * sizeof(int32_t));
  if (d->batch->groups != NULL)
    memcpy(s->groups, d->batch->groups + begin, count * sizeof(uint32_t));
  d->kept = count;
  if (d->policy->bare)
    return;
  for (size_t i = 0; i < count; i++)
    s->ids[i] = d->batch->first_row + begin + i;
  if (d->layout->kind == PCAL_CONFIDENCE)
    memcpy(s->top, s->positive, count * sizeof(double));
  else
    derive_plain_facts(d, count);
}

/* ---- rows of probabilities ---- */

static void derive_rescale(double *p, size_t count) {
  double sum = 0.0;
  for (size_t j = 0; j < count; j++) {
    p[j] = p[j] < 0 ? 0.0 : p[j];
    sum += p[j];
  }
  for (size_t j = 0; j < count; j++)
    p[j] /= sum;
}

/* Edge case 4 of row_check.h; p may be rescaled. */
static pcal_status derive_simplex(const derive_state *d, pc_row *row, double *p,
                                  pc_simplex_facts *found, pcal_error *err) {
  const size_t k = d->layout->classes;
  const double limit = d->policy->normalize ? PC_REPAIRABLE : PC_AS_STORED;
  const double low = pc_outside(found->low), high = pc_outside(found->high);
  const double worst = low > high ? low : high, off = fabs(found->sum - 1);
  if (worst > limit) {
    size_t column = 0;
    while (pc_outside(p[column]) < worst)
      column++;
    return pc_row_bad_range(row, column, p[column], err);
  }
  if (off > limit)
    return pc_row_bad_sum(row, found->sum, err);
  if (worst > PC_AS_STORED || off > PC_AS_STORED) {
    derive_rescale(p, k);
    row->normalized = 1;
    d->scratch->kernels->simplex_f64(p, k, found);
  }
  return PCAL_OK;
}

static void derive_simplex_facts(const derive_state *d, const pc_row *row, const double *p,
                                 const pc_simplex_facts *found) {
  const pc_scratch *s = d->scratch;
  const double py = p[row->label], largest = p[found->top];
  const int is_top = found->top == (size_t)row->label;
  s->top[d->kept] = largest;
  s->top_label[d->kept] = (int32_t)found->top;
  s->true_gap[d->kept] = 1.0 - py;
  s->others_square[d->kept] =
      is_top ? found->rest_square : found->rest_square + (largest * largest - py * py);
}

static void derive_simplex_columns(const derive_state *d, const pc_row *row, const double *p) {
  const pc_scratch *s = d->scratch;
  const size_t k = d->layout->classes;
  const int logs = d->layout->kind == PCAL_LOG_PROBABILITY && !row->normalized;
  double *scores = s->scores + d->kept * k;
  if (d->policy->need_log)
    s->log_true[d->kept] = logs ? s->scores_row[row->label] : derive_log(p[row->label]);
  if (derive_keeps_probs(d))
    memcpy(derive_probs(d), p, k * sizeof(double));
  for (size_t j = 0; d->policy->need_scores && j < k; j++)
    scores[j] = logs ? s->scores_row[j] : derive_log(p[j]);
}

static pcal_status derive_probability_row(derive_state *d, size_t position, pcal_error *err) {
  const pc_scratch *s = d->scratch;
  const size_t k = d->layout->classes;
  pc_row row;
  pc_simplex_facts found;
  PC_TRY(derive_begin(d, position, &row, err));
  derive_load_row(d->batch, position, s->scores_row);
  double *p = s->scores_row;
  if (d->layout->kind == PCAL_LOG_PROBABILITY) {
    p = s->terms;
    for (size_t j = 0; j < k; j++)
      p[j] = s->scores_row[j] > 700 ? INFINITY : pc_lane_exp(s->scores_row[j]);
  }
  s->kernels->simplex_f64(p, k, &found);
  if (!row.missing && !found.finite)
    PC_TRY(pc_row_not_finite(&row, s->scores_row, err));
  if (!row.missing) {
    PC_TRY(derive_simplex(d, &row, p, &found, err));
    derive_simplex_facts(d, &row, p, &found);
    derive_simplex_columns(d, &row, p);
  }
  derive_end(d, &row);
  return PCAL_OK;
}

/* ---- all of them ---- */

static void derive_out(const derive_state *d, pc_rows *out) {
  const pc_scratch *s = d->scratch;
  *out = (pc_rows){.count = d->kept,
                   .classes = d->layout->classes,
                   .ids = s->ids,
                   .labels = s->labels,
                   .weights = d->batch->weights == NULL ? NULL : s->weights,
                   .probs = derive_keeps_probs(d) && d->layout->classes > 1 ? s->probs : NULL,
                   .positive = d->layout->columns == 1 ? s->positive : NULL,
                   .scores = d->policy->need_scores ? s->scores : NULL,
                   .top = s->top,
                   .top_label = s->top_label,
                   .true_gap = s->true_gap,
                   .others_square = s->others_square,
                   .log_true = d->policy->need_log ? s->log_true : NULL,
                   .groups = d->batch->groups == NULL ? NULL : s->groups};
}

pcal_status pc_rows_derive(const pcal_batch *batch, const pc_layout *layout,
                           const pc_policy *policy, size_t begin, size_t count,
                           const pc_scratch *scratch, pc_rows *out, pc_row_counts *counts,
                           pcal_error *err) {
  derive_state d = {batch, layout, policy, scratch, counts, 0};
  const int logits = layout->kind == PCAL_LOGIT && layout->columns > 1;
  const int plain_scores = logits && policy->scores_only;
  const size_t step =
      logits && !plain_scores && layout->classes <= PC_NARROW_CLASSES ? PC_LANES : 1;
  if (layout->columns == 1 && derive_plain(&d, begin, count)) {
    derive_plain_rows(&d, begin, count);
    derive_out(&d, out);
    return PCAL_OK;
  }
  for (size_t i = begin; i < begin + count; i += step) {
    const size_t left = begin + count - i;
    if (step > 1)
      PC_TRY(derive_narrow_rows(&d, i, left < step ? left : step, err));
    else if (plain_scores)
      PC_TRY(derive_scores_row(&d, i, err));
    else if (layout->columns == 1)
      PC_TRY(derive_one_column(&d, i, err));
    else if (logits)
      PC_TRY(derive_wide_row(&d, i, err));
    else
      PC_TRY(derive_probability_row(&d, i, err));
  }
  derive_out(&d, out);
  return PCAL_OK;
}
