#include "data/view.h"

#include "base/rng.h"
#include "data_help.h"

#define ROWS 200
#define CLASSES 6

/* Probabilities in steps of 1/16: many ties, and exact sums. */
typedef struct sample {
  double probs[ROWS * CLASSES];
  int32_t labels[ROWS];
  data_result derived;
} sample;

static void sample_fill(sample *s) {
  const pc_rng rng = {41, 1};
  memset(s->probs, 0, sizeof s->probs);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t unit = 0; unit < 16; unit++)
      s->probs[i * CLASSES + pc_rng_bits(&rng, i * 16 + unit) % CLASSES] += 0.0625;
    s->labels[i] = (int32_t)(pc_rng_bits(&rng, 100000 + i) % CLASSES);
  }
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, ROWS, CLASSES, s->probs, s->labels);
  s->derived = data_derive_well(&batch, (pc_row_policy){0});
}

/* Classes from the most probable down, ties by index. */
static void order_classes(const double *probs, size_t order[CLASSES]) {
  for (size_t j = 0; j < CLASSES; j++)
    order[j] = j;
  for (size_t i = 1; i < CLASSES; i++) {
    for (size_t j = i; j > 0 && probs[order[j]] > probs[order[j - 1]]; j--) {
      const size_t swap = order[j];
      order[j] = order[j - 1];
      order[j - 1] = swap;
    }
  }
}

static pc_view_columns fill(const pc_view *view, const pc_rows *rows) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_view_columns columns;
  assert_int_equal(pc_view_columns_new(&env, view, rows->count, &columns, NULL), PCAL_OK);
  pc_view_fill(view, rows, &columns);
  return columns;
}

static void columns_free(pc_view_columns *columns) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_view_columns_free(&env, columns);
  assert_null(columns->score_space);
}

TEST(ranks_go_by_probability_then_index) {
  sample s;
  sample_fill(&s);
  for (int32_t rank = 1; rank <= CLASSES; rank++) {
    const pc_view view = {PC_VIEW_RANK, rank, 0};
    pc_view_columns columns = fill(&view, &s.derived.rows);
    assert_null(columns.part);
    for (size_t i = 0; i < ROWS; i++) {
      size_t order[CLASSES];
      order_classes(s.probs + i * CLASSES, order);
      const size_t at = order[rank - 1];
      assert_same(columns.score[i], s.probs[i * CLASSES + at]);
      assert_int_equal(columns.hit[i], (size_t)s.labels[i] == at);
    }
    columns_free(&columns);
  }
  data_free(&s.derived);
}

TEST(within_sums_the_largest) {
  sample s;
  sample_fill(&s);
  for (int32_t r = 1; r <= CLASSES; r++) {
    const pc_view view = {PC_VIEW_WITHIN, r, 0};
    pc_view_columns columns = fill(&view, &s.derived.rows);
    for (size_t i = 0; i < ROWS; i++) {
      size_t order[CLASSES];
      double sum = 0;
      int member = 0;
      order_classes(s.probs + i * CLASSES, order);
      for (int32_t j = 0; j < r; j++) {
        sum += s.probs[i * CLASSES + order[j]];
        member |= (size_t)s.labels[i] == order[j];
      }
      assert_same(columns.score[i], sum);
      assert_int_equal(columns.hit[i], member);
      if (r == CLASSES) {
        assert_same(columns.score[i], 1);
        assert_int_equal(columns.hit[i], 1);
      }
    }
    columns_free(&columns);
  }
  data_free(&s.derived);
}

TEST(ties_by_hand) {
  static const double probs[] = {0.25, 0.25, 0.25, 0.25};
  for (int32_t label = 0; label < 4; label++) {
    const pcal_batch batch = data_batch(PCAL_PROBABILITY, 1, 4, probs, &label);
    data_result derived = data_derive_well(&batch, (pc_row_policy){0});
    for (int32_t rank = 1; rank <= 4; rank++) {
      const pc_view view = {PC_VIEW_RANK, rank, 0}, within = {PC_VIEW_WITHIN, rank, 0};
      pc_view_columns columns = fill(&view, &derived.rows);
      assert_int_equal(columns.hit[0], label == rank - 1);
      columns_free(&columns);
      columns = fill(&within, &derived.rows);
      assert_int_equal(columns.hit[0], label < rank);
      assert_same(columns.score[0], 0.25 * rank);
      columns_free(&columns);
    }
    data_free(&derived);
  }
}

TEST(classes_are_looked_at_one_by_one) {
  sample s;
  sample_fill(&s);
  for (int32_t c = 0; c < CLASSES; c++) {
    const pc_view view = {PC_VIEW_CLASS, c, 0};
    pc_view_columns columns = fill(&view, &s.derived.rows);
    for (size_t i = 0; i < ROWS; i++) {
      assert_same(columns.score[i], s.probs[i * CLASSES + (size_t)c]);
      assert_int_equal(columns.hit[i], s.labels[i] == c);
    }
    columns_free(&columns);
  }
  data_free(&s.derived);
}

