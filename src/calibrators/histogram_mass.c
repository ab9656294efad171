/* Tables of equal mass.
 *
 * The scores of a range of columns are kept, sorted and cut; then comes the next range.  A
 * range is as many columns as fit HISTOGRAM_MASS_BYTES, or half of the memory limit.  Pooled
 * tables need all columns at once. */
#include <string.h>

#include "calibrators/histogram.h"
#include "calibrators/sweep.h"
#include "core/executor.h"
#include "machines/machine.h"
#include "stats/bins.h"

#define HISTOGRAM_MASS_BYTES ((uint64_t)256 << 20)
#define HISTOGRAM_MASS_BESIDE 2 /* label and weight stand before the scores of a row */

typedef struct histogram_mass_kept {
  double *rows;
  size_t count, capacity;
} histogram_mass_kept;

typedef struct histogram_mass {
  const pc_fit_task *task;
  pc_histogram *histogram;
  size_t first, range; /* columns */
  histogram_mass_kept *workers;
  size_t worker_count;
  uint64_t count; /* rows of all workers */
} histogram_mass;

static pcal_status histogram_mass_add(void *user, size_t worker, const pc_rows *rows,
                                      pcal_error *err) {
  const histogram_mass *mass = user;
  histogram_mass_kept *kept = &mass->workers[worker];
  const size_t width = mass->range + HISTOGRAM_MASS_BESIDE;
  void *block = kept->rows;
  const pcal_status status =
      pc_reserve(mass->task->env, &block, &kept->capacity, kept->count + rows->count,
                 width * sizeof *kept->rows, err);
  kept->rows = block;
  PC_TRY(status);
  for (size_t i = 0; i < rows->count; i++) {
    double *row = kept->rows + kept->count++ * width;
    const double *scores =
        pc_histogram_scores(mass->histogram, &mass->task->calibrator->layout, rows, i);
    row[0] = rows->labels[i];
    row[1] = rows->weights == NULL ? 1.0 : rows->weights[i];
    memcpy(row + HISTOGRAM_MASS_BESIDE, scores + mass->first, mass->range * sizeof *row);
  }
  return PCAL_OK;
}

/* Scores of columns [begin, end) of the range, misses from the front, hits from the back. */
static size_t histogram_mass_gather(const histogram_mass *mass, size_t begin, size_t end,
                                    double *score, double *weight) {
  const size_t width = mass->range + HISTOGRAM_MASS_BESIDE;
  size_t misses = 0, hits = (size_t)mass->count * (end - begin);
  for (size_t w = 0; w < mass->worker_count; w++)
    for (size_t i = 0; i < mass->workers[w].count; i++) {
      const double *row = mass->workers[w].rows + i * width;
      for (size_t c = begin; c < end; c++) {
        const int hit = row[0] == pc_histogram_hit(mass->histogram, mass->first + c);
        const size_t at = hit ? --hits : misses++;
        score[at] = row[HISTOGRAM_MASS_BESIDE + c];
        weight[at] = row[1];
      }
    }
  return misses;
}

static pcal_status histogram_mass_cut(const histogram_mass *mass, size_t t,
                                      const pc_curve_table *sorted, pcal_error *err) {
  const pcal_env *env = mass->task->env;
  pc_histogram *histogram = mass->histogram;
  pc_histogram_table *table = &histogram->tables[t];
  pc_bin *bins = pc_alloc(env, histogram->bins, sizeof *bins);
  if (bins == NULL)
    return pc_fail_memory(err, "making equal-mass bins");
  const pcal_status status =
      pc_bins_by_mass(env, sorted, histogram->bins, bins, &table->count, err);
  for (size_t b = 0; status == PCAL_OK && b + 1 < table->count; b++)
    table->edges[b] = bins[b].high;
  for (size_t b = 0; status == PCAL_OK && b < table->count; b++)
    pc_histogram_set(histogram, t, b, bins[b].weight, bins[b].hits);
  pc_free(env, bins);
  return status;
}

