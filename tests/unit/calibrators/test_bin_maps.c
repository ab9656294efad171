#include "calibrators/bin_maps.h"

#include "base/rng.h"
#include "calibrator_help.h"

TEST(equal_width) {
  const char *spec = "histogram:bins=2";
  help_parameters(spec, 1, "{\"values\": [[0, 1]]}", NULL);
  help_parameters(spec, 2, "{\"values\": [[0, 1], [0.5, 0.25]]}", NULL);
  help_parameters(spec, 2, "{\"values\": [[0, 1]]}",
                  "cal.json, line 3: \"values\" must hold 2 lists of numbers");
  help_parameters(spec, 1, "{\"values\": [0, 1]}",
                  "cal.json, line 3: \"values\" must hold 1 list of numbers");
  help_parameters(spec, 1, "{\"values\": [[0]]}",
                  "cal.json, line 3: a table of values must hold 2 numbers");
  help_parameters(spec, 1, "{\"values\": [[0, 1, 1]]}",
                  "cal.json, line 3: a table of values must hold 2 numbers");
  help_parameters(spec, 1, "{\"values\": [[0,\n1.5]]}",
                  "cal.json, line 4: a value of a bin must be a number from 0 to 1");
  help_parameters(spec, 1, "{\"values\": [[0, -0.1]]}",
                  "cal.json, line 3: a value of a bin must be a number from 0 to 1");
  help_parameters(spec, 1, "{\"values\": [[0, null]]}",
                  "cal.json, line 3: a value of a bin must be a number from 0 to 1");
  help_parameters(spec, 1, "{\"values\": [[0, 1]], \"edges\": [[0.5]]}",
                  "cal.json, line 3: there are 2 parameters instead of 1; fit again");
  help_parameters(spec, 1, "{}",
                  "cal.json, line 3: the parameter \"values\" is missing; fit again");
  help_parameters("histogram:bins=2,classwise=no", 3, "{\"values\": [[0, 1]]}", NULL);
  help_parameters("histogram:bins=2,classwise=no", 3, "{\"values\": [[0, 1], [0, 1]]}",
                  "cal.json, line 3: \"values\" must hold 1 list of numbers");
}

TEST(equal_mass) {
  const char *spec = "histogram:bins=3,binning=mass";
  const char *order = "cal.json, line 3: edges must be ascending numbers from 0 to below 1";
  help_parameters(spec, 1, "{\"edges\": [[0.2, 0.4]], \"values\": [[0, 1, 1]]}", NULL);
  help_parameters(spec, 1, "{\"edges\": [[]], \"values\": [[0.5]]}", NULL);
  help_parameters(spec, 1, "{\"edges\": [[0]], \"values\": [[0.5, 1]]}", NULL);
  help_parameters(spec, 1, "{\"edges\": [[-0.000001]], \"values\": [[0.5, 1]]}", NULL);
  help_parameters(spec, 1, "{\"edges\": [[-0.1]], \"values\": [[0.5, 1]]}", order);
  help_parameters(spec, 1, "{\"edges\": [[1]], \"values\": [[0.5, 1]]}", order);
  help_parameters(spec, 1, "{\"edges\": [[0.4, 0.4]], \"values\": [[0, 1, 1]]}", order);
  help_parameters(spec, 1, "{\"edges\": [[0.4, 0.3]], \"values\": [[0, 1, 1]]}", order);
  help_parameters(spec, 1, "{\"edges\": [[\"0.4\"]], \"values\": [[0, 1]]}", order);
  help_parameters(spec, 1, "{\"edges\": [[0.4]], \"values\": [[0, 1, 1]]}",
                  "cal.json, line 3: a table must have one edge fewer than it has values");
  help_parameters(spec, 1, "{\"edges\": [0.4], \"values\": [[0, 1]]}",
                  "cal.json, line 3: \"edges\" must hold 1 list of numbers");
  help_parameters(spec, 1, "{\"edges\": [[], []], \"values\": [[0]]}",
                  "cal.json, line 3: \"edges\" must hold 1 list of numbers");
  help_parameters(spec, 1, "{\"edges\": [[]], \"values\": [[]]}",
                  "cal.json, line 3: a table of values must hold 1 to 3 numbers");
  help_parameters(spec, 1, "{\"edges\": [[0.1, 0.2, 0.3]], \"values\": [[0, 0, 0, 0]]}",
                  "cal.json, line 3: a table of values must hold 1 to 3 numbers");
  help_parameters(spec, 1, "{\"values\": [[0, 1, 1]]}",
                  "cal.json, line 3: the parameter \"edges\" is missing; fit again");
}

