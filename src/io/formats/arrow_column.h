/* Columns of Arrow record batches: types from the schema, values batch by batch. */
#ifndef PC_ARROW_COLUMN_H
#define PC_ARROW_COLUMN_H

#include "io/formats/arrow_table.h"
#include "io/formats/element_type.h"
#include "io/slice.h"

typedef enum pc_arrow_kind {
  PC_ARROW_NUMBER = 1,
  PC_ARROW_BOOL,
  PC_ARROW_TEXT,
  PC_ARROW_DICTIONARY /* of text */
} pc_arrow_kind;

typedef struct pc_arrow_column {
  const char *file, *name; /* names of the table and of the column */
  size_t child;            /* index in a batch */
  int is_list;             /* lists of numbers */
  int has_offsets;         /* lists of any size: arrow_lists.h sets width and checks them */
  size_t width;            /* values in a row */
  int ragged;              /* lists may be shorter than width */
  int nulls;               /* type null: numbers, all of them missing */
  pc_arrow_kind kind;      /* of the values */
  pc_element_type number;  /* of numbers, and of indices into a dictionary */
  int wide;                /* text or lists have 64-bit offsets */
  int views;               /* text is stored as string views */
} pc_arrow_column;

/* Finds a column by name.  Fails with PCAL_USAGE if there is no such column or several, with
 * PCAL_DATA if its type is not supported. */
PC_CHECKED pcal_status pc_arrow_column_find(const pc_arrow_table *table, const char *name,
                                            pc_arrow_column *out, pcal_error *err);

/* A column in one batch; borrowed. */
typedef struct pc_arrow_part {
  const pc_arrow_column *column;
  const struct ArrowArray *values;     /* the column, or the child of its lists */
  const void *offsets;                 /* of lists that have offsets, else NULL */
  uint64_t first_value;                /* index of the first value of row 0; with offsets: of
                                          the child array */
  uint64_t first_row, first_batch_row; /* bit of row 0 in row_bits and batch_bits */
  const unsigned char *batch_bits, *row_bits,
      *value_bits; /* validity bitmaps; NULL: no nulls */
} pc_arrow_part;

/* Fails with PCAL_DATA if the batch does not match the column. */
PC_CHECKED pcal_status pc_arrow_part_find(const pc_arrow_column *column,
                                          const struct ArrowArray *batch, pc_arrow_part *out,
                                          pcal_error *err);

/* True if the part certainly has no nulls. */
int pc_arrow_part_full(const pc_arrow_part *part);

/* True if a row is null as a whole. */
int pc_arrow_part_row_null(const pc_arrow_part *part, size_t row);

/* True if value `column` of a row that is not a list with offsets is null. */
int pc_arrow_part_null(const pc_arrow_part *part, size_t row, size_t column);

/* Element `index` of an array of offsets, which have 64 bits if the column is wide. */
int64_t pc_arrow_offset(const pc_arrow_column *column, const void *offsets, uint64_t index);

/* Address of the first value of a row of numbers that are not lists with offsets. */
const unsigned char *pc_arrow_part_at(const pc_arrow_part *part, size_t row);

/* Of lists with offsets: the address of a value by its index in the child array, and whether it
 * is null. */
const unsigned char *pc_arrow_part_value(const pc_arrow_part *part, uint64_t index);
int pc_arrow_part_value_null(const pc_arrow_part *part, uint64_t index);

/* The value of a row of booleans. */
int pc_arrow_part_true(const pc_arrow_part *part, size_t row);

/* The text of a row that is not null; empty for a null inside the dictionary.  Fails with
 * PCAL_DATA if offsets or indices are invalid. */
PC_CHECKED pcal_status pc_arrow_part_text(const pc_arrow_part *part, size_t row, pc_slice *out,
                                          pcal_error *err);

#endif
