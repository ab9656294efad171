#include "testing.h"

#include "calibrator_specs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrators/calibrator.h"

#define SPECS_MAX 256
/* Of the values of a row's options, at most; memory errors show with each value alone. */
#if defined(__SANITIZE_ADDRESS__)
#define SPECS_COMBINATIONS 2
#else
#define SPECS_COMBINATIONS 24
#endif

static char specs[SPECS_MAX][PC_SPEC_MAX];
static size_t spec_count;

/* A convention may fix other options; then only their fixed values are allowed with it. */
static int specs_contradict(const char *options) {
  return strstr(options, "convention=zhang") != NULL &&
         (strstr(options, "fit=joint") != NULL || strstr(options, "objective=log") != NULL);
}

static void specs_add(const char *name, const char *options) {
  if (specs_contradict(options))
    return;
  assert_true(spec_count < SPECS_MAX);
  snprintf(specs[spec_count++], PC_SPEC_MAX, "%.60s%s%.400s", name,
           options[0] == '\0' ? "" : ":", options);
}

/* Lists of numbers depend on the number of classes: their default alone is tested here. */
static int specs_is_varied(const pcal_option *option) {
  return option->type != PCAL_OPTION_REALS;
}

/* The tested values of an option, separated by '|'. */
static void specs_words(const pcal_option *option, char *out, size_t size) {
  static const int numbers[] = {1, 7, 15};
  if (option->type != PCAL_OPTION_INT) {
    const char *words = option->type == PCAL_OPTION_BOOL   ? "no|yes"
                        : option->type == PCAL_OPTION_REAL ? "0.01"
                                                           : option->choices;
    assert_non_null(words);
    snprintf(out, size, "%s", words);
    return;
  }
  snprintf(out, size, "%s", option->fallback);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i] >= option->low && numbers[i] <= option->high &&
        strtol(option->fallback, NULL, 10) != numbers[i])
      snprintf(out + strlen(out), size - strlen(out), "|%d", numbers[i]);
}

/* All combinations of the values of the options from number `at` on. */
static void specs_combine(const pcal_registry_row *row, size_t at, const char *before) {
  if (at == row->option_count) {
    specs_add(row->name, before);
    return;
  }
  char list[PC_SPEC_MAX];
  if (!specs_is_varied(&row->options[at])) {
    specs_combine(row, at + 1, before);
    return;
  }
  specs_words(&row->options[at], list, sizeof list);
  for (const char *words = list; *words != '\0';) {
    char text[PC_SPEC_MAX];
    const size_t length = strcspn(words, "|");
    snprintf(text, sizeof text, "%.300s%s%s=%.*s", before, before[0] == '\0' ? "" : ",",
             row->options[at].name, (int)length, words);
    specs_combine(row, at + 1, text);
    words += length + (words[length] == '|');
  }
}

/* The defaults, and each other value alone. */
static void specs_vary(const pcal_registry_row *row) {
  specs_add(row->name, "");
  for (size_t i = 0; i < row->option_count; i++) {
    char list[PC_SPEC_MAX], text[PC_SPEC_MAX];
    if (!specs_is_varied(&row->options[i]))
      continue;
    specs_words(&row->options[i], list, sizeof list);
    for (const char *words = list; *words != '\0';) {
      const size_t length = strcspn(words, "|");
      snprintf(text, sizeof text, "%s=%.*s", row->options[i].name, (int)length, words);
      if (length != strlen(row->options[i].fallback) ||
          strncmp(words, row->options[i].fallback, length) != 0)
        specs_add(row->name, text);
      words += length + (words[length] == '|');
    }
  }
}

static void specs_of_row(const pcal_registry_row *row) {
  size_t combinations = 1;
  for (size_t i = 0; i < row->option_count; i++) {
    char list[PC_SPEC_MAX];
    size_t words = 1;
    if (!specs_is_varied(&row->options[i]))
      continue;
    specs_words(&row->options[i], list, sizeof list);
    for (const char *c = list; *c != '\0'; c++)
      words += *c == '|';
    combinations *= words;
  }
  if (combinations <= SPECS_COMBINATIONS)
    specs_combine(row, 0, "");
  else
    specs_vary(row);
}

/* Combinations of options that share code. */
static const char *const specs_together[][2] = {
    {"histogram", "bins=7,binning=mass,classwise=no"},
    {"histogram", "bins=3,binning=mass,bootstrap=7"},
    {"histogram", "binning=mass,classwise=no,bootstrap=3"},
    {"spline", "target=all,convention=gupta"},
    {"spline", "target=all,constrained=yes,knots=7"},
    {"spline", "target=within,rank=2,convention=gupta"},
    {"spline", "target=within,rank=3,fit=cumulative,constrained=yes"},
    {"spline", "target=class,class=1,convention=gupta,fit=cumulative"},
    {"spline", "rank=2,runout=cubic,knots=3"},
    {"matrix-odir", "lambda=auto"},
    {"dirichlet-odir", "ensemble=folds"},
};

static void specs_make(void) {
  for (size_t i = 0; i < pc_calibrator_method_count();
       i++) /* of classes, as the sets of these laws */
    if (pc_calibrator_method_at(i)->row.task == PCAL_CLASSIFICATION)
      specs_of_row(&pc_calibrator_method_at(i)->row);
  for (size_t i = 0; i < sizeof specs_together / sizeof *specs_together; i++)
    specs_add(specs_together[i][0], specs_together[i][1]);
}

size_t calibrator_spec_count(void) {
  if (spec_count == 0)
    specs_make();
  return spec_count;
}

const char *calibrator_spec_at(size_t index) {
  return specs[index];
}
