#include "class_rows.h"

#define GCE_TRIED_BINS 8

/* ---- the published code, written out ---- */

static size_t gce_edges(const class_slice *slice, int adaptive, double *edges) {
  static double sorted[CLASS_ROWS_MAX * CLASS_MAX];
  if (!adaptive) {
    for (size_t i = 1; i <= GCE_TRIED_BINS; i++)
      edges[i - 1] = i == GCE_TRIED_BINS ? 1.0 : (double)i * (1.0 / GCE_TRIED_BINS);
    return GCE_TRIED_BINS;
  }
  memcpy(sorted, slice->score, slice->count * sizeof *sorted);
  qsort(sorted, slice->count, sizeof *sorted, class_compare);
  for (size_t r = 1; r < GCE_TRIED_BINS; r++) {
    const double place = nearbyint((double)r * ((double)slice->count / GCE_TRIED_BINS));
    const size_t index = place >= (double)slice->count ? slice->count - 1 : (size_t)place;
    edges[r - 1] = sorted[index];
  }
  return GCE_TRIED_BINS - 1;
}

static double gce_slice(const class_slice *slice, int adaptive, int square) {
  double edges[GCE_TRIED_BINS], total = 0;
  if (slice->count == 0)
    return 0;
  const size_t edge_count = gce_edges(slice, adaptive, edges);
  for (size_t b = 0; b <= edge_count; b++) {
    double n = 0, score = 0, hits = 0;
    for (size_t i = 0; i < slice->count; i++) {
      size_t at = 0;
      while (at < edge_count && edges[at] <= slice->score[i])
        at++;
      if (at != b)
        continue;
      n += 1;
      score += slice->score[i];
      hits += slice->hit[i];
    }
    const double gap = n > 0 ? fabs(score - hits) / n : 0;
    total += n / (double)slice->count * (square ? gap * gap : gap);
  }
  return total;
}

static void gce_fill(const class_rows *from, unsigned bits, size_t k, class_slice *out) {
  const int all = bits >> 3 & 1, pooled = bits >> 2 & 1;
  const double threshold = bits >> 1 & 1 ? 0.01 : 0;
  out->count = 0;
  for (size_t i = 0; i < from->rows; i++) {
    const size_t top = class_rows_top(from, i), label = (size_t)from->labels[i];
    const double *p = from->probs + i * from->classes;
    for (size_t j = 0; j < from->classes; j++)
      if ((all || j == top) && (pooled || j == k))
        class_slice_add(out, p[j], label == j, threshold);
  }
}

static double gce_published(const class_rows *from, unsigned bits) {
  static class_slice slice;
  const size_t slices = bits >> 2 & 1 ? 1 : from->classes;
  double mean = 0;
  for (size_t k = 0; k < slices; k++) {
    gce_fill(from, bits, k, &slice);
    mean += gce_slice(&slice, bits >> 4 & 1, bits & 1) / (double)slices;
  }
  return bits & 1 ? sqrt(mean) : mean;
}

static double gce_asked(const class_rows *from, const char *spec) {
  const given_data data = class_rows_given(from);
  return given_value(&data, spec);
}

TEST(test_all_variants) {
  static class_rows rows;
  for (uint64_t stream = 0; stream < 6; stream++) {
    class_rows_draw(stream, stream == 0 ? 3 : 500, 2 + stream % 5, stream % 2 == 1, &rows);
    for (unsigned v = 0; v < 32; v++) {
      char spec[64];
      snprintf(spec, sizeof spec, "gce:variant=%u,bins=%d", v, GCE_TRIED_BINS);
      assert_near(gce_asked(&rows, spec), gce_published(&rows, v), 1e-12);
    }
  }
}

