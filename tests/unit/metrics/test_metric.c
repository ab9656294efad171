#include "metrics/metric.h"

#include "base/aliases.h"

#include "../unit.h"

TEST(test_rows_are_found_by_name) {
  assert_true(pc_metric_count() > 0);
  for (size_t m = 0; m < pc_metric_count(); m++)
    assert_ptr_equal(pc_metric_find_for(pc_metric_at(m)->row.task == PCAL_CLASSIFICATION
                                            ? PC_FORM_CLASSES
                                            : PC_FORM_SAMPLES,
                                        pc_metric_at(m)->row.name),
                     pc_metric_at(m));
  assert_null(pc_metric_at(pc_metric_count()));
  assert_null(pc_metric_find("no such metric"));
  assert_null(pc_metric_find(""));
}

TEST(test_every_alias_stands_for_a_metric) {
  static const struct {
    pcal_registry registry;
    const char *name, *spec;
  } rows[] = {
#define ALIAS(registry, name, spec) {registry, name, spec},
#define OPTION_ALIAS(name, option)
#include "base/aliases.def"
#undef ALIAS
#undef OPTION_ALIAS
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const pc_metric *metric;
    pc_options options;
    if (rows[i].registry != PCAL_METRICS)
      continue;
    assert_null(pc_metric_find(rows[i].name)); /* it would hide the metric of that name */
    assert_int_equal(pc_metric_parse(rows[i].name, &metric, &options, NULL), PCAL_OK);
    assert_int_equal(pc_metric_parse(rows[i].spec, &metric, &options, NULL), PCAL_OK);
  }
}

/* What the plan, the results and the options can hold. */
TEST(test_rows_fit_the_engine) {
  for (size_t m = 0; m < pc_metric_count(); m++) {
    const pc_metric *metric = pc_metric_at(m);
    assert_true(metric->row.option_count <= PC_OPTIONS_MAX);
    assert_non_null(metric->configure);
    assert_non_null(metric->evaluate);
    assert_int_equal(metric->row.registry, PCAL_METRICS);
    pc_options options;
    assert_int_equal(pc_options_parse(metric->row.name, metric->row.name, metric->row.options,
                                      metric->row.option_count, &options, NULL),
                     PCAL_OK);
  }
}

/* Calls `check` for each spec of a group. */
static void each_spec(const pcal_registry_row *group,
                      void (*check)(const char *spec, void *user), void *user) {
  char spec[PC_SPEC_MAX];
  for (const char *at = group->formula; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    snprintf(spec, sizeof spec, "%.*s", (int)length, at);
    check(spec, user);
    at += length + (at[length] == ' ');
  }
}

static void spec_is_known(const char *spec, void *user) {
  size_t *count = user;
  const pc_metric *metric;
  pc_options options;
  assert_int_equal(pc_metric_parse(spec, &metric, &options, NULL), PCAL_OK);
  (*count)++;
}

TEST(test_groups_name_metrics) {
  assert_non_null(pc_metric_group_find("default"));
  assert_null(pc_metric_group_find("none"));
  assert_null(pc_metric_group_at(pc_metric_group_count()));
  for (size_t g = 0; g < pc_metric_group_count(); g++) {
    const pcal_registry_row *group = pc_metric_group_at(g);
    size_t count = 0;
    assert_ptr_equal(pc_metric_group_find(group->name), group);
    assert_null(pc_metric_find(group->name));
    each_spec(group, spec_is_known, &count);
    assert_true(count > 0);
  }
}

static int name_is_among(const char *name, const char *const *names) {
  for (; *names != NULL; names++)
    if (strcmp(name, *names) == 0)
      return 1;
  return 0;
}

/* Only descriptions, a signed statistic, and numbers with a best value inside their range have no
 * better direction. */
TEST(test_rows_name_the_better_direction) {
  static const char *const neither[] = {
      "spiegelhalter",     "mean-variance",     "sharpness",
      "variance-ratio",    "oe-ratio",          "calibration-intercept",
      "calibration-slope", "interval-coverage", NULL};
  static const char *const higher[] = {
      "accuracy",         "auc", "failure-auroc", "scaled-brier", "net-benefit",
      "coverage-at-risk", NULL};
  for (size_t m = 0; m < pc_metric_count(); m++) {
    const pcal_registry_row *row = &pc_metric_at(m)->row;
    assert_int_equal(row->better, name_is_among(row->name, neither)  ? PCAL_BETTER_NONE
                                  : name_is_among(row->name, higher) ? PCAL_BETTER_HIGHER
                                                                     : PCAL_BETTER_LOWER);
  }
}

typedef struct search {
  const char *name;
  int found;
} search;

static void spec_is_wanted(const char *spec, void *user) {
  search *wanted = user;
  wanted->found |= strcmp(spec, wanted->name) == 0;
}

