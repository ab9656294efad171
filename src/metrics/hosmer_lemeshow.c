/* hosmer-lemeshow: the chi-square test on bins of equally many rows.
 *
 * Formula:  sum_b (O_b - E_b)^2 / V_b
 *           O_b: outcomes in bin b,  E_b = sum p_i,  V_b = sum p_i (1 - p_i)
 *           chi-square with as many degrees of freedom as bins, since the probabilities were
 *           not fitted to these rows
 * Edge cases:
 * (1) variance=mean divides by n_b m (1 - m), m = E_b / n_b, as in the original test; this
 *     denominator is larger, so the test rejects less often than its level;
 * (2) equal-mass bins as in ece: ties are never split;
 * (3) a bin of scores 0 and 1 only has no variance: it is omitted if every outcome equals its
 *     score, else the statistic is infinite and the p-value 0;
 * (4) view=classwise as in spiegelhalter;
 * (5) no bin with variance: no test;
 * (6) the chi-square distribution needs a few expected outcomes of either kind: from the lowest
 *     score on, a bin is joined with the next until E_b and n_b - E_b are both at least
 *     `expected` (5); a remainder at the end joins the bin before it;
 * (7) fewer than two bins left after (6), where more than one was requested: no test; classes
 *     without a test do not count in Holm's correction.
 * Source: Hosmer & Lemeshow, Communications in Statistics 1980; degrees of freedom on held-out
 * rows: Hosmer, Lemeshow & Sturdivant, Applied Logistic Regression, third edition, section 5.2;
 * expected counts: Cochran, Biometrics 1954.
 * Accuracy: bin sums exact to 2^-61, sums of squares to 2^-53 per row.
 * Cost: a few passes over the scores. */
#include <math.h>

#include "curve/curve_bins.h"
#include "metrics/calibration_test.h"
#include "stats/distributions.h"

enum { HOSMER_BINS, HOSMER_VIEW, HOSMER_VARIANCE, HOSMER_EXPECTED };
enum { HOSMER_BY_SUM, HOSMER_BY_MEAN };

static const pcal_option hosmer_lemeshow_options[] = {
    {"bins", PCAL_OPTION_INT, "10", 1, PC_BINS_MAX, NULL, "number of bins"},
    PC_CALIBRATION_TEST_VIEW_OPTION,
    {"variance", PCAL_OPTION_CHOICE, "sum", 0, 0, "sum|mean",
     "variance of a bin: the sum of p(1-p), or as in the original n m (1-m) at the bin's "
     "mean m"},
    {"expected", PCAL_OPTION_REAL, "5", 0, 1e6, NULL,
     "join bins until each has this many expected outcomes of either kind; 0: never join"},
};

static double hosmer_lemeshow_variance(const pc_bin *bin, int rule) {
  const double mean = bin->score / bin->weight;
  const double variance =
      rule == HOSMER_BY_MEAN ? bin->score * (1.0 - mean) : bin->score - bin->score_square;
  return variance > 1e-12 * bin->weight ? variance : 0.0;
}

/* True if a bin has outcomes that contradict its scores of 0 and 1. */
static int hosmer_lemeshow_refuted(const pc_bin *bin) {
  return bin->weight > 0 && !(hosmer_lemeshow_variance(bin, HOSMER_BY_SUM) > 0.0) &&
         fabs(bin->hits - bin->score) > 1e-4 * bin->weight;
}

static void hosmer_lemeshow_add(const pc_bin *from, pc_bin *to) {
  to->weight += from->weight;
  to->hits += from->hits;
  to->score += from->score;
  to->score_square += from->score_square;
}

/* Joins neighbours until each bin has enough expected outcomes of either kind; returns the
 * number of remaining bins.  With expected = 0 nothing is joined. */
static size_t hosmer_lemeshow_join(pc_bin *bins, size_t count, double expected) {
  size_t left = 0;
  int open = 0; /* the last bin needs more expected outcomes */
  for (size_t b = 0; b < count; b++) {
    if (open)
      hosmer_lemeshow_add(&bins[b], &bins[left - 1]);
    else
      bins[left++] = bins[b];
    const pc_bin *last = &bins[left - 1];
    open = fmin(last->score, last->weight - last->score) < expected;
  }
  if (open && left > 1) {
    hosmer_lemeshow_add(&bins[left - 1], &bins[left - 2]);
    left--;
  } else if (open) {
    left = 0;
  }
  return left;
}

