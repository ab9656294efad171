/* A report: everything about one model, before and after a calibrator.
 *
 * pc_page_run measures once; the writers only format.  Results of the table have intervals and no
 * curves.  Figures are drawn from separate results, which have curves and borrow the intervals, so
 * that nothing expensive is measured twice. */
#ifndef PC_PAGE_H
#define PC_PAGE_H

#include "calibrators/calibrator.h"
#include "figure/class_order.h"
#include "output/inspect.h"
#include "output/write_comparison.h"
#include "output/write_results.h"

#define PC_PAGE_FOLDS 5
#define PC_PAGE_CLASSES 20 /* in the table of classes, at most */
#define PC_PAGE_LEVELS 9   /* in the table of intervals, at most */

typedef enum pc_page_time { PC_PAGE_BEFORE, PC_PAGE_AFTER } pc_page_time;

typedef struct pc_page_preset pc_page_preset; /* page_preset.h */

typedef struct pc_page_side {
  pcal_results *key;   /* metrics of the table */
  pcal_results *drawn; /* source of the figures and the table of classes */
} pc_page_side;

typedef struct pc_page_figure {
  const pcal_registry_row *row;
  pc_text svg[2]; /* by pc_page_time; empty where the figure does not suit the data */
} pc_page_figure;

struct pcal_report {
  pcal_env env;
  char *title, *command, *input_flags, *val_flags, *calibrator_file; /* or NULL */
  double level;
  int by_cluster;               /* intervals keep clusters of rows together */
  const pc_page_preset *preset; /* or NULL */
  int chosen_metrics;           /* the caller named them */
  int repaired;                 /* there is an after side */
  int given;                    /* the caller gave the calibrator */
  int second;                   /* the calibrator was fitted to other rows */
  int from_results;             /* the before side is borrowed, and there were no rows */
  pc_page_side side[2];
  char method[PC_SPEC_MAX]; /* short spec; "" without a calibrator */
  const pcal_registry_row *method_row;
  pc_text described, described_json; /* the calibrator */
  pcal_comparison *comparison;       /* or NULL */
  pc_faults faults;
  pc_page_figure *figures;
  size_t figure_count;
};

/* As pcal_report_run for checked arguments. */
PC_CHECKED pcal_status pc_page_run(pcal_source *source, const pcal_report_config *config,
                                   const pcal_env *env, pcal_report **out, pcal_error *err);
/* As pcal_report_from_results for checked arguments. */
PC_CHECKED pcal_status pc_page_from_results(const pcal_results *results,
                                            const pcal_report_config *config, pcal_report **out,
                                            pcal_error *err);
void pc_page_free(pcal_report *report);

/* Measures the requests of the figures on one side, and borrows intervals from its key results. */
PC_CHECKED pcal_status pc_page_measure_figures(pcal_report *report, pcal_source *source,
                                               const pcal_report_config *config,
                                               pc_page_time time, pcal_error *err);
/* Draws all figures that suit the data. */
PC_CHECKED pcal_status pc_page_draw(pcal_report *report, pcal_error *err);

/* The writers. */
void pc_page_html(const pcal_report *report, pc_text *out);
void pc_page_json(const pcal_report *report, pc_text *out);
PC_CHECKED pcal_status pc_page_markdown(const pcal_report *report, pc_text *out,
                                        pcal_error *err);

/* Parts of the page. */
void pc_page_key_table(const pcal_report *report, pc_text *out);
void pc_page_class_table(const pcal_report *report, pc_text *out);
/* The levels of central intervals whose coverage the page shows: 50, 80, 90 and 95 %, or those of
 * the predicted quantiles; none for predictions of classes.  Returns their number. */
size_t pc_page_coverage_levels(const pc_layout *layout, double out[PC_PAGE_LEVELS]);
/* Writes the metric of a level: "interval-coverage:level=0.9". */
void pc_page_coverage_spec(double level, char out[PC_FIGURE_SPEC_SIZE]);
/* Nothing for predictions of classes. */
void pc_page_coverage_table(const pcal_report *report, pc_text *out);
void pc_page_coverage_markdown(const pcal_report *report, pc_text *out);
/* Nothing without groups. */
void pc_page_group_table(const pcal_report *report, pc_text *out);
void pc_page_group_markdown(const pcal_report *report, pc_text *out);
void pc_page_bin_table(const pcal_results *results, pc_text *out);
void pc_page_comparison_table(const pcal_report *report, pc_text *out);
void pc_page_conventions(const pcal_report *report, pc_text *out);
void pc_page_citations(const pcal_report *report, pc_text *out);

/* Writes problem number `index` of the data as one sentence; returns 0 if there is none. */
int pc_page_problem(const pcal_report *report, size_t index, pc_text *out);
/* Calls use for each remark about a number that is uncertain. */
void pc_page_remarks(const pcal_report *report, void (*use)(const char *sentence, pc_text *out),
                     pc_text *out);
/* Explains the convention of the Brier score of two classes, with the value of the other
 * convention; writes nothing for other data. */
void pc_page_brier(const pcal_report *report, pc_text *out);
/* Writes the commands that reproduce the report, one on each line. */
void pc_page_commands(const pcal_report *report, pc_text *out);
/* Writes how the calibrator was obtained: "fitted to the second set". */
void pc_page_calibrator_origin(const pcal_report *report, pc_text *out);

/* The title of the report, or a default. */
const char *pc_page_title(const pcal_report *report);

/* The metric's row of a record. */
const pcal_registry_row *pc_page_metric_row(const pcal_results *results,
                                            const pc_result_record *record);

/* Means over the bins of a class: its mean predicted probability, and its share of the rows. */
typedef struct pc_page_class {
  double claimed, observed;
} pc_page_class;

pc_page_class pc_page_class_means(const pc_result_record *record, size_t class);

#endif
