/* A figure as data: panels with axes, and marks in data units.  Nothing here draws.
 *
 * Functions that build do not report failures: a figure that ran out of memory is marked as failed
 * and ignores further calls; pc_figure_status reports it at the end. */
#ifndef PC_FIGURE_H
#define PC_FIGURE_H

#include "base/text.h"
#include "figure/ticks.h"

#define PC_SIZE_TITLE 22.0
#define PC_SIZE_LABEL 16.0
#define PC_SIZE_TICK 15.0
#define PC_LEGEND_SAMPLE_WIDTH 24.0 /* width of the sample mark before a legend entry */

/* Colours by meaning; the writer chooses the paint. */
typedef enum pc_tone {
  PC_TONE_INK,   /* most prominent */
  PC_TONE_MUTED, /* labels, lines of reference */
  PC_TONE_FAINT, /* hairlines */
  PC_TONE_FILL,  /* neutral areas */
  PC_TONE_WARM,  /* too high */
  PC_TONE_COOL,  /* too low */
  PC_TONE_PAPER, /* background */
  /* Series, distinct for colour-blind readers too.  In figures of one model: */
  PC_TONE_A, /* predictions */
  PC_TONE_B, /* wrong predictions */
  PC_TONE_C, /* outcomes */
  PC_TONE_D, /* D and G to I: variants of a metric */
  PC_TONE_E, /* before calibration */
  PC_TONE_F,
  PC_TONE_G,
  PC_TONE_H,
  PC_TONE_I,
  PC_TONE_END
} pc_tone;

#define PC_SERIES_TONES 9 /* PC_TONE_A to PC_TONE_I */

typedef struct pc_look {
  pc_tone tone;
  int pale, hollow, dashed, bold;
  int wash;    /* light enough to lie behind all other marks */
  double size; /* stroke width, radius or letter height in figure units; 0: the default */
} pc_look;

typedef struct pc_point {
  double x, y;
} pc_point;

/* In figure units (pixels of the default size), y downwards. */
typedef struct pc_rect {
  double x, y, width, height;
} pc_rect;

/* A string of the figure; 0 is the empty one. */
typedef size_t pc_string_id;

typedef enum pc_side { PC_SIDE_X, PC_SIDE_Y } pc_side;

typedef enum pc_numbers {
  PC_NUMBERS_PLAIN,
  PC_NUMBERS_PERCENT,
  PC_NUMBERS_NONE /* ticks only: another panel shows the numbers */
} pc_numbers;

typedef struct pc_axis {
  double low, high;
  size_t wanted; /* ticks, at most */
  pc_ticks ticks;
  pc_numbers numbers;
  pc_string_id label;
  double label_size;             /* letter height; 0: the default */
  size_t first_name, name_count; /* in the figure's names, which replace ticks */
  int lined;                     /* names have hairlines, like ticks */
} pc_axis;

/* A named position on an axis. */
typedef struct pc_named_tick {
  double at;
  pc_string_id text;
} pc_named_tick;

typedef struct pc_panel {
  pc_rect rect;
  pc_axis axis[2]; /* by pc_side */
  pc_string_id title;
  size_t column, row; /* in the grid of pc_figure_lay_out */
  double headroom;    /* free space above the panel */
  double label_gap;   /* from the panel to the base line of the y label; 0: the default */
} pc_panel;

typedef enum pc_mark_kind {
  PC_MARK_BAR,     /* two opposite corners */
  PC_MARK_LINE,    /* two or more points */
  PC_MARK_BAND,    /* a closed outline, filled */
  PC_MARK_POINT,   /* one */
  PC_MARK_SEGMENT, /* two ends: error bars, diagonals */
  PC_MARK_NOTE     /* text at one point, shifted */
} pc_mark_kind;

typedef enum pc_anchor { PC_ANCHOR_START, PC_ANCHOR_MIDDLE, PC_ANCHOR_END } pc_anchor;

typedef struct pc_mark {
  pc_mark_kind kind;
  pc_look look;
  size_t panel;
  size_t first, count; /* in the figure's points */
  pc_string_id text;   /* text of a note; hover text of other marks */
  pc_anchor anchor;
  pc_point shift; /* of a note, in figure units */
} pc_mark;

/* Sample mark of an entry of the legend below the panels. */
typedef enum pc_sample {
  PC_SAMPLE_POINT,
  PC_SAMPLE_INTERVAL, /* a point with its error bar */
  PC_SAMPLE_BAR,
  PC_SAMPLE_LINE
} pc_sample;

