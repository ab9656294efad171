#include "io/input_check.h"

#include <string.h>

#include "base/number.h"
#include "data/rows.h"
#include "io/slice.h"

/* Kinds of scores under the names of their flags. */
typedef struct inputs_kind {
  pcal_kind kind;
  const char *flag;
  const char *argument; /* for messages */
} inputs_kind;

static const inputs_kind inputs_kinds[] = {
    {PCAL_PROBABILITY, "probs", "{probs}"},
    {PCAL_LOGIT, "logits", "{logits}"},
    {PCAL_LOG_PROBABILITY, "log-probs", "{log_probs}"},
    {PCAL_CONFIDENCE, "confidence", "{confidence}"},
    {PCAL_MEAN_VARIANCE, "mean", "{mean}"},
    {PCAL_QUANTILES, "quantiles", "{quantiles}"},
    {PCAL_SAMPLES, "samples", "{samples}"},
};

#define INPUTS_KINDS (sizeof inputs_kinds / sizeof inputs_kinds[0])

static int inputs_regression(pcal_kind kind) {
  return pc_kind_form(kind) != PC_FORM_CLASSES;
}

/* Means go with variances or standard deviations, and with one of them. */
static pcal_status inputs_spread(const pcal_inputs *inputs, pc_checked_inputs *out,
                                 pcal_error *err) {
  const int mean = out->scores != NULL && out->kind == PCAL_MEAN_VARIANCE;
  if (inputs->variance != NULL && inputs->std != NULL)
    return pc_fail(err, PCAL_USAGE, "{variance} and {std} are both given; give one of them");
  if (mean && inputs->variance == NULL && inputs->std == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "{mean} alone says nothing about how sure it is; give {variance} or {std} "
                   "too");
  if (!mean && (inputs->variance != NULL || inputs->std != NULL))
    return pc_fail(err, PCAL_USAGE, "%-s goes with {mean}; give that too",
                   inputs->std != NULL ? "{std}" : "{variance}");
  out->spread = inputs->std != NULL ? inputs->std : inputs->variance;
  if (inputs->std != NULL)
    out->kind = PCAL_MEAN_STD;
  return PCAL_OK;
}

/* "0.05/0.5/0.95" */
static pcal_status inputs_levels(const char *text, pc_checked_inputs *out, pcal_error *err) {
  for (const char *at = text; at != NULL;) {
    const size_t length = strcspn(at, "/");
    char shown[PC_CLIP_MAX];
    const pc_slice slice = {at, length};
    if (out->level_count == PCAL_LEVELS_MAX)
      return pc_fail(err, PCAL_USAGE, "{levels} has more than %d levels", PCAL_LEVELS_MAX);
    if (length == 0 ||
        pc_number_parse(at, at + length, &out->levels[out->level_count]) != length)
      return pc_fail(err, PCAL_USAGE,
                     "{levels}: \"%s\" is no number; separate levels as in 0.05/0.5/0.95",
                     pc_clip(slice, shown));
    out->level_count++;
    at = at[length] == '/' ? at + length + 1 : NULL;
  }
  return PCAL_OK;
}

static pcal_status inputs_outcomes(const pc_checked_inputs *plan, pcal_error *err) {
  if (plan->target != NULL && (plan->labels != NULL || plan->correct != NULL))
    return pc_fail(err, PCAL_USAGE,
                   "{target} and %-s are both given; {target} goes with predictions of a "
                   "number, the other with scores of classes",
                   plan->labels != NULL ? "{labels}" : "{correct}");
  if (plan->scores == NULL)
    return PCAL_OK;
  if (inputs_regression(plan->kind) && (plan->labels != NULL || plan->correct != NULL))
    return pc_fail(err, PCAL_USAGE,
                   "predictions of a number go with {target}, the numbers that came true; give "
                   "it in place of %-s",
                   plan->labels != NULL ? "{labels}" : "{correct}");
  if (!inputs_regression(plan->kind) && plan->target != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "{target} goes with {mean}, {quantiles} or {samples}; give %-s in its place",
                   pc_kind_outcome_argument(plan->kind));
  return PCAL_OK;
}

