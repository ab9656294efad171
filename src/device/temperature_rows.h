/* Arguments and results of the kernels of temperature_rows_body.h, shared by the host, the GPU and
 * tests. */
#ifndef PC_TEMPERATURE_ROWS_H
#define PC_TEMPERATURE_ROWS_H

#include <stdint.h>

#define PC_TEMPERATURE_ROWS_THREADS 128 /* of a block */
#define PC_TEMPERATURE_ROWS_LANES 8     /* threads of a wide row */
#define PC_TEMPERATURE_ROWS_SLOPES 6    /* PC_TEMPERATURE_SLOPES */
#define PC_TEMPERATURE_ROWS_VALUES 8    /* of a row: loss, slopes, loss at beta = 1 */
#define PC_TEMPERATURE_ROWS_ONE 7       /* the last of them */

/* Addresses are of the GPU. */
typedef struct pc_temperature_rows {
  const void *scores;     /* row after row, without gaps */
  const void *labels;     /* one for each row */
  const uint32_t *chosen; /* the rows to work on; NULL: all */
  double *values;  /* out: columns of `rows` numbers, PC_TEMPERATURE_ROWS_VALUES of them */
  uint64_t *words; /* results, below */
  uint64_t rows;
  uint32_t classes;
  uint32_t label_size; /* bytes: 8, 4 (signed) or 1 (unsigned) */
  uint32_t with_one;   /* 1: the loss at beta = 1 too */
  double beta;
} pc_temperature_rows;

/* Results: words that begin as 0; then PC_VALUE_SUMS_LIMBS limbs for each column. */
enum {
  PC_TEMPERATURE_ROWS_ODD,    /* 1: a row must be checked by the host */
  PC_TEMPERATURE_ROWS_MISSED, /* 1: a label does not have the largest score of its row */
  PC_TEMPERATURE_ROWS_FIRST   /* limb */
};

/* Exact sums of columns of doubles. */
#define PC_VALUE_SUMS_THREADS 128
#define PC_VALUE_SUMS_ROWS 4096 /* of a block: its sums of pieces stay below 2^62 */
#define PC_VALUE_SUMS_PIECES 5
#define PC_VALUE_SUMS_LIMBS 70 /* PC_SUM_LIMBS */

typedef struct pc_value_sums {
  const double *values; /* column after column */
  uint64_t *words;      /* as those of pc_temperature_rows */
  uint64_t rows;        /* of a column */
} pc_value_sums;

#define PC_TEMPERATURE_ROWS_WORDS \
  (PC_TEMPERATURE_ROWS_FIRST + PC_TEMPERATURE_ROWS_VALUES * PC_VALUE_SUMS_LIMBS)

/* Rows of a sample: those whose key (kernels/sample_key.h) starts with `level` zero bits. */
#define PC_SAMPLE_ROWS_THREADS 128
#define PC_SAMPLE_ROWS_MAX 4096

typedef struct pc_sample_found {
  uint32_t count; /* may exceed PC_SAMPLE_ROWS_MAX; rows beyond are not listed */
  uint32_t odd;   /* 1: a label is no class */
  uint64_t key[PC_SAMPLE_ROWS_MAX];
  uint32_t row[PC_SAMPLE_ROWS_MAX]; /* in no particular order */
} pc_sample_found;

typedef struct pc_sample_rows {
  const void *scores, *labels; /* as above */
  pc_sample_found *found;
  uint64_t rows;
  uint32_t classes, label_size, level;
} pc_sample_rows;

#endif
