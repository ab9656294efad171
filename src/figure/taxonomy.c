/* Calibration errors in the order of their inequalities, each between its bounds:
 *
 *   root Brier score >= CE_2 >= CWCE_2 >= TCE_2 >= TCE_1 >= KS, ECE >= 0.
 *
 * A bar runs from the estimates below an error to the estimate above it: there the true error
 * would lie if those estimates were exact.  A point is the error's own estimate.
 *
 * 1. The canonical error CE_2 is estimated only when asked for: all pairs of rows are needed.
 *    Without an estimate its bar shows how little the others say about it.
 * 2. Estimates are biased, so a point may lie outside of its bar; it then has another colour.
 * 3. Errors whose estimate is undefined have a bar only.
 *
 * Gruber & Buettner (2022), Better uncertainty calibration via proper scores, Theorem 3.1. */
#include <math.h>
#include <stdio.h>

#include "figure/class_order.h"
#include "figure/layout.h"
#include "figure/wording.h"

enum { TAXONOMY_BINS, TAXONOMY_CANONICAL };
enum {
  TAXONOMY_RBS,
  TAXONOMY_CE,
  TAXONOMY_CWCE,
  TAXONOMY_TCE,
  TAXONOMY_ECE,
  TAXONOMY_KS,
  TAXONOMY_ROWS
};

static const pcal_option taxonomy_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 1000, NULL, "number of bins of the binned errors"},
    {"canonical", PCAL_OPTION_BOOL, "no", 0, 0, NULL,
     "estimate the canonical error too, from all pairs of rows"},
};

static const char *const taxonomy_names[TAXONOMY_ROWS] = {
    "root Brier score", "canonical, CE2", "class-wise, CWCE2",
    "top-label, TCE2",  "top-label, ECE", "top-label, KS"};

typedef struct taxonomy_row {
  int known;
  double value, low, high; /* interval */
  int has_interval;
  double below, above; /* bounds */
} taxonomy_row;

static pcal_status taxonomy_wish(const pc_options *options, const pc_layout *layout,
                                 pc_figure_wish *wish, pcal_error *err) {
  const int bins = (int)options->value[TAXONOMY_BINS].number;
  PC_TRY(pc_figure_needs_classes("taxonomy", layout, err));
  pc_figure_ask(wish, "rbs");
  pc_figure_ask(wish, "cwce:p=2,bins=%d", bins);
  pc_figure_ask(wish, "tce:p=2,bins=%d", bins);
  pc_figure_ask(wish, "ece:bins=%d", bins);
  pc_figure_ask(wish, "ks");
  if (options->value[TAXONOMY_CANONICAL].number > 0)
    pc_figure_ask(wish, "ce-kde:p=2");
  wish->interval = 1;
  return PCAL_OK;
}

static void taxonomy_read(const pc_figure_set *set, taxonomy_row rows[TAXONOMY_ROWS]) {
  static const size_t order[] = {TAXONOMY_RBS, TAXONOMY_CWCE, TAXONOMY_TCE,
                                 TAXONOMY_ECE, TAXONOMY_KS,   TAXONOMY_CE};
  for (size_t i = 0; i < TAXONOMY_ROWS; i++) {
    const pc_result_record *record = set->asked[i];
    if (record == NULL || record->outcome.undefined || !isfinite(record->outcome.value))
      continue;
    rows[order[i]] = (taxonomy_row){.known = 1,
                                    .value = record->outcome.value,
                                    .low = record->surety.low,
                                    .high = record->surety.high,
                                    .has_interval = record->surety.has_interval};
  }
}

/* The nearest estimates that bound an error: an error above it and the largest below. */
static void taxonomy_bounds(taxonomy_row rows[TAXONOMY_ROWS]) {
  for (size_t i = 0; i < TAXONOMY_ROWS; i++) {
    taxonomy_row *row = &rows[i];
    const size_t under = i < TAXONOMY_ECE ? i + 1 : TAXONOMY_ROWS;
    row->below = 0;
    row->above = rows[TAXONOMY_RBS].value;
    for (size_t j = under; j < TAXONOMY_ROWS; j++)
      row->below = rows[j].known ? fmax(row->below, rows[j].value) : row->below;
    const size_t over = i < TAXONOMY_ECE ? i : TAXONOMY_ECE;
    for (size_t j = 0; j < over; j++)
      row->above = rows[j].known ? fmin(row->above, rows[j].value) : row->above;
    row->below = fmin(row->below, row->above);
  }
}

