#include "measure_help.h"

/* Six rows of one score, right or wrong; the accuracy of each group can be counted. */
static const given_data overlap_rows = {
    .kind = PCAL_CONFIDENCE,
    .rows = 6,
    .columns = 1,
    .scores = (const double[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
    .labels = (const int32_t[]){1, 1, 0, 0, 1, 0},
    .groups = (const uint32_t[]){0, 0, 1, 2, 3, 3},
    .group_names = (const char *const[]){"site=s & sex=m", "site=n & sex=f", "site=s & sex=f",
                                         "site=n & sex=m"},
    .group_count = 4,
};

static void overlap_expect(const pcal_results *results, size_t index, const char *group,
                           double value) {
  pcal_result result = PCAL_RESULT_INIT;
  assert_int_equal(pcal_results_get(results, index, &result), PCAL_OK);
  assert_string_equal(result.group, group);
  assert_near(result.value, value, 1e-15);
}

TEST(groups_of_each_column_then_intersections_by_name) {
  pcal_results *results = given_results(&overlap_rows, "accuracy");
  assert_int_equal(pcal_results_count(results), 9);
  overlap_expect(results, 1, "site=n", 1.0 / 3);
  overlap_expect(results, 2, "site=s", 2.0 / 3);
  overlap_expect(results, 3, "sex=f", 0.0);
  overlap_expect(results, 4, "sex=m", 3.0 / 4);
  overlap_expect(results, 5, "site=n & sex=f", 0.0);
  overlap_expect(results, 6, "site=n & sex=m", 0.5);
  overlap_expect(results, 7, "site=s & sex=f", 0.0);
  overlap_expect(results, 8, "site=s & sex=m", 1.0);
  pcal_results_free(results);
}

/* Groups of one column, of more than four, and combinations may occur together after merging. */
TEST(other_names_are_shown_alone) {
  given_data data = overlap_rows;
  data.group_names =
      (const char *const[]){"R & D", "a=1 & b=1 & c=1 & d=1 & e=1", "x=1 & y=1", "x=1 & y=2"};
  pcal_results *results = given_results(&data, "accuracy");
  assert_int_equal(pcal_results_count(results), 8);
  overlap_expect(results, 1, "R & D", 1.0);
  overlap_expect(results, 2, "a=1 & b=1 & c=1 & d=1 & e=1", 0.0);
  overlap_expect(results, 3, "x=1", 1.0 / 3);
  overlap_expect(results, 4, "y=1", 0.0);
  overlap_expect(results, 5, "y=2", 0.5);
  overlap_expect(results, 6, "x=1 & y=1", 0.0);
  overlap_expect(results, 7, "x=1 & y=2", 0.5);
  pcal_results_free(results);
}

/* All kinds of machines merge to what the rows of a group alone give. */
TEST(unions_are_measured_as_their_rows) {
  static const char specs[] = "ece ks skce brier:half=yes auc";
  given_data data = overlap_rows, males = overlap_rows;
  data.kind = males.kind = PCAL_PROBABILITY;
  data.scores = (const double[]){0.9, 0.7, 0.2, 0.4, 0.6, 0.3};
  males.rows = 4;
  males.scores = (const double[]){0.9, 0.7, 0.6, 0.3};
  males.labels = (const int32_t[]){1, 1, 1, 0};
  males.groups = NULL;
  males.group_count = 0;
  pcal_results *all = given_results(&data, specs), *alone = given_results(&males, specs);
  for (size_t m = 0; m < 5; m++) {
    pcal_result grouped = PCAL_RESULT_INIT, plain = PCAL_RESULT_INIT;
    assert_int_equal(pcal_results_get(all, 4 * 5 + m, &grouped), PCAL_OK);
    assert_int_equal(pcal_results_get(alone, m, &plain), PCAL_OK);
    assert_string_equal(grouped.group, "sex=m");
    assert_same(grouped.value, plain.value);
  }
  pcal_results_free(all);
  pcal_results_free(alone);
}
