/* The figures that exist, what each is drawn from, and drawing one by its name. */
#ifndef PC_FIGURE_REGISTRY_H
#define PC_FIGURE_REGISTRY_H

#include "figure/figure.h"
#include "measure/results.h"

#define PC_FIGURE_SPECS 48
#define PC_FIGURE_SPEC_SIZE 160
#define PC_FIGURE_TEMPERATURES 64

/* What a figure asks to be measured: with curves, on the data as they are or, where there are
 * temperatures, once for each of them. */
typedef struct pc_figure_request {
  char specs[PC_FIGURE_SPECS][PC_FIGURE_SPEC_SIZE];
  size_t spec_count;
  int interval, null; /* would be shown */
  double temperatures[PC_FIGURE_TEMPERATURES];
  size_t temperature_count;
} pc_figure_request;

/* Adds a spec; more than there is room for are dropped. */
void pc_figure_request_metric(pc_figure_request *wish, const char *format, ...) PC_PRINTF(2, 3);

/* One data set, measured. */
typedef struct pc_measured_set {
  const pcal_results *results;
  const pc_result_record *asked[PC_FIGURE_SPECS]; /* by the wish; NULL: not measured */
  pcal_results **tempered;                        /* one for each temperature, or NULL */
} pc_measured_set;

/* What a figure is drawn from; everything is borrowed. */
typedef struct pc_figure_data {
  const pc_options *options;
  const pc_figure_request *wish;
  pc_measured_set shown;
  const pc_measured_set *before;  /* the same rows as they came, when shown is calibrated */
  const pc_measured_set *fitting; /* a second set, or NULL */
  const pc_measured_set *models;  /* several models, the first of which is shown; or NULL */
  const pcal_model *named;        /* with their names */
  size_t model_count;
} pc_figure_data;

typedef struct pc_figure_row {
  pcal_registry_row row;
  double width, height; /* in figure units, when not told otherwise */
  /* Fails when the figure does not fit the layout. */
  pcal_status (*wish)(const pc_options *options, const pc_layout *layout,
                      pc_figure_request *wish, pcal_error *err);
  pcal_status (*build)(const pc_figure_data *data, pc_figure *figure, pcal_error *err);
  const char *study;       /* in place of the two: the figure of this study, */
  uint64_t study_repeats;  /* run with so many repeats */
  int in_report;           /* place among the figures of a report, from 1; 0: not there */
  const char *report_spec; /* there, with options; NULL: its name */
  int several;             /* takes several models */
} pc_figure_row;

size_t pc_figure_row_count(void);
/* The registry row of a figure, or NULL behind the last one. */
const pcal_registry_row *pc_figure_row_at(size_t index);

/* The figures of a report in their order, or NULL behind the last one. */
const pc_figure_row *pc_figure_in_report(size_t index);

/* Finds the row of a spec and parses its options; an unknown name is refused with the nearest
 * one. */
PC_CHECKED pcal_status pc_figure_parse(const char *spec, const pc_figure_row **row,
                                       pc_options *options, pcal_error *err);

/* Fills asked from the results, as far as they have it. */
void pc_measured_set_fill(pc_measured_set *set, const pcal_results *results,
                          const pc_figure_request *wish);

/* The record with its curve; a sentence when it was not measured, or kept no curve. */
PC_CHECKED pcal_status pc_figure_record_with_curve(const pc_figure_data *data,
                                                   const pc_measured_set *set, size_t asked,
                                                   const pc_result_record **out,
                                                   pcal_error *err);

/* A figure from results alone; PCAL_USAGE when they do not hold what it needs. */
PC_CHECKED pcal_status pc_figure_from_results(const char *spec, const pcal_results *results,
                                              pc_figure *figure, pcal_error *err);

/* The same after calibration, with the results of the same rows before it, or NULL. */
PC_CHECKED pcal_status pc_figure_from_pair(const char *spec, const pcal_results *results,
                                           const pcal_results *before, pc_figure *figure,
                                           pcal_error *err);

/* The column of a graph by its name, or NULL. */
const double *pc_graph_column(const pc_plot_table *graph, const char *name);

/* The name of a class, or its number in a caller's buffer. */
const char *pc_class_display_name(const pcal_results *results, size_t class, char buffer[32]);

/* "797 rows, 10 classes" and more, as the subtitle. */
void pc_figure_set_subtitle(pc_figure *figure, const pcal_results *results, const char *more);

#endif
