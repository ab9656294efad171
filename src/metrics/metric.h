/* A metric: a registry row, its data needs, and the function that computes its value. */
#ifndef PC_METRIC_H
#define PC_METRIC_H

#include <math.h>

#include "base/number.h"
#include "base/options.h"
#include "curve/curve_bins.h"
#include "machines/machine.h"
#include "stats/interval.h"

/* Properties of a metric that the engine and the law tests rely on. */
typedef enum pc_metric_trait {
  PC_ORDER_FREE = 1,        /* does not depend on the order of rows */
  PC_MERGEABLE = 2,         /* states of parts can be merged */
  PC_FREQUENCY_WEIGHTS = 4, /* a row of whole weight w equals w rows */
  PC_WHOLE_WEIGHTS = 8,     /* refuses weights that are not whole numbers */
  PC_NEEDS_CLASSES = 16,    /* needs the probabilities of all classes */
  PC_SHARE = 32,            /* the value is a share of rows */
  PC_LOSS = 64,             /* an increasing function of the mean of nonnegative row values */
  PC_PARTS_IN_TEXT = 256,   /* text output shows the parts below the value */
  PC_NO_WEIGHTS = 1024,     /* refuses all weights */
  PC_BY_INDEX = 2048,       /* depends on row indices, which must be unique */
  PC_NO_OUTCOMES = 4096,    /* does not depend on outcomes */
  PC_SQUARED = 8192,        /* already a squared error or a score: studies do not square it */
  PC_OF_THE_SAMPLE = 16384, /* depends on the sample size: has no population value */
  PC_KNOWN_IF_CALIBRATED = 131072, /* a calibrated model has a known value, 0 or 1, beside which
                                      no null is needed */
  PC_LARGEST_OF_GROUPS = 262144,   /* with groups, the value of all rows is the largest over
                                      the groups */
  PC_SEVERAL_TARGETS = 524288,     /* for several targets in each row, and for nothing else */
  PC_PROPER_SCORE =
      65536 /* a proper score: under an injective map of the predictions its change
               equals that of its calibration error */
} pc_metric_trait;

/* The numbers that the true value of a metric can be.  An interval leaves them only to contain its
 * own estimate: unbiased estimates of squares may be negative. */
typedef struct pc_range {
  double low, high;
} pc_range;

#define PC_RANGE_SHARE \
  { 0.0, 1.0 }
#define PC_RANGE_FROM_ZERO \
  { 0.0, INFINITY }
#define PC_RANGE_ANY \
  { -INFINITY, INFINITY }

#define PC_PARTS_MAX 8
#define PC_PLOT_TABLE_COLUMNS 8

/* Data behind a value, for plots: columns of equal length. */
typedef struct pc_plot_table {
  int wanted; /* 0: evaluate leaves the table empty */
  size_t column_count, count;
  const char *names[PC_PLOT_TABLE_COLUMNS];
  double *columns[PC_PLOT_TABLE_COLUMNS]; /* one allocation, at columns[0] */
} pc_plot_table;

typedef struct pc_metric_result {
  double value;
  int undefined;   /* there is no value; `why` is the reason */
  char why[192];   /* reason for an undefined or infinite value */
  int inner_power; /* 0: no inner value; else the value estimates E(inner)^(1/inner_power) */
  double inner;    /* unbiased, unlike the value; may be negative */
  double inner_unseen; /* as part_unseen */
  pc_variance_model inner_variance,
      part_variances[PC_PARTS_MAX]; /* variances of inner and of parts */
  double square; /* root mean squares of gaps: their square without the part that chance adds */
  pc_variance_model square_variance; /* of `square`; noise is 0 if it is unknown */
  int se_wanted;                     /* 0: evaluate may leave out an expensive standard error */
  unsigned cell_level;               /* of cells that the metric has asked for; 0: unknown */
  double se;                         /* standard error, if config.has_se; NaN: there is none */
  pc_interval_scale scale;           /* on which intervals by formula are computed */
  pc_interval_noise noise;           /* for PC_SCALE_NORM */
  pc_interval_count count;           /* if linear in a number of events */
  int pairs_on_device;               /* a device has compared the pairs of rows */
  double null_mean; /* of a calibrated model with these scores, in closed form; 0: unknown */
  int tested;       /* the metric is a test with this p-value */
  double p_value;
  pcal_part parts[PC_PARTS_MAX];
  uint8_t part_unbiased[PC_PARTS_MAX]; /* unbiased parts; most others are biased */
  double part_unseen[PC_PARTS_MAX]; /* what one row that the data lack may add, times the number
                                       of rows; 0: unknown */
  uint8_t
      part_twin[PC_PARTS_MAX]; /* of biased parts: the unbiased part with the same true value;
                                        0: none */
  uint8_t part_errors[PC_PARTS_MAX]; /* parts that are 0 if the model is calibrated */
  size_t part_count;
  char part_names[PC_PARTS_MAX][PC_NUMBER_MAX]; /* storage for part names that are numbers */
  double *class_values; /* one per class, or NULL; freed with the results */
  size_t class_count;
  pc_plot_table graph;
} pc_metric_result;

