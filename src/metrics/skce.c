/* skce: the squared kernel calibration error.
 *
 * Formula:  2/(N(N-1)) sum_{i<j} exp(-|p_i - p_j|_2) <e_{y_i} - p_i, e_{y_j} - p_j>
 * Edge cases: (1) the unbiased estimator can be negative near calibration; (2) a row of weight
 * w counts as w rows: w (w - 1) / 2 pairs with itself, each |e_y - p|^2; weights that are not
 * whole are refused; (3) fewer than two rows: undefined.
 * Source: Widmann, Lindsten & Zachariah 2019, the unbiased estimator with kernel exp(-distance)
 * times the identity.
 * Accuracy: tiles of pairs are summed in a fixed order, the tiles exactly.  Up to 32 classes
 * distances come from direct differences, beyond that from inner products (pair_kernels.h).
 * Cost: N^2/2 pairs of 2 K operations and one exp, in vector lanes and over all threads; memory
 * N K. */
#include <math.h>
#include <stdio.h>

#include "core/executor.h"
#include "core/sum.h"
#include "kernels/pair_kernels.h"
#include "kernels/pair_tile.h"
#include "metrics/metric.h"

#define SKCE_TILE 256
#define SKCE_PAIR_COST 5.0     /* nanoseconds, for the executor */
#define SKCE_DIRECT_CLASSES 32 /* beyond, distances come from inner products */

enum { SKCE_ESTIMATOR, SKCE_KERNEL };

static const pcal_option skce_options[] = {
    {"estimator", PCAL_OPTION_CHOICE, "unbiased", 0, 0, "unbiased",
     "all pairs of different rows, each once"},
    {"kernel", PCAL_OPTION_CHOICE, "exponential", 0, 0, "exponential",
     "exp(-distance), with the Euclidean distance of probability vectors"},
};

static pcal_status skce_configure(pc_options *options, const pc_layout *layout,
                                  pc_reading *reading, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  reading->need.machine = PC_PAIR;
  return PCAL_OK;
}

/* A task is SKCE_TILE rows against all behind them; its sums are added in order into its own
 * place. */
typedef struct skce_work {
  const pcal_env *env;
  const pc_pair_kernels *kernels;
  pc_pair_rows rows;
  double *sums;
} skce_work;

/* Row i against a pack whose first row is j0; pairs with j <= i do not count. */
static double skce_row(const skce_work *work, size_t i, size_t j0, const pc_pair_pack *pack,
                       double norm, const double *dots) {
  const double *p = work->rows.probs + i * work->rows.classes;
  const pc_pair_pack *used = pack;
  pc_pair_pack masked;
  if (j0 <= i) {
    masked = *pack;
    for (size_t l = 0; l < PC_LANES && j0 + l <= i; l++)
      masked.weight[l] = 0.0;
    used = &masked;
  }
  const double sum = dots == NULL
                         ? work->kernels->skce_direct(p, work->rows.labels[i], used)
                         : work->kernels->skce_dots(p, work->rows.labels[i], norm, dots, used);
  return work->rows.weights[i] * sum;
}

static double skce_norm(const double *p, size_t classes) {
  double norm = 0.0;
  for (size_t c = 0; c < classes; c++)
    norm += p[c] * p[c];
  return norm;
}

static double skce_wide(const skce_work *work, size_t i0, size_t i1, size_t j0,
                        const pc_pair_pack *pack) {
  const size_t k = work->rows.classes;
  double total = 0.0;
  for (size_t i = i0; i < i1;) {
    double dots[PC_DOT_ROWS][PC_LANES];
    const int whole = i + PC_DOT_ROWS <= i1;
    work->kernels->dots(work->rows.probs + i * k, whole ? k : 0, pack, dots);
    for (size_t r = 0; r < (whole ? PC_DOT_ROWS : 1); r++, i++)
      total += skce_row(work, i, j0, pack, skce_norm(work->rows.probs + i * k, k), dots[r]);
  }
  return total;
}

