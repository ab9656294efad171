/* The command line: tables of flags and one parser for all of them. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "propercal.h"

/* Type of the cli_options field that a flag sets: int, const char *, cli_words, uint64_t,
 * double. */
typedef enum cli_kind {
  CLI_FLAG,
  CLI_TEXT,
  CLI_REPEAT,
  CLI_COUNT,
  CLI_POSITIVE, /* a count of at least 1; the field is 0 if the flag is not given */
  CLI_REAL
} cli_kind;

/* Values of a flag or operand, for completion. */
typedef enum cli_domain {
  CLI_ANY,
  CLI_FILE,
  CLI_INPUT,   /* a file or a pattern of files; the flag may be given again for more files */
  CLI_METRICS, /* names of metrics and groups */
  CLI_METHODS, /* names of calibrators */
  CLI_KINDS,   /* a kind of registry rows, then a name of that kind */
  CLI_FIGURES
} cli_domain;

typedef struct cli_flag {
  const char *name; /* without dashes */
  char letter;      /* or 0 */
  cli_kind kind;
  const char *value; /* placeholder of the value in help, or NULL */
  size_t offset;     /* of its field in cli_options */
  const char *help;
  const char *choices; /* allowed values separated by '|', or NULL for any */
  cli_domain domain;
} cli_flag;

typedef struct cli_section {
  const char *title;
  const cli_flag *flags;
  size_t count;
  const char *note; /* a paragraph after the flags, or NULL */
} cli_section;

typedef struct cli_words {
  const char **word;
  size_t count;
} cli_words;

/* A flag of CLI_INPUT given again: `first` is the value of its field, compared as a pointer. */
typedef struct cli_repeat {
  const char *first, *word;
} cli_repeat;

typedef struct cli_repeats {
  cli_repeat *item;
  size_t count;
} cli_repeats;

#define CLI_NO_FIRST_ROW UINT64_MAX /* --first-row is not given */
#define CLI_NO_ALPHA (-1.0)
#define CLI_NO_INTERVAL (-1e9)

/* Inputs as the command line names them, by the fields of pcal_inputs. */
typedef struct cli_inputs {
  const char *probs, *logits, *log_probs, *confidence;
  const char *mean, *variance, *std, *quantiles, *samples;
  const char *data;
  const char *labels, *correct, *target;
  const char *weights, *groups, *ids, *time, *abstain;
  const char *every;       /* "week", or NULL */
  const char *weights_are; /* "frequency" or "importance", or NULL */
  const char *levels;      /* "0.05,0.5,0.95" or "0.05/0.5/0.95", or NULL */
  uint64_t first_row;
} cli_inputs;

/* Values of all flags; each verb reads those of its own. */
typedef struct cli_options {
  cli_inputs inputs;
  const char *header, *input_format, *positive, *class_names;
  const char *score_scale; /* "percent", or NULL */
  const char *event;       /* "> 20", or NULL */
  int ragged;
  const char *prevalence; /* "0.1" or "0.2,0.3,0.5", or NULL */
  cli_repeats more_inputs;
  cli_words metrics, gates, operands;
  cli_words methods, models, cases; /* --method, --model, --case */
  const char *by;
  const char *to, *name; /* of export */
  uint64_t folds;
  double budget; /* seconds; 0: no limit */
  const char *method;
  int normalize, skip_missing;
  const char *precision;
  const char *device; /* "cpu" or "cuda", or NULL */
  double interval;    /* CLI_NO_INTERVAL: not given */
  uint64_t replicas;
  const char *interval_method, *cluster;
  int injective;
  cli_inputs against, val;
  int null;
  const char *output;
  const char *state;
  const char *tables;      /* prefix of CSV files, or NULL */
  const char *gate_report; /* or NULL */
  const char *baseline;    /* JSON output of an earlier run, or NULL */
  int annotate;
  double alpha; /* of watch; CLI_NO_ALPHA: not given */
  int allow_repeat;
  uint64_t parts, part; /* of rounds; 0: not given */
  const char *kind;
  const char *format;
  int json;
  int curves;
  int truth;
  uint64_t rows, classes;
  uint64_t sets, null_sets, set_classes; /* of study; 0: not given */
  const char *set_rows, *set_factors, *features;
  uint64_t repeats;
  double width, power, difference; /* of plan */
  const char *calibrator, *theme, *title, *preset;
  uint64_t figure_width, figure_height, dpi; /* 0: not given */
  int transparent;
  double figure_interval;
  int plot;
  double factor, scale;
  uint64_t threads, seed;
  const char *memory_limit;
  double timeout; /* seconds; 0: none */
  int quiet, no_progress;
  int help, version;
  const char *generate;
} cli_options;

/* Copies text escaped for a terminal, cut to `size` bytes. */
void cli_escape_terminal(const char *text, char *out, size_t size);

/* The level of intervals; 0 if none is given. */
double cli_level(const cli_options *options);

/* Fills err, which may be NULL, and returns status.  The message is escaped for a terminal. */
pcal_status cli_fail(pcal_error *err, pcal_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

void cli_options_init(cli_options *options);
void cli_options_free(cli_options *options);

/* Parses argv by the flags of the sections.  Words that are not flags become operands.  The
 * options point into argv. */
pcal_status cli_parse(const cli_section *const *sections, size_t section_count, int argc,
                      const char *const *argv, cli_options *options, pcal_error *err);

const cli_flag *cli_flag_find(const cli_section *const *sections, size_t section_count,
                              const char *name, size_t length);

/* Parse a whole text as a number; return 1 on success.  Reals are decimal and finite. */
int cli_read_count(const char *text, uint64_t *value);
int cli_read_real(const char *text, double *value);

/* Search for the candidate nearest to a mistyped word. */
typedef struct cli_nearest {
  const char *wrong;
  size_t wrong_length;
  const char *best; /* best_length bytes; NULL if no candidate is near */
  size_t best_length;
  size_t distance;
} cli_nearest;

void cli_nearest_start(cli_nearest *nearest, const char *wrong, size_t length);
void cli_nearest_try(cli_nearest *nearest, const char *word, size_t length);
/* Tries each word of a list separated by '|'. */
void cli_nearest_try_choices(cli_nearest *nearest, const char *choices);

/* Sets *word to the next word of a list separated by '|' and returns its length, 0 at the end.
 */
size_t cli_choice_next(const char **cursor, const char **word);

#endif
