#include "io/input_check.h"

#include <string.h>

#include "data/rows.h"
#include "io/formats/arrow_table.h"
#include "io/slice.h"

const pc_score_kind pc_score_kinds[PC_SCORE_KINDS] = {
    {PCAL_PROBABILITY, "probs", "{probs}"},
    {PCAL_LOGIT, "logits", "{logits}"},
    {PCAL_LOG_PROBABILITY, "log-probs", "{log_probs}"},
    {PCAL_CONFIDENCE, "confidence", "{confidence}"},
    {PCAL_MEAN_VARIANCE, "mean", "{mean}"},
    {PCAL_QUANTILES, "quantiles", "{quantiles}"},
    {PCAL_SAMPLES, "samples", "{samples}"},
};

static const char *const input_names[PC_INPUT_COUNT] = {
    [PC_INPUT_PROBS] = "probs",
    [PC_INPUT_LOGITS] = "logits",
    [PC_INPUT_LOG_PROBS] = "log_probs",
    [PC_INPUT_CONFIDENCE] = "confidence",
    [PC_INPUT_MEAN] = "mean",
    [PC_INPUT_VARIANCE] = "variance",
    [PC_INPUT_STD] = "std",
    [PC_INPUT_QUANTILES] = "quantiles",
    [PC_INPUT_SAMPLES] = "samples",
    [PC_INPUT_DATA] = "data",
    [PC_INPUT_LABELS] = "labels",
    [PC_INPUT_CORRECT] = "correct",
    [PC_INPUT_TARGET] = "target",
    [PC_INPUT_WEIGHTS] = "weights",
    [PC_INPUT_GROUPS] = "groups",
    [PC_INPUT_IDS] = "ids",
    [PC_INPUT_TIME] = "time",
    [PC_INPUT_ABSTAIN] = "abstain",
};

static int input_check_arrow(const pcal_input *input) {
  return input->stream != NULL || input->schema != NULL || input->array != NULL;
}

static int input_check_released(const pcal_input *input) {
  return (input->stream != NULL && input->stream->release == NULL) ||
         (input->schema != NULL && input->schema->release == NULL) ||
         (input->array != NULL && input->array->release == NULL);
}

static pc_input_form input_check_form(const pcal_input *input) {
  if (input->file != NULL || input->file_count > 0)
    return PC_INPUT_FILE;
  if (input_check_arrow(input))
    return PC_INPUT_ARROW;
  return input->data == NULL && input->rows == 0 && input->column_name_count > 0
             ? PC_INPUT_COLUMNS
             : PC_INPUT_ARRAY;
}

void pc_inputs_copy(const pcal_inputs *inputs, pc_checked_inputs *out) {
  *out = (pc_checked_inputs){.inputs = PCAL_INPUTS_INIT,
                             .scores = PC_INPUT_COUNT,
                             .spread = PC_INPUT_COUNT,
                             .outcome = PC_INPUT_COUNT,
                             .released = PC_INPUT_COUNT};
  pcal_inputs *full = &out->inputs;
  memcpy(full, inputs, inputs->size < sizeof *full ? inputs->size : sizeof *full);
  const pcal_input *const items[PC_INPUT_COUNT] = {
      full->probs,    full->logits,  full->log_probs, full->confidence, full->mean,
      full->variance, full->std,     full->quantiles, full->samples,    full->data,
      full->labels,   full->correct, full->target,    full->weights,    full->groups,
      full->ids,      full->time,    full->abstain};
  for (size_t i = 0; i < PC_INPUT_COUNT; i++) {
    pcal_input *item = &out->items[i];
    *item = (pcal_input)PCAL_INPUT_INIT;
    if (items[i] == NULL)
      continue;
    memcpy(item, items[i], items[i]->size < sizeof *item ? items[i]->size : sizeof *item);
    out->forms[i] = input_check_form(item);
    if (input_check_released(item))
      out->released = (pc_input_field)i;
    if (item->name == NULL)
      item->name = input_names[i];
  }
}

void pc_inputs_release(const pcal_inputs *inputs) {
  pc_checked_inputs copy;
  pc_inputs_copy(inputs, &copy);
  for (size_t i = 0; i < PC_INPUT_COUNT; i++) {
    pc_arrow_table table;
    pc_arrow_table_take(copy.items[i].stream, copy.items[i].schema, copy.items[i].array,
                        &table);
    pc_arrow_table_free(&table);
  }
}

static int input_check_given(const pc_checked_inputs *inputs, pc_input_field field) {
  return inputs->forms[field] != PC_INPUT_NOT_GIVEN;
}

