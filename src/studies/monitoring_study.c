/* monitoring: how often does a watch raise a false alarm, and how soon does it find an error?
 *
 * Design:  a stream of rows.  of=events: true logit z = 1.5 g, g standard normal, outcome drawn
 *          from sigmoid(z), prediction sigmoid(z) before the change and sigmoid(f z) from it
 *          on.
 *          of=numbers: target g, predicted distribution normal with mean 0 and standard deviation 1
 *          before the change, 1 / f from it on, so that f > 1 is over-confident in both.
 *          Every row is looked at.  The study reports the share of streams with an alarm before the
 *          change (or at any time, without one), the share with an alarm after it, and the
 *          rows from the change to the alarm, of streams without a false alarm: median and
 *          90 % quantile, counting streams without an alarm as infinite.
 *          For comparison (of=events), repeated_test: the share of streams in which Spiegelhalter's
 *          z, looked at every 100 rows, exceeds 1.96 in absolute value before the change.
 * Edge cases:
 *   (1) factor 1: nothing changes, and every alarm is a false one.
 *   (2) a quantile among streams without an alarm is an empty cell.
 * Cost: streams times rows times about a microsecond; streams are spread over threads. */
#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "base/executor.h"
#include "base/normal.h"
#include "base/rng.h"
#include "studies/study.h"
#include "watch/calibration_bets.h"

#define MONITORING_STREAMS 2000
#define MONITORING_ROWS 10000
#define MONITORING_SPREAD 1.5
#define MONITORING_LOOK 100
#define MONITORING_ROW_COST 4e3
#define MONITORING_NORMAL 1.959963984540054
#define MONITORING_STREAM UINT64_C(0x6d00000000000000)

enum { MONITORING_OF, MONITORING_CHANGE, MONITORING_ALPHA };

static const pcal_option monitoring_options[] = {
    {"of", PCAL_OPTION_CHOICE, "events", 0, 0, "events|numbers",
     "predictions of events, or normal distributions of numbers"},
    {"change", PCAL_OPTION_REAL, "0", 0, 1, NULL,
     "when predictions become wrong, as a share of the rows; 0: from the first row on"},
    {"alpha", PCAL_OPTION_REAL, "0.05", 1e-9, 0.5, NULL, "probability of a false alarm"},
};

/* One stream: rows at the first alarm, 0 if there was none. */
typedef struct monitoring_stream {
  uint64_t alarm;
  int repeated; /* the repeated test rejects before the change */
} monitoring_stream;

typedef struct monitoring_job {
  const pcal_env *env;
  int numbers;
  double alpha, factor;
  uint64_t rows, change;
  size_t streams;
  monitoring_stream *out;
} monitoring_job;

/* Spiegelhalter's z: sums of (y - p)(1 - 2p) and (1 - 2p)^2 p (1 - p). */
typedef struct monitoring_sums {
  double excess, variance;
} monitoring_sums;

static double monitoring_sigmoid(double x) {
  return 1 / (1 + pc_exp(-x));
}

static void monitoring_row(const monitoring_job *job, double normal, double uniform,
                           double factor, pc_calibration_bets *bets, monitoring_sums *sums) {
  if (job->numbers) {
    pc_bets_add_pit(bets, pc_normal_cdf(normal * factor));
    return;
  }
  const double z = MONITORING_SPREAD * normal, p = monitoring_sigmoid(factor * z);
  const int outcome = uniform < monitoring_sigmoid(z);
  pc_bets_add_event(bets, p, outcome);
  sums->excess += (outcome - p) * (1 - 2 * p);
  sums->variance += (1 - 2 * p) * (1 - 2 * p) * p * (1 - p);
}

static pcal_status monitoring_task(void *user, size_t stream, size_t worker, pcal_error *err) {
  const monitoring_job *job = user;
  const pc_rng score = {job->env->seed, MONITORING_STREAM};
  const pc_rng outcome = {job->env->seed, MONITORING_STREAM + 1};
  const uint64_t first = (uint64_t)stream * job->rows;
  const uint64_t calm = job->factor == 1 ? job->rows : job->change;
  monitoring_stream *out = &job->out[stream];
  monitoring_sums sums = {0, 0};
  pc_calibration_bets bets;
  (void)worker;
  (void)err;
  *out = (monitoring_stream){0, 0};
  pc_bets_init(&bets);
  for (uint64_t t = 0; t < job->rows; t++) {
    monitoring_row(job, pc_rng_normal(&score, first + t), pc_rng_uniform(&outcome, first + t),
                   t < job->change ? 1 : job->factor, &bets, &sums);
    if ((t + 1) % MONITORING_LOOK == 0 && t < calm &&
        fabs(sums.excess) > MONITORING_NORMAL * sqrt(sums.variance))
      out->repeated = 1;
    if (out->alarm == 0 && pc_wide_log(bets.now) >= -pc_log(job->alpha))
      out->alarm = t + 1;
    if (out->alarm > 0 && t >= calm)
      break;
  }
  return PCAL_OK;
}

