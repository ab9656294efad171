/* 1. Flags are compared with '-' for '_'.
 * 2. A file without a flag: for a table the message suggests --data, which finds columns by
 *    name; for an .npy file, which has no column names, it asks what the file holds: --probs
 *    or --logits. */
#include "habits.h"

#include <stdio.h>
#include <string.h>

#include "session.h"

typedef struct habit_pair {
  const char *word, *known;
} habit_pair;

static const habit_pair habit_flags[] = {
    {"y-true", "labels"},
    {"y-prob", "probs"},
    {"y-proba", "probs"},
    {"y-score", "probs"},
    {"y-pred", "probs"},
    {"prob", "probs"},
    {"probabilities", "probs"},
    {"logit", "logits"},
    {"label", "labels"},
    {"sample-weight", "weights"},
    {"weight", "weights"},
    {"sample-weights", "weights"},
    {"pos-label", "positive"},
    {"metrics", "metric"},
    {"methods", "method"},
    {"targets", "target"},
    {"sd", "std"},
    {"sigma", "std"},
    {"group", "groups"},
    {"clusters", "cluster"},
    {"out", "output"},
    {"class-names", "classes"},
    {"confidences", "confidence"},
    {"input", "data"},
    {"file", "data"},
    {"csv-file", "data"},
    {"group-by", "groups"},
    {"save", "output"},
    {"jobs", "threads"},
    {"n-jobs", "threads"},
    {"bootstrap", "replicas"},
    {"n-bootstrap", "replicas"},
    {"random-state", "seed"},
};

static const habit_pair habit_values[] = {
    {"markdown", "md"}, {"tex", "latex"}, {"txt", "text"}, {"prometheus", "openmetrics"},
    {"htm", "html"},    {"true", "yes"},  {"false", "no"},
};

static const habit_pair habit_verbs[] = {
    {"evaluate", "measure"},  {"score", "measure"},   {"metrics", "measure"},
    {"check", "measure"},     {"calibrate", "fit"},   {"train", "fit"},
    {"predict", "apply"},     {"transform", "apply"}, {"draw", "plot"},
    {"figure", "plot"},       {"diagram", "plot"},    {"monitor", "watch"},
    {"benchmark", "compare"}, {"convert", "export"},  {"describe", "inspect"},
};

/* Flags that do not exist, and what to write instead. */
static const habit_pair habit_advice[] = {
    {"bins", "it is an option of a metric, as in --metric ece:bins=20"},
    {"n-bins", "it is an option of a metric, as in --metric ece:bins=20"},
    {"num-bins", "it is an option of a metric, as in --metric ece:bins=20"},
    {"norm", "it is an option of a metric, as in --metric ece:norm=l2"},
    {"binning", "it is an option of a metric, as in --metric ece:binning=mass"},
    {"column", "write columns after the file, as in --probs scores.csv:COLUMN"},
    {"columns", "write columns after the file, as in --probs scores.csv:COLUMN"},
    {"ci", "intervals are --interval 0.95"},
    {"confidence-level", "intervals are --interval 0.95"},
    {"alpha", "intervals are --interval 0.95"},
    {"interval",
     "it belongs to measure and compare; parts measured with it are merged with it"},
    {"null", "it belongs to measure; parts measured with it are merged with it"},
    {"size", "give --width and --height in pixels"},
    {"figsize", "give --width and --height in pixels"},
    {"csv", "give --format csv, or --tables PREFIX for a file for each table"},
    {"latex", "give --format latex"},
    {"markdown", "give --format md"},
    {"format", "the ending of -o says the format, as in -o figure.pdf"},
    {"i", "the table is --data FILE"},
};

static const char *habit_find(const habit_pair *pairs, size_t count, const char *word) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(pairs[i].word, word) == 0)
      return pairs[i].known;
  return NULL;
}