static pcal_status histogram_mass_table(const histogram_mass *mass, size_t t, size_t begin,
                                        size_t end, pcal_error *err) {
  const pcal_env *env = mass->task->env;
  const size_t count = (size_t)mass->count * (end - begin);
  double *score = pc_alloc_raw(env, count, sizeof *score);
  double *weight = pc_alloc_raw(env, count, sizeof *weight);
  pc_curve_table sorted = {0};
  pcal_status status = PCAL_OK;
  if (score == NULL || weight == NULL) {
    status = pc_fail_memory(err, "sorting scores");
  } else {
    const size_t misses = histogram_mass_gather(mass, begin, end, score, weight);
    const pc_outcome_column missed = {score, weight, misses};
    const pc_outcome_column hit = {score + misses, weight + misses, count - misses};
    status = pc_curve_table_new(env, &missed, &hit, &sorted, err);
  }
  pc_free(env, score);
  pc_free(env, weight);
  if (status == PCAL_OK)
    status = histogram_mass_cut(mass, t, &sorted, err);
  pc_curve_table_free(env, &sorted);
  return status;
}

static pcal_status histogram_mass_range(histogram_mass *mass, pcal_error *err) {
  const pc_policy policy = {0};
  for (size_t w = 0; w < mass->worker_count; w++)
    mass->workers[w].count = 0;
  PC_TRY(pc_sweep(mass->task, &policy, histogram_mass_add, mass, err));
  mass->count = mass->task->calibrator->fit.rows;
  if (mass->histogram->table_count == 1)
    return histogram_mass_table(mass, 0, 0, mass->range, err);
  for (size_t c = 0; c < mass->range; c++)
    PC_TRY(histogram_mass_table(mass, mass->first + c, c, c + 1, err));
  return PCAL_OK;
}

static pcal_status histogram_mass_nothing(void *user, size_t worker, const pc_rows *rows,
                                          pcal_error *err) {
  (void)user;
  (void)worker;
  (void)rows;
  (void)err;
  return PCAL_OK;
}

/* How many columns to keep at a time, by a first pass that counts the rows. */
static pcal_status histogram_mass_plan(histogram_mass *mass, size_t *range, pcal_error *err) {
  const pc_policy policy = {.lean = 1};
  const pcal_env *env = mass->task->env;
  *range = mass->histogram->columns;
  if (*range > 1 || env->memory_limit != 0)
    PC_TRY(pc_sweep(mass->task, &policy, histogram_mass_nothing, NULL, err));
  const uint64_t limit = env->memory_limit == 0 ? HISTOGRAM_MASS_BYTES : env->memory_limit / 2;
  const uint64_t column = mass->task->calibrator->fit.rows * sizeof(double);
  const uint64_t fitting = column == 0 ? *range : limit / column;
  if (mass->histogram->table_count == 1)
    return pc_check_limit(env, (size_t)column * (*range + HISTOGRAM_MASS_BESIDE),
                          "use binning=width", err);
  if (fitting < *range)
    *range = fitting < HISTOGRAM_MASS_BESIDE + 1 ? 1 : (size_t)fitting - HISTOGRAM_MASS_BESIDE;
  return pc_check_limit(env, (size_t)column * (*range + HISTOGRAM_MASS_BESIDE),
                        "use binning=width", err);
}

pcal_status pc_histogram_fit_mass(const pc_fit_task *task, pc_histogram *histogram,
                                  pcal_error *err) {
  const pcal_env *env = task->env;
  histogram_mass mass = {.task = task, .histogram = histogram};
  size_t range = 0;
  PC_TRY(histogram_mass_plan(&mass, &range, err));
  mass.worker_count = pc_worker_count(env);
  mass.workers = pc_alloc(env, mass.worker_count, sizeof *mass.workers);
  if (mass.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  mass.range = range;
  pcal_status status = PCAL_OK;
  for (mass.first = 0; mass.first < histogram->columns && status == PCAL_OK;
       mass.first += range) {
    const size_t left = histogram->columns - mass.first;
    mass.range = left < range ? left : range;
    for (size_t w = 0; w < mass.worker_count; w++) {
      pc_free(env, mass.workers[w].rows);
      mass.workers[w] = (histogram_mass_kept){NULL, 0, 0};
    }
    status = histogram_mass_range(&mass, err);
  }
  for (size_t w = 0; w < mass.worker_count; w++)
    pc_free(env, mass.workers[w].rows);
  pc_free(env, mass.workers);
  return status;
}
