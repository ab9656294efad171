/* hosmer-lemeshow: the chi-square test on bins with equally many rows.
 *
 * Formula:  sum_b (O_b - E_b)^2 / V_b,  O_b: outcomes in bin b, E_b = sum p_i, V_b = sum
 *           p_i (1 - p_i); chi-square with as many degrees of freedom as bins, since the
 *           probabilities were not fitted to these rows.
 * Edge cases: (1) variance=mean divides by n_b m (1 - m), m = E_b / n_b, as the original does:
 * a larger number, so the test rejects less often than it should; (2) equal-mass bins as in
 * ece: ties are never split; (3) a bin of scores 0 and 1 only has no variance: it is left out
 * when its outcomes agree, else the statistic is infinite and the p-value 0; (4) view=classwise
 * as in spiegelhalter; (5) no bin with variance: no test. Source: Hosmer & Lemeshow,
 * Communications in Statistics 1980; degrees of freedom on held-out rows: Hosmer, Lemeshow &
 * Sturdivant, Applied Logistic Regression, third edition, section 5.2. Accuracy: bin sums exact
 * to 2^-62 a row.   Cost: one sort. */
#include <math.h>

#include "metrics/view_test.h"
#include "stats/distributions.h"

enum { HOSMER_BINS, HOSMER_VIEW, HOSMER_VARIANCE };
enum { HOSMER_BY_SUM, HOSMER_BY_MEAN };

static const pcal_option hosmer_lemeshow_options[] = {
    {"bins", PCAL_OPTION_INT, "10", 1, PC_BINS_MAX, NULL, "number of bins"},
    PC_TEST_VIEW_OPTION,
    {"variance", PCAL_OPTION_CHOICE, "sum", 0, 0, "sum|mean",
     "of a bin: the sum of p(1-p), or as in the original n m (1-m) at the bin's mean m"},
};

static double hosmer_lemeshow_variance(const pc_bin *bin, int rule) {
  const double mean = bin->score / bin->weight;
  const double variance =
      rule == HOSMER_BY_MEAN ? bin->score * (1.0 - mean) : bin->score - bin->score_square;
  return variance > 1e-12 * bin->weight ? variance : 0.0;
}

static void hosmer_lemeshow_sum(const pc_bin *bins, size_t count, int rule, pc_test *out) {
  size_t degrees = 0;
  for (size_t b = 0; b < count; b++) {
    if (!(bins[b].weight > 0))
      continue;
    const double variance = hosmer_lemeshow_variance(&bins[b], rule);
    const double gap = bins[b].hits - bins[b].score;
    if (variance > 0.0) {
      out->statistic += gap * gap / variance;
      degrees++;
    } else if (fabs(gap) > 1e-4 * bins[b].weight) {
      out->statistic = INFINITY;
      degrees++;
    }
  }
  if (degrees == 0)
    out->cannot = "every score is 0 or 1, so outcomes have no variance to compare with";
  else
    out->p_value = isinf(out->statistic) ? 0.0 : pc_chi_square_tail(out->statistic, degrees);
  out->parts[out->part_count++] = (pcal_part){"degrees", (double)degrees};
}

static pcal_status hosmer_lemeshow_test(const pc_options *options, const pc_curve_table *table,
                                        const pcal_env *env, pc_test *out, pcal_error *err) {
  size_t count = (size_t)options->value[HOSMER_BINS].number;
  pc_bin *bins = pc_alloc(env, count, sizeof *bins);
  if (bins == NULL)
    return pc_fail_memory(err, "making equal-mass bins");
  const pcal_status status = pc_bins_by_mass(env, table, count, bins, &count, err);
  if (status == PCAL_OK)
    hosmer_lemeshow_sum(bins, count, options->value[HOSMER_VARIANCE].choice, out);
  pc_free(env, bins);
  return status;
}

static pcal_status hosmer_lemeshow_configure(pc_options *options, const pc_layout *layout,
                                             pc_reading *reading, pcal_error *err) {
  return pc_test_configure(options, HOSMER_VIEW, layout, reading, err);
}

static pcal_status hosmer_lemeshow_evaluate(const pc_options *options,
                                            const pc_evidence *evidence, const pcal_env *env,
                                            pc_outcome *out, pcal_error *err) {
  return pc_test_evaluate(options, evidence, env, hosmer_lemeshow_test, out, err);
}

const pc_metric pc_metric_hosmer_lemeshow = {
    .row =
        {
            .kind = "metrics",
            .name = "hosmer-lemeshow",
            .title = "Hosmer-Lemeshow test",
            .formula = "sum_b (O_b - E_b)^2 / sum_{i in b} p_i (1 - p_i)",
            .about = "Compares outcomes with expectations in bins with equally many rows. For "
                     "rows that the model was not fitted to: the degrees of freedom are the "
                     "number of bins. Wants a few expected outcomes of either kind in each "
                     "bin; with scores next to 0 or 1 its p-value is rough.",
            .citation = "Hosmer & Lemeshow, Communications in Statistics 1980",
            .notion = "top-label",
            .machine = "curve",
            .options = hosmer_lemeshow_options,
            .option_count = sizeof hosmer_lemeshow_options / sizeof *hosmer_lemeshow_options,
        },
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = hosmer_lemeshow_configure,
    .evaluate = hosmer_lemeshow_evaluate,
};
