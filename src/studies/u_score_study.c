/* u-score: is the U-statistic unbiased, zero exactly for calibrated models, and does it detect the
 * improvement that a proper score detects?
 *
 * Design:  points with true class probabilities q = softmax(z), z = spread times standard normal
 *          numbers, all equally likely, and models softmax(factor z).  Under such a finite
 *          distribution every expectation is a finite sum (studies/u_score_exact.h).
 *          (1) Distributions: the terms of equation 56, E S = entropy + CE_S - sharpness, of the
 *          U-score and of the Brier score, for several factors, for P(Y) as the only prediction,
 *          and for the distribution of Proposition 3.2, whose top-label and class-wise errors are
 *          0.
 *          (2) Samples: `sets` sets of n rows of each model; the means of u-score, u-divergence
 *          and u-ce beside the exact CE_S, and beside CE_S + (E |e_Y - f|^2 - CE_S) / n, the mean
 *          of u-divergence.
 *          (3) Maps h of one model: the gains of the scores, E S(f) - E S(h o f), beside the gains
 *          of the errors that they induce.  Proposition 4.5 says that both gains are equal for
 *          proper scores and injective maps; the paper states nothing of the kind for U-scores.
 *          For this U-score it follows from equation 56 for every map, since entropy and sharpness
 *          are 0 (appendix F).  CE_S is another error than CE_2: both are 0 for the same models,
 *          but a map may reduce one and increase the other, as in the alternating distribution.
 * Edge cases:
 *   (1) Proposition 3.2 needs three classes: with two it is left out;
 *   (2) absolute values below 1e-12 are shown as 0;
 *   (3) the alternating distribution has two classes: f = 0.31 to 0.68, the truth alternately
 *       0.1 below and 0.1 above f; the map leaves gaps of 0.05, all of the same sign.
 * Source:  Gruber & Buettner 2022, version 3, appendix F, Propositions 3.2 and 4.5.
 * Cost:    (points times classes)^2 for each distribution; sets times rows^2 for the samples. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/rng.h"
#include "kernels/softmax.h"
#include "studies/study.h"
#include "studies/u_score_samples.h"

#define U_SCORE_STUDY_CLASSES 3
#define U_SCORE_STUDY_CLASSES_MAX 100
#define U_SCORE_STUDY_SETS 4000
#define U_SCORE_STUDY_ROWS_MAX 100000
#define U_SCORE_STUDY_ALPHA 0.51
#define U_SCORE_STUDY_ZERO 1e-12
#define U_SCORE_STUDY_STREAM UINT64_C(0x5b00000000000000)

enum {
  U_SCORE_STUDY_KERNEL,
  U_SCORE_STUDY_DISTANCE,
  U_SCORE_STUDY_SCALE,
  U_SCORE_STUDY_POINTS,
  U_SCORE_STUDY_SPREAD,
  U_SCORE_STUDY_MODEL
};

static const double u_score_study_factors[] = {0.5, 1, 1.5, 2.5};
static const uint64_t u_score_study_rows[] = {10, 30, 100, 300};

typedef struct u_score_study_work {
  const pc_study_job *job;
  pc_skce_kernel kernel;
  size_t points, classes;
  double *logits, *truth; /* of the points */
  double *other;          /* truth of another distribution */
  double *made;           /* predictions */
} u_score_study_work;

/* ---- distributions ---- */

static void u_score_study_points(const u_score_study_work *work) {
  const pc_rng rng = {work->job->env->seed, U_SCORE_STUDY_STREAM};
  const double spread = work->job->options->value[U_SCORE_STUDY_SPREAD].number;
  for (size_t i = 0; i < work->points * work->classes; i++)
    work->logits[i] = spread * pc_rng_normal(&rng, i);
  for (size_t i = 0; i < work->points; i++)
    pc_softmax_row(work->logits + i * work->classes, work->classes,
                   work->truth + i * work->classes);
}

