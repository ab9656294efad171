/* Sums over rows of probabilities: the body of the kernel pc_row_sums_columns_all.
 *
 * One thread for a row adds it, as row_sums_body.h, from the columns that prob_rows_body.h has written.
 * Every operation is that of data/row_convert.c.
 *
 * Edge cases: those of row_sums_body.h; a top score outside [0, 1] sets PC_ROW_SUMS_ODD, too.
 * Cost: about 100 double operations and 44 bytes for each row. */
#ifndef PC_ROW_SUMS_COLUMNS_BODY_H
#define PC_ROW_SUMS_COLUMNS_BODY_H

#include "base/elementary_log.h"
#include "device/prob_rows_body.h"
#include "device/row_sums_body.h"

/* The row of a thread. */
static inline void pc_row_sums_add_column(const pc_row_sums *sums, pc_row_sums_thread *mine,
                                          uint64_t row) {
  if (row >= sums->rows)
    return;
  const pc_prob_columns *columns = &sums->columns;
  const double stored = columns->stored[row], scale = columns->scale[row];
  const double py = pc_prob_rows_scaled(pc_prob_rows_value(stored, sums->form), scale);
  const double high = columns->high[row], rest = columns->rest_square[row];
  const double rest_square = sums->classes == 2 ? rest * rest : rest;
  const int64_t label = pc_row_sums_label(sums, row);
  if (label < 0 || label >= (int64_t)sums->classes || !(high > 0.0 && high <= 1.0)) {
    sums->words[PC_ROW_SUMS_ODD] = 1;
    return;
  }
  const int is_top = label == columns->top[row];
  mine->rescaled += scale != 0;
  const double square = is_top ? rest_square : rest_square + (high * high - py * py);
  const double log_true = sums->form == PC_ROW_LOG_PROBS && scale == 0
                              ? stored
                              : elementary_log_of(py > 0 ? py : 0.0);
  const pc_row_sums_facts facts = {high, 1.0 - py,        square, log_true,
                                   high, (uint32_t)label, is_top};
  pc_row_sums_add_row(sums, mine, row, &facts);
}

#endif
