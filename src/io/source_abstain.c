/* Rows in which the model did not answer, beside confidences.
 *
 * An abstention is an answer with confidence 0 that is not correct: it counts as a row
 * everywhere, is the last row to be answered in selective prediction, and results show how many
 * there are.
 *
 * Edge cases:
 *   1. 1, true: the model did not answer; 0, false: it did.  A missing value is refused.
 *   2. Confidence and outcome of an abstention are not used and may be missing.
 *   3. Saved states and rounds do not hold the number of abstentions and are refused. */
#include "io/source_state.h"

static pcal_status source_abstain_fail(const pcal_source *source, size_t row, uint64_t index,
                                       pcal_error *err) {
  const pc_place place = pc_reader_place(&source->abstain.cells, row, index);
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the abstention is neither 0 (answered) nor 1 (not answered)");
}

/* Room for the outcomes of a window, copied. */
static pcal_status source_abstain_copy(pcal_source *source, pcal_batch *batch,
                                       pcal_error *err) {
  pc_source_abstain *abstain = &source->abstain;
  void *correct = abstain->correct;
  const pcal_status status = pc_reserve(&source->env, &correct, &abstain->capacity, batch->rows,
                                        sizeof *abstain->correct, err);
  abstain->correct = correct;
  PC_TRY(status);
  for (size_t i = 0; batch->labels != NULL && i < batch->rows; i++)
    abstain->correct[i] = batch->labels[i];
  batch->labels = batch->labels == NULL ? NULL : abstain->correct;
  return PCAL_OK;
}

pcal_status pc_source_mark_abstentions(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                       pcal_error *err) {
  pc_source_abstain *abstain = &source->abstain;
  const int32_t *answers = NULL;
  size_t rows = 0;
  PC_TRY(pc_label_reader_next(&abstain->answers, max_rows, batch->first_row, &answers, &rows,
                              err));
  PC_TRY(pc_source_check_end(source, &abstain->cells, rows, batch->rows, err));
  PC_TRY(pc_source_own_rows(source, batch, err));
  PC_TRY(source_abstain_copy(source, batch, err));
  for (size_t i = 0; i < rows; i++) {
    if (answers[i] != 0 && answers[i] != 1)
      return source_abstain_fail(source, i, batch->first_row + i, err);
    if (answers[i] == 0)
      continue;
    source->own_rows[i] = 0.0;
    abstain->correct[i] = 0;
    abstain->count++;
  }
  if (abstain->count > abstain->most)
    abstain->most = abstain->count;
  return PCAL_OK;
}

int pc_source_abstentions(const pcal_source *source, uint64_t *count) {
  *count = source->abstain.most;
  return pc_source_has(&source->abstain.cells);
}