TEST(test_variants_with_names) {
  static const char *const same[][2] = {
      {"gce:variant=4", "ece:convention=nixon"},
      {"gce:variant=4", "gce"},
      {"gce:variant=5", "ece:convention=nixon,norm=l2"},
      {"gce:variant=0", "gce:classwise=yes"},
      {"gce:variant=8", "sce"},
      {"gce:variant=8", "gce:scope=all,classwise=yes"},
      {"gce:variant=21", "rmsce"},
      {"gce:variant=21", "gce:binning=adaptive,norm=l2"},
      {"gce:variant=24", "ace"},
      {"gce:variant=24", "ace:weights=count"},
      {"gce:variant=26", "tace"},
      {"gce:variant=26", "gce:binning=adaptive,scope=all,classwise=yes,threshold=0.01"},
      {"gce:variant=8,bins=30", "sce:bins=30"},
      {"gce:variant=26,bins=7", "tace:bins=7"},
      {"ace", "tace:threshold=0"},
  };
  static class_rows rows;
  for (uint64_t stream = 0; stream < 4; stream++) {
    class_rows_draw(stream, 400, 2 + stream, stream % 2 == 1, &rows);
    for (size_t i = 0; i < UNIT_COUNT(same); i++)
      assert_same(gce_asked(&rows, same[i][0]), gce_asked(&rows, same[i][1]));
  }
}

TEST(test_echo_of_variants) {
  static class_rows rows;
  class_rows_draw(1, 50, 3, 0, &rows);
  const given_data data = class_rows_given(&rows);
  pcal_results *results = given_results(&data, "gce:variant=25 gce:variant=5 gce:norm=l2");
  assert_int_equal(pcal_results_count(results), 2); /* 5 is norm=l2 */
  const pcal_result wide = given_result(results, "gce:variant=25");
  assert_string_equal(wide.spec, "gce:binning=adaptive,scope=all,classwise=yes,threshold=0,"
                                 "norm=l2,bins=15");
  assert_string_equal(wide.label, "gce:variant=25");
  assert_int_equal(wide.notion, PCAL_NOTION_CLASS_WISE);
  assert_int_equal(wide.bound, PCAL_BOUND_LOWER);
  const pcal_result top = given_result(results, "gce:norm=l2");
  assert_string_equal(top.label, "gce:variant=5");
  assert_int_equal(top.notion, PCAL_NOTION_TOP_LABEL);
  pcal_results_free(results);
  results = given_results(&data, "tace gce:classwise=yes");
  assert_int_equal(given_result(results, "tace").bound, PCAL_BOUND_NONE);
  assert_int_equal(given_result(results, "gce:classwise=yes").notion, PCAL_NOTION_TOP_LABEL);
  pcal_results_free(results);
}

/* ---- edge cases ---- */

/* The eleven scores on edges, as probabilities of class 1. */
static const given_data gce_binary = {
    .kind = PCAL_PROBABILITY,
    .rows = 11,
    .columns = 1,
    .scores = (const double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
    .labels = (const int32_t[]){1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
};

TEST(test_1_and_7_edges_of_class_one) {
  assert_near(given_value(&gce_binary, "gce:bins=10"), 4.1 / 11, 1e-14);
  assert_same(given_value(&gce_binary, "gce:bins=10"),
              given_value(&gce_binary, "ece:bins=10,convention=nixon"));
  assert_same(given_value(&gce_binary, "gce:bins=10,view=top"),
              given_value(&gce_binary, "ece:bins=10,convention=nixon,view=top"));
  assert_same(given_value(&gce_binary, "rmsce:view=top"),
              given_value(&gce_binary, "gce:variant=21,view=top"));
}

TEST(test_2_ties_leave_bins_empty) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 6,
                           .columns = 1,
                           .scores = (const double[]){0.2, 0.7, 0.7, 0.7, 0.7, 0.9},
                           .labels = (const int32_t[]){0, 1, 0, 1, 1, 1}};
  /* three bins: both edges are 0.7: {0.2}, {}, {0.7 x 4, 0.9} */
  assert_near(given_value(&data, "gce:binning=adaptive,bins=3"),
              1.0 / 6 * 0.2 + 5.0 / 6 * fabs(3.7 / 5 - 0.8), 1e-14);
}

TEST(test_4_nothing_above_the_threshold) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 2,
                           .scores = (const double[]){0.5, 0.5, 0.25, 0.75},
                           .labels = (const int32_t[]){0, 1}};
  static const char *const specs[] = {"gce:threshold=0.75", "tace:threshold=0.8",
                                      "gce:scope=all,threshold=0.9",
                                      "gce:scope=all,classwise=yes,threshold=1"};
  for (size_t i = 0; i < UNIT_COUNT(specs); i++) {
    pcal_results *results = given_results(&data, specs[i]);
    const pcal_result result = given_result(results, specs[i]);
    assert_false(result.defined);
    assert_string_equal(result.why, "no score is above the threshold");
    pcal_results_free(results);
  }
  /* class 0 has no score above it: it counts with 0 */
  assert_near(given_value(&data, "tace:threshold=0.6"), 0.25 / 2, 1e-15);
}

