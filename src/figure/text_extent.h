/* Widths of texts. */
#ifndef PC_TEXT_EXTENT_H
#define PC_TEXT_EXTENT_H

#include "base/text.h"

/* Width of a line of text: that of DejaVu Sans, the widest of the fonts asked for. */
double pc_text_extent(const char *text, double size);
/* Appends text, with its middle left out if it would be wider than width. */
void pc_text_shorten(pc_text *out, const char *text, double size, double width);

#endif
