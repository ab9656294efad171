#include "machines/machine.h"

#include "../unit.h"

TEST(test_each_kind_has_its_machine) {
  assert_string_equal(pc_machine_of(PC_SUM)->name, "sum");
  assert_string_equal(pc_machine_of(PC_GRID)->name, "grid");
  assert_string_equal(pc_machine_of(PC_CURVE)->name, "curve");
  assert_string_equal(pc_machine_of(PC_PAIR)->name, "pair");
  assert_string_equal(pc_machine_of(PC_BLOCK)->name, "block");
  assert_null(pc_machine_of((pc_machine_kind)0));
  assert_null(pc_machine_of((pc_machine_kind)99));
}

TEST(test_limit_of_memory) {
  pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  assert_int_equal(pc_check_memory_limit(&env, SIZE_MAX, "x", &err), PCAL_OK);
  env.memory_limit = 5000000;
  assert_int_equal(pc_check_memory_limit(&env, 5000000, "x", &err), PCAL_OK);
  assert_int_equal(pc_check_memory_limit(&env, 5000001, "take fewer rows", &err), PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "keeping the rows takes 6 MB, beyond the memory limit of 5 MB; take fewer "
                  "rows");
}
