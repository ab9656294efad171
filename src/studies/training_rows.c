/* Edge cases:
 *   (1) scores become features as logits; those of probabilities are limited to [-50, 50], beyond
 *       which probabilities round to 0 or 1; one column is one feature of two classes;
 *   (2) a constant feature becomes 0;
 *   (3) rows with a missing score or label, which are there if missing values are skipped, are
 *       left out;
 *   (4) targets of features are whole numbers from 0 on; the largest gives the number of
 *       classes. */
#include "studies/training_rows.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/number.h"
#include "base/rng.h"
#include "calibrators/folds.h"
#include "data/rows.h"
#include "studies/study_scores.h"

#define TRAINING_ROWS_STREAM UINT64_C(0x4c00000000000000)
#define TRAINING_ROWS_LOGIT 50.0
#define TRAINING_ROWS_CLASSES 10000
#define TRAINING_ROWS_WINDOW 65536

enum { TRAINING_ROWS_MEANS, TRAINING_ROWS_NOISE };

pc_labelled_rows pc_training_rows_set(const pc_training_rows *rows, size_t set) {
  return (pc_labelled_rows){rows->features[set], rows->labels[set], rows->rows[set],
                            rows->feature_count, rows->classes};
}

static pcal_status training_rows_alloc(pc_training_rows *out, size_t set, size_t rows,
                                       pcal_error *err) {
  out->rows[set] = rows;
  out->features[set] =
      pc_alloc(out->env, rows * out->feature_count, sizeof *out->features[set]);
  out->labels[set] = pc_alloc(out->env, rows, sizeof *out->labels[set]);
  return out->features[set] == NULL || out->labels[set] == NULL
             ? pc_fail_memory(err, "reading features")
             : PCAL_OK;
}

/* ---- Origins ---- */

/* Labels cycle through the classes; a row is the mean of its class plus standard normal noise. */
static pcal_status training_rows_draw(const pc_gaussian_mixture *mixture, pc_training_rows *out,
                                      pcal_error *err) {
  const size_t d = mixture->feature_count;
  const pc_rng means = {out->env->seed, TRAINING_ROWS_STREAM + TRAINING_ROWS_MEANS};
  out->feature_count = d;
  out->classes = mixture->classes;
  for (size_t set = 0; set < 2; set++) {
    const pc_rng noise = {out->env->seed, TRAINING_ROWS_STREAM + TRAINING_ROWS_NOISE + set};
    PC_TRY(training_rows_alloc(out, set, mixture->rows, err));
    for (size_t i = 0; i < mixture->rows; i++) {
      const size_t label = i % mixture->classes;
      out->labels[set][i] = (int32_t)label;
      for (size_t j = 0; j < d; j++)
        out->features[set][i * d + j] = mixture->spread * pc_rng_normal(&means, label * d + j) +
                                        pc_rng_normal(&noise, i * d + j);
    }
  }
  return PCAL_OK;
}

static void training_rows_copy(const pc_study_scores *from, size_t row, pc_training_rows *out,
                               size_t set, size_t to) {
  const size_t d = out->feature_count;
  memcpy(out->features[set] + to * d, from->scores + row * d, d * sizeof(double));
  out->labels[set][to] = from->labels[row];
}

static pcal_status training_rows_all(const pc_study_scores *from, pc_training_rows *out,
                                     size_t set, pcal_error *err) {
  PC_TRY(training_rows_alloc(out, set, from->rows, err));
  for (size_t i = 0; i < from->rows; i++)
    training_rows_copy(from, i, out, set, i);
  return PCAL_OK;
}

