/* Edge cases: (1) rows with a missing label or score, which a fit may skip, say nothing; (2)
 * one column and confidences have the labels 0 and 1; (3) predictions of a number have no
 * classes and are not looked at. */
#include "calibrators/fit_data_warnings.h"

#include <math.h>
#include <string.h>

#include "calibrators/folds.h"
#include "io/source.h"

#define FIT_CENSUS_WINDOW 65536

typedef struct fit_census_state {
  size_t classes, columns;
  size_t unseen; /* classes */
  char *seen;
  double *first, *row; /* scores of the first row, and of another */
  size_t rows;         /* looked at */
  int differ;
  int skip_missing; /* else no row that was fitted on has anything missing */
} fit_census_state;

static int fit_census_missing(const fit_census_state *state) {
  int missing = 0;
  for (size_t c = 0; c < state->columns; c++)
    missing |= isnan(state->row[c]);
  return missing;
}

/* Scores are read only as long as they say something new. */
static void fit_census_look(fit_census_state *state, const pcal_batch *batch) {
  for (size_t i = 0; i < batch->rows && (state->unseen > 0 || !state->differ); i++) {
    const int32_t label = batch->labels[i];
    if (label < 0 || (size_t)label >= state->classes || (state->differ && state->seen[label]))
      continue;
    if (!state->differ || state->skip_missing) {
      pc_batch_row(batch, i, state->row);
      if (fit_census_missing(state))
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

static pcal_status fit_census_pass(const pc_fit_task *task, fit_census_state *state,
                                   pcal_error *err) {
  PC_TRY(pc_source_rewind(task->source, err));
  while (state->unseen > 0 || !state->differ) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(task->source, FIT_CENSUS_WINDOW, &batch, err));
    if (batch.rows == 0 || batch.labels == NULL)
      break;
    fit_census_look(state, &batch);
    PC_TRY(pc_check_interrupt(task->env, err));
  }
  return PCAL_OK;
}

static void fit_census_warn(const fit_census_state *state, pc_fit_info *fit) {
  size_t absent = 0;
  while (absent < state->classes && state->seen[absent])
    absent++;
  if (state->unseen == 1 && !(fit->warned & PC_WARNED_ABSENT_CLASS))
    pc_fit_warn(fit, "class %zu never occurs among the labels, so that nothing is learnt of it",
                absent);
  else if (state->unseen > 1 && !(fit->warned & PC_WARNED_ABSENT_CLASS))
    pc_fit_warn(fit,
                "%zu of %zu classes never occur among the labels, so that nothing is learnt of "
                "them",
                state->unseen, state->classes);
  if (!state->differ && state->rows > 1)
    pc_fit_warn(fit,
                "all rows have the same scores, so that only the frequencies of the labels "
                "can be learnt");
}

static void fit_census_kind(const pcal_calibrator *calibrator, pc_fit_info *fit) {
  const pc_options *options = &calibrator->options;
  if (calibrator->layout.kind != PCAL_PROBABILITY || (fit->warned & PC_WARNED_PROBABILITIES))
    return;
  for (size_t i = 0; i < options->count; i++)
    if (strcmp(options->table[i].name, "on") == 0)
      pc_fit_warn(fit, "probabilities were given: %s acts on their logarithms", options->name);
}

pcal_status pc_fit_add_data_warnings(const pc_fit_task *task, pcal_error *err) {
  const pc_layout *layout = &task->calibrator->layout;
  pc_fit_info *fit = &task->calibrator->fit;
  if (layout->form != PC_FORM_CLASSES)
    return PCAL_OK;
  fit_census_state state = {.columns = layout->columns, .skip_missing = task->skip_missing};
  state.classes = layout->columns == 1 ? 2 : layout->classes;
  state.unseen = state.classes;
  state.seen = pc_alloc(task->env, state.classes, 1);
  state.first = pc_alloc(task->env, state.columns, sizeof *state.first);
  state.row = pc_alloc(task->env, state.columns, sizeof *state.row);
  pcal_status status = state.seen == NULL || state.first == NULL || state.row == NULL
                           ? pc_fail_memory(err, "fitting")
                           : fit_census_pass(task, &state, err);
  if (status == PCAL_OK) {
    fit_census_kind(task->calibrator, fit);
    fit_census_warn(&state, fit);
  }
  pc_free(task->env, state.seen);
  pc_free(task->env, state.first);
  pc_free(task->env, state.row);
  return status;
}
