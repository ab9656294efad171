/* Sums of columns, for scores that all fall into one cell: one portable source, compiled once
 * for each instruction set (row_kernels.h).
 *
 * A score s with |s| <= anchor / 3, anchor = 1.5 * 2^e, is added as the integer
 * bits(anchor + s) - bits(anchor): s rounded to a multiple of 2^(e-52).  The caller takes
 * bits(anchor) off again, once for each row, so that a column costs two additions a row; all
 * arithmetic is modulo 2^64, and exact for up to 4095 rows. */
#ifndef PC_CLASS_COLUMN_SUMS_H
#define PC_CLASS_COLUMN_SUMS_H

#include <stddef.h>
#include <stdint.h>

#define PC_CLASS_COLUMN_ROWS 4095

typedef struct pc_class_column_rule {
  double last;  /* scores up to here belong to the cell */
  double above; /* and only scores above this count; -INFINITY: all */
  double anchor;
} pc_class_column_rule;

/* One number for each column. */
typedef struct pc_class_column_sums {
  uint64_t *score;  /* bits(anchor + score), or bits(anchor) for scores that do not count */
  uint64_t *square; /* the same of score^2; NULL: not wanted */
  uint64_t *kept;   /* scores that count; NULL: not wanted, and then `above` is not looked at */
} pc_class_column_sums;

typedef struct pc_class_column_kernels {
  const char *name;
  /* Adds one row of scores; returns how many of them are beyond the cell. */
  size_t (*add)(const double *scores, size_t count, const pc_class_column_rule *rule,
                const pc_class_column_sums *sums);
} pc_class_column_kernels;

extern const pc_class_column_kernels pc_class_column_kernels_portable;

/* As pc_row_kernels_at and pc_row_kernels_best. */
const pc_class_column_kernels *pc_class_column_kernels_at(size_t index);
const pc_class_column_kernels *pc_class_column_kernels_best(void);

#endif
