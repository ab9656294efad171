/* The schema of an Arrow IPC file as an ArrowSchema. */
#ifndef PC_ARROW_IPC_SCHEMA_H
#define PC_ARROW_IPC_SCHEMA_H

#include "base/memory.h"
#include "io/formats/arrow_ipc_message.h"

/* Nesting of columns that is read. */
#define PC_ARROW_IPC_DEPTH 8

/* How many buffers a column has in a batch, and of which kind. */
typedef enum pc_arrow_ipc_layout {
  PC_ARROW_IPC_FIXED,       /* validity, values of `bits` bits */
  PC_ARROW_IPC_TEXT,        /* validity, offsets of `bits` bits, bytes */
  PC_ARROW_IPC_VIEWS,       /* validity, views, any number of data buffers */
  PC_ARROW_IPC_LISTS,       /* validity, offsets of `bits` bits; one child */
  PC_ARROW_IPC_FIXED_LISTS, /* validity; one child with `width` values for each row */
  PC_ARROW_IPC_STRUCT,      /* validity; children */
  PC_ARROW_IPC_OTHER        /* `buffers` buffers and children, which are skipped */
} pc_arrow_ipc_layout;

/* Private data of every ArrowSchema of pc_arrow_ipc_schema_read below the root. */
typedef struct pc_arrow_ipc_field {
  pc_arrow_ipc_layout layout;
  unsigned bits;
  int32_t width;
  size_t buffers;
  int64_t dictionary_id; /* if the schema has a dictionary */
  char format[16];
} pc_arrow_ipc_field;

/* Fills *out, which the caller releases unless the call failed. */
const char *pc_arrow_ipc_schema_read(const pc_flat_table *schema, const pcal_env *env,
                                     struct ArrowSchema *out);

#endif
