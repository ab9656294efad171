/* The properties of the 32 variants, against the appendix of the paper. */
#include "../unit.h"

#include "studies/gce_variants.h"

/* From appendix C: ACE is ('adaptive', False, True, 0.0, 'l1'). */
TEST(test_properties_of_named_variants) {
  static const struct {
    size_t variant;
    int has[PC_GCE_PROPERTIES];
  } named[] = {{PC_GCE_ECE, {1, 0, 1, 0, 0, 1, 0, 1, 1, 0}},
               {PC_GCE_CLASS_ECE, {1, 0, 1, 0, 1, 0, 0, 1, 1, 0}},
               {8, {1, 0, 0, 1, 1, 0, 0, 1, 1, 0}},
               {PC_GCE_RMSCE, {0, 1, 1, 0, 0, 1, 0, 1, 0, 1}},
               {24, {0, 1, 0, 1, 1, 0, 0, 1, 1, 0}},
               {26, {0, 1, 0, 1, 1, 0, 1, 0, 1, 0}}};
  for (size_t i = 0; i < UNIT_COUNT(named); i++)
    for (size_t p = 0; p < PC_GCE_PROPERTIES; p++)
      assert_int_equal(pc_gce_has(p, named[i].variant), named[i].has[p]);
  assert_string_equal(pc_gce_property(0), "even bins");
  assert_string_equal(pc_gce_property(9), "L2 norm");
}

TEST(test_each_property_halves_the_metrics) {
  double values[PC_GCE_VARIANTS];
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
    values[v] = (double)v;
  for (size_t p = 0; p < PC_GCE_PROPERTIES; p++) {
    size_t count = 0;
    for (size_t v = 0; v < PC_GCE_VARIANTS; v++) {
      count += (size_t)pc_gce_has(p, v);
      assert_int_equal(pc_gce_has(p, v) + pc_gce_has(p ^ 1, v), 1);
    }
    assert_int_equal(count, 16);
  }
  assert_near(pc_gce_mean(0, values), 7.5, 1e-15); /* 0 to 15 */
  assert_near(pc_gce_mean(9, values), 16, 1e-15);  /* the odd ones */
  for (size_t v = 0; v < 16; v++)
    values[v] = v == 3 ? 5 : (double)NAN;
  assert_same(pc_gce_mean(0, values), 5);
  values[3] = (double)NAN;
  assert_true(isnan(pc_gce_mean(0, values)));
}

/* Even variants rank two things one way, adaptive ones the other way. */
TEST(test_agreement) {
  double ranks[2 * PC_GCE_VARIANTS];
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++) {
    ranks[2 * v] = v < 16 ? 1 : 2;
    ranks[2 * v + 1] = v < 16 ? 2 : 1;
  }
  assert_same(pc_gce_agreement(0, ranks, 2).spearman, 1);
  assert_same(pc_gce_agreement(1, ranks, 2).nixon, 1);
  /* Of 120 pairs with L1, 56 are within, 64 between: 1 or -1, and 1 or 1 - 12/6. */
  assert_near(pc_gce_agreement(8, ranks, 2).spearman, -8.0 / 120.0, 1e-14);
  assert_near(pc_gce_agreement(8, ranks, 2).nixon, -8.0 / 120.0, 1e-14);
  /* Of 496 pairs 240 within. */
  assert_near(pc_gce_agreement(PC_GCE_PROPERTIES, ranks, 2).spearman, -16.0 / 496.0, 1e-13);
  assert_true(isnan(pc_gce_agreement(0, ranks, 1).nixon));
}

TEST(test_specs_and_cells) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_table table;
  pc_gce_specs specs;
  pc_gce_specs_make(20, &specs);
  assert_string_equal(specs.spec[31], "gce:variant=31,bins=20");
  pc_table_init(&table, &env, "x");
  pc_gce_columns(&table);
  assert_int_equal(pc_table_add_row(&table, NULL), PCAL_OK);
  pc_gce_cells(&table, 26);
  assert_same(table.cells[0].number, 26);
  assert_string_equal(table.cells[1].word, "adaptive");
  assert_string_equal(table.cells[2].word, "all");
  assert_string_equal(table.cells[3].word, "each");
  assert_same(table.cells[4].number, 0.01);
  assert_string_equal(table.cells[5].word, "l1");
  pc_table_free(&table);
}
