#include "calibrators/parameter_lists.h"

#include "base/json_read.h"
#include "calibrator_help.h"

typedef struct given {
  pcal_env env;
  pc_json_tree tree;
} given;

static const pc_json_node *given_parse(given *about, const char *text) {
  about->env = pc_env_resolve(NULL);
  assert_int_equal(pc_json_read(text, strlen(text), "f", &about->env, &about->tree, NULL),
                   PCAL_OK);
  return about->tree.root;
}

TEST(names) {
  given about;
  pcal_error err;
  const pc_json_node *root = given_parse(&about, "{\"a\": 1,\n\"bc\": 2}");
  assert_int_equal(pc_parameters_check_names(root, PC_NAMES("bc", "a"), "f", &err), PCAL_OK);
  assert_int_equal(pc_parameters_check_names(root, PC_NAMES("a"), "f", &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "f, line 1: there are 2 parameters instead of 1; fit again");
  assert_int_equal(pc_parameters_check_names(root, PC_NAMES("a", "b"), "f", &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "f, line 1: the parameter \"b\" is missing; fit again");
  pc_json_tree_free(&about.tree);
}

TEST(lists) {
  given about;
  pcal_error err;
  const pc_json_node *found = NULL;
  const pc_json_node *root =
      given_parse(&about, "{\"a\": [[1], []],\n\"b\": [[1], 2], \"c\": 3}");
  assert_int_equal(pc_parameter_lists(root, "a", 2, "f", &found, &err), PCAL_OK);
  assert_int_equal(found->list.count, 2);
  assert_int_equal(pc_parameter_lists(root, "a", 1, "f", &found, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "f, line 1: \"a\" must hold 1 list of numbers");
  assert_int_equal(pc_parameter_lists(root, "b", 2, "f", &found, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "f, line 2: \"b\" must hold 2 lists of numbers");
  assert_int_equal(pc_parameter_lists(root, "c", 2, "f", &found, &err), PCAL_DATA);
  assert_int_equal(pc_parameter_lists(root, "d", 2, "f", &found, &err), PCAL_DATA);
  pc_json_tree_free(&about.tree);
}

static int takes(const char *text, pc_list_order order) {
  given about;
  pcal_error err;
  double out[8];
  const pc_list_rule rule = {0.0, 2.0, order, "not so"};
  const pc_json_node *root = given_parse(&about, text);
  const pcal_status status = pc_parameter_numbers(root, &rule, out, "f", &err);
  if (status != PCAL_OK)
    assert_sentence(err, PCAL_DATA, "f, line 1: not so");
  else
    for (size_t i = 0; i < root->list.count; i++)
      assert_true(out[i] >= 0 && out[i] <= 2);
  pc_json_tree_free(&about.tree);
  return status == PCAL_OK;
}

TEST(numbers) {
  assert_true(takes("[0, 2, 1]", PC_LIST_ANY));
  assert_true(takes("[]", PC_LIST_STRICT));
  assert_false(takes("[0, 2.1]", PC_LIST_ANY));
  assert_false(takes("[-1]", PC_LIST_ANY));
  assert_false(takes("[null]", PC_LIST_ANY));
  assert_false(takes("[\"1\"]", PC_LIST_ANY));
  assert_true(takes("[0, 1, 1, 1]", PC_LIST_RISING));
  assert_false(takes("[0, 1, 0.5]", PC_LIST_RISING));
  assert_true(takes("[0, 1, 1.5]", PC_LIST_STRICT));
  assert_false(takes("[0, 1, 1]", PC_LIST_STRICT));
  assert_true(takes("[1, 1]", PC_LIST_PAIRED));
  assert_true(takes("[0, 0, 1, 1, 2]", PC_LIST_PAIRED));
  assert_false(takes("[0, 0, 0]", PC_LIST_PAIRED));
  assert_false(takes("[0, 1, 0]", PC_LIST_PAIRED));
}
