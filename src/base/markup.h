/* Text from outside in SVG and HTML. */
#ifndef PC_MARKUP_H
#define PC_MARKUP_H

#include "base/text.h"

/* Appends `words` as plain text: markup is escaped, also for attributes in double quotes, and
 * unsafe characters become U+FFFD.  NULL counts as empty. */
void pc_text_markup(pc_text *out, const char *words);
/* The same, but line ends are kept. */
void pc_text_markup_lines(pc_text *out, const char *words);

#endif
