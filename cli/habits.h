/* Words that people type out of habit from other programs, and the ones that propercal knows. */
#ifndef CLI_HABITS_H
#define CLI_HABITS_H

#include "args.h"

/* The flag that a name of `length` bytes means: "y_true" is "labels", "log_probs" is "log-probs".
 * Written to out, without dashes; returns 0 if the name is no such habit. */
int cli_habit_flag(const char *name, size_t length, char out[32]);

/* The value that a word means, such as "md" for "markdown"; NULL if there is none. */
const char *cli_habit_value(const char *word);

/* The verb that a word means, such as "fit" for "calibrate"; NULL if there is none. */
const char *cli_habit_verb(const char *word);

/* True for the name of a metric, a calibrator or a figure. */
int cli_habit_is_entry(const char *word);

/* Writes what to type in place of a word that is no verb. */
void cli_habit_no_verb(const char *word, char *out, size_t size);

/* Writes what to type in place of an unknown flag, or "". */
void cli_habit_option(const char *name, size_t length, char *out, size_t size);

/* Writes what to type in place of a word without a flag, or "".  sections: those of the verb. */
void cli_habit_operand(const cli_section *const *sections, size_t section_count,
                       const char *word, char *out, size_t size);

#endif
