#include "io/data_columns.h"

#include <stdio.h>
#include <string.h>

#include "data/rows.h"
#include "io/input_check.h"
#include "io/slice.h"

static int data_columns_regression(pcal_kind kind) {
  return pc_kind_form(kind) != PC_FORM_CLASSES;
}

/* Other names of columns; each counts only if there is no column of the known name.  "weight" and
 * "group" are not among them: they are often features, such as the weight of a patient. */
static const struct {
  const char *name, *flag;
} data_columns_habits[] = {
    {"prob", "probs"},     {"probability", "probs"},
    {"y_prob", "probs"},   {"y_proba", "probs"},
    {"logit", "logits"},   {"conf", "confidence"},
    {"label", "labels"},   {"y_true", "labels"},
    {"targets", "target"}, {"observed", "target"},
    {"sd", "std"},         {"sample_weight", "weights"},
    {"sigma", "std"},      {"var", "variance"},
};

#define DATA_COLUMNS_HABITS (sizeof data_columns_habits / sizeof *data_columns_habits)
#define DATA_COLUMNS_LISTED 8 /* column names in an error message */

/* 1 for "probs", 2 for "probs.cat", 0 for other names; "log_probs" is "log-probs". */
static int data_columns_name_form(const char *name, const char *flag) {
  size_t length = 0;
  while (flag[length] != '\0' &&
         (name[length] == flag[length] || (name[length] == '_' && flag[length] == '-')))
    length++;
  if (flag[length] != '\0')
    return 0;
  return name[length] == '\0' ? 1 : name[length] == '.' ? 2 : 0;
}

/* The same, or if habits, for the other names of the flag, without classes. */
static int data_columns_form(const char *name, const char *flag, int habits) {
  if (!habits)
    return data_columns_name_form(name, flag);
  for (size_t i = 0; i < DATA_COLUMNS_HABITS; i++)
    if (strcmp(data_columns_habits[i].flag, flag) == 0 &&
        strcmp(data_columns_habits[i].name, name) == 0)
      return 1;
  return 0;
}

/* Sets *out to the only kind of scores of a task among the columns, or to NULL. */
static pcal_status data_columns_find_task(const pc_column_set *set, int regression, int habits,
                                          const pc_score_kind **out, int *form,
                                          pcal_error *err) {
  size_t first = 0;
  *out = NULL;
  for (size_t i = 0; i < set->count; i++) {
    for (size_t k = 0; k < PC_SCORE_KINDS; k++) {
      if (data_columns_regression(pc_score_kinds[k].kind) != regression)
        continue;
      const int seen = data_columns_form(set->names[i], pc_score_kinds[k].flag, habits);
      if (seen == 0)
        continue;
      if (*out != NULL && (*out != &pc_score_kinds[k] || *form != seen || seen == 1))
        return pc_fail(err, PCAL_DATA,
                       "%s has two kinds of scores, %s and %s; choose one with %-s "
                       "FILE:COLUMNS in place of {data}",
                       set->file, habits ? set->names[first] : (*out)->flag, set->names[i],
                       pc_score_kinds[k].argument);
      first = *out == NULL ? i : first;
      *out = &pc_score_kinds[k];
      *form = seen;
    }
  }
  return PCAL_OK;
}

/* Writes the first names of the columns: "id, risk, outcome". */
static void data_columns_list(const pc_column_set *set, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < set->count && i < DATA_COLUMNS_LISTED && used < size; i++)
    used +=
        (size_t)snprintf(out + used, size - used, "%s%.40s", i > 0 ? ", " : "", set->names[i]);
  if (set->count > DATA_COLUMNS_LISTED && used < size)
    snprintf(out + used, size - used, " and %zu more", set->count - DATA_COLUMNS_LISTED);
}

static pcal_status data_columns_find_kind(const pc_column_set *set, const pc_score_kind **out,
                                          int *form, int *habits, pcal_error *err) {
  char names[64 * DATA_COLUMNS_LISTED];
  for (*habits = 0; *habits < 2; (*habits)++)
    for (int regression = 0; regression < 2; regression++) {
      PC_TRY(data_columns_find_task(set, regression, *habits, out, form, err));
      if (*out != NULL)
        return PCAL_OK;
    }
  data_columns_list(set, names, sizeof names);
  return pc_fail(
      err, PCAL_DATA,
      "%s has no columns for scores among %s; give {name_columns}, or call them probs, "
      "logits or confidence, or with the name of the class probs.CLASS, logits.CLASS "
      "or log-probs.CLASS; predictions of a number mean and std or variance, "
      "quantiles.LEVEL or samples.NUMBER",
      set->file, names);
}

