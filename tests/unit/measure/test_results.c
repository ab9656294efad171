#include "measure/results.h"

#include "../unit.h"

TEST(test_names_are_copied) {
  const pcal_env env = pc_env_resolve(NULL);
  char first[] = "one";
  const char *const names[] = {first, "", "\303\251"};
  char **copy = NULL;
  assert_int_equal(pc_name_list_copy(&env, names, 3, &copy, NULL), PCAL_OK);
  first[0] = 'x';
  assert_string_equal(copy[0], "one");
  assert_string_equal(copy[1], "");
  assert_string_equal(copy[2], "\303\251");
  pc_name_list_free(&env, copy, 3);
}

TEST(test_no_names) {
  const pcal_env env = pc_env_resolve(NULL);
  const char *const names[] = {"one"};
  char **copy = (char **)&copy;
  assert_int_equal(pc_name_list_copy(&env, NULL, 3, &copy, NULL), PCAL_OK);
  assert_null(copy);
  copy = (char **)&copy;
  assert_int_equal(pc_name_list_copy(&env, names, 0, &copy, NULL), PCAL_OK);
  assert_null(copy);
  pc_name_list_free(&env, NULL, 3);
}

static pcal_status names_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const names[] = {"a", "b", "c", "d"};
  char **copy = NULL;
  (void)user;
  PC_TRY(pc_name_list_copy(env, names, 4, &copy, err));
  pc_name_list_free(env, copy, 4);
  return PCAL_OK;
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(names_scenario, NULL);
}

TEST(test_views) {
  pcal_results results;
  memset(&results, 0, sizeof results);
  results.layout = (pc_layout){PCAL_LOGIT, 1, 2};
  assert_string_equal(pc_results_view(&results), "positive");
  results.layout = (pc_layout){PCAL_LOGIT, 2, 2};
  assert_string_equal(pc_results_view(&results), "top");
  results.layout = (pc_layout){PCAL_CONFIDENCE, 1, 1};
  assert_string_equal(pc_results_view(&results), "top");
  pc_results_free(NULL);
}
