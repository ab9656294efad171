/* auc, failure-auroc: the probability that an event has a higher score than a non-event.
 *
 * Formula:  A = (1 / (M N)) sum_{i: event} sum_{j: none} ([s_i > s_j] + [s_i = s_j] / 2),
 *           M events, N others
 *           DeLong: var A = S1 / M + S0 / N,  S1: variance over events of the share of others
 *           below them, S0: variance over others of the share of events above them
 *           view=ovr: the mean over classes of A of class against rest by p_k
 *           view=hand-till: the mean over pairs of classes k < l of (A(k|l) + A(l|k)) / 2,
 *           A(k|l): A of class k against class l by p_k, among the rows of these two classes
 *           failure-auroc: A of the confidence, events: correct predictions
 * Edge cases:
 * (1) ties count one half (mid-ranks), so the order of rows does not matter;
 * (2) all outcomes the same: no value; several classes: a class without rows, or with all rows,
 *     is left out of the mean;
 * (3) all events above all others, or all below: DeLong's variance is 0, and there is no interval;
 * (4) intervals of one event are DeLong's on the logit scale, for several classes those of the
 *     jackknife; importance weights count as their effective number of rows;
 * (5) a single event or a single non-event has no variance: no interval.
 * Source: Hanley & McNeil, Radiology 1982; DeLong, DeLong & Clarke-Pearson, Biometrics 1988;
 * Hand & Till, Machine Learning 2001.
 * Accuracy: sums of whole numbers, exact up to 2^53.
 * Cost: one sort for each class; hand-till O(N K (K + log N)), memory of all rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/budget.h"
#include "metrics/metric.h"

enum { AUC_VIEW };
enum { AUC_AUTO, AUC_POSITIVE, AUC_OVR, AUC_HAND_TILL, AUC_TOP };

static const pcal_option auc_options[] = {
    {"view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|positive|ovr|hand-till|top",
     "class 1 of two (positive), the mean over classes of each against the rest (ovr), the "
     "mean over pairs of classes (hand-till), or the predicted class (top); auto is positive "
     "for two classes, ovr for more, top for confidences"},
};

static pcal_status auc_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  static const char *const words[] = {"auto", "positive", "ovr", "hand-till", "top"};
  int view = options->value[AUC_VIEW].choice;
  if (view == AUC_AUTO)
    view = layout->classes == 1 ? AUC_TOP : layout->classes == 2 ? AUC_POSITIVE : AUC_OVR;
  if (view == AUC_POSITIVE && layout->classes != 2)
    return pc_fail(err, PCAL_USAGE,
                   "auc: view=positive needs two classes, but the data have %s; use view=%s",
                   layout->classes == 1 ? "only confidences" : "more",
                   layout->classes == 1 ? "top" : "ovr");
  if (view != AUC_TOP && layout->classes == 1)
    return pc_fail(err, PCAL_USAGE,
                   "auc: view=%s needs the probabilities of all classes; give them as {probs} "
                   "or {logits} instead of {confidence}",
                   words[view]);
  pc_options_choose(options, AUC_VIEW, words[view]);
  config->need.machine = view == AUC_HAND_TILL ? PC_ROWS : PC_CURVE;
  config->need.rows.all_probs = view == AUC_HAND_TILL;
  config->has_se = view == AUC_POSITIVE || view == AUC_TOP;
  config->interval = PCAL_INTERVAL_JACKKNIFE;
  if (view == AUC_HAND_TILL)
    return PCAL_OK;
  config->need.view.kind = view == AUC_TOP   ? PC_VIEW_RANK
                           : view == AUC_OVR ? PC_VIEW_CLASSES
                                             : PC_VIEW_CLASS;
  config->need.view.index = view != AUC_OVR;
  return PCAL_OK;
}

/* The area of one curve, and its variance by DeLong. */
typedef struct auc_area {
  double area, variance; /* NaN: none */
} auc_area;

static double auc_variance(const pc_curve_table *table, double events, double area) {
  const double others = table->total - events;
  double below = 0.0, passed = 0.0, of_events = 0.0, of_others = 0.0;
  if (!(events > 1.0) || !(others > 1.0))
    return (double)NAN;
  for (size_t i = 0; i < table->count; i++) {
    const double hits = table->hits[i], misses = table->weight[i] - hits;
    const double event = (below + 0.5 * misses) / others - area;
    const double other = (events - passed - 0.5 * hits) / events - area;
    of_events += hits * event * event;
    of_others += misses * other * other;
    below += misses;
    passed += hits;
  }
  return of_events / (events - 1.0) / events + of_others / (others - 1.0) / others;
}

