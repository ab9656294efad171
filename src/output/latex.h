/* Cells of LaTeX tables: numbers with a fixed number of decimals, units, bold, comments. */
#ifndef PC_LATEX_H
#define PC_LATEX_H

#include "base/text.h"

/* A comment of one or more lines, each with "% " before it; a line end in words begins a new
 * one. */
void pc_latex_comment(const char *words, pc_text *out);
/* The first lines of an output: version, and the packages that the tables need. */
void pc_latex_preamble(pc_text *out);

/* "\begin{tabular}{...}" with a column for each letter of `alignment`, and the rule above. */
void pc_latex_begin(const char *alignment, pc_text *out);
void pc_latex_end(pc_text *out);

/* Values of this unit as tables show them: shares in percent, others unchanged. */
double pc_latex_scale(pcal_unit unit);
/* " (\%)", " (nats)", " (target)" ...; "" for pure numbers. */
const char *pc_latex_unit(pcal_unit unit);

/* Decimals that give the finite values four significant digits at the largest of them; 0 if
 * all are whole. */
int pc_latex_decimals(const double *values, size_t count);

/* A number in math mode where it needs it: $-0.012$, $\infty$; "--" for NaN. */
void pc_latex_number(double value, int decimals, int bold, pc_text *out);
/* "[0.031, 0.047]". */
void pc_latex_interval(double low, double high, int decimals, pc_text *out);

/* Sets bold[i] = 1 for the best finite values, as far as `decimals` shows them; none is bold if
 * all are equal or better is PCAL_BETTER_NONE. */
void pc_latex_best(const double *values, size_t count, pcal_better better, int decimals,
                   uint8_t *bold);

#endif