TEST(test_5_equal_weights) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 3,
                           .columns = 2,
                           .scores = (const double[]){0.75, 0.25, 0.5, 0.5, 0.125, 0.875},
                           .labels = (const int32_t[]){0, 0, 1}};
  /* class 0: {0.125, 0.5}, {0.75}; class 1: {0.25, 0.5}, {0.875} */
  const double first = fabs(0.3125 - 0.5), second = 0.25, third = 0.375, fourth = 0.125;
  assert_near(given_value(&data, "ace:weights=equal,bins=2"),
              (first + second + third + fourth) / 4, 1e-15);
  /* more ranges than rows: those without rows count with 0 */
  assert_near(given_value(&data, "ace:weights=equal,bins=6"), 2 * (0.125 + 0.5 + 0.25) / 12,
              1e-15);
}

TEST(test_6_rows_in_a_bin) {
  static class_rows rows;
  class_rows_draw(3, 250, 4, 0, &rows);
  assert_same(gce_asked(&rows, "rmsce:per-bin=100"), gce_asked(&rows, "rmsce:bins=2"));
  assert_same(gce_asked(&rows, "rmsce:per-bin=10"), gce_asked(&rows, "rmsce:bins=25"));
  assert_same(gce_asked(&rows, "rmsce:per-bin=1000"), gce_asked(&rows, "rmsce:bins=1"));
  assert_same(gce_asked(&rows, "rmsce:per-bin=0"), gce_asked(&rows, "rmsce"));
}

TEST(test_values_of_classes) {
  static class_rows rows;
  class_rows_draw(5, 300, 5, 0, &rows);
  const given_data data = class_rows_given(&rows);
  pcal_results *results = given_results(&data, "sce gce:variant=25 gce:variant=12 ece");
  const pcal_result sce = given_result(results, "sce");
  double mean = 0, worst = 0;
  assert_int_equal(sce.class_count, 5);
  for (size_t k = 0; k < 5; k++) {
    mean += sce.class_values[k] / 5;
    worst = fmax(worst, sce.class_values[k]);
  }
  assert_near(mean, sce.value, 1e-15);
  assert_same(given_part(&sce, "worst"), worst);
  const pcal_result squares = given_result(results, "gce:variant=25");
  mean = 0;
  for (size_t k = 0; k < 5; k++)
    mean += squares.class_values[k] * squares.class_values[k] / 5;
  assert_near(sqrt(mean), squares.value, 1e-15);
  assert_null(given_result(results, "gce:variant=12").class_values);
  assert_null(given_result(results, "ece").class_values);
  pcal_results_free(results);
}

TEST(test_what_is_refused) {
  given_data confidence = gce_binary;
  confidence.kind = PCAL_CONFIDENCE;
  given_refused(&gce_binary, "gce:variant=3,norm=l2", PCAL_USAGE,
                "gce: variant=3 already sets norm=; give the variant or the properties, "
                "not both");
  given_refused(&gce_binary, "gce:threshold=0,variant=3", PCAL_USAGE, "threshold=");
  given_refused(&gce_binary, "gce:variant=32", PCAL_USAGE,
                "option variant must be between 0 and 31");
  given_refused(&gce_binary, "gce:scope=all,view=top", PCAL_USAGE,
                "gce: view= needs scope=top and classwise=no; remove it");
  given_refused(&gce_binary, "rmsce:per-bin=5,bins=5", PCAL_USAGE,
                "rmsce: per-bin= determines the number of bins; give per-bin= or bins=, "
                "not both");
  given_refused(&confidence, "gce:variant=8", PCAL_USAGE,
                "gce: scope=all needs the probabilities of all classes; give them as probs "
                "or logits instead of confidence");
  given_refused(&confidence, "gce:classwise=yes", PCAL_USAGE, "gce: classwise=yes needs");
  given_refused(&confidence, "ace", PCAL_USAGE, "ace needs the probabilities of all classes");
  given_refused(&gce_binary, "tace:threshold=2", PCAL_USAGE, "must be between 0 and 1");
}
