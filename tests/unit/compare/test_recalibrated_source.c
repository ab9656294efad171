/* Rows mapped by the calibrator of their fold: against pcal_calibrator_apply row by row. */
#include "../calibrators/calibrator_help.h"
#include "compare/recalibrated_source.h"
#include "io/source.h"

#define MAPPED_ROWS 50
#define MAPPED_CLASSES 3

typedef struct mapped_case {
  double logits[MAPPED_ROWS * MAPPED_CLASSES];
  int32_t labels[MAPPED_ROWS];
  pcal_batch batch;
  pcal_source *base;
  pcal_calibrator *calibrators[2];
} mapped_case;

static void mapped_setup(mapped_case *data) {
  help_draw(data->logits, data->labels, MAPPED_ROWS, MAPPED_CLASSES, 3, 2);
  data->batch = help_batch(PCAL_LOGIT, data->logits, data->labels, MAPPED_ROWS, MAPPED_CLASSES);
  assert_int_equal(pc_source_borrow(&data->batch, NULL, NULL, &data->base, NULL), PCAL_OK);
  data->calibrators[0] = help_fit(&data->batch, "temperature");
  data->calibrators[1] = help_fit(&data->batch, "isotonic");
}

static void mapped_free(mapped_case *data) {
  pcal_calibrator_free(data->calibrators[0]);
  pcal_calibrator_free(data->calibrators[1]);
  pcal_source_free(data->base);
}

TEST(mapped_by_fold) {
  mapped_case data;
  double expected[2][MAPPED_ROWS * MAPPED_CLASSES];
  const pc_folds folds = {5, 2, 0};
  const pcal_env env = pc_env_resolve(NULL);
  pc_recalibrated_source mapped;
  pcal_batch got = PCAL_BATCH_INIT;
  mapped_setup(&data);
  for (size_t f = 0; f < 2; f++)
    help_apply(data.calibrators[f], &data.batch, expected[f]);
  assert_int_equal(
      pc_recalibrated_source_open(data.base, &folds, data.calibrators, 0, &env, &mapped, NULL),
      PCAL_OK);
  assert_int_equal(pc_source_next(mapped.source, 1000, &got, NULL), PCAL_OK);
  assert_int_equal(got.rows, MAPPED_ROWS);
  assert_int_equal(got.kind, PCAL_PROBABILITY);
  for (size_t i = 0; i < got.rows; i++) {
    assert_int_equal(got.labels[i], data.labels[i]);
    for (size_t j = 0; j < MAPPED_CLASSES; j++)
      assert_same(((const double *)got.scores)[i * MAPPED_CLASSES + j],
                  expected[pc_fold_of(&folds, i)][i * MAPPED_CLASSES + j]);
  }
  pc_recalibrated_source_close(&mapped);
  mapped_free(&data);
}

TEST(mapped_missing) {
  mapped_case data;
  const pc_folds folds = {5, 2, 0};
  const pcal_env env = pc_env_resolve(NULL);
  pc_recalibrated_source mapped;
  pcal_batch got = PCAL_BATCH_INIT;
  pcal_error err;
  mapped_setup(&data);
  data.logits[4 * MAPPED_CLASSES + 1] = NAN;
  assert_int_equal(
      pc_recalibrated_source_open(data.base, &folds, data.calibrators, 1, &env, &mapped, NULL),
      PCAL_OK);
  assert_int_equal(pc_source_next(mapped.source, 1000, &got, NULL), PCAL_OK);
  for (size_t i = 0; i < got.rows * MAPPED_CLASSES; i++)
    assert_int_equal(isnan(((const double *)got.scores)[i]), i / MAPPED_CLASSES == 4);
  pc_recalibrated_source_close(&mapped);
  assert_int_equal(pcal_source_rewind(data.base, NULL), PCAL_OK);
  assert_int_equal(
      pc_recalibrated_source_open(data.base, &folds, data.calibrators, 0, &env, &mapped, NULL),
      PCAL_OK);
  assert_int_equal(pc_source_next(mapped.source, 1000, &got, &err), PCAL_DATA);
  pc_recalibrated_source_close(&mapped);
  mapped_free(&data);
}

TEST(mapped_single_event) {
  mapped_case data;
  const pc_folds folds = {0, 1, 0};
  const pcal_env env = pc_env_resolve(NULL);
  pc_recalibrated_source mapped;
  pcal_error err;
  mapped_setup(&data);
  pcal_calibrator *one = help_fit(&data.batch, "spline:target=class,class=1");
  assert_int_equal(pc_recalibrated_source_open(data.base, &folds, &one, 0, &env, &mapped, &err),
                   PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "spline gives the probability of a single event, which cannot be compared "
                  "with the probabilities of all classes; choose target=all, or compare on "
                  "confidence");
  pc_recalibrated_source_close(&mapped);
  pcal_calibrator_free(one);
  mapped_free(&data);
}
