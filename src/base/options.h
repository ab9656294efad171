/* Spec strings: "name" or "name:key=value,key=value", lists inside a value with '/'.
 * Parsed against a row's option table; nothing is allocated. */
#ifndef PC_OPTIONS_H
#define PC_OPTIONS_H

#include "base/error.h"

#define PC_OPTIONS_MAX 12
#define PC_LIST_MAX 16
#define PC_SPEC_MAX 512

typedef struct pc_option_value {
  int given;     /* written in the spec, not a default */
  int set;       /* has a value: an option with fallback "" may have none */
  double number; /* int, real; bool as 0 or 1 */
  int choice;    /* index of the word in choices, -1 if the value is a number */
  size_t list_count;
  double list[PC_LIST_MAX];
} pc_option_value;

/* A parsed spec.  value[i] belongs to table[i]. */
typedef struct pc_options {
  const char *name; /* of the row */
  const pcal_option *table;
  size_t count;
  pc_option_value value[PC_OPTIONS_MAX];
} pc_options;

/* Copies the name before the colon; fails when it is empty or too long. */
PC_CHECKED pcal_status pc_spec_name(const char *spec, char *out, size_t size, pcal_error *err);

/* Parses what follows the name; name and table must outlive out. */
PC_CHECKED pcal_status pc_options_parse(const char *spec, const char *name,
                                        const pcal_option *table, size_t count, pc_options *out,
                                        pcal_error *err);

/* Chooses the word for a choice option, as if it had been the default. */
void pc_options_choose(pc_options *options, size_t index, const char *word);

/* Name of the word chosen for option index, in a caller's buffer. */
const char *pc_options_word(const pc_options *options, size_t index, char *out, size_t size);

/* Writes the spec: with every option that has a value (full), or only with those that were
 * given and differ from the defaults.  Two specs that mean the same give the same full text. */
void pc_options_write(const pc_options *options, int full, char *out, size_t size);

int pc_options_equal(const pc_options *a, const pc_options *b);

#endif
