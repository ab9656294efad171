#include "../measure/measure_help.h"

static const given_data json_data = {
    .kind = PCAL_PROBABILITY,
    .rows = 4,
    .columns = 2,
    .scores = (const double[]){0.5, 0.5, 0.25, 0.75, 1, 0, 0.25, 0.75},
    .labels = (const int32_t[]){0, 1, 1, 0},
    .weights = (const double[]){1, 2, 1, 0},
    .groups = (const uint32_t[]){0, 0, 1, 1},
    .class_names = (const char *const[]){"cat", "a \"dog\"\t\\"},
    .class_count = 2,
    .group_names = (const char *const[]){"a,\"b\"", "\303\251t\303\251"},
    .group_count = 2,
};

static char *json_of(const given_data *data, const char *specs) {
  pcal_results *results = given_results(data, specs);
  char *json = given_written(results, PCAL_JSON);
  pcal_results_free(results);
  return json;
}

TEST(test_the_text) {
  given_data data = json_data;
  data.kind = PCAL_CONFIDENCE;
  data.columns = 1;
  data.class_count = 0;
  data.groups = NULL;
  data.weights = NULL;
  data.scores = (const double[]){0.5, 0.5, 0.5, 0.5};
  char *json = json_of(&data, "ks ece:bins=1");
  static const char head[] = "{\n"
                             "  \"propercal\": \"" PCAL_VERSION "\",\n"
                             "  \"data\": {\n"
                             "    \"kind\": \"confidence\",\n"
                             "    \"view\": \"top\",\n"
                             "    \"rows\": 4,\n"
                             "    \"classes\": null,\n"
                             "    \"weighted\": false,\n";
  assert_memory_equal(json, head, sizeof head - 1);
  const char *rest = strstr(json, "    \"normalized_rows\"");
  assert_non_null(rest);
  static const char middle[] =
      "    \"normalized_rows\": 0,\n"
      "    \"skipped_rows\": 0\n"
      "  },\n"
      "  \"results\": [\n"
      "    {\n"
      "      \"metric\": \"ks\",\n"
      "      \"spec\": \"ks:rank=1,by=pooled\",\n"
      "      \"value\": 0,\n"
      "      \"interval\": null,\n"
      "      \"se\": null,\n"
      "      \"notion\": \"top-label\",\n"
      "      \"bound\": \"lower\",\n"
      "      \"parts\": {\n"
      "        \"at\": 0.5,\n"
      "        \"signed\": 0\n"
      "      }\n"
      "    },\n"
      "    {\n"
      "      \"metric\": \"ece\",\n"
      "      \"spec\": \"ece:bins=1,binning=width,norm=l1,debias=no,"
      "edges=right,view=top,convention=none\",\n"
      "      \"value\": 0,\n"
      "      \"interval\": null,\n"
      "      \"se\": null,\n"
      "      \"notion\": \"top-label\",\n"
      "      \"bound\": \"lower\",\n"
      "      \"parts\": {}\n"
      "    }\n"
      "  ],\n"
      "  \"verdict\": \"Well calibrated, as far as these rows show. The "
      "model claims 50.0 % on average and is right in 50.0 % of the rows (chance "
      "alone: up to 61.5 points).\\nHow much of it is chance: the ECE is "
      "0.00; a calibrated model with these scores would show 0.188 on average.\\nWhat to "
      "try: leave it alone; with so few rows small errors "
      "cannot be detected, so gather more before you rely on it.\",\n"
      "  \"judgement\": {\n"
      "    \"kind\": \"calibrated\",\n"
      "    \"error\": 0,\n"
      "    \"chance\": ";
  assert_memory_equal(rest, middle, sizeof middle - 1);
  char *end = NULL;
  assert_near(strtod(rest + sizeof middle - 1, &end), 0.1875,
              1e-12); /* |k - 2|/4, four coins */
  assert_string_equal(end, ",\n"
                           "    \"claimed\": 0.5,\n"
                           "    \"observed\": 0.5,\n"
                           "    \"margin\": 0.615,\n"
                           "    \"view\": \"top\",\n"
                           "    \"advice\": {\n"
                           "      \"repair\": \"gather\",\n"
                           "      \"method\": null,\n"
                           "      \"other\": null\n"
                           "    }\n"
                           "  }\n"
                           "}\n");
  free(json);
}