TEST(test_all_is_all) {
  for (size_t m = 0; m < pc_metric_count(); m++) {
    search wanted = {pc_metric_at(m)->row.name, 0};
    each_spec(pc_metric_group_find("all"), spec_is_wanted, &wanted);
    if (!wanted.found)
      fail_msg("%s is not in the group all", wanted.name);
  }
}

TEST(test_the_group_of_tests_holds_every_test) {
  for (size_t m = 0; m < pc_metric_count(); m++) {
    search wanted = {pc_metric_at(m)->row.name, 0};
    each_spec(pc_metric_group_find("tests"), spec_is_wanted, &wanted);
    assert_int_equal(wanted.found, pc_metric_at(m)->row.is_test);
  }
}

TEST(test_unknown_names_are_refused) {
  const pc_metric *metric;
  pc_options options;
  pcal_error err;
  assert_int_equal(pc_metric_parse("eec:bins=3", &metric, &options, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "unknown metric \"eec\" (did you mean \"ece\"?); pcal_registry_at shows all "
                  "metrics");
  assert_int_equal(pc_metric_parse("zzzzzzzz", &metric, &options, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "unknown metric \"zzzzzzzz\"; pcal_registry_at shows all metrics");
  assert_int_equal(pc_metric_parse("", &metric, &options, &err), PCAL_USAGE);
  assert_int_equal(pc_metric_parse(":bins=3", &metric, &options, &err), PCAL_USAGE);
}

/* A group is no metric, and is not suggested in place of itself. */
TEST(test_group_where_a_metric_is_needed) {
  const pc_metric *metric;
  pc_options options;
  pcal_error err;
  assert_int_equal(pc_metric_parse("proper:half=yes", &metric, &options, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "\"proper\" is a group of metrics, which has no options and no value; name one of "
      "its metrics, see pcal_registry_at");
}

TEST(test_parts_have_a_limit) {
  pc_metric_result outcome;
  memset(&outcome, 0, sizeof outcome);
  for (int i = 0; i < PC_PARTS_MAX + 2; i++)
    pc_metric_result_part(&outcome, "x", i);
  assert_int_equal(outcome.part_count, PC_PARTS_MAX);
  assert_same(outcome.parts[PC_PARTS_MAX - 1].value, PC_PARTS_MAX - 1.0);
}

static const pcal_option view_table[] = {PC_VIEW_OPTION};

static pcal_status view_choose(const char *spec, pcal_kind kind, size_t columns, char *word,
                               pc_metric_config *config, pcal_error *err) {
  pc_options options;
  pc_layout layout;
  memset(config, 0, sizeof *config);
  assert_int_equal(pc_layout_make(kind, columns, &layout, err), PCAL_OK);
  assert_int_equal(pc_options_parse(spec, "m", view_table, 1, &options, err), PCAL_OK);
  const pcal_status status = pc_metric_choose_view(&options, 0, &layout, config, err);
  pc_options_word(&options, 0, word, 16);
  return status;
}

TEST(test_auto_view_depends_on_the_data) {
  char word[16];
  pc_metric_config config;
  pcal_error err;
  assert_int_equal(view_choose("m", PCAL_PROBABILITY, 1, word, &config, &err), PCAL_OK);
  assert_string_equal(word, "positive");
  assert_int_equal(config.need.view.kind, PC_VIEW_CLASS);
  assert_int_equal(config.need.view.index, 1);
  assert_int_equal(config.notion, PCAL_NOTION_CANONICAL);
  assert_int_equal(view_choose("m", PCAL_LOGIT, 2, word, &config, &err), PCAL_OK);
  assert_string_equal(word, "top");
  assert_int_equal(config.need.view.kind, PC_VIEW_RANK);
  assert_int_equal(config.notion, PCAL_NOTION_TOP_LABEL);
  assert_int_equal(view_choose("m", PCAL_CONFIDENCE, 1, word, &config, &err), PCAL_OK);
  assert_string_equal(word, "top");
  assert_int_equal(view_choose("m:view=top", PCAL_PROBABILITY, 1, word, &config, &err),
                   PCAL_OK);
  assert_string_equal(word, "top");
  assert_int_equal(view_choose("m:view=positive", PCAL_PROBABILITY, 2, word, &config, &err),
                   PCAL_OK);
  assert_int_equal(config.need.view.kind, PC_VIEW_CLASS);
}

TEST(test_positive_view_needs_two_classes) {
  char word[16];
  pc_metric_config config;
  pcal_error err;
  assert_int_equal(view_choose("m:view=positive", PCAL_LOGIT, 3, word, &config, &err),
                   PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "m: view=positive needs two classes, but the data have more; use "
                  "view=top");
  assert_int_equal(view_choose("m:view=positive", PCAL_CONFIDENCE, 1, word, &config, &err),
                   PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "m: view=positive needs two classes, but the data have only confidences; "
                  "use view=top");
}
