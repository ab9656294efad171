#include "output/latex.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/number.h"

#define LATEX_DIGITS 4

void pc_latex_comment(const char *words, pc_text *out) {
  pc_text line;
  pc_text_init(&line, out->env);
  while (words != NULL && *words != '\0' && !line.failed) {
    const size_t length = strcspn(words, "\n");
    line.length = 0;
    pc_text_add_bytes(&line, words, length);
    pc_text_add(out, "% ");
    pc_text_terminal(out, line.failed ? "" : line.bytes);
    pc_text_add(out, "\n");
    words += length + (words[length] == '\n');
  }
  out->failed |= line.failed;
  pc_text_free(&line);
}

void pc_latex_preamble(pc_text *out) {
  pc_text_add(out, "% propercal " PCAL_VERSION "; needs \\usepackage{booktabs}\n");
}

void pc_latex_begin(const char *alignment, pc_text *out) {
  pc_text_format(out, "\\begin{tabular}{%s}\n\\toprule\n", alignment);
}

void pc_latex_end(pc_text *out) {
  pc_text_add(out, "\\bottomrule\n\\end{tabular}\n");
}

double pc_latex_scale(pcal_unit unit) {
  return unit == PCAL_UNIT_SHARE ? 100.0 : 1.0;
}

const char *pc_latex_unit(pcal_unit unit) {
  static const char *const units[] = {"", " (\\%)", " (nats)", " (unit of target)",
                                      " (unit of target$^2$)"};
  return unit >= 0 && unit <= PCAL_UNIT_TARGET_SQUARED ? units[unit] : "";
}

int pc_latex_decimals(const double *values, size_t count) {
  double largest = 0.0;
  int whole = 1;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i]))
      continue;
    whole &= values[i] == floor(values[i]);
    largest = fmax(largest, fabs(values[i]));
  }
  if (whole)
    return 0;
  int decimals = LATEX_DIGITS - 1;
  for (; largest >= 10.0 && decimals > 0; largest /= 10.0)
    decimals--;
  for (; largest > 0.0 && largest < 1.0 && decimals < 12; largest *= 10.0)
    decimals++;
  return decimals;
}

void pc_latex_number(double value, int decimals, int bold, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  if (isnan(value)) {
    pc_text_add(out, "--");
    return;
  }
  pc_text_add(out, bold ? "\\textbf{" : "");
  if (isinf(value)) {
    pc_text_add(out, value > 0 ? "$\\infty$" : "$-\\infty$");
  } else {
    pc_number_fixed(value, decimals, digits);
    const int minus = digits[0] == '-' && strpbrk(digits, "123456789") != NULL;
    pc_text_format(out, "%s%s", minus ? "$-$" : "", digits + (digits[0] == '-'));
  }
  pc_text_add(out, bold ? "}" : "");
}

void pc_latex_interval(double low, double high, int decimals, pc_text *out) {
  pc_text_add(out, "[");
  pc_latex_number(low, decimals, 0, out);
  pc_text_add(out, ", ");
  pc_latex_number(high, decimals, 0, out);
  pc_text_add(out, "]");
}

void pc_latex_best(const double *values, size_t count, pcal_better better, int decimals,
                   uint8_t *bold) {
  char best[PC_NUMBER_MAX] = "", shown[PC_NUMBER_MAX];
  const double sign = better == PCAL_BETTER_HIGHER ? -1.0 : 1.0;
  double least = (double)INFINITY;
  size_t marked = 0, known = 0;
  memset(bold, 0, count);
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i]))
      least = fmin(least, sign * values[i]);
  if (better == PCAL_BETTER_NONE || isinf(least))
    return;
  pc_number_fixed(sign * least, decimals, best);
  for (size_t i = 0; i < count; i++) {
    known += !isnan(values[i]);
    if (!isfinite(values[i]))
      continue;
    pc_number_fixed(values[i], decimals, shown);
    bold[i] = strcmp(shown, best) == 0;
    marked += bold[i];
  }
  if (marked == known)
    memset(bold, 0, count);
}