static auc_area auc_of_table(const pc_curve_table *table) {
  double below = 0.0, wins = 0.0, events = 0.0;
  for (size_t i = 0; i < table->count; i++) {
    const double hits = table->hits[i], misses = table->weight[i] - hits;
    wins += hits * (below + 0.5 * misses);
    below += misses;
    events += hits;
  }
  if (!(events > 0.0) || !(below > 0.0))
    return (auc_area){(double)NAN, (double)NAN};
  const double area = wins / (events * below);
  return (auc_area){area, auc_variance(table, events, area)};
}

static void auc_undefined(pc_metric_result *out) {
  out->undefined = 1;
  snprintf(out->why, sizeof out->why,
           "all outcomes are the same, so there is nothing to tell apart");
}

/* One class against the rest, for each class. */
static pcal_status auc_one_vs_rest(const pc_evidence *evidence, const pcal_env *env,
                                   pc_metric_result *out, pcal_error *err) {
  const size_t count = evidence->curve.part_count;
  double sum = 0.0, counted = 0.0;
  PC_TRY(pc_metric_result_classes(out, env, count, err));
  for (size_t c = 0; c < count; c++) {
    out->class_values[c] = auc_of_table(&evidence->curve.parts[c]).area;
    sum += isnan(out->class_values[c]) ? 0.0 : out->class_values[c];
    counted += !isnan(out->class_values[c]);
  }
  if (!(counted > 0.0))
    auc_undefined(out);
  else
    out->value = sum / counted;
  return PCAL_OK;
}

/* ---- pairs of classes ---- */

typedef struct auc_row {
  double score, weight;
  int32_t label;
} auc_row;

/* Equal rows have equal bytes, so that sums do not depend on the order of rows. */
static int auc_row_order(const void *a, const void *b) {
  const auc_row *x = a, *y = b;
  if (x->score != y->score)
    return x->score < y->score ? -1 : 1;
  if (x->label != y->label)
    return x->label < y->label ? -1 : 1;
  return (x->weight > y->weight) - (x->weight < y->weight);
}

/* Memory for the pairs: counts of a class below a score, wins of a class over each other. */
typedef struct auc_pairs {
  size_t classes;
  auc_row *rows;
  double *below, *tied, *wins, *total; /* of each class; wins: classes x classes */
} auc_pairs;

/* wins[k][l]: the weight of pairs in which a row of class k has a higher p_k than one of l. */
static void auc_pairs_class(auc_pairs *pairs, const pc_kept_rows *kept, size_t class) {
  double *wins = pairs->wins + class * pairs->classes;
  for (size_t i = 0; i < kept->count; i++)
    pairs->rows[i] = (auc_row){kept->probs[i * kept->classes + class], pc_kept_weight(kept, i),
                               kept->labels[i]};
  qsort(pairs->rows, kept->count, sizeof *pairs->rows, auc_row_order);
  for (size_t c = 0; c < pairs->classes; c++)
    pairs->below[c] = pairs->tied[c] = wins[c] = 0.0;
  for (size_t begin = 0, end; begin < kept->count; begin = end) {
    const auc_row *rows = pairs->rows;
    for (end = begin; end < kept->count && rows[end].score == rows[begin].score; end++)
      pairs->tied[rows[end].label] += rows[end].weight;
    for (size_t c = 0; pairs->tied[class] > 0.0 && c < pairs->classes; c++)
      wins[c] += pairs->tied[class] * (pairs->below[c] + 0.5 * pairs->tied[c]);
    for (size_t i = begin; i < end; i++) {
      pairs->below[rows[i].label] += pairs->tied[rows[i].label];
      pairs->tied[rows[i].label] = 0.0;
    }
  }
  for (size_t c = 0; c < pairs->classes; c++)
    pairs->total[c] = pairs->below[c];
}

static void auc_pairs_mean(const auc_pairs *pairs, pc_metric_result *out) {
  double sum = 0.0, counted = 0.0;
  for (size_t k = 0; k < pairs->classes; k++)
    for (size_t l = k + 1; l < pairs->classes; l++) {
      const double size = pairs->total[k] * pairs->total[l];
      if (!(size > 0.0))
        continue;
      sum += 0.5 * (pairs->wins[k * pairs->classes + l] + pairs->wins[l * pairs->classes + k]) /
             size;
      counted += 1.0;
    }
  if (!(counted > 0.0))
    auc_undefined(out);
  else
    out->value = sum / counted;
}

