#include "base/json_read.h"

#include "../unit.h"

static pc_json_tree read_text(const char *text) {
  static pcal_env env;
  pc_json_tree tree;
  pcal_error err;
  env = pc_env_resolve(NULL);
  if (pc_json_read(text, strlen(text), "x.json", &env, &tree, &err) != PCAL_OK)
    fail_msg("%s: %s", text, err.message);
  return tree;
}

static void expect_refused(const char *text, const char *sentence) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pc_json_tree tree;
  pcal_error err;
  assert_int_equal(pc_json_read(text, strlen(text), "x.json", &env, &tree, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, sentence);
  assert_int_equal(atomic_load(&memory.live), 0);
  assert_null(tree.root);
}

static void expect_exact(const char *text, double expected) {
  pc_json_tree tree = read_text(text);
  assert_int_equal(tree.root->kind, PC_JSON_NUMBER);
  assert_same(tree.root->number, expected);
  pc_json_tree_free(&tree);
}

static void expect_text(const char *text, const char *expected) {
  pc_json_tree tree = read_text(text);
  assert_int_equal(tree.root->kind, PC_JSON_STRING);
  assert_string_equal(tree.root->text, expected);
  pc_json_tree_free(&tree);
}

TEST(reads_words) {
  pc_json_tree tree = read_text(" [ null , true,false ] \n");
  const pc_json_node *item = tree.root->list.first;
  assert_int_equal(tree.root->kind, PC_JSON_ARRAY);
  assert_int_equal(tree.root->list.count, 3);
  assert_int_equal(item->kind, PC_JSON_NULL);
  assert_int_equal(item->next->kind, PC_JSON_BOOL);
  assert_int_equal(item->next->truth, 1);
  assert_int_equal(item->next->next->truth, 0);
  assert_null(item->next->next->next);
  assert_null(item->key);
  pc_json_tree_free(&tree);
}

TEST(reads_numbers_exactly) {
  expect_exact("0", 0.0);
  expect_exact("-0", -0.0);
  expect_exact("0.1", 0.1);
  expect_exact("2.395012194776646", 2.395012194776646);
  expect_exact("-12.5e-3", -0.0125);
  expect_exact("1E+2", 100.0);
  expect_exact("1e2", 100.0);
  expect_exact("5e-324", 5e-324);
  expect_exact("1e-400", 0.0);
  expect_exact("1.7976931348623157e308", 1.7976931348623157e308);
  expect_exact("9007199254740993", 9007199254740992.0);
}

TEST(refuses_other_numbers) {
  static const char *const wrong[] = {"-",   "01", "-01", "1.",  "1.e3",   "1e",
                                      "1e+", "-a", "00",  "-.5", "1.5.2e", "-Infinity"};
  for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
    pc_json_tree tree;
    pcal_error err;
    const pcal_env env = pc_env_resolve(NULL);
    assert_int_equal(pc_json_read(wrong[i], strlen(wrong[i]), "x.json", &env, &tree, &err),
                     PCAL_DATA);
  }
  expect_refused(
      "01", "x.json, line 1: this is not JSON at byte 0: a number is not written as JSON asks");
  expect_refused("[1, 1e999]",
                 "x.json, line 1: this is not JSON at byte 4: a number is too large");
  expect_refused("+1", "x.json, line 1: this is not JSON at byte 0: no value begins here");
  expect_refused(".5", "x.json, line 1: this is not JSON at byte 0: no value begins here");
  expect_refused("NaN", "x.json, line 1: this is not JSON at byte 0: no value begins here");
}

TEST(reads_strings) {
  expect_text("\"\"", "");
  expect_text("\"a b\"", "a b");
  expect_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
  expect_text("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"",
              "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  expect_text("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\"",
              "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F");
  expect_text("\"\\\\\\\"\"", "\\\"");
}

