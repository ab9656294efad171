#include "calibrators/linear/vector_preconditioner.h"

#include "../unit.h"

/* Blocks [ww wb; wb bb] are inverted one by one; a class without rows counts as nearly flat. */
TEST(blocks_are_inverted) {
  const pcal_env env = pc_env_resolve(NULL);
  const double class_variances[] = {2.0, 1.0, 3.0, 0.5, 0.0, 0.25, 0.0, 0.0, 0.0};
  double v[6] = {1.0, 1.0, 3e-8, 2.0, 4.0, 6e-8};
  pc_vector_preconditioner preconditioner;
  assert_int_equal(pc_vector_preconditioner_new(&env, 3, &preconditioner, NULL), PCAL_OK);
  pc_vector_preconditioner_set(&preconditioner, class_variances);
  pc_vector_preconditioner_apply(&preconditioner, v);
  /* [3 1; 1 2]^-1 (1, 2) = (0, 1) */
  assert_true(fabs(v[0]) < 1e-7 && fabs(v[3] - 1.0) < 1e-7);
  assert_near(v[1], 4.0, 1e-6);
  assert_near(v[4], 8.0, 1e-6);
  assert_near(v[2], 1.0, 1e-12); /* 1e-8 of the largest, 3 */
  assert_near(v[5], 2.0, 1e-12);
  pc_free(&env, preconditioner.blocks);
}

TEST(without_curvature) {
  const pcal_env env = pc_env_resolve(NULL);
  const double flat[6] = {0.0}, same[6] = {1.0, 1.0, 1.0, 1.0, -1.0, 1.0};
  double v[4] = {1.0, 2.0, 3.0, 4.0};
  pc_vector_preconditioner preconditioner;
  assert_int_equal(pc_vector_preconditioner_new(&env, 2, &preconditioner, NULL), PCAL_OK);
  pc_vector_preconditioner_set(&preconditioner, flat);
  pc_vector_preconditioner_apply(&preconditioner, v);
  for (size_t i = 0; i < 4; i++)
    assert_same(v[i], (double)(i + 1));
  pc_vector_preconditioner_set(&preconditioner, same); /* singular without the added diagonal */
  pc_vector_preconditioner_apply(&preconditioner, v);
  for (size_t i = 0; i < 4; i++)
    assert_true(isfinite(v[i]));
  pc_free(&env, preconditioner.blocks);
}