static pcal_status inputs_scores(const pcal_inputs *inputs, pc_checked_inputs *out,
                                 pcal_error *err) {
  const char *given[INPUTS_KINDS] = {inputs->probs,      inputs->logits, inputs->log_probs,
                                     inputs->confidence, inputs->mean,   inputs->quantiles,
                                     inputs->samples};
  const char *taken = inputs->data != NULL ? "{data}" : NULL;
  for (size_t i = 0; i < INPUTS_KINDS; i++) {
    if (given[i] == NULL)
      continue;
    if (taken != NULL)
      return pc_fail(err, PCAL_USAGE, "%-s and %-s are both given; give only one of them",
                     inputs_kinds[i].argument, taken);
    taken = inputs_kinds[i].argument;
    out->scores = given[i];
    out->kind = inputs_kinds[i].kind;
  }
  if (taken == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "there are no scores; give one of {probs}, {logits}, {log_probs}, "
                   "{confidence}, {mean}, {quantiles}, {samples} or {data}");
  PC_TRY(inputs_spread(inputs, out, err));
  PC_TRY(inputs_levels(inputs->levels, out, err));
  if (inputs->levels != NULL && out->scores != NULL && out->kind != PCAL_QUANTILES)
    return pc_fail(err, PCAL_USAGE, "{levels} goes with {quantiles}; leave it out");
  return PCAL_OK;
}

static pcal_status inputs_weights_are(const char *word, pc_checked_inputs *out,
                                      pcal_error *err) {
  if (word == NULL)
    return PCAL_OK;
  if (strcmp(word, "frequency") == 0)
    out->weights_are = PCAL_WEIGHTS_FREQUENCY;
  else if (strcmp(word, "importance") == 0)
    out->weights_are = PCAL_WEIGHTS_IMPORTANCE;
  else
    return pc_fail(err, PCAL_USAGE,
                   "{weights_are} %.40s is unknown; give frequency (a row of weight 3 is three "
                   "rows) or importance (it is one row that counts for more)",
                   word);
  return PCAL_OK;
}

pcal_status pc_inputs_check(const pcal_inputs *inputs, pc_checked_inputs *out,
                            pcal_error *err) {
  pcal_inputs full = PCAL_INPUTS_INIT;
  memcpy(&full, inputs, inputs->size < sizeof full ? inputs->size : sizeof full);
  *out = (pc_checked_inputs){.data = full.data,
                             .labels = full.labels,
                             .correct = full.correct,
                             .target = full.target,
                             .weights = full.weights,
                             .groups = full.groups,
                             .ids = full.ids,
                             .first_row = full.first_row,
                             .header = full.header};
  if (out->header < 0 || out->header > 2)
    return pc_fail(err, PCAL_USAGE,
                   "the header setting %d is unknown; give 0 (decide), 1 (yes) or 2 (no)",
                   out->header);
  PC_TRY(inputs_weights_are(full.weights_are, out, err));
  PC_TRY(inputs_scores(&full, out, err));
  PC_TRY(inputs_outcomes(out, err));
  if (out->labels != NULL && out->correct != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "{labels} and {correct} are both given; {correct} goes with {confidence}, "
                   "{labels} with all other scores");
  if (out->scores != NULL && out->kind == PCAL_CONFIDENCE && out->labels != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "{confidence} goes with {correct}, which says 1 where the prediction was "
                   "right and 0 where not; give it in place of {labels}");
  if (out->scores != NULL && out->kind != PCAL_CONFIDENCE && out->correct != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "{correct} goes with {confidence}; give {labels} in its place");
  return PCAL_OK;
}

/* 1 for "probs", 2 for "probs.cat", 0 for other names; "log_probs" is "log-probs". */
static int inputs_name_form(const char *name, const char *flag) {
  size_t length = 0;
  while (flag[length] != '\0' &&
         (name[length] == flag[length] || (name[length] == '_' && flag[length] == '-')))
    length++;
  if (flag[length] != '\0')
    return 0;
  return name[length] == '\0' ? 1 : name[length] == '.' ? 2 : 0;
}

