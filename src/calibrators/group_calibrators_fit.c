/* Formula:  kappa minimises the mean Brier score of s p_g + (1 - s) p on rows of a fold, both
 *           maps fitted to the other folds: with a = p_g - p, b = p - e_y,
 *             sum |b|^2 + 2 s sum <a, b> + s^2 sum |a|^2,    s = n_g / (n_g + kappa),
 *           so three sums for each fold and group serve every kappa.  For predictions of a
 *           number it minimises the mean score of the mixed prediction: with means and
 *           variances (m - y)^2 / v + log v, else the pinball loss over levels, of samples at
 *           (k + 1/2) / n, whose mean is half the CRPS of their distribution.
 * Tried:    0, powers of 2 from 1 to 2^20, and infinity; the largest of equally good ones.
 * Edge cases: (1) a group that the method cannot be fitted to (too few rows, a class that it
 *           needs is absent) goes with all rows, and a warning says so; (2) fewer rows than
 *           folds: infinity; (3) with confidences e_y is whether the row was correct.
 * Cost:     folds + 1 fits of all rows, and as many of each group. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "calibrators/fit.h"
#include "calibrators/folds.h"
#include "calibrators/group_calibrators.h"

#define GROUPED_FIT_FOLDS 5
#define GROUPED_FIT_KAPPAS 22

typedef struct grouped_sums {
  double bb, ab, aa;
} grouped_sums;

typedef struct grouped_fit {
  const pc_fit_task *task;
  pcal_fit_config config;
  size_t groups;
  pcal_calibrator *pooled; /* of the fold at work */
  pcal_calibrator **members;
  double losses[GROUPED_FIT_KAPPAS + 1];
} grouped_fit;

static double grouped_fit_kappa(size_t i) {
  return i == 0 ? 0.0 : i == GROUPED_FIT_KAPPAS ? (double)INFINITY : ldexp(1.0, (int)i - 1);
}

/* The calibrator of the rows outside a fold, of one group or of all. */
static pcal_status grouped_fit_part(const grouped_fit *fit, const pc_folds *folds,
                                    size_t left_out, uint32_t group, pcal_calibrator **out,
                                    pcal_error *err) {
  const pc_fit_task *task = fit->task;
  pc_fold_source training;
  PC_TRY(pc_source_rewind(task->source, err));
  pcal_status status =
      pc_fold_source_open(task->source, folds, left_out, task->env, &training, err);
  training.group = group;
  if (status == PCAL_OK)
    status = pc_fit_run(training.source, &fit->config, task->env, out, err);
  pc_fold_source_close(&training);
  return status;
}

/* Is this a reason to leave a group to the calibrator of all rows? */
static int grouped_fit_unsuited(pcal_status status) {
  return status == PCAL_DATA || status == PCAL_USAGE;
}

/* ---- kappa ---- */

static pcal_status grouped_fit_fold(grouped_fit *fit, const pc_folds *folds, size_t fold,
                                    pcal_error *err) {
  pcal_error why;
  PC_TRY(grouped_fit_part(fit, folds, fold, PC_ANY_GROUP, &fit->pooled, err));
  for (size_t g = 0; g < fit->groups; g++) {
    const pcal_status status =
        grouped_fit_part(fit, folds, fold, (uint32_t)g, &fit->members[g], &why);
    if (status == PCAL_OK || grouped_fit_unsuited(status))
      continue;
    if (err != NULL)
      *err = why;
    return status;
  }
  return PCAL_OK;
}

static void grouped_fit_drop(grouped_fit *fit) {
  pc_calibrator_free(fit->pooled);
  fit->pooled = NULL;
  for (size_t g = 0; g < fit->groups; g++) {
    pc_calibrator_free(fit->members[g]);
    fit->members[g] = NULL;
  }
}

/* The score of a prediction of a number, lower is better. */
static double grouped_fit_score(const pc_layout *layout, const double *row, double y) {
  const size_t n = layout->columns;
  double sum = 0.0;
  if (layout->form == PC_FORM_GAUSSIAN)
    return (row[0] - y) * (row[0] - y) / row[1] + pc_log(row[1]);
  for (size_t k = 0; k < n; k++) {
    const double level =
        layout->form == PC_FORM_QUANTILES ? layout->levels[k] : ((double)k + 0.5) / (double)n;
    sum += (y - row[k]) * (level - (y < row[k] ? 1.0 : 0.0));
  }
  return sum / (double)n;
}

static double grouped_fit_share(const grouped_fit *fit, size_t group, size_t i) {
  const pc_group_member member = {NULL, fit->members[group]};
  return fit->members[group] == NULL ? 0.0 : pc_group_share(&member, grouped_fit_kappa(i));
}

