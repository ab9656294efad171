/* Spec strings: "name" or "name:key=value,key=value"; items of a list are separated by '/'.
 * Specs are parsed against the option table of a registry row.  Nothing is allocated. */
#ifndef PC_OPTIONS_H
#define PC_OPTIONS_H

#include "base/error.h"

#define PC_OPTIONS_MAX 12
#define PC_LIST_MAX 16
#define PC_SPEC_MAX 512

typedef struct pc_option_value {
  int given;     /* written in the spec, not the default */
  int set;       /* has a value; 0 for an option that is not given and has the default "" */
  double number; /* of an int or real; a bool is 0 or 1 */
  int choice;    /* index of the word among the choices; -1 for a number */
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

/* Copies the name before the colon to out; fails if it is empty or too long. */
PC_CHECKED pcal_status pc_spec_name(const char *spec, char *out, size_t size, pcal_error *err);

/* Parses the options after the name; name and table must outlive out. */
PC_CHECKED pcal_status pc_options_parse(const char *spec, const char *name,
                                        const pcal_option *table, size_t count, pc_options *out,
                                        pcal_error *err);

/* Fails if the list of an option has a number twice. */
PC_CHECKED pcal_status pc_options_distinct(const pc_options *options, size_t index,
                                           pcal_error *err);

/* Sets a choice option to a word, as if it were the default. */
void pc_options_choose(pc_options *options, size_t index, const char *word);

/* Copies the word chosen for an option to out; returns out. */
const char *pc_options_word(const pc_options *options, size_t index, char *out, size_t size);

/* Writes the spec: with all options that have a value (full), or with those that differ from
 * the defaults.  Specs with equal meaning have the same full text. */
void pc_options_write(const pc_options *options, int full, char *out, size_t size);

int pc_options_equal(const pc_options *a, const pc_options *b);

#endif