/* What a norm of gaps (score less frequency of hits) is at least, with every row in some gap. */
typedef enum pc_gap_norm {
  PC_GAPS_OTHER,   /* unknown */
  PC_GAPS_MEAN,    /* the mean of absolute gaps */
  PC_GAPS_SQUARES, /* the root mean square of gaps */
  PC_GAPS_LARGEST  /* the largest gap, of however few rows */
} pc_gap_norm;

/* How a metric is computed for given options and data. */
typedef struct pc_metric_config {
  pc_need need; /* starts zeroed */
  pcal_notion notion;
  pcal_bound bound;
  pcal_interval_method interval; /* preferred interval method; 0: chosen from `bound` */
  pc_range range;                /* initially that of the metric; options may change it */
  double most;                   /* largest possible value of a norm of gaps; 0: not a norm */
  pc_gap_norm gaps;
  int has_se;       /* evaluate sets the standard error: no replicas are needed */
  int whole_curve;  /* every score of the curve is needed; `wants` is not called */
  int sorts_alone;  /* one process sorts every score; only rounds call `wants` and `cells` */
  int on_cells;     /* replicas may join the scores of a curve in narrow cells */
  double cells_end; /* on_cells: from this weight of all rows on cells are too wide; 0: never */
  int scores_alone; /* evaluate cannot read sums before ranges of scores (PC_CURVE_REPLICA) */
  pc_curve_binning binning; /* of a curve: its bins; replicas need no more than their sums */
  int debiased;             /* the value is the root of an unbiased square */
  unsigned traits;          /* initially those of the metric; options may change them */
} pc_metric_config;

typedef struct pc_metric {
  pcal_registry_row row;
  pc_range range; /* both 0: [0, infinity) if the row has a bound, else any number */
  unsigned traits;
  double largest_loss;  /* PC_LOSS: the largest value of a row; 0: unbounded, logarithmic */
  double if_calibrated; /* PC_KNOWN_IF_CALIBRATED: the value of a calibrated model */
  const char *for_any_weights; /* PC_WHOLE_WEIGHTS: a spec that takes others too, or NULL */
  const char *interval_remark; /* how intervals fall short of their level, or NULL */
  /* The largest value of a row by the options, 0: unbounded; NULL: largest_loss. */
  double (*loss_limit)(const pc_options *options);
  /* Resolves options that depend on the data (results show them as resolved) and fills the
   * config. Fails if the metric does not apply to the layout. */
  pcal_status (*configure)(pc_options *options, const pc_layout *layout,
                           pc_metric_config *config, pcal_error *err);
  /* Computes the value; evidence->total > 0. */
  pcal_status (*evaluate)(const pc_options *options, const pc_evidence *evidence,
                          const pcal_env *env, pc_metric_result *out, pcal_error *err);
  /* Of a metric whose value is the largest over groups: an interval that holds, for all
   * groups together, with the level.  NULL: the value over all rows does not depend on groups. */
  pc_interval (*bounds)(const pc_options *options, const pc_evidence *evidence, double level);
  /* Marks the segments of a bucket curve (curve/bucket_curve.h) that evaluate needs score by
   * score, and returns how many were newly marked.  NULL: all segments. */
  size_t (*wants)(const pc_options *options, const pc_curve_table *table, uint8_t *wanted);
  /* In place of `wants` for a metric that joins scores in cells (curve/point_masses.h): sets
   * *level to the level of the cells whose borders no segment may cross, or to PC_EACH_SCORE
   * if all scores are needed, or to 0 if evaluate is already exact.  *level is at first the level
   * that the metric has asked for before, or 0. */
  pcal_status (*cells)(const pc_options *options, const pc_curve_table *table,
                       const pcal_env *env, unsigned *level, pcal_error *err);
  /* For a metric that fits a logistic regression to all scores: the next points at which it
   * needs sums over them, the most urgent first (table->logits has those of earlier passes);
   * returns how many, at most PC_REFINE_POINTS_MAX, or 0 if evaluate needs no more.  Only
   * rounds (measure/rounds.h) ask: in one process such a metric reads a table of scores. */
  size_t (*next_points)(const pc_options *options, const pc_curve_table *table,
                        pc_logit_point *out);
} pc_metric;

/* The range that a metric declares, or the one that follows from its bound. */
pc_range pc_metric_range(const pc_metric *metric);

size_t pc_metric_count(void);
const pc_metric *pc_metric_at(size_t index);
const pc_metric *pc_metric_find(const char *name); /* the first row of that name, or NULL */
/* The row of that name for the task of a form, or NULL. */
const pc_metric *pc_metric_find_for(pc_form form, const char *name);

/* Groups of metrics; row->formula holds the specs, separated by spaces. */
size_t pc_metric_group_count(void);
const pcal_registry_row *pc_metric_group_at(size_t index);
const pcal_registry_row *pc_metric_group_find(const char *name);

/* Notions of calibration, from the strongest to the weakest. */
const pcal_registry_row *pc_calibration_notion_at(size_t index);

/* Finds the row of a spec, whose name may be an alias (base/aliases.def), and parses its
 * options.  For an unknown name the error suggests the nearest one. */