TEST(parts_are_predicted_labels) {
  sample s;
  sample_fill(&s);
  const pc_view view = {PC_VIEW_RANK, 1, 1}, pooled = {PC_VIEW_RANK, 1, 0};
  assert_int_equal(pc_view_parts(&view, &s.derived.layout), CLASSES);
  assert_int_equal(pc_view_parts(&pooled, &s.derived.layout), 1);
  pc_view_columns columns = fill(&view, &s.derived.rows),
                  plain = fill(&pooled, &s.derived.rows);
  for (size_t i = 0; i < ROWS; i++) {
    size_t order[CLASSES];
    order_classes(s.probs + i * CLASSES, order);
    assert_int_equal(columns.part[i], order[0]);
    assert_same(columns.score[i], plain.score[i]);
    assert_int_equal(columns.hit[i], plain.hit[i]);
  }
  columns_free(&columns);
  columns_free(&plain);
  data_free(&s.derived);
}

TEST(two_columns_from_one) {
  static const double scores[] = {0.25, 0.5, 0.75};
  static const int32_t labels[] = {0, 1, 1};
  static const double top[] = {0.75, 0.5, 0.75}, second[] = {0.25, 0.5, 0.25};
  static const uint8_t top_hit[] = {1, 0, 1};
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, 3, 1, scores, labels);
  data_result derived = data_derive_well(&batch, (pc_row_policy){0});
  const pc_view first = {PC_VIEW_RANK, 1, 0}, next = {PC_VIEW_RANK, 2, 0};
  const pc_view positive = {PC_VIEW_CLASS, 1, 0}, negative = {PC_VIEW_CLASS, 0, 0};
  pc_view_columns columns[] = {fill(&first, &derived.rows), fill(&next, &derived.rows),
                               fill(&positive, &derived.rows), fill(&negative, &derived.rows)};
  for (size_t i = 0; i < 3; i++) {
    assert_same(columns[0].score[i], top[i]);
    assert_int_equal(columns[0].hit[i], top_hit[i]);
    assert_same(columns[1].score[i], second[i]);
    assert_int_equal(columns[1].hit[i], !top_hit[i]);
    assert_same(columns[2].score[i], scores[i]);
    assert_int_equal(columns[2].hit[i], labels[i] == 1);
    assert_same(columns[3].score[i], 1 - scores[i]);
    assert_int_equal(columns[3].hit[i], labels[i] == 0);
  }
  for (size_t v = 0; v < UNIT_COUNT(columns); v++)
    columns_free(&columns[v]);
  data_free(&derived);
}

TEST(confidences_are_their_own_view) {
  static const double scores[] = {0.25, 1, 0};
  static const int32_t labels[] = {1, 0, 1};
  const pcal_batch batch = data_batch(PCAL_CONFIDENCE, 3, 1, scores, labels);
  data_result derived = data_derive_well(&batch, (pc_row_policy){0});
  const pc_view view = {PC_VIEW_RANK, 1, 0};
  pc_view_columns columns = fill(&view, &derived.rows);
  assert_memory_equal(columns.score, scores, sizeof scores);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(columns.hit[i], labels[i]);
  columns_free(&columns);
  data_free(&derived);
}

static pcal_status columns_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pc_view *view = user;
  pc_view_columns columns;
  PC_TRY(pc_view_columns_new(env, view, 100, &columns, err));
  columns.score_space[99] = 1;
  columns.hit_space[99] = 1;
  assert_int_equal(columns.part_space != NULL, view->by_label);
  pc_view_columns_free(env, &columns);
  return PCAL_OK;
}

TEST(survives_every_failed_allocation) {
  pc_view view = {PC_VIEW_RANK, 1, 0};
  unit_fail_each_allocation(columns_scenario, &view);
  view.by_label = 1;
  unit_fail_each_allocation(columns_scenario, &view);
}

TEST(every_class_is_a_score) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_layout layout = {PCAL_PROBABILITY, CLASSES, CLASSES};
  const pc_view classes = {PC_VIEW_CLASSES, 0, 0}, pooled = {PC_VIEW_POOLED, 0, 0};
  const pc_view top = {PC_VIEW_RANK, 1, 0}, by_label = {PC_VIEW_RANK, 1, 1};
  assert_true(pc_view_is_every_class(&classes) && pc_view_is_every_class(&pooled) &&
              !pc_view_is_every_class(&top));
  assert_int_equal(pc_view_parts(&classes, &layout), CLASSES);
  assert_int_equal(pc_view_parts(&pooled, &layout), 1);
  assert_int_equal(pc_view_parts(&by_label, &layout), CLASSES);
  assert_int_equal(pc_view_scores_per_row(&classes, &layout), CLASSES);
  assert_int_equal(pc_view_scores_per_row(&pooled, &layout), CLASSES);
  assert_int_equal(pc_view_scores_per_row(&by_label, &layout), 1);
  pc_view_columns columns;
  assert_int_equal(pc_view_columns_new(&env, &classes, 10, &columns, NULL), PCAL_OK);
  assert_null(columns.score_space);
  pc_view_columns_free(&env, &columns);
}
