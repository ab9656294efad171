#include "figure/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "base/number.h"

void pc_count_text(double rows, char out[PC_NUMBER_TEXT_MAX]) {
  char digits[PC_NUMBER_MAX];
  const size_t length = pc_number_fixed(rows, rows == floor(rows) ? 0 : 1, digits);
  const char *point = memchr(digits, '.', length);
  const size_t whole = point != NULL ? (size_t)(point - digits) : length;
  const int grouped = rows >= 10000 && rows < 1e15;
  size_t used = 0;
  for (size_t i = 0; i < length; i++) {
    if (grouped && i > 0 && i < whole && (whole - i) % 3 == 0) {
      memcpy(out + used, "\xE2\x80\x89", 3);
      used += 3;
    }
    out[used++] = digits[i];
  }
  out[used] = '\0';
}

void pc_fixed_text(double value, int decimals, char out[PC_NUMBER_TEXT_MAX]) {
  out[pc_number_fixed(value, decimals, out)] = '\0';
}

void pc_short_text(double value, char out[PC_NUMBER_TEXT_MAX]) {
  out[pc_number_round(value, 3, out)] = '\0';
}

/* As many decimals as give the larger end three digits. */
void pc_range_text(double low, double high, char out[PC_NUMBER_TEXT_MAX]) {
  char first[PC_NUMBER_TEXT_MAX], last[PC_NUMBER_TEXT_MAX];
  const double larger = fmax(fabs(low), fabs(high));
  int decimals = 2;
  while (decimals < 8 && larger > 0 && larger * pc_pow(10, decimals) < 100)
    decimals++;
  pc_fixed_text(low, decimals, first);
  pc_fixed_text(high, decimals, last);
  snprintf(out, PC_NUMBER_TEXT_MAX, "%.31s to %.31s", first, last);
}

void pc_level_text(double level, const char *what, char out[PC_NUMBER_TEXT_MAX]) {
  char digits[PC_NUMBER_MAX];
  digits[pc_number_format(floor(level * 1e5 + 0.5) / 1e3, digits)] = '\0';
  snprintf(out, PC_NUMBER_TEXT_MAX, "%.20s%% %.40s", digits, what);
}