PC_CHECKED pcal_status pc_metric_parse(const char *alias, const pc_metric **metric,
                                       pc_options *options, pcal_error *err);

/* The same, restricted to the task of a form; fails if the metric exists only for the other
 * task. */
PC_CHECKED pcal_status pc_metric_parse_for(pc_form form, const char *alias,
                                           const pc_metric **metric, pc_options *options,
                                           pcal_error *err);

/* Allocates class_values, set to 0. */
PC_CHECKED pcal_status pc_metric_result_classes(pc_metric_result *result, const pcal_env *env,
                                                size_t count, pcal_error *err);

/* An `evaluate` for metrics that are the mean of one row value. */
PC_CHECKED pcal_status pc_metric_evaluate_mean(const pc_options *options,
                                               const pc_evidence *evidence, const pcal_env *env,
                                               pc_metric_result *out, pcal_error *err);

/* Adds a part; ignored beyond PC_PARTS_MAX.  The name is not copied. */
void pc_metric_result_part(pc_metric_result *result, const char *name, double value);
/* The same for a part that is an unbiased estimate; law: its distribution, zeroed if unknown. */
void pc_metric_result_unbiased_part(pc_metric_result *result, const char *name, double value,
                                    pc_variance_model law);
/* Says of the part added last whether it is 0 for a calibrated model, and how much one row that the
 * data lack may add to it, times the number of rows (0: unknown). */
enum { PC_PART_IS_ERROR = 1 };
void pc_metric_result_about_part(pc_metric_result *result, int is_error, double unseen);
/* Says that the part added last is unbiased and has the same true value as the biased part
 * `biased`. */
void pc_metric_result_twin(pc_metric_result *result, size_t biased);
/* Adds a part whose name is a number: "0.9". */
void pc_metric_result_part_at(pc_metric_result *result, double number, double value);

/* Sets an unbiased estimate of the power-th power of the quantity that the value estimates.
 * Intervals are computed for this estimate, and then the power-th root of their ends is
 * taken. */
void pc_metric_result_inner(pc_metric_result *result, double inner, int power);

/* Values of `most` below: bins of equal width; bins of equal mass, of each of several classes. */
#define PC_MOST_BY_WIDTH 3.0
#define PC_MOST_BY_CLASS 1.25

/* What one row in a bin that the data lack may add to a debiased square: a gap of one quarter. */
#define PC_UNSEEN_SQUARE 0.0625

/* Sets an inner value as pc_metric_result_inner does, from debiased squares of bins, summed over
 * parts and divided by `divisor`.  `most`: see pc_variance_model; larger for bins of unequal
 * mass, 1 for bins of equal mass. */
void pc_metric_result_debiased(pc_metric_result *result, pc_debiased sum, double divisor,
                               double most);
/* Sets the square of a root mean square that is not debiased, for its interval.  Samples differ
 * in their scores too: one score for each row, multiply the slope by PC_SLOPE_ONE_SCORE. */
#define PC_SLOPE_ONE_SCORE 1.1
void pc_metric_result_square(pc_metric_result *result, const pc_debiased *sum, double divisor,
                             double slope);
void pc_debiased_add(pc_debiased *into, pc_debiased part);
pc_variance_model pc_debiased_variance(const pc_debiased *sum, double divisor, double most);

/* Allocates columns for up to `room` points.  `names` ends with NULL.  The metric sets
 * count. */
PC_CHECKED pcal_status pc_plot_table_new(const pcal_env *env, const char *const *names,
                                         size_t room, pc_plot_table *graph, pcal_error *err);
void pc_plot_table_free(const pcal_env *env, pc_plot_table *graph);

/* The bins behind a value, if graph->wanted: columns low, high, weight, confidence, accuracy
 * (the last two NaN for an empty bin) and, with several parts, class.
 * pc_plot_table_bins_new allocates, pc_plot_table_bins_add appends the bins of one part. */
PC_CHECKED pcal_status pc_plot_table_bins_new(const pcal_env *env, size_t parts, size_t bins,
                                              pc_plot_table *graph, pcal_error *err);
void pc_plot_table_bins_add(pc_plot_table *graph, size_t part, const pc_bin *bins,
                            size_t count);
/* Both, for one part. */
PC_CHECKED pcal_status pc_plot_table_bins(const pcal_env *env, const pc_bin *bins, size_t count,
                                          pc_plot_table *graph, pcal_error *err);

/* Resolves the option "view" (auto, top, positive) for the layout: sets config->need.view and
 * notion, and replaces auto by the choice. */
PC_CHECKED pcal_status pc_metric_choose_view(pc_options *options, size_t index,
                                             const pc_layout *layout, pc_metric_config *config,
                                             pcal_error *err);

/* Choices of the option "view", in its order. */
enum { PC_CHOICE_AUTO, PC_CHOICE_TOP, PC_CHOICE_POSITIVE };

#define PC_VIEW_OPTION                                                                    \
  {                                                                                       \
    "view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive",                        \
        "the predicted class (top) or class 1 of two (positive); auto is positive for a " \
        "one-column score, else top"                                                      \
  }

#endif