static int monitoring_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static pcal_status monitoring_add_row(const monitoring_job *job, double *delays,
                                      pc_table *table, pcal_error *err) {
  const uint64_t calm = job->factor == 1 ? job->rows : job->change;
  size_t early = 0, late = 0, repeated = 0, counted = 0;
  for (size_t s = 0; s < job->streams; s++) {
    const uint64_t alarm = job->out[s].alarm;
    const int is_early = alarm > 0 && alarm <= calm;
    early += (size_t)is_early;
    late += alarm > calm;
    repeated += (size_t)job->out[s].repeated;
    if (!is_early)
      delays[counted++] = alarm > calm ? (double)(alarm - calm) : INFINITY;
  }
  qsort(delays, counted, sizeof *delays, monitoring_compare);
  PC_TRY(pc_table_add_row(table, err));
  const double all = (double)job->streams;
  const double median = counted > 0 ? delays[(counted - 1) / 2] : INFINITY;
  const double most = counted > 0 ? delays[(counted - 1) * 9 / 10] : INFINITY;
  pc_table_set_number(table, 0, job->factor);
  pc_table_set_number(table, 1, (double)job->change);
  pc_table_set_number(table, 2, calm == 0 ? (double)NAN : (double)early / all);
  pc_table_set_number(table, 3, job->factor == 1 ? (double)NAN : (double)late / all);
  pc_table_set_number(table, 4, isinf(median) ? (double)NAN : median);
  pc_table_set_number(table, 5, isinf(most) ? (double)NAN : most);
  pc_table_set_number(table, 6,
                      calm == 0 || job->numbers ? (double)NAN : (double)repeated / all);
  return PCAL_OK;
}

static pcal_status monitoring_factors(monitoring_job *job, const pcal_study_config *config,
                                      double *delays, pc_table *table, pcal_error *err) {
  static const double usual[] = {1, 1.25, 1.5, 2};
  const size_t count = config->factor_count > 0 ? config->factor_count : 4;
  const double *factors = config->factor_count > 0 ? config->factors : usual;
  const double cost = MONITORING_ROW_COST * (double)job->streams * (double)job->rows;
  for (size_t f = 0; f < count; f++) {
    job->factor = factors[f];
    PC_TRY(pc_run_with_progress(job->env, "watching streams", job->streams, cost,
                                monitoring_task, job, err));
    PC_TRY(monitoring_add_row(job, delays, table, err));
  }
  return PCAL_OK;
}

static pcal_status monitoring_run(const pc_study_job *study, pc_findings *findings,
                                  pcal_error *err) {
  static const char *const columns[] = {"factor", "change_row", "false_alarms", "alarms",
                                        "delay",  "delay_90",   "repeated_test"};
  const pcal_study_config *config = study->config;
  const pc_option_value *options = study->options->value;
  monitoring_job job = {
      .env = study->env,
      .numbers = options[MONITORING_OF].choice == 1,
      .alpha = options[MONITORING_ALPHA].number,
      .rows = config->simulation.rows > 0 ? config->simulation.rows : MONITORING_ROWS,
      .streams = config->sets > 0 ? (size_t)config->sets : MONITORING_STREAMS};
  job.change = (uint64_t)(options[MONITORING_CHANGE].number * (double)job.rows);
  job.out = pc_alloc(study->memory, job.streams, sizeof *job.out);
  double *delays = pc_alloc(study->memory, job.streams, sizeof *delays);
  if (job.out == NULL || delays == NULL)
    return pc_fail_memory(err, "watching streams");
  findings->simulated = 1;
  pc_table *table = pc_findings_add_table(findings, "");
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  pc_findings_add_sentence(
      findings,
      "%zu streams of %llu rows, looked at after every row: the share with an alarm while the "
      "predictions are calibrated (false_alarms; at most alpha), the share with one after they "
      "are wrong by the factor, and the median and 90 %% quantile of the rows until then.",
      job.streams, (unsigned long long)job.rows);
  if (!job.numbers)
    pc_findings_add_sentence(findings,
                             "repeated_test: false alarms of Spiegelhalter's test at 5 %%, "
                             "repeated every %d rows.",
                             MONITORING_LOOK);
  return monitoring_factors(&job, config, delays, table, err);
}

const pc_study pc_study_monitoring = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "monitoring",
            .title = "how often does a watch raise a false alarm, and how soon a true one?",
            .formula = "share of simulated streams whose e-value ever reaches 1/alpha",
            .about =
                "Simulates streams of calibrated predictions that become over-confident by a "
                "factor (2000 streams of 10000 rows, factors 1, 1.25, 1.5 and 2, unless "
                "`sets`, `rows` and `factors` say otherwise) and watches each, row by row, as "
                "`propercal watch` does.",
            .citation = "Arnold, Henzi & Ziegel (2023), Sequentially valid tests for forecast "
                        "calibration",
            .options = monitoring_options,
            .option_count = sizeof monitoring_options / sizeof *monitoring_options,
        },
    .run = monitoring_run,
};
