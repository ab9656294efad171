#include "data_help.h"

static void assert_no_layout(pcal_kind kind, size_t columns, pcal_status status,
                             const char *sentence) {
  pc_layout layout;
  pcal_error err;
  assert_int_equal(pc_layout_make(kind, columns, &layout, &err), status);
  assert_sentence(err, status, sentence);
}

TEST(lays_out_every_kind) {
  static const struct {
    pcal_kind kind;
    size_t columns, classes;
    int binary;
  } cases[] = {
      {PCAL_PROBABILITY, 1, 2, 1},     {PCAL_PROBABILITY, 2, 2, 0},
      {PCAL_PROBABILITY, 10, 10, 0},   {PCAL_LOGIT, 1, 2, 1},
      {PCAL_LOGIT, 2, 2, 0},           {PCAL_LOGIT, PC_CLASSES_MAX, PC_CLASSES_MAX, 0},
      {PCAL_LOG_PROBABILITY, 2, 2, 0}, {PCAL_CONFIDENCE, 1, 1, 0},
  };
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_layout layout;
    assert_int_equal(pc_layout_make(cases[i].kind, cases[i].columns, &layout, NULL), PCAL_OK);
    assert_int_equal(layout.kind, cases[i].kind);
    assert_int_equal(layout.columns, cases[i].columns);
    assert_int_equal(layout.classes, cases[i].classes);
    assert_int_equal(pc_layout_is_binary(&layout), cases[i].binary);
  }
}

TEST(refuses_impossible_layouts) {
  assert_no_layout((pcal_kind)10, 3, PCAL_USAGE, "the kind of scores 10 is unknown");
  assert_no_layout(PCAL_LOGIT, 0, PCAL_DATA,
                   "the scores have 0 columns; between 1 and 1000000 are possible");
  assert_no_layout(PCAL_LOGIT, 1000001, PCAL_DATA,
                   "the scores have 1000001 columns; between 1 and 1000000 are possible");
  assert_no_layout(PCAL_CONFIDENCE, 2, PCAL_DATA,
                   "confidences have one column, not 2; give all class probabilities as "
                   "probs");
  assert_no_layout(PCAL_LOG_PROBABILITY, 1, PCAL_DATA,
                   "log-probabilities need a column for each class; give a binary score as "
                   "logits or probs");
}

TEST(cuts_chunks_by_size) {
  static const size_t cases[][2] = {{1, 4096},  {2, 4096},  {16, 4096}, {17, 3840},
                                    {20, 3264}, {100, 640}, {1000, 64}, {4096, 16},
                                    {5000, 13}, {32768, 2}, {40000, 1}, {1000000, 1}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    const pc_layout layout = {PCAL_LOGIT, cases[i][0], cases[i][0]};
    assert_int_equal(pc_chunk_rows(&layout), cases[i][1]);
  }
}

/* Every array can be filled to its end without touching another; sanitizers watch the block. */
static pcal_status scratch_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pc_layout *layout = user;
  pc_scratch s;
  PC_TRY(pc_scratch_new(env, layout, &s, err));
  const size_t n = s.capacity, k = layout->classes;
  const struct {
    void *bytes;
    size_t count;
  } arrays[] = {
      {s.probs, n * k * sizeof *s.probs},       {s.scores, n * k * sizeof *s.scores},
      {s.terms, k * sizeof *s.terms},           {s.lanes, k * sizeof *s.lanes},
      {s.scores_row, k * sizeof *s.scores_row}, {s.weights, n * sizeof *s.weights},
      {s.positive, n * sizeof *s.positive},     {s.top, n * sizeof *s.top},
      {s.true_gap, n * sizeof *s.true_gap},     {s.others_square, n * sizeof *s.others_square},
      {s.log_true, n * sizeof *s.log_true},     {s.ids, n * sizeof *s.ids},
      {s.labels, n * sizeof *s.labels},         {s.top_label, n * sizeof *s.top_label},
      {s.groups, n * sizeof *s.groups}};
  assert_int_equal(n, pc_chunk_rows(layout));
  for (size_t a = 0; a < UNIT_COUNT(arrays); a++)
    memset(arrays[a].bytes, (int)a + 1, arrays[a].count);
  for (size_t a = 0; a < UNIT_COUNT(arrays); a++) {
    const unsigned char *bytes = arrays[a].bytes;
    assert_int_equal((uintptr_t)bytes % 64, 0);
    assert_int_equal(bytes[0], a + 1);
    assert_memory_equal(bytes, bytes + 1, arrays[a].count - 1);
  }
  pc_scratch_free(env, &s);
  assert_null(s.probs);
  return PCAL_OK;
}

