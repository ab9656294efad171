/* Generated data sets for the laws: every kind of score, with ties, exact 0 and 1, classes of
 * probability 0 and absent groups.  The same bytes on every run. */
#ifndef LAW_DATA_H
#define LAW_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "propercal.h"

typedef struct law_set {
  const char *name;
  pcal_kind kind;
  pcal_type type;
  size_t rows, columns;
  void *scores; /* row after row */
  int32_t *labels;
  double *targets;    /* of regression */
  double *levels;     /* of quantiles, else NULL */
  double *whole;      /* weights 0 to 4 */
  double *fractional; /* weights in [0, 3), some of them 0 */
  uint32_t *groups;   /* 0, 1 and 3: there is no row in group 2 */
} law_set;

#define LAW_GROUPS 4
#define LAW_EMPTY_GROUP 2

/* Small sets, one for each kind and shape; those of classes come first. */
size_t law_set_count(void);
size_t law_class_set_count(void);
law_set *law_set_make(size_t index);

/* Enough scores that threads are really started, also for sums over pairs. */
law_set *law_set_large(void);
/* The same in many short rows. */
law_set *law_set_narrow(void);

void law_set_free(law_set *set);

size_t law_score_size(const law_set *set);

/* A copy of the scores as doubles; the caller frees it. */
double *law_scores_as_doubles(const law_set *set);

/* A random number below limit: draw number `draw` of a stream. */
size_t law_below(uint64_t stream, uint64_t draw, size_t limit);

/* A random order of 0 .. count-1; the caller frees it. */
size_t *law_permutation(uint64_t stream, size_t count);

#endif
