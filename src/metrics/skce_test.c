/* skce-test: a test of canonical calibration by the squared kernel calibration error.
 *
 * Formula:  h_ij, kernel, distance and scale as in skce
 *           bootstrap: T = N times the mean of h_ij over i < j, under calibration distributed
 *           as 2 / (N - 1) sum_{i<j} v_i v_j h_ij, v_i = n_i - mean(n), n_i ~ Poisson(1);
 *           p = (1 + number of replicas of at least T) / (1 + replicas)
 *           block: z = mean / se over the means of h in blocks of m consecutive rows;
 *           p = 1 - Phi(z), since the mean of blocks has a normal limit
 * Edge cases:
 * (1) both are one-sided: a negative estimate is no evidence against calibration;
 * (2) a row of weight w counts as w rows, each drawn separately; weights that are not whole
 *     numbers are refused, and by blocks all weights;
 * (3) fewer than two rows, or blocks with equal means: undefined;
 * (4) a one-column score is the vector (1 - p, p);
 * (5) the option block is for method=block, replicas for method=bootstrap.
 * Parts: skce, the estimate.
 * Source: Widmann, Lindsten & Zachariah 2019; the bootstrap: Arcones & Gine 1992.
 * Accuracy: replicas to 1e-5 of their standard deviation; the statistic like skce.
 * Cost: N^2/2 pairs, each used by all replicas: about replicas / 50 times the cost of skce;
 * memory N (K + 64).  By blocks N m / 2 pairs. */
#include <math.h>
#include <stdio.h>

#include "kernels/pair_tile.h"
#include "metrics/skce.h"
#include "stats/distributions.h"
#include "stats/pair_bootstrap.h"
#include "stats/pair_sum.h"

enum {
  SKCE_TEST_METHOD,
  SKCE_TEST_BLOCK,
  SKCE_TEST_REPLICAS,
  SKCE_TEST_KERNEL,
  SKCE_TEST_DISTANCE,
  SKCE_TEST_SCALE
};
enum { SKCE_TEST_BOOTSTRAP, SKCE_TEST_BLOCKS };

static const pcal_option skce_test_options[] = {
    {"method", PCAL_OPTION_CHOICE, "bootstrap", 0, 0, "bootstrap|block",
     "bootstrap: all pairs, resampled; block: means of blocks and a normal distribution"},
    {"block", PCAL_OPTION_INT, "2", 2, PC_BLOCK_MAX, NULL, "rows of a block"},
    {"replicas", PCAL_OPTION_INT, "500", 20, 100000, NULL, "bootstrap replicas"},
    {"kernel", PCAL_OPTION_CHOICE, "exponential", 0, 0, "exponential|gaussian",
     "exp(-d/s) or exp(-(d/s)^2 / 2), d: distance, s: scale"},
    {"distance", PCAL_OPTION_CHOICE, "euclidean", 0, 0, "euclidean|tv",
     "distance of probability vectors: Euclidean, or half the sum of absolute differences"},
    {"scale", PCAL_OPTION_REAL, "1", 1e-9, 1e9, NULL, "divisor of distances"},
};

static pcal_status skce_test_unused(pc_options *options, size_t option, const char *method,
                                    pcal_error *err) {
  if (options->value[option].given)
    return pc_fail(err, PCAL_USAGE,
                   "skce-test: the option %s needs method=%s; add it or remove %s",
                   options->table[option].name, method, options->table[option].name);
  options->value[option].set = 0;
  return PCAL_OK;
}

static pcal_status skce_test_configure(pc_options *options, const pc_layout *layout,
                                       pc_metric_config *config, pcal_error *err) {
  (void)layout;
  const pc_option_value *value = options->value;
  if (value[SKCE_TEST_METHOD].choice == SKCE_TEST_BOOTSTRAP) {
    config->need.machine = PC_PAIR;
    return skce_test_unused(options, SKCE_TEST_BLOCK, "block", err);
  }
  const pc_skce_blocks blocks = {(size_t)value[SKCE_TEST_BLOCK].number,
                                 value[SKCE_TEST_DISTANCE].choice,
                                 value[SKCE_TEST_KERNEL].choice, value[SKCE_TEST_SCALE].number};
  pc_skce_read_blocks(&blocks, config);
  return skce_test_unused(options, SKCE_TEST_REPLICAS, "bootstrap", err);
}