/* The model softmax(factor z). */
static void u_score_study_temper(const u_score_study_work *work, double factor) {
  for (size_t i = 0; i < work->points * work->classes; i++)
    work->made[i] = factor * work->logits[i];
  for (size_t i = 0; i < work->points; i++)
    pc_softmax_row(work->made + i * work->classes, work->classes,
                   work->made + i * work->classes);
}

static size_t u_score_study_top(const double *row, size_t classes) {
  size_t top = 0;
  for (size_t k = 1; k < classes; k++)
    top = row[k] > row[top] ? k : top;
  return top;
}

/* Sets the predictions to P(Y | top class) or, unless by_class, to P(Y). */
static void u_score_study_average(const u_score_study_work *work, int by_class) {
  const size_t classes = work->classes;
  double rates[U_SCORE_STUDY_CLASSES_MAX] = {0};
  for (size_t top = 0; top < (by_class ? classes : 1); top++) {
    double count = 0;
    memset(rates, 0, sizeof rates);
    for (int pass = 0; pass < 2; pass++)
      for (size_t i = 0; i < work->points; i++) {
        double *row = work->made + i * classes;
        if (by_class && u_score_study_top(work->logits + i * classes, classes) != top)
          continue;
        count += pass == 0;
        for (size_t k = 0; k < classes; k++)
          if (pass == 0)
            rates[k] += work->truth[i * classes + k];
          else
            row[k] = rates[k] / count;
      }
  }
}

/* Rounds the predictions to tenths and rescales them to sum to 1. */
static void u_score_study_tenths(const u_score_study_work *work) {
  for (size_t i = 0; i < work->points; i++) {
    double *row = work->made + i * work->classes, sum = 0;
    const size_t top = u_score_study_top(row, work->classes);
    for (size_t k = 0; k < work->classes; k++) {
      row[k] = fmax(floor(10 * row[k] + 0.5), k == top ? 1.0 : 0.0);
      sum += row[k];
    }
    for (size_t k = 0; k < work->classes; k++)
      row[k] /= sum;
  }
}

/* The distribution of Proposition 3.2: one prediction for each class. */
static pc_finite_distribution u_score_study_blind(const u_score_study_work *work) {
  const size_t classes = work->classes;
  const double alpha = U_SCORE_STUDY_ALPHA, beta = (1 - alpha) / (double)(classes - 1);
  for (size_t i = 0; i < classes; i++)
    for (size_t k = 0; k < classes; k++) {
      const int before = k == (i + classes - 1) % classes;
      work->made[i * classes + k] = k == i ? alpha : beta;
      work->other[i * classes + k] = k == i ? alpha : before ? 1 - alpha : 0.0;
    }
  return (pc_finite_distribution){classes, classes, work->made, work->other};
}

/* The alternating distribution: gaps of 0.1 with alternating sign or, mapped, gaps of 0.05. */
static pc_finite_distribution u_score_study_alternate(const u_score_study_work *work,
                                                      int mapped) {
  for (size_t i = 0; i < work->points; i++) {
    const double f = 0.31 + 0.37 * ((double)i + 0.5) / (double)work->points;
    const double truth = f + (i % 2 == 0 ? -0.1 : 0.1);
    work->made[2 * i + 1] = mapped ? truth + 0.05 : f;
    work->made[2 * i] = 1 - work->made[2 * i + 1];
    work->other[2 * i + 1] = truth;
    work->other[2 * i] = 1 - truth;
  }
  return (pc_finite_distribution){work->points, 2, work->made, work->other};
}

static pc_finite_distribution u_score_study_distribution(const u_score_study_work *work) {
  return (pc_finite_distribution){work->points, work->classes, work->made, work->truth};
}

static double u_score_study_shown(double value) {
  return fabs(value) < U_SCORE_STUDY_ZERO ? 0.0 : value;
}

static const char *u_score_study_zero(double value) {
  return u_score_study_shown(value) == 0.0 ? "yes" : "no";
}

/* ---- table 1: distributions ---- */