/* Means need either variances or standard deviations. */
static pcal_status input_check_spread(pc_checked_inputs *inputs, pcal_error *err) {
  const int mean = inputs->scores == PC_INPUT_MEAN;
  const int variance = input_check_given(inputs, PC_INPUT_VARIANCE);
  const int std = input_check_given(inputs, PC_INPUT_STD);
  if (variance && std)
    return pc_fail(err, PCAL_USAGE, "{variance} and {std} are both given; give one of them");
  if (mean && !variance && !std)
    return pc_fail(err, PCAL_USAGE,
                   "{mean} needs the uncertainty of the predictions; add {variance} or "
                   "{std}");
  if (!mean && (variance || std))
    return pc_fail(err, PCAL_USAGE, "%-s needs {mean}; add it", std ? "{std}" : "{variance}");
  if (variance || std)
    inputs->spread = std ? PC_INPUT_STD : PC_INPUT_VARIANCE;
  if (std)
    inputs->kind = PCAL_MEAN_STD;
  return PCAL_OK;
}

static pcal_status input_check_levels(const pc_checked_inputs *inputs, pcal_error *err) {
  const pcal_inputs *given = &inputs->inputs;
  if (given->level_count > PCAL_LEVELS_MAX)
    return pc_fail(err, PCAL_USAGE, "{levels} has more than %d levels", PCAL_LEVELS_MAX);
  if (given->level_count > 0 && given->levels == NULL)
    return pc_fail(err, PCAL_USAGE, "level_count is %zu but levels is NULL",
                   given->level_count);
  if (given->level_count > 0 && inputs->scores != PC_INPUT_COUNT &&
      inputs->kind != PCAL_QUANTILES)
    return pc_fail(err, PCAL_USAGE, "{levels} needs {quantiles}; remove it");
  return PCAL_OK;
}

static pcal_status input_check_scores(pc_checked_inputs *inputs, pcal_error *err) {
  static const pc_input_field fields[PC_SCORE_KINDS] = {
      PC_INPUT_PROBS, PC_INPUT_LOGITS,    PC_INPUT_LOG_PROBS, PC_INPUT_CONFIDENCE,
      PC_INPUT_MEAN,  PC_INPUT_QUANTILES, PC_INPUT_SAMPLES};
  const int table = inputs->forms[PC_INPUT_DATA] == PC_INPUT_ARROW;
  const char *flag = input_check_given(inputs, PC_INPUT_DATA) && !table ? "{data}" : NULL;
  for (size_t i = 0; i < PC_SCORE_KINDS; i++) {
    if (!input_check_given(inputs, fields[i]))
      continue;
    if (flag != NULL)
      return pc_fail(err, PCAL_USAGE, "%-s and %-s are both given; give only one of them",
                     pc_score_kinds[i].argument, flag);
    flag = pc_score_kinds[i].argument;
    inputs->scores = fields[i];
    inputs->kind = pc_score_kinds[i].kind;
  }
  if (flag == NULL && !table)
    return pc_fail(err, PCAL_USAGE,
                   "there are no scores; give one of {probs}, {logits}, {log_probs}, "
                   "{confidence}, {mean}, {quantiles}, {samples} or {data}");
  PC_TRY(input_check_spread(inputs, err));
  return input_check_levels(inputs, err);
}

/* Fails unless at most one of labels, correct and target is given, matching the scores. */
static pcal_status input_check_outcome(pc_checked_inputs *inputs, pcal_error *err) {
  const int labels = input_check_given(inputs, PC_INPUT_LABELS);
  const int correct = input_check_given(inputs, PC_INPUT_CORRECT);
  const int target = input_check_given(inputs, PC_INPUT_TARGET);
  const int scores = inputs->scores != PC_INPUT_COUNT;
  const int regression = scores && pc_kind_form(inputs->kind) != PC_FORM_CLASSES;
  if (target && (labels || correct))
    return pc_fail(err, PCAL_USAGE,
                   "{target} and %-s are both given; {target} is for predictions of a "
                   "number, the other for scores of classes",
                   labels ? "{labels}" : "{correct}");
  if (regression && (labels || correct))
    return pc_fail(err, PCAL_USAGE,
                   "predictions of a number need {target}, the observed numbers; give it "
                   "in place of %-s",
                   labels ? "{labels}" : "{correct}");
  if (scores && !regression && target)
    return pc_fail(err, PCAL_USAGE,
                   "{target} needs {mean}, {quantiles} or {samples}; give %-s in its place",
                   pc_kind_outcome_argument(inputs->kind));
  if (labels && correct)
    return pc_fail(err, PCAL_USAGE,
                   "{labels} and {correct} are both given; {correct} is for {confidence}, "
                   "{labels} for all other scores");
  if (scores && inputs->kind == PCAL_CONFIDENCE && labels)
    return pc_fail(err, PCAL_USAGE,
                   "{confidence} needs {correct}, 1 for each correct prediction and 0 for "
                   "each wrong one; give it in place of {labels}");
  if (scores && inputs->kind != PCAL_CONFIDENCE && correct)
    return pc_fail(err, PCAL_USAGE, "{correct} needs {confidence}; give {labels} in its place");
  inputs->outcome = labels    ? PC_INPUT_LABELS
                    : correct ? PC_INPUT_CORRECT
                    : target  ? PC_INPUT_TARGET
                              : PC_INPUT_COUNT;
  return PCAL_OK;
}

