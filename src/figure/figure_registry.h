/* The registry of figures, the measurements each needs, and drawing a figure by its name. */
#ifndef PC_FIGURE_REGISTRY_H
#define PC_FIGURE_REGISTRY_H

#include "figure/figure.h"
#include "measure/results.h"

#define PC_FIGURE_SPECS 48
#define PC_FIGURE_SPEC_SIZE 160
#define PC_FIGURE_TEMPERATURES 64

/* Measurements that a figure requests: with curves, on the data as they are or, if temperatures
 * are given, once for each of them. */
typedef struct pc_figure_request {
  char specs[PC_FIGURE_SPECS][PC_FIGURE_SPEC_SIZE];
  size_t spec_count;
  int interval, null; /* the figure shows them */
  double temperatures[PC_FIGURE_TEMPERATURES];
  size_t temperature_count;
  size_t row_count; /* of first rows that the figure shows one by one */
} pc_figure_request;

/* Adds a spec; beyond PC_FIGURE_SPECS it is dropped. */
void pc_figure_request_metric(pc_figure_request *request, const char *format, ...)
    PC_PRINTF(2, 3);

/* The first rows of predictions of a number, converted, and each followed by its target; the
 * target of a row with missing values is NaN. */
typedef struct pc_figure_rows {
  pc_layout layout;
  size_t count;
  double *values;
} pc_figure_rows;

/* One data set, measured. */
typedef struct pc_measured_set {
  const pcal_results *results;
  const pc_result_record
      *requested[PC_FIGURE_SPECS]; /* by spec of the request; NULL: not measured */
  pcal_results **tempered;         /* one for each temperature, or NULL */
} pc_measured_set;

/* Inputs of a figure; everything is borrowed. */
typedef struct pc_figure_data {
  const pc_options *options;
  const pc_figure_request *request;
  pc_measured_set shown;
  const pc_measured_set *before; /* the same rows before calibration, if shown is calibrated */
  const pc_measured_set *val;    /* a second set, or NULL */
  const pc_measured_set *models; /* several models, or NULL; the first is also in shown */
  const pcal_model *named;       /* the models with their names */
  size_t model_count;
  const pc_figure_rows *rows; /* if requested, and drawn from data; else NULL */
} pc_figure_data;

typedef struct pc_figure_row {
  pcal_registry_row row;
  double width, height; /* default size in figure units */
  /* Fails if the figure does not suit the data. */
  pcal_status (*request)(const pc_options *options, const pc_layout *layout,
                         pc_figure_request *request, pcal_error *err);
  pcal_status (*build)(const pc_figure_data *data, pc_figure *figure, pcal_error *err);
  const char *study; /* in place of request and build: run this study and draw its figure */
  uint64_t study_repeats; /* of that study */
  int in_report; /* position among the figures of a report, from 1; 0: not in reports */
  const char *report_spec; /* spec used in reports; NULL: the name */
  int several;             /* takes several models */
  int by_group;            /* shows groups itself; other figures draw each as a model */
} pc_figure_row;

size_t pc_figure_row_count(void);
/* The registry row of a figure; NULL beyond the last. */
const pcal_registry_row *pc_figure_row_at(size_t index);

/* The figures of a report in order; NULL beyond the last. */
const pc_figure_row *pc_figure_in_report(size_t index);

/* Finds the row of a spec and parses its options.  The error for an unknown name suggests the
 * nearest one. */
PC_CHECKED pcal_status pc_figure_parse(const char *spec, const pc_figure_row **row,
                                       pc_options *options, pcal_error *err);

/* Finds the requested records in the results. */
void pc_measured_set_fill(pc_measured_set *set, const pcal_results *results,
                          const pc_figure_request *request);

/* The requested record; fails if it was not measured or has no curve. */
PC_CHECKED pcal_status pc_figure_record_with_curve(const pc_figure_data *data,
                                                   const pc_measured_set *set, size_t requested,
                                                   const pc_result_record **out,
                                                   pcal_error *err);

/* Builds a figure from results alone; PCAL_USAGE if they lack what it needs. */
PC_CHECKED pcal_status pc_figure_from_results(const char *spec, const pcal_results *results,
                                              pc_figure *figure, pcal_error *err);

/* The same for results after calibration; before: results of the same rows before it, or NULL. */
PC_CHECKED pcal_status pc_figure_from_pair(const char *spec, const pcal_results *results,
                                           const pcal_results *before, pc_figure *figure,
                                           pcal_error *err);

/* The column of a plot table by its name, or NULL. */
const double *pc_graph_column(const pc_plot_table *graph, const char *name);

/* The name of a class, or "class 3" written into buffer. */
const char *pc_class_display_name(const pcal_results *results, size_t class, char buffer[32]);

/* Sets the subtitle: "797 rows, 10 classes", then `more`, which may be NULL. */
void pc_figure_set_subtitle(pc_figure *figure, const pcal_results *results, const char *more);

#endif
