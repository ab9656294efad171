#include "calibrator_help.h"

/* A valid file; tests replace one piece of it. */
static const char sound[] =
    "{\n"
    "\"format\": \"propercal-calibrator\",\n"
    "\"version\": 1,\n"
    "\"spec\": \"temperature:objective=log\",\n"
    "\"method\": \"temperature\",\n"
    "\"classes\": 3,\n"
    "\"columns\": 3,\n"
    "\"input\": \"logit\",\n"
    "\"normalize\": false,\n"
    "\"class_names\": [\"a\", \"b\", \"c\"],\n"
    "\"parameters\": {\"T\": 1.5},\n"
    "\"fit\": {\n"
    "\"status\": \"converged\",\n"
    "\"iterations\": 4,\n"
    "\"gradient\": 1e-13,\n"
    "\"objective\": {\"name\": \"log\", \"before\": 0.5, \"after\": 0.25},\n"
    "\"rows\": 100,\n"
    "\"weighted\": false,\n"
    "\"weight\": 100,\n"
    "\"normalized_rows\": 1,\n"
    "\"skipped_rows\": 2,\n"
    "\"warnings\": [\"careful\"]\n"
    "}}\n";

/* The valid file with the first `from` replaced by `to`. */
static char *changed(const char *from, const char *to) {
  const char *at = strstr(sound, from);
  char *text = malloc(sizeof sound + strlen(to));
  assert_non_null(at);
  sprintf(text, "%.*s%s%s", (int)(at - sound), sound, to, at + strlen(from));
  return text;
}

static void expect_refused(const char *text, size_t length, const char *sentence) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  assert_int_equal(pcal_calibrator_load(text, length, "cal.json", &env, &calibrator, &err),
                   PCAL_DATA);
  assert_sentence(err, PCAL_DATA, sentence);
  assert_null(calibrator);
  assert_int_equal(atomic_load(&memory.live), 0);
}

static void refuse(const char *from, const char *to, const char *sentence) {
  char *text = changed(from, to);
  expect_refused(text, strlen(text), sentence);
  free(text);
}

static void accept(const char *from, const char *to) {
  char *text = changed(from, to);
  pcal_calibrator_free(help_load(text));
  free(text);
}

TEST(loads_everything) {
  pcal_calibrator *calibrator = help_load(sound);
  assert_string_equal(calibrator->method->row.name, "temperature");
  assert_int_equal(calibrator->layout.kind, PCAL_LOGIT);
  assert_int_equal(calibrator->layout.classes, 3);
  assert_int_equal(calibrator->normalize, 0);
  assert_string_equal(calibrator->class_names[2], "c");
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_int_equal(calibrator->fit.iterations, 4);
  assert_int_equal(calibrator->fit.searched, 1);
  assert_same(calibrator->fit.gradient, 1e-13);
  assert_same(calibrator->fit.before, 0.5);
  assert_same(calibrator->fit.after, 0.25);
  assert_int_equal(calibrator->fit.rows, 100);
  assert_int_equal(calibrator->fit.normalized, 1);
  assert_int_equal(calibrator->fit.skipped, 2);
  assert_int_equal(calibrator->fit.warning_count, 1);
  assert_string_equal(calibrator->fit.warnings[0], "careful");
  pcal_calibrator_free(calibrator);
  accept("\"class_names\": [\"a\", \"b\", \"c\"],\n", "");
  accept("temperature:objective=log", "temperature");
  accept("\"gradient\": 1e-13", "\"gradient\": null");
  accept("\"before\": 0.5", "\"before\": null");
}

TEST(foreign_files) {
  const char *foreign = "cal.json is not a calibrator file; make one with pcal_calibrator_save";
  expect_refused("{}", 2, foreign);
  expect_refused("[1]", 3, foreign);
  refuse("propercal-calibrator", "other", foreign);
  refuse("\"propercal-calibrator\"", "1", foreign);
  expect_refused(
      "", 0,
      "cal.json is not a calibrator file (line 1: this is not JSON at byte 0: it ends "
      "where a value must stand); make one with pcal_calibrator_save");
  expect_refused(
      sound, 40,
      "cal.json is not a calibrator file (line 3: this is not JSON at byte 36: a text "
      "does not end); make one with pcal_calibrator_save");
  expect_refused(
      "\x93NUMPY", 6,
      "cal.json is not a calibrator file (line 1: this is not JSON at byte 0: no value "
      "begins here); make one with pcal_calibrator_save");
  char deep[100];
  memset(deep, '[', sizeof deep);
  expect_refused(
      deep, sizeof deep,
      "cal.json is not a calibrator file (line 1: lists are nested more than 64 deep "
      "at byte 64); make one with pcal_calibrator_save");
}

