/* Readers: chosen columns of a file, as windows of rows.
 *
 * A format is a row of formats/registry.def and one file that defines pc_NAME_open.  A
 * window points into the file if type and layout allow it; otherwise its cells are converted
 * into a buffer of about PC_WINDOW_BYTES. */
#ifndef PC_READER_H
#define PC_READER_H

#include "base/memory.h"
#include "io/formats/csv_header.h"
#include "io/input_file.h"
#include "io/name_table.h"

#define PC_WINDOW_BYTES (1u << 20)

/* What a column is used for. */
typedef enum pc_column_role {
  PC_COLUMN_SCORES = 1, /* F32 if stored as float16 or float32, else F64; any strides */
  PC_COLUMN_NUMBERS,    /* F64 in row order without gaps */
  PC_COLUMN_LABELS, /* as stored, if without gaps; TEXT for one column of a text file; else as
                       NUMBERS */
  PC_COLUMN_TEXT    /* TEXT */
} pc_column_role;

typedef enum pc_cell_type {
  PC_CELLS_F32 = 1,
  PC_CELLS_F64,
  PC_CELLS_I32,
  PC_CELLS_I64,
  PC_CELLS_U8,
  PC_CELLS_BOOL, /* a byte: 0, or anything else for true */
  PC_CELLS_I8,   /* these for labels alone */
  PC_CELLS_I16,
  PC_CELLS_U16,
  PC_CELLS_U32,
  PC_CELLS_U64,
  PC_CELLS_F16,
  PC_CELLS_TEXT /* pc_slice */
} pc_cell_type;

typedef struct pc_window {
  size_t rows;
  const void *data;
  ptrdiff_t row_stride, column_stride; /* in bytes */
  pcal_device *device; /* whose memory `data` points to, with its stream; NULL: the process */
  void *stream;
} pc_window;

typedef struct pc_read_request {
  const pcal_env *env;
  const pc_input_file *bytes; /* env and bytes must outlive the reader */
  const char *selector;       /* columns as in selector.h, or the name of a container's member;
                                 NULL: every column, or the only member */
  const size_t *chosen;       /* columns by number, in place of a selector, or NULL */
  size_t chosen_count;
  pc_column_role as;
  pcal_header header; /* of delimited text files */
  int ragged;         /* scores: rows of lists and objects may be shorter; they end with NaN */
  int deep;           /* an array may have three dimensions: the last two are the columns */
} pc_read_request;

typedef struct pc_reader pc_reader;

typedef struct pc_reader_calls {
  /* As pc_reader_next, with max_rows <= window_limit. */
  pcal_status (*next)(pc_reader *reader, size_t max_rows, pc_window *out, pcal_error *err);
  void (*rewind)(pc_reader *reader);
  /* Line, counted from 1, of a row in the last window; 0 if the format has no lines. */
  uint64_t (*line)(const pc_reader *reader, size_t row);
  void (*close)(pc_reader *reader);
  /* Sets the largest number of rows that the next window can have, 0 at the end.  NULL: no such
   * limit. */
  pcal_status (*ready)(pc_reader *reader, size_t *rows, pcal_error *err);
  /* The row of its file that a row of the last window is.  NULL: one file is all there is. */
  uint64_t (*file_row)(const pc_reader *reader, size_t row);
} pc_reader_calls;

/* A member of a container, read as scores. */
typedef struct pc_member_shape {
  uint64_t rows; /* PCAL_NO_ROW: unknown without reading all */
  size_t columns;
  const char *stored;
} pc_member_shape;

/* Receives each member once, in any order, numbered as in the table of names: its shape or, if it
 * cannot be read, NULL and the reason.  A failure ends the walk. */
typedef struct pc_member_visitor {
  pcal_status (*visit)(void *user, size_t number, const pc_member_shape *shape,
                       const pcal_error *failure, pcal_error *err);
  void *user;
} pc_member_visitor;

typedef struct pc_file_format {
  const char *name;
  const char *extensions; /* separated by '|' */
  const char *about;
  pcal_status (*open)(const pc_read_request *request, pc_reader *out, pcal_error *err);
  /* Adds the names of the members of a container, at least one, to an empty table.  NULL for
   * formats that are no containers. */
  pcal_status (*members)(const pc_input_file *bytes, const pcal_env *env, pc_name_table *out,
                         pcal_error *err);
  /* Visits every member; the file is read once, not once for each.  NULL as above. */
  pcal_status (*visit)(const pc_input_file *bytes, const pcal_env *env,
                       const pc_name_table *names, const pc_member_visitor *visitor,
                       pcal_error *err);
  int is_table; /* the members are columns, which open can also choose together */
} pc_file_format;

