#include "io_help.h"

#include "io/formats/flat_table.h"

/* Root at 16 with the vtable at 4: field 0 is an int16, field 1 absent, field 2 a text, field 3 a
 * list of one int64. */
static const unsigned char flat_bytes[] = {
    16, 0, 0,  0,                                     /* to the root */
    12, 0, 16, 0, 4,    0,    0, 0, 8,   0,   12, 0,  /* vtable */
    12, 0, 0,  0, 0xFE, 0xFF, 0, 0, 8,   0,   0,  0,  /* back 12, -2, text at 32 */
    12, 0, 0,  0, 2,    0,    0, 0, 'h', 'i', 0,  0,  /* list at 40; the text */
    1,  0, 0,  0, 7,    0,    0, 0, 0,   0,   0,  0}; /* the list */

TEST(reads_fields) {
  const pc_flat_table root = pc_flat_root(flat_bytes, sizeof flat_bytes);
  assert_int_equal(root.at, 16);
  assert_int_equal(pc_flat_int(&root, 0, 2, 9), -2);
  assert_int_equal(pc_flat_int(&root, 1, 2, 9), 9);
  assert_int_equal(pc_flat_int(&root, 7, 8, 9), 9);
  const pc_slice text = pc_flat_text(&root, 2);
  assert_int_equal(text.length, 2);
  assert_memory_equal(text.bytes, "hi", 2);
  const pc_flat_vector list = pc_flat_list(&root, 3, 8);
  assert_int_equal(list.count, 1);
  assert_int_equal(pc_flat_list_int64(&list, 0), 7);
  assert_int_equal(pc_flat_child(&root, 1).at, 0);
}

/* Any byte may have any value, and the buffer any length: nothing outside it is read (which a
 * sanitizer sees), and texts and lists stay inside. */
TEST(stays_inside_whatever_the_bytes_are) {
  for (size_t length = 0; length <= sizeof flat_bytes; length++) {
    for (size_t at = 0; at < length * 4; at++) {
      static const unsigned char values[] = {0, 1, 0x7F, 0xFF};
      unsigned char *copy = malloc(length);
      assert_non_null(copy);
      memcpy(copy, flat_bytes, length);
      copy[at / 4] = values[at % 4];
      const pc_flat_table root = pc_flat_root(copy, length);
      for (unsigned field = 0; field < 5; field++) {
        const pc_flat_table child = pc_flat_child(&root, field);
        const pc_slice text = pc_flat_text(&root, field);
        const pc_flat_vector list = pc_flat_list(&root, field, 8);
        (void)pc_flat_int(&root, field, 8, 0);
        (void)pc_flat_int(&child, field, 4, 0);
        assert_true(text.length <= length);
        assert_true(list.count * 8 <= length);
        for (size_t i = 0; i < list.count; i++)
          (void)pc_flat_list_int64(&list, 8 * i);
      }
      free(copy);
    }
  }
}
