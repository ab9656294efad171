/* Two passes over the scores of all classes, against sums taken score by score. */
#include "unit.h"

#include "base/rng.h"
#include "curve/class_sums.h"
#include "kernels/dispatch.h"

#define CLASS_ROWS 700
#define CLASS_COUNT 11

static pcal_env class_env;

typedef struct class_data {
  double probs[CLASS_ROWS * CLASS_COUNT];
  int32_t labels[CLASS_ROWS];
} class_data;

/* Classes 0 to 3: 0 and 1 alone, rounding outside [0, 1], tiny scores, many ties. */
static void class_draw(class_data *data) {
  const pc_rng rng = {51, 1};
  class_env = pc_env_resolve(NULL);
  for (size_t i = 0; i < CLASS_ROWS; i++) {
    for (size_t j = 0; j < CLASS_COUNT; j++) {
      const double u = pc_rng_uniform(&rng, i * CLASS_COUNT + j);
      data->probs[i * CLASS_COUNT + j] = j == 0   ? (double)(i % 3 == 0)
                                         : j == 1 ? (i % 2 == 0 ? -1e-9 * u : 1 + 1e-9 * u)
                                         : j == 2 ? ldexp(u, -(int)(i % 200))
                                         : j == 3 ? floor(4 * u) / 4
                                                  : u * u;
    }
    data->labels[i] =
        (int32_t)(pc_rng_uniform(&rng, CLASS_ROWS * CLASS_COUNT + i) * CLASS_COUNT);
  }
}

static pc_rows class_rows(const class_data *data, size_t begin, size_t count) {
  return (pc_rows){.count = count,
                   .classes = CLASS_COUNT,
                   .probs = data->probs + begin * CLASS_COUNT,
                   .labels = data->labels + begin};
}

TEST(test_bounds_of_buckets) {
  static const size_t classes[] = {2, 10, 1000, PC_CLASS_COUNTS_CLASSES_MAX};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    const pc_class_bucket_rule rule = pc_class_bucket_rule_for(classes[c]);
    const size_t buckets = pc_class_bucket_count(&rule);
    for (size_t b = 0; b + 1 < buckets; b++) {
      assert_true(pc_class_bucket_low(&rule, b) <= pc_class_bucket_high(&rule, b));
      assert_true(nextafter(pc_class_bucket_high(&rule, b), INFINITY) ==
                  pc_class_bucket_low(&rule, b + 1));
    }
    for (size_t b = 0; b < buckets; b++) {
      const double ends[2] = {pc_class_bucket_low(&rule, b), pc_class_bucket_high(&rule, b)};
      uint16_t found[2];
      pc_kernels_at(0)->bin_index->class_buckets(ends, 2, &rule, found);
      assert_int_equal(found[0], b);
      assert_int_equal(found[1], b);
    }
  }
}

/* Counts in two parts that are merged. */
static void class_count(const class_data *data, size_t split, pc_class_counts *out) {
  pc_class_counts other;
  const pc_rows rows[2] = {class_rows(data, 0, split),
                           class_rows(data, split, CLASS_ROWS - split)};
  assert_int_equal(pc_class_counts_new(&class_env, CLASS_COUNT, out, NULL), PCAL_OK);
  assert_int_equal(pc_class_counts_new(&class_env, CLASS_COUNT, &other, NULL), PCAL_OK);
  assert_int_equal(pc_class_counts_add(out, &rows[0], NULL), PCAL_OK);
  assert_int_equal(pc_class_counts_add(&other, &rows[1], NULL), PCAL_OK);
  assert_int_equal(pc_class_counts_prepare(out, &other, NULL), PCAL_OK);
  pc_class_counts_merge(out, &other);
  pc_class_counts_free(&other);
}

/* Counts that are cleared are those of no row, and count again as new ones do. */
TEST(test_cleared_counts) {
  static class_data data;
  pc_class_counts again, fresh;
  pc_bucket_curve curves[2];
  class_draw(&data);
  const pc_rows rows = class_rows(&data, 100, 300);
  class_count(&data, 250, &again);
  pc_class_counts_clear(&again);
  assert_null(again.counts);
  assert_int_equal(again.pending, 0);
  assert_int_equal(pc_class_counts_new(&class_env, CLASS_COUNT, &fresh, NULL), PCAL_OK);
  assert_int_equal(pc_class_counts_add(&again, &rows, NULL), PCAL_OK);
  assert_int_equal(pc_class_counts_add(&fresh, &rows, NULL), PCAL_OK);
  for (size_t part = 0; part < CLASS_COUNT; part++) {
    assert_int_equal(pc_class_counts_curve(&class_env, &again, part, &curves[0], NULL),
                     PCAL_OK);
    assert_int_equal(pc_class_counts_curve(&class_env, &fresh, part, &curves[1], NULL),
                     PCAL_OK);
    assert_int_equal(curves[0].count, curves[1].count);
    for (size_t i = 0; i < curves[0].count; i++) {
      assert_same(curves[0].segments[i].low, curves[1].segments[i].low);
      assert_true(curves[0].segments[i].rows == curves[1].segments[i].rows);
    }
    pc_bucket_curve_free(&curves[0]);
    pc_bucket_curve_free(&curves[1]);
  }
  pc_class_counts_free(&again);
  pc_class_counts_free(&fresh);
}

static uint64_t class_rows_between(const class_data *data, size_t j, double low, double high) {
  uint64_t count = 0;
  for (size_t i = 0; i < CLASS_ROWS; i++) {
    const double score = data->probs[i * CLASS_COUNT + j];
    count += score >= low && score <= high;
  }
  return count;
}

