/* Letters and widths of labels. */
#ifndef PC_LABEL_H
#define PC_LABEL_H

#include "core/text.h"

/* Reads one letter of UTF-8 and returns its bytes, at least 1; what is not UTF-8 reads as
 * U+FFFD byte by byte, and so does a character that is unsafe (core/escape.h).  text is not at
 * its end. */
size_t pc_letter_read(const char *text, uint32_t *letter);

/* Width of a line of text: that of DejaVu Sans, the widest of the fonts asked for. */
double pc_label_width(const char *text, double size);
/* Appends text, with its middle left out if it would be wider than width. */
void pc_label_fit(pc_text *out, const char *text, double size, double width);

#endif