/* Copies a name with '-' for '_'; returns 0 if it is too long. */
static int habit_copy(const char *name, size_t length, char out[32]) {
  if (length >= 32)
    return 0;
  for (size_t i = 0; i < length; i++)
    out[i] = name[i] == '_' ? '-' : name[i];
  out[length] = '\0';
  return 1;
}

int cli_habit_flag(const char *name, size_t length, char out[32]) {
  if (!habit_copy(name, length, out))
    return 0;
  const char *known = habit_find(habit_flags, CLI_COUNT_OF(habit_flags), out);
  if (known != NULL)
    snprintf(out, 32, "%s", known);
  return known != NULL || strncmp(name, out, length) != 0;
}

const char *cli_habit_value(const char *word) {
  return habit_find(habit_values, CLI_COUNT_OF(habit_values), word);
}

const char *cli_habit_verb(const char *word) {
  return habit_find(habit_verbs, CLI_COUNT_OF(habit_verbs), word);
}

int cli_habit_is_entry(const char *word) {
  return pcal_registry_find(PCAL_METRICS, word) != NULL ||
         pcal_registry_find(PCAL_CALIBRATORS, word) != NULL ||
         pcal_registry_find(PCAL_FIGURES, word) != NULL;
}

void cli_habit_no_verb(const char *word, char *out, size_t size) {
  const char *dot = strrchr(word, '.');
  if (pcal_registry_find(PCAL_METRICS, word) != NULL)
    snprintf(out, size, "it is a metric: propercal measure --metric %.80s --data FILE", word);
  else if (pcal_registry_find(PCAL_CALIBRATORS, word) != NULL)
    snprintf(out, size, "it is a calibrator: propercal fit --method %.80s --data FILE", word);
  else if (pcal_registry_find(PCAL_FIGURES, word) != NULL)
    snprintf(out, size, "it is a figure: propercal plot %.80s --data FILE -o figure.svg", word);
  else if (dot != NULL && strcmp(dot, ".npy") != 0)
    snprintf(out, size, "to measure a file type propercal measure --data %.80s", word);
  else
    snprintf(out, size, "`propercal --help` shows them all");
}

void cli_habit_option(const char *name, size_t length, char *out, size_t size) {
  char copy[32];
  out[0] = '\0';
  if (!habit_copy(name, length, copy))
    return;
  const char *advice = habit_find(habit_advice, CLI_COUNT_OF(habit_advice), copy);
  if (advice != NULL)
    snprintf(out, size, "; %s", advice);
}

static int habit_has_flag(const cli_section *const *sections, size_t section_count,
                          const char *name) {
  return cli_flag_find(sections, section_count, name, strlen(name)) != NULL;
}

void cli_habit_operand(const cli_section *const *sections, size_t section_count,
                       const char *word, char *out, size_t size) {
  const char *extension = strrchr(word, '.');
  out[0] = '\0';
  if (extension == NULL) {
    static const struct {
      pcal_registry registry;
      const char *flag;
    } kinds[] = {{PCAL_CALIBRATORS, "method"}, {PCAL_METRICS, "metric"}};
    for (int near = 0; near < 2 && *out == '\0'; near++)
      for (size_t i = 0; i < CLI_COUNT_OF(kinds) && *out == '\0'; i++) {
        const char *known = near ? pcal_registry_nearest(kinds[i].registry, word)
                            : pcal_registry_find(kinds[i].registry, word) != NULL ? word
                                                                                  : NULL;
        if (known != NULL && habit_has_flag(sections, section_count, kinds[i].flag))
          snprintf(out, size, near ? "; did you mean --%s %s?" : "; give --%s %s",
                   kinds[i].flag, known);
      }
    return;
  }
  if (!habit_has_flag(sections, section_count, "data") || strcmp(extension, ".json") == 0)
    return;
  if (strcmp(extension, ".npy") == 0)
    snprintf(out, size, "; say what the file holds, as in --probs %s or --logits %s", word,
             word);
  else
    snprintf(out, size, "; give --data %s", word);
}
