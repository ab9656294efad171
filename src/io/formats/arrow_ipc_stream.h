/* An Arrow IPC file or stream in memory as an ArrowArrayStream. */
#ifndef PC_ARROW_IPC_STREAM_H
#define PC_ARROW_IPC_STREAM_H

#include "base/memory.h"
#include "io/input_file.h"

/* Reads the schema.  bytes and env must outlive the stream and its batches.  get_next returns
 * ENOMEM without memory, EFBIG for a compressed buffer beyond the limits of input_unpack.h,
 * ECANCELED if the environment interrupts, and EBADMSG for damaged files.  Fails with PCAL_DATA
 * if the bytes do not begin with a schema. */
PC_CHECKED pcal_status pc_arrow_ipc_stream_open(const pc_input_file *bytes, const pcal_env *env,
                                                struct ArrowArrayStream *out, pcal_error *err);

#endif
