/* The wire format, against the examples of its documentation. */
#include "../unit.h"
#include "export/protobuf.h"

TEST(protobuf_examples) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text, inner;
  pc_text_init(&text, &env);
  pc_text_init(&inner, &env);
  pc_proto_integer(&inner, 1, 150);
  pc_proto_message(&text, 3, &inner);
  pc_proto_string(&text, 2, "testing");
  pc_proto_integer(&text, 5, UINT64_MAX);
  static const unsigned char expected[] = {
      0x1a, 0x03, 0x08, 0x96, 0x01,                               /* field 3: { 1: 150 } */
      0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67,       /* field 2: "testing" */
      0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* field 5: -1 */
      0x01};
  assert_int_equal(text.length, sizeof expected);
  assert_memory_equal(text.bytes, expected, sizeof expected);
  assert_int_equal(inner.length, 0);
  pc_text_free(&inner);
  pc_text_free(&text);
}
