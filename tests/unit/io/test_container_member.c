#include "io/formats/container_member.h"

#include "io_help.h"

static const pc_container_member_words member_words = {"array", "arrays"};

static void expect_choice(const char *const *list, size_t count, const char *wanted,
                          pcal_status status, uint32_t number, const char *sentence) {
  const pcal_env env = help_plain_env();
  pc_name_table names;
  uint32_t out = 0;
  pcal_error err;
  pc_name_table_init(&names, &env);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(pc_name_table_add(&names, pc_slice_of(list[i]), &out, NULL), PCAL_OK);
  assert_int_equal(
      pc_container_member_choose("f.npz", &names, wanted, &member_words, &out, &err), status);
  if (status == PCAL_OK)
    assert_int_equal(out, number);
  else
    assert_string_equal(err.message, sentence);
  pc_name_table_free(&names);
}

TEST(chooses) {
  const char *const list[] = {"logits", "labels", "a,b..c"};
  expect_choice(list, 3, "labels", PCAL_OK, 1, NULL);
  expect_choice(list, 3, "a,b..c", PCAL_OK, 2, NULL);
  expect_choice(list, 1, NULL, PCAL_OK, 0, NULL);
  expect_choice(list, 3, NULL, PCAL_USAGE, 0,
                "f.npz has 3 arrays, \"logits\", \"labels\" and \"a,b..c\"; choose one as "
                "f.npz:NAME");
  expect_choice(list, 3, "label", PCAL_USAGE, 0,
                "f.npz has no array \"label\"; did you mean \"labels\"?");
  expect_choice(list, 2, "weights", PCAL_USAGE, 0,
                "f.npz has no array \"weights\"; it has \"logits\" and \"labels\"");
}

TEST(shortens_long_lists) {
  const char *const list[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  expect_choice(list, 8, NULL, PCAL_USAGE, 0,
                "f.npz has 8 arrays, \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\" and "
                "\"h\"; choose one as f.npz:NAME");
  expect_choice(list, 9, NULL, PCAL_USAGE, 0,
                "f.npz has 9 arrays, \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\" and 2 "
                "more; choose one as f.npz:NAME");
}

TEST(joins_names) {
  const pcal_env env = help_plain_env();
  char *name = pc_container_member_name(&env, "f.npz", "x");
  assert_string_equal(name, "f.npz:x");
  pc_free(&env, name);
}
