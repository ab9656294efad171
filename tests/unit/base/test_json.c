#include "base/escape.h"
#include "base/json.h"

#include "../unit.h"

#define FFFD "\xEF\xBF\xBD"

/* The string as JSON writes it, between its quotes. */
static void assert_string_written(const char *value, const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_json json;
  pc_text_init(&text, &env);
  pc_json_init(&json, &text);
  pc_json_string(&json, value);
  assert_true(text.length >= 2);
  assert_true(text.bytes[0] == '"' && text.bytes[text.length - 1] == '"');
  text.bytes[text.length - 1] = '\0';
  assert_string_equal(text.bytes + 1, expected);
  pc_text_free(&text);
}

static void write_everything(pc_json *json) {
  pc_json_open(json, '{');
  pc_json_key(json, "empty");
  pc_json_open(json, '{');
  pc_json_close(json, '}');
  pc_json_key(json, "list");
  pc_json_open(json, '[');
  pc_json_number(json, 0.1);
  pc_json_integer(json, UINT64_MAX);
  pc_json_bool(json, 1);
  pc_json_bool(json, 0);
  pc_json_null(json);
  pc_json_open(json, '[');
  pc_json_close(json, ']');
  pc_json_open(json, '[');
  pc_json_open(json, '{');
  pc_json_key(json, "a\"b");
  pc_json_string(json, "x");
  pc_json_key(json, "none");
  pc_json_string(json, NULL);
  pc_json_close(json, '}');
  pc_json_close(json, ']');
  pc_json_close(json, ']');
  pc_json_key(json, "after");
  pc_json_integer(json, 0);
  pc_json_close(json, '}');
}

static const char everything[] = "{\n"
                                 "  \"empty\": {},\n"
                                 "  \"list\": [\n"
                                 "    0.1,\n"
                                 "    18446744073709551615,\n"
                                 "    true,\n"
                                 "    false,\n"
                                 "    null,\n"
                                 "    [],\n"
                                 "    [\n"
                                 "      {\n"
                                 "        \"a\\\"b\": \"x\",\n"
                                 "        \"none\": null\n"
                                 "      }\n"
                                 "    ]\n"
                                 "  ],\n"
                                 "  \"after\": 0\n"
                                 "}";

TEST(nests_and_separates) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_json json;
  pc_text_init(&text, &env);
  pc_json_init(&json, &text);
  write_everything(&json);
  assert_string_equal(text.bytes, everything);
  pc_text_free(&text);
}

TEST(writes_numbers) {
  const pcal_env env = pc_env_resolve(NULL);
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0.0, "0"},         {-0.0, "-0"},        {1.0 / 3, "0.3333333333333333"},
               {1e22, "1e+22"},    {5e-324, "5e-324"},  {-2.5, "-2.5"},
               {INFINITY, "null"}, {-INFINITY, "null"}, {NAN, "null"}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_text text;
    pc_json json;
    pc_text_init(&text, &env);
    pc_json_init(&json, &text);
    pc_json_number(&json, cases[i].value);
    assert_string_equal(text.bytes, cases[i].text);
    pc_text_free(&text);
  }
}

TEST(writes_arrays_of_numbers_on_one_line) {
  static const double values[] = {0.1, -2, NAN, INFINITY};
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_json json;
  pc_text_init(&text, &env);
  pc_json_init(&json, &text);
  pc_json_open(&json, '{');
  pc_json_key(&json, "none");
  pc_json_numbers(&json, NULL, 0);
  pc_json_key(&json, "some");
  pc_json_numbers(&json, values, 4);
  pc_json_close(&json, '}');
  assert_string_equal(text.bytes, "{\n  \"none\": [],\n  \"some\": [0.1, -2, null, null]\n}");
  pc_text_free(&text);
}

TEST(escapes) {
  assert_string_written("", "");
  assert_string_written("plain /'", "plain /'");
  assert_string_written("\"\\", "\\\"\\\\");
  assert_string_written("a\tb\nc\r", "a\\tb\\nc\\r");
  assert_string_written("\x7F", "\\u007f");
  for (unsigned c = 1; c < 0x20; c++) {
    const char value[] = {(char)c, '\0'};
    const char *letter = strchr("\bb\ff\nn\rr\tt", (int)c);
    char expected[16];
    if (letter != NULL)
      snprintf(expected, sizeof expected, "\\%c", letter[1]);
    else
      snprintf(expected, sizeof expected, "\\u%04x", c);
    assert_string_written(value, expected);
  }
}

