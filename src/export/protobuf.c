#include "export/protobuf.h"

#include <string.h>

static void protobuf_varint(pc_text *out, uint64_t value) {
  char bytes[10];
  size_t count = 0;
  do {
    bytes[count++] = (char)((value & 127) | (value > 127 ? 128 : 0));
    value >>= 7;
  } while (value > 0);
  pc_text_add_bytes(out, bytes, count);
}

/* Wire types: 0 varint, 2 counted bytes, 5 four bytes. */
static void protobuf_tag(pc_text *out, unsigned field, unsigned type) {
  protobuf_varint(out, (uint64_t)field << 3 | type);
}

void pc_proto_integer(pc_text *out, unsigned field, uint64_t value) {
  protobuf_tag(out, field, 0);
  protobuf_varint(out, value);
}

void pc_proto_bytes(pc_text *out, unsigned field, const void *bytes, size_t count) {
  protobuf_tag(out, field, 2);
  protobuf_varint(out, count);
  pc_text_add_bytes(out, bytes, count);
}

void pc_proto_string(pc_text *out, unsigned field, const char *value) {
  pc_proto_bytes(out, field, value, strlen(value));
}

void pc_proto_message(pc_text *out, unsigned field, pc_text *message) {
  pc_proto_bytes(out, field, message->length == 0 ? "" : message->bytes, message->length);
  out->failed |= message->failed;
  message->length = 0;
}
