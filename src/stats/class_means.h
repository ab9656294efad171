/* Is each class predicted as often as it occurs?  A test of the mean score of every class. */
#ifndef PC_CLASS_MEANS_H
#define PC_CLASS_MEANS_H

#include "stats/bins.h"

/* The probability that any class of a calibrated model is called off. */
#define PC_CLASS_MEANS_LEVEL 0.01

/* All zero: no class was added. */
typedef struct pc_class_means {
  size_t classes; /* that were added */
  size_t off;     /* of these, whose mean is off by more than chance */
  size_t worst;   /* class with the largest deviation in units of chance; the first of equals */
  double claimed, observed; /* its mean score, its frequency */
  double margin;            /* of claimed - observed, with 95 % for this class alone */
  double deviate;           /* its deviation as a standard normal deviate */
} pc_class_means;

/* Adds class `out->classes` of `classes` from the bins of its scores; their moments are not
 * read. */
void pc_class_means_add(const pc_bin *bins, size_t count, size_t classes, pc_class_means *out);

#endif
