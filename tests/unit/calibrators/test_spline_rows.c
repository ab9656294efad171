/* From rows to the scores of splines, and back. */
#include "calibrator_help.h"
#include "calibrators/spline/spline.h"

#define ROWS 300
#define K 4

static double logits[ROWS * K], probs[ROWS * K];
static int32_t labels[ROWS];

static pcal_batch drawn(void) {
  help_draw(logits, labels, ROWS, K, 2.0, 2.0);
  const pcal_batch raw = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *identity = help_fit(&raw, "identity");
  help_apply(identity, &raw, probs);
  pcal_calibrator_free(identity);
  return help_batch(PCAL_PROBABILITY, probs, labels, ROWS, K);
}

/* Classes of a row by rank. */
static void ranks_of(const double *row, size_t order[K]) {
  for (size_t c = 0; c < K; c++) {
    size_t rank = 0;
    for (size_t j = 0; j < K; j++)
      rank += row[j] > row[c] || (row[j] == row[c] && j < c);
    order[rank] = c;
  }
}

/* One column of events, fitted as confidences, must give the same splines. */
static void check_column(const char *spec, const char *alone, const double *score,
                         const int32_t *hit, size_t line) {
  const pcal_batch batch = drawn();
  const pcal_batch one = help_batch(PCAL_CONFIDENCE, score, hit, ROWS, 1);
  pcal_calibrator *full = help_fit(&batch, spec), *single = help_fit(&one, alone);
  const pc_spline_model *a = full->parameters, *b = single->parameters;
  assert_int_equal(a->lines->maps[line].count, b->lines->maps[0].count);
  assert_memory_equal(a->lines->maps[line].value, b->lines->maps[0].value,
                      b->lines->maps[0].count * sizeof(double));
  assert_memory_equal(a->values + line * a->knots, b->values, b->knots * sizeof(double));
  pcal_calibrator_free(full);
  pcal_calibrator_free(single);
}

TEST(scores_of_rows) {
  double rank[K][ROWS], within[ROWS], class[ROWS];
  int32_t rank_hit[K][ROWS], within_hit[ROWS], class_hit[ROWS];
  drawn();
  for (size_t i = 0; i < ROWS; i++) {
    size_t order[K];
    ranks_of(probs + i * K, order);
    for (size_t r = 0; r < K; r++) {
      rank[r][i] = probs[i * K + order[r]];
      rank_hit[r][i] = (size_t)labels[i] == order[r];
    }
    within[i] = rank[0][i] + rank[1][i];
    within_hit[i] = rank_hit[0][i] || rank_hit[1][i];
    class[i] = probs[i * K + 2];
    class_hit[i] = labels[i] == 2;
  }
  check_column("spline", "spline", rank[0], rank_hit[0], 0);
  check_column("spline:rank=2", "spline", rank[1], rank_hit[1], 0);
  check_column("spline:rank=4,convention=gupta", "spline:convention=gupta", rank[3],
               rank_hit[3], 0);
  for (size_t r = 0; r < K; r++)
    check_column("spline:target=all", "spline", rank[r], rank_hit[r], r);
  check_column("spline:target=within,rank=2", "spline", within, within_hit, 0);
  check_column("spline:target=class,class=2", "spline", class, class_hit, 0);
}

/* Results against the maps applied by hand. */
TEST(applies) {
  static const char *const specs[] = {"spline", "spline:rank=3", "spline:target=all",
                                      "spline:target=within,rank=2",
                                      "spline:target=class,class=1"};
  const pcal_batch batch = drawn();
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    static double out[ROWS * K];
    pcal_calibrator *calibrator = help_fit(&batch, specs[s]);
    const pc_spline_model *model = calibrator->parameters;
    const size_t width = pcal_calibrator_column_count(calibrator);
    assert_int_equal(width, s < 3 ? K : 1);
    help_apply(calibrator, &batch, out);
    for (size_t i = 0; i < ROWS; i++) {
      const double *p = probs + i * K;
      size_t order[K];
      double expected[K], sum = 0;
      ranks_of(p, order);
      if (s < 2) {
        const size_t c = order[s == 0 ? 0 : 2];
        const double g = pc_line_map_value(model->lines->maps, p[c]);
        for (size_t j = 0; j < K; j++)
          expected[j] = j == c ? g : p[j] / (1 - p[c]) * (1 - g);
      } else if (s == 2) {
        for (size_t r = 0; r < K; r++)
          sum += expected[order[r]] = pc_line_map_value(&model->lines->maps[r], p[order[r]]);
        for (size_t j = 0; j < K; j++)
          expected[j] /= sum;
      } else {
        expected[0] =
            pc_line_map_value(model->lines->maps, s == 3 ? p[order[0]] + p[order[1]] : p[1]);
      }
      for (size_t j = 0; j < width; j++)
        assert_true(fabs(out[i * width + j] - expected[j]) < 1e-12);
    }
    pcal_calibrator_free(calibrator);
  }
}

/* A certain row: the others share what the spline takes from it. */
TEST(certain_rows) {
  const double rows[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  const int32_t truth[] = {0, 1, 0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &rows[0][0], truth, 4, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "spline");
  double out[4][3];
  help_apply(calibrator, &batch, out);
  assert_near(out[0][0], 0.5, 1e-9);
  assert_near(out[0][1], 0.25, 1e-9);
  assert_near(out[2][2], 0.5, 1e-9);
  pcal_calibrator_free(calibrator);
}

/* Before clipping some scores of convention=gupta leave [0, 1]; apply never does, and gives the
 * same where no clipped point is near.  Rows of target=all are then not divided. */
TEST(unclipped) {
  static const char *const specs[] = {"spline:knots=20,convention=gupta",
                                      "spline:knots=20,target=within,rank=2,convention=gupta"};
  const pcal_batch batch = drawn();
  size_t outside = 0, same = 0;
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    pcal_calibrator *calibrator = help_fit(&batch, specs[s]);
    for (size_t i = 0; i < ROWS; i++) {
      double raw[2 * K], clipped[2 * K];
      size_t order[K];
      pc_spline_apply_unclipped(calibrator, probs + i * K, 1, raw);
      pc_spline_apply(calibrator, probs + i * K, 1, clipped);
      ranks_of(probs + i * K, order);
      const size_t at = s == 0 ? order[0] : K - 1;
      outside += raw[at] < 0 || raw[at] > 1;
      same += raw[at] == clipped[at];
      assert_true(clipped[at] >= 0 && clipped[at] <= 1);
      assert_true(raw[at] == clipped[at] || raw[at] < 0.2 || raw[at] > 0.8);
    }
    pcal_calibrator_free(calibrator);
  }
  assert_true(outside > 0 && same > ROWS);
}