TEST(scratch_survives_every_failed_allocation) {
  static const size_t classes[] = {1, 2, 10, 33, 1000, 40000};
  for (size_t i = 0; i < UNIT_COUNT(classes); i++) {
    pc_layout layout = {PCAL_LOGIT, classes[i], classes[i]};
    unit_fail_each_allocation(scratch_scenario, &layout);
  }
}

static void assert_bad_batch(const pcal_batch *batch, const pc_layout *layout,
                             pcal_status status, const char *sentence) {
  const pc_row_policy policy = {0};
  pcal_error err;
  assert_int_equal(pc_batch_check(batch, layout, &policy, &err), status);
  assert_sentence(err, status, sentence);
}

TEST(checks_batches) {
  static const double scores[] = {0.5, 0.25, 0.25};
  static const int32_t labels[] = {0};
  const pc_layout layout = {PCAL_PROBABILITY, 3, 3}, logits = {PCAL_LOGIT, 3, 3};
  const pc_layout two = {PCAL_PROBABILITY, 2, 2}, confidence = {PCAL_CONFIDENCE, 1, 1};
  const pc_row_policy labelled = {0}, unlabelled = {.unlabelled = 1};
  pcal_batch batch = data_batch(PCAL_PROBABILITY, 1, 3, scores, labels);
  assert_int_equal(pc_batch_check(&batch, &layout, &labelled, NULL), PCAL_OK);
  assert_bad_batch(
      &batch, &logits, PCAL_DATA,
      "s.npy: a batch of probability with 3 columns does not fit what was made for "
      "logit with 3");
  assert_bad_batch(
      &batch, &two, PCAL_DATA,
      "s.npy: a batch of probability with 3 columns does not fit what was made for "
      "probability with 2");
  batch.type = (pcal_type)7;
  assert_bad_batch(&batch, &layout, PCAL_USAGE, "s.npy: scores must be float32 or float64");
  batch.type = PCAL_F32;
  batch.labels = NULL;
  assert_bad_batch(&batch, &layout, PCAL_USAGE,
                   "s.npy: a batch needs labels; give them with labels");
  assert_int_equal(pc_batch_check(&batch, &layout, &unlabelled, NULL), PCAL_OK);
  batch.scores_name = NULL;
  batch.scores = NULL;
  assert_bad_batch(&batch, &layout, PCAL_USAGE,
                   "scores: a batch needs scores; give them with probs or logits");
  batch.rows = 0;
  assert_int_equal(pc_batch_check(&batch, &layout, &labelled, NULL), PCAL_OK);
  batch = data_batch(PCAL_CONFIDENCE, 1, 1, scores, NULL);
  assert_bad_batch(&batch, &confidence, PCAL_USAGE,
                   "s.npy: a batch needs labels; give them with correct");
}

