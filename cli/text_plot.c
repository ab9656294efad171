/* Columns of block elements, with a resolution of an eighth of a line.
 *
 * 1. In a cell that holds both the end of a column and the mean score, the score line is drawn.
 * 2. Bins with fewer than 30 rows are shaded.
 * 3. Empty bins are blank. */
#include "text_plot.h"

#include <math.h>

#define TEXT_PLOT_LINES 12
#define TEXT_PLOT_FEW 30.0

static const char *const text_plot_eighths[] = {" ",
                                                "\xE2\x96\x81",
                                                "\xE2\x96\x82",
                                                "\xE2\x96\x83",
                                                "\xE2\x96\x84",
                                                "\xE2\x96\x85",
                                                "\xE2\x96\x86",
                                                "\xE2\x96\x87",
                                                "\xE2\x96\x88"};
static const char text_plot_shade[] = "\xE2\x96\x92", text_plot_score[] = "\xE2\x94\x81";

static void text_plot_repeat(cli_text_buffer *buffer, const char *letter, int count) {
  for (int i = 0; i < count; i++)
    cli_put(buffer, letter);
}

/* Number of eighths that a column of this height fills in line `line`. */
static int text_plot_filled(double height, int line) {
  const int eighths = (int)(height * TEXT_PLOT_LINES * 8 + 0.5) - 8 * line;
  return eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
}

static void text_plot_cell(cli_text_buffer *buffer, const pcal_bin *bin, int line) {
  const int empty = !(bin->weight > 0);
  const double score = empty ? 0 : fmin(fmax(bin->confidence, 0), 1);
  const int filled = empty ? 0 : text_plot_filled(bin->frequency, line);
  const int at = (int)fmin(score * TEXT_PLOT_LINES, TEXT_PLOT_LINES - 1);
  const int few = bin->weight < TEXT_PLOT_FEW;
  cli_put(buffer, " ");
  if (!empty && at == line)
    text_plot_repeat(buffer, text_plot_score, 3);
  else
    text_plot_repeat(buffer, few && filled >= 4 ? text_plot_shade : text_plot_eighths[filled],
                     3);
}

/* The share of rows in each bin, as one line of block elements. */
static void text_plot_shares(cli_text_buffer *buffer, const pcal_bin *bins, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; i++)
    largest = fmax(largest, bins[i].weight);
  cli_put(buffer, "rows \xE2\x94\x82");
  for (size_t i = 0; i < count; i++) {
    const double eighths = largest > 0 ? ceil(8 * bins[i].weight / largest) : 0;
    cli_put(buffer, " ");
    text_plot_repeat(buffer, text_plot_eighths[(int)fmin(eighths, 8)], 3);
  }
  cli_put(buffer, "\n");
}

static void text_plot_scale(cli_text_buffer *buffer, size_t count) {
  static const char *const labels[] = {"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"};
  const size_t width = 4 * count;
  cli_put(buffer, "     \xE2\x94\x94");
  for (size_t i = 0; i < width; i++)
    cli_put(buffer, "\xE2\x94\x80");
  cli_put(buffer, "\n");
  for (size_t i = 0; i < 6; i++) {
    cli_pad(buffer, 5 + i * width / 5);
    cli_put(buffer, labels[i]);
  }
  cli_put(buffer, "\n");
}

void cli_put_reliability(cli_text_buffer *buffer, const pcal_results *results) {
  size_t count = 0;
  const pcal_bin *bins = pcal_results_bins(results, &count);
  if (count == 0)
    return;
  cli_put(buffer, "\nReliability: column height is the accuracy of a bin, ");
  text_plot_repeat(buffer, text_plot_score, 3);
  cli_put(buffer, " its mean score\n");
  for (int line = TEXT_PLOT_LINES - 1; line >= 0; line--) {
    cli_put(buffer, line == TEXT_PLOT_LINES - 1   ? " 1.0 \xE2\x94\xA4"
                    : line == TEXT_PLOT_LINES / 2 ? " 0.5 \xE2\x94\xA4"
                                                  : "     \xE2\x94\x82");
    for (size_t i = 0; i < count; i++)
      text_plot_cell(buffer, &bins[i], line);
    cli_put(buffer, "\n");
  }
  text_plot_scale(buffer, count);
  text_plot_shares(buffer, bins, count);
  int few = 0;
  for (size_t i = 0; i < count; i++)
    few |= bins[i].weight > 0 && bins[i].weight < TEXT_PLOT_FEW;
  if (few)
    cli_putf(buffer, "     %s fewer than 30 rows\n", text_plot_shade);
}
