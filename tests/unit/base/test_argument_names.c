#include "../unit.h"

#include "base/argument_names.h"

TEST(finds_names_in_braces) {
  const char *text = "{log_probs} and more", *other = "{log_prob}", *open = "{probs";
  const size_t found = pc_argument_parse(&text);
  assert_true(found != PC_NO_ARGUMENT);
  assert_string_equal(text, " and more");
  assert_string_equal(pc_argument_name(found, PCAL_INTERFACE_C), "log_probs");
  assert_string_equal(pc_argument_name(found, PCAL_INTERFACE_PROGRAM), "--log-probs");
  assert_string_equal(pc_argument_name(found, PCAL_INTERFACE_PYTHON), "log_probs");
  assert_true(pc_argument_parse(&other) == PC_NO_ARGUMENT);
  assert_string_equal(other, "{log_prob}");
  assert_true(pc_argument_parse(&open) == PC_NO_ARGUMENT);
}

TEST(fills_texts) {
  pcal_env env = pc_env_resolve_serial(NULL);
  pc_text text;
  pc_text_init(&text, &env);
  pc_text_add_named(&text, "could be {probs}, {x} or {", PCAL_INTERFACE_PROGRAM);
  assert_string_equal(text.bytes, "could be --probs, {x} or {");
  pc_text_free(&text);
  pcal_error err;
  pc_fail(&err, PCAL_USAGE, "give {weights_are}");
  pc_text_init(&text, &env);
  pc_text_add_error(&text, &err, PCAL_INTERFACE_PROGRAM);
  assert_string_equal(text.bytes, "give --weights-are");
  pc_text_free(&text);
}
