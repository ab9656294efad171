/* Format: https://arrow.apache.org/docs/format/Columnar.html, "Serialization and Interprocess
 * Communication".  A message is 0xFFFFFFFF, the length of its metadata (int32), the metadata, a
 * flatbuffer, and a body.  A file is "ARROW1", two bytes, the messages of a stream, and a footer,
 * which is not needed for reading in order.
 *
 * Edge cases:
 *  1. without 0xFFFFFFFF, as written before Arrow 0.15, the length comes first.
 *  2. a metadata length of 0, or the end of the bytes between two messages, is the end; a file must
 *     also end with "ARROW1" (arrow_ipc_stream.c).
 *  3. messages of other kinds are damage: there are no tensors in tables. */
#include "io/formats/arrow_ipc_message.h"

#include <string.h>

const char PC_ARROW_IPC_MEMORY[] = "out of memory";
const char PC_ARROW_IPC_RATIO[] = "a compressed buffer unpacks to over 200 times as many bytes";
const char PC_ARROW_IPC_INTERRUPTED[] = "interrupted";

#define ARROW_IPC_MARK UINT32_MAX

/* Fields of the table Message. */
enum { ARROW_IPC_HEADER_TYPE = 1, ARROW_IPC_HEADER = 2, ARROW_IPC_BODY_LENGTH = 3 };

size_t pc_arrow_ipc_begin(const unsigned char *data, size_t length) {
  return length >= 8 && memcmp(data, "ARROW1", 6) == 0 ? 8 : 0;
}

/* Reads four bytes and moves on; 0 at the end of the bytes. */
static uint32_t arrow_ipc_word(const unsigned char *data, size_t length, size_t *at) {
  if (length - *at < 4)
    return 0;
  const unsigned char *from = data + *at;
  *at += 4;
  return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
         (uint32_t)from[3] << 24;
}

const char *pc_arrow_ipc_next(const unsigned char *data, size_t length, size_t *at,
                              pc_arrow_ipc_message *out) {
  *out = (pc_arrow_ipc_message){.kind = PC_ARROW_IPC_END};
  uint32_t size = arrow_ipc_word(data, length, at);
  if (size == ARROW_IPC_MARK)
    size = arrow_ipc_word(data, length, at);
  if (size == 0)
    return *at < length && length - *at < 4 ? "it ends inside a message" : NULL;
  if (size > length - *at)
    return "it ends inside the metadata of a message";
  const pc_flat_table message = pc_flat_root(data + *at, size);
  *at += size;
  const int64_t body = pc_flat_int(&message, ARROW_IPC_BODY_LENGTH, 8, 0);
  if (body < 0 || (uint64_t)body > length - *at)
    return "it ends inside the body of a message";
  out->kind = (pc_arrow_ipc_kind)pc_flat_int(&message, ARROW_IPC_HEADER_TYPE, 1, 0);
  out->header = pc_flat_child(&message, ARROW_IPC_HEADER);
  out->body = data + *at;
  out->body_length = (size_t)body;
  *at += (size_t)body;
  if (out->kind < PC_ARROW_IPC_SCHEMA || out->kind > PC_ARROW_IPC_BATCH || out->header.at == 0)
    return "a message is neither a schema nor a batch";
  return NULL;
}
