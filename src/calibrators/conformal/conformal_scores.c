/* Edge cases:
 *   1. coverage (W + 1) is rounded up to a whole rank, after subtracting 1e-9 of it, so that
 *      0.9 * 10 is 9.
 *   2. Equal scores are one: the order of rows does not matter.
 *   3. Whole weights count rows, and the further row counts 1.  If a weight is not whole, they are
 *      importance weights, and the further row has the largest of them (Tibshirani, Barber,
 *      Candes & Ramdas 2019, with a bound in place of its unknown weight); no rank is rounded.
 * Cost: a sort; memory 16 N bytes. */
#include "calibrators/conformal/conformal_scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/executor.h"
#include "base/number.h"
#include "base/sum.h"
#include "calibrators/parameter_lists.h"

#define CONFORMAL_SLACK 1e-9

typedef struct conformal_entry {
  double score, weight;
} conformal_entry;

typedef struct conformal_part {
  void *entries;
  size_t count, capacity;
} conformal_part;

typedef struct conformal_work {
  const pc_fit_task *task;
  pc_conformal_score score;
  conformal_part *parts; /* of each worker */
} conformal_work;

static pcal_status conformal_add(void *user, size_t worker, const pc_rows *rows,
                                 pcal_error *err) {
  const conformal_work *work = user;
  conformal_part *part = &work->parts[worker];
  PC_TRY(pc_reserve(work->task->env, &part->entries, &part->capacity, part->count + rows->count,
                    sizeof(conformal_entry), err));
  conformal_entry *entries = part->entries;
  for (size_t i = 0; i < rows->count; i++) /* -0.0 becomes 0.0 */
    entries[part->count++] =
        (conformal_entry){work->score(work->task->calibrator, rows, i) + 0.0,
                          rows->weights == NULL ? 1.0 : rows->weights[i]};
  return PCAL_OK;
}

static int conformal_order(const void *a, const void *b) {
  const conformal_entry *x = a, *y = b;
  return (x->score > y->score) - (x->score < y->score);
}

/* The entries of all workers, ascending; part 0 holds them afterwards. */
static pcal_status conformal_join(const pcal_env *env, conformal_part *parts, size_t workers,
                                  pcal_error *err) {
  size_t total = 0;
  for (size_t w = 0; w < workers; w++)
    total += parts[w].count;
  PC_TRY(pc_reserve(env, &parts[0].entries, &parts[0].capacity, total, sizeof(conformal_entry),
                    err));
  conformal_entry *entries = parts[0].entries;
  for (size_t w = 1; w < workers; w++) {
    if (parts[w].count > 0)
      memcpy(entries + parts[0].count, parts[w].entries, parts[w].count * sizeof *entries);
    parts[0].count += parts[w].count;
  }
  qsort(entries, total, sizeof *entries, conformal_order);
  return PCAL_OK;
}

/* The score of a rank, counted from 1; sums of weights are exact. */
static double conformal_at(const conformal_part *all, double rank) {
  const conformal_entry *entries = all->entries;
  pc_sum upto;
  pc_sum_clear(&upto);
  for (size_t i = 0; i < all->count; i++) {
    pc_sum_add(&upto, entries[i].weight);
    if (pc_sum_value(&upto) >= rank)
      return entries[i].score;
  }
  return entries[all->count - 1].score;
}

/* The cumulative weight that the threshold must reach: edge cases 1 and 3. */
static double conformal_rank(const conformal_part *all, double weight, double coverage) {
  const conformal_entry *entries = all->entries;
  double largest = 0.0;
  int whole = 1;
  for (size_t i = 0; i < all->count; i++) {
    largest = fmax(largest, entries[i].weight);
    whole &= entries[i].weight == floor(entries[i].weight);
  }
  const double wanted = coverage * (weight + (whole ? 1.0 : largest));
  return whole ? ceil(wanted - CONFORMAL_SLACK * wanted) : wanted - CONFORMAL_SLACK * wanted;
}

pcal_status pc_conformal_threshold(const pc_fit_task *task, pc_conformal_score score,
                                   double coverage, double *out, pcal_error *err) {
  const pc_row_policy policy = {.probs = PC_PROBS_FILLED};
  const size_t workers = pc_worker_count(task->env);
  conformal_work work = {task, score, pc_alloc(task->env, workers, sizeof *work.parts)};
  if (work.parts == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(task, &policy, conformal_add, NULL, &work, err));
  PC_TRY(conformal_join(task->env, work.parts, workers, err));
  const double weight = task->calibrator->fit.weight;
  const double rank = conformal_rank(&work.parts[0], weight, coverage);
  if (rank > weight)
    return pc_fail(
        err, PCAL_USAGE,
        "%llu rows are too few for a coverage of %s; give at least %s, or ask for "
        "less",
        (unsigned long long)task->calibrator->fit.rows,
        pc_show(coverage, (char[PC_NUMBER_MAX]){0}),
        pc_show(ceil(coverage / (1.0 - coverage) - CONFORMAL_SLACK), (char[PC_NUMBER_MAX]){0}));
  *out = conformal_at(&work.parts[0], rank);
  task->calibrator->fit.status = PC_FIT_CLOSED_FORM;
  task->calibrator->fit.iterations = 1;
  for (size_t w = 0; w < workers; w++)
    pc_free(task->env, work.parts[w].entries);
  return PCAL_OK;
}

pcal_status pc_conformal_read_number(const pc_json_node *parameters, const char *name,
                                     double *out, const char *file, pcal_error *err) {
  const pc_json_node *node = pc_json_find(parameters, name);
  if (node->kind != PC_JSON_NUMBER || !isfinite(node->number))
    return pc_parameter_error(node, file, "a threshold must be a number", err);
  *out = node->number;
  return PCAL_OK;
}

pcal_status pc_conformal_read_threshold(pcal_calibrator *calibrator,
                                        const pc_json_node *parameters, const char *file,
                                        pcal_error *err) {
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("threshold"), file, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(double), err));
  double *threshold = calibrator->parameters;
  PC_TRY(pc_conformal_read_number(parameters, "threshold", threshold, file, err));
  return *threshold >= 0.0 ? PCAL_OK
                           : pc_parameter_error(pc_json_find(parameters, "threshold"), file,
                                                "a threshold must not be negative", err);
}
