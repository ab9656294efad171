/* ece-bias: how far is the ECE from the truth, and does Proposition 3.3 say how far?
 *
 * Design:   a pool of simulated rows (simulate/simulate.c) whose labels are drawn from known
 *           probabilities; models are these rows with logits times a factor: 1 is calibrated, 1.5
 *           mediocre, 2.5 bad.  The ECE of each on random subsets (size_sweep.c) is compared with
 * Formula:  mu(n) = sum_b p_b E|normal(gap_b, v_b / (n p_b))|
 *           v_b = var conf_b + acc_b (1 - acc_b)
 *           truth = sum_b p_b |gap_b|,  gap_b = conf_b - acc_b
 *           where acc_b is the mean true probability of the predicted classes in bin b, so that
 *           neither uses labels
 *           expected = the mean of ECE(n) over samples (ece_mean.c), without the approximations
 *           that make mu larger
 * Edge cases:
 *   (1) standard errors assume independent subsets; the pool is ten times as large as the largest
 *       subset, so this holds for small subsets.  Large subsets share rows, and their mean differs
 *       from `expected` by the labels drawn for this pool: at a tenth of the pool by a few per
 *       cent for a calibrated model;
 *   (2) the largest size has as many subsets as the size before it;
 *   (3) truth is the limit of this ECE, whose bins hide differences inside them;
 *   (4) mu uses n p_b as the number of rows of a bin, even where that is less than one.
 * Source:   Gruber & Buettner 2022, Figure 2, Proposition 3.3, appendices D.5 and G.1.
 * Cost:     K^2 for each row of the pool, plus the subsets. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "kernels/softmax.h"
#include "simulate/simulate.h"
#include "stats/expected_ece.h"
#include "studies/ece_mean.h"
#include "studies/size_sweep.h"

enum { ECE_BIAS_BINS, ECE_BIAS_POOL };

#define ECE_BIAS_LARGEST 10000
#define ECE_BIAS_LARGEST_EVER 1000000
#define ECE_BIAS_CLASSES 100
#define ECE_BIAS_CHUNK_SCORES 1000000
#define ECE_BIAS_MODELS 16

static const pcal_option ece_bias_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 1000, NULL, "bins of the ECE, of equal width"},
    {"pool", PCAL_OPTION_INT, "10", 1, 1000, NULL,
     "simulated rows, in multiples of the largest subset"},
};

static const double ece_bias_factors[] = {1.0, 1.5, 2.5};

typedef struct ece_bias_pool {
  const pc_study_job *job;
  pcal_simulation simulation; /* of all rows */
  pc_sizes sizes;
  const double *factors;
  size_t model_count;
  size_t rows;
  double *confidence[ECE_BIAS_MODELS]; /* of each model */
  double *truth;                       /* probability that the predicted class is right */
  int32_t *hit;
  float *logits; /* of a chunk */
  double *probs;
  int32_t *labels;
  pc_bin *bins; /* model by model, of all rows, with true probabilities as hits */
  pc_partition cells;
} ece_bias_pool;

/* ---- the pool ---- */

static size_t ece_bias_chunk(const ece_bias_pool *pool) {
  const size_t classes = pool->simulation.classes,
               blocks = ECE_BIAS_CHUNK_SCORES / classes / classes;
  return (blocks > 0 ? blocks : 1) * classes;
}

static pcal_status ece_bias_alloc(ece_bias_pool *pool, size_t bins, pcal_error *err) {
  const pcal_env *env = pool->job->memory;
  const size_t chunk = ece_bias_chunk(pool), scores = chunk * pool->simulation.classes;
  PC_TRY(pc_partition_new(env, PC_EDGES_RIGHT, bins, &pool->cells, err));
  pool->truth = pc_alloc_raw(env, pool->rows, sizeof *pool->truth);
  pool->hit = pc_alloc_raw(env, pool->rows, sizeof *pool->hit);
  pool->logits = pc_alloc_raw(env, scores, sizeof *pool->logits);
  pool->probs = pc_alloc_raw(env, scores, sizeof *pool->probs);
  pool->labels = pc_alloc_raw(env, chunk, sizeof *pool->labels);
  pool->bins = pc_alloc(env, pool->model_count * bins, sizeof *pool->bins);
  int enough = pool->truth != NULL && pool->hit != NULL && pool->logits != NULL &&
               pool->probs != NULL && pool->labels != NULL && pool->bins != NULL;
  for (size_t m = 0; m < pool->model_count; m++) {
    pool->confidence[m] = pc_alloc_raw(env, pool->rows, sizeof(double));
    enough = enough && pool->confidence[m] != NULL;
  }
  return enough ? PCAL_OK : pc_fail_memory(err, "simulating a pool of rows");
}

