/* A metric: one row that says what it is, what it needs, and how evidence becomes a number. */
#ifndef PC_METRIC_H
#define PC_METRIC_H

#include "base/number.h"
#include "base/options.h"
#include "machines/machine.h"
#include "stats/interval.h"

/* What the law tests may expect of every row, and the only place for exemptions. */
typedef enum pc_metric_trait {
  PC_ORDER_FREE = 1,        /* the order of rows does not matter */
  PC_MERGEABLE = 2,         /* parts merge to the whole */
  PC_FREQUENCY_WEIGHTS = 4, /* a whole weight w equals w rows */
  PC_WHOLE_WEIGHTS = 8,     /* refuses weights that are not whole */
  PC_NEEDS_CLASSES = 16,    /* cannot be had from confidences alone */
  PC_SHARE = 32,            /* the share of rows for which something holds */
  PC_LOSS = 64,           /* grows with the mean of one sum, of values that are not negative */
  PC_PARTS_IN_TEXT = 256, /* the parts are the point: text shows them under the value */
  PC_NO_WEIGHTS = 1024,   /* refuses all weights */
  PC_BY_INDEX = 2048,     /* looks at the indices of rows, each of which may come once */
  PC_NO_OUTCOMES = 4096,  /* does not look at outcomes */
  PC_SQUARED = 8192, /* a score or a power of an error: not squared where squares are studied */
  PC_OF_THE_SAMPLE = 16384, /* about this number of rows: the population has no such value */
  PC_NOT_NEGATIVE = 32768   /* intervals end at 0, also where an inner value may be negative */
} pc_metric_trait;

#define PC_PARTS_MAX 8
#define PC_PLOT_TABLE_COLUMNS 8

/* A table behind a value, for plots: columns of equal length. */
typedef struct pc_plot_table {
  int wanted; /* evaluate leaves it empty otherwise */
  size_t column_count, count;
  const char *names[PC_PLOT_TABLE_COLUMNS];
  double *columns[PC_PLOT_TABLE_COLUMNS]; /* one block, which begins with the first */
} pc_plot_table;

typedef struct pc_metric_result {
  double value;
  int undefined;   /* the value is null, and why says so */
  char why[192];   /* also for an infinite value */
  int inner_power; /* 0: no inner value; else value estimates (inner mean)^(1/inner_power) */
  double inner;    /* without bias where the value itself has one; may be negative */
  pc_variance_law inner_law, part_laws[PC_PARTS_MAX]; /* of the inner value and of parts */
  int tested; /* the metric is a test, and this its p-value */
  double p_value;
  pcal_part parts[PC_PARTS_MAX];
  size_t part_count;
  char part_names[PC_PARTS_MAX][PC_NUMBER_MAX]; /* of parts that are called by a number */
  double *class_values; /* one for each class, or NULL; freed with the results */
  size_t class_count;
  pc_plot_table graph;
} pc_metric_result;

/* How a metric reads the data at hand. */
typedef struct pc_metric_config {
  pc_need need; /* starts zeroed */
  const char *notion, *bound;
  pcal_interval_method interval; /* that suits best; 0 leaves it to the bound */
  double most;     /* of a norm of gaps the largest possible value; 0: it is none */
  int whole_curve; /* a curve must be known score by score, whatever `wants` says */
  unsigned traits; /* start as those of the metric; options may change them */
} pc_metric_config;

typedef struct pc_metric {
  pcal_registry_row row;
  unsigned traits;
  /* Resolves what depends on the data (options are echoed as they are left) and states the
   * need; fails when the metric does not fit the layout. */
  pcal_status (*configure)(pc_options *options, const pc_layout *layout,
                           pc_metric_config *reading, pcal_error *err);
  /* evidence->total > 0. */
  pcal_status (*evaluate)(const pc_options *options, const pc_evidence *evidence,
                          const pcal_env *env, pc_metric_result *out, pcal_error *err);
  /* Marks the segments of a coarse curve (curve/bucket_curve.h) that must be known score by score
   * before evaluate is exact, and returns how many it added; NULL: all of them. */
  size_t (*wants)(const pc_options *options, const pc_curve_table *table, uint8_t *wanted);
  /* For a metric that joins scores in cells (curve/point_masses.h), instead of wants: the level
   * of the cells over whose borders no segment may reach before evaluate is exact,
   * PC_EACH_SCORE where all scores must be known; 0, which *level comes with, when it is. */
  pcal_status (*cells)(const pc_options *options, const pc_curve_table *table,
                       const pcal_env *env, unsigned *level, pcal_error *err);
} pc_metric;