TEST(versions) {
  refuse("\"version\": 1", "\"version\": 2",
         "cal.json: calibrator files of version 2 are newer than this propercal (0.9.0), which "
         "reads version 1; update propercal");
  refuse("\"version\": 1", "\"version\": 0",
         "cal.json: calibrator files of version 0 are unknown to this propercal (0.9.0), which "
         "reads version 1; fit again");
  refuse("\"version\": 1", "\"version\": 1.5",
         "cal.json, line 3: \"version\" must be a whole number, 0 or more");
  refuse("\"version\": 1", "\"version\": \"1\"",
         "cal.json, line 3: \"version\" must be a number, not a text");
  refuse("\"version\": 1,\n", "",
         "cal.json, line 1: \"version\" is missing; write the file again with "
         "pcal_calibrator_save");
}

TEST(unknown_keys) {
  refuse(
      "\"version\": 1", "\"version\": 1, \"note\": 1",
      "cal.json, line 3: the key \"note\" is unknown in calibrator files of version 1; remove "
      "it");
  refuse(
      "\"version\": 1", "\"version\": 1, \"spe\": 1",
      "cal.json, line 3: the key \"spe\" is unknown in calibrator files of version 1; remove "
      "it");
  refuse(
      "\"version\": 1", "\"version\": 1, \"spec method\": 1",
      "cal.json, line 3: the key \"spec method\" is unknown in calibrator files of version 1; "
      "remove it");
  refuse(
      "\"version\": 1", "\"version\": 1, \"\": 1",
      "cal.json, line 3: the key \"\" is unknown in calibrator files of version 1; remove it");
  refuse(
      "\"rows\"", "\"row\": 1, \"rows\"",
      "cal.json, line 17: the key \"row\" is unknown in calibrator files of version 1; remove "
      "it");
  refuse("\"after\"", "\"x\": 1, \"after\"",
         "cal.json, line 16: the key \"x\" is unknown in calibrator files of version 1; remove "
         "it");
}

TEST(methods) {
  refuse("temperature:objective=log", "temprature",
         "cal.json: there is no calibrator \"temprature\" (did you mean \"temperature\"?); "
         "pcal_registry_at shows them all");
  refuse("temperature:objective=log", "temperature:objective=x",
         "cal.json: temperature: option objective is one of log|brier|ece, not \"x\"");
  refuse("temperature:objective=log", "identity",
         "cal.json: the method is \"temperature\", but the spec says \"identity\"; make them "
         "agree");
  refuse("\"method\": \"temperature\",\n", "",
         "cal.json, line 1: \"method\" is missing; write the file again with "
         "pcal_calibrator_save");
}

TEST(layouts) {
  refuse("\"logit\"", "\"logits\"",
         "cal.json, line 8: \"input\" must be probability, logit, log-probability, "
         "confidence, mean-variance, mean-std, quantiles or samples");
  refuse("\"logit\"", "7", "cal.json, line 8: \"input\" must be a text, not a number");
  refuse("\"logit\"", "\"confidence\"", "cal.json, line 7: \"columns\" does not fit the input");
  refuse("\"columns\": 3", "\"columns\": 0",
         "cal.json, line 7: \"columns\" does not fit the input");
  refuse("\"columns\": 3", "\"columns\": 1000001",
         "cal.json, line 7: \"columns\" does not fit the input");
  refuse("\"classes\": 3", "\"classes\": 2",
         "cal.json, line 6: \"classes\" does not fit input and columns");
  refuse("\"classes\": 3", "\"classes\": null",
         "cal.json, line 6: \"classes\" does not fit input and columns");
  refuse("\"classes\": 3,\n\"columns\": 3,\n\"input\": \"logit\"",
         "\"classes\": null,\n\"columns\": 1,\n\"input\": \"confidence\"",
         "cal.json, line 8: \"input\" does not suit the method");
  refuse("\"normalize\": false", "\"normalize\": 0",
         "cal.json, line 9: \"normalize\" must be true or false, not a number");
}