static void taxonomy_axes(pc_figure *figure, const taxonomy_row rows[TAXONOMY_ROWS]) {
  double highest = 0;
  for (size_t i = 0; i < TAXONOMY_ROWS; i++)
    highest = fmax(highest, rows[i].has_interval ? rows[i].high : rows[i].value);
  const size_t panel = pc_figure_cell(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, highest > 0 ? 1.04 * highest : 1, 6,
                 PC_NUMBERS_PLAIN, "error");
  pc_figure_axis(figure, panel, PC_SIDE_Y, TAXONOMY_ROWS - 0.4, -0.6, 2, PC_NUMBERS_PLAIN,
                 NULL);
  for (size_t i = 0; i < TAXONOMY_ROWS; i++)
    pc_figure_name(figure, panel, PC_SIDE_Y, (double)i, taxonomy_names[i]);
  pc_figure_key(figure, PC_SAMPLE_INTERVAL, (pc_look){.tone = PC_TONE_INK},
                "estimate with interval");
  pc_figure_key(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_FILL},
                "between its bounds, as estimated");
}

static void taxonomy_marks(pc_figure *figure, const taxonomy_row rows[TAXONOMY_ROWS]) {
  char number[PC_WORDING_MAX], hint[2 * PC_WORDING_MAX];
  for (size_t i = 0; i < TAXONOMY_ROWS; i++) {
    const taxonomy_row *row = &rows[i];
    const double y = (double)i;
    const int outside = row->value < row->below - 1e-12 || row->value > row->above + 1e-12;
    const pc_tone tone = outside ? PC_TONE_B : PC_TONE_INK;
    if (i != TAXONOMY_RBS)
      pc_figure_bar(figure, 0, (pc_look){.tone = PC_TONE_FILL, .pale = 1},
                    (pc_point){row->below, y - 0.28}, (pc_point){row->above, y + 0.28}, NULL);
    if (!row->known)
      continue;
    if (row->has_interval)
      pc_figure_segment(figure, 0, (pc_look){.tone = tone, .size = 2},
                        (pc_point){fmax(row->low, 0), y}, (pc_point){row->high, y});
    pc_say_fixed(row->value, 4, number);
    snprintf(hint, sizeof hint, "%s: %s", taxonomy_names[i], number);
    pc_figure_point(figure, 0, (pc_look){.tone = tone, .size = 4.5}, (pc_point){row->value, y},
                    hint);
  }
}

static pcal_status taxonomy_build(const pc_figure_data *data, pc_figure *figure,
                                  pcal_error *err) {
  static const pc_grid grid = {.columns = 1, .rows = 1};
  taxonomy_row rows[TAXONOMY_ROWS] = {{0}};
  for (size_t i = 0; i < 5; i++)
    if (data->shown.asked[i] == NULL)
      return pc_fail(err, PCAL_USAGE,
                     "figure taxonomy is drawn from %s and others, which these results do not "
                     "hold; measure them, or plot from the data",
                     data->wish->specs[i]);
  taxonomy_read(&data->shown, rows);
  taxonomy_bounds(rows);
  taxonomy_axes(figure, rows);
  for (size_t i = 0; i < TAXONOMY_ROWS; i++)
    if (rows[i].known && (rows[i].value < rows[i].below || rows[i].value > rows[i].above)) {
      pc_figure_key(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_B},
                    "estimate outside of its bounds");
      break;
    }
  figure->title = pc_figure_keep(figure, "Calibration errors between their bounds");
  pc_figure_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  pc_figure_lay_out(figure, &grid);
  taxonomy_marks(figure, rows);
  return PCAL_OK;
}

const pc_figure_row pc_figure_taxonomy = {
    .row =
        {
            .kind = "figures",
            .name = "taxonomy",
            .title = "calibration errors between their bounds",
            .formula = "sqrt(BS) >= CE_2 >= CWCE_2 >= TCE_2 >= TCE_1 >= KS, ECE >= 0",
            .about = "The errors that are mostly reported stand at the lower end: they can be "
                     "small while the canonical error is large. Only the root Brier score "
                     "bounds it from above. Bars run between neighbouring estimates; an "
                     "estimate outside of its bar shows the bias of one of them.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Theorem 3.1",
            .options = taxonomy_options,
            .option_count = sizeof taxonomy_options / sizeof *taxonomy_options,
        },
    .width = 640,
    .height = 440,
    .wish = taxonomy_wish,
    .build = taxonomy_build,
    .in_report = 7,
};
