/* Comparisons on predictions of a number: cross-validation by hand, defaults, refusals. */
#include "../calibrators/forecast_fit_help.h"
#include "base/normal.h"
#include "calibrators/folds.h"
#include "compare/comparison.h"
#include "io/source.h"

#define NUMBERS_FOLDS 4

static pcal_status numbers_try(const forecast_data *data, pcal_compare_config *config,
                               const pcal_env *env, pcal_comparison **out, pcal_error *err) {
  pcal_model model = PCAL_MODEL_INIT;
  const pcal_batch batch = forecast_batch(data);
  if (config->replicas == 0)
    config->replicas = 30;
  if (config->folds == 0)
    config->folds = NUMBERS_FOLDS;
  pcal_status status = pc_source_borrow(&batch, NULL, env, &model.source, err);
  if (status == PCAL_OK)
    status = pcal_compare_run(&model, 1, config, env, out, err);
  pcal_source_free(model.source);
  return status;
}

static pcal_comparison *numbers_run(const forecast_data *data, pcal_compare_config *config,
                                    const pcal_env *env) {
  pcal_comparison *comparison = NULL;
  pcal_error err;
  if (numbers_try(data, config, env, &comparison, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return comparison;
}

/* Rows outside a fold copied, fitted, applied to those inside. */
static double numbers_by_hand(const forecast_fit_set *set, const char *method) {
  static double pairs[2 * FORECAST_FIT_ROWS], targets[FORECAST_FIT_ROWS],
      made[2 * FORECAST_FIT_ROWS];
  const pc_folds folds = {0, NUMBERS_FOLDS, 0};
  double sum = 0.0;
  for (size_t fold = 0; fold < NUMBERS_FOLDS; fold++) {
    forecast_data rest = {PCAL_MEAN_VARIANCE, 0, 2, pairs, targets, NULL, NULL};
    for (size_t i = 0; i < FORECAST_FIT_ROWS; i++) {
      if (pc_fold_of(&folds, i) == fold)
        continue;
      memcpy(pairs + 2 * rest.rows, set->pairs + 2 * i, 2 * sizeof *pairs);
      targets[rest.rows++] = set->targets[i];
    }
    pcal_calibrator *fitted = forecast_fit(&rest, method);
    forecast_apply(fitted, &set->data, made);
    for (size_t i = 0; i < FORECAST_FIT_ROWS; i++)
      if (pc_fold_of(&folds, i) == fold)
        sum += pow(made[2 * i] - set->targets[i], 2) / made[2 * i + 1] + log(made[2 * i + 1]);
    pcal_calibrator_free(fitted);
  }
  return sum / FORECAST_FIT_ROWS;
}

static double numbers_value(const pcal_comparison *comparison, size_t i) {
  return comparison->contestants[i].results->records[0].outcome.value;
}

TEST(numbers_gaussian) {
  static const char *const expected[] = {"identity", "variance-platt", "variance-scale",
                                         "quantile-isotonic"};
  static forecast_fit_set set;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  forecast_fit_make(&set);
  pcal_comparison *comparison = numbers_run(&set.data, &config, NULL);
  assert_int_equal(comparison->count, 4);
  assert_string_equal(comparison->contestants[0].results->records[0].label, "dss");
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(comparison->contestants[i].label, expected[i]);
    assert_near(numbers_value(comparison, i),
                i == 0 ? forecast_value(&set.data, "dss") : numbers_by_hand(&set, expected[i]),
                1e-12);
  }
  assert_string_equal(pcal_comparison_chosen(comparison), "variance-platt");
  assert_true(comparison->contestants[1].gains[0].low > 0);
  const pcal_results *results = comparison->contestants[1].results;
  for (size_t m = 0; m < results->metric_count; m++)
    assert_int_equal(comparison->contestants[1].gains[m].known,
                     strcmp(results->records[m].label, "mean-variance") != 0 &&
                         strcmp(results->records[m].label, "variance-ratio") != 0);
  pcal_comparison_free(comparison);
}

/* Quantiles of the same predictions: ranked by crps, variances are not spoken of. */
TEST(numbers_quantiles) {
  static const double levels[] = {0.05, 0.25, 0.5, 0.75, 0.95};
  static double quantiles[5 * FORECAST_FIT_ROWS];
  static forecast_fit_set set;
  static sink_bytes texts[2];
  forecast_fit_make(&set);
  for (size_t i = 0; i < 5 * FORECAST_FIT_ROWS; i++)
    quantiles[i] = set.pairs[2 * (i / 5)] +
                   sqrt(set.pairs[2 * (i / 5) + 1]) * pc_normal_quantile(levels[i % 5]);
  const forecast_data data = {
      PCAL_QUANTILES, FORECAST_FIT_ROWS, 5, quantiles, set.targets, levels, NULL};
  for (unsigned t = 0; t < 2; t++) {
    pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
    pcal_env env = PCAL_ENV_INIT;
    env.threads = 1 + 2 * t;
    pcal_comparison *comparison = numbers_run(&data, &config, &env);
    assert_string_equal(comparison->contestants[0].results->records[0].label, "crps");
    assert_near(numbers_value(comparison, 0), forecast_value(&data, "crps"), 1e-13);
    assert_null(comparison->contestants[1].results);
    assert_non_null(strstr(comparison->contestants[1].why, "changes variances"));
    assert_string_equal(pcal_comparison_chosen(comparison), "quantile-isotonic");
    assert_int_equal(
        pcal_comparison_write(comparison, PCAL_JSON, sink_collect, &texts[t], NULL), PCAL_OK);
    pcal_comparison_free(comparison);
  }
  assert_int_equal(texts[0].length, texts[1].length);
  assert_memory_equal(texts[0].bytes, texts[1].bytes, texts[0].length);
}

TEST(numbers_refused) {
  static const struct {
    const char *by, *sentence;
  } cases[] = {
      {"mean-variance", "methods cannot be ranked by mean-variance: neither low nor high "
                        "values are better; rank by dss or pinball"},
      {"default", "methods are ranked by one metric, such as dss or pinball; \"default\" is a "
                  "group"},
      {"brier", "brier is a metric of class probabilities, but these data are predictions "
                "of a number; give probs or logits, or use a metric such as crps"},
  };
  static forecast_fit_set set;
  forecast_fit_make(&set);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
    pcal_comparison *comparison = NULL;
    pcal_error err;
    config.by = cases[i].by;
    assert_int_equal(numbers_try(&set.data, &config, NULL, &comparison, &err), PCAL_USAGE);
    assert_sentence(err, PCAL_USAGE, cases[i].sentence);
    assert_null(comparison);
  }
}