TEST(class_names) {
  refuse("[\"a\", \"b\", \"c\"]", "[\"a\", \"b\"]",
         "cal.json, line 10: \"class_names\" must hold one name for each column");
  refuse("[\"a\", \"b\", \"c\"]", "[\"a\", 2, \"c\"]",
         "cal.json, line 10: \"class_names\" must hold strings");
  refuse("[\"a\", \"b\", \"c\"]", "{}",
         "cal.json, line 10: \"class_names\" must be an array, not an object");
}

TEST(parameters) {
  refuse("{\"T\": 1.5}", "[1.5]",
         "cal.json, line 11: \"parameters\" must be an object, not an "
         "array");
  refuse("{\"T\": 1.5}", "{\"T\": 1e9}",
         "cal.json, line 11: T must be a number between 0.0001 and 10000");
  refuse("\"parameters\": {\"T\": 1.5},\n", "",
         "cal.json, line 1: \"parameters\" is missing; write the file again with "
         "pcal_calibrator_save");
}

TEST(fits) {
  refuse("\"converged\"", "\"done\"",
         "cal.json, line 13: \"status\" must be converged, stopped, identity or closed-form");
  refuse("\"iterations\": 4", "\"iterations\": -4",
         "cal.json, line 14: \"iterations\" must be a whole number, 0 or more");
  refuse("\"gradient\": 1e-13", "\"gradient\": -1",
         "cal.json, line 15: \"gradient\" must not be negative");
  refuse("\"gradient\": 1e-13", "\"gradient\": true",
         "cal.json, line 15: \"gradient\" must be a number, not true or false");
  refuse("\"name\": \"log\"", "\"name\": \"brier\"",
         "cal.json, line 16: \"objective\" has a name other than that of the spec");
  refuse("{\"name\": \"log\", \"before\": 0.5, \"after\": 0.25}", "null",
         "cal.json, line 16: \"objective\" must be an object, not null");
  refuse(", \"after\": 0.25", "",
         "cal.json, line 16: \"after\" is missing; write the file again with "
         "pcal_calibrator_save");
  refuse("\"rows\": 100", "\"rows\": 1e300",
         "cal.json, line 17: \"rows\" must be a whole number, 0 or more");
  refuse("\"weighted\": false", "\"weighted\": null",
         "cal.json, line 18: \"weighted\" must be true or false, not null");
  refuse("\"weight\": 100", "\"weight\": -1",
         "cal.json, line 19: \"weight\" must not be negative");
  refuse("[\"careful\"]", "[1]",
         "cal.json, line 22: \"warnings\" must hold strings of at most 255 bytes");
  refuse("[\"careful\"]", "[\"\", \"\", \"\", \"\", \"\"]",
         "cal.json, line 22: \"warnings\" holds too many strings");
  refuse("\"careful\"", "1",
         "cal.json, line 22: \"warnings\" must hold strings of at most 255 bytes");
  char long_warning[400];
  memset(long_warning, 'x', sizeof long_warning);
  long_warning[0] = long_warning[298] = '"';
  long_warning[299] = '\0';
  refuse("\"careful\"", long_warning,
         "cal.json, line 22: \"warnings\" must hold strings of at most 255 bytes");
}

/* A fit without a search has neither gradient nor objective. */
TEST(closed_forms) {
  char *text = changed("temperature:objective=log\",\n\"method\": \"temperature",
                       "identity\",\n\"method\": \"identity");
  char *at = strstr(text, "{\"T\": 1.5}");
  memcpy(at, "{        }", 10);
  expect_refused(text, strlen(text),
                 "cal.json, line 16: \"objective\" must be null, not an object");
  at = strstr(text, "{\"name\"");
  memset(at, ' ', strcspn(at, "}") + 1);
  memcpy(at, "null", 4);
  expect_refused(text, strlen(text),
                 "cal.json, line 15: \"gradient\" must be null, not a number");
  memcpy(strstr(text, "1e-13"), "null ", 5);
  pcal_calibrator_free(help_load(text));
  free(text);
}

TEST(has_a_name_of_its_own) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  assert_int_equal(pcal_calibrator_load("x", 1, NULL, NULL, &calibrator, &err), PCAL_DATA);
  assert_sentence(
      err, PCAL_DATA,
      "calibrator is not a calibrator file (line 1: this is not JSON at byte 0: no value "
      "begins here); make one with pcal_calibrator_save");
}
