/* The sharpness of a model and after maps of it, a row for each map. */
#include "figure/dot_rows.h"
#include "figure/figure_layout.h"
#include "figure/study_figure_registry.h"

static const pc_dot_series sharpness_loss_study_figure_series[] = {
    {"sharpness", "of the rows' own distribution", PC_TONE_A},
    {"unbiased", "unbiased", PC_TONE_B},
    {"at_least", "lower bound", PC_TONE_C}};

/* Simulated rows have the first series only. */
static size_t sharpness_loss_study_figure_count(const pc_table *table) {
  for (size_t r = 0; r < table->row_count; r++)
    for (size_t s = 1; s < 3; s++) {
      const size_t column =
          pc_table_find_column(table, sharpness_loss_study_figure_series[s].column);
      const double number = pc_table_at(table, r, column)->number;
      if (number == number)
        return 3;
    }
  return 1;
}

static pcal_status sharpness_loss_study_figure_build(const pc_findings *findings,
                                                     pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_dot_rows rows = {.table = &findings->tables[0],
                            .names = "map",
                            .series = sharpness_loss_study_figure_series,
                            .series_count =
                                sharpness_loss_study_figure_count(&findings->tables[0]),
                            .from_zero = 1};
  (void)err;
  if (!figure->fixed_height)
    figure->height = 150 + 27 * (double)rows.table->row_count;
  const size_t panel = pc_dot_rows_panel(figure, &rows, 0, 0, NULL, "sharpness");
  if (rows.series_count > 1)
    pc_dot_rows_legend(figure, &rows);
  figure->title = pc_figure_add_string(figure, "Sharpness of a model after maps");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  pc_dot_rows_marks(figure, &rows, panel);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_sharpness_loss = {
    .study = "sharpness-loss",
    .width = 720,
    .height = 480,
    .build = sharpness_loss_study_figure_build,
};
