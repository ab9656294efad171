#include "io/inputs.h"

#include <string.h>

#include "io/slice.h"

/* Kinds of scores under the names of their flags. */
typedef struct inputs_kind {
  pcal_kind kind;
  const char *flag;
} inputs_kind;

static const inputs_kind inputs_kinds[] = {
    {PCAL_PROBABILITY, "probs"},
    {PCAL_LOGIT, "logits"},
    {PCAL_LOG_PROBABILITY, "log-probs"},
    {PCAL_CONFIDENCE, "confidence"},
};

#define INPUTS_KINDS (sizeof inputs_kinds / sizeof inputs_kinds[0])

static pcal_status inputs_scores(const pcal_inputs *inputs, pc_plan *out, pcal_error *err) {
  const char *given[INPUTS_KINDS] = {inputs->probs, inputs->logits, inputs->log_probs,
                                     inputs->confidence};
  const char *flag = inputs->data != NULL ? "data" : NULL;
  for (size_t i = 0; i < INPUTS_KINDS; i++) {
    if (given[i] == NULL)
      continue;
    if (flag != NULL)
      return pc_fail(err, PCAL_USAGE, "--%s and --%s are both given; give only one of them",
                     inputs_kinds[i].flag, flag);
    flag = inputs_kinds[i].flag;
    out->scores = given[i];
    out->kind = inputs_kinds[i].kind;
  }
  if (flag == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "there are no scores; give one of --probs, --logits, --log-probs, "
                   "--confidence or --data");
  return PCAL_OK;
}

pcal_status pc_inputs_plan(const pcal_inputs *inputs, pc_plan *out, pcal_error *err) {
  pcal_inputs full = PCAL_INPUTS_INIT;
  memcpy(&full, inputs, inputs->size < sizeof full ? inputs->size : sizeof full);
  *out = (pc_plan){.data = full.data,
                   .labels = full.labels,
                   .correct = full.correct,
                   .weights = full.weights,
                   .groups = full.groups,
                   .first_row = full.first_row,
                   .header = full.header};
  if (out->header < 0 || out->header > 2)
    return pc_fail(err, PCAL_USAGE,
                   "the header setting %d is unknown; give 0 (decide), 1 (yes) or 2 (no)",
                   out->header);
  PC_TRY(inputs_scores(&full, out, err));
  if (out->labels != NULL && out->correct != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "--labels and --correct are both given; --correct goes with --confidence, "
                   "--labels with all other scores");
  if (out->scores != NULL && out->kind == PCAL_CONFIDENCE && out->labels != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "--confidence goes with --correct, which says 1 where the prediction was "
                   "right and 0 where not; give it in place of --labels");
  if (out->scores != NULL && out->kind != PCAL_CONFIDENCE && out->correct != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "--correct goes with --confidence; give --labels in its place");
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

/* The only kind of scores among the columns. */
static pcal_status inputs_find_kind(const pc_column_set *set, const inputs_kind **out,
                                    int *form, pcal_error *err) {
  *out = NULL;
  for (size_t i = 0; i < set->count; i++) {
    for (size_t k = 0; k < INPUTS_KINDS; k++) {
      const int seen = inputs_name_form(set->names[i], inputs_kinds[k].flag);
      if (seen == 0)
        continue;
      if (*out != NULL && (*out != &inputs_kinds[k] || *form != seen || seen == 1))
        return pc_fail(err, PCAL_DATA,
                       "%s has columns for scores twice, %s and then %s; choose with "
                       "--%s FILE:COLUMNS in place of --data",
                       set->file, (*out)->flag, set->names[i], inputs_kinds[k].flag);
      *out = &inputs_kinds[k];
      *form = seen;
    }
  }
  if (*out == NULL)
    return pc_fail(err, PCAL_DATA,
                   "%s has no columns for scores; call them probs, logits or confidence, or "
                   "with the name of the class probs.CLASS, logits.CLASS or log-probs.CLASS",
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

static pcal_status inputs_collect(const pc_column_set *set, const pcal_env *env,
                                  const inputs_kind *kind, int form, pc_data_columns *out,
                                  pcal_error *err) {
  const size_t prefix = strlen(kind->flag) + 1;
  out->kind = kind->kind;
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
                   "%s has no names of columns; --data needs a file that names what it holds: "
                   "npz, jsonl, or csv or tsv with a header such as labels,probs.cat,probs.dog",
                   set->file);
  if (set->count == 1 && pc_only_semicolons(pc_slice_of(set->names[0])))
    return pc_fail(err, PCAL_DATA, "%s has one column, called \"%s\"; " PC_SEMICOLON_REMEDY,
                   set->file, pc_clip(pc_slice_of(set->names[0]), shown));
  PC_TRY(inputs_find_kind(set, &kind, &form, err));
  const char *labels = kind->kind == PCAL_CONFIDENCE ? "correct" : "labels";
  PC_TRY(inputs_find_one(set, labels, &out->labels, err));
  PC_TRY(inputs_find_one(set, "weights", &out->weights, err));
  PC_TRY(inputs_find_one(set, "groups", &out->groups, err));
  const pcal_status status = inputs_collect(set, env, kind, form, out, err);
  if (status != PCAL_OK)
    pc_data_columns_free(env, out);
  return status;
}

/* The number of the only array of scores. */
static pcal_status inputs_find_scores(const pc_column_set *set, size_t *out,
                                      const inputs_kind **kind, pcal_error *err) {
  *kind = NULL;
  for (size_t i = 0; i < set->count; i++) {
    for (size_t k = 0; k < INPUTS_KINDS; k++) {
      if (inputs_name_form(set->names[i], inputs_kinds[k].flag) != 1)
        continue;
      if (*kind != NULL)
        return pc_fail(err, PCAL_DATA,
                       "%s holds scores twice, %s and %s; choose with --%s FILE:NAME in place "
                       "of --data",
                       set->file, set->names[*out], set->names[i], inputs_kinds[k].flag);
      *kind = &inputs_kinds[k];
      *out = i;
    }
  }
  if (*kind == NULL)
    return pc_fail(err, PCAL_DATA,
                   "%s holds no scores; call them probs, logits, log_probs or confidence",
                   set->file);
  return PCAL_OK;
}

pcal_status pc_data_members_find(const pc_column_set *set, const pcal_env *env,
                                 pc_data_columns *out, pcal_error *err) {
  const inputs_kind *kind = NULL;
  size_t scores = 0;
  *out = (pc_data_columns){0};
  PC_TRY(inputs_find_scores(set, &scores, &kind, err));
  const char *labels = kind->kind == PCAL_CONFIDENCE ? "correct" : "labels";
  PC_TRY(inputs_find_one(set, labels, &out->labels, err));
  PC_TRY(inputs_find_one(set, "weights", &out->weights, err));
  PC_TRY(inputs_find_one(set, "groups", &out->groups, err));
  out->kind = kind->kind;
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
