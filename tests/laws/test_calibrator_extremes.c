/* Every calibrator on extreme data: fitting gives a calibrator or an error, and its results are
 * probabilities for any row. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "calibrators/calibrator.h"
#include "io/source.h"

#define EXTREME_ROWS 12
#define EXTREME_COLUMNS 4

typedef struct extreme_set {
  const char *name;
  pcal_kind kind;
  size_t rows, columns;
  double scores[EXTREME_ROWS * EXTREME_COLUMNS];
  int32_t labels[EXTREME_ROWS];
} extreme_set;

static const extreme_set extreme_sets[] = {
    {"logits of 1e30",
     PCAL_LOGIT,
     6,
     3,
     {1e30, 0, -1e30, -1e30, 1e30, 0, 1e30, 1e30, 0, 0, 0, 0, -1e30, -1e30, -1e30, 5, 1, 2},
     {0, 1, 1, 2, 0, 0}},
    {"logits of 1e308",
     PCAL_LOGIT,
     4,
     2,
     {1e308, -1e308, -1e308, 1e308, 1e308, 1e308, 0, 1},
     {0, 1, 1, 0}},
    {"one column of huge logits",
     PCAL_LOGIT,
     5,
     1,
     {1e30, -1e30, 0, 1e308, -745},
     {1, 0, 1, 0, 1}},
    {"saturated probabilities",
     PCAL_PROBABILITY,
     5,
     3,
     {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0},
     {0, 1, 0, 2, 1}},
    {"saturated, all right", PCAL_PROBABILITY, 4, 2, {1, 0, 0, 1, 1, 0, 0, 1}, {0, 1, 0, 1}},
    {"saturated, all wrong", PCAL_PROBABILITY, 4, 2, {1, 0, 0, 1, 1, 0, 0, 1}, {1, 0, 1, 0}},
    {"a class that never occurs",
     PCAL_PROBABILITY,
     6,
     4,
     {0.7, 0.1, 0.1, 0.1, 0.2, 0.4, 0.2, 0.2, 0.1,  0.1,  0.7,  0.1,
      0.3, 0.3, 0.2, 0.2, 0.1, 0.2, 0.6, 0.1, 0.25, 0.25, 0.25, 0.25},
     {0, 1, 2, 0, 2, 1}},
    {"one class only", PCAL_PROBABILITY, 3, 2, {0.6, 0.4, 0.3, 0.7, 0.5, 0.5}, {1, 1, 1}},
    {"constant scores",
     PCAL_PROBABILITY,
     5,
     3,
     {0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25, 0.25},
     {0, 1, 2, 0, 0}},
    {"one column, constant", PCAL_PROBABILITY, 4, 1, {0.3, 0.3, 0.3, 0.3}, {0, 1, 0, 0}},
    {"one row", PCAL_PROBABILITY, 1, 3, {0.2, 0.5, 0.3}, {2}},
    {"one row of one column", PCAL_PROBABILITY, 1, 1, {0.2}, {1}},
    {"one row of logits", PCAL_LOGIT, 1, 2, {3, -2}, {1}},
    {"zeros and ones in one column",
     PCAL_PROBABILITY,
     6,
     1,
     {0, 0, 0, 1, 1, 1},
     {0, 0, 1, 1, 1, 0}},
    {"a little outside",
     PCAL_PROBABILITY,
     4,
     2,
     {-0.000009, 1.000009, 1.000009, -0.000009, 0.5, 0.5, 0.4, 0.6},
     {1, 0, 0, 1}},
    {"log-probabilities with -inf",
     PCAL_LOG_PROBABILITY,
     3,
     2,
     {0, -INFINITY, -INFINITY, 0, -0.6931471805599453, -0.6931471805599453},
     {0, 0, 1}},
    {"confidences", PCAL_CONFIDENCE, 4, 1, {0, 1, 1, 0.5}, {0, 1, 0, 1}},
    {"one confidence", PCAL_CONFIDENCE, 1, 1, {1}, {0}},
};

/* Besides the defaults of every method. */
static const char *const extreme_specs[] = {
    "histogram:binning=mass,bootstrap=5",
    "histogram:binning=mass,classwise=no",
    "histogram:bootstrap=5",
    "scaling-binning:bins=2",
    "spline:constrained=yes",
    "spline:constrained=yes,fit=cumulative,runout=quadratic",
    "spline:convention=gupta",
    "spline:fit=cumulative,knots=3,runout=cubic",
    "spline:rank=2",
    "spline:target=all",
    "spline:target=all,convention=gupta",
    "spline:target=class,class=1",
    "spline:target=within,rank=2,knots=20",
};