static pcal_status u_score_study_describe(const u_score_study_work *work, const char *name,
                                          const pc_finite_distribution *distribution,
                                          pc_table *table, pcal_error *err) {
  pc_u_score_terms found;
  PC_TRY(pc_u_score_exact(distribution, &work->kernel, work->job->env, &found, err));
  PC_TRY(pc_table_add_row(table, err));
  const double numbers[] = {(double)found.values, found.brier,      found.ce,
                            found.sharpness,      found.u_score,    found.u_entropy,
                            found.u_ce,           found.u_sharpness};
  const size_t count = sizeof numbers / sizeof *numbers;
  pc_table_set_word(table, 0, name);
  for (size_t c = 0; c < count; c++)
    pc_table_set_number(table, 1 + c, u_score_study_shown(numbers[c]));
  pc_table_set_word(table, 1 + count, u_score_study_zero(found.ce));
  pc_table_set_word(table, 2 + count, u_score_study_zero(found.u_score));
  return PCAL_OK;
}

static const double *u_score_study_models(const pcal_study_config *config, size_t *count) {
  *count = config->factor_count > 0
               ? config->factor_count
               : sizeof u_score_study_factors / sizeof *u_score_study_factors;
  return config->factor_count > 0 ? config->factors : u_score_study_factors;
}

static pcal_status u_score_study_distributions(const u_score_study_work *work,
                                               pc_findings *findings, pcal_error *err) {
  static const char *const columns[] = {"law",         "values",     "brier",       "ce",
                                        "sharpness",   "u_score",    "entropy",     "u_ce",
                                        "u_sharpness", "calibrated", "u_score_zero"};
  pc_table *table =
      pc_findings_add_table(findings, "Known distributions: the terms of equation 56");
  size_t count;
  const double *factors = u_score_study_models(work->job->config, &count);
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  const pc_finite_distribution distribution = u_score_study_distribution(work);
  for (size_t i = 0; i < count; i++) {
    char name[PC_TABLE_WORD_MAX], number[PC_NUMBER_MAX];
    snprintf(name, sizeof name, "logits times %s", pc_show(factors[i], number));
    u_score_study_temper(work, factors[i]);
    PC_TRY(pc_check_interrupt(work->job->env, err));
    PC_TRY(u_score_study_describe(work, name, &distribution, table, err));
  }
  u_score_study_average(work, 0);
  PC_TRY(u_score_study_describe(work, "class frequencies", &distribution, table, err));
  if (work->classes < 3)
    return PCAL_OK;
  const pc_finite_distribution blind = u_score_study_blind(work);
  return u_score_study_describe(work, "Proposition 3.2", &blind, table, err);
}

/* ---- table 2: samples ---- */

enum { U_SCORE_STUDY_U, U_SCORE_STUDY_D, U_SCORE_STUDY_CE, U_SCORE_STUDY_METRICS };

/* Mean over sets and its standard error. */
static double u_score_study_mean(const pc_u_score_samples *sample, size_t metric,
                                 double *error) {
  const double sets = (double)sample->sets;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < sample->sets; i++)
    sum += sample->values[i * U_SCORE_STUDY_METRICS + metric];
  for (size_t i = 0; i < sample->sets; i++) {
    const double from = sample->values[i * U_SCORE_STUDY_METRICS + metric] - sum / sets;
    squares += from * from;
  }
  *error = sqrt(squares / (sets - 1) / sets);
  return sum / sets;
}

static pcal_status u_score_study_sample_row(const pc_u_score_samples *sample, double factor,
                                            const pc_u_score_terms *known, pc_table *table,
                                            pcal_error *err) {
  const double n = (double)sample->rows;
  double error, other;
  const double mean = u_score_study_mean(sample, U_SCORE_STUDY_U, &error);
  double below = 0;
  for (size_t i = 0; i < sample->sets; i++)
    below += sample->values[i * U_SCORE_STUDY_METRICS + U_SCORE_STUDY_U] < 0;
  const double numbers[] = {factor,
                            n,
                            (double)sample->sets,
                            u_score_study_shown(known->u_ce),
                            mean,
                            error,
                            (mean - known->u_ce) / error,
                            below / (double)sample->sets,
                            u_score_study_mean(sample, U_SCORE_STUDY_D, &other),
                            known->u_ce + (known->u_self - known->u_ce) / n,
                            u_score_study_mean(sample, U_SCORE_STUDY_CE, &other)};
  PC_TRY(pc_table_add_row(table, err));
  for (size_t c = 0; c < sizeof numbers / sizeof *numbers; c++)
    pc_table_set_number(table, c, numbers[c]);
  return PCAL_OK;
}