static void grouped_fit_add_numbers(grouped_fit *fit, const pcal_batch *batch,
                                    const double *by_all, const double *by_group,
                                    double *mixed) {
  const pc_layout *layout = &fit->pooled->layout;
  const size_t columns = layout->columns;
  for (size_t i = 0; i < batch->rows; i++, by_all += columns, by_group += columns)
    for (size_t k = 0; k <= GROUPED_FIT_KAPPAS; k++) {
      const double s = grouped_fit_share(fit, batch->groups[i], k);
      for (size_t j = 0; j < columns; j++)
        mixed[j] = s * by_group[j] + (1.0 - s) * by_all[j];
      fit->losses[k] += batch->weights[i] * grouped_fit_score(layout, mixed, batch->targets[i]);
    }
}

static void grouped_fit_add(const grouped_fit *fit, const pcal_batch *batch,
                            const double *by_all, const double *by_group, grouped_sums *sums) {
  const size_t columns = pc_calibrator_columns(fit->pooled);
  for (size_t i = 0; i < batch->rows; i++) {
    grouped_sums *here = &sums[batch->groups[i]];
    const double weight = batch->weights == NULL ? 1.0 : batch->weights[i];
    for (size_t j = 0; j < columns; j++) {
      const int hit = columns == 1 ? batch->labels[i] == 1 : batch->labels[i] == (int32_t)j;
      const double p = by_all[i * columns + j];
      const double a = by_group[i * columns + j] - p, b = p - (double)hit;
      here->bb += weight * b * b;
      here->ab += weight * a * b;
      here->aa += weight * a * a;
    }
  }
}

/* Rows with a missing value or outcome count for nothing, and neither do rows of groups beyond
 * `group_count`, which were not there when the groups were counted. */
static size_t grouped_fit_complete(pcal_batch *batch, size_t group_count, double *scores,
                                   int32_t *labels, double *targets, double *weights,
                                   uint32_t *groups) {
  const size_t k = batch->columns;
  size_t kept = 0;
  for (size_t i = 0; i < batch->rows; i++) {
    int missing = batch->labels != NULL ? batch->labels[i] == PCAL_MISSING_LABEL
                                        : isnan(batch->targets[i]);
    pc_batch_row(batch, i, scores + kept * k);
    for (size_t j = 0; j < k; j++)
      missing |= isnan(scores[kept * k + j]);
    groups[kept] = batch->groups[i];
    if (missing || groups[kept] >= group_count)
      continue;
    if (batch->labels != NULL)
      labels[kept] = batch->labels[i];
    else
      targets[kept] = batch->targets[i];
    weights[kept++] = batch->weights == NULL ? 1.0 : batch->weights[i];
  }
  batch->scores = scores;
  batch->labels = batch->labels == NULL ? NULL : labels;
  batch->targets = batch->targets == NULL ? NULL : targets;
  batch->weights = weights;
  batch->groups = groups;
  return kept;
}

static pcal_status grouped_fit_judge_rows(grouped_fit *fit, pcal_source *judged, size_t room,
                                          grouped_sums *sums, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const size_t columns = pc_calibrator_columns(fit->pooled), k = fit->pooled->layout.columns;
  double *values = pc_alloc_raw(env, room * (k + 2 * columns + 2) + columns, sizeof *values);
  int32_t *labels = pc_alloc_raw(env, room, sizeof *labels);
  uint32_t *groups = pc_alloc_raw(env, room, sizeof *groups);
  pcal_status status = PCAL_OK;
  if (values == NULL || labels == NULL || groups == NULL)
    status = pc_fail_memory(err, "judging calibrators of groups");
  while (status == PCAL_OK) {
    pcal_batch batch = PCAL_BATCH_INIT;
    status = pc_source_next(judged, room, &batch, err);
    if (status != PCAL_OK || batch.rows == 0)
      break;
    double *targets = values + room * (k + 1), *by_all = targets + room;
    double *by_group = by_all + room * columns;
    batch.rows = grouped_fit_complete(&batch, fit->groups, values, labels, targets,
                                      values + room * k, groups);
    status =
        pc_group_calibrators_map_both(fit->pooled, (const pcal_calibrator *const *)fit->members,
                                      fit->groups, &batch, env, by_all, by_group, err);
    if (status == PCAL_OK && batch.labels == NULL)
      grouped_fit_add_numbers(fit, &batch, by_all, by_group, by_group + room * columns);
    else if (status == PCAL_OK)
      grouped_fit_add(fit, &batch, by_all, by_group, sums);
  }
  pc_free(env, values);
  pc_free(env, labels);
  pc_free(env, groups);
  return status;
}

static void grouped_fit_losses(grouped_fit *fit, const grouped_sums *sums) {
  for (size_t i = 0; i <= GROUPED_FIT_KAPPAS; i++)
    for (size_t g = 0; g < fit->groups; g++) {
      const double s = grouped_fit_share(fit, g, i);
      fit->losses[i] += sums[g].bb + 2.0 * s * sums[g].ab + s * s * sums[g].aa;
    }
}