TEST(test_rows_are_counted) {
  static class_data data;
  class_draw(&data);
  pc_class_counts counts;
  class_count(&data, 123, &counts);
  for (size_t j = 0; j < CLASS_COUNT; j++) {
    pc_bucket_curve curve;
    assert_int_equal(pc_class_counts_curve(&class_env, &counts, j, &curve, NULL), PCAL_OK);
    assert_true(curve.counted_only && curve.total == CLASS_ROWS);
    for (size_t s = 0; s < curve.count; s++)
      assert_int_equal(
          curve.segments[s].rows,
          class_rows_between(&data, j, curve.segments[s].low, curve.segments[s].high));
    pc_bucket_curve_free(&curve);
  }
  pc_class_counts_free(&counts);
}

/* More rows than two bytes count. */
TEST(test_many_rows_are_counted) {
  static class_data data;
  class_draw(&data);
  const pc_rows rows = class_rows(&data, 0, CLASS_ROWS);
  pc_class_counts counts[2];
  for (size_t c = 0; c < 2; c++)
    assert_int_equal(pc_class_counts_new(&class_env, CLASS_COUNT, &counts[c], NULL), PCAL_OK);
  for (size_t times = 0; times < 100; times++)
    for (size_t c = 0; c < 2; c++)
      assert_int_equal(pc_class_counts_add(&counts[c], &rows, NULL), PCAL_OK);
  assert_int_equal(pc_class_counts_prepare(&counts[0], &counts[1], NULL), PCAL_OK);
  pc_class_counts_merge(&counts[0], &counts[1]);
  pc_bucket_curve curve;
  assert_int_equal(pc_class_counts_curve(&class_env, &counts[0], 0, &curve, NULL), PCAL_OK);
  assert_int_equal(curve.count, 2);
  assert_int_equal(curve.total, 200 * CLASS_ROWS);
  assert_int_equal(curve.segments[1].rows, 200 * class_rows_between(&data, 0, 1.0, 1.0));
  pc_bucket_curve_free(&curve);
  for (size_t c = 0; c < 2; c++)
    pc_class_counts_free(&counts[c]);
}

/* Hits and exact sums of a segment. */
static pc_segment class_expected(const class_data *data, size_t j, double low, double high) {
  pc_segment out = pc_segment_none;
  for (size_t i = 0; i < CLASS_ROWS; i++) {
    const double score = data->probs[i * CLASS_COUNT + j];
    if (score >= low && score <= high)
      pc_segment_add_row(&out, score, data->labels[i] == (int32_t)j);
  }
  return out;
}

static void class_check_segment(const pc_segment *segment, const pc_segment *expected) {
  assert_int_equal(segment->rows, expected->rows);
  assert_int_equal(segment->hits, expected->hits);
  assert_true(segment->score.units == expected->score.units);
  assert_true(segment->hit_score.units == expected->hit_score.units);
}

/* Every third segment is wanted; the others are joined. */
static void class_target(pc_bucket_curve *curve, uint64_t keep_limit,
                         pc_refine_targets *targets) {
  uint8_t *wanted = pc_alloc(&class_env, curve->count, 1);
  for (size_t s = 0; s < curve->count; s += 3)
    wanted[s] = curve->segments[s].low < curve->segments[s].high;
  pc_bucket_curve_merge(curve, wanted);
  const pc_refine_request request = {.wanted = wanted, .keep_limit = keep_limit};
  assert_int_equal(pc_bucket_curve_targets(curve, &request, targets, NULL), PCAL_OK);
  pc_free(&class_env, wanted);
}

static void class_check_sums(const class_data *data, uint64_t keep_limit) {
  pc_class_counts counts;
  pc_bucket_curve curve[CLASS_COUNT], *curves[CLASS_COUNT];
  pc_refine_targets targets[CLASS_COUNT];
  pc_bucket_tally tallies[CLASS_COUNT];
  pc_class_segments segments;
  pc_class_sums sums;
  const pc_rows rows = class_rows(data, 0, CLASS_ROWS);
  class_count(data, 300, &counts);
  for (size_t j = 0; j < CLASS_COUNT; j++) {
    curves[j] = &curve[j];
    assert_int_equal(pc_class_counts_curve(&class_env, &counts, j, &curve[j], NULL), PCAL_OK);
    class_target(&curve[j], keep_limit, &targets[j]);
    assert_int_equal(pc_bucket_tally_new(&class_env, &targets[j], &tallies[j], NULL), PCAL_OK);
  }
  assert_int_equal(
      pc_class_segments_new(&class_env, CLASS_COUNT, curves, targets, &segments, NULL),
      PCAL_OK);
  assert_int_equal(pc_class_sums_new(&class_env, &segments, &sums, NULL), PCAL_OK);
  assert_int_equal(pc_class_sums_add(&sums, &rows, tallies, NULL), PCAL_OK);
  for (size_t j = 0; j < CLASS_COUNT; j++) {
    pc_class_sums_read(&sums, j, &curve[j]);
    assert_int_equal(pc_bucket_curve_refine(&curve[j], &tallies[j], NULL), PCAL_OK);
    for (size_t s = 0; s < curve[j].count; s++) {
      const pc_segment expected =
          class_expected(data, j, curve[j].segments[s].low, curve[j].segments[s].high);
      class_check_segment(&curve[j].segments[s], &expected);
    }
    pc_bucket_tally_free(&tallies[j]);
    pc_refine_targets_free(&targets[j]);
    pc_bucket_curve_free(&curve[j]);
  }
  pc_class_sums_free(&sums);
  pc_class_segments_free(&segments);
  pc_class_counts_free(&counts);
}

TEST(test_sums_of_segments) {
  static class_data data;
  class_draw(&data);
  class_check_sums(&data, CLASS_ROWS);
  class_check_sums(&data, 5); /* scores in targets are divided, not stored */
}