static double skce_narrow(const skce_work *work, size_t i0, size_t i1, size_t j0,
                          const pc_pair_pack *pack) {
  double total = 0.0;
  for (size_t i = i0; i < i1; i++)
    total += skce_row(work, i, j0, pack, 0.0, NULL);
  return total;
}

static pcal_status skce_task(void *user, size_t index, size_t worker, pcal_error *err) {
  (void)worker;
  skce_work *work = user;
  const size_t n = work->rows.count, k = work->rows.classes, i0 = index * SKCE_TILE;
  const size_t i1 = i0 + SKCE_TILE < n ? i0 + SKCE_TILE : n;
  pc_pair_pack pack = {.classes = k,
                       .probs = pc_alloc_raw(work->env, k * PC_LANES, sizeof(double))};
  if (pack.probs == NULL)
    return pc_fail_memory(err, "summing pairs");
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t j0 = i0; j0 < n; j0 += PC_LANES) {
    const size_t count = n - j0 < PC_LANES ? n - j0 : PC_LANES;
    const size_t last = j0 + count < i1 ? j0 + count : i1; /* rows behind the pack: no pairs */
    pc_pair_pack_fill(&pack, work->rows.probs + j0 * k, work->rows.labels + j0,
                      work->rows.weights + j0, count);
    pc_sum_add(&sum, k > SKCE_DIRECT_CLASSES ? skce_wide(work, i0, last, j0, &pack)
                                             : skce_narrow(work, i0, last, j0, &pack));
  }
  work->sums[index] = pc_sum_value(&sum);
  pc_free(work->env, pack.probs);
  return PCAL_OK;
}

static double skce_total(const skce_work *work, size_t tasks) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t t = 0; t < tasks; t++)
    pc_sum_add(&sum, work->sums[t]);
  for (size_t i = 0; i < work->rows.count; i++) {
    const double w = work->rows.weights[i];
    if (w > 1)
      pc_sum_add_product(&sum, w * (w - 1) / 2, pc_skce_self(&work->rows, i));
  }
  return pc_sum_value(&sum);
}

static pcal_status skce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                 const pcal_env *env, pc_outcome *out, pcal_error *err) {
  (void)options;
  const size_t n = evidence->pair.count, tasks = (n + SKCE_TILE - 1) / SKCE_TILE;
  const double total = evidence->total;
  if (total < 2) {
    out->undefined = 1;
    snprintf(out->why, sizeof out->why, "a pair needs at least two rows");
    return PCAL_OK;
  }
  skce_work work = {env,
                    pc_pair_kernels_best(),
                    {n, evidence->pair.classes, evidence->pair.probs, evidence->pair.labels,
                     evidence->pair.weights},
                    pc_alloc(env, tasks, sizeof(double))};
  if (work.sums == NULL)
    return pc_fail_memory(err, "summing pairs");
  const double cost = SKCE_PAIR_COST * (double)n * (double)n / 2;
  const pcal_status status =
      pc_run_shown(env, "pairing rows", tasks, cost, skce_task, &work, err);
  if (status == PCAL_OK)
    out->value = skce_total(&work, tasks) / (total * (total - 1) / 2);
  pc_free(env, work.sums);
  return status;
}

const pc_metric pc_metric_skce = {
    .row =
        {
            .kind = "metrics",
            .name = "skce",
            .title = "squared kernel calibration error",
            .formula = "2/(N(N-1)) sum_{i<j} exp(-|p_i - p_j|) <e_{y_i} - p_i, e_{y_j} - p_j>",
            .about = "Zero in the mean for a model whose whole probability vector is "
                     "calibrated; unbiased, so it may come out below zero. Its cost grows with "
                     "the square of the number of rows.",
            .citation = "Widmann, Lindsten & Zachariah, Calibration tests in multi-class "
                        "classification, NeurIPS 2019",
            .notion = "canonical",
            .machine = "pair",
            .options = skce_options,
            .option_count = sizeof skce_options / sizeof *skce_options,
        },
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_WHOLE_WEIGHTS |
              PC_NEEDS_CLASSES,
    .configure = skce_configure,
    .evaluate = skce_evaluate,
};
