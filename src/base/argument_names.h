/* Arguments and calls by the names that each interface (C, program, Python) gives them.
 *
 * Messages of the library contain {probs}; the code that prints a message replaces it by the
 * name in its interface: "probs" in C and Python, "--probs" in the program.
 * argument_names.def lists them all. */
#ifndef PC_ARGUMENT_NAMES_H
#define PC_ARGUMENT_NAMES_H

#include "base/text.h"

/* Parses the name in braces at *text, which begins with '{', and moves *text past its '}'.
 * Returns the index of the argument, or PC_NO_ARGUMENT (and leaves *text alone) if the name is
 * not in the list. */
#define PC_NO_ARGUMENT SIZE_MAX
size_t pc_argument_parse(const char **text);

/* The name of argument `index`.  In C it is also the value of pcal_error.argument. */
const char *pc_argument_name(size_t index, pcal_interface interface);

/* Appends a library text, with {id} replaced by the names of an interface. */
void pc_text_add_named(pc_text *out, const char *text, pcal_interface interface);

/* Appends the message of an error with the names of an interface. */
void pc_text_add_error(pc_text *out, const pcal_error *err, pcal_interface interface);

#endif
