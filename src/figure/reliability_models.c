/* Up to five models share one diagram: a line with points for each, with the interval of each bin,
 * and below it the shares of rows in the bins.  More models have a panel each.
 *
 * 1. Bins without rows are left out; bins with fewer than 30 rows are hollow.
 * 2. The legend has the ECE of each model, and its interval where there is one.
 * 3. A long name of a model is cut in the legend after 60 bytes. */
#include "figure/reliability_models.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"

#define MODELS_TOGETHER 5
#define MODELS_COLUMNS 3

typedef struct reliability_models {
  const pc_figure_data *data;
  const pc_reliability_texts *texts;
  pc_band band;
  pc_bin_list *bins; /* by model */
  pc_point *points;  /* room for the bins of one model */
  pc_figure *figure;
} reliability_models;

static double models_clamp(double value) {
  return fmin(fmax(value, 0), 1);
}

static double models_rows(const pc_bin_list *bins) {
  double rows = 0;
  for (size_t i = 0; i < bins->count; i++)
    rows += bins->bins[i].weight > 0 ? bins->bins[i].weight : 0;
  return rows;
}

static double models_level(const reliability_models *models) {
  const pc_interval_result *sure = &models->data->models[0].requested[0]->interval_result;
  return sure->has_interval ? sure->level : 0;
}

/* "old: ECE 0.0431 [0.031, 0.052]" */
static void models_name(const reliability_models *models, size_t model, char out[256]) {
  const pc_result_record *record = models->data->models[model].requested[0];
  const pc_interval_result *sure = &record->interval_result;
  char value[PC_NUMBER_TEXT_MAX], range[PC_NUMBER_TEXT_MAX] = "";
  pc_fixed_text(record->outcome.value, 4, value);
  if (sure->has_interval)
    pc_range_text(sure->low, sure->high, range);
  snprintf(out, 256, range[0] != '\0' ? "%.60s: ECE %s (%s)" : "%.60s: ECE %s",
           models->data->named[model].name, value, range);
}

/* Models of groups or of several sets have different numbers of rows: the smallest and the
 * largest. */
static void models_subtitle(const reliability_models *models, pc_figure *figure) {
  const pc_figure_data *data = models->data;
  double least = data->models[0].results->weight, most = least;
  char from[PC_NUMBER_TEXT_MAX], to[PC_NUMBER_TEXT_MAX], line[2 * PC_NUMBER_TEXT_MAX + 32];
  for (size_t i = 1; i < data->model_count; i++) {
    least = fmin(least, data->models[i].results->weight);
    most = fmax(most, data->models[i].results->weight);
  }
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  if (least == most)
    return;
  pc_count_text(least, from);
  pc_count_text(most, to);
  snprintf(line, sizeof line, "%s to %s rows each", from, to);
  figure->subtitle = pc_figure_add_string(figure, line);
}

static void models_heading(const reliability_models *models) {
  pc_figure *figure = models->figure;
  char name[256];
  pc_text line;
  pc_text_init(&line, figure->env);
  figure->title = pc_figure_add_string(figure, models->texts->title);
  pc_text_format(&line, "Reliability diagram of %zu models.", models->data->model_count);
  for (size_t i = 0; i < models->data->model_count; i++) {
    models_name(models, i, name);
    pc_text_format(&line, " %s.", name);
  }
  figure->failed |= line.failed;
  figure->description = line.failed ? 0 : pc_figure_add_string(figure, line.bytes);
  pc_text_free(&line);
  models_subtitle(models, figure);
}

/* ---- One diagram ---- */

static pc_look models_look(size_t model, double size) {
  return (pc_look){.tone = (pc_tone)(PC_TONE_A + model), .size = size};
}

