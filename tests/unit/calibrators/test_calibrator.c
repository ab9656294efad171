#include "calibrators/calibrator.h"

#include "calibrator_help.h"

static void expect_spec_refused(const char *spec, const char *sentence) {
  const pc_calibrator_method *row = NULL;
  pc_options options;
  pcal_error err;
  assert_int_equal(pc_calibrator_parse(spec, &row, &options, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, sentence);
}

TEST(finds_methods) {
  assert_true(pc_calibrator_method_count() >= 3);
  for (size_t i = 0; i < pc_calibrator_method_count(); i++)
    assert_ptr_equal(pc_calibrator_method_find(pc_calibrator_method_at(i)->row.name),
                     pc_calibrator_method_at(i));
  assert_null(pc_calibrator_method_at(pc_calibrator_method_count()));
  assert_null(pc_calibrator_method_find("temp"));
}

TEST(every_alias_stands_for_a_method) {
  static const struct {
    pcal_registry registry;
    const char *name;
  } rows[] = {
#define ALIAS(registry, name, spec) {registry, name},
#define OPTION_ALIAS(name, option)
#include "base/aliases.def"
#undef ALIAS
#undef OPTION_ALIAS
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const pc_calibrator_method *method;
    pc_options options;
    if (rows[i].registry != PCAL_CALIBRATORS)
      continue;
    assert_null(pc_calibrator_method_find(rows[i].name));
    assert_int_equal(pc_calibrator_parse(rows[i].name, &method, &options, NULL), PCAL_OK);
  }
}

static int rows_option(const pc_calibrator_method *row, const char *name) {
  for (size_t i = 0; i < row->row.option_count; i++)
    if (strcmp(row->row.options[i].name, name) == 0)
      return 1;
  return 0;
}

/* Help, lists and law tests rely on these fields. */
TEST(methods_are_complete) {
  for (size_t i = 0; i < pc_calibrator_method_count(); i++) {
    const pc_calibrator_method *row = pc_calibrator_method_at(i);
    assert_int_equal(row->row.registry, PCAL_CALIBRATORS);
    assert_true(row->row.title != NULL && row->row.formula != NULL && row->row.about != NULL);
    assert_true(row->fit != NULL && row->apply != NULL && row->write != NULL);
    assert_true(row->read != NULL && row->describe != NULL);
    assert_true((row->traits & PC_GUARDED) == 0 || row->row.option_count == 0 ||
                row->objective != NULL || rows_option(row, "objective"));
  }
}

TEST(parses_specs) {
  const pc_calibrator_method *row = NULL;
  pc_options options;
  char full[PC_SPEC_MAX];
  assert_int_equal(pc_calibrator_parse("histogram:classwise=no,bins=7", &row, &options, NULL),
                   PCAL_OK);
  assert_string_equal(row->row.name, "histogram");
  pc_options_write(&options, 1, full, sizeof full);
  assert_string_equal(full, "histogram:bins=7,binning=width,classwise=no,bootstrap=0");
  expect_spec_refused("temprature",
                      "there is no calibrator \"temprature\" (did you mean \"temperature\"?); "
                      "pcal_registry_at shows them all");
  expect_spec_refused("ece", "there is no calibrator \"ece\"; pcal_registry_at "
                             "shows them all");
  expect_spec_refused("temperature:objectiv=log",
                      "temperature has no option \"objectiv\" (did you mean \"objective\"?); "
                      "it has objective");
  expect_spec_refused("temperature:objective=mse",
                      "temperature: option objective is one of log|brier|ece, not \"mse\"");
  expect_spec_refused("histogram:bins=0",
                      "histogram: option bins must be between 1 and 10000, not 0");
  expect_spec_refused("identity:T=1", "identity takes no options, so \"T\" cannot be set");
}

TEST(warnings_are_bounded) {
  pc_fit_info fit = {.rows = 0};
  char long_text[2 * PC_WARNING_SIZE];
  memset(long_text, 'x', sizeof long_text);
  long_text[sizeof long_text - 1] = '\0';
  for (int i = 0; i < PC_WARNINGS_MAX + 3; i++)
    pc_fit_warn(&fit, "%d %s", i, long_text);
  assert_int_equal(fit.warning_count, PC_WARNINGS_MAX);
  assert_int_equal(strlen(fit.warnings[PC_WARNINGS_MAX - 1]), PC_WARNING_SIZE - 1);
  assert_memory_equal(fit.warnings[2], "2 x", 3);
}

TEST(names) {
  static const char *const traits[] = {"injective", "keeps_accuracy", "keeps_order",
                                       "sums_to_one", "guarded"};
  unsigned seen = 0, trait = 0;
  for (size_t i = 0; i < UNIT_COUNT(traits); i++) {
    assert_string_equal(pc_calibrator_trait_name(i, &trait), traits[i]);
    assert_int_equal(seen & trait, 0);
    seen |= trait;
  }
  assert_null(pc_calibrator_trait_name(UNIT_COUNT(traits), &trait));
  assert_string_equal(pc_fit_status_name(PC_FIT_CONVERGED), "converged");
  assert_string_equal(pc_fit_status_name(PC_FIT_STOPPED), "stopped");
  assert_string_equal(pc_fit_status_name(PC_FIT_IDENTITY), "identity");
  assert_string_equal(pc_fit_status_name(PC_FIT_CLOSED_FORM), "closed-form");
}
