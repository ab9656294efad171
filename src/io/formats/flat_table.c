/* Layout: a table begins with the distance back to its vtable, a signed 32-bit integer.  The
 * vtable has 16-bit entries: its own size, the size of the table, and for each field the offset
 * from the table, 0 if absent.  Texts, vectors and other tables are reached by unsigned 32-bit
 * distances forward; texts and vectors begin with their count. */
#include "io/formats/flat_table.h"

#include <string.h>

static uint64_t flat_read(const unsigned char *data, size_t length, size_t at, size_t size) {
  uint64_t value = 0;
  if (at > length || length - at < size)
    return 0;
  for (size_t i = size; i-- > 0;)
    value = value << 8 | data[at + i];
  return value;
}

/* The position that the distance at `at` leads to; 0 if it is outside the buffer. */
static size_t flat_follow(const unsigned char *data, size_t length, size_t at) {
  const uint64_t distance = flat_read(data, length, at, 4);
  return distance == 0 || distance > length - at ? 0 : at + (size_t)distance;
}

pc_flat_table pc_flat_root(const unsigned char *data, size_t length) {
  return (pc_flat_table){data, length, flat_follow(data, length, 0)};
}

/* Position of a field, 0 if absent. */
static size_t flat_field(const pc_flat_table *table, unsigned field) {
  if (table->at == 0)
    return 0;
  const int32_t back = (int32_t)(uint32_t)flat_read(table->data, table->length, table->at, 4);
  const int64_t vtable = (int64_t)table->at - back;
  if (vtable < 0 || (uint64_t)vtable >= table->length)
    return 0;
  const size_t size = (size_t)flat_read(table->data, table->length, (size_t)vtable, 2);
  const size_t entry = 4 + 2 * (size_t)field;
  if (entry + 2 > size)
    return 0;
  const size_t offset =
      (size_t)flat_read(table->data, table->length, (size_t)vtable + entry, 2);
  return offset == 0 || offset >= table->length - table->at ? 0 : table->at + offset;
}

int64_t pc_flat_int(const pc_flat_table *table, unsigned field, size_t size, int64_t fallback) {
  const size_t at = flat_field(table, field);
  if (at == 0 || table->length - at < size)
    return fallback;
  const uint64_t bits = flat_read(table->data, table->length, at, size);
  const uint64_t sign = (uint64_t)1 << (8 * size - 1);
  return (int64_t)((bits ^ sign) - sign);
}

pc_flat_table pc_flat_child(const pc_flat_table *table, unsigned field) {
  const size_t at = flat_field(table, field);
  return (pc_flat_table){table->data, table->length,
                         at == 0 ? 0 : flat_follow(table->data, table->length, at)};
}

pc_flat_vector pc_flat_list(const pc_flat_table *table, unsigned field, size_t size) {
  const pc_flat_table head = pc_flat_child(table, field);
  pc_flat_vector out = {table->data, table->length, 0, 0};
  if (head.at == 0 || head.length - head.at < 4)
    return out;
  const uint64_t count = flat_read(head.data, head.length, head.at, 4);
  out.at = head.at + 4;
  if (count <= (head.length - out.at) / size)
    out.count = (size_t)count;
  return out;
}

pc_slice pc_flat_text(const pc_flat_table *table, unsigned field) {
  const pc_flat_vector text = pc_flat_list(table, field, 1);
  return text.at == 0 ? (pc_slice){NULL, 0}
                      : (pc_slice){(const char *)text.data + text.at, text.count};
}

pc_flat_table pc_flat_list_table(const pc_flat_vector *list, size_t i) {
  return (pc_flat_table){list->data, list->length,
                         flat_follow(list->data, list->length, list->at + 4 * i)};
}

int64_t pc_flat_list_int64(const pc_flat_vector *list, size_t byte) {
  return (int64_t)flat_read(list->data, list->length, list->at + byte, 8);
}
