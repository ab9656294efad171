/* Shared by tests of calibration: a test of a sorted table of scores and outcomes, run for
 * one view or for each class. */
#ifndef PC_CALIBRATION_TEST_H
#define PC_CALIBRATION_TEST_H

#include "metrics/metric.h"

/* Result of a test of one table; zeroed before the call except for `among`. */
typedef struct pc_calibration_test {
  size_t among; /* number of tests of which the smallest p-value is reported; if above 1,
                   p-values must be accurate in the far tail */
  double statistic, p_value;
  const char *cannot; /* reason why there is no test, or NULL */
  pcal_part parts[2];
  size_t part_count;
} pc_calibration_test;

typedef pcal_status (*pc_calibration_test_function)(const pc_options *options,
                                                    const pc_curve_table *table,
                                                    const pcal_env *env,
                                                    pc_calibration_test *out, pcal_error *err);

/* The option "view". */
#define PC_CALIBRATION_TEST_VIEW_OPTION                                                       \
  {                                                                                           \
    "view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive|classwise",                  \
        "the predicted class (top), class 1 of two (positive), or each class (classwise), "   \
        "with the smallest p-value after Holm's correction (two classes give the same test, " \
        "so there is no correction); auto is positive for a one-column score, else top"       \
  }

PC_CHECKED pcal_status pc_calibration_test_configure(pc_options *options, size_t view,
                                                     const pc_layout *layout,
                                                     pc_metric_config *config, pcal_error *err);

/* The same for a test that takes tables of segments with squares: `wants` names the segments
 * that it needs score by score.  classes: also of each class; else view=classwise needs
 * every score. */
PC_CHECKED pcal_status pc_calibration_test_configure_segments(pc_options *options, size_t view,
                                                              const pc_layout *layout,
                                                              int classes,
                                                              pc_metric_config *config,
                                                              pcal_error *err);

/* Sets statistic, p-value and parts of the only table or, for several classes, of the class
 * with the smallest p-value, which is corrected; that class is the part "class". */
PC_CHECKED pcal_status pc_calibration_test_evaluate(const pc_options *options,
                                                    const pc_evidence *evidence,
                                                    const pcal_env *env,
                                                    pc_calibration_test_function test,
                                                    pc_metric_result *out, pcal_error *err);

/* The result of a single test. */
void pc_calibration_test_result(const pc_calibration_test *test, pc_metric_result *out);

/* The score clipped to [0, 1]; stored scores may be outside by 1e-5. */
double pc_calibration_test_score(double score);

#endif
