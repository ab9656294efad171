/* Tests of calibration by view: one test of a sorted table of scores and outcomes, made once
 * for the natural view or once for each class. */
#ifndef PC_CALIBRATION_TEST_H
#define PC_CALIBRATION_TEST_H

#include "metrics/metric.h"

/* What a test of one table says; starts zeroed but for `among`. */
typedef struct pc_calibration_test {
  size_t among; /* tests of which the smallest p-value counts: above 1 p-values must hold far
                   out */
  double statistic, p_value;
  const char *cannot; /* why there is none, or NULL */
  pcal_part parts[2];
  size_t part_count;
} pc_calibration_test;

typedef pcal_status (*pc_calibration_test_function)(const pc_options *options,
                                                    const pc_curve_table *table,
                                                    const pcal_env *env,
                                                    pc_calibration_test *out, pcal_error *err);

/* The option "view", at a given index, and what follows from it. */
#define PC_CALIBRATION_TEST_VIEW_OPTION                                                        \
  {                                                                                            \
    "view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive|classwise",                   \
        "what is tested: the predicted class (top), class 1 of two (positive), or each class " \
        "by itself (classwise), where the smallest p-value counts after Holm's correction "    \
        "(of two classes the tests are the same, so nothing is corrected); "                   \
        "auto takes positive for a one-column score, else top"                                 \
  }

PC_CHECKED pcal_status pc_calibration_test_configure(pc_options *options, size_t view,
                                                     const pc_layout *layout,
                                                     pc_metric_config *reading,
                                                     pcal_error *err);

/* One table: its statistic, p-value and parts.  Several: those of the class with the smallest
 * p-value, which is corrected, and the class itself as the part "class". */
PC_CHECKED pcal_status pc_calibration_test_evaluate(const pc_options *options,
                                                    const pc_evidence *evidence,
                                                    const pcal_env *env,
                                                    pc_calibration_test_function test,
                                                    pc_metric_result *out, pcal_error *err);

/* A score inside [0, 1]; as stored it may be off by 1e-5. */
double pc_calibration_test_score(double score);

#endif
