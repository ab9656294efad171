/* Reliability diagram: observed frequency against mean score, bin by bin.
 *
 * Upper panel: a point at (mean score, frequency) of each bin that has rows, its 95 % Wilson
 * interval, and a bar as wide as the bin from the frequency to the mean score: the gap whose
 * mean over rows is the ECE.  Lower panel: the share of rows in each bin, and the means of
 * scores and hits over all rows.
 *
 * 1. Empty bins are not drawn; a figure without rows is refused.
 * 2. Bins with fewer than 30 rows are pale and hollow: their frequency says little.
 * 3. Scores a little outside [0, 1], as stored probabilities may be, are drawn at the edge.
 * 4. The numbers stand in the upper left or lower right corner, or above the panel when data
 *    lie in both.
 * 5. The names of the two means stand side by side, or one above the other near an edge.
 *
 * Wilson (1927), Probable inference, the law of succession, and statistical inference. */
#include "figure/reliability.h"

#include <math.h>
#include <string.h>

#include "core/number.h"
#include "figure/label.h"

#define RELIABILITY_WIDTH 640.0
#define RELIABILITY_HEIGHT 720.0
#define RELIABILITY_FEW_ROWS 30.0
#define RELIABILITY_TEXT 15.0
#define RELIABILITY_LINE 20.0
#define RELIABILITY_CLEARANCE 6.0
#define RELIABILITY_PADDING 12.0
#define RELIABILITY_GIVEN 26.0
#define RELIABILITY_GUTTER 0.03
#define RELIABILITY_STATS 4
#define RELIABILITY_NUMBER_MAX 64

static const pc_rect reliability_upper = {88, 84, 528, 372};
static const pc_rect reliability_lower = {88, 508, 528, 84};
static const pc_rect reliability_key_rect = {24, 660, 592, 48};

/* The words of a view. */
typedef struct reliability_words {
  const char *title, *x_label, *y_label;
  const char *score, *hits; /* means over all rows */
  const char *high, *low;   /* score above or below frequency */
} reliability_words;

static const reliability_words reliability_top = {
    "Reliability of the predicted class",
    "confidence (probability of the predicted class)",
    "accuracy",
    "mean confidence",
    "accuracy",
    "over-confident",
    "under-confident"};

static const reliability_words reliability_positive = {
    "Reliability of the probability of class 1",
    "predicted probability of class 1",
    "observed frequency",
    "mean prediction",
    "base rate",
    "predicted too high",
    "predicted too low"};

/* One number of the summary. */
typedef struct reliability_stat {
  const char *name;
  char value[RELIABILITY_NUMBER_MAX];
} reliability_stat;

/* A bin with rows, in data units. */
typedef struct reliability_shape {
  double left, right;
  double score, frequency;
  double low, high; /* interval of the frequency */
  int few;
} reliability_shape;

typedef struct reliability_scene {
  const pc_figure_data *data;
  const reliability_words *words;
  pc_figure *figure;
  pc_text *line;       /* scratch */
  size_t upper, lower; /* panels */
} reliability_scene;

/* centre = (f + z^2/2n) / (1 + z^2/n),
 * half width = z / (1 + z^2/n) * sqrt(f(1-f)/n + z^2/4n^2), z the 0.975 quantile. */
void pc_wilson_interval(double frequency, double n, double *low, double *high) {
  const double z = 1.959963984540054;
  const double shrink = 1 + z * z / n;
  const double centre = (frequency + z * z / (2 * n)) / shrink;
  const double variance = frequency * (1 - frequency) / n + z * z / (4 * n * n);
  const double half = z / shrink * sqrt(fmax(variance, 0));
  *low = fmax(centre - half, 0);
  *high = fmin(centre + half, 1);
}

static double reliability_clamp(double value) {
  return fmin(fmax(value, 0), 1);
}

