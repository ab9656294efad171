/* Sources of predictions of a number.
 *
 * Edge cases:
 *  1. means and variances are two parts of one column each, or one part of two columns.
 *  2. levels are given, or read from the column names of a data file.
 *  3. column names are not class names.
 *  4. several columns of targets beside samples: samples of as many numbers. */
#include <string.h>

#include "base/number.h"
#include "data/rows.h"
#include "io/source_state.h"

int pc_source_regression(const pcal_source *source) {
  return pc_kind_form(source->kind) != PC_FORM_CLASSES;
}

static pcal_status source_forecast_levels(pcal_source *source, pcal_error *err) {
  pc_source_forecast *forecast = &source->forecast;
  const char *file = source->scores.bytes->name;
  const size_t columns = source->scores.columns;
  if (forecast->level_count == 0 && source->columns.class_names != NULL &&
      columns <= PCAL_LEVELS_MAX)
    for (size_t j = 0; j < columns; j++) {
      const char *name = source->columns.class_names[j], *end = name + strlen(name);
      if (pc_number_parse(name, end, &forecast->levels[j]) != strlen(name))
        return pc_fail(err, PCAL_DATA,
                       "%s has a column quantiles.%.40s, which is not a level; rename it "
                       "as in quantiles.0.05, or give {levels}",
                       file, name);
      forecast->level_count = j + 1;
    }
  if (forecast->level_count > 0 && forecast->level_count != columns)
    return pc_fail(err, PCAL_DATA,
                   "%s has %zu column%s of quantiles, but there are %zu levels; give a level "
                   "for each",
                   file, columns, columns == 1 ? "" : "s", forecast->level_count);
  return PCAL_OK;
}

/* Edge case 4.  Samples of a file of three dimensions say themselves how many numbers they have. */
static pcal_status source_forecast_vectors(pcal_source *source, pcal_error *err) {
  const pc_reader *samples = &source->scores, *targets = &source->label_cells;
  const size_t numbers = pc_source_has(targets) ? targets->columns : samples->depth;
  if (samples->depth > 0 && samples->depth != numbers)
    return pc_fail(
        err, PCAL_DATA,
        "%s has samples of %zu number%s, but %s has %zu column%s; both need one for each "
        "target",
        pc_source_part_name(samples), samples->depth, samples->depth == 1 ? "" : "s",
        pc_source_part_name(targets), numbers, numbers == 1 ? "" : "s");
  if (numbers < 2)
    return PCAL_OK;
  if (samples->columns % numbers != 0 || samples->columns / numbers < 2)
    return pc_fail(
        err, PCAL_DATA,
        "%s has %zu columns, which are not two or more samples of %zu numbers, as many as "
        "%s has; give the numbers of sample 1, then those of sample 2, ...",
        pc_source_part_name(samples), samples->columns, numbers, pc_source_part_name(targets));
  source->kind = PCAL_SAMPLE_VECTORS;
  source->forecast.dimensions = numbers;
  return PCAL_OK;
}

pcal_status pc_source_check_forecast(pcal_source *source, pcal_error *err) {
  const int joined = source->spread.format != NULL;
  if (source->kind == PCAL_SAMPLES)
    PC_TRY(source_forecast_vectors(source, err));
  if (source->kind != PCAL_SAMPLE_VECTORS)
    PC_TRY(pc_source_one_column(&source->label_cells, "targets", err));
  PC_TRY(pc_source_one_column(&source->spread, "variances or standard deviations", err));
  if (joined)
    PC_TRY(pc_source_one_column(&source->scores, "means", err));
  if (source->kind == PCAL_QUANTILES)
    PC_TRY(source_forecast_levels(source, err));
  source->class_names = NULL;
  pc_layout layout;
  return pc_layout_make_levels(
      source->kind, source->scores.columns + (joined ? 1 : 0),
      source->forecast.level_count > 0 ? source->forecast.levels : NULL, &layout, err);
}

pcal_status pc_source_check_outcomes(const pcal_source *source, const pc_checked_inputs *inputs,
                                     pcal_error *err) {
  const char *right = pc_kind_outcome_argument(source->kind);
  static const struct {
    pc_input_field field;
    const char *flag;
  } outcomes[] = {{PC_INPUT_LABELS, "{labels}"},
                  {PC_INPUT_CORRECT, "{correct}"},
                  {PC_INPUT_TARGET, "{target}"}};
  if (inputs->scores != PC_INPUT_COUNT)
    return PCAL_OK;
  for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
    if (inputs->outcome == outcomes[i].field && strcmp(outcomes[i].flag, right) != 0)
      return pc_fail(err, PCAL_USAGE,
                     "%s contains %-s, which need %-s; give that in place of %-s",
                     source->scores.bytes->name,
                     pc_source_regression(source)      ? "predictions of a number"
                     : source->kind == PCAL_CONFIDENCE ? "confidences"
                                                       : "scores of classes",
                     right, outcomes[i].flag);
  return PCAL_OK;
}

pcal_type pc_source_type(const pcal_source *source) {
  return source->scores.cells == PC_CELLS_F32 && !pc_source_changes_rows(source) &&
                 (source->spread.format == NULL || source->spread.cells == PC_CELLS_F32)
             ? PCAL_F32
             : PCAL_F64;
}

static double source_forecast_load(const pc_window *window, pc_cell_type cells, size_t row) {
  const char *at = (const char *)window->data + (ptrdiff_t)row * window->row_stride;
  if (cells == PC_CELLS_F32) {
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, at, sizeof value);
  return value;
}

pcal_status pc_source_join_spread(pcal_source *source, const pc_window *means,
                                  const pc_window *spreads, pcal_batch *batch,
                                  pcal_error *err) {
  pc_source_forecast *forecast = &source->forecast;
  const size_t item = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  PC_TRY(pc_reserve(&source->env, &forecast->rows, &forecast->capacity, 2 * means->rows * item,
                    1, err));
  for (size_t i = 0; i < means->rows; i++) {
    const double mean = source_forecast_load(means, source->scores.cells, i);
    const double spread = source_forecast_load(spreads, source->spread.cells, i);
    if (batch->type == PCAL_F32) {
      ((float *)forecast->rows)[2 * i] = (float)mean;
      ((float *)forecast->rows)[2 * i + 1] = (float)spread;
    } else {
      ((double *)forecast->rows)[2 * i] = mean;
      ((double *)forecast->rows)[2 * i + 1] = spread;
    }
  }
  batch->scores = forecast->rows;
  batch->columns = 2;
  batch->column_stride = (ptrdiff_t)item;
  batch->row_stride = 2 * (ptrdiff_t)item;
  return PCAL_OK;
}
