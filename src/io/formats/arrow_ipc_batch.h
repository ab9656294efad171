/* Record batches and dictionaries of an Arrow IPC file as ArrowArrays. */
#ifndef PC_ARROW_IPC_BATCH_H
#define PC_ARROW_IPC_BATCH_H

#include "io/formats/arrow_ipc_schema.h"

/* The values of a dictionary, shared by the batches that use them. */
typedef struct pc_arrow_ipc_values {
  size_t users; /* the last one frees it */
  struct ArrowArray array;
} pc_arrow_ipc_values;

typedef struct pc_arrow_ipc_dictionary {
  int64_t id;
  pc_arrow_ipc_values *values; /* the newest ones, or NULL */
} pc_arrow_ipc_dictionary;

/* What is needed to read a batch besides its message. */
typedef struct pc_arrow_ipc_context {
  const pcal_env *env; /* copied into every batch */
  pc_arrow_ipc_dictionary *dictionaries;
  size_t dictionary_count;
} pc_arrow_ipc_context;

/* Reads a record batch with the columns of a schema of arrow_ipc_schema.h.  Values stay in the
 * body, which must outlive *out; the caller releases *out unless the call failed. */
const char *pc_arrow_ipc_batch_read(const pc_arrow_ipc_message *message,
                                    const struct ArrowSchema *schema,
                                    const pc_arrow_ipc_context *context,
                                    struct ArrowArray *out);

/* Reads the values of a dictionary; the caller drops them. */
const char *pc_arrow_ipc_values_read(const pc_arrow_ipc_message *message,
                                     const struct ArrowSchema *schema,
                                     const pc_arrow_ipc_context *context,
                                     pc_arrow_ipc_values **out);
void pc_arrow_ipc_values_drop(pc_arrow_ipc_values *values, const pcal_env *env);

/* The id of the dictionary that a message fills. */
int64_t pc_arrow_ipc_dictionary_id(const pc_arrow_ipc_message *message);

#endif