static void ece_bias_count(ece_bias_pool *pool, size_t model, double confidence, double truth) {
  const size_t bins = pool->cells.bin_count;
  pc_bin *bin = &pool->bins[model * bins + pc_partition_find(&pool->cells, confidence)];
  bin->weight += 1.0;
  bin->hits += truth;
  bin->score += confidence;
  bin->score_square += confidence * confidence;
}

/* A row whose logits and true probabilities are known. */
static void ece_bias_row(ece_bias_pool *pool, size_t row, const float *logits, double *probs,
                         int32_t label) {
  const size_t classes = pool->simulation.classes;
  size_t top = 0;
  for (size_t k = 1; k < classes; k++)
    top = probs[k] > probs[top] ? k : top;
  pool->truth[row] = probs[top];
  pool->hit[row] = label == (int32_t)top;
  for (size_t m = 0; m < pool->model_count; m++) {
    for (size_t k = 0; k < classes; k++)
      probs[k] = pool->factors[m] * (double)logits[k];
    pc_softmax_row(probs, classes, probs);
    pool->confidence[m][row] = probs[top];
    ece_bias_count(pool, m, probs[top], pool->truth[row]);
  }
}

static pcal_status ece_bias_simulate(ece_bias_pool *pool, pcal_error *err) {
  const pcal_env *env = pool->job->env;
  const size_t classes = pool->simulation.classes, step = ece_bias_chunk(pool);
  for (size_t begin = 0; begin < pool->rows; begin += step) {
    pcal_simulation some = pool->simulation;
    some.first_row = begin;
    some.rows = pool->rows - begin < step ? pool->rows - begin : step;
    PC_TRY(pc_simulate(&some, env, pool->logits, pool->labels, pool->probs, err));
    for (size_t i = 0; i < some.rows; i++)
      ece_bias_row(pool, begin + i, pool->logits + i * classes, pool->probs + i * classes,
                   pool->labels[i]);
    pc_progress(env, "simulating", begin, pool->rows);
    PC_TRY(pc_check_interrupt(env, err));
  }
  return PCAL_OK;
}

/* ---- findings ---- */

/* mu(n), from the bins of the pool scaled to n rows. */
static double ece_bias_expected(const ece_bias_pool *pool, size_t model, size_t rows,
                                pc_bin *space) {
  const size_t bins = pool->cells.bin_count;
  const double share = (double)rows / (double)pool->rows;
  for (size_t b = 0; b < bins; b++) {
    const pc_bin *bin = &pool->bins[model * bins + b];
    space[b] = (pc_bin){.weight = share * bin->weight,
                        .hits = share * bin->hits,
                        .score = share * bin->score,
                        .score_square = share * bin->score_square};
  }
  return pc_expected_ece_of(space, bins, (double)rows).mean;
}

static double ece_bias_truth(const ece_bias_pool *pool, size_t model) {
  const size_t bins = pool->cells.bin_count;
  return pc_bins_error(pool->bins + model * bins, bins, (double)pool->rows, PC_NORM_L1, 0);
}

/* The mean over samples, without the approximations of mu. */
static double ece_bias_mean(const ece_bias_pool *pool, size_t model, size_t rows) {
  const size_t bins = pool->cells.bin_count;
  return pc_ece_mean(pool->bins + model * bins, bins, (double)pool->rows, rows);
}