static pcal_batch extreme_batch(const extreme_set *set) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = set->kind;
  batch.type = PCAL_F64;
  batch.rows = set->rows;
  batch.columns = set->columns;
  batch.scores = set->scores;
  batch.row_stride = (ptrdiff_t)(set->columns * sizeof(double));
  batch.column_stride = sizeof(double);
  batch.labels = set->labels;
  return batch;
}

static pcal_calibrator *extreme_fit_batch(const pcal_batch *batch, const char *name,
                                          const char *spec) {
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  config.method = spec;
  assert_int_equal(pc_source_borrow(batch, NULL, NULL, &source, NULL), PCAL_OK);
  const pcal_status status = pcal_fit_run(source, &config, NULL, &calibrator, &err);
  if (status != PCAL_OK && status != PCAL_USAGE && status != PCAL_DATA)
    fail_msg("%s on %s: %s", spec, name, err.message);
  assert_true(status == PCAL_OK || strlen(err.message) > 20);
  pcal_source_free(source);
  return calibrator;
}

static pcal_calibrator *extreme_fit(const extreme_set *set, const char *spec) {
  const pcal_batch batch = extreme_batch(set);
  return extreme_fit_batch(&batch, set->name, spec);
}

/* Results are probabilities for the rows of a set and for new rows. */
static void extreme_apply(const pcal_calibrator *calibrator, const extreme_set *set,
                          const extreme_set *rows, const char *spec) {
  const size_t width = pcal_calibrator_column_count(calibrator);
  double out[EXTREME_ROWS * EXTREME_COLUMNS];
  const pcal_batch batch = extreme_batch(rows);
  pcal_error err;
  if (pcal_calibrator_apply(calibrator, &batch, NULL, out, &err) != PCAL_OK)
    fail_msg("%s on %s: %s", spec, set->name, err.message);
  for (size_t i = 0; i < rows->rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < width; j++) {
      const double q = out[i * width + j];
      if (!(q >= -1e-5 && q <= 1 + 1e-5))
        fail_msg("%s on %s: %.17g comes out of row %zu of %s", spec, set->name, q, i,
                 rows->name);
      sum += q;
    }
    if (width > 1 && !(fabs(sum - 1) <= 2e-5))
      fail_msg("%s on %s: row %zu of %s sums to %.17g", spec, set->name, i, rows->name, sum);
  }
}

static void extreme_check(const extreme_set *set, const char *spec) {
  pcal_calibrator *calibrator = extreme_fit(set, spec);
  if (calibrator == NULL)
    return;
  for (size_t s = 0; s < sizeof extreme_sets / sizeof *extreme_sets; s++)
    if (extreme_sets[s].kind == set->kind && extreme_sets[s].columns == set->columns)
      extreme_apply(calibrator, set, &extreme_sets[s], spec);
  pcal_calibrator_free(calibrator);
}

TEST(test_every_method_survives) {
  for (size_t s = 0; s < sizeof extreme_sets / sizeof *extreme_sets; s++) {
    for (size_t i = 0; i < pc_calibrator_method_count(); i++)
      extreme_check(&extreme_sets[s], pc_calibrator_method_at(i)->row.name);
    for (size_t i = 0; i < sizeof extreme_specs / sizeof *extreme_specs; i++)
      extreme_check(&extreme_sets[s], extreme_specs[i]);
  }
}

/* ---- The top class far outside the range of the fit ---- */

enum { FAR_ROWS = 1500, FAR_CLASSES = 6 };

