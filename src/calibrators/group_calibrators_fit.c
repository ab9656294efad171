/* Choosing kappa by cross-validation, and fitting the calibrators of the groups.
 *
 * Formula:  kappa minimises the mean Brier score of s p_g + (1 - s) p on the rows of each fold,
 *           both maps fitted to the other folds, s = n_g / (n_g + kappa).  With a = p_g - p and
 *           b = p - e_y the score is
 *             sum |b|^2 + 2 s sum <a, b> + s^2 sum |a|^2,
 *           so three sums for each fold and group serve every kappa.
 *           For predictions of a number kappa minimises the mean score of the mixed prediction:
 *             means and variances: (m - y)^2 / v + log v
 *             quantiles:           pinball loss, averaged over the levels
 *             samples:             pinball loss at levels (k + 1/2) / n, half the CRPS
 * Tried:    0, powers of 2 from 1 to 2^20, and infinity; of equally good ones the largest.
 * Edge cases:
 *   1. A group that the method cannot be fitted to (too few rows, a class it needs is absent)
 *      gets the calibrator of all rows, with a warning.
 *   2. Fewer than two rows for each fold: kappa is infinite.
 *   3. Confidences: e_y is 1 if the row was correct, else 0.
 * Cost:     folds + 1 fits of all rows, and as many of each group. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "calibrators/fit.h"
#include "calibrators/folds.h"
#include "calibrators/group_calibrators.h"

#define GROUP_FIT_FOLDS 5
#define GROUP_FIT_KAPPAS 22

typedef struct group_fit_sums {
  double bb, ab, aa; /* sums of |b|^2, <a, b> and |a|^2 */
} group_fit_sums;

typedef struct group_fit {
  const pc_fit_task *task;
  pcal_fit_config config;
  size_t groups;
  pcal_calibrator *pooled;   /* of the current fold */
  pcal_calibrator **members; /* of the current fold; NULL: the group has none */
  double losses[GROUP_FIT_KAPPAS + 1];
} group_fit;

static double group_fit_kappa(size_t i) {
  return i == 0 ? 0.0 : i == GROUP_FIT_KAPPAS ? (double)INFINITY : ldexp(1.0, (int)i - 1);
}

/* Fits to the rows outside a fold, of one group or of all; *out is allocated by env. */
static pcal_status group_fit_part(const group_fit *fit, const pc_folds *folds, size_t fold,
                                  uint32_t group, const pcal_env *env, pcal_calibrator **out,
                                  pcal_error *err) {
  const pc_fit_task *task = fit->task;
  pc_fold_source rows;
  PC_TRY(pc_source_rewind(task->source, err));
  pcal_status status = pc_fold_source_open(task->source, folds, fold, task->env, &rows, err);
  rows.group = group;
  if (status == PCAL_OK)
    status = pc_fit_run(rows.source, &fit->config, env, out, err);
  pc_fold_source_close(&rows);
  return status;
}

/* True if a group that fails like this gets the calibrator of all rows. */
static int group_fit_unsuited(pcal_status status) {
  return status == PCAL_DATA || status == PCAL_USAGE;
}

/* ---- Choosing kappa ---- */

static pcal_status group_fit_fold(group_fit *fit, const pc_folds *folds, size_t fold,
                                  pcal_error *err) {
  pcal_error why;
  const pcal_env *env = fit->task->env;
  PC_TRY(group_fit_part(fit, folds, fold, PC_ANY_GROUP, env, &fit->pooled, err));
  for (size_t g = 0; g < fit->groups; g++) {
    const pcal_status status =
        group_fit_part(fit, folds, fold, (uint32_t)g, env, &fit->members[g], &why);
    if (status != PCAL_OK && !group_fit_unsuited(status))
      return pc_error_pass(err, &why);
  }
  return PCAL_OK;
}

static void group_fit_drop(group_fit *fit) {
  pc_calibrator_free(fit->pooled);
  fit->pooled = NULL;
  for (size_t g = 0; g < fit->groups; g++) {
    pc_calibrator_free(fit->members[g]);
    fit->members[g] = NULL;
  }
}

