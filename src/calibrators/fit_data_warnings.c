/* Edge cases:
 *   1. Rows with a missing label or score, which a fit may skip, are ignored.
 *   2. One column and confidences have the labels 0 and 1.
 *   3. Predictions of a number have no classes, and rows without labels name none: no warning. */
#include "calibrators/fit_data_warnings.h"

#include <math.h>
#include <string.h>

#include "calibrators/fit_replay.h"
#include "io/source.h"

#define FIT_DATA_WARNINGS_WINDOW 65536
#define FIT_DATA_WARNINGS_FIRST 64

typedef struct fit_data_warnings_state {
  size_t classes, columns;
  size_t unseen;       /* classes that no label named so far */
  char *seen;          /* for each class */
  double *first, *row; /* scores of the first row, and of the current one */
  size_t rows;         /* rows read so far */
  int differ;          /* two rows have different scores */
  int skip_missing;    /* else no row of the fit has a missing value */
} fit_data_warnings_state;

static int fit_data_warnings_missing(const fit_data_warnings_state *state) {
  int missing = 0;
  for (size_t c = 0; c < state->columns; c++)
    missing |= isnan(state->row[c]);
  return missing;
}

/* Reads the scores of a row only where they can still change the state. */
static void fit_data_warnings_add(fit_data_warnings_state *state, const pcal_batch *batch) {
  for (size_t i = 0; i < batch->rows && (state->unseen > 0 || !state->differ); i++) {
    const int32_t label = batch->labels[i];
    if (label < 0 || (size_t)label >= state->classes || (state->differ && state->seen[label]))
      continue;
    if (!state->differ || state->skip_missing) {
      pc_batch_row(batch, i, state->row);
      if (fit_data_warnings_missing(state))
        continue;
    }
    state->unseen -= !state->seen[label];
    state->seen[label] = 1;
    if (state->rows++ == 0)
      memcpy(state->first, state->row, state->columns * sizeof *state->row);
    for (size_t c = 0; c < state->columns && !state->differ; c++)
      state->differ = state->row[c] != state->first[c];
  }
}

/* Reads the next rows.  Of rows on a device only the labels are copied where no score can
 * change the state any more; two of the first rows mostly differ, so the first window is
 * short. */
static pcal_status fit_data_warnings_next(const pc_fit_task *task,
                                          const fit_data_warnings_state *state,
                                          pcal_batch *batch, pcal_error *err) {
  pc_lazy_labels labels;
  if (!pc_source_on_device(task->source) || state->skip_missing)
    return pc_source_next(task->source, FIT_DATA_WARNINGS_WINDOW, batch, err);
  if (!state->differ)
    return pc_source_next(task->source,
                          state->rows == 0 ? FIT_DATA_WARNINGS_FIRST : FIT_DATA_WARNINGS_WINDOW,
                          batch, err);
  PC_TRY(pc_source_next_lazy(task->source, FIT_DATA_WARNINGS_WINDOW, batch, &labels, err));
  return pc_lazy_labels_fill(&labels, 0, batch->rows, err);
}

static pcal_status fit_data_warnings_pass(const pc_fit_task *task,
                                          fit_data_warnings_state *state, pcal_error *err) {
  PC_TRY(pc_source_rewind(task->source, err));
  while (state->unseen > 0 || !state->differ) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(fit_data_warnings_next(task, state, &batch, err));
    if (batch.rows == 0 || batch.labels == NULL)
      break;
    fit_data_warnings_add(state, &batch);
    PC_TRY(pc_check_interrupt(task->env, err));
  }
  return PCAL_OK;
}

static void fit_data_warnings_of_rows(const fit_data_warnings_state *state, pc_fit_info *fit) {
  size_t absent = 0;
  while (absent < state->classes && state->seen[absent])
    absent++;
  if (state->unseen == 1 && !(fit->warned & PC_WARNED_ABSENT_CLASS))
    pc_fit_warn(fit, "class %zu never occurs among the labels: nothing is learned about it",
                absent);
  else if (state->unseen > 1 && !(fit->warned & PC_WARNED_ABSENT_CLASS))
    pc_fit_warn(
        fit, "%zu of %zu classes never occur among the labels: nothing is learned about them",
        state->unseen, state->classes);
  if (!state->differ && state->rows > 1)
    pc_fit_warn(fit, "all rows have the same scores: only the frequencies of the labels can be "
                     "learned");
}

