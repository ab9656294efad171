#include <ctype.h>

#include "../unit.h"

static const pcal_registry registry_kinds[] = {PCAL_METRICS, PCAL_GROUPS, PCAL_CONVENTIONS,
                                               PCAL_FIGURES};

static void registry_text(const char *text, const char *what, const pcal_registry_row *row) {
  if (text == NULL || text[0] == '\0')
    fail_msg("%s %s has no %s", pcal_registry_name(row->registry), row->name, what);
  if (isspace((unsigned char)text[0]) || isspace((unsigned char)text[strlen(text) - 1]))
    fail_msg("the %s of %s %s begins or ends with a blank", what,
             pcal_registry_name(row->registry), row->name);
}

static void registry_option(const pcal_option *option, const pcal_registry_row *row) {
  registry_text(option->name, "name of an option", row);
  registry_text(option->help, option->name, row);
  assert_non_null(option->fallback);
  if (option->type == PCAL_OPTION_CHOICE)
    registry_text(option->choices, option->name, row);
  if (option->type == PCAL_OPTION_INT || option->type == PCAL_OPTION_REAL)
    assert_true(option->low < option->high);
}

TEST(test_every_row_is_complete) {
  for (size_t k = 0; k < UNIT_COUNT(registry_kinds); k++) {
    const pcal_registry kind = registry_kinds[k];
    assert_true(pcal_registry_count(kind) > 0);
    for (size_t i = 0; i < pcal_registry_count(kind); i++) {
      const pcal_registry_row *row = pcal_registry_at(kind, i);
      assert_int_equal(row->registry, kind);
      registry_text(row->name, "name", row);
      registry_text(row->title, "title", row);
      registry_text(row->about, "about", row);
      for (size_t o = 0; o < row->option_count; o++)
        registry_option(&row->options[o], row);
      assert_ptr_equal(pcal_registry_find_for_task(kind, row->task, row->name), row);
      assert_string_equal(pcal_registry_find(kind, row->name)->name, row->name);
      assert_true(row->task == PCAL_CLASSIFICATION || row->task == PCAL_REGRESSION);
    }
    assert_null(pcal_registry_at(kind, pcal_registry_count(kind)));
  }
}

TEST(test_metrics_say_what_they_are) {
  for (size_t i = 0; i < pcal_registry_count(PCAL_METRICS); i++) {
    const pcal_registry_row *row = pcal_registry_at(PCAL_METRICS, i);
    registry_text(row->formula, "formula", row);
    assert_true(row->notion < PCAL_NOTION_END);
    assert_true(row->machine <= PCAL_MACHINE_KEEP);
    assert_true(row->bound <= PCAL_BOUND_UPPER);
  }
}

TEST(test_rows_of_notions_have_their_order) {
  assert_int_equal(pcal_registry_count(PCAL_NOTIONS), PCAL_NOTION_END - 1);
  for (size_t i = 0; i < pcal_registry_count(PCAL_NOTIONS); i++)
    assert_string_equal(pcal_registry_at(PCAL_NOTIONS, i)->name,
                        pcal_notion_name((pcal_notion)(i + 1)));
  assert_null(pcal_notion_name(PCAL_NOTION_NONE));
  assert_null(pcal_notion_name(PCAL_NOTION_END));
  assert_string_equal(pcal_bound_name(PCAL_BOUND_UPPER), "upper");
  assert_null(pcal_bound_name(PCAL_BOUND_NONE));
  assert_string_equal(pcal_machine_name(PCAL_MACHINE_KEEP), "keep");
  assert_null(pcal_machine_name(PCAL_MACHINE_NONE));
}

/* Names are words for a command line, and no kind has one twice for a task. */
TEST(test_names_are_words) {
  for (size_t k = 0; k < UNIT_COUNT(registry_kinds); k++)
    for (size_t i = 0; i < pcal_registry_count(registry_kinds[k]); i++) {
      const pcal_registry_row *row = pcal_registry_at(registry_kinds[k], i);
      const char *name = row->name;
      assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
      assert_ptr_equal(pcal_registry_find_for_task(registry_kinds[k], row->task, name), row);
    }
}