/* Times need the length of the periods, and are the groups of the rows. */
static pcal_status input_check_time(const pc_checked_inputs *inputs, pcal_error *err) {
  const int time = input_check_given(inputs, PC_INPUT_TIME);
  if (time && inputs->inputs.every == NULL)
    return pc_fail(
        err, PCAL_USAGE,
        "{time} needs the length of the periods; add {every}: hour, day, week, month, "
        "quarter or year");
  if (inputs->inputs.every != NULL && !time && !input_check_given(inputs, PC_INPUT_DATA))
    return pc_fail(err, PCAL_USAGE, "{every} needs the time of each row; add {time}");
  if (inputs->inputs.every != NULL && input_check_given(inputs, PC_INPUT_GROUPS))
    return pc_fail(err, PCAL_USAGE, "{time} and {groups} cannot be combined; give one of them");
  return PCAL_OK;
}

/* Fails unless each input is exactly one of a file, an array, Arrow data, or columns of
 * these. */
static pcal_status input_check_forms(const pc_checked_inputs *inputs, pcal_error *err) {
  for (size_t i = 0; i < PC_INPUT_COUNT; i++) {
    const pcal_input *item = &inputs->items[i];
    if (item->file != NULL && item->file_count > 0)
      return pc_fail(err, PCAL_USAGE, "%s: file and files are both given; give one",
                     item->name);
    for (size_t k = 0; k < item->file_count; k++)
      if (item->files == NULL || item->files[k] == NULL)
        return pc_fail(err, PCAL_USAGE, "%s: file %zu is NULL", item->name, k);
    if (inputs->forms[i] == PC_INPUT_FILE && (input_check_arrow(item) || item->data != NULL))
      return pc_fail(err, PCAL_USAGE,
                     "%s: a file and a stream or an array are both given; "
                     "give one",
                     item->name);
    if (item->stream == NULL && (item->schema == NULL) != (item->array == NULL))
      return pc_fail(err, PCAL_USAGE, "%s: an Arrow array needs its schema; give both",
                     item->name);
    if (inputs->forms[i] == PC_INPUT_COLUMNS &&
        (i == PC_INPUT_DATA || inputs->forms[PC_INPUT_DATA] != PC_INPUT_ARROW))
      return pc_fail(err, PCAL_USAGE,
                     "%s: column_names choose columns of Arrow data; give Arrow data as data",
                     item->name);
    for (size_t k = 0; k < item->column_name_count; k++)
      if (item->column_names == NULL || item->column_names[k] == NULL)
        return pc_fail(err, PCAL_USAGE, "%s: column name %zu is NULL", item->name, k);
  }
  if (inputs->forms[PC_INPUT_DATA] == PC_INPUT_ARRAY)
    return pc_fail(err, PCAL_USAGE,
                   "data is a file or Arrow data; give an array by the name of its content");
  return PCAL_OK;
}

pcal_status pc_inputs_check(pc_checked_inputs *inputs, pcal_error *err) {
  const pcal_inputs *given = &inputs->inputs;
  if ((int)given->header < PCAL_HEADER_AUTO || given->header > PCAL_HEADER_NO)
    return pc_fail(err, PCAL_USAGE, "header %d is unknown; take one of pcal_header",
                   (int)given->header);
  if (inputs->released != PC_INPUT_COUNT)
    return pc_fail(err, PCAL_USAGE, "%s: the Arrow data were released before; give them anew",
                   inputs->items[inputs->released].name);
  PC_TRY(input_check_scores(inputs, err));
  PC_TRY(input_check_outcome(inputs, err));
  PC_TRY(input_check_time(inputs, err));
  return input_check_forms(inputs, err);
}