static pcal_status u_score_study_sample(pc_u_score_samples *sample, double factor,
                                        const pc_u_score_terms *known, const pcal_env *env,
                                        pc_table *table, pcal_error *err) {
  sample->values = pc_alloc(env, sample->sets * U_SCORE_STUDY_METRICS, sizeof(double));
  if (sample->values == NULL)
    return pc_fail_memory(err, "drawing sets");
  pcal_status status = pc_u_score_samples_draw(sample, env, err);
  if (status == PCAL_OK)
    status = u_score_study_sample_row(sample, factor, known, table, err);
  pc_free(env, sample->values);
  sample->values = NULL;
  return status;
}

/* "u-score:kernel=...", and the same kernel for the other two. */
static void u_score_study_specs(const u_score_study_work *work, char specs[][PC_SPEC_MAX]) {
  static const char *const names[] = {"u-score", "u-divergence", "u-ce"};
  char scale[PC_NUMBER_MAX];
  for (size_t m = 0; m < U_SCORE_STUDY_METRICS; m++)
    snprintf(specs[m], PC_SPEC_MAX, "%s:kernel=%s,distance=%s,scale=%s", names[m],
             work->kernel.gaussian ? "gaussian" : "exponential",
             work->kernel.tv ? "tv" : "euclidean", pc_show(work->kernel.scale, scale));
}

static pcal_status u_score_study_sizes(const u_score_study_work *work, double factor,
                                       uint64_t stream, pc_table *table, pcal_error *err) {
  const pcal_study_config *config = work->job->config;
  const size_t count = config->row_count_count > 0
                           ? config->row_count_count
                           : sizeof u_score_study_rows / sizeof *u_score_study_rows;
  const uint64_t *rows = config->row_count_count > 0 ? config->row_counts : u_score_study_rows;
  char specs[U_SCORE_STUDY_METRICS][PC_SPEC_MAX];
  const char *const list[] = {specs[0], specs[1], specs[2]};
  pc_u_score_samples sample = {.distribution = u_score_study_distribution(work),
                               .specs = list,
                               .spec_count = U_SCORE_STUDY_METRICS};
  pc_u_score_terms known;
  u_score_study_specs(work, specs);
  u_score_study_temper(work, factor);
  sample.sets = config->sets > 0 ? (size_t)config->sets : U_SCORE_STUDY_SETS;
  PC_TRY(pc_u_score_exact(&sample.distribution, &work->kernel, work->job->env, &known, err));
  for (size_t i = 0; i < count; i++) {
    if (rows[i] < 2 || rows[i] > U_SCORE_STUDY_ROWS_MAX || sample.sets < 2)
      return pc_fail(err, PCAL_USAGE,
                     "study u-score takes sets of 2 to %d rows, and at least 2 sets; see "
                     "{rows} and {sets}",
                     U_SCORE_STUDY_ROWS_MAX);
    sample.rows = (size_t)rows[i];
    sample.stream = stream + i;
    PC_TRY(u_score_study_sample(&sample, factor, &known, work->job->env, table, err));
  }
  return PCAL_OK;
}

