/* Words from outside in SVG and HTML. */
#ifndef PC_MARKUP_H
#define PC_MARKUP_H

#include "base/text.h"

/* Appends words that stay words: markup is escaped, also for attributes in double quotes, and
 * what is unsafe (base/escape.h) becomes U+FFFD.  NULL counts as empty. */
void pc_text_markup(pc_text *out, const char *words);
/* The same with line ends kept. */
void pc_text_markup_lines(pc_text *out, const char *words);

#endif
