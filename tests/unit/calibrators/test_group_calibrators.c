/* Calibrators of groups: mixtures against their parts, the choice of kappa, files, failures. */
#include "calibrator_help.h"
#include "calibrators/group_calibrators.h"
#include "io/source.h"

#define GROUPED_ROWS 900
#define GROUPED_CLASSES 3

typedef struct grouped_data {
  double logits[GROUPED_ROWS * GROUPED_CLASSES];
  int32_t labels[GROUPED_ROWS];
  uint32_t groups[GROUPED_ROWS];
  pcal_input scores, truth, names;
  size_t rows;
} grouped_data;

static const char *const grouped_names[] = {"a", "b", "c"};

/* Rows of three groups in turn; those of group g were drawn at temperature truth[g]. */
static void grouped_draw(grouped_data *data, size_t rows, const double truth[3]) {
  const pc_rng scores = {HELP_SEED, 1}, noise = {HELP_SEED, 2};
  data->rows = rows;
  for (size_t i = 0; i < rows; i++) {
    double best = -INFINITY;
    data->groups[i] = (uint32_t)(i % 3);
    for (size_t j = 0; j < GROUPED_CLASSES; j++) {
      const uint64_t draw = i * GROUPED_CLASSES + j;
      const double z = 3 * pc_rng_normal(&scores, draw);
      const double chosen = z / truth[i % 3] - log(-log(pc_rng_uniform(&noise, draw)));
      data->logits[draw] = z;
      if (chosen > best)
        data->labels[i] = (int32_t)j;
      best = fmax(best, chosen);
    }
  }
}

static pcal_status grouped_open(grouped_data *data, const pcal_env *env, pcal_source **out,
                                pcal_error *err) {
  const pcal_input blank = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  data->scores = data->truth = data->names = blank;
  data->scores.data = data->logits;
  data->scores.type = PCAL_F64;
  data->scores.rows = data->truth.rows = data->names.rows = data->rows;
  data->scores.columns = GROUPED_CLASSES;
  data->scores.row_stride = GROUPED_CLASSES * sizeof(double);
  data->scores.column_stride = sizeof(double);
  data->truth.data = data->labels;
  data->truth.type = PCAL_I32;
  data->truth.row_stride = data->names.row_stride = 4;
  data->names.data = data->groups;
  data->names.type = PCAL_U32;
  data->names.meanings = grouped_names;
  data->names.meaning_count = 3;
  inputs.logits = &data->scores;
  inputs.labels = &data->truth;
  inputs.groups = &data->names;
  return pcal_source_open(&inputs, env, out, err);
}

static pcal_status grouped_try(grouped_data *data, const char *method, const pcal_env *env,
                               pcal_calibrator **out, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.method = method;
  config.by_group = 1;
  pcal_status status = grouped_open(data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, env, out, err);
  pcal_source_free(source);
  return status;
}