/* The line of a model, its intervals and points. */
static void models_line(const reliability_models *models, size_t model, size_t panel) {
  const pc_bin_list *bins = &models->bins[model];
  const double z = pc_level_quantile(models_level(models));
  pc_look thin = models_look(model, 1);
  size_t count = 0;
  thin.pale = 1;
  for (size_t i = 0; i < bins->count; i++) {
    const pcal_bin *bin = &bins->bins[i];
    double low, high;
    if (!(bin->weight > 0))
      continue;
    const pc_point at = {models_clamp(bin->confidence), models_clamp(bin->frequency)};
    pc_wilson_interval(at.y, bin->weight, z, &low, &high);
    if (models->band == PC_BAND_CONFIDENCE)
      pc_figure_segment(models->figure, panel, thin, (pc_point){at.x, low},
                        (pc_point){at.x, high});
    models->points[count++] = at;
  }
  if (count > 1)
    pc_figure_line(models->figure, panel, models_look(model, 2), models->points, count);
}

static void models_points(const reliability_models *models, size_t model, size_t panel) {
  const pc_bin_list *bins = &models->bins[model];
  pc_text hint, whole;
  pc_text_init(&hint, models->figure->env);
  pc_text_init(&whole, models->figure->env);
  for (size_t i = 0; i < bins->count; i++) {
    const pcal_bin *bin = &bins->bins[i];
    pc_look look = models_look(model, bins->count > 25 ? 2.5 : 4);
    if (!(bin->weight > 0))
      continue;
    look.hollow = bin->weight < PC_FEW_ROWS;
    pc_reliability_hint(bin, models->texts, &hint);
    whole.length = 0;
    pc_text_format(&whole, "%s, %s", models->data->named[model].name,
                   hint.failed ? "" : hint.bytes);
    pc_figure_point(models->figure, panel, look,
                    (pc_point){models_clamp(bin->confidence), models_clamp(bin->frequency)},
                    whole.failed ? NULL : whole.bytes);
  }
  models->figure->failed |= hint.failed || whole.failed;
  pc_text_free(&hint);
  pc_text_free(&whole);
}

/* The share of rows of each bin, as a line through the middles of the bins. */
static void models_shares(const reliability_models *models, size_t model, size_t panel) {
  const pc_bin_list *bins = &models->bins[model];
  const double rows = models_rows(bins);
  for (size_t i = 0; i < bins->count; i++)
    models->points[i] = (pc_point){models_clamp((bins->bins[i].low + bins->bins[i].high) / 2),
                                   bins->bins[i].weight > 0 ? bins->bins[i].weight / rows : 0};
  if (bins->count > 1)
    pc_figure_line(models->figure, panel, models_look(model, 1.5), models->points, bins->count);
}

static double models_share_limit(const reliability_models *models) {
  double highest = 0;
  for (size_t m = 0; m < models->data->model_count; m++)
    for (size_t i = 0; i < models->bins[m].count; i++)
      highest = fmax(highest, models->bins[m].bins[i].weight / models_rows(&models->bins[m]));
  return highest > 0.6 ? fmax(highest, 1) : 1.05 * highest;
}

static void models_legend(const reliability_models *models) {
  char name[256];
  for (size_t m = 0; m < models->data->model_count; m++) {
    pc_figure_legend_break(models->figure);
    models_name(models, m, name);
    pc_figure_legend(models->figure, PC_SAMPLE_LINE, models_look(m, 2), name);
  }
  pc_figure_legend_break(models->figure);
  pc_figure_legend(models->figure, PC_SAMPLE_LINE,
                   (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                   "perfect calibration");
}

static void models_together(const reliability_models *models) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 2, .row_share = {4.6, 1}};
  pc_figure *figure = models->figure;
  const size_t upper = pc_figure_grid_panel(figure, 0, 0, NULL);
  const size_t lower = pc_figure_grid_panel(figure, 0, 1, NULL);
  pc_figure_axis(figure, upper, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_NONE, NULL);
  pc_figure_axis(figure, upper, PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN, models->texts->y_label);
  pc_figure_axis(figure, lower, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, models->texts->x_label);
  pc_figure_axis(figure, lower, PC_SIDE_Y, 0, models_share_limit(models), 3, PC_NUMBERS_PERCENT,
                 "rows");
  models_legend(models);
  pc_figure_lay_out(figure, &grid);
  pc_figure_segment(figure, upper, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, 0}, (pc_point){1, 1});
  for (size_t m = 0; m < models->data->model_count; m++) {
    models_line(models, m, upper);
    models_shares(models, m, lower);
  }
  for (size_t m = 0; m < models->data->model_count; m++)
    models_points(models, m, upper);
}

