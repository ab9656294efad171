#include "io/formats/jsonl_scan.h"

#include "io_help.h"

static pc_jsonl_scan scan_begin(const char *text) {
  pc_input_file bytes;
  pc_jsonl_scan scan;
  pc_input_file_from_memory("d.jsonl", text, strlen(text), &bytes);
  assert_int_equal(pc_jsonl_begin(&bytes, &scan, NULL), PCAL_OK);
  return scan;
}

/* Reads all lines; returns the number of fields. */
static pcal_status scan_all(const char *text, size_t *fields, pcal_error *err) {
  pc_jsonl_scan scan = scan_begin(text);
  *fields = 0;
  while (scan.at < scan.end) {
    pc_jsonl_field field = {.end = 0};
    PC_TRY(pc_jsonl_enter(&scan, err));
    while (!field.end) {
      PC_TRY(pc_jsonl_next(&scan, &field, err));
      *fields += !field.end;
    }
  }
  return PCAL_OK;
}

static void expect_fine(const char *text, size_t fields) {
  pcal_error err;
  size_t found = 0;
  if (scan_all(text, &found, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(found, fields);
}

static void expect_refused(const char *text, const char *sentence) {
  pcal_error err;
  size_t found = 0;
  assert_int_equal(scan_all(text, &found, &err), PCAL_DATA);
  assert_string_equal(err.message, sentence);
}

TEST(gives_fields) {
  pc_jsonl_scan scan =
      scan_begin("\xEF\xBB\xBF{ \"a\" :1.5e-3,\"b\\n\":\"x\\\"y\" ,\t\"c\":[1, "
                 "[]],\"d\":null,\"e\":false,\"f\":{\"a\":{}}}\r\n{}");
  const pc_jsonl_kind kinds[] = {PC_JSONL_NUMBER, PC_JSONL_STRING, PC_JSONL_ARRAY,
                                 PC_JSONL_NULL,   PC_JSONL_BOOL,   PC_JSONL_OBJECT};
  const char *const texts[] = {"1.5e-3", "x\\\"y", "[1, []]", "null", "false", "{\"a\":{}}"};
  const char *const keys[] = {"a", "b\n", "c", "d", "e", "f"};
  pc_jsonl_field field;
  assert_int_equal(pc_jsonl_enter(&scan, NULL), PCAL_OK);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(pc_jsonl_next(&scan, &field, NULL), PCAL_OK);
    assert_false(field.end);
    assert_int_equal(field.value.kind, kinds[i]);
    assert_true(pc_slice_is(field.value.text, texts[i]));
    assert_true(pc_jsonl_is(&field.key, pc_slice_of(keys[i])));
    assert_int_equal(scan.line, 1);
  }
  assert_int_equal(pc_jsonl_next(&scan, &field, NULL), PCAL_OK);
  assert_true(field.end);
  assert_int_equal(scan.line, 2);
  assert_int_equal(pc_jsonl_enter(&scan, NULL), PCAL_OK);
  assert_int_equal(pc_jsonl_next(&scan, &field, NULL), PCAL_OK);
  assert_true(field.end && scan.at == scan.end);
}

TEST(accepts_what_is_json) {
  expect_fine("{}", 0);
  expect_fine("{}\n", 0);
  expect_fine("  {\t}  \r\n{}\r", 0);
  expect_fine("{\"a\":0}\n{\"a\":-0.0E+10}\n{\"b\":10.25e5}\n", 3);
  expect_fine("{\"a\":[],\"b\":{},\"c\":[[[]]],\"d\":{\"x\":[{\"y\":[1,2,{\"z\":null}]}]}}", 4);
  expect_fine("{\"\":\"\",\"\\u00e9\\\\\":\"\\b\\f\\n\\r\\t\\/\\\"\"}", 2);
  expect_fine("{\"lone\":\"\\ud800\"}", 1);
}

#define LINE "d.jsonl, line 1: "
#define FIELD "d.jsonl, line 1, field \"a\": "
#define NO_VALUE "this is not a JSON value; write it with json.dumps"
#define NOT_FINITE "NaN and Infinity are not JSON; write null for a missing value"
#define ENDS "the line ends inside an object; write each object on one line"
#define COMMA "a comma or a closing bracket is missing"
#define OPEN_STRING                                                                          \
  "a string is not closed on its line, or contains a control character; write line ends as " \
  "\\n and tabs as \\t"

TEST(refuses_what_is_not) {
  static const char *const values[] = {"+1",   ".5",  "1.", "1e", "-",    "nul",
                                       "True", "'x'", "",   "}",  "0x10", "[,]"};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char text[64];
    size_t fields;
    pcal_error err;
    snprintf(text, sizeof text, "{\"a\":%s}", values[i]);
    assert_int_equal(scan_all(text, &fields, &err), PCAL_DATA);
    assert_message(err, FIELD);
  }
  expect_refused("{\"a\":nul}", FIELD NO_VALUE);
  expect_refused("{\"a\":[1,]}", FIELD NO_VALUE);
  expect_refused("{\"a\":01}", FIELD "a comma or } is missing after it");
  expect_refused("{\"a\":1 \"b\":2}", FIELD "a comma or } is missing after it");
  expect_refused("{\"a\":[1 2]}", FIELD COMMA);
  expect_refused("{\"a\":[1}}", FIELD COMMA);
  expect_refused("{\"a\":{\"b\":1]}", FIELD COMMA);
  expect_refused("{\"a\":{\"b\" 1}}", FIELD "a colon is missing after the name of a field");
  expect_refused("{\"a\":{1:2}}",
                 FIELD "the name of a field is missing; write it in double quotes");
  expect_refused("{a:1}", LINE "the name of a field is missing; write it in double quotes");
  expect_refused("{\"a\":1,}",
                 FIELD "the name of a field is missing; write it in double quotes");
  expect_refused("{\"a\" 1}", LINE "a colon is missing after the name of a field");
  expect_refused("[1]",
                 LINE "the line does not begin with {; write one JSON object on each line");
  expect_refused("{} {}", LINE "something follows the object; write one object on each line");
  expect_refused("{}\n\n{}", "d.jsonl, line 2: the line is blank; delete it");
  expect_refused("{}\n  \r\n", "d.jsonl, line 2: the line is blank; delete it");
}