/* Draws half of the rows for each set. */
static pcal_status training_rows_split(const pc_study_scores *from, pc_training_rows *out,
                                       pcal_error *err) {
  const pc_folds folds = {out->env->seed, 2, 0};
  size_t used[2] = {0, 0};
  for (size_t i = 0; i < from->rows; i++)
    used[pc_fold_of(&folds, i)]++;
  if (used[0] == 0 || used[1] == 0)
    return pc_fail(err, PCAL_DATA,
                   "the rows are too few to be divided into two halves; give more, or a second "
                   "set");
  for (size_t set = 0; set < 2; set++)
    PC_TRY(training_rows_alloc(out, set, used[set], err));
  used[0] = used[1] = 0;
  for (size_t i = 0; i < from->rows; i++) {
    const size_t set = pc_fold_of(&folds, i);
    training_rows_copy(from, i, out, set, used[set]++);
  }
  return PCAL_OK;
}

/* Leaves out rows with a missing score or label. */
static void training_rows_skip(pc_study_scores *scores) {
  const size_t d = scores->columns;
  size_t kept = 0;
  for (size_t i = 0; i < scores->rows; i++) {
    const double *row = scores->scores + i * d;
    int missing = scores->labels[i] == PCAL_MISSING_LABEL;
    for (size_t j = 0; j < d; j++)
      missing |= isnan(row[j]);
    if (missing)
      continue;
    memmove(scores->scores + kept * d, row, d * sizeof *row);
    scores->labels[kept++] = scores->labels[i];
  }
  scores->rows = kept;
}

static pcal_status training_rows_logits(const pc_study_job *job, pcal_source *source,
                                        pc_study_scores *out, pcal_error *err) {
  PC_TRY(pc_study_scores_read(job, source, out, err));
  const int as_they_are = out->kind == PCAL_LOGIT;
  PC_TRY(pc_study_scores_logits(job, out, err));
  training_rows_skip(out);
  for (size_t i = 0; !as_they_are && i < out->rows * out->columns; i++)
    out->scores[i] = fmin(fmax(out->scores[i], -TRAINING_ROWS_LOGIT), TRAINING_ROWS_LOGIT);
  pc_assert(out->rows > 0); /* rows are measured before */
  return PCAL_OK;
}

static pcal_status training_rows_model(const pc_study_job *job, pc_training_rows *out,
                                       pc_study_scores sets[2], pcal_error *err) {
  const pcal_model *model = NULL;
  PC_TRY(pc_study_single_model(job, &model, err));
  PC_TRY(training_rows_logits(job, model->source, &sets[1], err));
  out->feature_count = sets[1].columns;
  out->classes = sets[1].columns == 1 ? 2 : sets[1].columns;
  if (model->val == NULL)
    return training_rows_split(&sets[1], out, err);
  PC_TRY(training_rows_logits(job, model->val, &sets[0], err));
  if (sets[0].columns != sets[1].columns)
    return pc_fail(err, PCAL_USAGE,
                   "the second set has %zu columns and the first %zu; give scores of the same "
                   "classes",
                   sets[0].columns, sets[1].columns);
  for (size_t set = 0; set < 2; set++)
    PC_TRY(training_rows_all(&sets[set], out, set, err));
  return PCAL_OK;
}

/* ---- Features ---- */

static pcal_status training_rows_target(const pc_study_job *job, const pcal_batch *batch,
                                        size_t row, int32_t *out, pcal_error *err) {
  const double target = batch->targets[row];
  char number[PC_NUMBER_MAX];
  if (!(target >= 0 && target < TRAINING_ROWS_CLASSES && target == floor(target)))
    return pc_fail_row(
        err, PCAL_DATA, batch->first_row + row,
        "study %s: the target of row %zu is %s; classes are whole numbers from 0 to below %d",
        job->options->name, (size_t)batch->first_row + row, pc_show(target, number),
        TRAINING_ROWS_CLASSES);
  *out = (int32_t)target;
  return PCAL_OK;
}

