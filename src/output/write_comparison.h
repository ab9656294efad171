/* A comparison of methods or models as text, JSON, CSV and Markdown. */
#ifndef PC_WRITE_COMPARISON_H
#define PC_WRITE_COMPARISON_H

#include "compare/comparison.h"

/* Which contestant to choose and why, in a few sentences. */
void pc_write_comparison_advice(const pcal_comparison *comparison, pc_text *out);

/* The table of contestants and, except as CSV, the advice. */
PC_CHECKED pcal_status pc_write_comparison(const pcal_comparison *comparison,
                                           pcal_format format, pc_text *out, pcal_error *err);

#endif