static pcal_status data_columns_find_named(const pc_column_set *set, const char *name,
                                           int habits, size_t *out, pcal_error *err) {
  *out = PC_NO_DATA_COLUMN;
  for (size_t i = 0; i < set->count; i++) {
    if (habits ? !data_columns_form(set->names[i], name, 1) : strcmp(set->names[i], name) != 0)
      continue;
    if (*out != PC_NO_DATA_COLUMN)
      return strcmp(set->names[i], set->names[*out]) == 0
                 ? pc_fail(err, PCAL_DATA, "%s has two columns called %s; rename one",
                           set->file, set->names[i])
                 : pc_fail(err, PCAL_DATA,
                           "%s has the columns %s and %s for %s; call the right one %s",
                           set->file, set->names[*out], set->names[i], name, name);
    *out = i;
  }
  return PCAL_OK;
}

static pcal_status data_columns_find_one(const pc_column_set *set, const char *name,
                                         size_t *out, pcal_error *err) {
  PC_TRY(data_columns_find_named(set, name, 0, out, err));
  return *out != PC_NO_DATA_COLUMN ? PCAL_OK : data_columns_find_named(set, name, 1, out, err);
}

/* Finds the columns other than scores: spread, outcomes, weights, groups, times. */
static pcal_status data_columns_find_beside(const pc_column_set *set, const pc_score_kind *kind,
                                            pc_data_columns *out, pcal_error *err) {
  size_t std = PC_NO_DATA_COLUMN;
  out->kind = kind->kind;
  out->spread = PC_NO_DATA_COLUMN;
  PC_TRY(data_columns_find_one(set, pc_kind_outcome(kind->kind), &out->labels, err));
  PC_TRY(data_columns_find_one(set, "weights", &out->weights, err));
  PC_TRY(data_columns_find_one(set, "groups", &out->groups, err));
  if (data_columns_find_one(set, "time", &out->time, NULL) != PCAL_OK)
    out->time = PC_NO_DATA_COLUMN;
  out->abstain = PC_NO_DATA_COLUMN;
  if (kind->kind == PCAL_CONFIDENCE)
    PC_TRY(data_columns_find_named(set, "abstain", 0, &out->abstain, err));
  if (kind->kind != PCAL_MEAN_VARIANCE)
    return PCAL_OK;
  for (int habits = 0; habits < 2; habits++) {
    PC_TRY(data_columns_find_named(set, "variance", habits, &out->spread, err));
    PC_TRY(data_columns_find_named(set, "std", habits, &std, err));
    if (out->spread != PC_NO_DATA_COLUMN || std != PC_NO_DATA_COLUMN)
      break;
  }
  if ((out->spread == PC_NO_DATA_COLUMN) == (std == PC_NO_DATA_COLUMN))
    return pc_fail(err, PCAL_DATA,
                   "%s has %s variance %s std for its means; give exactly one of them",
                   set->file, std == PC_NO_DATA_COLUMN ? "neither" : "both",
                   std == PC_NO_DATA_COLUMN ? "nor" : "and");
  if (std == PC_NO_DATA_COLUMN)
    return PCAL_OK;
  out->spread = std;
  out->kind = PCAL_MEAN_STD;
  return PCAL_OK;
}

static pcal_status data_columns_collect(const pc_column_set *set, const pcal_env *env,
                                        const pc_score_kind *kind, int form, int habits,
                                        pc_data_columns *out, pcal_error *err) {
  const size_t prefix = strlen(kind->flag) + 1;
  out->scores = pc_alloc_raw(env, set->count, sizeof *out->scores);
  out->class_names = form == 2 ? pc_alloc_raw(env, set->count, sizeof *out->class_names) : NULL;
  if (out->scores == NULL || (form == 2 && out->class_names == NULL))
    return pc_fail_memory(err, "finding the columns of a data file");
  for (size_t i = 0; i < set->count; i++) {
    if (data_columns_form(set->names[i], kind->flag, habits) != form)
      continue;
    if (form == 2)
      out->class_names[out->score_count] = set->names[i] + prefix;
    out->scores[out->score_count++] = i;
  }
  return PCAL_OK;
}