/* The only kind of scores of one task among the columns, or NULL. */
static pcal_status inputs_find_task(const pc_column_set *set, int regression,
                                    const inputs_kind **out, int *form, pcal_error *err) {
  *out = NULL;
  for (size_t i = 0; i < set->count; i++) {
    for (size_t k = 0; k < INPUTS_KINDS; k++) {
      if (inputs_regression(inputs_kinds[k].kind) != regression)
        continue;
      const int seen = inputs_name_form(set->names[i], inputs_kinds[k].flag);
      if (seen == 0)
        continue;
      if (*out != NULL && (*out != &inputs_kinds[k] || *form != seen || seen == 1))
        return pc_fail(err, PCAL_DATA,
                       "%s has columns for scores twice, %s and then %s; choose with "
                       "%-s FILE:COLUMNS in place of {data}",
                       set->file, (*out)->flag, set->names[i], inputs_kinds[k].argument);
      *out = &inputs_kinds[k];
      *form = seen;
    }
  }
  return PCAL_OK;
}

static pcal_status inputs_find_kind(const pc_column_set *set, const inputs_kind **out,
                                    int *form, pcal_error *err) {
  PC_TRY(inputs_find_task(set, 0, out, form, err));
  if (*out == NULL)
    PC_TRY(inputs_find_task(set, 1, out, form, err));
  if (*out == NULL)
    return pc_fail(err, PCAL_DATA,
                   "%s has no columns for scores; call them probs, logits or confidence, or "
                   "with the name of the class probs.CLASS, logits.CLASS or log-probs.CLASS; "
                   "predictions of a number mean and std or variance, quantiles.LEVEL or "
                   "samples.NUMBER",
                   set->file);
  return PCAL_OK;
}

static pcal_status inputs_find_one(const pc_column_set *set, const char *name, size_t *out,
                                   pcal_error *err) {
  *out = PC_NO_COLUMN;
  for (size_t i = 0; i < set->count; i++) {
    if (strcmp(set->names[i], name) != 0)
      continue;
    if (*out != PC_NO_COLUMN)
      return pc_fail(err, PCAL_DATA, "%s has two columns called %s; rename one", set->file,
                     name);
    *out = i;
  }
  return PCAL_OK;
}

/* The columns beside the scores: spread, outcomes, weights, groups. */
static pcal_status inputs_find_beside(const pc_column_set *set, const inputs_kind *kind,
                                      pc_data_columns *out, pcal_error *err) {
  size_t std = PC_NO_COLUMN;
  out->kind = kind->kind;
  out->spread = PC_NO_COLUMN;
  PC_TRY(inputs_find_one(set, pc_kind_outcome(kind->kind), &out->labels, err));
  PC_TRY(inputs_find_one(set, "weights", &out->weights, err));
  PC_TRY(inputs_find_one(set, "groups", &out->groups, err));
  if (kind->kind != PCAL_MEAN_VARIANCE)
    return PCAL_OK;
  PC_TRY(inputs_find_one(set, "variance", &out->spread, err));
  PC_TRY(inputs_find_one(set, "std", &std, err));
  if ((out->spread == PC_NO_COLUMN) == (std == PC_NO_COLUMN))
    return pc_fail(err, PCAL_DATA,
                   "%s has %s variance %s std beside mean; one of them must say how sure the "
                   "means are",
                   set->file, std == PC_NO_COLUMN ? "neither" : "both",
                   std == PC_NO_COLUMN ? "nor" : "and");
  if (std == PC_NO_COLUMN)
    return PCAL_OK;
  out->spread = std;
  out->kind = PCAL_MEAN_STD;
  return PCAL_OK;
}