/* The score of a prediction of a number; lower is better. */
static double group_fit_score(const pc_layout *layout, const double *row, double y) {
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

static double group_fit_share(const group_fit *fit, size_t group, size_t i) {
  const pc_group_member member = {NULL, fit->members[group]};
  return fit->members[group] == NULL ? 0.0 : pc_group_share(&member, group_fit_kappa(i));
}

static void group_fit_add_numbers(group_fit *fit, const pcal_batch *batch, const double *by_all,
                                  const double *by_group, double *mixed) {
  const pc_layout *layout = &fit->pooled->layout;
  const size_t columns = layout->columns;
  for (size_t i = 0; i < batch->rows; i++, by_all += columns, by_group += columns)
    for (size_t k = 0; k <= GROUP_FIT_KAPPAS; k++) {
      const double s = group_fit_share(fit, batch->groups[i], k);
      for (size_t j = 0; j < columns; j++)
        mixed[j] = s * by_group[j] + (1.0 - s) * by_all[j];
      fit->losses[k] += batch->weights[i] * group_fit_score(layout, mixed, batch->targets[i]);
    }
}

static void group_fit_add(const group_fit *fit, const pcal_batch *batch, const double *by_all,
                          const double *by_group, group_fit_sums *sums) {
  const size_t columns = pc_calibrator_columns(fit->pooled);
  for (size_t i = 0; i < batch->rows; i++) {
    group_fit_sums *here = &sums[batch->groups[i]];
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

/* Copies the rows without missing values to the arrays and points the batch to them.  Rows of
 * groups from `group_count` on, which appeared after the groups were counted, are left out.
 * Returns the number of rows copied. */
static size_t group_fit_complete(pcal_batch *batch, size_t group_count, double *scores,
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

static pcal_status group_fit_judge_rows(group_fit *fit, pcal_source *judged, size_t room,
                                        group_fit_sums *sums, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const size_t columns = pc_calibrator_columns(fit->pooled), k = fit->pooled->layout.columns;
  double *values = pc_alloc_raw(env, room * (k + 2 * columns + 2) + columns, sizeof *values);
  int32_t *labels = pc_alloc_raw(env, room, sizeof *labels);
  uint32_t *groups = pc_alloc_raw(env, room, sizeof *groups);
  if (values == NULL || labels == NULL || groups == NULL)
    return pc_fail_memory(err, "judging calibrators of groups");
  double *weights = values + room * k, *targets = weights + room, *by_all = targets + room;
  double *by_group = by_all + room * columns, *mixed = by_group + room * columns;
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(judged, room, &batch, err));
    if (batch.rows == 0)
      break;
    batch.rows =
        group_fit_complete(&batch, fit->groups, values, labels, targets, weights, groups);
    PC_TRY(pc_group_calibrators_map_both(fit->pooled,
                                         (const pcal_calibrator *const *)fit->members,
                                         fit->groups, &batch, env, by_all, by_group, err));
    if (batch.labels == NULL)
      group_fit_add_numbers(fit, &batch, by_all, by_group, mixed);
    else
      group_fit_add(fit, &batch, by_all, by_group, sums);
  }
  pc_free(env, values);
  pc_free(env, labels);
  pc_free(env, groups);
  return PCAL_OK;
}

static void group_fit_losses(group_fit *fit, const group_fit_sums *sums) {
  for (size_t i = 0; i <= GROUP_FIT_KAPPAS; i++)
    for (size_t g = 0; g < fit->groups; g++) {
      const double s = group_fit_share(fit, g, i);
      fit->losses[i] += sums[g].bb + 2.0 * s * sums[g].ab + s * s * sums[g].aa;
    }
}

static pcal_status group_fit_judge(group_fit *fit, const pc_folds *folds, size_t fold,
                                   pcal_error *err) {
  const pcal_env *env = fit->task->env;
  pc_fold_source rows;
  group_fit_sums *sums = pc_alloc(env, fit->groups, sizeof *sums);
  if (sums == NULL)
    return pc_fail_memory(err, "judging calibrators of groups");
  PC_TRY(pc_source_rewind(fit->task->source, err));
  pcal_status status = pc_fold_source_open(fit->task->source, folds, fold, env, &rows, err);
  rows.inside = 1;
  if (status == PCAL_OK)
    status = group_fit_judge_rows(fit, rows.source, rows.rows, sums, err);
  pc_fold_source_close(&rows);
  PC_TRY(status);
  group_fit_losses(fit, sums);
  pc_free(env, sums);
  return PCAL_OK;
}

static pcal_status group_fit_search(group_fit *fit, double *kappa, pcal_error *err) {
  const pc_folds folds = {fit->task->env->seed, GROUP_FIT_FOLDS, 0};
  *kappa = (double)INFINITY;
  if (fit->task->calibrator->fit.rows < 2 * GROUP_FIT_FOLDS)
    return PCAL_OK;
  for (size_t fold = 0; fold < folds.count; fold++) {
    pcal_status status = group_fit_fold(fit, &folds, fold, err);
    if (status == PCAL_OK)
      status = group_fit_judge(fit, &folds, fold, err);
    group_fit_drop(fit);
    PC_TRY(status);
  }
  size_t best = GROUP_FIT_KAPPAS;
  for (size_t i = GROUP_FIT_KAPPAS; i-- > 0;)
    if (fit->losses[i] < fit->losses[best])
      best = i;
  *kappa = group_fit_kappa(best);
  return PCAL_OK;
}

/* ---- Calibrators of the groups ---- */

static pcal_status group_fit_member(group_fit *fit, size_t group, const char *name,
                                    pc_group_calibrators *groups, pcal_error *err) {
  const pc_folds whole = {0, 1, 0}; /* all rows are outside fold 1 */
  pcal_calibrator *calibrator = fit->task->calibrator;
  pc_group_member *member = &groups->members[groups->count];
  pcal_error why;
  const pcal_status status = group_fit_part(fit, &whole, 1, (uint32_t)group, &calibrator->env,
                                            &member->calibrator, &why);
  if (group_fit_unsuited(status)) {
    char shown[PC_ERROR_TEXT];
    pcal_error_text(&why, fit->task->env->caller, shown, sizeof shown);
    pc_fit_warn(&calibrator->fit, "group %.60s gets the calibrator of all rows: %.160s", name,
                shown);
    return PCAL_OK;
  }
  if (status != PCAL_OK)
    return pc_error_pass(err, &why);
  groups->count++;
  member->name = pc_copy_text(&calibrator->env, name);
  return member->name == NULL ? pc_fail_memory(err, "fitting groups") : PCAL_OK;
}

static pcal_status group_fit_members(group_fit *fit, const pcal_shape *shape,
                                     pc_group_calibrators *groups, pcal_error *err) {
  groups->count = 0;
  for (size_t g = 0; g < fit->groups; g++)
    PC_TRY(group_fit_member(fit, g, shape->group_names[g], groups, err));
  return PCAL_OK;
}

static pcal_status group_fit_check(const pcal_shape *shape, pcal_error *err) {
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
  group_fit fit = {.task = task, .config = *config};
  fit.config.by_group = 0;
  pc_source_shape(task->source, &shape);
  PC_TRY(group_fit_check(&shape, err));
  fit.groups = shape.group_count;
  PC_TRY(pc_group_calibrators_new(calibrator, fit.groups, err));
  calibrator->groups->count = 0;
  fit.members = pc_alloc(task->env, fit.groups, sizeof *fit.members);
  if (fit.members == NULL)
    return pc_fail_memory(err, "fitting groups");
  PC_TRY(group_fit_search(&fit, &calibrator->groups->kappa, err));
  return group_fit_members(&fit, &shape, calibrator->groups, err);
}
