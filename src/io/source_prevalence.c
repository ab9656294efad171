/* Weights by class, as if the classes had given prevalences.
 *
 * Formula:  w_i' = w_i prevalence_k W / W_k for a row of class k, W_k the weight of the rows of
 *           class k, W of all rows.
 * Edge cases:
 *   1. One number for two classes is the prevalence of class 1.
 *   2. A class without rows must have prevalence 0; a class of prevalence 0 gets the weight 0.
 *   3. Rows with a missing label or score, or an invalid weight, count for no class: whoever reads
 *      them skips or refuses them.
 *   4. Parts of a data set have other shares, so that states and rounds refuse prevalences.
 * Cost: one more pass over the labels when the source is opened. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/sum.h"
#include "io/source_state.h"

#define SOURCE_PREVALENCE_ROWS ((size_t)1 << 16)
#define SOURCE_PREVALENCE_SUM 1e-6

static int source_prevalence_counts(const pcal_source *source, int32_t label) {
  return label >= 0 && (size_t)label < source->factor_count;
}

/* Adds the weight of each class in the whole source. */
static pcal_status source_prevalence_count(pcal_source *source, pc_sum *sums, pcal_error *err) {
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, SOURCE_PREVALENCE_ROWS, &batch, err));
    if (batch.rows == 0)
      return pc_source_rewind(source, err);
    for (size_t i = 0; i < batch.rows; i++) {
      const double weight = batch.weights == NULL ? 1.0 : batch.weights[i];
      if (source_prevalence_counts(source, batch.labels[i]) && weight >= 0.0 &&
          isfinite(weight) && !pc_source_row_is_missing(&batch, i))
        pc_sum_add(&sums[batch.labels[i]], weight);
    }
    PC_TRY(pc_check_interrupt(&source->env, err));
  }
}

/* Checks the given prevalences and copies one for each class to out. */
static pcal_status source_prevalence_check(const pcal_source *source, const double *given,
                                           size_t count, double *out, pcal_error *err) {
  const size_t classes = source->factor_count;
  double sum = 0.0;
  if (count == 1 && classes == 2) {
    out[0] = 1.0 - given[0];
    out[1] = given[0];
  } else if (count == classes)
    memcpy(out, given, classes * sizeof *out);
  else
    return pc_fail(err, PCAL_USAGE,
                   "{prevalence} has %zu number%s for %zu classes; give one for each class",
                   count, count == 1 ? "" : "s", classes);
  for (size_t k = 0; k < classes; k++) {
    if (!(out[k] >= 0.0 && out[k] <= 1.0))
      return pc_fail(err, PCAL_USAGE, "{prevalence} has numbers from 0 to 1, not %s",
                     pc_show(out[k], (char[PC_NUMBER_MAX]){0}));
    sum += out[k];
  }
  if (!(fabs(sum - 1.0) <= SOURCE_PREVALENCE_SUM))
    return pc_fail(err, PCAL_USAGE, "{prevalence} sums to %s; it must sum to 1",
                   pc_show(sum, (char[PC_NUMBER_MAX]){0}));
  for (size_t k = 0; k < classes; k++)
    out[k] /= sum;
  return PCAL_OK;
}

static pcal_status source_prevalence_factors(pcal_source *source, const pc_sum *sums,
                                             double *factors, pcal_error *err) {
  pc_sum all;
  pc_sum_clear(&all);
  for (size_t k = 0; k < source->factor_count; k++)
    pc_sum_merge(&all, &sums[k]);
  const double total = pc_sum_value(&all);
  for (size_t k = 0; k < source->factor_count; k++) {
    const double weight = pc_sum_value(&sums[k]);
    if (weight == 0.0 && factors[k] > 0.0)
      return pc_fail(err, PCAL_DATA,
                     "{prevalence} is %s for class %zu, which no row has; give 0 for it",
                     pc_show(factors[k], (char[PC_NUMBER_MAX]){0}), k);
    factors[k] = weight > 0.0 ? factors[k] * (total / weight) : 0.0;
  }
  return PCAL_OK;
}

pcal_status pc_source_set_prevalence(pcal_source *source, const double *given, size_t count,
                                     pcal_error *err) {
  const int classes =
      (!pc_source_regression(source) || source->event.used) && source->kind != PCAL_CONFIDENCE;
  if (count == 0)
    return PCAL_OK;
  if (!classes || !pc_source_has(&source->label_cells))
    return pc_fail(err, PCAL_USAGE, "{prevalence} needs scores of classes with {labels}");
  source->factor_count =
      source->scores.columns == 1 || source->event.used ? 2 : pc_source_class_columns(source);
  double *factors = pc_alloc(&source->env, source->factor_count, sizeof *factors);
  pc_sum *sums = pc_alloc(&source->env, source->factor_count, sizeof *sums);
  pcal_status status = factors != NULL && sums != NULL
                           ? source_prevalence_check(source, given, count, factors, err)
                           : pc_fail_memory(err, "opening the data");
  if (status == PCAL_OK)
    status = source_prevalence_count(source, sums, err);
  if (status == PCAL_OK)
    status = source_prevalence_factors(source, sums, factors, err);
  pc_free(&source->env, sums);
  source->class_factors = factors; /* freed with the source */
  source->weights_are = PCAL_WEIGHTS_IMPORTANCE;
  return status;
}

pcal_status pc_source_check_parts(const pcal_source *source, pcal_error *err) {
  if (pc_source_has(&source->abstain.cells))
    return pc_fail(
        err, PCAL_USAGE,
        "{abstain} needs all rows at once; set the confidence and outcome of these rows to "
        "0 instead");
  return source->class_factors == NULL
             ? PCAL_OK
             : pc_fail(err, PCAL_USAGE,
                       "{prevalence} needs all rows at once; give {weights} by class instead");
}

pcal_status pc_source_weigh_classes(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  void *weights = source->class_weights;
  const pcal_status status = pc_reserve(&source->env, &weights, &source->class_weights_capacity,
                                        batch->rows, sizeof(double), err);
  source->class_weights = weights;
  PC_TRY(status);
  for (size_t i = 0; i < batch->rows; i++) {
    const double weight = batch->weights == NULL ? 1.0 : batch->weights[i];
    const int32_t label = batch->labels[i];
    source->class_weights[i] = source_prevalence_counts(source, label)
                                   ? weight * source->class_factors[label]
                                   : weight;
  }
  batch->weights = source->class_weights;
  return PCAL_OK;
}