TEST(replaces_what_is_not_utf8) {
  static const struct {
    const char *value, *expected;
  } cases[] = {
      {"a\xFF"
       "b",
       "a" FFFD "b"},
      {"\x80", FFFD},
      {"\xC3", FFFD},
      {"\xC3\"", FFFD "\\\""},
      {"\xC0\xAF", FFFD FFFD},
      {"\xC1\xBF", FFFD FFFD},
      {"\xE0\x9F\xBF", FFFD FFFD FFFD},
      {"\xED\xA0\x80", FFFD FFFD FFFD},
      {"\xF0\x8F\xBF\xBF", FFFD FFFD FFFD FFFD},
      {"\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD},
      {"\xF5\x80\x80\x80", FFFD FFFD FFFD FFFD},
      {"\xE2\x82", FFFD FFFD},
      {"\xE2\x82\n", FFFD FFFD "\\n"},
      {"\xE2\x82\xE2\x82\xAC", FFFD FFFD "\xE2\x82\xAC"},
      {"\xF0\x9F\x98", FFFD FFFD FFFD},
      {"\xF0\x9F\x98z", FFFD FFFD FFFD "z"},
      {"\xC3\xA9\xA9", "\xC3\xA9" FFFD},
  };
  for (size_t i = 0; i < UNIT_COUNT(cases); i++)
    assert_string_written(cases[i].value, cases[i].expected);
}

/* The bytes of a code point, also of one that may not be encoded. */
static void encode(uint32_t point, char out[5]) {
  memset(out, 0, 5);
  if (point < 0x80) {
    out[0] = (char)point;
    return;
  }
  const unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static const unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
  out[0] = (char)(lead[more] | point >> 6 * more);
  for (unsigned i = 1; i <= more; i++)
    out[i] = (char)(0x80 | (point >> 6 * (more - i) & 0x3F));
}

TEST(keeps_every_letter) {
  static const uint32_t ends[] = {0x7E,   0xA0,   0x7FF,   0x800,   0xD7FF,   0xE000,  0x2027,
                                  0xFFFD, 0x1000, 0x10000, 0xFFFFD, 0x100000, 0x10FFFD};
  char bytes[5];
  for (size_t i = 0; i < UNIT_COUNT(ends); i++) {
    encode(ends[i], bytes);
    assert_string_written(bytes, bytes);
  }
  for (uint32_t point = 0x80; point <= 0x10FFFF; point += 61) {
    encode(point, bytes);
    const int surrogate = point >= 0xD800 && point <= 0xDFFF;
    char escaped[16];
    snprintf(escaped, sizeof escaped, point > 0xFFFF ? "\\u%04x\\u%04x" : "\\u%04x",
             point > 0xFFFF ? (unsigned)(0xD7C0 + (point >> 10)) : (unsigned)point,
             (unsigned)(0xDC00 + (point & 0x3FF)));
    assert_string_written(bytes, surrogate                       ? FFFD FFFD FFFD
                                 : pc_is_unsafe_character(point) ? escaped
                                                                 : bytes);
  }
  for (uint32_t point = 0x110000; point <= 0x1FFFFF; point += 1021) {
    encode(point, bytes);
    assert_string_written(bytes, FFFD FFFD FFFD FFFD);
  }
}

static pcal_status write_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_text text;
  pc_json json;
  (void)user;
  pc_text_init(&text, env);
  pc_json_init(&json, &text);
  write_everything(&json);
  const pcal_status status = pc_text_status(&text, err);
  assert_int_equal(json.depth, 0);
  assert_memory_equal(text.length > 0 ? text.bytes : "", everything, text.length);
  assert_int_equal(text.length == sizeof everything - 1, status == PCAL_OK);
  pc_text_free(&text);
  return status;
}

TEST(survives_every_failed_allocation) {
  unit_fail_each_allocation(write_scenario, NULL);
}