static pcal_status u_score_study_samples(const u_score_study_work *work, pc_findings *findings,
                                         pcal_error *err) {
  static const char *const columns[] = {"factor",
                                        "rows",
                                        "sets",
                                        "truth",
                                        "u_score",
                                        "standard_error",
                                        "standard_errors_off",
                                        "share_below_0",
                                        "u_divergence",
                                        "u_divergence_expected",
                                        "u_ce"};
  pc_table *table =
      pc_findings_add_table(findings, "Samples: means over sets beside the truth");
  size_t count;
  const double *factors = u_score_study_models(work->job->config, &count);
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t i = 0; i < count; i++)
    PC_TRY(
        u_score_study_sizes(work, factors[i], U_SCORE_STUDY_STREAM + 1 + 1000 * i, table, err));
  return PCAL_OK;
}

/* ---- table 3: maps ---- */

static pcal_status u_score_study_map_row(const char *const words[2],
                                         const pc_u_score_terms *from,
                                         const pc_u_score_terms *to, pc_table *table,
                                         pcal_error *err) {
  const double gains[] = {from->brier - to->brier, from->ce - to->ce,
                          from->sharpness - to->sharpness, from->u_score - to->u_score,
                          from->u_ce - to->u_ce};
  PC_TRY(pc_table_add_row(table, err));
  pc_table_set_word(table, 0, words[0]);
  pc_table_set_word(table, 1, words[1]);
  pc_table_set_word(table, 2, to->values == from->values ? "yes" : "no");
  for (size_t c = 0; c < sizeof gains / sizeof *gains; c++)
    pc_table_set_number(table, 3 + c, u_score_study_shown(gains[c]));
  pc_table_set_word(table, 8, u_score_study_zero(gains[0] - gains[1]));
  pc_table_set_word(table, 9, u_score_study_zero(gains[3] - gains[4]));
  return PCAL_OK;
}

/* The predictions of the model after map number `map`; returns the map's name. */
static const char *u_score_study_map(const u_score_study_work *work, size_t map) {
  static const char *const names[] = {"the true probabilities", "half way there",
                                      "further away",           "tenths",
                                      "the predicted class",    "class frequencies"};
  const double model = work->job->options->value[U_SCORE_STUDY_MODEL].number;
  if (map >= sizeof names / sizeof *names)
    return NULL;
  u_score_study_temper(work, map == 0   ? 1.0
                             : map == 1 ? sqrt(model)
                             : map == 2 ? model * sqrt(model)
                                        : model);
  if (map == 3)
    u_score_study_tenths(work);
  if (map > 3)
    u_score_study_average(work, map == 4);
  return names[map];
}

static pcal_status u_score_study_maps(const u_score_study_work *work, pc_findings *findings,
                                      pcal_error *err) {
  static const char *const columns[] = {
      "model",          "map",          "injective", "brier_gain",      "ce_gain",
      "lost_sharpness", "u_score_gain", "u_ce_gain", "brier_equals_ce", "u_score_equals_u_ce"};
  const pcal_env *env = work->job->env;
  pc_table *table = pc_findings_add_table(findings, "Maps: gains of scores and of errors");
  char name[PC_TABLE_WORD_MAX], number[PC_NUMBER_MAX];
  const double model = work->job->options->value[U_SCORE_STUDY_MODEL].number;
  const pc_finite_distribution distribution = u_score_study_distribution(work);
  pc_u_score_terms from, to;
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  u_score_study_temper(work, model);
  PC_TRY(pc_u_score_exact(&distribution, &work->kernel, env, &from, err));
  snprintf(name, sizeof name, "logits times %s", pc_show(model, number));
  const char *map = NULL;
  for (size_t m = 0; (map = u_score_study_map(work, m)) != NULL; m++) {
    PC_TRY(pc_u_score_exact(&distribution, &work->kernel, env, &to, err));
    PC_TRY(u_score_study_map_row((const char *const[]){name, map}, &from, &to, table, err));
  }
  const pc_finite_distribution before = u_score_study_alternate(work, 0);
  PC_TRY(pc_u_score_exact(&before, &work->kernel, env, &from, err));
  const pc_finite_distribution after = u_score_study_alternate(work, 1);
  PC_TRY(pc_u_score_exact(&after, &work->kernel, env, &to, err));
  return u_score_study_map_row((const char *const[]){"alternating", "gaps of one sign"}, &from,
                               &to, table, err);
}

