/* Reads the label column: cells become class numbers. */
#ifndef PC_LABEL_READER_H
#define PC_LABEL_READER_H

#include "data/lazy_labels.h"
#include "io/name_table.h"
#include "io/reader.h"

typedef struct pc_label_reader {
  pc_reader *reader;            /* opened with PC_COLUMN_LABELS */
  const pc_name_table *classes; /* class names; may be empty */
  const char *scores_name;      /* file of the scores, for messages */
  const char *positive; /* label of class 1; NULL: labels are numbers or names of classes */
  char *negative;       /* owned: the other label, once it was seen */
  int binary;           /* one column of scores */
  const char *meaning;  /* remedy for a bad label: "labels are class numbers counted from 0" */
  int32_t *buffer;
  size_t capacity;
  const void *cells; /* of the last window; on `device` unless that is NULL */
  pcal_device *device;
  void *stream;
  char *stage; /* room for the cells that are copied from a device */
  size_t stage_capacity;
  uint64_t first_row; /* index of its first row */
} pc_label_reader;

/* Largest number of rows in a window. */
size_t pc_label_reader_limit(const pc_label_reader *labels);

/* Reads the next labels, as pc_reader_next; first_row is the index of the first row.
 * Missing labels are PCAL_MISSING_LABEL.  *out is valid until the next call.  Labels beyond
 * the number of classes are not refused here. */
PC_CHECKED pcal_status pc_label_reader_next(pc_label_reader *labels, size_t max_rows,
                                            uint64_t first_row, const int32_t **out,
                                            size_t *rows, pcal_error *err);

/* The same, but where possible the labels are not converted yet: *lazy_labels converts them on
 * demand. */
PC_CHECKED pcal_status pc_label_reader_next_lazy(pc_label_reader *labels, size_t max_rows,
                                                 uint64_t first_row, const int32_t **out,
                                                 size_t *rows, pc_lazy_labels *lazy_labels,
                                                 pcal_error *err);

void pc_label_reader_free(pc_label_reader *labels); /* the reader is not closed */

#endif
