#include "io/name_table.h"
#include "io_help.h"

TEST(numbers_in_order_of_appearance) {
  const pcal_env env = help_plain_env();
  pc_name_table names;
  uint32_t number = 99;
  pc_name_table_init(&names, &env);
  assert_false(pc_name_table_find(&names, pc_slice_of("dog"), &number));
  static const char *const words[] = {"dog", "cat", "dog", "", "cat", "do"};
  static const uint32_t expected[] = {0, 1, 0, 2, 1, 3};
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(pc_name_table_add(&names, pc_slice_of(words[i]), &number, NULL), PCAL_OK);
    assert_int_equal(number, expected[i]);
  }
  assert_int_equal(names.count, 4);
  assert_string_equal(names.text[1], "cat");
  assert_true(pc_name_table_find(&names, (pc_slice){"catalogue", 3}, &number));
  assert_int_equal(number, 1);
  assert_false(pc_name_table_find(&names, (pc_slice){"dog\0", 4}, &number));
  assert_string_equal(pc_name_table_nearest(&names, pc_slice_of("caat")), "cat");
  assert_null(pc_name_table_nearest(&names, pc_slice_of("elephants in the room")));
  pc_name_table_free(&names);
}

TEST(grows_and_stops_at_the_limit) {
  const pcal_env env = help_plain_env();
  pc_name_table names;
  pcal_error err;
  char word[32];
  uint32_t number = 0;
  pc_name_table_init(&names, &env);
  for (uint32_t i = 0; i < PC_NAME_TABLE_MAX; i++) {
    const int length = snprintf(word, sizeof word, "g%u", i);
    if (pc_name_table_add(&names, (pc_slice){word, (size_t)length}, &number, NULL) != PCAL_OK ||
        number != i)
      fail_msg("name %u got number %u", i, number);
  }
  assert_true(pc_name_table_find(&names, pc_slice_of("g777777"), &number));
  assert_int_equal(number, 777777);
  assert_int_equal(pc_name_table_add(&names, pc_slice_of("g5"), &number, NULL), PCAL_OK);
  assert_int_equal(pc_name_table_add(&names, pc_slice_of("one more"), &number, &err),
                   PCAL_DATA);
  assert_message(err, "more than 1048576 different names");
  assert_int_equal(names.count, PC_NAME_TABLE_MAX);
  pc_name_table_free(&names);
}

static pcal_status names_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_name_table names;
  pcal_status status = PCAL_OK;
  (void)user;
  pc_name_table_init(&names, env);
  for (uint32_t i = 0; i < 100 && status == PCAL_OK; i++) {
    char word[16];
    uint32_t number = 0;
    const size_t before = names.count;
    snprintf(word, sizeof word, "%u", i);
    status = pc_name_table_add(&names, pc_slice_of(word), &number, err);
    assert_int_equal(names.count, status == PCAL_OK ? before + 1 : before);
    assert_int_equal(pc_name_table_find(&names, pc_slice_of(word), &number), status == PCAL_OK);
  }
  pc_name_table_free(&names);
  return status;
}

TEST(survives_every_failed_allocation) {
  help_fail_each_allocation(names_scenario, NULL);
}