size_t pc_metric_count(void);
const pc_metric *pc_metric_at(size_t index);
const pc_metric *pc_metric_find(const char *name); /* the first of that name */
/* The row of that name for the task of a form. */
const pc_metric *pc_metric_find_for(pc_form form, const char *name);

/* Named lists of specs for --metric: the specs are in row->formula, separated by spaces. */
size_t pc_metric_group_count(void);
const pcal_registry_row *pc_metric_group_at(size_t index);
const pcal_registry_row *pc_metric_group_find(const char *name);

/* Notions of calibration, from the strongest to the weakest. */
const pcal_registry_row *pc_calibration_notion_at(size_t index);

/* Finds the row of a spec and parses its options; an unknown name is refused with the
 * nearest one. */
PC_CHECKED pcal_status pc_metric_parse(const char *spec, const pc_metric **metric,
                                       pc_options *options, pcal_error *err);

/* The same for data of a form: of rows with that name the one for its task, or a sentence about
 * the other task. */
PC_CHECKED pcal_status pc_metric_parse_for(pc_form form, const char *spec,
                                           const pc_metric **metric, pc_options *options,
                                           pcal_error *err);

/* Makes room for a value of each class. */
PC_CHECKED pcal_status pc_metric_result_classes(pc_metric_result *outcome, const pcal_env *env,
                                                size_t count, pcal_error *err);

/* `evaluate` of a metric that is the mean of its only sum. */
PC_CHECKED pcal_status pc_metric_evaluate_mean(const pc_options *options,
                                               const pc_evidence *evidence, const pcal_env *env,
                                               pc_metric_result *out, pcal_error *err);

void pc_metric_result_part(pc_metric_result *outcome, const char *name, double value);
/* A part that is called by a number: "0.9". */
void pc_metric_result_part_at(pc_metric_result *outcome, double number, double value);

/* An unbiased estimate of the power-th power of what the value estimates: intervals are found
 * there and the root taken of their ends. */
void pc_metric_result_inner(pc_metric_result *outcome, double inner, int power);

/* The same for squares of bins, summed over parts and divided by a number.  Bins of equal mass
 * hold equally many rows (most = 1), but classes share rows; how many others hold adds to the
 * variance. */
#define PC_MOST_BY_WIDTH 3.0
#define PC_MOST_BY_CLASS 1.25
void pc_metric_result_debiased(pc_metric_result *outcome, pc_debiased sum, double divisor,
                               double most);
void pc_debiased_add(pc_debiased *into, pc_debiased part);
pc_variance_law pc_debiased_law(const pc_debiased *sum, double divisor, double most);

/* Room for the columns called `names`, up to NULL, of at most `room` points each; the metric
 * sets count. */
PC_CHECKED pcal_status pc_plot_table_new(const pcal_env *env, const char *const *names,
                                         size_t room, pc_plot_table *graph, pcal_error *err);
void pc_plot_table_free(const pcal_env *env, pc_plot_table *graph);

/* The bins behind a value, where a graph is wanted: low, high, weight, confidence, accuracy,
 * the last two NaN in an empty bin; with several parts their number too, as class.  First room
 * for all bins, then part by part. */
PC_CHECKED pcal_status pc_plot_table_bins_new(const pcal_env *env, size_t parts, size_t bins,
                                              pc_plot_table *graph, pcal_error *err);
void pc_plot_table_bins_add(pc_plot_table *graph, size_t part, const pc_bin *bins,
                            size_t count);
/* Both for one part. */
PC_CHECKED pcal_status pc_plot_table_bins(const pcal_env *env, const pc_bin *bins, size_t count,
                                          pc_plot_table *graph, pcal_error *err);

/* The option "view" (auto, top, positive) against the layout: sets reading->need.view and
 * notion, and writes the chosen word back for the echo. */
PC_CHECKED pcal_status pc_metric_choose_view(pc_options *options, size_t index,
                                             const pc_layout *layout, pc_metric_config *reading,
                                             pcal_error *err);

#define PC_VIEW_OPTION                                                                    \
  {                                                                                       \
    "view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive",                        \
        "what is measured: the predicted class (top) or class 1 of two (positive); auto " \
        "takes "                                                                          \
        "positive for a one-column score, else top"                                       \
  }

#endif