static double far_logits[FAR_ROWS * FAR_CLASSES], far_out[FAR_ROWS * FAR_CLASSES];
static float far_floats[FAR_ROWS * FAR_CLASSES], far_out_floats[FAR_ROWS * FAR_CLASSES];
static int32_t far_labels[FAR_ROWS];

static pcal_batch far_batch(int floats) {
  pcal_batch batch = PCAL_BATCH_INIT;
  const size_t size = floats ? sizeof(float) : sizeof(double);
  batch.kind = PCAL_LOGIT;
  batch.type = floats ? PCAL_F32 : PCAL_F64;
  batch.rows = FAR_ROWS;
  batch.columns = FAR_CLASSES;
  batch.scores = floats ? (const void *)far_floats : (const void *)far_logits;
  batch.row_stride = (ptrdiff_t)(FAR_CLASSES * size);
  batch.column_stride = (ptrdiff_t)size;
  batch.labels = far_labels;
  return batch;
}

/* Normal logits with noisy labels, for the fit. */
static void far_draw_near(double size) {
  const pc_rng rng = {5, 1};
  for (size_t i = 0; i < FAR_ROWS; i++) {
    size_t top = 0;
    for (size_t j = 0; j < FAR_CLASSES; j++) {
      far_logits[i * FAR_CLASSES + j] = size * pc_rng_normal(&rng, i * FAR_CLASSES + j);
      top = far_logits[i * FAR_CLASSES + j] > far_logits[i * FAR_CLASSES + top] ? j : top;
    }
    far_labels[i] = (int32_t)(i % 3 == 0 ? i % FAR_CLASSES : top);
  }
}

/* Logits up to 700 in size, low ones only, and a few so close that rounding could join them. */
static void far_draw_far(void) {
  const pc_rng rng = {6, 2};
  for (size_t i = 0; i < FAR_ROWS * FAR_CLASSES; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const size_t kind = i / FAR_CLASSES % 3;
    far_floats[i] = (float)(kind == 0 ? 1400 * u - 700 : kind == 1 ? -700 + 100 * u : 1e-6 * u);
    far_logits[i] = kind == 2 ? 1e-15 * u : (double)far_floats[i];
  }
}

static void far_check_tops(const char *spec) {
  for (size_t i = 0; i < FAR_ROWS; i++) {
    size_t top = 0, top_out = 0, floats = 0, floats_out = 0;
    for (size_t j = 1; j < FAR_CLASSES; j++) {
      const size_t at = i * FAR_CLASSES;
      top = far_logits[at + j] > far_logits[at + top] ? j : top;
      top_out = far_out[at + j] > far_out[at + top_out] ? j : top_out;
      floats = far_floats[at + j] > far_floats[at + floats] ? j : floats;
      floats_out = far_out_floats[at + j] > far_out_floats[at + floats_out] ? j : floats_out;
    }
    if (top != top_out || floats != floats_out)
      fail_msg("%s changes the top class of row %zu", spec, i);
  }
}

/* Methods that keep accuracy keep it there too, for floats and doubles. */
TEST(test_the_top_class_stays) {
  for (size_t m = 0; m < pc_calibrator_method_count(); m++) {
    const pc_calibrator_method *row = pc_calibrator_method_at(m);
    if ((row->traits & PC_KEEPS_ACCURACY) == 0 || row->row.task == PCAL_REGRESSION)
      continue;
    for (double size = 1; size < 10; size *= 3) {
      far_draw_near(size);
      const pcal_batch batch = far_batch(0);
      pcal_calibrator *calibrator = extreme_fit_batch(&batch, "rows to fit on", row->row.name);
      far_draw_far();
      const pcal_batch doubles = far_batch(0), floats = far_batch(1);
      assert_int_equal(pcal_calibrator_apply(calibrator, &doubles, NULL, far_out, NULL),
                       PCAL_OK);
      assert_int_equal(pcal_calibrator_apply(calibrator, &floats, NULL, far_out_floats, NULL),
                       PCAL_OK);
      far_check_tops(row->row.name);
      pcal_calibrator_free(calibrator);
    }
  }
}
