#include "table_help.h"

/* Equal-mass bins for every number of bins, until a share of hits falls. */
static size_t sweep_directly(const pc_curve_table *table, size_t most) {
  size_t best = 1;
  for (size_t bins = 1; bins <= most && (double)bins <= fmax(table->total, 1.0); bins++) {
    pc_bin *made = calloc(bins, sizeof *made);
    size_t count;
    double before = -1;
    int rises = 1;
    count = pc_bins_by_mass(table, bins, made);
    for (size_t b = 0; b < count; b++) {
      if (made[b].weight <= 0)
        continue;
      rises &= pc_bin_frequency(&made[b]) >= before;
      before = pc_bin_frequency(&made[b]);
    }
    free(made);
    if (!rises)
      return best;
    best = bins;
  }
  return best;
}

static size_t sweep_found(const pc_curve_table *table, size_t most) {
  const pcal_env env = pc_env_resolve(NULL);
  size_t found;
  assert_int_equal(pc_bins_sweep(&env, table, most, &found, NULL), PCAL_OK);
  return found;
}

TEST(test_as_one_by_one) {
  static table_rows rows;
  size_t several = 0;
  for (size_t k = 0; k < UNIT_COUNT(table_kinds); k++)
    for (uint64_t stream = 0; stream < 20; stream++)
      for (int weighted = 0; weighted < 2; weighted++) {
        table_draw(table_kinds[k], 20 + 15 * (size_t)stream, stream, &rows);
        pc_curve_table table = table_make(&rows, weighted);
        const size_t found = sweep_found(&table, 10000);
        assert_int_equal(found, sweep_directly(&table, 10000));
        several += found > 1;
        table_free(&table);
      }
  assert_true(several > 20);
}

/* The midpoint of two neighbouring doubles is one of them. */
TEST(test_neighbours) {
  static table_rows rows;
  double score = 0.7;
  rows.count[0] = rows.count[1] = 0;
  for (int i = 0; i < 40; i++) {
    const int hit = i % 3 != 0 && i > 4;
    rows.score[hit][rows.count[hit]++] = score;
    score = nextafter(score, 1);
  }
  pc_curve_table table = table_make(&rows, 0);
  assert_int_equal(sweep_found(&table, 10000), sweep_directly(&table, 10000));
  table_free(&table);
}

TEST(test_nothing_falls) {
  static table_rows rows;
  table_draw(table_uniform, 3000, 1, &rows);
  rows.count[0] = 0; /* all right */
  pc_curve_table table = table_make(&rows, 0);
  assert_int_equal(sweep_found(&table, 10000), rows.count[1]);
  assert_int_equal(sweep_found(&table, 100), 100);
  table_free(&table);
}

TEST(test_it_falls_at_once) {
  static table_rows rows;
  rows.score[1][0] = 0.2;
  rows.score[0][0] = 0.8;
  rows.count[0] = rows.count[1] = 1;
  pc_curve_table table = table_make(&rows, 0);
  assert_int_equal(sweep_found(&table, 10000), 1);
  table_free(&table);
}

static pcal_status sweep_scenario(const pcal_env *env, void *user, pcal_error *err) {
  size_t found;
  return pc_bins_sweep(env, user, 100, &found, err);
}

TEST(test_out_of_memory) {
  static table_rows rows;
  table_draw(table_uniform, 100, 1, &rows);
  pc_curve_table table = table_make(&rows, 0);
  unit_fail_each_allocation(sweep_scenario, &table);
  table_free(&table);
}