TEST(refuses_values_without_json) {
  expect_refused("{\"a\":NaN}", FIELD NOT_FINITE);
  expect_refused("{\"a\":[1,Infinity]}", FIELD NOT_FINITE);
  expect_refused("{\"a\":-Infinity}", FIELD NOT_FINITE);
}

TEST(refuses_broken_lines) {
  static const char whole[] = "{\"a\":[1,{\"b\":\"c\\u0041\"},true],\"d\":-1.5e3}";
  for (size_t length = 1; length + 1 < sizeof whole; length++) {
    char text[64];
    size_t fields;
    snprintf(text, sizeof text, "%.*s", (int)length, whole);
    assert_int_equal(scan_all(text, &fields, NULL), PCAL_DATA);
    snprintf(text, sizeof text, "%.*s\n", (int)length, whole);
    assert_int_equal(scan_all(text, &fields, NULL), PCAL_DATA);
  }
  expect_refused("{\n\"a\":1}", LINE ENDS);
  expect_refused("{\"a\":\n1}", FIELD ENDS);
  expect_refused("{\"a\":[\n1]}", FIELD ENDS);
  expect_refused("{\"a\":[1\n]}", FIELD ENDS);
  expect_refused("{\"a\":1\n}", FIELD ENDS);
  expect_refused("{\"a\":\"x\ny\"}", FIELD OPEN_STRING);
  expect_refused("{\"a\":\"x\ty\"}", FIELD OPEN_STRING);
  expect_refused("{\"a", LINE OPEN_STRING);
  expect_refused("{\"a\":\"\\x41\"}",
                 FIELD "a backslash begins an invalid escape; write a backslash as \\\\");
  expect_refused("{\"a\":\"\\u12g4\"}",
                 FIELD "a backslash begins an invalid escape; write a backslash as \\\\");
}

