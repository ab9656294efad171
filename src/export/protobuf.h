/* The wire format of Protocol Buffers, as far as a writer needs it
 * (https://protobuf.dev/programming-guides/encoding/). */
#ifndef PC_PROTOBUF_H
#define PC_PROTOBUF_H

#include "base/text.h"

void pc_proto_integer(pc_text *out, unsigned field, uint64_t value);
void pc_proto_string(pc_text *out, unsigned field, const char *value);
void pc_proto_bytes(pc_text *out, unsigned field, const void *bytes, size_t count);
/* Appends `message` as a nested message, then clears it for reuse. */
void pc_proto_message(pc_text *out, unsigned field, pc_text *message);

#endif