static void fit_data_warnings_of_kind(const pcal_calibrator *calibrator, pc_fit_info *fit) {
  const pc_options *options = &calibrator->options;
  if (calibrator->layout.kind != PCAL_PROBABILITY || (fit->warned & PC_WARNED_PROBABILITIES))
    return;
  for (size_t i = 0; i < options->count; i++)
    if (strcmp(options->table[i].name, "on") == 0)
      pc_fit_warn(fit, "probabilities were given: %s acts on their logarithms", options->name);
}

static pcal_status fit_data_warnings_new(const pc_fit_task *task,
                                         fit_data_warnings_state *state, pcal_error *err) {
  const pc_layout *layout = &task->calibrator->layout;
  *state =
      (fit_data_warnings_state){.columns = layout->columns, .skip_missing = task->skip_missing};
  state->classes = layout->columns == 1 ? 2 : layout->classes;
  state->unseen = state->classes;
  state->seen = pc_alloc(task->env, state->classes, 1);
  state->first = pc_alloc(task->env, state->columns, 2 * sizeof *state->first);
  if (state->seen == NULL || state->first == NULL)
    return pc_fail_memory(err, "fitting");
  state->row = state->first + state->columns;
  return PCAL_OK;
}

/* ---- Fits by rounds ---- */

/* Fields: rows of each class and of all, at most 1 from each worker and class; the largest score
 * of each column and the largest of its negation.  These agree if all rows have the same. */
static pcal_status fit_data_warnings_list(fit_data_warnings_state *state, const pcal_env *env,
                                          pc_fit_fields *fields, pcal_error *err) {
  const size_t columns = state->columns;
  uint64_t *seen = pc_alloc(env, state->classes, sizeof *seen),
           rows = state->rows < 2 ? state->rows : 2;
  double *most = pc_alloc(env, columns, 2 * sizeof *most);
  if (seen == NULL || most == NULL)
    return pc_fail_memory(err, "fitting");
  for (size_t c = 0; c < state->classes; c++)
    seen[c] = state->seen[c] != 0;
  for (size_t c = 0; c < columns; c++) {
    const int differ = !fields->taking && state->differ;
    most[c] = fields->taking || rows == 0 ? -INFINITY : differ ? INFINITY : state->first[c];
    most[columns + c] = fields->taking || rows == 0 ? -INFINITY
                        : differ                    ? INFINITY
                                                    : -state->first[c];
  }
  PC_TRY(pc_fit_field_counts(fields, seen, state->classes, err));
  PC_TRY(pc_fit_field_counts(fields, &rows, 1, err));
  PC_TRY(pc_fit_field_most(fields, most, columns, err));
  PC_TRY(pc_fit_field_most(fields, most + columns, columns, err));
  for (size_t c = 0; fields->taking && c < state->classes; c++) {
    state->seen[c] = seen[c] > 0;
    state->unseen -= seen[c] > 0;
  }
  state->rows = (size_t)rows;
  for (size_t c = 0; fields->taking && c < columns; c++)
    state->differ |= most[c] != -most[columns + c];
  return PCAL_OK;
}

pcal_status pc_fit_data_warnings_give(const pc_fit_task *task, pc_fit_tally *tally,
                                      pcal_error *err) {
  fit_data_warnings_state state;
  pc_fit_fields fields = {.tally = tally};
  PC_TRY(fit_data_warnings_new(task, &state, err));
  if (task->calibrator->layout.form == PC_FORM_CLASSES)
    PC_TRY(fit_data_warnings_pass(task, &state, err));
  return fit_data_warnings_list(&state, task->env, &fields, err);
}

pcal_status pc_fit_add_data_warnings(const pc_fit_task *task, pcal_error *err) {
  fit_data_warnings_state state;
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(task->source, &shape);
  if (task->calibrator->layout.form != PC_FORM_CLASSES || !shape.labelled)
    return PCAL_OK;
  PC_TRY(fit_data_warnings_new(task, &state, err));
  if (task->replay == NULL) {
    PC_TRY(fit_data_warnings_pass(task, &state, err));
  } else {
    pc_fit_fields fields = {.tally = &task->replay->answers[0], .taking = 1};
    PC_TRY(fit_data_warnings_list(&state, task->env, &fields, err));
  }
  fit_data_warnings_of_kind(task->calibrator, &task->calibrator->fit);
  fit_data_warnings_of_rows(&state, &task->calibrator->fit);
  return PCAL_OK;
}