static pcal_status auc_hand_till(const pc_evidence *evidence, const pcal_env *env,
                                 pc_metric_result *out, pcal_error *err) {
  const size_t classes = evidence->layout->classes;
  const pcal_env held = pc_env_for_use(env, PC_MEMORY_CURVES);
  auc_pairs pairs = {.classes = classes};
  pairs.rows = pc_alloc_raw(&held, evidence->kept.count, sizeof *pairs.rows);
  pairs.below = pc_alloc_raw(&held, classes * (classes + 3), sizeof *pairs.below);
  if (pairs.rows == NULL || pairs.below == NULL) {
    pc_free(env, pairs.rows);
    pc_free(env, pairs.below);
    return pc_fail_memory(err, "comparing pairs of classes");
  }
  pairs.tied = pairs.below + classes;
  pairs.total = pairs.tied + classes;
  pairs.wins = pairs.total + classes;
  for (size_t c = 0; c < classes; c++)
    auc_pairs_class(&pairs, &evidence->kept, c);
  auc_pairs_mean(&pairs, out);
  pc_free(env, pairs.rows);
  pc_free(env, pairs.below);
  return PCAL_OK;
}

static pcal_status auc_evaluate_event(const pc_options *options, const pc_evidence *evidence,
                                      const pcal_env *env, pc_metric_result *out,
                                      pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  const auc_area found = auc_of_table(&evidence->curve.parts[0]);
  if (isnan(found.area)) {
    auc_undefined(out);
    return PCAL_OK;
  }
  out->value = found.area;
  out->scale = PC_SCALE_LOGIT;
  out->se = found.variance > 0.0 ? sqrt(found.variance) : (double)NAN;
  return PCAL_OK;
}

static pcal_status auc_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  switch (options->value[AUC_VIEW].choice) {
  case AUC_HAND_TILL:
    return auc_hand_till(evidence, env, out, err);
  case AUC_OVR:
    return auc_one_vs_rest(evidence, env, out, err);
  default:
    return auc_evaluate_event(options, evidence, env, out, err);
  }
}

static pcal_status failure_auroc_configure(pc_options *options, const pc_layout *layout,
                                           pc_metric_config *config, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  config->need.machine = PC_CURVE;
  config->need.view.kind = PC_VIEW_RANK;
  config->need.view.index = 1;
  config->has_se = 1;
  config->interval = PCAL_INTERVAL_JACKKNIFE;
  return PCAL_OK;
}

#define AUC_TRAITS (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_SQUARED)

const pc_metric pc_metric_auc = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "auc",
            .title = "area under the ROC curve, the c-statistic",
            .formula = "P(score of an event > score of a non-event) + P(equal scores) / 2",
            .about = "Measures discrimination, not calibration: 1 if every event has a higher "
                     "score than every non-event, 0.5 for scores that say nothing. Ties count "
                     "one half. With several classes it is the mean over classes of each "
                     "against the rest, or with view=hand-till the mean over pairs of classes. "
                     "The interval of one event is DeLong's, on the logit scale.",
            .citation = "DeLong, DeLong & Clarke-Pearson, Biometrics 1988; Hand & Till, "
                        "Machine Learning 2001",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_HIGHER,
            .options = auc_options,
            .option_count = sizeof auc_options / sizeof *auc_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = AUC_TRAITS,
    .configure = auc_configure,
    .evaluate = auc_evaluate,
};

const pc_metric pc_metric_failure_auroc = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "failure-auroc",
            .title = "area under the ROC curve of confidence against correctness",
            .formula =
                "P(confidence of a correct prediction > that of a wrong one) + P(equal) / "
                "2",
            .about = "How well the confidence tells correct predictions from wrong ones: 1 if "
                     "every correct one is more confident than every wrong one. Equal to "
                     "auc:view=top.",
            .citation = "Hendrycks & Gimpel, A baseline for detecting misclassified and "
                        "out-of-distribution examples in neural networks, ICLR 2017",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_HIGHER,
        },
    .range = PC_RANGE_SHARE,
    .traits = AUC_TRAITS,
    .configure = failure_auroc_configure,
    .evaluate = auc_evaluate_event,
};
