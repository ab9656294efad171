/* Rows of a predicted number as rows of the probability of an event (data/forecast_event.h): one
 * column of probabilities, with the label 1 where the event occurred.
 *
 * Edge cases:
 *  1. a missing number of the prediction, or a missing target, makes a missing probability or
 *     label, which whoever reads the rows refuses or skips.
 *  2. other invalid predictions are refused here, as without an event; quantiles must ascend.
 *  3. sources without targets have no labels. */
#include <math.h>

#include "data/row_convert.h"
#include "io/source_state.h"

/* The probability of the event in one row; `numbers` has room for the prediction and a target. */
static pcal_status source_event_row(const pcal_source *source, const pcal_batch *batch,
                                    const pc_layout *layout, size_t row, double *numbers,
                                    double *out, pcal_error *err) {
  const pc_row_policy policy = {.skip_missing = 1, .unlabelled = 1, .of_event = 1};
  const pc_forecast_shape shape = {layout->form, layout->columns, layout->levels};
  pc_checked_row checked = {.batch = batch,
                            .layout = layout,
                            .policy = &policy,
                            .position = row,
                            .id = batch->first_row + row};
  pc_row_convert_load_row(batch, row, numbers);
  PC_TRY(pc_convert_forecasts_check(&checked, numbers, err));
  *out = checked.missing ? (double)NAN
                         : pc_forecast_event_prob(&source->event.event, &shape, numbers);
  return PCAL_OK;
}

static pcal_status source_event_label(const pcal_source *source, const pcal_batch *batch,
                                      size_t row, int32_t *out, pcal_error *err) {
  const pc_row_policy policy = {.skip_missing = 1};
  pc_checked_row checked = {
      .batch = batch, .policy = &policy, .position = row, .id = batch->first_row + row};
  double target;
  PC_TRY(pc_row_check_target(&checked, &target, err));
  *out = checked.missing ? PCAL_MISSING_LABEL
                         : pc_forecast_event_occurs(&source->event.event, target);
  return PCAL_OK;
}

/* Room for the probabilities and labels of a window, and for one row. */
static pcal_status source_event_reserve(pcal_source *source, const pcal_batch *batch,
                                        pcal_error *err) {
  pc_source_event *event = &source->event;
  void *probs = event->probs, *labels = event->labels, *row = event->row;
  pcal_status status = pc_reserve(&source->env, &probs, &event->prob_capacity, batch->rows,
                                  sizeof *event->probs, err);
  event->probs = probs;
  if (status == PCAL_OK)
    status = pc_reserve(&source->env, &labels, &event->label_capacity, batch->rows,
                        sizeof *event->labels, err);
  event->labels = labels;
  if (status == PCAL_OK)
    status = pc_reserve(&source->env, &row, &event->row_capacity, batch->columns + 1,
                        sizeof *event->row, err);
  event->row = row;
  return status;
}

pcal_status pc_source_make_event(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  pc_source_event *event = &source->event;
  pc_layout layout;
  PC_TRY(pc_layout_make_levels(batch->kind, batch->columns, batch->levels, &layout, err));
  PC_TRY(source_event_reserve(source, batch, err));
  for (size_t i = 0; i < batch->rows; i++) {
    PC_TRY(source_event_row(source, batch, &layout, i, event->row, &event->probs[i], err));
    if (batch->targets != NULL)
      PC_TRY(source_event_label(source, batch, i, &event->labels[i], err));
  }
  batch->labels = batch->targets == NULL ? NULL : event->labels;
  batch->targets = NULL;
  batch->levels = NULL;
  batch->spread_name = NULL;
  batch->kind = PCAL_PROBABILITY;
  batch->type = PCAL_F64;
  batch->columns = 1;
  batch->scores = event->probs;
  batch->column_stride = batch->row_stride = (ptrdiff_t)sizeof(double);
  return PCAL_OK;
}

pcal_status pc_source_set_event(pcal_source *source, const char *text, pcal_error *err) {
  if (text == NULL)
    return PCAL_OK;
  if (!pc_source_regression(source))
    return pc_fail(err, PCAL_USAGE,
                   "{event} needs predictions of a number: {mean}, {quantiles} or {samples}; "
                   "remove it");
  if (source->kind == PCAL_SAMPLE_VECTORS)
    return pc_fail(err, PCAL_USAGE,
                   "{event} is about one number, and {target} has several columns; give one of "
                   "them, with its samples");
  PC_TRY(pc_forecast_event_parse(text, &source->event.event, err));
  source->event.used = 1;
  return PCAL_OK;
}