/* A file cannot make the loader reserve more than it holds. */
TEST(sizes_come_from_the_file) {
  help_parameters("histogram:bins=10000", 1000000, "{\"values\": [[0]]}",
                  "cal.json, line 3: \"values\" must hold 1000000 lists of numbers");
}

/* The average has the mean of the parts at every score. */
TEST(averages) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_arena arena;
  double v0[] = {0.5}, v1[] = {0.0, 1.0}, v2[] = {0.25, 0.5, 0.75};
  double e1[] = {0.5}, e2[] = {0.25, 0.5};
  const pc_bin_map parts[] = {{1, v0, NULL}, {2, v1, e1}, {3, v2, e2}};
  const double weights[] = {1.0, 2.0, 5.0};
  pc_bin_map mixed;
  assert_int_equal(pc_arena_open(&arena, &env, NULL), PCAL_OK);
  assert_int_equal(pc_bin_map_average(&arena.env, parts, NULL, weights, 3, &mixed, NULL),
                   PCAL_OK);
  assert_int_equal(mixed.count, 3);
  for (int i = 0; i <= 100; i++) {
    const double at = i / 100.0;
    double mean = 0;
    for (size_t p = 0; p < 3; p++)
      mean += weights[p] / 8 * parts[p].values[pc_bin_map_find(&parts[p], at)];
    assert_near(mixed.values[pc_bin_map_find(&mixed, at)], mean, 1e-15);
  }
  assert_int_equal(pc_bin_map_average(&arena.env, parts, NULL, weights, 1, &mixed, NULL),
                   PCAL_OK);
  assert_int_equal(mixed.count, 1);
  assert_same(mixed.values[0], 0.5);
  pc_arena_close(&arena);
}

/* Scores at, beside and between edges, and beyond the ends. */
static void assert_index_agrees(const pc_bin_map *plain, const pc_bin_map *indexed) {
  for (size_t e = 0; e + 1 < plain->count; e++) {
    const double edge = plain->edges[e];
    const double places[] = {nextafter(edge, -1), edge, nextafter(edge, 2), 0.999 * edge,
                             1 - edge};
    for (size_t p = 0; p < UNIT_COUNT(places); p++)
      assert_int_equal(pc_bin_map_find(indexed, places[p]), pc_bin_map_find(plain, places[p]));
  }
  static const double ends[] = {-1e-6, -0.0, 0, 5e-324, 0.5, 1, 1.000001};
  for (size_t p = 0; p < UNIT_COUNT(ends); p++)
    assert_int_equal(pc_bin_map_find(indexed, ends[p]), pc_bin_map_find(plain, ends[p]));
}

/* Edges everywhere, and crowded at both ends. */
TEST(an_index_finds_the_same_bins) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_arena arena;
  assert_int_equal(pc_arena_open(&arena, &env, NULL), PCAL_OK);
  const pc_rng rng = {7, 1};
  for (size_t bins = 1; bins <= 400; bins += bins < 5 ? 1 : 79)
    for (int crowded = 0; crowded < 2; crowded++) {
      pc_bin_map indexed = {0};
      assert_int_equal(pc_bin_map_alloc(&arena.env, bins, &indexed, NULL), PCAL_OK);
      for (size_t e = 0; e + 1 < bins; e++) {
        const double u = ((double)e + pc_rng_uniform(&rng, e)) / (double)bins;
        indexed.edges[e] = crowded ? 1 / (1 + exp(40 * (0.5 - u))) : u;
      }
      if (bins > 3)
        indexed.edges[0] = -1e-7;
      pc_bin_map plain = indexed;
      assert_int_equal(pc_bin_map_build_index(&arena.env, &indexed, NULL), PCAL_OK);
      assert_index_agrees(&plain, &indexed);
    }
  pc_arena_close(&arena);
}

/* A resampled table of equal mass may have as many bins as its resamples have together. */
TEST(resampled_files) {
  const char *spec = "histogram:bins=2,binning=mass,bootstrap=2";
  help_parameters(spec, 1, "{\"edges\": [[0.2, 0.4]], \"values\": [[0, 1, 1]]}", NULL);
  help_parameters(spec, 1, "{\"edges\": [[0.2, 0.4, 0.6]], \"values\": [[0, 1, 1, 1]]}",
                  "cal.json, line 3: a table of values must hold 1 to 3 numbers");
}