TEST(limits_nesting) {
  for (size_t depth = PC_JSONL_DEPTH; depth <= 100000; depth += 100000 - PC_JSONL_DEPTH) {
    char *text = malloc(2 * depth + 10);
    size_t used = 5, fields;
    pcal_error err;
    assert_non_null(text);
    memcpy(text, "{\"a\":", 5);
    for (size_t i = 0; i < depth; i++)
      text[used++] = '[';
    for (size_t i = 0; i < depth; i++)
      text[used++] = ']';
    memcpy(text + used, "}", 2);
    assert_int_equal(scan_all(text, &fields, &err),
                     depth == PC_JSONL_DEPTH ? PCAL_OK : PCAL_DATA);
    if (depth > PC_JSONL_DEPTH)
      assert_string_equal(err.message,
                          FIELD "arrays or objects are nested too deeply, beyond 64 levels");
    free(text);
  }
}

TEST(refuses_what_is_no_text) {
  pc_input_file bytes;
  pc_jsonl_scan scan;
  pcal_error err;
  pc_input_file_from_memory("d.jsonl", "\xFF\xFE{\0}\0", 6, &bytes);
  assert_int_equal(pc_jsonl_begin(&bytes, &scan, &err), PCAL_DATA);
  assert_string_equal(err.message, "d.jsonl is not a text file in UTF-8; save it as UTF-8 with "
                                   "one JSON object on each line");
}

TEST(takes_elements) {
  pc_slice inside = pc_slice_of(" 1 ,null, \"a,]\" ,[2,3], {\"b\":4} ");
  const char *const texts[] = {"1", "null", "a,]", "[2,3]", "{\"b\":4}"};
  pc_jsonl_value element;
  for (size_t i = 0; i < 5; i++) {
    pc_jsonl_element(&inside, &element);
    assert_true(pc_slice_is(element.text, texts[i]));
  }
  pc_jsonl_element(&inside, &element);
  assert_int_equal(element.kind, PC_JSONL_NONE);
}

static void expect_resolved(const char *raw, const char *text) {
  char out[64];
  const pc_jsonl_value string = {PC_JSONL_STRING, pc_slice_of(raw), strchr(raw, '\\') != NULL};
  const size_t length = pc_jsonl_copy(&string, out);
  if (text == NULL) {
    assert_true(length == SIZE_MAX);
    assert_false(pc_jsonl_is(&string, pc_slice_of(raw)));
    return;
  }
  assert_true(pc_slice_is((pc_slice){out, length}, text));
  assert_true(length <= strlen(raw));
  assert_true(pc_jsonl_is(&string, pc_slice_of(text)));
  assert_false(pc_jsonl_is(&string, pc_slice_of("other")));
  if (strlen(text) > 0)
    assert_false(pc_jsonl_is(&string, (pc_slice){text, strlen(text) - 1}));
}

TEST(resolves_escapes) {
  expect_resolved("", "");
  expect_resolved("plain", "plain");
  expect_resolved("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
  expect_resolved("\\u0041\\u00e9\\u20AC", "A\xC3\xA9\xE2\x82\xAC");
  expect_resolved("\\ud83d\\ude00!", "\xF0\x9F\x98\x80!");
  expect_resolved("\\uDBFF\\uDFFF", "\xF4\x8F\xBF\xBF");
  expect_resolved("\\ud83d", NULL);
  expect_resolved("\\ud83dx", NULL);
  expect_resolved("\\ud83d\\u0041", NULL);
  expect_resolved("\\ude00\\ud83d", NULL);
}