/* Filled by a format's open; zeroed beforehand. */
struct pc_reader {
  const pc_file_format *format; /* NULL: closed */
  const pcal_env *env;
  const pc_input_file *bytes; /* its name is used in messages: "file.npy", "file.npz:logits" */
  const pc_reader_calls *calls;
  void *state;
  pc_cell_type cells;
  size_t columns; /* chosen ones */
  size_t depth;   /* length of the third dimension; 0: there is none */
  int on_device;  /* windows point to memory of a device: */
  pcal_device *device;
  int float16;              /* all numbers are 16-bit floats, converted */
  int listed;               /* rows are lists of scores, even if they have one element */
  uint64_t rows;            /* PCAL_NO_ROW while unknown */
  size_t window_limit;      /* largest number of rows in a window */
  const char *const *names; /* of the chosen columns, owned by the reader, or NULL */
  size_t file_columns;      /* all columns of the file */
  int headed;               /* the first line is a header */
  char delimiter;           /* of delimited text, else 0 */
  int decimal_comma;        /* a number has one; only beside the delimiter ';' */
  int keyed;                /* names are keys of objects, which have no order */
  uint64_t row_offset;      /* subtracted from indices of rows in messages */
  uint64_t first_row; /* index of row 0, for formats that name rows; set once it is open */
  char stored[48];    /* type in the file: "float32, big-endian" */
};

#define PC_FORMAT(name, extensions, about)                                                \
  PC_CHECKED pcal_status pc_##name##_open(const pc_read_request *request, pc_reader *out, \
                                          pcal_error *err);
#define PC_CONTAINER(name, extensions, about)                                                 \
  PC_FORMAT(name, extensions, about)                                                          \
  PC_CHECKED pcal_status pc_##name##_members(const pc_input_file *bytes, const pcal_env *env, \
                                             pc_name_table *out, pcal_error *err);            \
  PC_CHECKED pcal_status pc_##name##_visit(const pc_input_file *bytes, const pcal_env *env,   \
                                           const pc_name_table *names,                        \
                                           const pc_member_visitor *visitor, pcal_error *err);
#define PC_TABLE PC_CONTAINER
#include "io/formats/registry.def"
#undef PC_TABLE
#undef PC_CONTAINER
#undef PC_FORMAT

/* The rows of registry.def; NULL at the end. */
const pc_file_format *pc_file_format_at(size_t index);

/* The format of a file, by its extension, bytes->format or, for streams, its first bytes. */
PC_CHECKED pcal_status pc_file_format_find(const pc_input_file *bytes,
                                           const pc_file_format **out, pcal_error *err);

/* Fails with PCAL_USAGE unless a format has this name. */
PC_CHECKED pcal_status pc_file_format_check_name(const char *name, pcal_error *err);

/* Opens a file in the format that pc_file_format_find finds. */
PC_CHECKED pcal_status pc_reader_open(const pc_read_request *request, pc_reader *out,
                                      pcal_error *err);

/* Reads the next max_rows rows, at most window_limit; fewer at the end.  The window is valid
 * until the next call on the reader. */
PC_CHECKED pcal_status pc_reader_next(pc_reader *reader, size_t max_rows, pc_window *out,
                                      pcal_error *err);
/* Sets *rows to the largest number of rows that the next window can have; SIZE_MAX if there is
 * no limit besides max_rows, window_limit and the end. */
PC_CHECKED pcal_status pc_reader_ready(pc_reader *reader, size_t *rows, pcal_error *err);
void pc_reader_rewind(pc_reader *reader);
void pc_reader_close(pc_reader *reader); /* a zeroed reader is allowed */

/* True if the format has lines. */
int pc_reader_has_lines(const pc_reader *reader);

/* The place of a row of the last window, which has the given index in the data set: its
 * line, or for formats without lines the index. */
pc_place pc_reader_place(const pc_reader *reader, size_t row, uint64_t index);

/* The row of its own file that a row of the last window is; PCAL_NO_ROW if there is only one
 * file. */
uint64_t pc_reader_file_row(const pc_reader *reader, size_t row);

/* Finds the columns of a request; the caller owns *chosen. */
PC_CHECKED pcal_status pc_read_request_columns(const pc_read_request *request,
                                               const char *const *names, size_t count,
                                               size_t **chosen, size_t *chosen_count,
                                               pcal_error *err);

/* Number of rows of row_bytes in a window, at least 1. */
size_t pc_window_rows(size_t row_bytes);

#endif
