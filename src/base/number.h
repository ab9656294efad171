/* Numbers to text and back, exact and independent of the locale. */
#ifndef PC_NUMBER_H
#define PC_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define PC_NUMBER_MAX 32

/* Writes the shortest decimal form that reads back as the same double, or "inf", "-inf", "nan";
 * returns its length.  Style: Python's repr without a trailing ".0", so "0.1", "12", "-0";
 * positional from 1e-04 to below 1e+16, otherwise like "1e-07". */
size_t pc_number_format(double value, char out[PC_NUMBER_MAX]);

/* The same for a float. */
size_t pc_number_format_float(float value, char out[PC_NUMBER_MAX]);

/* Writes the value rounded to `digits` significant digits, 1 to 17, half to even on the exact
 * binary value.  Trailing zeros are kept: with 3 digits 0.0475, 12.0, 1.20e-09; 1234.5 becomes
 * 1230. */
size_t pc_number_round(double value, int digits, char out[PC_NUMBER_MAX]);

/* Writes the value with `decimals` digits after the point, 0 to 17, as "%.*f" does; fewer
 * decimals if the result would have more than 28 digits.  Uses pc_number_round(value, 6) if
 * |value| >= 1e15. */
size_t pc_number_fixed(double value, int decimals, char out[PC_NUMBER_MAX]);

/* Parses a decimal number at the start of [begin, end): optional sign, digits, point, exponent;
 * or "inf", "infinity", "nan" in any case.  Correctly rounded.  Returns the number of bytes
 * used, 0 if there is no number.  White space is not skipped. */
size_t pc_number_parse(const char *begin, const char *end, double *value);

/* Parses [begin, end) as a whole number in [low, high], sign optional.  Returns 0 and leaves
 * *value unchanged if it is not one. */
int pc_integer_parse(const char *begin, const char *end, int64_t low, int64_t high,
                     int64_t *value);

/* pc_number_format that returns the buffer, for messages: pc_show(x, (char[32]){0}). */
const char *pc_show(double value, char buffer[PC_NUMBER_MAX]);

#endif
