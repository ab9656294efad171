/* For every class, the sum over rows of the scores that fall into the first cell of a grid.  A
 * kernel table: see dispatch.h.
 *
 * A score s with |s| <= anchor / 3, anchor = 1.5 * 2^e, is added as the integer
 * bits(anchor + s) - bits(anchor), which is s in units of 2^(e-52).  The caller subtracts
 * bits(anchor) once for each row, so that a score costs two additions.  All arithmetic is
 * modulo 2^64 and exact for up to 4095 rows. */
#ifndef PC_CLASS_COLUMN_SUMS_H
#define PC_CLASS_COLUMN_SUMS_H

#include <stddef.h>
#include <stdint.h>

#define PC_CLASS_COLUMN_ROWS 4095

typedef struct pc_class_column_rule {
  double last;  /* scores up to this belong to the cell */
  double above; /* only scores above this count; -INFINITY: all */
  double anchor;
} pc_class_column_rule;

/* One number for each class. */
typedef struct pc_class_column_sums {
  uint64_t *score;  /* bits(anchor + score), or bits(anchor) for scores that do not count */
  uint64_t *square; /* the same for score^2; NULL: not computed */
  uint64_t *kept; /* number of scores that count; NULL: not computed, and `above` is ignored */
} pc_class_column_sums;

typedef struct pc_class_column_kernels {
  /* Adds one row of scores; returns the number of scores above `last`. */
  size_t (*add)(const double *scores, size_t count, const pc_class_column_rule *rule,
                const pc_class_column_sums *sums);
} pc_class_column_kernels;

#endif