TEST(refuses_impossible_levels) {
  static double many[PCAL_LEVELS_MAX + 1];
  const double above[] = {0.5, 1.0}, below[] = {0.0, 0.5}, same[] = {0.5, 0.5},
               turned[] = {0.5, 0.25}, none[] = {NAN, 0.5}, good[] = {0.25, 0.5},
               other[] = {0.25, 0.75};
  const double *const wrong[] = {above, below, same, turned, none, NULL};
  pc_layout layout, second;
  for (size_t i = 0; i < UNIT_COUNT(wrong); i++)
    assert_int_equal(pc_layout_make_levels(PCAL_QUANTILES, 2, wrong[i], &layout, NULL),
                     PCAL_USAGE);
  assert_int_equal(
      pc_layout_make_levels(PCAL_QUANTILES, PCAL_LEVELS_MAX + 1, many, &layout, NULL),
      PCAL_DATA);
  assert_int_equal(pc_layout_make_levels(PCAL_QUANTILES, 2, good, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_layout_make_levels(PCAL_QUANTILES, 2, good, &second, NULL), PCAL_OK);
  assert_true(pc_layout_equal(&layout, &second));
  assert_int_equal(pc_layout_make_levels(PCAL_QUANTILES, 2, other, &second, NULL), PCAL_OK);
  assert_false(pc_layout_equal(&layout, &second));
}

/* Batches of quantiles with other levels, and vectors whose columns are no samples of their dimensions. */
TEST(checks_batches_of_numbers) {
  static const double scores[] = {1, 2, 3, 4}, targets[] = {1, 2};
  const double good[] = {0.25, 0.5, 0.75, 0.875}, other[] = {0.25, 0.5, 0.75, 0.9375};
  const pc_row_policy policy = {0};
  pc_layout layout;
  assert_int_equal(pc_layout_make_levels(PCAL_QUANTILES, 4, good, &layout, NULL), PCAL_OK);
  pcal_batch batch = data_batch(PCAL_QUANTILES, 1, 4, scores, NULL);
  batch.targets = targets;
  batch.levels = good;
  assert_int_equal(pc_batch_check(&batch, &layout, &policy, NULL), PCAL_OK);
  batch.levels = other;
  assert_bad_batch(&batch, &layout, PCAL_DATA,
                   "s.npy: a batch of quantiles has other levels than what was made for it");
  assert_int_equal(pc_layout_make(PCAL_SAMPLE_VECTORS, 4, &layout, NULL), PCAL_OK);
  batch = data_batch(PCAL_SAMPLE_VECTORS, 1, 4, scores, NULL);
  batch.targets = targets;
  batch.dimensions = 2;
  assert_int_equal(pc_batch_check(&batch, &layout, &policy, NULL), PCAL_OK);
  for (size_t dimensions = 0; dimensions < 5; dimensions++) {
    batch.dimensions = dimensions;
    assert_int_equal(pc_batch_check(&batch, &layout, &policy, NULL),
                     dimensions == 1 || dimensions == 2 ? PCAL_OK : PCAL_USAGE);
  }
}

static void assert_row_copied(const pc_rows *from, size_t a, const pc_rows *to, size_t b) {
  const size_t k = from->classes;
  assert_memory_equal(to->probs + b * k, from->probs + a * k, k * sizeof(double));
  assert_memory_equal(to->scores + b * k, from->scores + a * k, k * sizeof(double));
  assert_int_equal(to->ids[b], from->ids[a]);
  assert_int_equal(to->labels[b], from->labels[a]);
  assert_same(to->weights[b], from->weights[a]);
  assert_same(to->top[b], from->top[a]);
  assert_int_equal(to->top_label[b], from->top_label[a]);
  assert_same(to->true_gap[b], from->true_gap[a]);
  assert_same(to->others_square[b], from->others_square[a]);
  assert_same(to->log_true[b], from->log_true[a]);
}

TEST(selects_rows) {
  static const double logits[] = {1, 2, 3, 0, -1, 5, 2, 2, 2, 9, 0, 1},
                      weights[] = {1, 2, 3, 4};
  static const int32_t labels[] = {0, 1, 2, 0};
  static const uint32_t groups[] = {0, 1, 0, 1};
  static const size_t positions[] = {3, 1};
  const pcal_env env = pc_env_resolve(NULL);
  pcal_batch batch = data_batch(PCAL_LOGIT, 4, 3, logits, labels);
  batch.weights = weights;
  batch.groups = groups;
  batch.first_row = 100;
  data_result all =
      data_derive_well(&batch, (pc_row_policy){.need_log = 1, .scores = PC_SCORES_FILLED});
  pc_scratch other;
  pc_rows some;
  assert_int_equal(pc_scratch_new(&env, &all.layout, &other, NULL), PCAL_OK);
  pc_rows_select(&all.rows, positions, 2, &other, &some);
  assert_int_equal(some.count, 2);
  assert_int_equal(some.classes, 3);
  assert_null(some.groups);
  assert_row_copied(&all.rows, 3, &some, 0);
  assert_row_copied(&all.rows, 1, &some, 1);
  data_free(&all);
  batch.weights = NULL;
  all = data_derive_well(&batch, (pc_row_policy){.probs = PC_PROBS_LEAN});
  pc_rows_select(&all.rows, positions, 1, &other, &some);
  assert_null(some.weights);
  assert_null(some.probs);
  assert_null(some.scores);
  assert_null(some.log_true);
  assert_same(some.top[0], all.rows.top[3]);
  pc_rows_select(&all.rows, positions, 0, &other, &some);
  assert_int_equal(some.count, 0);
  pc_scratch_free(&env, &other);
  data_free(&all);
}

TEST(selects_rows_of_one_column) {
  static const double scores[] = {0.25, 0.5, 0.75};
  static const int32_t labels[] = {0, 1, 1};
  static const size_t positions[] = {2, 0};
  static const pcal_kind kinds[] = {PCAL_PROBABILITY, PCAL_CONFIDENCE};
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
    const pcal_batch batch = data_batch(kinds[k], 3, 1, scores, labels);
    data_result all = data_derive_well(&batch, (pc_row_policy){0});
    pc_scratch other;
    pc_rows some;
    assert_int_equal(pc_scratch_new(&env, &all.layout, &other, NULL), PCAL_OK);
    pc_rows_select(&all.rows, positions, 2, &other, &some);
    assert_int_equal(some.count, 2);
    assert_same(some.positive[0], 0.75);
    assert_same(some.positive[1], 0.25);
    assert_same(some.top[0], 0.75);
    assert_same(some.top[1], all.rows.top[0]);
    assert_int_equal(some.labels[0], 1);
    assert_int_equal(some.ids[1], 0);
    pc_scratch_free(&env, &other);
    data_free(&all);
  }
}