/* A number of rows: digits in groups of three from 10 000 on, one decimal if not whole. */
static void reliability_count(double rows, char out[RELIABILITY_NUMBER_MAX]) {
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

static void reliability_fixed(double value, int decimals, char *out) {
  char digits[PC_NUMBER_MAX];
  const size_t length = pc_number_fixed(value, decimals, digits);
  memcpy(out, digits, length);
  out[length] = '\0';
}

static pcal_status reliability_check(const pc_figure_data *data, pcal_error *err) {
  size_t filled = 0;
  for (size_t i = 0; i < data->bin_count; i++) {
    const pcal_bin *bin = &data->bins[i];
    if (!(bin->weight > 0))
      continue;
    if (!isfinite(bin->weight) || !isfinite(bin->confidence) || !isfinite(bin->frequency) ||
        !isfinite(bin->low) || !isfinite(bin->high))
      return pc_fail(err, PCAL_DATA,
                     "figure reliability: bin %zu holds a number that is not finite; measure "
                     "the data again with finite scores and weights",
                     i);
    filled++;
  }
  if (filled == 0 || !(data->rows > 0))
    return pc_fail(err, PCAL_DATA,
                   "figure reliability: there are no rows to draw; measure at least one row");
  if (!isfinite(data->rows) || !isfinite(data->mean_score) || !isfinite(data->hit_rate))
    return pc_fail(err, PCAL_DATA,
                   "figure reliability: the mean score or the share of hits is not finite; "
                   "measure the data again with finite scores and weights");
  return PCAL_OK;
}

/* What is drawn of a bin. */
static reliability_shape reliability_shape_of(const pcal_bin *bin) {
  reliability_shape shape = {
      .left = reliability_clamp(bin->low),
      .right = reliability_clamp(bin->high),
      .score = reliability_clamp(bin->confidence),
      .frequency = reliability_clamp(bin->frequency),
      .few = bin->weight < RELIABILITY_FEW_ROWS,
  };
  pc_wilson_interval(shape.frequency, bin->weight, &shape.low, &shape.high);
  return shape;
}

static const char *reliability_hint(const reliability_scene *scene, const pcal_bin *bin) {
  char low[PC_NUMBER_MAX], high[PC_NUMBER_MAX], score[PC_NUMBER_MAX], hits[PC_NUMBER_MAX];
  char rows[RELIABILITY_NUMBER_MAX];
  reliability_fixed(bin->low, 3, low);
  reliability_fixed(bin->high, 3, high);
  reliability_fixed(bin->confidence, 4, score);
  reliability_fixed(bin->frequency, 4, hits);
  reliability_count(bin->weight, rows);
  scene->line->length = 0;
  pc_text_format(scene->line, "%s to %s: %s %s, %s %s, %s row%s", low, high,
                 scene->words->score, score, scene->words->y_label, hits, rows,
                 bin->weight == 1 ? "" : "s");
  return scene->line->failed ? NULL : scene->line->bytes;
}

static void reliability_gap(const reliability_scene *scene, const pcal_bin *bin) {
  const reliability_shape shape = reliability_shape_of(bin);
  const double gutter = RELIABILITY_GUTTER * (shape.right - shape.left);
  const pc_look look = {.tone = shape.score > shape.frequency ? PC_TONE_WARM : PC_TONE_COOL,
                        .pale = shape.few};
  if (shape.score != shape.frequency)
    pc_figure_bar(scene->figure, scene->upper, look,
                  (pc_point){shape.left + gutter, shape.score},
                  (pc_point){shape.right - gutter, shape.frequency}, NULL);
}

static void reliability_observed(const reliability_scene *scene, const pcal_bin *bin) {
  const reliability_shape shape = reliability_shape_of(bin);
  const pc_tone tone = shape.few ? PC_TONE_MUTED : PC_TONE_INK;
  const double radius = scene->data->bin_count > 25 ? 2.5 : 4;
  pc_figure_segment(scene->figure, scene->upper,
                    (pc_look){.tone = PC_TONE_INK, .pale = shape.few, .size = 1.5},
                    (pc_point){shape.score, shape.low}, (pc_point){shape.score, shape.high});
  pc_figure_point(scene->figure, scene->upper,
                  (pc_look){.tone = tone, .hollow = shape.few, .size = radius},
                  (pc_point){shape.score, shape.frequency}, reliability_hint(scene, bin));
}

static void reliability_draw_upper(const reliability_scene *scene) {
  const pc_figure_data *data = scene->data;
  pc_figure_axis(scene->figure, scene->upper, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_NONE, NULL);
  pc_figure_axis(scene->figure, scene->upper, PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN,
                 scene->words->y_label);
  for (size_t i = 0; i < data->bin_count; i++)
    if (data->bins[i].weight > 0)
      reliability_gap(scene, &data->bins[i]);
  pc_figure_segment(scene->figure, scene->upper,
                    (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, 0}, (pc_point){1, 1});
  for (size_t i = 0; i < data->bin_count; i++)
    if (data->bins[i].weight > 0)
      reliability_observed(scene, &data->bins[i]);
}

/* The upper end of the axis of shares: all rows, or a little above the fullest bin. */
static double reliability_share_limit(const pc_figure_data *data) {
  double highest = 0;
  for (size_t i = 0; i < data->bin_count; i++)
    highest = fmax(highest, data->bins[i].weight / data->rows);
  return highest > 0.6 ? fmax(highest, 1) : 1.05 * highest;
}

/* A mean over all rows: a line through the lower panel up to its name, `row` lines above. */
static void reliability_mean(const reliability_scene *scene, const char *name, double value,
                             pc_anchor anchor, int row) {
  const pc_axis *axis = &scene->figure->panels[scene->lower].axis[PC_SIDE_Y];
  const double unit = axis->high / reliability_lower.height;
  const double lift = 6 + 20 * row;
  pc_figure_segment(scene->figure, scene->lower, (pc_look){.tone = PC_TONE_INK, .size = 1.5},
                    (pc_point){value, 0}, (pc_point){value, axis->high + unit * (lift + 12)});
  pc_figure_note(scene->figure, scene->lower, (pc_look){.tone = PC_TONE_INK, .size = 15},
                 (pc_point){value, axis->high},
                 (pc_point){anchor == PC_ANCHOR_END ? -6 : 6, -lift}, anchor, name);
}

/* Outwards side by side where both names fit, else both to the roomier side. */
static void reliability_means(const reliability_scene *scene) {
  const pc_figure_data *data = scene->data;
  const double score = reliability_clamp(data->mean_score);
  const double hits = reliability_clamp(data->hit_rate);
  const int ordered = hits <= score;
  const double left = ordered ? hits : score, right = ordered ? score : hits;
  const char *left_name = ordered ? scene->words->hits : scene->words->score;
  const char *right_name = ordered ? scene->words->score : scene->words->hits;
  const double width = reliability_lower.width;
  const int left_fits = left * width > pc_label_width(left_name, 15) + 6;
  const int right_fits = (1 - right) * width > pc_label_width(right_name, 15) + 6;
  if (scene->figure->failed)
    return;
  if (left_fits && right_fits) {
    reliability_mean(scene, left_name, left, PC_ANCHOR_END, 0);
    reliability_mean(scene, right_name, right, PC_ANCHOR_START, 0);
  } else if (left_fits) {
    reliability_mean(scene, left_name, left, PC_ANCHOR_END, 0);
    reliability_mean(scene, right_name, right, PC_ANCHOR_END, 1);
  } else {
    reliability_mean(scene, left_name, left, PC_ANCHOR_START, 1);
    reliability_mean(scene, right_name, right, right_fits ? PC_ANCHOR_START : PC_ANCHOR_END, 0);
  }
}

static void reliability_draw_lower(const reliability_scene *scene) {
  const pc_figure_data *data = scene->data;
  pc_figure *figure = scene->figure;
  pc_figure_axis(figure, scene->lower, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN,
                 scene->words->x_label);
  pc_figure_axis(figure, scene->lower, PC_SIDE_Y, 0, reliability_share_limit(data), 3,
                 PC_NUMBERS_PERCENT, "rows");
  for (size_t i = 0; i < data->bin_count; i++) {
    const pcal_bin *bin = &data->bins[i];
    if (!(bin->weight > 0))
      continue;
    const reliability_shape shape = reliability_shape_of(bin);
    const double gutter = RELIABILITY_GUTTER * (shape.right - shape.left);
    pc_figure_bar(figure, scene->lower, (pc_look){.tone = PC_TONE_FILL},
                  (pc_point){shape.left + gutter, 0},
                  (pc_point){shape.right - gutter, bin->weight / data->rows},
                  reliability_hint(scene, bin));
  }
  reliability_means(scene);
}

static size_t reliability_summary(const reliability_scene *scene,
                                  reliability_stat stats[RELIABILITY_STATS]) {
  const pc_figure_data *data = scene->data;
  size_t count = 0;
  if (data->has_ece && isfinite(data->ece)) {
    stats[count].name = "ECE";
    reliability_fixed(data->ece, 4, stats[count++].value);
  }
  stats[count].name = "n";
  reliability_count(data->rows, stats[count++].value);
  stats[count].name = scene->words->score;
  reliability_fixed(data->mean_score, 4, stats[count++].value);
  stats[count].name = scene->words->hits;
  reliability_fixed(data->hit_rate, 4, stats[count++].value);
  return count;
}

/* Whether a box in figure units lies clear of the marks of every bin. */
static int reliability_clear(const reliability_scene *scene, pc_rect box) {
  const pc_panel *panel = &scene->figure->panels[scene->upper];
  const double away = RELIABILITY_CLEARANCE;
  for (size_t i = 0; i < scene->data->bin_count; i++) {
    if (!(scene->data->bins[i].weight > 0))
      continue;
    const reliability_shape shape = reliability_shape_of(&scene->data->bins[i]);
    const pc_point a =
        pc_panel_place(panel, (pc_point){shape.left, fmax(shape.high, shape.score)});
    const pc_point b =
        pc_panel_place(panel, (pc_point){shape.right, fmin(shape.low, shape.score)});
    if (a.x - away < box.x + box.width && b.x + away > box.x &&
        a.y - away < box.y + box.height && b.y + away > box.y)
      return 0;
  }
  return 1;
}

/* The summary as a table of two columns with its upper left corner at box. */
static void reliability_table(const reliability_scene *scene, const reliability_stat *stats,
                              size_t count, pc_rect box) {
  const pc_rect *rect = &scene->figure->panels[scene->upper].rect;
  const pc_point origin = {0, 1};
  const pc_point from = {(box.x - rect->x) / rect->width, 1 - (box.y - rect->y) / rect->height};
  const pc_point to = {from.x + box.width / rect->width, from.y - box.height / rect->height};
  pc_figure_bar(scene->figure, scene->upper, (pc_look){.tone = PC_TONE_PAPER}, from, to, NULL);
  for (size_t i = 0; i < count; i++) {
    const double y = box.y - rect->y + RELIABILITY_LINE * (double)(i + 1);
    const double x = box.x - rect->x + RELIABILITY_PADDING;
    pc_figure_note(scene->figure, scene->upper,
                   (pc_look){.tone = PC_TONE_MUTED, .size = RELIABILITY_TEXT}, origin,
                   (pc_point){x, y}, PC_ANCHOR_START, stats[i].name);
    pc_figure_note(scene->figure, scene->upper,
                   (pc_look){.tone = PC_TONE_INK, .size = RELIABILITY_TEXT}, origin,
                   (pc_point){x + box.width - 2 * RELIABILITY_PADDING, y}, PC_ANCHOR_END,
                   stats[i].value);
  }
}

/* The summary as one line above a panel that gives way. */
static void reliability_heading_line(const reliability_scene *scene,
                                     const reliability_stat *stats, size_t count) {
  pc_text *line = scene->line;
  pc_rect *rect = &scene->figure->panels[scene->upper].rect;
  rect->y += RELIABILITY_GIVEN;
  rect->height -= RELIABILITY_GIVEN;
  line->length = 0;
  for (size_t i = 0; i < count; i++)
    pc_text_format(line, "%s%s %s", i > 0 ? " \xC2\xB7 " : "", stats[i].name, stats[i].value);
  pc_figure_note(scene->figure, scene->upper, (pc_look){.tone = PC_TONE_INK, .size = 15},
                 (pc_point){0, 1}, (pc_point){24 - rect->x, -20}, PC_ANCHOR_START,
                 line->failed ? NULL : line->bytes);
}

static void reliability_stats(const reliability_scene *scene) {
  reliability_stat stats[RELIABILITY_STATS];
  const size_t count = reliability_summary(scene, stats);
  double names = 0, values = 0;
  for (size_t i = 0; i < count; i++) {
    names = fmax(names, pc_label_width(stats[i].name, RELIABILITY_TEXT));
    values = fmax(values, pc_label_width(stats[i].value, RELIABILITY_TEXT));
  }
  if (scene->figure->failed)
    return;
  const pc_rect *rect = &scene->figure->panels[scene->upper].rect;
  pc_rect box = {rect->x + 1, rect->y + 1, names + values + 16 + 2 * RELIABILITY_PADDING,
                 RELIABILITY_LINE * (double)count + RELIABILITY_PADDING};
  int clear = reliability_clear(scene, box);
  if (!clear) {
    box.x = rect->x + rect->width - box.width - 1;
    box.y = rect->y + rect->height - box.height - 1;
    clear = reliability_clear(scene, box);
  }
  if (clear)
    reliability_table(scene, stats, count, box);
  else
    reliability_heading_line(scene, stats, count);
}

static void reliability_key(const reliability_scene *scene) {
  const pc_figure_data *data = scene->data;
  int few = 0, high = 0, low = 0;
  for (size_t i = 0; i < data->bin_count; i++) {
    const pcal_bin *bin = &data->bins[i];
    few |= bin->weight > 0 && bin->weight < RELIABILITY_FEW_ROWS;
    high |= bin->weight > 0 && bin->confidence > bin->frequency;
    low |= bin->weight > 0 && bin->confidence < bin->frequency;
  }
  pc_figure *figure = scene->figure;
  figure->key_rect = reliability_key_rect;
  pc_figure_key(figure, PC_SAMPLE_INTERVAL, (pc_look){.tone = PC_TONE_INK},
                "bin with 95% interval");
  if (few)
    pc_figure_key(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_MUTED, .hollow = 1},
                  "fewer than 30 rows");
  pc_figure_key(figure, PC_SAMPLE_LINE,
                (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                "perfect calibration");
  pc_figure_key_break(figure);
  if (high)
    pc_figure_key(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_WARM}, scene->words->high);
  if (low)
    pc_figure_key(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_COOL}, scene->words->low);
}