pcal_status pc_data_columns_find(const pc_column_set *set, const pcal_env *env,
                                 pc_data_columns *out, pcal_error *err) {
  const pc_score_kind *kind = NULL;
  int form = 0, habits = 0;
  *out = (pc_data_columns){0};
  if (set->names == NULL)
    return pc_fail(err, PCAL_DATA,
                   "%s has no column names; {data} needs npz, jsonl, or csv or tsv with a "
                   "header such as labels,probs.cat,probs.dog",
                   set->file);
  PC_TRY(data_columns_find_kind(set, &kind, &form, &habits, err));
  PC_TRY(data_columns_find_beside(set, kind, out, err));
  const pcal_status status = data_columns_collect(set, env, kind, form, habits, out, err);
  if (status != PCAL_OK)
    pc_data_columns_free(env, out);
  return status;
}

/* Finds the only array of scores of a task. */
static pcal_status data_columns_find_array(const pc_column_set *set, int regression, int habits,
                                           size_t *out, const pc_score_kind **kind,
                                           pcal_error *err) {
  *kind = NULL;
  for (size_t i = 0; i < set->count; i++) {
    for (size_t k = 0; k < PC_SCORE_KINDS; k++) {
      if (data_columns_regression(pc_score_kinds[k].kind) != regression ||
          data_columns_form(set->names[i], pc_score_kinds[k].flag, habits) != 1)
        continue;
      if (*kind != NULL)
        return pc_fail(err, PCAL_DATA,
                       "%s has two arrays of scores, %s and %s; choose one with %-s "
                       "FILE:NAME in place of {data}",
                       set->file, set->names[*out], set->names[i], pc_score_kinds[k].argument);
      *kind = &pc_score_kinds[k];
      *out = i;
    }
  }
  return PCAL_OK;
}

static pcal_status data_columns_find_scores(const pc_column_set *set, size_t *out,
                                            const pc_score_kind **kind, pcal_error *err) {
  char names[64 * DATA_COLUMNS_LISTED];
  for (int habits = 0; habits < 2; habits++)
    for (int regression = 0; regression < 2; regression++) {
      PC_TRY(data_columns_find_array(set, regression, habits, out, kind, err));
      if (*kind != NULL)
        return PCAL_OK;
    }
  data_columns_list(set, names, sizeof names);
  return pc_fail(err, PCAL_DATA,
                 "%s has no scores among %s; give {name_columns}, or name them probs, logits, "
                 "log_probs or confidence, or mean and std or variance, quantiles or samples",
                 set->file, names);
}

pcal_status pc_data_members_find(const pc_column_set *set, const pcal_env *env,
                                 pc_data_columns *out, pcal_error *err) {
  const pc_score_kind *kind = NULL;
  size_t scores = 0;
  *out = (pc_data_columns){0};
  PC_TRY(data_columns_find_scores(set, &scores, &kind, err));
  PC_TRY(data_columns_find_beside(set, kind, out, err));
  out->scores = pc_alloc_raw(env, 1, sizeof *out->scores);
  if (out->scores == NULL)
    return pc_fail_memory(err, "finding the arrays of a data file");
  out->scores[0] = scores;
  out->score_count = 1;
  return PCAL_OK;
}

static const char *data_columns_score_role(pcal_kind kind) {
  if (kind == PCAL_LOG_PROBABILITY)
    return "log_probs";
  for (size_t i = 0; i < PC_SCORE_KINDS; i++)
    if (pc_score_kinds[i].kind == (kind == PCAL_MEAN_STD ? PCAL_MEAN_VARIANCE : kind))
      return pc_score_kinds[i].flag;
  return NULL;
}

void pc_data_columns_roles(const pc_data_columns *columns, size_t count, const char **roles) {
  const struct {
    size_t column;
    const char *role;
  } beside[] = {
      {columns->spread, columns->kind == PCAL_MEAN_STD ? "std" : "variance"},
      {columns->labels, pc_kind_outcome(columns->kind)},
      {columns->weights, "weights"},
      {columns->groups, "groups"},
      {columns->time, "time"},
      {columns->abstain, "abstain"},
  };
  for (size_t i = 0; i < count; i++)
    roles[i] = NULL;
  for (size_t i = 0; i < columns->score_count; i++)
    roles[columns->scores[i]] = data_columns_score_role(columns->kind);
  for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
    if (beside[i].column != PC_NO_DATA_COLUMN)
      roles[beside[i].column] = beside[i].role;
}

void pc_data_columns_free(const pcal_env *env, pc_data_columns *columns) {
  pc_free(env, columns->scores);
  pc_free(env, columns->class_names);
  columns->scores = NULL;
  columns->class_names = NULL;
}