static void skce_test_set(double statistic, double p_value, double estimate,
                          pc_metric_result *out) {
  out->value = statistic;
  out->tested = 1;
  out->p_value = p_value;
  pc_metric_result_part(out, "skce", estimate);
}

static void skce_test_cannot(const char *why, pc_metric_result *out) {
  out->undefined = 1;
  snprintf(out->why, sizeof out->why, "%s", why);
}

static double skce_test_copies(const pc_pair_rows *rows) {
  double sum = 0.0;
  for (size_t i = 0; i < rows->count; i++) {
    const double w = rows->weights[i];
    sum += w > 1 ? w * (w - 1) / 2 * pc_skce_self(rows, i) : 0.0;
  }
  return sum;
}

static pcal_status skce_test_bootstrap(const pc_options *options, const pc_evidence *evidence,
                                       const pcal_env *env, pc_metric_result *out,
                                       pcal_error *err) {
  const pc_option_value *value = options->value;
  const pc_pair_rows *rows = &evidence->pair.rows;
  const size_t replicas = (size_t)value[SKCE_TEST_REPLICAS].number;
  const double n = evidence->total;
  const pc_pair_form form =
      pc_pair_form_make(value[SKCE_TEST_DISTANCE].choice, value[SKCE_TEST_KERNEL].choice,
                        value[SKCE_TEST_SCALE].number, rows);
  double *drawn = pc_alloc_raw(env, replicas, sizeof *drawn), sum = 0.0;
  if (drawn == NULL)
    return pc_fail_memory(err, "testing pairs");
  out->pairs_on_device = pc_pair_sum_on_device(&evidence->pair.queue, rows);
  pcal_status status = pc_pair_sum(env, &form, rows, &evidence->pair.queue, &sum, err);
  if (status == PCAL_OK)
    status = pc_pair_bootstrap(env, &form, rows, replicas, drawn, err);
  if (status == PCAL_OK) {
    double above = 0.0;
    sum += skce_test_copies(rows);
    for (size_t b = 0; b < replicas; b++)
      above += drawn[b] >= sum;
    skce_test_set(2 * sum / (n - 1), (1 + above) / (1 + (double)replicas),
                  2 * sum / (n * (n - 1)), out);
  }
  pc_free(env, drawn);
  return status;
}

static void skce_test_blocks(const pc_evidence *evidence, pc_metric_result *out) {
  const double n = (double)evidence->block.count;
  const double mean = n > 0 ? evidence->block.sum / n : 0.0;
  const double square = n > 1 ? (evidence->block.squares / n - mean * mean) / (n - 1) : 0.0;
  if (!(square > 0)) {
    skce_test_cannot("there are fewer than two complete blocks, or their means are equal", out);
    return;
  }
  const double z = mean / sqrt(square);
  skce_test_set(z, pc_normal_tail(z), mean, out);
}

static pcal_status skce_test_evaluate(const pc_options *options, const pc_evidence *evidence,
                                      const pcal_env *env, pc_metric_result *out,
                                      pcal_error *err) {
  if (options->value[SKCE_TEST_METHOD].choice == SKCE_TEST_BLOCKS) {
    skce_test_blocks(evidence, out);
    return PCAL_OK;
  }
  if (evidence->total >= 2)
    return skce_test_bootstrap(options, evidence, env, out, err);
  skce_test_cannot("at least two rows are needed", out);
  return PCAL_OK;
}

const pc_metric pc_metric_skce_test = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "skce-test",
            .title = "test of the squared kernel calibration error",
            .formula = "N skce, compared with centred bootstrap replicas\nmethod=block: "
                       "mean over blocks / its standard error, normal",
            .about = "Tests whether the whole probability vector is calibrated, not only "
                     "the predicted class. The bootstrap of all pairs is more powerful, "
                     "but its cost grows with the square of the number of rows; "
                     "method=block uses neighbouring rows only, suits large data, and is "
                     "less powerful.",
            .citation = "Widmann, Lindsten & Zachariah, Calibration tests in multi-class "
                        "classification, NeurIPS 2019; Arcones & Gine 1992",
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .is_test = 1,
            .options = skce_test_options,
            .option_count = sizeof skce_test_options / sizeof *skce_test_options,
        },
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_WHOLE_WEIGHTS |
              PC_NEEDS_CLASSES,
    .configure = skce_test_configure,
    .evaluate = skce_test_evaluate,
};