static void reliability_describe(const reliability_scene *scene) {
  pc_text *line = scene->line;
  const pc_figure_data *data = scene->data;
  pc_figure *figure = scene->figure;
  reliability_stat stats[RELIABILITY_STATS];
  const size_t count = reliability_summary(scene, stats);
  figure->title = pc_figure_keep(figure, scene->words->title);
  line->length = 0;
  if (data->source_name != NULL)
    pc_label_fit(line, data->source_name, 16, 460);
  if (data->classes > 1 && scene->words == &reliability_top)
    pc_text_format(line, "%s%zu classes", line->length > 0 ? " \xC2\xB7 " : "", data->classes);
  if (line->length > 0 && !line->failed)
    figure->subtitle = pc_figure_keep(figure, line->bytes);
  figure->heading = (pc_point){24, figure->subtitle != 0 ? 36 : 48};
  line->length = 0;
  pc_text_format(line, "Reliability diagram in %zu bins.", data->bin_count);
  for (size_t i = 0; i < count; i++)
    pc_text_format(line, "%s %s %s", i > 0 ? "," : "", stats[i].name, stats[i].value);
  pc_text_add(line, ".");
  figure->description = line->failed ? 0 : pc_figure_keep(figure, line->bytes);
}

pcal_status pc_reliability_build(const pc_figure_data *data, pc_figure *figure,
                                 pcal_error *err) {
  PC_TRY(reliability_check(data, err));
  const int positive = data->view != NULL && strcmp(data->view, "positive") == 0;
  pc_text line;
  pc_text_init(&line, figure->env);
  reliability_scene scene = {
      .data = data,
      .words = positive ? &reliability_positive : &reliability_top,
      .figure = figure,
      .line = &line,
  };
  figure->width = RELIABILITY_WIDTH;
  figure->height = RELIABILITY_HEIGHT;
  scene.upper = pc_figure_panel(figure, reliability_upper);
  scene.lower = pc_figure_panel(figure, reliability_lower);
  reliability_describe(&scene);
  reliability_draw_upper(&scene);
  reliability_draw_lower(&scene);
  reliability_stats(&scene);
  reliability_key(&scene);
  const pcal_status status = pc_text_status(&line, err);
  pc_text_free(&line);
  return status == PCAL_OK ? pc_figure_status(figure, err) : status;
}