TEST(test_unknown_kinds_and_names) {
  assert_int_equal(pcal_registry_count((pcal_registry)99), 0);
  assert_int_equal(pcal_registry_count((pcal_registry)0), 0);
  assert_null(pcal_registry_at((pcal_registry)99, 0));
  assert_null(pcal_registry_at((pcal_registry)0, 0));
  assert_null(pcal_registry_find(PCAL_METRICS, "birds"));
  assert_null(pcal_registry_find(PCAL_METRICS, NULL));
  assert_null(pcal_registry_find((pcal_registry)0, "ece"));
}

TEST(test_names_of_registries) {
  for (int r = PCAL_METRICS; r <= PCAL_STUDIES; r++)
    assert_int_equal(pcal_registry_by_name(pcal_registry_name((pcal_registry)r)), r);
  assert_string_equal(pcal_registry_name(PCAL_CONVENTIONS), "conventions");
  assert_null(pcal_registry_name((pcal_registry)0));
  assert_null(pcal_registry_name((pcal_registry)99));
  assert_int_equal(pcal_registry_by_name("birds"), 0);
  assert_int_equal(pcal_registry_by_name(NULL), 0);
}

TEST(test_nearest_name) {
  assert_string_equal(pcal_registry_nearest(PCAL_METRICS, "acuracy"), "accuracy");
  assert_string_equal(pcal_registry_nearest(PCAL_METRICS, "eec"), "ece");
  assert_string_equal(pcal_registry_nearest(PCAL_GROUPS, "defualt"), "default");
  assert_string_equal(pcal_registry_nearest(PCAL_CONVENTIONS, "nixn"), "nixon");
  assert_string_equal(pcal_registry_nearest(PCAL_FIGURES, "reliabilty"), "reliability");
  assert_null(pcal_registry_nearest(PCAL_METRICS, "photosynthesis"));
  assert_null(pcal_registry_nearest((pcal_registry)99, "ece"));
  assert_null(pcal_registry_nearest(PCAL_METRICS, NULL));
  assert_null(pcal_registry_nearest((pcal_registry)0, "ece"));
}

static void canonical_check(const char *spec, const char *expected) {
  char out[512];
  pcal_error err;
  if (pcal_spec_canonical(spec, out, sizeof out, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_string_equal(out, expected);
  char again[512];
  assert_int_equal(pcal_spec_canonical(out, again, sizeof again, &err), PCAL_OK);
  assert_string_equal(again, out);
}

TEST(test_canonical_specs) {
  canonical_check("accuracy", "accuracy");
  canonical_check("brier", "brier:half=no");
  canonical_check("log:clip=1e-3", "log:clip=0.001");
  canonical_check("ece:norm=l2,bins=010",
                  "ece:bins=10,binning=width,norm=l2,debias=no,edges=right,view=auto,"
                  "convention=none");
  canonical_check("ks", "ks:by=pooled");
  canonical_check("ks:class=3", "ks:class=3,by=pooled");
}

TEST(test_canonical_spec_is_refused) {
  char out[512];
  pcal_error err;
  assert_int_equal(pcal_spec_canonical("ece:bin=3", out, sizeof out, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "did you mean \"bins\"?"));
  assert_int_equal(pcal_spec_canonical("ece:bins=3,bins=4", out, sizeof out, &err), PCAL_USAGE);
  assert_int_equal(pcal_spec_canonical("default", out, sizeof out, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "is a group of metrics"));
  assert_int_equal(pcal_spec_canonical(NULL, out, sizeof out, &err), PCAL_USAGE);
  assert_int_equal(pcal_spec_canonical("ece", NULL, 3, &err), PCAL_USAGE);
  assert_int_equal(pcal_spec_canonical("ece", out, 0, NULL), PCAL_USAGE);
  strcpy(out, "untouched");
  assert_int_equal(pcal_spec_canonical("accuracy", out, 8, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "the canonical spec needs a buffer of 9 bytes");
  assert_string_equal(out, "untouched");
  assert_int_equal(pcal_spec_canonical("accuracy", out, 9, &err), PCAL_OK);
}
