/* Converts rows of logits whose softmax a device has computed (device/softmax_rows_body.h), as
 * convert_logits.c does with its own.
 *
 * Edge cases: labels and weights as in row_check.h.  All logits are finite; otherwise data/pass.c
 * copies the rows and converts them here.
 * Cost: one exp and one log for each row. */
#include "data/row_convert.h"

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
  convert->kept = count;
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
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

pcal_status pc_convert_device_rows(pc_row_convert *convert, const pc_device_softmax *softmax,
                                   size_t begin, size_t count, pcal_error *err) {
  const pc_scratch *s = convert->scratch;
  const int done = convert_device_plain(convert, softmax, begin, count);
  for (size_t i = 0; !done && i < count; i++)
    PC_TRY(convert_device_row(convert, softmax, begin, i, err));
  const pc_logit_columns columns = {s->labels,        s->top_label, s->top,
                                    s->others_square, s->log_true,  s->true_gap};
  s->kernels->finish_logits(&columns, convert->kept);
  return PCAL_OK;
}