/* A contiguous column is converted in blocks, others row by row. */
TEST(a_column_needs_no_labels_when_told) {
  enum { ROWS = 5 };
  static const double scores[ROWS] = {0.25, 0.5, 1, 0, 0.75};
  double apart[2 * ROWS];
  const pc_row_policy policy = {.unlabelled = 1, .need_log = 1, .scores = PC_SCORES_FILLED};
  for (size_t i = 0; i < ROWS; i++)
    apart[2 * i] = scores[i];
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, ROWS, 1, scores, NULL);
  pcal_batch wide = data_batch(PCAL_PROBABILITY, ROWS, 1, apart, NULL);
  wide.row_stride = 2 * sizeof(double);
  data_result block = data_derive_well(&batch, policy), rows = data_derive_well(&wide, policy);
  assert_non_null(block.rows.ones);
  assert_null(rows.rows.ones);
  for (size_t i = 0; i < ROWS; i++) {
    assert_int_equal(block.rows.labels[i], 0);
    assert_int_equal(block.rows.ones[i], 0);
    assert_int_equal(rows.rows.labels[i], 0);
    assert_same(block.rows.log_true[i], log(1 - scores[i]));
  }
  assert_memory_equal(block.rows.ids, rows.rows.ids, ROWS * sizeof(uint64_t));
  assert_memory_equal(block.rows.probs, rows.rows.probs, 2 * ROWS * sizeof(double));
  assert_memory_equal(block.rows.scores, rows.rows.scores, 2 * ROWS * sizeof(double));
  assert_memory_equal(block.rows.top, rows.rows.top, ROWS * sizeof(double));
  assert_memory_equal(block.rows.top_label, rows.rows.top_label, ROWS * sizeof(int32_t));
  assert_memory_equal(block.rows.true_gap, rows.rows.true_gap, ROWS * sizeof(double));
  assert_memory_equal(block.rows.log_true, rows.rows.log_true, ROWS * sizeof(double));
  data_free(&block);
  data_free(&rows);
}

