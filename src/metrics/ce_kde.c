/* ce-kde: the canonical calibration error, estimated by kernel densities.
 *
 * Formula:  ((1/N) sum_i sum_c |r_ic - p_ic|^p)^(1/p)
 *           r_i  = sum_{j != i} k_ij e_{y_j} / sum_{j != i} k_ij
 *           k_ij = density at p_i of the Dirichlet distribution with parameters p_j / h + 1
 *           bandwidth=auto: the h among 10^(-5 + 4 m / 14), m = 0..14, and 0.2, 0.4, 0.6,
 *           0.8, 1 that maximises sum_i log(sum_{j != i} k_ij / (N - 1)); the smallest on ties
 * Edge cases:
 * (1) root=no omits the outer power 1/p, as published;
 * (2) a row of weight w counts as w rows, of which w - 1 are its own neighbours; weights
 *     that are not whole numbers are refused;
 * (3) fewer than two rows: undefined;
 * (4) probabilities of exactly 0: 0 log 0 = 0; a row with a 0 where every other row has a
 *     positive value has no neighbours, and the error is undefined; with bandwidth=auto this
 *     leaves no usable candidate;
 * (5) probabilities below 0, within the tolerance of the input check, count as 0 in kernels;
 * (6) a one-column score is the vector (1 - p, p).
 * Source: Popordanoska, Sayer & Blaschko 2022; without the term log h that their code adds
 * to the likelihood of every row, and in the log domain, where isolated rows keep their
 * neighbours.
 * Accuracy: 1e-9 for h >= 1e-4, less below as the logarithms of the kernels grow
 * (dirichlet_kde.h).
 * Cost: N^2 pairs of 2 K operations and one exp; a search as much for each of the bandwidths
 * that could be the best (bandwidth_search.h).  Memory N K, and 23 N for a search. */
#include <math.h>
#include <stdio.h>

#include "base/elementary.h"
#include "metrics/metric.h"
#include "stats/bandwidth_search.h"

enum { CE_KDE_P, CE_KDE_BANDWIDTH, CE_KDE_ROOT };
enum { CE_KDE_AUTO = 0 }; /* the word of bandwidth */

static const pcal_option ce_kde_options[] = {
    {"p", PCAL_OPTION_REAL, "1", 1, 10, NULL, "power of the differences"},
    {"bandwidth", PCAL_OPTION_REAL, "auto", 1e-6, 1e3, "auto",
     "bandwidth of the Dirichlet kernels; auto: the one of 20 with the highest "
     "leave-one-out likelihood"},
    {"root", PCAL_OPTION_BOOL, "yes", 0, 0, NULL, "take the p-th root"},
};

static const double ce_kde_bandwidths[] = {1e-05,
                                           1.9306977288832503e-05,
                                           3.72759372031494e-05,
                                           7.196856730011521e-05,
                                           0.00013894954943731376,
                                           0.00026826957952797256,
                                           0.0005179474679231211,
                                           0.001,
                                           0.00193069772888325,
                                           0.00372759372031494,
                                           0.007196856730011521,
                                           0.013894954943731377,
                                           0.026826957952797256,
                                           0.051794746792312114,
                                           0.1,
                                           0.2,
                                           0.4,
                                           0.6,
                                           0.8,
                                           1.0};
#define CE_KDE_COUNT (sizeof ce_kde_bandwidths / sizeof *ce_kde_bandwidths)

static pcal_status ce_kde_configure(pc_options *options, const pc_layout *layout,
                                    pc_metric_config *config, pcal_error *err) {
  (void)layout;
  (void)err;
  config->need.machine = PC_PAIR;
  config->traits |= options->value[CE_KDE_ROOT].number != 0 ? 0u : PC_SQUARED;
  return PCAL_OK;
}

static void ce_kde_undefined(pc_metric_result *out, const char *why) {
  out->undefined = 1;
  snprintf(out->why, sizeof out->why, "%s", why);
}

static pcal_status ce_kde_value(const pc_options *options, const pc_dirichlet_kde *dirichlet,
                                pc_metric_result *out, pcal_error *err) {
  const pc_option_value *value = options->value;
  const double p = value[CE_KDE_P].number;
  double bandwidth = value[CE_KDE_BANDWIDTH].number, error = 0.0;
  if (value[CE_KDE_BANDWIDTH].choice == CE_KDE_AUTO) {
    pc_bandwidth_choice choice;
    PC_TRY(pc_bandwidth_search(dirichlet, ce_kde_bandwidths, CE_KDE_COUNT, &choice, err));
    bandwidth = choice.bandwidth;
    if (bandwidth <= 0.0) {
      ce_kde_undefined(out, "no bandwidth has a finite likelihood: a row has a probability "
                            "of exactly 0 where all others are positive");
      return PCAL_OK;
    }
  }
  PC_TRY(pc_dirichlet_kde_error(dirichlet, bandwidth, p, &error, err));
  pc_metric_result_part(out, "bandwidth", bandwidth);
  if (error < 0.0)
    ce_kde_undefined(out, "a row has a probability of exactly 0 where all others are "
                          "positive, so it has no neighbours");
  else
    out->value = value[CE_KDE_ROOT].number > 0 && p != 1 ? pc_pow(error, 1 / p) : error;
  return PCAL_OK;
}

static pcal_status ce_kde_evaluate(const pc_options *options, const pc_evidence *evidence,
                                   const pcal_env *env, pc_metric_result *out,
                                   pcal_error *err) {
  pc_dirichlet_kde dirichlet;
  if (evidence->total < 2) {
    ce_kde_undefined(out, "at least two rows are needed");
    return PCAL_OK;
  }
  PC_TRY(pc_dirichlet_kde_new(env, &evidence->pair.rows, evidence->total, &evidence->pair.queue,
                              &dirichlet, err));
  out->pairs_on_device = pc_dirichlet_kde_on_device(&dirichlet);
  const pcal_status status = ce_kde_value(options, &dirichlet, out, err);
  pc_dirichlet_kde_free(&dirichlet);
  return status;
}

const pc_metric pc_metric_ce_kde = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "ce-kde",
            .title = "canonical calibration error by kernel density estimation",
            .formula = "(1/N sum_i sum_c |r_ic - p_ic|^p)^(1/p), r_i: labels near p_i",
            .about = "Compares each probability vector with the labels of neighbouring rows, "
                     "weighted by Dirichlet kernels. The estimate depends on the bandwidth and "
                     "is positive for every finite sample; its cost grows with the square of "
                     "the number of rows.",
            .citation = "Popordanoska, Sayer & Blaschko, A consistent and differentiable Lp "
                        "canonical calibration error estimator, NeurIPS 2022",
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .options = ce_kde_options,
            .option_count = sizeof ce_kde_options / sizeof *ce_kde_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_WHOLE_WEIGHTS |
              PC_NEEDS_CLASSES,
    .configure = ce_kde_configure,
    .evaluate = ce_kde_evaluate,
};
