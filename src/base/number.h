/* Numbers to text and back, exactly and whatever the locale. */
#ifndef PC_NUMBER_H
#define PC_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define PC_NUMBER_MAX 32

/* Writes the shortest decimal form that reads back as the same double ("0.1",
 * "1e-07", "12", "-0.0" is written "-0"), or "inf", "-inf", "nan"; returns its length.
 * Style: as Python's repr without a trailing ".0": positional from 1e-04 up to below 1e+16. */
size_t pc_number_format(double value, char out[PC_NUMBER_MAX]);

/* The same, for the shortest form that reads back as the same float. */
size_t pc_number_format_float(float value, char out[PC_NUMBER_MAX]);

/* Writes the value rounded (half to even on the exact binary value) to `digits`
 * significant digits, 1..17, trailing zeros kept: 0.0475 (3), 12.0 (3), 1.20e-09 (3).  Large
 * values are filled up with zeros in positional style: 1234.5 (3) is 1230. */
size_t pc_number_round(double value, int digits, char out[PC_NUMBER_MAX]);

/* Writes the value with `decimals` digits after the point, 0..17, as "%.*f" would; fewer
 * when the digits on both sides of the point would be more than 28.  Falls back to
 * pc_number_round(value, 6) when |value| >= 1e15. */
size_t pc_number_fixed(double value, int decimals, char out[PC_NUMBER_MAX]);

/* Reads one decimal number from [begin, end): optional sign, digits, point, exponent;
 * also "inf", "infinity", "nan" in any case.  Correctly rounded.  Returns the number of
 * bytes used, 0 if no number starts at begin.  No white space is skipped. */
size_t pc_number_parse(const char *begin, const char *end, double *value);

/* Reads a whole number in [low, high], sign optional, that fills [begin, end) entirely;
 * returns 1 if it did, else leaves *value alone. */
int pc_integer_parse(const char *begin, const char *end, int64_t low, int64_t high,
                     int64_t *value);

/* pc_number_format into a buffer for use inside a sentence: pc_show(x, (char[32]){0}). */
const char *pc_show(double value, char buffer[PC_NUMBER_MAX]);

#endif