static pcal_status training_rows_window(const pc_study_job *job, const pcal_batch *batch,
                                        pc_study_scores *out, size_t room[2], pcal_error *err) {
  PC_TRY(pc_study_scores_reserve(out, out->rows + batch->rows, room, err));
  pcal_status status = PCAL_OK;
  for (size_t i = 0; status == PCAL_OK && i < batch->rows; i++) {
    pc_batch_row(batch, i, out->scores + (out->rows + i) * out->columns);
    status = training_rows_target(job, batch, i, &out->labels[out->rows + i], err);
  }
  if (status == PCAL_OK)
    out->rows += batch->rows;
  return status;
}

static pcal_status training_rows_features(const pc_study_job *job, pc_training_rows *out,
                                          pc_study_scores *all, pcal_error *err) {
  pcal_source *source = job->config->features;
  pcal_shape shape = {.size = sizeof shape};
  size_t room[2] = {0, 0};
  pc_source_shape(source, &shape);
  if (!shape.labelled || pc_kind_form(shape.kind) == PC_FORM_CLASSES)
    return pc_fail(err, PCAL_USAGE, "study %s learns classes from features; give {target}",
                   job->options->name);
  *all = (pc_study_scores){.env = job->memory, .columns = shape.columns};
  PC_TRY(pc_source_rewind(source, err));
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, TRAINING_ROWS_WINDOW, &batch, err));
    if (batch.rows == 0)
      break;
    PC_TRY(training_rows_window(job, &batch, all, room, err));
  }
  out->feature_count = all->columns;
  for (size_t i = 0; i < all->rows; i++)
    out->classes =
        (size_t)all->labels[i] + 1 > out->classes ? (size_t)all->labels[i] + 1 : out->classes;
  return all->rows == 0 ? pc_fail(err, PCAL_DATA, "there is no row to study")
                        : training_rows_split(all, out, err);
}

/* ---- Standardising ---- */

static pcal_status training_rows_finite(const pc_study_job *job, const pc_training_rows *rows,
                                        pcal_error *err) {
  for (size_t set = 0; set < 2; set++)
    for (size_t i = 0; i < rows->rows[set] * rows->feature_count; i++)
      if (!isfinite(rows->features[set][i]))
        return pc_fail(err, PCAL_DATA,
                       "study %s: a feature is missing or infinite; leave such rows out",
                       job->options->name);
  return PCAL_OK;
}

static void training_rows_scale(pc_training_rows *rows, size_t feature) {
  const size_t d = rows->feature_count;
  const double n = (double)rows->rows[0];
  double mean = 0, square = 0;
  for (size_t i = 0; i < rows->rows[0]; i++)
    mean += rows->features[0][i * d + feature] / n;
  for (size_t i = 0; i < rows->rows[0]; i++) {
    const double gap = rows->features[0][i * d + feature] - mean;
    square += gap * gap / n;
  }
  const double factor = square > 0 ? 1 / sqrt(square) : 0;
  for (size_t set = 0; set < 2; set++)
    for (size_t i = 0; i < rows->rows[set]; i++) {
      double *x = &rows->features[set][i * d + feature];
      *x = factor > 0 && isfinite(factor) ? (*x - mean) * factor : 0;
    }
}

pcal_status pc_training_rows_get(const pc_study_job *job, const pc_gaussian_mixture *mixture,
                                 pc_training_rows *out, pcal_error *err) {
  pc_study_scores sets[2];
  pcal_status status;
  memset(sets, 0, sizeof sets);
  *out = (pc_training_rows){.env = job->memory};
  if (job->config->features != NULL)
    status = training_rows_features(job, out, &sets[0], err);
  else if (job->config->model_count > 0)
    status = training_rows_model(job, out, sets, err);
  else
    status = training_rows_draw(mixture, out, err);
  if (status == PCAL_OK)
    status = training_rows_finite(job, out, err);
  for (size_t j = 0; status == PCAL_OK && j < out->feature_count; j++)
    training_rows_scale(out, j);
  if (status == PCAL_OK && out->classes < 2)
    status = pc_fail(err, PCAL_DATA, "study %s needs at least two classes", job->options->name);
  return status;
}
