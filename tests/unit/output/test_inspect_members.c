#include "../io/io_help.h"
#include "../io/zip_help.h"
#include "../measure/measure_help.h"

static char *members_of(const char *path, pcal_format format) {
  sink_bytes text = {0};
  size_t problems = 9;
  pcal_error err;
  if (pcal_inspect_file(path, 0, NULL, format, sink_collect, &text, &problems, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(problems, 0);
  return text.bytes;
}

/* Scores, labels, and an array that is no table. */
static const char *members_npz(int deflated) {
  static const float scores[] = {0.25f, 0.75f, 0.5f, 0.5f, 1.0f, 0.0f};
  static const int64_t labels[] = {1};
  const help_npy first = help_npy_make(1, "=f4", 0, "(3, 2)", scores, sizeof scores);
  const help_npy second = help_npy_make(1, "=i8", 0, "(1,)", labels, sizeof labels);
  const help_npy third = help_npy_make(1, "=f4", 0, "(1, 2, 3)", scores, sizeof scores);
  const help_member members[] = {
      {"lo\033gits.npy", first.bytes, first.length, deflated, 0, 0},
      {"labels.npy", second.bytes, second.length, deflated, 0, 0},
      {"cube.npy", third.bytes, third.length, deflated, 0, 0},
  };
  const help_zip zip = help_zip_make(members, 3, 0, "");
  const char *path = help_file("d.npz", zip.bytes, zip.length);
  free(first.bytes);
  free(second.bytes);
  free(third.bytes);
  free(zip.bytes);
  return path;
}

TEST(test_arrays_are_listed) {
  for (int deflated = 0; deflated < 2; deflated++) {
    const char *path = members_npz(deflated);
    char *text = members_of(path, PCAL_TEXT);
    assert_contains(text, "d.npz: npz, 3 members, ");
    assert_contains(text, " bytes\n  lo\\x1bgits: 3 rows x 2 columns, float32\n"
                          "  labels: 1 row x 1 column, int64\n  cube: cannot be read: ");
    assert_contains(text, "d.npz:NAME\n");
    free(text);
  }
}

TEST(test_arrays_as_json) {
  char *json = members_of(members_npz(0), PCAL_JSON);
  assert_contains(json, "  \"format\": \"npz\",\n");
  assert_contains(json, "      \"name\": \"lo\\u001bgits\",\n      \"rows\": 3,\n"
                        "      \"columns\": 2,\n      \"stored\": \"float32\",\n"
                        "      \"why\": null,\n      \"role\": null\n");
  assert_contains(json, "      \"name\": \"cube\",\n      \"rows\": null,\n"
                        "      \"columns\": null,\n      \"stored\": null,\n"
                        "      \"why\": \"");
  free(json);
}

TEST(test_fields_are_listed) {
  char *text = members_of(help_text("d.jsonl", "{\"p\": [0.5, 0.5], \"y\": 1}\n"), PCAL_TEXT);
  assert_contains(text, "d.jsonl: jsonl, 2 members, 26 bytes\n  p: 2 columns, JSON\n"
                        "  y: 1 column, JSON\n");
  free(text);
}

static pcal_status members_scenario(const pcal_env *env, void *user, pcal_error *err) {
  sink_bytes text = {0};
  const pcal_status status =
      pcal_inspect_file(user, 0, env, PCAL_JSON, sink_collect, &text, NULL, err);
  free(text.bytes);
  return status;
}

TEST(test_each_allocation_may_fail) {
  char path[300];
  snprintf(path, sizeof path, "%s", members_npz(1));
  help_fail_each_allocation(members_scenario, path);
}

TEST_GROUP(help_setup, help_teardown)