typedef struct pc_legend_entry {
  pc_sample sample;
  pc_look look;
  int begins_row;
  pc_string_id text;
  pc_point at; /* set by pc_figure_lay_out */
} pc_legend_entry;

#define PC_PANEL_GRID_MAX 16

/* The grid of panels: columns and rows with their shares of the space. */
typedef struct pc_panel_grid {
  size_t columns, rows;
  double column_share[PC_PANEL_GRID_MAX], row_share[PC_PANEL_GRID_MAX]; /* 0: 1 */
} pc_panel_grid;

typedef struct pc_figure {
  const pcal_env *env;
  double width, height;
  int fixed_height;  /* the caller chose the height; else a figure may set its own */
  int transparent;   /* no background */
  int in_page;       /* part of a page that states rows and classes itself */
  pc_point heading;  /* position of the title */
  double title_size; /* letter height; 0: the default */
  pc_rect legend_rect;
  pc_string_id title, subtitle, description;
  pc_string_id given_title; /* replaces title */
  int untitled;             /* neither title nor subtitle */
  pc_panel *panels;
  size_t panel_count, panel_capacity;
  pc_mark *marks;
  size_t mark_count, mark_capacity;
  pc_point *points;
  size_t point_count, point_capacity;
  pc_named_tick *names;
  size_t name_count, name_capacity;
  pc_legend_entry *legend;
  size_t legend_count, legend_capacity;
  int legend_break;
  pc_text strings;
  int failed;
} pc_figure;

/* Sets up an empty figure; env must outlive it.  pc_figure_free frees what was added. */
void pc_figure_init(pc_figure *figure, double width, double height, const pcal_env *env);
void pc_figure_free(pc_figure *figure);
/* Takes size, title and background from the configuration, where it sets them. */
void pc_figure_set_config(pc_figure *figure, const pcal_figure_config *config, double width,
                          double height);
PC_CHECKED pcal_status pc_figure_status(const pc_figure *figure, pcal_error *err);

/* Copies a string into the figure; NULL counts as empty. */
pc_string_id pc_figure_add_string(pc_figure *figure, const char *string);
const char *pc_figure_string(const pc_figure *figure, pc_string_id id);

/* Adds a panel whose axes both run from 0 to 1 without ticks; returns its index. */
size_t pc_figure_panel(pc_figure *figure, pc_rect rect);
/* Sets the range of an axis and places its ticks. */
void pc_figure_axis(pc_figure *figure, size_t panel, pc_side side, double low, double high,
                    size_t wanted_ticks, pc_numbers numbers, const char *label);

/* Adds a panel in a cell of the grid, with a title or NULL. */
size_t pc_figure_grid_panel(pc_figure *figure, size_t column, size_t row, const char *title);
/* Names a position of an axis; names replace all ticks.  Add the names of one axis in one go. */
void pc_figure_name_tick(pc_figure *figure, size_t panel, pc_side side, double at,
                         const char *text);

/* Adds a mark on top of earlier ones.  hint: hover text, or NULL. */
void pc_figure_bar(pc_figure *figure, size_t panel, pc_look look, pc_point from, pc_point to,
                   const char *hint);
void pc_figure_segment(pc_figure *figure, size_t panel, pc_look look, pc_point from,
                       pc_point to);
void pc_figure_point(pc_figure *figure, size_t panel, pc_look look, pc_point at,
                     const char *hint);
void pc_figure_line(pc_figure *figure, size_t panel, pc_look look, const pc_point *points,
                    size_t count);
void pc_figure_band(pc_figure *figure, size_t panel, pc_look look, const pc_point *points,
                    size_t count);
void pc_figure_note(pc_figure *figure, size_t panel, pc_look look, pc_point at, pc_point shift,
                    pc_anchor anchor, const char *text);
/* The colour of a line among several: nine colours, then the same ones dashed. */
pc_look pc_series_look(size_t series, double size);

/* Adds an entry of the legend.  Entries are placed side by side and wrap; a break starts a row. */
void pc_figure_legend(pc_figure *figure, pc_sample sample, pc_look look, const char *text);
void pc_figure_legend_break(pc_figure *figure);

/* Converts data units to figure units. */
pc_point pc_panel_to_figure(const pc_panel *panel, pc_point data);

#endif