static pcal_status inputs_collect(const pc_column_set *set, const pcal_env *env,
                                  const inputs_kind *kind, int form, pc_data_columns *out,
                                  pcal_error *err) {
  const size_t prefix = strlen(kind->flag) + 1;
  out->scores = pc_alloc_raw(env, set->count, sizeof *out->scores);
  out->class_names = form == 2 ? pc_alloc_raw(env, set->count, sizeof *out->class_names) : NULL;
  if (out->scores == NULL || (form == 2 && out->class_names == NULL))
    return pc_fail_memory(err, "finding the columns of a data file");
  for (size_t i = 0; i < set->count; i++) {
    if (inputs_name_form(set->names[i], kind->flag) != form)
      continue;
    if (form == 2)
      out->class_names[out->score_count] = set->names[i] + prefix;
    out->scores[out->score_count++] = i;
  }
  return PCAL_OK;
}

pcal_status pc_data_columns_find(const pc_column_set *set, const pcal_env *env,
                                 pc_data_columns *out, pcal_error *err) {
  const inputs_kind *kind = NULL;
  char shown[PC_CLIP_MAX];
  int form = 0;
  *out = (pc_data_columns){0};
  if (set->names == NULL)
    return pc_fail(err, PCAL_DATA,
                   "%s has no names of columns; {data} needs a file that names what it holds: "
                   "npz, jsonl, or csv or tsv with a header such as labels,probs.cat,probs.dog",
                   set->file);
  if (set->count == 1 && pc_slice_has_only_semicolons(pc_slice_of(set->names[0])))
    return pc_fail(err, PCAL_DATA, "%s has one column, called \"%s\"; " PC_SEMICOLON_REMEDY,
                   set->file, pc_clip(pc_slice_of(set->names[0]), shown));
  PC_TRY(inputs_find_kind(set, &kind, &form, err));
  PC_TRY(inputs_find_beside(set, kind, out, err));
  const pcal_status status = inputs_collect(set, env, kind, form, out, err);
  if (status != PCAL_OK)
    pc_data_columns_free(env, out);
  return status;
}

/* The number of the only array of scores of one task. */
static pcal_status inputs_find_array(const pc_column_set *set, int regression, size_t *out,
                                     const inputs_kind **kind, pcal_error *err) {
  *kind = NULL;
  for (size_t i = 0; i < set->count; i++) {
    for (size_t k = 0; k < INPUTS_KINDS; k++) {
      if (inputs_regression(inputs_kinds[k].kind) != regression ||
          inputs_name_form(set->names[i], inputs_kinds[k].flag) != 1)
        continue;
      if (*kind != NULL)
        return pc_fail(err, PCAL_DATA,
                       "%s holds scores twice, %s and %s; choose with %-s FILE:NAME in place "
                       "of {data}",
                       set->file, set->names[*out], set->names[i], inputs_kinds[k].argument);
      *kind = &inputs_kinds[k];
      *out = i;
    }
  }
  return PCAL_OK;
}

static pcal_status inputs_find_scores(const pc_column_set *set, size_t *out,
                                      const inputs_kind **kind, pcal_error *err) {
  PC_TRY(inputs_find_array(set, 0, out, kind, err));
  if (*kind == NULL)
    PC_TRY(inputs_find_array(set, 1, out, kind, err));
  if (*kind == NULL)
    return pc_fail(err, PCAL_DATA,
                   "%s holds no scores; call them probs, logits, log_probs or confidence, or "
                   "mean and std or variance, quantiles or samples",
                   set->file);
  return PCAL_OK;
}

pcal_status pc_data_members_find(const pc_column_set *set, const pcal_env *env,
                                 pc_data_columns *out, pcal_error *err) {
  const inputs_kind *kind = NULL;
  size_t scores = 0;
  *out = (pc_data_columns){0};
  PC_TRY(inputs_find_scores(set, &scores, &kind, err));
  PC_TRY(inputs_find_beside(set, kind, out, err));
  out->scores = pc_alloc_raw(env, 1, sizeof *out->scores);
  if (out->scores == NULL)
    return pc_fail_memory(err, "finding the arrays of a data file");
  out->scores[0] = scores;
  out->score_count = 1;
  return PCAL_OK;
}

void pc_data_columns_free(const pcal_env *env, pc_data_columns *columns) {
  pc_free(env, columns->scores);
  pc_free(env, columns->class_names);
  columns->scores = NULL;
  columns->class_names = NULL;
}
