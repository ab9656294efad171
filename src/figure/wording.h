/* Numbers as people read them in figures. */
#ifndef PC_WORDING_H
#define PC_WORDING_H

#define PC_WORDING_MAX 80

/* A number of rows: digits in groups of three from 10 000 on, one decimal if not whole. */
void pc_say_count(double rows, char out[PC_WORDING_MAX]);
void pc_say_fixed(double value, int decimals, char out[PC_WORDING_MAX]);
/* Three significant digits: 0.0475, 12.0. */
void pc_say_short(double value, char out[PC_WORDING_MAX]);
/* "0.0434 to 0.0742" */
void pc_say_range(double low, double high, char out[PC_WORDING_MAX]);
/* "95% interval" */
void pc_say_level(double level, const char *what, char out[PC_WORDING_MAX]);

#endif