static double ece_bias_accuracy(const ece_bias_pool *pool) {
  double sum = 0.0;
  for (size_t i = 0; i < pool->rows; i++)
    sum += pool->truth[i];
  return sum / (double)pool->rows;
}

static void ece_bias_summarise(const pc_size_sweep *plan, const ece_bias_pool *pool,
                               pc_bin *space, pc_findings *findings) {
  char text[5][PC_NUMBER_MAX];
  pc_number_round(ece_bias_accuracy(pool), 3, text[0]);
  pc_findings_add_sentence(
      findings,
      "ECE of models of %zu simulated rows, %zu classes and accuracy %s, on random "
      "subsets of the rows: its mean and standard error over subsets; mu, the "
      "approximate mean of Proposition 3.3; truth, the limit for many rows; and "
      "expected, the mean over samples with binomial bin counts and hits.",
      pool->rows, pool->simulation.classes, text[0]);
  for (size_t m = 0; m < plan->case_count; m++) {
    pc_number_round(pc_size_value_at(&plan->cases[m], 0, 0)->mean, 3, text[0]);
    pc_number_round(ece_bias_expected(pool, m, pool->sizes.rows[0], space), 3, text[1]);
    pc_number_fixed(ece_bias_truth(pool, m), 4, text[2]);
    pc_number_round(ece_bias_mean(pool, m, pool->sizes.rows[0]), 3, text[4]);
    pc_findings_add_sentence(findings,
                             "Factor %s at %zu rows: %s, expected %s, mu %s, truth %s.",
                             pc_show(pool->factors[m], text[3]), pool->sizes.rows[0], text[0],
                             text[4], text[1], text[2]);
  }
}

static pcal_status ece_bias_report(const pc_size_sweep *plan, pc_findings *findings,
                                   pcal_error *err) {
  static const char *const columns[] = {"factor",         "rows", "subsets", "mean",
                                        "standard_error", "mu",   "truth",   "expected"};
  const ece_bias_pool *pool = plan->user;
  const pcal_env *env = pool->job->env;
  pc_table *table = pc_findings_add_table(findings, "");
  pc_bin *space = pc_alloc(env, pool->cells.bin_count, sizeof *space);
  pcal_status status = space == NULL ? pc_fail_memory(err, "studying bins") : PCAL_OK;
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t i = 0; status == PCAL_OK && i < plan->case_count * pool->sizes.count; i++) {
    const size_t model = i / pool->sizes.count, size = i % pool->sizes.count;
    const pc_size_value *value = pc_size_value_at(&plan->cases[model], 0, size);
    const double numbers[] = {pool->factors[model],
                              (double)pool->sizes.rows[size],
                              (double)pool->sizes.repeats[size],
                              value->mean,
                              value->error,
                              ece_bias_expected(pool, model, pool->sizes.rows[size], space),
                              ece_bias_truth(pool, model),
                              ece_bias_mean(pool, model, pool->sizes.rows[size])};
    status = pc_table_add_row(table, err);
    for (size_t c = 0; status == PCAL_OK && c < sizeof numbers / sizeof *numbers; c++)
      pc_table_set_number(table, c, numbers[c]);
  }
  if (status == PCAL_OK)
    ece_bias_summarise(plan, pool, space, findings);
  pc_free(env, space);
  return status;
}

/* ---- the study ---- */

static pcal_status ece_bias_case(pc_size_sweep *plan, size_t index, pcal_error *err) {
  const ece_bias_pool *pool = plan->user;
  const pc_study_probs data = {.env = pool->job->env,
                               .layout = {.kind = PCAL_CONFIDENCE, .columns = 1, .classes = 1},
                               .rows = pool->rows,
                               .classes = 1,
                               .probs = pool->confidence[index],
                               .labels = pool->hit};
  pc_size_case *studied = &plan->cases[index];
  studied->data = &data;
  studied->sizes = pool->sizes;
  const pcal_status status = pc_size_sweep_measure(plan, studied, err);
  studied->data = NULL;
  return status;
}

