/* A growing string, and helpers for strings.
 *
 * Appending reports no failure: when memory runs out the text is `failed`, further appending
 * does nothing, and pc_text_status fails. */
#ifndef PC_TEXT_H
#define PC_TEXT_H

#include "base/memory.h"

typedef struct pc_text {
  const pcal_env *env;
  char *bytes; /* NULL until something is appended, then ends with a NUL */
  size_t length, capacity;
  int failed;
} pc_text;

void pc_text_init(pc_text *text, const pcal_env *env);
void pc_text_free(pc_text *text);
void pc_text_add(pc_text *text, const char *string);
void pc_text_add_bytes(pc_text *text, const char *bytes, size_t count);
void pc_text_add_repeated(pc_text *text, char c, size_t count);
void pc_text_format(pc_text *text, const char *format, ...) PC_PRINTF(2, 3); /* no %g, %f, %e */
void pc_text_number(pc_text *text, double value); /* shortest form that reads back */
PC_CHECKED pcal_status pc_text_status(const pc_text *text, pcal_error *err);
/* Writes the text to a sink; PCAL_IO if the sink refuses it. */
PC_CHECKED pcal_status pc_text_send(const pc_text *text, pcal_sink sink, void *user,
                                    pcal_error *err);

/* Appends bytes to the string of `used` bytes in the `size` bytes at `out`; the end that does
 * not fit is cut off.  Returns used + count, also if it was. */
size_t pc_append_bytes(char *out, size_t size, size_t used, const char *bytes, size_t count);
size_t pc_append(char *out, size_t size, size_t used, const char *string);

/* Width on a terminal, taken as the number of UTF-8 code points. */
size_t pc_text_width(const char *string);

/* The candidate with the smallest edit distance from `word`, or NULL if none is close enough to
 * be a typing error.  next(user, i) returns candidate i, or NULL after the last. */
const char *pc_nearest_word(const char *word, const char *(*next)(void *user, size_t i),
                            void *user);

#endif