TEST(test_weights_names_and_groups) {
  char *json = json_of(&json_data, "accuracy");
  assert_contains(json, "\"rows\": 3,\n    \"classes\": 2,\n    \"weighted\": true,\n"
                        "    \"weight\": 4,\n");
  assert_contains(json, "\"class_names\": [\n      \"cat\",\n      \"a \\\"dog\\\"\\t\\\\\"\n");
  assert_contains(json,
                  "\"group_names\": [\n      \"a,\\\"b\\\"\",\n      \"\303\251t\303\251\"\n");
  assert_contains(json, "      \"groups\": {\n"
                        "        \"a,\\\"b\\\"\": {\n"
                        "          \"weight\": 3,\n"
                        "          \"value\": 1,\n"
                        "          \"parts\": {}\n"
                        "        },\n"
                        "        \"\303\251t\303\251\": {\n"
                        "          \"weight\": 1,\n"
                        "          \"value\": 0,\n"
                        "          \"parts\": {}\n"
                        "        }\n"
                        "      }\n");
  free(json);
}

TEST(test_infinite_and_undefined_are_null_with_a_reason) {
  char *json = json_of(&json_data, "log skce");
  assert_contains(json, "\"spec\": \"log:clip=0\",\n      \"value\": null,\n"
                        "      \"why\": \"row 2 gives its true class probability 0");
  assert_contains(json, "          \"weight\": 1,\n          \"value\": null,\n"
                        "          \"why\": \"at least two rows are needed\",\n");
  assert_lacks(json, "inf,");
  assert_lacks(json, "nan");
  free(json);
}

TEST(test_curves_are_columns) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.25, 0.375},
                           .labels = (const int32_t[]){0, 1}};
  pcal_results *results = given_results_with_curves(&data, "accuracy ks ece:bins=2");
  char *json = given_written(results, PCAL_JSON);
  assert_contains(json, "      \"curve\": {\n"
                        "        \"score\": [0.25, 0.375],\n"
                        "        \"fraction\": [0.5, 1],\n"
                        "        \"cumulated_score\": [0.125, 0.3125],\n"
                        "        \"cumulated_outcome\": [0, 0.5]\n"
                        "      }\n");
  assert_contains(json, "        \"confidence\": [0.3125, null],\n"
                        "        \"accuracy\": [0.5, null]\n");
  assert_contains(json, "\"metric\": \"accuracy\"");
  free(json);
  pcal_results_free(results);
  json = json_of(&data, "ks ece");
  assert_lacks(json, "curve");
  free(json);
}

TEST(test_counts_of_repaired_and_skipped_rows) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 3,
                           .columns = 2,
                           .scores = (const double[]){0.5, 0.501, 0.5, 0.5, (double)NAN, 1},
                           .labels = (const int32_t[]){0, 1, 1},
                           .normalize = 1,
                           .skip_missing = 1};
  char *json = json_of(&data, "accuracy");
  assert_contains(json, "\"rows\": 2,");
  assert_contains(json, "\"normalized_rows\": 1,\n    \"skipped_rows\": 1\n");
  free(json);
}

TEST(test_values_of_classes) {
  char *json = json_of(&json_data, "cwce:p=1,bins=1 ece");
  /* claimed of cat: 0.5, twice 0.25, once 1; true once, never, never */
  assert_non_null(strstr(json, "        \"worst\": 0.25\n"
                               "      },\n"
                               "      \"classes\": [\n"
                               "        0.25,\n"
                               "        0.25\n"
                               "      ],\n"
                               "      \"groups\""));
  const char *second = strstr(json, "\"ece\"");
  assert_non_null(second);
  assert_null(strstr(second, "\"classes\""));
  free(json);
}
