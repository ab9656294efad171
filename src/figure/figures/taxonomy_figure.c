/* Calibration errors in the order of their inequalities, each between its bounds:
 *
 *   root Brier score >= CE_2 >= {CWCE_2; TCE_2 >= TCE_1 >= KS, ECE} >= 0.
 *
 * A bar runs from the estimate below an error to the estimate above it: the range of the true error
 * if those estimates were exact.  A point is the error's own estimate.
 *
 * 1. The canonical error CE_2 is estimated only on request: it needs all pairs of rows.  Without an
 *    estimate its bar shows how little the others determine it.
 * 2. Estimates are biased, so a point may lie outside of its bar; it then has another colour.
 * 3. Errors whose estimate is undefined have a bar only.
 *
 * Gruber & Buettner (2022), Better uncertainty calibration via proper scores, Theorem 3.1. */
#include <math.h>

#include "figure/bounds_bars.h"
#include "figure/class_order.h"
#include "figure/figure_layout.h"

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

static pcal_status taxonomy_request(const pc_options *options, const pc_layout *layout,
                                    pc_figure_request *request, pcal_error *err) {
  const int bins = (int)options->value[TAXONOMY_BINS].number;
  PC_TRY(pc_figure_needs_classes("taxonomy", layout, err));
  pc_figure_request_metric(request, "rbs");
  pc_figure_request_metric(request, "cwce:p=2,bins=%d", bins);
  pc_figure_request_metric(request, "tce:p=2,bins=%d", bins);
  pc_figure_request_metric(request, "ece:bins=%d", bins);
  pc_figure_request_metric(request, "ks");
  if (options->value[TAXONOMY_CANONICAL].number > 0)
    pc_figure_request_metric(request, "ce-kde:p=2");
  request->interval = 1;
  return PCAL_OK;
}

static void taxonomy_read(const pc_measured_set *set, pc_bounded_error rows[TAXONOMY_ROWS]) {
  static const size_t order[] = {TAXONOMY_RBS, TAXONOMY_CWCE, TAXONOMY_TCE,
                                 TAXONOMY_ECE, TAXONOMY_KS,   TAXONOMY_CE};
  for (size_t i = 0; i < TAXONOMY_ROWS; i++)
    rows[i] = (pc_bounded_error){.name = taxonomy_names[i], .other = (double)NAN};
  for (size_t i = 0; i < TAXONOMY_ROWS; i++) {
    const pc_result_record *record = set->requested[i];
    pc_bounded_error *row = &rows[order[i]];
    if (record == NULL || record->outcome.undefined || !isfinite(record->outcome.value))
      continue;
    row->known = 1;
    row->value = record->outcome.value;
    row->low = record->interval_result.low;
    row->high = record->interval_result.high;
    row->has_interval = record->interval_result.has_interval;
  }
}

/* True if `upper` is known to be at least `lower`; class-wise and top-label errors are not
 * ordered. */
static int taxonomy_above(size_t upper, size_t lower) {
  return upper != TAXONOMY_CWCE && upper < TAXONOMY_ECE && upper < lower;
}

/* The nearest estimates that bound an error. */
static void taxonomy_bounds(pc_bounded_error rows[TAXONOMY_ROWS]) {
  for (size_t i = 0; i < TAXONOMY_ROWS; i++) {
    rows[i].below = 0;
    rows[i].above = (double)NAN;
    for (size_t j = 0; j < TAXONOMY_ROWS; j++) {
      if (rows[j].known && taxonomy_above(i, j))
        rows[i].below = fmax(rows[i].below, rows[j].value);
      if (rows[j].known && taxonomy_above(j, i))
        rows[i].above = fmin(rows[i].above, rows[j].value);
    }
  }
}

static pcal_status taxonomy_build(const pc_figure_data *data, pc_figure *figure,
                                  pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  pc_bounded_error rows[TAXONOMY_ROWS];
  for (size_t i = 0; i < 5; i++)
    if (data->shown.requested[i] == NULL)
      return pc_fail(err, PCAL_USAGE,
                     "figure taxonomy is drawn from %s and others, which these results lack; "
                     "measure them, or plot from the data",
                     data->request->specs[i]);
  taxonomy_read(&data->shown, rows);
  taxonomy_bounds(rows);
  pc_bounds_bars_axes(figure, rows, TAXONOMY_ROWS);
  figure->title = pc_figure_add_string(figure, "Calibration errors between their bounds");
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  pc_figure_lay_out(figure, &grid);
  pc_bounds_bars_marks(figure, rows, TAXONOMY_ROWS);
  return PCAL_OK;
}

const pc_figure_row pc_figure_taxonomy = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "taxonomy",
            .title = "calibration errors between their bounds",
            .formula = "sqrt(BS) >= CE_2 >= {CWCE_2; TCE_2 >= TCE_1 >= KS, ECE} >= 0",
            .about = "The errors that are usually reported are at the lower end: they can be "
                     "small while the canonical error is large. Only the root Brier score "
                     "bounds it from above. Bars run between neighbouring estimates; an "
                     "estimate outside its bar shows the bias of one of them.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Theorem 3.1",
            .options = taxonomy_options,
            .option_count = sizeof taxonomy_options / sizeof *taxonomy_options,
        },
    .width = 640,
    .height = 440,
    .request = taxonomy_request,
    .build = taxonomy_build,
    .in_report = 8,
};