/* Strides of 0 are those of scores without gaps, whatever the kind and type. */
TEST(fills_strides) {
  static const pcal_kind kinds[] = {PCAL_PROBABILITY, PCAL_LOGIT,         PCAL_LOG_PROBABILITY,
                                    PCAL_CONFIDENCE,  PCAL_MEAN_VARIANCE, PCAL_MEAN_STD,
                                    PCAL_QUANTILES,   PCAL_SAMPLES};
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++)
    for (int single = 0; single <= 1; single++) {
      pcal_batch batch = PCAL_BATCH_INIT, out;
      const ptrdiff_t item = single ? 4 : 8;
      batch.kind = kinds[k];
      batch.type = single ? PCAL_F32 : PCAL_F64;
      batch.rows = 9;
      batch.columns = 3;
      assert_int_equal(pc_batch_resolve(&batch, &out, NULL), PCAL_OK);
      assert_int_equal(out.row_stride, 3 * item);
      assert_int_equal(out.column_stride, item);
      batch.row_stride = -50; /* given ones stay */
      assert_int_equal(pc_batch_resolve(&batch, &out, NULL), PCAL_OK);
      assert_int_equal(out.row_stride, -50);
      assert_int_equal(out.column_stride, item);
      batch.column_stride = 72;
      assert_int_equal(pc_batch_resolve(&batch, &out, NULL), PCAL_OK);
      assert_int_equal(out.column_stride, 72);
    }
}

TEST(refuses_strides_that_say_too_little) {
  pcal_batch batch = PCAL_BATCH_INIT, out;
  pcal_error err;
  batch.rows = 9;
  batch.columns = 3;
  batch.column_stride = 36; /* column after column, and how far rows are apart is not said */
  assert_int_equal(pc_batch_resolve(&batch, &out, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "scores: row_stride is 0 and the columns are not contiguous; set "
                  "row_stride to the bytes from one row to the next");
  batch.rows = 1;
  assert_int_equal(pc_batch_resolve(&batch, &out, &err), PCAL_OK);
  assert_int_equal(out.column_stride, 36);
  batch.size = 0;
  assert_int_equal(pc_batch_resolve(&batch, &out, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "the size of the batch is not set; start from PCAL_BATCH_INIT");
}

TEST(policies_are_checked) {
  const struct {
    pc_row_policy policy;
    int valid;
  } cases[] = {
      {{0}, 1},
      {{.scores = PC_SCORES_FILLED, .need_log = 1}, 1},
      {{.scores = PC_SCORES_UNCHECKED, .probs = PC_PROBS_LEAN, .unlabelled = 1}, 1},
      {{.score_alone = 1, .probs = PC_PROBS_FAST}, 1},
      {{.score_alone = 1, .scores = PC_SCORES_FILLED}, 0},
      {{.score_alone = 1, .need_log = 1}, 0},
      {{.scores = PC_SCORES_ONLY}, 0},
      {{.scores = PC_SCORES_ONLY, .probs = PC_PROBS_LEAN, .need_log = 1}, 0},
      {{.scores = PC_SCORES_IN_PLACE, .probs = PC_PROBS_LEAN, .need_keys = 1}, 0},
  };
  for (size_t i = 0; i < UNIT_COUNT(cases); i++)
    assert_int_equal(pc_row_policy_is_valid(&cases[i].policy), cases[i].valid);
}
