/* Adam against its formulas, written out for three steps. */
#include "../unit.h"
#include "optim/adam.h"

TEST(adam_three_steps) {
  const double gradients[3][2] = {{1, -4}, {0.5, 2}, {-3, NAN}};
  double x[2] = {10, 20}, expected[2] = {10, 20};
  double m[2] = {0, 0}, v[2] = {0, 0};
  const pcal_env env = pc_env_resolve(NULL);
  pc_adam adam;
  assert_int_equal(pc_adam_new(&env, 2, 0.1, &adam, NULL), PCAL_OK);
  for (int t = 1; t <= 3; t++) {
    pc_adam_step(&adam, gradients[t - 1], x);
    for (int i = 0; i < 2; i++) {
      const double g = gradients[t - 1][i];
      if (isnan(g))
        continue;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      expected[i] -= 0.1 * m[i] / (1 - pow(0.9, t)) / (sqrt(v[i] / (1 - pow(0.999, t))) + 1e-8);
    }
    /* The first step is the rate, whatever the size of the gradient. */
    if (t == 1)
      assert_near(x[1], 20.1, 1e-9);
  }
  assert_near(x[0], expected[0], 1e-14);
  assert_near(x[1], expected[1], 1e-14);
  pc_adam_free(&adam);
}

static pcal_status adam_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_adam adam;
  (void)user;
  const pcal_status status = pc_adam_new(env, 5, 0.1, &adam, err);
  pc_adam_free(&adam);
  return status;
}

TEST(adam_out_of_memory) {
  unit_fail_each_allocation(adam_scenario, NULL);
}
