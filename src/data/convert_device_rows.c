/* Converts rows of logits whose softmax a device has computed (device/softmax_rows_body.h), as
 * convert_logits.c does with its own, and rows of probabilities that it has checked
 * (device/prob_rows_body.h), as row_convert.c.
 *
 * Edge cases: labels and weights as in row_check.h.  All logits are finite, and all
 * probabilities valid; otherwise data/pass.c copies the rows and converts them here.
 * Cost: one exp and one log for each row. */
#include <math.h>

#include "data/row_convert.h"
#include "kernels/lane_math.h"

/* The probabilities of a row of two classes. */
static void convert_device_pair(const pc_row_convert *convert, int32_t top, double high,
                                double other) {
  double *pair = convert->scratch->probs + convert->kept * 2;
  if (convert->layout->classes != 2)
    return;
  pair[top] = high;
  pair[1 - top] = other;
}

/* The same from the softmax of two logits, as convert_logits.c: the term of the largest is 1. */
static void convert_device_logits(const pc_row_convert *convert,
                                  const pc_device_softmax *softmax, size_t i) {
  const double rest = softmax->rest[i], sum = 1.0 + rest;
  convert_device_pair(convert, softmax->top[i], 1.0 / sum, rest / sum);
}

/* Valid rows without weights, all at once; returns 0 if rows must be checked one by one. */
static int convert_device_plain(pc_row_convert *convert, const pc_device_softmax *softmax,
                                size_t begin, size_t count) {
  const pc_scratch *s = convert->scratch;
  if (!pc_row_convert_keep_labels(convert, begin, count))
    return 0;
  memcpy(s->top, softmax->rest, count * sizeof *s->top);
  memcpy(s->others_square, softmax->rest_square, count * sizeof *s->others_square);
  memcpy(s->log_true, softmax->gap, count * sizeof *s->log_true);
  memcpy(s->top_label, softmax->top, count * sizeof *s->top_label);
  for (; convert->kept < count; convert->kept++)
    convert_device_logits(convert, softmax, convert->kept);
  return 1;
}

static pcal_status convert_device_row(pc_row_convert *convert, const pc_device_softmax *softmax,
                                      size_t begin, size_t i, pcal_error *err) {
  const pc_scratch *s = convert->scratch;
  pc_checked_row row;
  PC_TRY(pc_row_convert_begin(convert, begin + i, &row, err));
  s->top[convert->kept] = softmax->rest[i];
  s->others_square[convert->kept] = softmax->rest_square[i];
  s->log_true[convert->kept] = softmax->gap[i];
  s->top_label[convert->kept] = softmax->top[i];
  convert_device_logits(convert, softmax, i);
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

/* ---- probabilities ---- */

static pcal_status convert_device_probs(pc_row_convert *convert,
                                        const pc_device_softmax *columns, size_t begin,
                                        size_t i, pcal_error *err) {
  const int logs = convert->layout->kind == PCAL_LOG_PROBABILITY;
  const double stored = columns->gap[i], scale = columns->scale[i];
  const double rest = columns->rest_square[i];
  const pc_prob_row_facts found = {.high = columns->rest[i],
                                   .rest_square =
                                       convert->layout->classes == 2 ? rest * rest : rest,
                                   .top = (size_t)columns->top[i]};
  pc_checked_row row;
  PC_TRY(pc_row_convert_begin(convert, begin + i, &row, err));
  double py = !logs ? stored : stored > 700 ? (double)INFINITY : pc_lane_exp(stored);
  row.normalized = scale != 0 && !row.missing;
  if (scale != 0)
    py = (py < 0 ? 0.0 : py) / scale;
  pc_row_convert_prob_facts(convert, row.label, py, &found);
  convert_device_pair(convert, columns->top[i], found.high, rest);
  if (convert->policy->need_log)
    convert->scratch->log_true[convert->kept] =
        logs && scale == 0 ? stored : pc_row_convert_log(py);
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

pcal_status pc_convert_device_rows(pc_row_convert *convert, const pc_device_softmax *softmax,
                                   size_t begin, size_t count, pcal_error *err) {
  const pc_scratch *s = convert->scratch;
  for (size_t i = 0; softmax->scale != NULL && i < count; i++)
    PC_TRY(convert_device_probs(convert, softmax, begin, i, err));
  if (softmax->scale != NULL)
    return PCAL_OK;
  const int done = convert_device_plain(convert, softmax, begin, count);
  for (size_t i = 0; !done && i < count; i++)
    PC_TRY(convert_device_row(convert, softmax, begin, i, err));
  const pc_logit_columns columns = {s->labels,        s->top_label, s->top,
                                    s->others_square, s->log_true,  s->true_gap};
  s->kernels->finish_logits(&columns, convert->kept);
  return PCAL_OK;
}
