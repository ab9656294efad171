/* Widths of drawn text. */
#ifndef PC_TEXT_EXTENT_H
#define PC_TEXT_EXTENT_H

#include "base/text.h"

/* Width of a line of text at a letter height of `size`, in figure units: that of DejaVu Sans,
 * the widest of the fonts in the font list of svg.c. */
double pc_text_extent(const char *text, double size);
/* Appends text; if it is wider than `width`, an ellipsis replaces its middle. */
void pc_text_shorten(pc_text *out, const char *text, double size, double width);

#endif
