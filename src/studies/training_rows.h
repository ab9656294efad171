/* Rows for a study that trains a model: features and labels of a training and a test set. */
#ifndef PC_TRAINING_ROWS_H
#define PC_TRAINING_ROWS_H

#include "studies/softmax_regression.h"
#include "studies/study.h"

/* A mixture of Gaussians from which rows are drawn if the user gives no data. */
typedef struct pc_gaussian_mixture {
  size_t rows; /* of each of the two sets */
  size_t feature_count, classes;
  double spread; /* standard deviation of the classes' means; that of the rows is 1 */
} pc_gaussian_mixture;

typedef struct pc_training_rows {
  const pcal_env *env;
  size_t feature_count, classes;
  size_t rows[2];      /* to learn from, to judge on */
  double *features[2]; /* standardised by the mean and deviation of the first set */
  int32_t *labels[2];
} pc_training_rows;

/* Reads the user's features, or scores of a model as features with its second set as training
 * set; without a second set a random half of the rows; without data, draws rows of the mixture.
 * The rows are freed with the study. */
PC_CHECKED pcal_status pc_training_rows_get(const pc_study_job *job,
                                            const pc_gaussian_mixture *mixture,
                                            pc_training_rows *out, pcal_error *err);

/* Set 0 is the training set, 1 the test set; borrowed. */
pc_labelled_rows pc_training_rows_set(const pc_training_rows *rows, size_t set);

#endif
