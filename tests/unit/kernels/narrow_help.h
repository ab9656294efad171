/* Columns that the kernels for narrow rows fill. */
#ifndef NARROW_HELP_H
#define NARROW_HELP_H

#include "kernels/row_kernels.h"

typedef struct narrow_columns {
  double rest[PC_NARROW_ROWS], rest_square[PC_NARROW_ROWS], gap[PC_NARROW_ROWS];
  int32_t top[PC_NARROW_ROWS];
  pc_narrow_facts facts;
} narrow_columns;

static inline pc_narrow_facts *narrow_into(narrow_columns *columns) {
  columns->facts = (pc_narrow_facts){.rest = columns->rest,
                                     .rest_square = columns->rest_square,
                                     .gap = columns->gap,
                                     .top = columns->top};
  return &columns->facts;
}

#endif
