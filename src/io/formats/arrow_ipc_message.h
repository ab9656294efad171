/* Messages of the Arrow IPC format, in streams and in files (Feather version 2). */
#ifndef PC_ARROW_IPC_MESSAGE_H
#define PC_ARROW_IPC_MESSAGE_H

#include "io/formats/flat_table.h"
#include "io/input_file.h"

typedef enum pc_arrow_ipc_kind {
  PC_ARROW_IPC_END = 0,
  PC_ARROW_IPC_SCHEMA = 1,
  PC_ARROW_IPC_DICTIONARY = 2,
  PC_ARROW_IPC_BATCH = 3
} pc_arrow_ipc_kind;

typedef struct pc_arrow_ipc_message {
  pc_arrow_ipc_kind kind;
  pc_flat_table header; /* Schema, DictionaryBatch or RecordBatch */
  const unsigned char *body;
  size_t body_length;
} pc_arrow_ipc_message;

/* Functions return NULL, or a static text that describes the defect of the file.  Callers
 * compare the returned pointer with these three: out of memory, a buffer beyond the unpack
 * ratio, interrupted. */
extern const char PC_ARROW_IPC_MEMORY[], PC_ARROW_IPC_RATIO[], PC_ARROW_IPC_INTERRUPTED[];

/* Position of the first message. */
size_t pc_arrow_ipc_begin(const unsigned char *data, size_t length);

/* Reads the message at *at and moves past it. */
const char *pc_arrow_ipc_next(const unsigned char *data, size_t length, size_t *at,
                              pc_arrow_ipc_message *out);

#endif