static void hosmer_lemeshow_sum(const pc_bin *bins, size_t count, int rule,
                                pc_calibration_test *out) {
  size_t degrees = 0;
  for (size_t b = 0; b < count; b++) {
    const double variance = bins[b].weight > 0 ? hosmer_lemeshow_variance(&bins[b], rule) : 0.0;
    const double gap = bins[b].hits - bins[b].score;
    if (variance > 0.0) {
      out->statistic += gap * gap / variance;
      degrees++;
    }
  }
  if (degrees == 0)
    out->cannot = "every score is 0 or 1, so the expected variance is 0";
  else
    out->p_value = pc_chi_square_tail(out->statistic, degrees);
  out->parts[out->part_count++] = (pcal_part){"degrees", (double)degrees};
}

static void hosmer_lemeshow_bins(const pc_options *options, pc_bin *bins, size_t count,
                                 pc_calibration_test *out) {
  const double expected = options->value[HOSMER_EXPECTED].number;
  const int rule = options->value[HOSMER_VARIANCE].choice;
  size_t refuted = 0, graded = 0;
  for (size_t b = 0; b < count; b++) {
    refuted += hosmer_lemeshow_refuted(&bins[b]) != 0;
    graded += bins[b].weight > 0 && hosmer_lemeshow_variance(&bins[b], HOSMER_BY_SUM) > 0.0;
  }
  if (refuted > 0) {
    out->statistic = INFINITY;
    out->parts[out->part_count++] = (pcal_part){"degrees", (double)(graded + refuted)};
    return;
  }
  const size_t least = options->value[HOSMER_BINS].number > 1 ? 2 : 1;
  const size_t left = hosmer_lemeshow_join(bins, count, expected);
  if (graded > 0 && expected > 0 && left < least)
    out->cannot = "too few outcomes are expected in bins of these scores for a chi-square "
                  "distribution; use ks-test";
  else
    hosmer_lemeshow_sum(bins, graded > 0 ? left : 0, rule, out);
}

/* Sets the sums of squared scores; bin b ends before entry ends[b]. */
static void hosmer_lemeshow_squares(const pc_curve_table *table, size_t count,
                                    const size_t *ends, pc_bin *bins) {
  size_t entry = 0;
  for (size_t b = 0; b < count; b++) {
    pc_fixed square = {0};
    for (; entry < ends[b]; entry++)
      square.units += pc_curve_table_square_sum(table, entry).units;
    bins[b].score_square = pc_fixed_value(&square);
  }
}

static pcal_status hosmer_lemeshow_test(const pc_options *options, const pc_curve_table *table,
                                        const pcal_env *env, pc_calibration_test *out,
                                        pcal_error *err) {
  size_t count = (size_t)options->value[HOSMER_BINS].number;
  pc_bin *bins = pc_alloc(env, count, sizeof *bins);
  size_t *ends = pc_alloc(env, count, sizeof *ends);
  const int room = bins != NULL && ends != NULL;
  if (room) {
    count = pc_bins_by_mass_ends(table, count, bins, ends);
    hosmer_lemeshow_squares(table, count, ends, bins);
    hosmer_lemeshow_bins(options, bins, count, out);
  }
  pc_free(env, ends);
  pc_free(env, bins);
  return room ? PCAL_OK : pc_fail_memory(err, "making equal-mass bins");
}

static pcal_status hosmer_lemeshow_configure(pc_options *options, const pc_layout *layout,
                                             pc_metric_config *config, pcal_error *err) {
  return pc_calibration_test_configure_segments(options, HOSMER_VIEW, layout, 1, config, err);
}

static size_t hosmer_lemeshow_wants(const pc_options *options, const pc_curve_table *table,
                                    uint8_t *wanted) {
  return pc_bins_by_mass_wants(table, (size_t)options->value[HOSMER_BINS].number, wanted);
}

static pcal_status hosmer_lemeshow_evaluate(const pc_options *options,
                                            const pc_evidence *evidence, const pcal_env *env,
                                            pc_metric_result *out, pcal_error *err) {
  return pc_calibration_test_evaluate(options, evidence, env, hosmer_lemeshow_test, out, err);
}

const pc_metric pc_metric_hosmer_lemeshow = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "hosmer-lemeshow",
            .title = "Hosmer-Lemeshow test",
            .formula = "sum_b (O_b - E_b)^2 / sum_{i in b} p_i (1 - p_i)",
            .about = "Compares outcomes with expectations in bins of equally many rows. "
                     "For rows that the model was not fitted to: the degrees of freedom "
                     "are the number of bins. Neighbouring bins are joined until each has "
                     "five expected outcomes of either kind; if fewer than two remain, "
                     "there is no test.",
            .citation = "Hosmer & Lemeshow, Communications in Statistics 1980",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .is_test = 1,
            .options = hosmer_lemeshow_options,
            .option_count = sizeof hosmer_lemeshow_options / sizeof *hosmer_lemeshow_options,
        },
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = hosmer_lemeshow_configure,
    .evaluate = hosmer_lemeshow_evaluate,
    .wants = hosmer_lemeshow_wants,
};