TEST(refuses_other_strings) {
  expect_refused("\"a", "x.json, line 1: this is not JSON at byte 0: a text does not end");
  expect_refused("\"a\\", "x.json, line 1: this is not JSON at byte 0: a text does not end");
  expect_refused("\"a\\\"", "x.json, line 1: this is not JSON at byte 0: a text does not end");
  expect_refused(
      "\"\\x\"",
      "x.json, line 1: this is not JSON at byte 1: a backslash begins no known escape");
  expect_refused(
      "\"\\u12g4\"",
      "x.json, line 1: this is not JSON at byte 1: \\u needs four hexadecimal digits");
  expect_refused(
      "\"\\u12\"",
      "x.json, line 1: this is not JSON at byte 1: \\u needs four hexadecimal digits");
  expect_refused("\"\\u0000\"",
                 "x.json, line 1: this is not JSON at byte 1: a text may not hold U+0000 here");
  expect_refused(
      "\"\\ud83d\"",
      "x.json, line 1: this is not JSON at byte 1: one half of a surrogate pair stands alone");
  expect_refused(
      "\"\\ud83d\\u0041\"",
      "x.json, line 1: this is not JSON at byte 1: one half of a surrogate pair stands alone");
  expect_refused(
      "\"\\ude00\"",
      "x.json, line 1: this is not JSON at byte 1: one half of a surrogate pair stands alone");
  expect_refused(
      "\"a\nb\"",
      "x.json, line 1: this is not JSON at byte 2: a text holds a control character");
  static const char *const broken[] = {"\x80",
                                       "\xC0\x80",
                                       "\xC1\xBF",
                                       "\xE0\x80\x80",
                                       "\xED\xA0\x80",
                                       "\xF0\x80\x80\x80",
                                       "\xF4\x90\x80\x80",
                                       "\xF5\x80\x80\x80",
                                       "\xC3",
                                       "\xE2\x82",
                                       "\xFF"};
  for (size_t i = 0; i < UNIT_COUNT(broken); i++) {
    char text[16];
    snprintf(text, sizeof text, "\"%s\"", broken[i]);
    expect_refused(text,
                   "x.json, line 1: this is not JSON at byte 1: a text is not valid UTF-8");
  }
}

TEST(finds_members) {
  pc_json_tree tree = read_text("{\n  \"b\": 1,\n  \"a\": {\"b\": 2},\n  \"\": []\n}\n");
  const pc_json_node *root = tree.root;
  assert_int_equal(root->kind, PC_JSON_OBJECT);
  assert_int_equal(root->list.count, 3);
  assert_int_equal(root->line, 1);
  assert_same(pc_json_find(root, "b")->number, 1.0);
  assert_int_equal(pc_json_find(root, "b")->line, 2);
  assert_same(pc_json_find(pc_json_find(root, "a"), "b")->number, 2.0);
  assert_int_equal(pc_json_find(root, "a")->line, 3);
  assert_int_equal(pc_json_find(root, "")->list.count, 0);
  assert_null(pc_json_find(root, "c"));
  assert_null(pc_json_find(pc_json_find(root, "b"), "b"));
  assert_null(pc_json_find(NULL, "b"));
  assert_string_equal(root->list.first->key, "b");
  assert_string_equal(root->list.first->next->key, "a");
  pc_json_tree_free(&tree);
}

TEST(refuses_keys_given_twice) {
  expect_refused("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}",
                 "x.json, line 3: the key \"a\" is given twice in one object; keep one");
  expect_refused("{\"a\": 1, \"\\u0061\": 3}",
                 "x.json, line 1: the key \"a\" is given twice in one object; keep one");
  pc_json_tree tree = read_text("[{\"a\": 1}, {\"a\": {\"a\": 2}}]");
  pc_json_tree_free(&tree);
}

/* Many keys in every order, and the same with one of them twice. */
TEST(sorts_many_keys) {
  enum { KEYS = 1000 };
  for (int twice = 0; twice <= 1; twice++) {
    char *text = malloc(KEYS * 16), *at = text;
    for (int i = 0; i <= KEYS; i++) {
      const int key = i == KEYS ? (twice ? 617 : KEYS) : i * 389 % KEYS;
      at += sprintf(at, "%s\"k%d\":%d", i == 0 ? "{" : ",", key, i);
    }
    strcpy(at, "}");
    if (twice) {
      expect_refused(text,
                     "x.json, line 1: the key \"k617\" is given twice in one object; keep one");
    } else {
      pc_json_tree tree = read_text(text);
      assert_int_equal(tree.root->list.count, KEYS + 1);
      assert_same(pc_json_find(tree.root, "k389")->number, 1.0);
      pc_json_tree_free(&tree);
    }
    free(text);
  }
}

