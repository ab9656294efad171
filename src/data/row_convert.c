/* Converts one column of scores, and rows of probabilities, which are used as stored.  Rows of
 * logits: convert_logits.c; regression: convert_forecasts.c.
 *
 * Edge cases: row_check.h.  Ties for the top class go to the lowest index. */
#include <math.h>

#include "base/assert.h"
#include "base/elementary.h"
#include "data/row_convert.h"
#include "data/row_keys.h"
#include "kernels/lane_math.h"
#include "kernels/softmax.h"

static double *row_convert_probs(const pc_row_convert *convert) {
  return convert->scratch->probs + convert->kept * convert->layout->classes;
}

pcal_status pc_row_convert_begin(const pc_row_convert *convert, size_t position,
                                 pc_checked_row *row, pcal_error *err) {
  *row = (pc_checked_row){.batch = convert->batch,
                          .layout = convert->layout,
                          .policy = convert->policy,
                          .position = position,
                          .id = convert->batch->first_row + position};
  PC_TRY(pc_row_check_label(row, err));
  return pc_row_check_weight(row, err);
}

void pc_row_convert_end(pc_row_convert *convert, const pc_checked_row *row) {
  convert->counts->skipped += (uint64_t)row->missing;
  convert->counts->normalized += (uint64_t)row->normalized;
  if (row->missing || row->weight == 0)
    return;
  if (row->weight != floor(row->weight) && row->id < convert->counts->fractional_row)
    convert->counts->fractional_row = row->id;
  convert->scratch->ids[convert->kept] = row->id;
  convert->scratch->labels[convert->kept] = row->label;
  convert->scratch->weights[convert->kept] = row->weight;
  convert->scratch->groups[convert->kept] =
      convert->batch->groups == NULL ? 0 : convert->batch->groups[row->position];
  convert->kept++;
}

int pc_row_convert_keep_labels(const pc_row_convert *convert, size_t begin, size_t count) {
  const pc_scratch *s = convert->scratch;
  const uint32_t classes = (uint32_t)convert->layout->classes;
  uint32_t bad = 0;
  if (convert->batch->weights != NULL || convert->policy->unlabelled)
    return 0;
  memcpy(s->labels, convert->batch->labels + begin, count * sizeof *s->labels);
  for (size_t i = 0; i < count; i++)
    bad |= (uint32_t)s->labels[i] >= classes;
  if (bad != 0)
    return 0;
  if (convert->batch->groups != NULL)
    memcpy(s->groups, convert->batch->groups + begin, count * sizeof(uint32_t));
  pc_row_convert_number(convert->batch->first_row + begin, count, s->ids);
  return 1;
}

/* ---- one column ---- */

static void row_convert_pair(const pc_row_convert *convert, const pc_checked_row *row,
                             const double pair[2], double log_true) {
  const pc_scratch *s = convert->scratch;
  const int top = pair[1] > pair[0];
  const double other = pair[1 - row->label];
  memcpy(row_convert_probs(convert), pair, 2 * sizeof(double));
  s->positive[convert->kept] = pair[1];
  s->top[convert->kept] = pair[top];
  s->top_label[convert->kept] = top;
  s->true_gap[convert->kept] = other;
  s->others_square[convert->kept] = other * other;
  s->log_true[convert->kept] = log_true;
}

double pc_row_convert_log(double p) {
  return pc_log(p > 0 ? p : 0.0);
}

static void row_convert_binary(const pc_row_convert *convert, const pc_checked_row *row,
                               double score) {
  double pair[2] = {1.0 - score, score};
  double *scores = convert->scratch->scores + convert->kept * 2;
  if (convert->layout->kind == PCAL_LOGIT) {
    const double side = row->label == 1 ? score : -score;
    const double rest = pc_sigmoid_pair(score, pair);
    row_convert_pair(convert, row, pair, (side < 0 ? side : 0.0) - rest);
    scores[0] = 0.0;
    scores[1] = score;
    return;
  }
  row_convert_pair(convert, row, pair,
                   convert->policy->need_log ? pc_row_convert_log(pair[row->label]) : 0.0);
  if (convert->policy->scores != PC_SCORES_NONE) {
    scores[0] = pc_row_convert_log(pair[0]);
    scores[1] = pc_row_convert_log(pair[1]);
  }
}

