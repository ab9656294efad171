/* Shared by the tests of calibrators that are fitted by a search. */
#ifndef CONVEX_HELP_H
#define CONVEX_HELP_H

#include "calibrator_help.h"
#include "io/source.h"

/* What a fit needs (calibrator, source, scratch memory), so that tests can call single steps of
 * a fit. */
typedef struct help_task {
  pcal_env env;
  pc_arena scratch;
  pcal_source *source;
  pcal_calibrator *calibrator;
  pc_fit_task task;
} help_task;

static inline void help_task_open(help_task *out, const pcal_batch *batch, const char *method,
                                  const pcal_env *env) {
  const pc_calibrator_method *row = NULL;
  pc_options options;
  pc_layout layout;
  out->env = pc_env_resolve(env);
  assert_int_equal(pc_calibrator_parse(method, &row, &options, NULL), PCAL_OK);
  assert_int_equal(pc_layout_make(batch->kind, batch->columns, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_source_borrow(batch, NULL, &out->env, &out->source, NULL), PCAL_OK);
  assert_int_equal(pc_calibrator_new(&out->env, row, &options, &layout, &out->calibrator, NULL),
                   PCAL_OK);
  assert_int_equal(pc_arena_open(&out->scratch, &out->env, NULL), PCAL_OK);
  out->task = (pc_fit_task){out->source, &out->scratch.env, 0, out->calibrator};
}

static inline void help_task_close(help_task *task) {
  pc_arena_close(&task->scratch);
  pc_calibrator_free(task->calibrator);
  pc_source_free(task->source);
}

/* Mean of -log q of the label. */
static inline double help_log(const double *probs, const int32_t *labels, size_t rows,
                              size_t columns) {
  double sum = 0.0;
  for (size_t i = 0; i < rows; i++) {
    const double p = columns > 1      ? probs[i * columns + (size_t)labels[i]]
                     : labels[i] == 1 ? probs[i]
                                      : 1.0 - probs[i];
    sum -= log(p);
  }
  return sum / (double)rows;
}

static inline int help_warns(const pcal_calibrator *calibrator, const char *words) {
  for (size_t i = 0; i < calibrator->fit.warning_count; i++)
    if (strstr(calibrator->fit.warnings[i], words) != NULL)
      return 1;
  return 0;
}

/* No result is NaN, and probabilities lie in [0, 1]. */
static inline void help_sound(const pcal_calibrator *calibrator, const pcal_batch *batch) {
  double *out = malloc(batch->rows * batch->columns * sizeof *out);
  assert_false(isnan(calibrator->fit.gradient));
  assert_false(isnan(calibrator->fit.after));
  assert_true(calibrator->fit.after <= calibrator->fit.before);
  help_apply(calibrator, batch, out);
  for (size_t i = 0; i < batch->rows * batch->columns; i++)
    assert_true(out[i] >= 0.0 && out[i] <= 1.0 + 1e-12);
  free(out);
}

enum { HELP_TIMES = 4 }; /* more rows than parameters */

/* A fit to four rows of three scores, each several times. */
static inline void help_extreme(const char *method, pcal_kind kind, const double scores[12],
                                const int32_t labels[4]) {
  double many[12 * HELP_TIMES];
  int32_t many_labels[4 * HELP_TIMES];
  for (size_t i = 0; i < UNIT_COUNT(many); i++)
    many[i] = scores[i % 12];
  for (size_t i = 0; i < UNIT_COUNT(many_labels); i++)
    many_labels[i] = labels[i % 4];
  const pcal_batch batch = help_batch(kind, many, many_labels, UNIT_COUNT(many_labels), 3);
  pcal_calibrator *calibrator = help_fit(&batch, method);
  help_sound(calibrator, &batch);
  pcal_calibrator_free(calibrator);
}

/* Fits of `method` to extreme scores; each with labels that agree with the scores, with labels
 * that do not, and with a class that never occurs. */
static inline void help_extremes(const char *method) {
  static const double logits[][12] = {
      {1e30, -1e30, 0, -1e30, 1e30, 0, 1e30, 0, -1e30, 0, 1, 1e30},
      {1.7e308, -1.7e308, 0, -1.7e308, 1.7e308, 1, 2, 1.7e308, 0, 0, 0, 1e308},
      {5e-324, 0, 0, 0, 5e-324, 0, 0, 0, 5e-324, 1e-300, 0, 0},
      {1e30, 0, 1, 1, 2, 0.5, 0.1, 0.7, 0.2, 3, 1, 2},
      {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      {700, -700, 0, 745, -745, 0, -709, 710, 0, 0, 800, -800}};
  static const double probs[][12] = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0},
                                     {0.5, 0.5, 0, 0, 0.5, 0.5, 1, 0, 0, 1e-300, 1, 0},
                                     {0.2, 0.3, 0.5, 0, 0, 1, 1, 0, 0, 0.4, 0.4, 0.2}};
  static const int32_t labels[][4] = {{0, 1, 2, 0}, {0, 1, 1, 2}, {2, 2, 1, 1}, {1, 1, 1, 1}};
  for (size_t l = 0; l < UNIT_COUNT(labels); l++) {
    for (size_t s = 0; s < UNIT_COUNT(logits); s++)
      help_extreme(method, PCAL_LOGIT, logits[s], labels[l]);
    for (size_t s = 0; s < UNIT_COUNT(probs); s++)
      help_extreme(method, PCAL_PROBABILITY, probs[s], labels[l]);
  }
}

typedef struct help_scenario {
  const pcal_batch *batch;
  const char *method;
} help_scenario;

/* A fit and an application, on one thread so that allocations have an order. */
static inline pcal_status help_fit_and_apply(const pcal_env *env, void *user, pcal_error *err) {
  const help_scenario *about = user;
  pcal_env single = *env;
  pcal_calibrator *calibrator = NULL;
  double *out = malloc(about->batch->rows * about->batch->columns * sizeof *out);
  single.threads = 1;
  pcal_status status = help_try_fit(about->batch, about->method, &single, &calibrator, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_apply(calibrator, about->batch, &single, out, err);
  pcal_calibrator_free(calibrator);
  free(out);
  return status;
}

/* A file with wrong parameters is refused with this error. */
static inline void help_refuses(const char *method, const char *parameters,
                                const char *sentence) {
  char text[2048], name[64];
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(method, ":"), method);
  snprintf(text, sizeof text,
           "{\"format\": \"propercal-calibrator\", \"version\": 1,\n"
           "\"spec\": \"%s\", \"method\": \"%s\",\n"
           "\"classes\": 2,\n\"columns\": 2,\n\"input\": \"logit\",\n\"normalize\": "
           "false,\n\n\n\"parameters\": %s, \"fit\": {}}",
           method, name, parameters);
  assert_int_equal(
      pcal_calibrator_load(text, strlen(text), "cal.json", NULL, &calibrator, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, sentence);
  assert_null(calibrator);
}

#endif
