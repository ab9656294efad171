/* Steps of log-odds in cells of groups and bins, shared by the files of group-boosting. */
#ifndef PC_GROUP_BOOSTING_H
#define PC_GROUP_BOOSTING_H

#include "calibrators/calibrator.h"

enum { PC_BOOSTING_STEPS, PC_BOOSTING_BINS, PC_BOOSTING_RATE, PC_BOOSTING_VALIDATE };

#define PC_BOOSTING_STEPS_MAX 10000
#define PC_BOOSTING_SIZE_MAX 4.0 /* of a step, in log-odds */

/* Adds `size` to the log-odds of a class where its probability is in a bin. */
typedef struct pc_boosting_step {
  size_t class_index; /* 1 for two classes and for confidences */
  size_t bin;         /* counted from 1; 0: all probabilities */
  double size;
} pc_boosting_step;

typedef struct pc_boosting_steps {
  pc_boosting_step *steps;
  size_t count;
} pc_boosting_steps;

/* Probabilities that steps change: 1 for two classes and confidences, else one of each class. */
size_t pc_boosting_width(const pc_layout *layout);

/* Where steps begin: fills `row` from the probabilities of all classes, clipped to [2^-52,
 * 1 - 2^-52] and rescaled to sum to one; of confidences `classes` is 1. */
void pc_boosting_begin(const double *probs, const pc_layout *layout, double *row);

/* The bin of a probability, counted from 1: (lo, hi], 0 in the first. */
size_t pc_boosting_bin(double p, size_t bins);

/* Adds `size` to the log-odds of probability k of a row of `width`. */
void pc_boosting_move(double *row, size_t width, size_t k, double size);

/* The weighted log score that the step gains on a row whose class has probability p. */
double pc_boosting_gain(double p, int hit, double size);

/* Sets parameters to room for `count` steps. */
PC_CHECKED pcal_status pc_boosting_steps_new(pcal_calibrator *calibrator, size_t count,
                                             pc_boosting_steps **out, pcal_error *err);

/* The fit of the method. */
PC_CHECKED pcal_status pc_boosting_fit(const pc_fit_task *task, pcal_error *err);

#endif
