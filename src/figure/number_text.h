/* Numbers formatted for the texts of figures. */
#ifndef PC_NUMBER_TEXT_H
#define PC_NUMBER_TEXT_H

#define PC_NUMBER_TEXT_MAX 80

/* A count: digits in groups of three from 10 000 on, one decimal if not whole. */
void pc_count_text(double rows, char out[PC_NUMBER_TEXT_MAX]);
void pc_fixed_text(double value, int decimals, char out[PC_NUMBER_TEXT_MAX]);
/* Three significant digits: 0.0475, 12.0. */
void pc_short_text(double value, char out[PC_NUMBER_TEXT_MAX]);
/* "0.0434 to 0.0742" */
void pc_range_text(double low, double high, char out[PC_NUMBER_TEXT_MAX]);
/* "95% interval" */
void pc_level_text(double level, const char *what, char out[PC_NUMBER_TEXT_MAX]);

#endif