TEST(refuses_other_structures) {
  expect_refused(
      "", "x.json, line 1: this is not JSON at byte 0: it ends where a value must stand");
  expect_refused(
      " \n ", "x.json, line 2: this is not JSON at byte 3: it ends where a value must stand");
  expect_refused("nul", "x.json, line 1: this is not JSON at byte 0: no value begins here");
  expect_refused(
      "1 2", "x.json, line 1: this is not JSON at byte 2: something follows behind its end");
  expect_refused("[1 2]",
                 "x.json, line 1: this is not JSON at byte 3: a comma or ] must stand here");
  expect_refused("[1", "x.json, line 1: this is not JSON at byte 2: it ends in the middle");
  expect_refused("[1,]", "x.json, line 1: this is not JSON at byte 3: no value begins here");
  expect_refused("[,1]", "x.json, line 1: this is not JSON at byte 1: no value begins here");
  expect_refused("{\"a\"}",
                 "x.json, line 1: this is not JSON at byte 4: a colon must follow a key");
  expect_refused("{\"a\":1 \"b\"",
                 "x.json, line 1: this is not JSON at byte 7: a comma or } must stand here");
  expect_refused("{\n\"a\":1,}",
                 "x.json, line 2: this is not JSON at byte 8: a key in quotes must stand here");
  expect_refused("{a:1}",
                 "x.json, line 1: this is not JSON at byte 1: a key in quotes must stand here");
  expect_refused("[1}",
                 "x.json, line 1: this is not JSON at byte 2: a comma or ] must stand here");
  expect_refused("\xEF\xBB\xBF{}",
                 "x.json, line 1: this is not JSON at byte 0: no value begins here");
  expect_refused("// x", "x.json, line 1: this is not JSON at byte 0: no value begins here");
}

TEST(limits_depth) {
  char text[2 * PC_JSON_DEPTH_MAX + 3];
  memset(text, '[', PC_JSON_DEPTH_MAX);
  memset(text + PC_JSON_DEPTH_MAX, ']', PC_JSON_DEPTH_MAX);
  text[2 * PC_JSON_DEPTH_MAX] = '\0';
  pc_json_tree tree = read_text(text);
  pc_json_tree_free(&tree);
  memset(text, '[', PC_JSON_DEPTH_MAX + 1);
  expect_refused(text, "x.json, line 1: lists are nested more than 64 deep at byte 64");
}

TEST(names_kinds) {
  assert_string_equal(pc_json_kind_name(PC_JSON_NULL), "null");
  assert_string_equal(pc_json_kind_name(PC_JSON_BOOL), "true or false");
  assert_string_equal(pc_json_kind_name(PC_JSON_NUMBER), "a number");
  assert_string_equal(pc_json_kind_name(PC_JSON_STRING), "a text");
  assert_string_equal(pc_json_kind_name(PC_JSON_ARRAY), "an array");
  assert_string_equal(pc_json_kind_name(PC_JSON_OBJECT), "an object");
}

/* The bytes need not outlive the tree, nor end with a NUL. */
TEST(keeps_its_own_bytes) {
  char text[] = {'{', '"', 'k', '"', ':', '"', 'v', '"', '}'};
  const pcal_env env = pc_env_resolve(NULL);
  pc_json_tree tree;
  assert_int_equal(pc_json_read(text, sizeof text, "x", &env, &tree, NULL), PCAL_OK);
  memset(text, 'x', sizeof text);
  assert_string_equal(pc_json_find(tree.root, "k")->text, "v");
  pc_json_tree_free(&tree);
}

static pcal_status read_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_json_tree tree;
  const char *text = user;
  const pcal_status status = pc_json_read(text, strlen(text), "x.json", env, &tree, err);
  if (status == PCAL_OK)
    pc_json_tree_free(&tree);
  return status;
}

TEST(survives_every_failed_allocation) {
  char *text = malloc(40000), *at = text;
  for (int i = 0; i < 3000; i++)
    at += sprintf(at, "%s%d", i == 0 ? "[" : ", ", i);
  strcpy(at, "]");
  unit_fail_each_allocation(read_scenario, text);
  free(text);
}