/* ---- the study ---- */

static size_t u_score_study_yes(const pc_table *table, const char *column) {
  const size_t place = pc_table_find_column(table, column);
  size_t count = 0;
  for (size_t r = 0; r < table->row_count; r++)
    count += strcmp(pc_table_at(table, r, place)->word, "yes") == 0;
  return count;
}

static size_t u_score_study_agree(const pc_table *table, const char *a, const char *b) {
  const size_t first = pc_table_find_column(table, a), second = pc_table_find_column(table, b);
  size_t count = 0;
  for (size_t r = 0; r < table->row_count; r++)
    count +=
        strcmp(pc_table_at(table, r, first)->word, pc_table_at(table, r, second)->word) == 0;
  return count;
}

/* Distributions whose entropy and sharpness are 0. */
static size_t u_score_study_zeros(const pc_table *table) {
  const size_t entropy = pc_table_find_column(table, "entropy");
  const size_t sharpness = pc_table_find_column(table, "u_sharpness");
  size_t count = 0;
  for (size_t r = 0; r < table->row_count; r++)
    count += pc_table_at(table, r, entropy)->number == 0.0 &&
             pc_table_at(table, r, sharpness)->number == 0.0;
  return count;
}

static void u_score_study_summarise(pc_findings *findings) {
  const pc_table *exact_table = &findings->tables[0], *samples = &findings->tables[1],
                 *maps = &findings->tables[2];
  const size_t off = pc_table_find_column(samples, "standard_errors_off");
  const size_t last = maps->row_count - 1;
  double most = 0;
  char text[3][PC_NUMBER_MAX];
  for (size_t r = 0; r < samples->row_count; r++)
    most = fmax(most, fabs(pc_table_at(samples, r, off)->number));
  pc_findings_add_sentence(
      findings,
      "In %zu of %zu distributions the mean U-score is 0 exactly when predictions are "
      "calibrated; its entropy and sharpness are both 0 in %zu.",
      u_score_study_agree(exact_table, "calibrated", "u_score_zero"), exact_table->row_count,
      u_score_study_zeros(exact_table));
  pc_number_fixed(most, 1, text[0]);
  pc_findings_add_sentence(
      findings,
      "Over samples its mean lies at most %s standard errors from the error that it "
      "induces, in %zu cases.",
      text[0], samples->row_count);
  pc_findings_add_sentence(
      findings,
      "Of %zu maps, %zu of them injective, the Brier score and its error gain equally for "
      "%zu (Proposition 4.5: for every injective one), the U-score and its error for %zu.",
      maps->row_count, u_score_study_yes(maps, "injective"),
      u_score_study_yes(maps, "brier_equals_ce"),
      u_score_study_yes(maps, "u_score_equals_u_ce"));
  pc_number_round(pc_table_at(maps, last, 3)->number, 3, text[1]);
  pc_number_round(pc_table_at(maps, last, 6)->number, 3, text[2]);
  pc_findings_add_sentence(
      findings,
      "The two scores need not agree: for the alternating distribution the Brier score gains "
      "%s and the U-score %s.",
      text[1], text[2]);
}

static pcal_status u_score_study_check(const u_score_study_work *work, pcal_error *err) {
  size_t count;
  const double *factors = u_score_study_models(work->job->config, &count);
  if (work->classes < 2 || work->classes > U_SCORE_STUDY_CLASSES_MAX)
    return pc_fail(err, PCAL_USAGE, "study u-score takes 2 to %d classes; see {classes}",
                   U_SCORE_STUDY_CLASSES_MAX);
  if (work->kernel.gaussian && work->kernel.tv && work->classes > 2)
    return pc_fail(err, PCAL_USAGE,
                   "study u-score: kernel=gaussian with distance=tv is not positive definite "
                   "for more than two classes; change one of the two");
  for (size_t i = 0; i < count; i++)
    if (!(factors[i] > 0 && factors[i] < 1e6))
      return pc_fail(err, PCAL_USAGE, "study u-score: a factor must be above 0 and below 1e6");
  return PCAL_OK;
}