static pcal_status grouped_fit_judge(grouped_fit *fit, const pc_folds *folds, size_t fold,
                                     pcal_error *err) {
  const pcal_env *env = fit->task->env;
  pc_fold_source rows;
  grouped_sums *sums = pc_alloc(env, fit->groups, sizeof *sums);
  if (sums == NULL)
    return pc_fail_memory(err, "judging calibrators of groups");
  pcal_status status = pc_source_rewind(fit->task->source, err);
  if (status == PCAL_OK) {
    status = pc_fold_source_open(fit->task->source, folds, fold, env, &rows, err);
    rows.inside = 1;
    if (status == PCAL_OK)
      status = grouped_fit_judge_rows(fit, rows.source, rows.room, sums, err);
    pc_fold_source_close(&rows);
  }
  if (status == PCAL_OK)
    grouped_fit_losses(fit, sums);
  pc_free(env, sums);
  return status;
}

static pcal_status grouped_fit_search(grouped_fit *fit, double *kappa, pcal_error *err) {
  const pc_folds folds = {fit->task->env->seed, GROUPED_FIT_FOLDS};
  *kappa = (double)INFINITY;
  if (fit->task->calibrator->fit.rows < 2 * GROUPED_FIT_FOLDS)
    return PCAL_OK;
  for (size_t fold = 0; fold < folds.count; fold++) {
    pcal_status status = grouped_fit_fold(fit, &folds, fold, err);
    if (status == PCAL_OK)
      status = grouped_fit_judge(fit, &folds, fold, err);
    grouped_fit_drop(fit);
    PC_TRY(status);
  }
  size_t best = GROUPED_FIT_KAPPAS;
  for (size_t i = GROUPED_FIT_KAPPAS; i-- > 0;)
    if (fit->losses[i] < fit->losses[best])
      best = i;
  *kappa = grouped_fit_kappa(best);
  return PCAL_OK;
}

/* ---- members ---- */

static pcal_status grouped_fit_member(grouped_fit *fit, size_t group, const char *name,
                                      pc_group_calibrators *grouping, pcal_error *err) {
  const pc_folds whole = {0, 1};
  const pcal_env *env = fit->task->env;
  pc_group_member *member = &grouping->members[grouping->count];
  pcal_error why;
  const pcal_status status =
      grouped_fit_part(fit, &whole, 1, (uint32_t)group, &member->calibrator, &why);
  if (grouped_fit_unsuited(status)) {
    char shown[PC_ERROR_TEXT];
    pcal_error_text(&why, env->words, shown, sizeof shown);
    pc_fit_warn(&fit->task->calibrator->fit, "group %.60s goes with all rows: %.160s", name,
                shown);
    return PCAL_OK;
  }
  if (status != PCAL_OK) {
    if (err != NULL)
      *err = why;
    return status;
  }
  grouping->count++;
  member->name = pc_copy_text(env, name);
  return member->name == NULL ? pc_fail_memory(err, "fitting groups") : PCAL_OK;
}

static pcal_status grouped_fit_members(grouped_fit *fit, const pcal_shape *shape,
                                       pc_group_calibrators *grouping, pcal_error *err) {
  grouping->count = 0;
  for (size_t g = 0; g < fit->groups; g++)
    PC_TRY(grouped_fit_member(fit, g, shape->group_names[g], grouping, err));
  return PCAL_OK;
}

static pcal_status grouped_fit_check(const pcal_shape *shape, pcal_error *err) {
  if (shape->group_count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "calibrators of groups need groups with names; give them with {groups}");
  if (shape->group_count > PC_GROUP_CALIBRATORS_MAX)
    return pc_fail(err, PCAL_DATA,
                   "there are %zu groups, and a calibrator for each of them is too many; give "
                   "at most %d",
                   shape->group_count, PC_GROUP_CALIBRATORS_MAX);
  return PCAL_OK;
}

pcal_status pc_group_calibrators_fit(const pc_fit_task *task, const pcal_fit_config *config,
                                     pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  pcal_shape shape = {.size = sizeof shape};
  grouped_fit fit = {.task = task, .config = *config};
  fit.config.by_group = 0;
  pc_source_shape(task->source, &shape);
  PC_TRY(grouped_fit_check(&shape, err));
  fit.groups = shape.group_count;
  PC_TRY(pc_group_calibrators_new(task->env, fit.groups, &calibrator->grouping, err));
  fit.members = pc_alloc(task->env, fit.groups, sizeof *fit.members);
  if (fit.members == NULL)
    return pc_fail_memory(err, "fitting groups");
  pcal_status status = grouped_fit_search(&fit, &calibrator->grouping->kappa, err);
  if (status == PCAL_OK)
    status = grouped_fit_members(&fit, &shape, calibrator->grouping, err);
  pc_free(task->env, fit.members);
  return status;
}