static pcal_calibrator *grouped_learn(grouped_data *data, const char *method) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  if (grouped_try(data, method, NULL, &calibrator, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return calibrator;
}

/* A batch of the rows of one group, or of all. */
static pcal_batch grouped_batch(const grouped_data *data, int group, double *scores,
                                int32_t *labels) {
  size_t rows = 0;
  for (size_t i = 0; i < data->rows; i++) {
    if (group >= 0 && data->groups[i] != (uint32_t)group)
      continue;
    memcpy(scores + GROUPED_CLASSES * rows, data->logits + GROUPED_CLASSES * i,
           GROUPED_CLASSES * sizeof(double));
    labels[rows++] = data->labels[i];
  }
  return help_batch(PCAL_LOGIT, scores, labels, rows, GROUPED_CLASSES);
}

/* Every result is the mixture of fits to the group alone and to all rows. */
TEST(grouped_mixture) {
  static const double truth[3] = {1, 3, 2};
  static grouped_data data;
  static double scores[GROUPED_ROWS * 3], out[GROUPED_ROWS * 3], all[GROUPED_ROWS * 3],
      own[GROUPED_ROWS * 3];
  static int32_t labels[GROUPED_ROWS];
  grouped_draw(&data, GROUPED_ROWS, truth);
  pcal_calibrator *calibrator = grouped_learn(&data, "temperature");
  pcal_batch batch = grouped_batch(&data, -1, scores, labels);
  pcal_calibrator *pooled = help_fit(&batch, "temperature");
  assert_int_equal(pcal_calibrator_group_count(calibrator), 3);
  assert_string_equal(pcal_calibrator_group_name(calibrator, 2), "c");
  assert_null(pcal_calibrator_group_name(calibrator, 3));
  batch.groups = data.groups;
  help_apply(calibrator, &batch, out);
  help_apply(pooled, &batch, all);
  const double kappa = calibrator->groups->kappa, share = 300.0 / (300.0 + kappa);
  assert_true(isfinite(kappa) && kappa < 300);
  for (int g = 0; g < 3; g++) {
    static double part_scores[GROUPED_ROWS * 3];
    const pcal_batch part = grouped_batch(&data, g, part_scores, labels);
    pcal_calibrator *alone = help_fit(&part, "temperature");
    help_apply(alone, &batch, own);
    for (size_t i = 0; i < 3 * data.rows; i++)
      if (data.groups[i / 3] == (uint32_t)g)
        assert_near(out[i], share * own[i] + (1 - share) * all[i], 1e-14);
    pcal_calibrator_free(alone);
  }
  /* Unknown groups get the map of all rows. */
  for (size_t i = 0; i < data.rows; i++)
    data.groups[i] = 7;
  help_apply(calibrator, &batch, out);
  assert_memory_equal(out, all, sizeof all);
  pcal_calibrator_free(pooled);
  pcal_calibrator_free(calibrator);
}

/* Groups that do not differ get the calibrator of all rows. */
TEST(grouped_alike) {
  static const double truth[3] = {2, 2, 2};
  static grouped_data data;
  grouped_draw(&data, GROUPED_ROWS, truth);
  pcal_calibrator *calibrator = grouped_learn(&data, "temperature");
  assert_true(calibrator->groups->kappa >= 300);
  pcal_calibrator_free(calibrator);
}

TEST(grouped_files) {
  static const double truth[3] = {1, 3, 2};
  static grouped_data data;
  grouped_draw(&data, 60, truth);
  pcal_calibrator *calibrator = grouped_learn(&data, "temperature");
  sink_bytes text = help_save(calibrator), described = {0};
  pcal_calibrator *again = help_load(text.bytes);
  sink_bytes copy = help_save(again);
  assert_string_equal(text.bytes, copy.bytes);
  assert_int_equal(pcal_calibrator_group_count(again), 3);
  assert_int_equal(pcal_calibrator_describe(again, PCAL_TEXT, sink_collect, &described, NULL),
                   PCAL_OK);
  assert_non_null(strstr(described.bytes, "groups       3, "));
  assert_int_equal(pcal_calibrator_describe(again, PCAL_JSON, sink_collect, &described, NULL),
                   PCAL_OK);
  /* Damaged members are refused. */
  char *name = strstr(text.bytes, "\"name\": \"a\"");
  assert_non_null(name);
  memcpy(name, "\"nome\"", 6);
  pcal_calibrator *bad = NULL;
  pcal_error err;
  assert_int_equal(pcal_calibrator_load(text.bytes, text.length, "cal.json", NULL, &bad, &err),
                   PCAL_DATA);
  assert_non_null(strstr(err.message, "the key \"nome\" is unknown"));
  free(text.bytes);
  free(copy.bytes);
  free(described.bytes);
  pcal_calibrator_free(again);
  pcal_calibrator_free(calibrator);
}

/* A group that lacks a class gets the calibrator of all rows, with a warning. */
TEST(grouped_unsuited) {
  static const double truth[3] = {1, 3, 2};
  static grouped_data data;
  grouped_draw(&data, 60, truth);
  for (size_t i = 0; i < data.rows; i++)
    data.groups[i] = i == 0 ? 2 : (uint32_t)(i % 2);
  pcal_calibrator *calibrator = grouped_learn(&data, "spline");
  assert_true(pcal_calibrator_group_count(calibrator) <= 3);
  assert_int_equal(calibrator->fit.warning_count > 0,
                   pcal_calibrator_group_count(calibrator) < 3);
  pcal_calibrator_free(calibrator);
}

TEST(grouped_needs_groups) {
  static const double truth[3] = {1, 3, 2};
  static grouped_data data;
  static double out[180];
  static double scores[180];
  static int32_t labels[60];
  pcal_error err;
  grouped_draw(&data, 60, truth);
  pcal_calibrator *calibrator = grouped_learn(&data, "temperature");
  const pcal_batch batch = grouped_batch(&data, -1, scores, labels);
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, out, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "the calibrator has a map for each group; give the groups of the rows with "
                  "groups");
  pcal_calibrator_free(calibrator);
  /* Groups without names are refused. */
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.by_group = 1;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, &config, NULL, &calibrator, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "calibrators of groups need groups with names; give them with groups");
  pcal_source_free(source);
}