static pcal_status row_convert_one_column(pc_row_convert *convert, size_t position,
                                          pcal_error *err) {
  pc_checked_row row;
  PC_TRY(pc_row_convert_begin(convert, position, &row, err));
  const double score =
      pc_row_convert_load(convert->batch, pc_row_convert_at(convert->batch, position));
  if (!row.missing && !isfinite(score))
    PC_TRY(pc_row_check_not_finite(&row, &score, err));
  if (!row.missing && convert->layout->kind != PCAL_LOGIT &&
      pc_prob_excess(score) > PC_PROB_TOLERANCE)
    return pc_row_fail_range(&row, 0, score, err);
  if (!row.missing && convert->layout->kind == PCAL_CONFIDENCE) {
    convert->scratch->positive[convert->kept] = score;
    convert->scratch->top[convert->kept] = score;
  } else if (!row.missing) {
    row_convert_binary(convert, &row, score);
  }
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

/* Copies a contiguous column of scores; 0 if the scores are not contiguous. */
static int row_convert_column(const pc_row_convert *convert, size_t begin, size_t count,
                              pc_column_facts *facts) {
  const pcal_batch *batch = convert->batch;
  const char *at = pc_row_convert_at(batch, begin);
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  if (batch->row_stride != (ptrdiff_t)size || (uintptr_t)at % size != 0)
    return 0;
  if (batch->type == PCAL_F32)
    convert->scratch->kernels->column_f32((const float *)(const void *)at, count,
                                          convert->scratch->positive, facts);
  else
    convert->scratch->kernels->column_f64((const double *)(const void *)at, count,
                                          convert->scratch->positive, facts);
  return 1;
}

/* Copies labels, or zeros if there are none; returns 0 if a label is neither 0 nor 1. */
static int row_convert_plain_labels(const pc_row_convert *convert, size_t begin, size_t count) {
  int32_t *labels = convert->scratch->labels;
  uint8_t *ones = convert->scratch->ones;
  uint32_t bits = 0;
  if (convert->policy->unlabelled)
    memset(labels, 0, count * sizeof *labels);
  else
    memcpy(labels, convert->batch->labels + begin, count * sizeof *labels);
  for (size_t i = 0; i < count; i++) {
    bits |= (uint32_t)labels[i];
    ones[i] = (uint8_t)labels[i];
  }
  return bits <= 1;
}

/* The common case for a whole block: one column of probabilities or confidences with nothing
 * missing, out of range or weighted.  Returns 0 if rows must be checked one by one. */
static int row_convert_plain(const pc_row_convert *convert, size_t begin, size_t count) {
  pc_column_facts facts;
  return convert->layout->kind != PCAL_LOGIT && convert->batch->weights == NULL &&
         row_convert_column(convert, begin, count, &facts) && facts.finite &&
         facts.low >= -PC_PROB_TOLERANCE && facts.high - 1 <= PC_PROB_TOLERANCE &&
         row_convert_plain_labels(convert, begin, count);
}

static void row_convert_plain_facts(const pc_row_convert *convert, size_t count) {
  const pc_scratch *s = convert->scratch;
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
  for (size_t i = 0; convert->policy->need_log && i < count; i++)
    s->log_true[i] = pc_row_convert_log(s->probs[2 * i + (size_t)s->labels[i]]);
  for (size_t i = 0; convert->policy->scores != PC_SCORES_NONE && i < 2 * count; i++)
    s->scores[i] = pc_row_convert_log(s->probs[i]);
}

static void row_convert_plain_rows(pc_row_convert *convert, size_t begin, size_t count) {
  const pc_scratch *s = convert->scratch;
  if (convert->batch->groups != NULL)
    memcpy(s->groups, convert->batch->groups + begin, count * sizeof(uint32_t));
  convert->kept = count;
  if (!convert->policy->score_alone || convert->policy->need_keys)
    pc_row_convert_number(convert->batch->first_row + begin, count, s->ids);
  if (convert->policy->score_alone)
    return;
  if (convert->layout->kind == PCAL_CONFIDENCE)
    memcpy(s->top, s->positive, count * sizeof(double));
  else
    row_convert_plain_facts(convert, count);
}

/* ---- rows of probabilities ---- */

static void row_convert_rescale(double *p, size_t count) {
  double sum = 0.0;
  for (size_t j = 0; j < count; j++) {
    p[j] = p[j] < 0 ? 0.0 : p[j];
    sum += p[j];
  }
  for (size_t j = 0; j < count; j++)
    p[j] /= sum;
}

#define ROW_CONVERT_BELOW(bits) ((UINT64_C(1) << (52 - (bits))) - 1) /* below so many bits */

/* Edge case 5 of row_check.h: how far rounding to half precision can move the sum of a row;
 * 0 if a number has more bits. */
static double row_convert_half_error(const double *p, size_t count) {
  uint64_t bits = 0;
  for (size_t j = 0; j < count; j++)
    bits |= pc_double_bits(p[j]);
  if ((bits & ROW_CONVERT_BELOW(7)) == 0) /* bfloat16 */
    return 0x1p-8;
  return (bits & ROW_CONVERT_BELOW(10)) == 0 ? 0x1p-10 + (double)count * 0x1p-25 : 0.0;
}

/* The largest error of a sum of probabilities that is accepted. */
static double row_convert_sum_limit(const pc_row_convert *convert, const double *p,
                                    double off) {
  const double plain = convert->policy->normalize ? PC_PROB_REPAIRABLE : PC_PROB_TOLERANCE;
  if (off <= plain || off > PC_PROB_REPAIRABLE || convert->layout->kind != PCAL_PROBABILITY)
    return plain;
  const double half = row_convert_half_error(p, convert->layout->classes);
  return half > plain ? half : plain;
}

/* Edge cases 4 and 5 of row_check.h; p may be rescaled. */
static pcal_status row_convert_check_probs(const pc_row_convert *convert, pc_checked_row *row,
                                           double *p, pc_prob_row_facts *found,
                                           pcal_error *err) {
  const size_t k = convert->layout->classes;
  const double limit = convert->policy->normalize ? PC_PROB_REPAIRABLE : PC_PROB_TOLERANCE;
  const double low = pc_prob_excess(found->low), high = pc_prob_excess(found->high);
  const double worst = low > high ? low : high, off = fabs(found->sum - 1);
  if (worst > limit) {
    size_t column = 0;
    while (pc_prob_excess(p[column]) < worst)
      column++;
    return pc_row_fail_range(row, column, p[column], err);
  }
  if (off > row_convert_sum_limit(convert, p, off))
    return pc_row_fail_sum(row, found->sum, err);
  if (worst > PC_PROB_TOLERANCE || off > PC_PROB_TOLERANCE) {
    row_convert_rescale(p, k);
    row->normalized = 1;
    convert->scratch->prob_row->f64(p, k, 1, found);
  }
  return PCAL_OK;
}

void pc_row_convert_prob_facts(const pc_row_convert *convert, int32_t label, double py,
                               const pc_prob_row_facts *found) {
  const pc_scratch *s = convert->scratch;
  const double largest = found->high;
  const int is_top = found->top == (size_t)label;
  s->top[convert->kept] = largest;
  s->top_label[convert->kept] = (int32_t)found->top;
  s->true_gap[convert->kept] = 1.0 - py;
  s->others_square[convert->kept] =
      is_top ? found->rest_square : found->rest_square + (largest * largest - py * py);
}

static void row_convert_prob_columns(const pc_row_convert *convert, const pc_checked_row *row,
                                     const double *p) {
  const pc_scratch *s = convert->scratch;
  const size_t k = convert->layout->classes;
  const int logs = convert->layout->kind == PCAL_LOG_PROBABILITY && !row->normalized;
  double *scores = s->scores + convert->kept * k;
  if (convert->policy->need_log)
    s->log_true[convert->kept] =
        logs ? s->scores_row[row->label] : pc_row_convert_log(p[row->label]);
  if (pc_row_convert_keeps_probs(convert))
    memcpy(row_convert_probs(convert), p, k * sizeof(double));
  for (size_t j = 0; convert->policy->scores != PC_SCORES_NONE && j < k; j++)
    scores[j] = logs ? s->scores_row[j] : pc_row_convert_log(p[j]);
}

/* True if the scores are contiguous floats and neither probabilities nor scores are kept. */
static int row_convert_in_floats(const pc_row_convert *convert) {
  return convert->layout->kind == PCAL_PROBABILITY &&
         pc_row_convert_has_floats(convert->batch) && !pc_row_convert_keeps_probs(convert) &&
         convert->policy->scores == PC_SCORES_NONE;
}

static int row_convert_fine(const pc_prob_row_facts *found, double slack) {
  return found->finite && pc_prob_excess(found->low) <= PC_PROB_TOLERANCE &&
         pc_prob_excess(found->high) <= PC_PROB_TOLERANCE &&
         fabs(found->sum - 1) + slack <= PC_PROB_TOLERANCE;
}

/* True if a row of floats is valid as stored; the quick check decides for most rows. */
static int row_convert_look(const pc_row_convert *convert, const float *p,
                            pc_prob_row_facts *found) {
  const size_t k = convert->layout->classes;
  if (convert->policy->no_squares) {
    convert->scratch->prob_row->glance(p, k, found);
    if (found->low >= 0 && row_convert_fine(found, found->sum * pc_prob_row_slack(k)))
      return 1;
  }
  convert->scratch->prob_row->f32(p, k, !convert->policy->no_squares, found);
  return row_convert_fine(found, 0.0);
}

/* Converts such a row without a copy; returns 0 and does nothing if it is not valid.  The row
 * is read more than once; if it changes meanwhile it is not valid. */
static int row_convert_float_row(const pc_row_convert *convert, size_t position,
                                 int32_t label) {
  const pc_scratch *s = convert->scratch;
  const float *p = (const float *)(const void *)pc_row_convert_at(convert->batch, position);
  pc_prob_row_facts found;
  if (!row_convert_look(convert, p, &found))
    return 0;
  const double py = (double)p[label];
  if (!isfinite(py) || pc_prob_excess(py) > PC_PROB_TOLERANCE || !(found.rest_square <= 2))
    return 0;
  pc_row_convert_prob_facts(convert, label, py, &found);
  if (convert->policy->need_log)
    s->log_true[convert->kept] = pc_row_convert_log(py);
  return 1;
}

/* The common case: valid rows without weights.  Returns 0 if rows must be checked one by
 * one. */
static int row_convert_float_rows(pc_row_convert *convert, size_t begin, size_t count) {
  if (!row_convert_in_floats(convert) || !pc_row_convert_keep_labels(convert, begin, count))
    return 0;
  while (convert->kept < count &&
         row_convert_float_row(convert, begin + convert->kept,
                               convert->scratch->labels[convert->kept]))
    convert->kept++;
  if (convert->kept == count)
    return 1;
  convert->kept = 0;
  return 0;
}

static pcal_status row_convert_probability_row(pc_row_convert *convert, size_t position,
                                               pcal_error *err) {
  const pc_scratch *s = convert->scratch;
  const size_t k = convert->layout->classes;
  pc_checked_row row;
  pc_prob_row_facts found;
  PC_TRY(pc_row_convert_begin(convert, position, &row, err));
  if (!row.missing && row_convert_in_floats(convert) &&
      row_convert_float_row(convert, position, row.label)) {
    pc_row_convert_end(convert, &row);
    return PCAL_OK;
  }
  pc_row_convert_load_row(convert->batch, position, s->scores_row);
  double *p = s->scores_row;
  if (convert->layout->kind == PCAL_LOG_PROBABILITY) {
    p = s->terms;
    for (size_t j = 0; j < k; j++)
      p[j] = s->scores_row[j] > 700 ? INFINITY : pc_lane_exp(s->scores_row[j]);
  }
  s->prob_row->f64(p, k, 1, &found);
  if (!row.missing && !found.finite)
    PC_TRY(pc_row_check_not_finite(&row, s->scores_row, err));
  if (!row.missing) {
    PC_TRY(row_convert_check_probs(convert, &row, p, &found, err));
    pc_row_convert_prob_facts(convert, row.label, p[row.label], &found);
    row_convert_prob_columns(convert, &row, p);
  }
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

/* ---- all of them ---- */

static void row_convert_out(const pc_row_convert *convert, pc_rows *out) {
  const pc_scratch *s = convert->scratch;
  const int in_place = pc_row_convert_in_place(convert);
  *out = (pc_rows){
      .count = convert->kept,
      .classes = convert->layout->classes,
      .ids = s->ids,
      .labels = s->labels,
      .weights = convert->batch->weights == NULL ? NULL : s->weights,
      .probs =
          pc_row_convert_keeps_probs(convert) && convert->layout->classes > 1 ? s->probs : NULL,
      .positive = convert->layout->columns == 1 ? s->positive : NULL,
      .scores = convert->policy->scores != PC_SCORES_NONE && !in_place ? s->scores : NULL,
      .top = s->top,
      .top_label = s->top_label,
      .true_gap = s->true_gap,
      .others_square = s->others_square,
      .log_true = convert->policy->need_log ? s->log_true : NULL,
      .groups = convert->batch->groups == NULL ? NULL : s->groups,
      .levels = convert->layout->form == PC_FORM_QUANTILES ? convert->layout->levels : NULL,
      .flat = in_place ? convert->batch->scores : NULL,
      .flat_stride = convert->batch->row_stride,
      .flat_first = convert->batch->first_row};
}

pcal_status pc_rows_convert(const pcal_batch *batch, const pc_layout *layout,
                            const pc_row_policy *policy, size_t begin, size_t count,
                            const pc_scratch *scratch, pc_rows *out, pc_row_counts *counts,
                            pcal_error *err) {
  pc_assert(pc_row_policy_is_valid(policy));
  pc_row_convert convert = {batch, layout, policy, scratch, counts, 0};
  const int regression = layout->form != PC_FORM_CLASSES;
  const int plain =
      !regression && layout->columns == 1 && row_convert_plain(&convert, begin, count);
  const int wide = !regression && layout->kind == PCAL_PROBABILITY && layout->columns > 1;
  if (regression)
    PC_TRY((layout->form == PC_FORM_DISTANCES ? pc_convert_vectors : pc_convert_forecasts)(
        &convert, begin, count, err));
  else if (layout->kind == PCAL_LOGIT && layout->columns > 1)
    PC_TRY(pc_convert_logits(&convert, begin, count, err));
  else if (plain)
    row_convert_plain_rows(&convert, begin, count);
  else if (!wide || !row_convert_float_rows(&convert, begin, count))
    for (size_t i = begin; i < begin + count; i++)
      PC_TRY(layout->columns == 1 ? row_convert_one_column(&convert, i, err)
                                  : row_convert_probability_row(&convert, i, err));
  row_convert_out(&convert, out);
  if (policy->need_keys) {
    pc_row_keys(batch, out, scratch->keys);
    out->keys = scratch->keys;
  }
  out->ones = plain ? scratch->ones : NULL;
  return PCAL_OK;
}

int pc_device_rows_suffice(const pcal_batch *batch, const pc_layout *layout,
                           const pc_row_policy *policy) {
  const pc_row_convert convert = {.layout = layout, .policy = policy};
  const int kept = layout->classes != 2 && pc_row_convert_keeps_probs(&convert);
  const int there = layout->kind == PCAL_LOGIT
                        ? pc_device_has_softmax(batch->device, batch->type, layout->classes)
                        : pc_device_has_prob_rows(batch->device, batch->type);
  pc_row_form form;
  return pc_device_row_form(layout->kind, &form) && layout->columns > 1 && !kept &&
         policy->scores == PC_SCORES_NONE && !policy->need_keys && !policy->unlabelled && there;
}

pcal_status pc_rows_convert_device(const pcal_batch *batch, const pc_layout *layout,
                                   const pc_row_policy *policy,
                                   const pc_device_softmax *softmax, size_t begin, size_t count,
                                   const pc_scratch *scratch, pc_rows *out,
                                   pc_row_counts *counts, pcal_error *err) {
  pc_row_convert convert = {batch, layout, policy, scratch, counts, 0};
  PC_TRY(pc_convert_device_rows(&convert, softmax, begin, count, err));
  row_convert_out(&convert, out);
  return PCAL_OK;
}