/* ---- A panel for each model ---- */

/* Numbers only where no panel is to the left or below. */
static void models_panel(const reliability_models *models, size_t model) {
  pc_figure *figure = models->figure;
  const size_t column = model % MODELS_COLUMNS;
  const int lowest = model + MODELS_COLUMNS >= models->data->model_count;
  const pc_result_record *record = models->data->models[model].requested[0];
  char title[128], number[PC_NUMBER_TEXT_MAX];
  pc_fixed_text(record->outcome.value, 4, number);
  snprintf(title, sizeof title, "%.60s \xC2\xB7 %.60s", models->data->named[model].name,
           number);
  const size_t panel = pc_figure_grid_panel(figure, column, model / MODELS_COLUMNS, title);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 3, lowest ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE,
                 lowest ? models->texts->score : NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 1, 3,
                 column == 0 ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE,
                 column == 0 ? models->texts->y_label : NULL);
}

static pcal_status models_apart(const reliability_models *models, pcal_error *err) {
  pc_figure *figure = models->figure;
  const size_t count = models->data->model_count;
  const pc_panel_grid grid = {.columns = MODELS_COLUMNS,
                              .rows = (count + MODELS_COLUMNS - 1) / MODELS_COLUMNS};
  const pc_reliability_style style = {models->texts, models->band, models_level(models)};
  if (grid.rows > PC_PANEL_GRID_MAX)
    return pc_fail(err, PCAL_USAGE,
                   "figure reliability draws %zu models at most; give fewer of the %zu",
                   (size_t)(PC_PANEL_GRID_MAX * MODELS_COLUMNS), count);
  if (!figure->fixed_height)
    figure->height = 190 + 220 * (double)grid.rows;
  for (size_t m = 0; m < count; m++)
    models_panel(models, m);
  pc_reliability_legend(figure, &models->bins[0], &style);
  pc_figure_lay_out(figure, &grid);
  for (size_t m = 0; m < count; m++)
    pc_reliability_marks(figure, m, &models->bins[m], &style);
  return PCAL_OK;
}

/* ---- Both ---- */

static pcal_status models_read(reliability_models *models, pcal_error *err) {
  const pc_figure_data *data = models->data;
  size_t most = 1;
  for (size_t m = 0; m < data->model_count; m++) {
    const pc_result_record *record;
    PC_TRY(pc_figure_record_with_curve(data, &data->models[m], 0, &record, err));
    PC_TRY(pc_bin_list_read(models->figure->env, &record->outcome.graph, SIZE_MAX,
                            &models->bins[m], err));
    most = models->bins[m].count > most ? models->bins[m].count : most;
    models->texts = pc_reliability_texts_of(record->view.kind == PC_VIEW_CLASS);
  }
  models->points = pc_alloc(models->figure->env, most, sizeof *models->points);
  return models->points == NULL ? pc_fail_memory(err, "building a figure") : PCAL_OK;
}

static pcal_status models_draw(reliability_models *models, pcal_error *err) {
  PC_TRY(models_read(models, err));
  models_heading(models);
  if (models->data->model_count > MODELS_TOGETHER)
    PC_TRY(models_apart(models, err));
  else
    models_together(models);
  return pc_figure_status(models->figure, err);
}

pcal_status pc_reliability_draw_models(const pc_figure_data *data, pc_band band,
                                       pc_figure *figure, pcal_error *err) {
  reliability_models models = {.data = data, .band = band, .figure = figure};
  models.bins = pc_alloc(figure->env, data->model_count, sizeof *models.bins);
  const pcal_status status = models.bins == NULL ? pc_fail_memory(err, "building a figure")
                                                 : models_draw(&models, err);
  for (size_t m = 0; models.bins != NULL && m < data->model_count; m++)
    pc_bin_list_free(figure->env, &models.bins[m]);
  pc_free(figure->env, models.bins);
  pc_free(figure->env, models.points);
  return status;
}
