/* Columns of block elements, with a resolution of an eighth of a line.
 *
 * 1. In a cell that holds both the end of a column and the mean score, the score line is drawn.
 * 2. Bins with fewer than 30 rows are shaded.
 * 3. Empty bins are blank. */
#include "text_plot.h"

#include <math.h>

#define TERMINAL_LINES 12
#define TERMINAL_FEW 30.0

static const char *const terminal_eighths[] = {" ",
                                               "\xE2\x96\x81",
                                               "\xE2\x96\x82",
                                               "\xE2\x96\x83",
                                               "\xE2\x96\x84",
                                               "\xE2\x96\x85",
                                               "\xE2\x96\x86",
                                               "\xE2\x96\x87",
                                               "\xE2\x96\x88"};
static const char terminal_shade[] = "\xE2\x96\x92", terminal_score[] = "\xE2\x94\x81";

static void terminal_repeat(cli_text_buffer *page, const char *letter, int count) {
  for (int i = 0; i < count; i++)
    cli_put(page, letter);
}

/* Number of eighths that a column of this height fills in line `line`. */
static int terminal_filled(double height, int line) {
  const int eighths = (int)(height * TERMINAL_LINES * 8 + 0.5) - 8 * line;
  return eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
}

static void terminal_cell(cli_text_buffer *page, const pcal_bin *bin, int line) {
  const int empty = !(bin->weight > 0);
  const double score = empty ? 0 : fmin(fmax(bin->confidence, 0), 1);
  const int filled = empty ? 0 : terminal_filled(bin->frequency, line);
  const int at = (int)fmin(score * TERMINAL_LINES, TERMINAL_LINES - 1);
  const int few = bin->weight < TERMINAL_FEW;
  cli_put(page, " ");
  if (!empty && at == line)
    terminal_repeat(page, terminal_score, 3);
  else
    terminal_repeat(page, few && filled >= 4 ? terminal_shade : terminal_eighths[filled], 3);
}

/* The share of rows in each bin, as one line of block elements. */
static void terminal_shares(cli_text_buffer *page, const pcal_bin *bins, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; i++)
    largest = fmax(largest, bins[i].weight);
  cli_put(page, "rows \xE2\x94\x82");
  for (size_t i = 0; i < count; i++) {
    const double eighths = largest > 0 ? ceil(8 * bins[i].weight / largest) : 0;
    cli_put(page, " ");
    terminal_repeat(page, terminal_eighths[(int)fmin(eighths, 8)], 3);
  }
  cli_put(page, "\n");
}

static void terminal_scale(cli_text_buffer *page, size_t count) {
  static const char *const labels[] = {"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"};
  const size_t width = 4 * count;
  cli_put(page, "     \xE2\x94\x94");
  for (size_t i = 0; i < width; i++)
    cli_put(page, "\xE2\x94\x80");
  cli_put(page, "\n");
  for (size_t i = 0; i < 6; i++) {
    cli_pad(page, 5 + i * width / 5);
    cli_put(page, labels[i]);
  }
  cli_put(page, "\n");
}

void cli_put_reliability(cli_text_buffer *page, const pcal_results *results) {
  size_t count = 0;
  const pcal_bin *bins = pcal_results_bins(results, &count);
  if (count == 0)
    return;
  cli_put(page, "\nReliability: column height is the accuracy of a bin, ");
  terminal_repeat(page, terminal_score, 3);
  cli_put(page, " its mean score\n");
  for (int line = TERMINAL_LINES - 1; line >= 0; line--) {
    cli_put(page, line == TERMINAL_LINES - 1   ? " 1.0 \xE2\x94\xA4"
                  : line == TERMINAL_LINES / 2 ? " 0.5 \xE2\x94\xA4"
                                               : "     \xE2\x94\x82");
    for (size_t i = 0; i < count; i++)
      terminal_cell(page, &bins[i], line);
    cli_put(page, "\n");
  }
  terminal_scale(page, count);
  terminal_shares(page, bins, count);
  int few = 0;
  for (size_t i = 0; i < count; i++)
    few |= bins[i].weight > 0 && bins[i].weight < TERMINAL_FEW;
  if (few)
    cli_putf(page, "     %s fewer than 30 rows\n", terminal_shade);
}