static pcal_status u_score_study_tables(u_score_study_work *work, pc_findings *findings,
                                        pcal_error *err) {
  u_score_study_points(work);
  PC_TRY(u_score_study_distributions(work, findings, err));
  PC_TRY(u_score_study_samples(work, findings, err));
  PC_TRY(u_score_study_maps(work, findings, err));
  u_score_study_summarise(findings);
  return PCAL_OK;
}

static pcal_status u_score_study_run(const pc_study_job *job, pc_findings *findings,
                                     pcal_error *err) {
  const pc_option_value *value = job->options->value;
  const size_t classes = job->config->simulation.classes;
  u_score_study_work work = {.job = job};
  work.kernel =
      (pc_skce_kernel){value[U_SCORE_STUDY_KERNEL].choice, value[U_SCORE_STUDY_DISTANCE].choice,
                       value[U_SCORE_STUDY_SCALE].number};
  work.points = (size_t)value[U_SCORE_STUDY_POINTS].number;
  work.classes = classes == 0 ? U_SCORE_STUDY_CLASSES : classes;
  PC_TRY(u_score_study_check(&work, err));
  const size_t most = work.points > work.classes ? work.points : work.classes;
  work.logits = pc_alloc_raw(job->memory, most * work.classes, sizeof *work.logits);
  work.truth = pc_alloc_raw(job->memory, most * work.classes, sizeof *work.truth);
  work.other = pc_alloc_raw(job->memory, most * work.classes, sizeof *work.other);
  work.made = pc_alloc_raw(job->memory, most * work.classes, sizeof *work.made);
  return work.logits == NULL || work.truth == NULL || work.other == NULL || work.made == NULL
             ? pc_fail_memory(err, "writing distributions out")
             : u_score_study_tables(&work, findings, err);
}

static const pcal_option u_score_study_options[] = {
    {"kernel", PCAL_OPTION_CHOICE, "exponential", 0, 0, "exponential|gaussian",
     "as in the metric u-score"},
    {"distance", PCAL_OPTION_CHOICE, "euclidean", 0, 0, "euclidean|tv",
     "as in the metric u-score"},
    {"scale", PCAL_OPTION_REAL, "1", 1e-9, 1e9, NULL, "as in the metric u-score"},
    {"points", PCAL_OPTION_INT, "60", 2, 2000, NULL, "different predictions of a model"},
    {"spread", PCAL_OPTION_REAL, "1.5", 0.01, 100, NULL,
     "standard deviation of the true logits"},
    {"model", PCAL_OPTION_REAL, "2", 0.01, 100, NULL,
     "factor of the logits of the model that maps change"},
};

const pc_study pc_study_u_score = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "u-score",
            .title =
                "is the U-score unbiased, zero only for calibrated models, and how do maps "
                "change it?",
            .formula =
                "E S(f(X), f(X'), Y, Y') = entropy + CE_S - sharpness, both 0 for this S",
            .about =
                "Writes out distributions whose true probabilities are known and computes "
                "every term of equation 56 exactly, for the U-score of degree two of a kernel "
                "and for the Brier score; draws sets of rows from them and compares the means "
                "of u-score, u-divergence and u-ce with the truth; and compares the gains of "
                "the scores by maps of the predictions with those of the errors that they "
                "induce. Proposition 4.5 says that these gains are equal for proper scores and "
                "injective maps; for this U-score equation 56 gives it for every map. Takes "
                "`classes`, `factor`, `rows` and `sets`; predictions are not needed.",
            .citation = "Gruber & Buettner, NeurIPS 2022, third version, appendix F, "
                        "Propositions 3.2 and 4.5",
            .options = u_score_study_options,
            .option_count = sizeof u_score_study_options / sizeof *u_score_study_options,
        },
    .run = u_score_study_run,
};
