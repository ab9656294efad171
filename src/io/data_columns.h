/* Finds the columns or arrays of a `data` file by their names. */
#ifndef PC_DATA_COLUMNS_H
#define PC_DATA_COLUMNS_H

#include "base/memory.h"
#include "io/selector.h"

#define PC_NO_DATA_COLUMN SIZE_MAX

/* The columns of a `data` file, found by name:
 *   scores    one column probs, logits or confidence, or several columns probs.CLASS,
 *             logits.CLASS or log-probs.CLASS; for regression mean with variance or std,
 *             quantiles.LEVEL or samples.NUMBER
 *   outcomes  labels; correct for confidence; target for regression
 *   others    weights, groups, time; abstain for confidence
 * If there is none of these names, common ones are understood: prob, probability, y_prob, y_proba,
 * logit, conf; label, y_true; targets, observed; sample_weight; sd, sigma, var.
 * Other columns are ignored, and so are those of regression if there are scores of classes. */
typedef struct pc_data_columns {
  pcal_kind kind;
  size_t *scores; /* owned */
  size_t score_count;
  const char **class_names;       /* owned array of pointers into the set's names, or NULL */
  size_t spread;                  /* variance or std, for means */
  size_t labels, weights, groups; /* or PC_NO_DATA_COLUMN; labels: outcomes */
  size_t time;                    /* the only column of that name, or PC_NO_DATA_COLUMN */
  size_t abstain;                 /* or PC_NO_DATA_COLUMN */
} pc_data_columns;

PC_CHECKED pcal_status pc_data_columns_find(const pc_column_set *set, const pcal_env *env,
                                            pc_data_columns *out, pcal_error *err);

/* The same for the members of a container, which have no class names: one array probs,
 * logits, log-probs or log_probs, or confidence, with a column for each class.  scores[0] is
 * its index. */
PC_CHECKED pcal_status pc_data_members_find(const pc_column_set *set, const pcal_env *env,
                                            pc_data_columns *out, pcal_error *err);

/* Sets roles[i] to the name of the field of pcal_inputs that column i is for, or to NULL. */
void pc_data_columns_roles(const pc_data_columns *columns, size_t count, const char **roles);

void pc_data_columns_free(const pcal_env *env, pc_data_columns *columns);

#endif