/* Sizes, models and the number of rows. */
static pcal_status ece_bias_plan(ece_bias_pool *pool, pcal_error *err) {
  const pcal_study_config *config = pool->job->config;
  const size_t given = config->row_count_count;
  const size_t largest = given > 0 ? (size_t)config->row_counts[given - 1] : ECE_BIAS_LARGEST;
  pc_sizes *sizes = &pool->sizes;
  static const pcal_simulation own = {.rows = 1, .classes = ECE_BIAS_CLASSES, .factor = 1.0};
  pool->simulation = pc_study_simulation(config, &own);
  pool->simulation.factor = 1.0;
  pool->factors = config->factor_count > 0 ? config->factors : ece_bias_factors;
  pool->model_count = config->factor_count > 0
                          ? config->factor_count
                          : sizeof ece_bias_factors / sizeof *ece_bias_factors;
  if (pool->model_count > ECE_BIAS_MODELS)
    return pc_fail(err, PCAL_USAGE, "study ece-bias takes at most %d factors", ECE_BIAS_MODELS);
  for (size_t m = 0; m < pool->model_count; m++)
    if (!(pool->factors[m] > 0 && pool->factors[m] < 1e6))
      return pc_fail(err, PCAL_USAGE, "study ece-bias: a factor must be above 0 and below 1e6");
  PC_TRY(pc_sizes_make(pool->job, largest, PC_SIZE_SMALLEST, sizes, err));
  if (config->repeats > 0)
    sizes->repeats[sizes->count - 1] = (size_t)config->repeats;
  else if (sizes->count > 1)
    sizes->repeats[sizes->count - 1] = sizes->repeats[sizes->count - 2];
  const size_t classes = pool->simulation.classes;
  const size_t wanted = (size_t)pool->job->options->value[ECE_BIAS_POOL].number * largest;
  if (classes < 2 || largest > ECE_BIAS_LARGEST_EVER)
    return pc_fail(err, PCAL_USAGE,
                   "study ece-bias takes 2 classes or more and subsets of at most %d rows; see "
                   "{classes} and {rows}",
                   ECE_BIAS_LARGEST_EVER);
  pool->rows = (wanted + classes - 1) / classes * classes;
  return PCAL_OK;
}

static pcal_status ece_bias_run(const pc_study_job *job, pc_findings *findings,
                                pcal_error *err) {
  const size_t bins = (size_t)job->options->value[ECE_BIAS_BINS].number;
  ece_bias_pool pool = {.job = job};
  char spec[32];
  const char *specs[] = {spec};
  pc_size_sweep plan = {
      .job = job, .specs = specs, .spec_count = 1, .report = ece_bias_report, .user = &pool};
  snprintf(spec, sizeof spec, "ece:bins=%zu", bins);
  PC_TRY(ece_bias_plan(&pool, err));
  plan.case_count = pool.model_count;
  PC_TRY(ece_bias_alloc(&pool, bins, err));
  PC_TRY(ece_bias_simulate(&pool, err));
  return pc_size_sweep_run(&plan, ece_bias_case, findings, err);
}

const pc_study pc_study_ece_bias = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "ece-bias",
            .title = "how far is the ECE from the truth at each number of rows?",
            .formula = "mean ECE over random subsets of n rows; "
                       "mu(n) = sum_b p_b E|normal(conf_b - acc_b, v_b / (n p_b))|",
            .about =
                "Simulates models whose true calibration is known (100 classes, logits times "
                "1, 1.5 and 2.5, unless `classes` and `factor` say otherwise), and measures "
                "the ECE on random subsets of 100 to 10000 rows (or those of `rows`), beside "
                "mu(n) of Proposition 3.3, the truth, and the mean expected without the "
                "approximations of the proposition, which make mu too large where bins have "
                "few rows. Even a calibrated model has an ECE above 0, and it grows as the "
                "number of rows shrinks.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Figure 2, Proposition 3.3 and "
                        "appendix G.1",
            .options = ece_bias_options,
            .option_count = sizeof ece_bias_options / sizeof *ece_bias_options,
        },
    .run = ece_bias_run,
};
