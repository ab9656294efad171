/* What the caller's pcal_inputs ask for, checked before any file is touched. */
#ifndef PC_INPUT_CHECK_H
#define PC_INPUT_CHECK_H

#include "base/memory.h"
#include "io/selector.h"

/* Each text is as the caller wrote it; borrowed. */
typedef struct pc_checked_inputs {
  const char *data;   /* or NULL; then kind and scores are set */
  const char *scores; /* or NULL */
  const char *spread; /* variances or standard deviations beside means, or NULL */
  pcal_kind kind;
  const char *labels, *correct, *target, *weights, *groups, *ids; /* or NULL */
  double levels[PCAL_LEVELS_MAX];                                 /* of quantiles */
  size_t level_count;
  uint64_t first_row;
  int header;      /* as in pcal_inputs */
  int weights_are; /* pcal_weights */
} pc_checked_inputs;

/* Fails with PCAL_USAGE unless exactly one kind of scores is given, with labels that fit. */
PC_CHECKED pcal_status pc_inputs_check(const pcal_inputs *inputs, pc_checked_inputs *out,
                                       pcal_error *err);

#define PC_NO_COLUMN SIZE_MAX

/* The columns of a `data` file, found by name: one column probs, logits or confidence, or
 * several columns probs.CLASS, logits.CLASS or log-probs.CLASS; labels, or correct beside
 * confidence; or mean with variance or std, quantiles.LEVEL or samples.NUMBER, and target;
 * weights; groups.  Other columns are left alone, those of regression also where there are
 * scores of classes. */
typedef struct pc_data_columns {
  pcal_kind kind;
  size_t *scores; /* owned */
  size_t score_count;
  const char **class_names;       /* owned, of letters inside the set's names; NULL: no names */
  size_t spread;                  /* beside means */
  size_t labels, weights, groups; /* or PC_NO_COLUMN; labels are targets in regression */
} pc_data_columns;

PC_CHECKED pcal_status pc_data_columns_find(const pc_column_set *set, const pcal_env *env,
                                            pc_data_columns *out, pcal_error *err);

/* The same for the members of a container, whose class names nobody knows: one array probs,
 * logits, log-probs or log_probs, or confidence, with a column for each class.  scores[0] is
 * its number. */
PC_CHECKED pcal_status pc_data_members_find(const pc_column_set *set, const pcal_env *env,
                                            pc_data_columns *out, pcal_error *err);

void pc_data_columns_free(const pcal_env *env, pc_data_columns *columns);

#endif
