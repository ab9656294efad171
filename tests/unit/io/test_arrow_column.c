#include "io/formats/arrow_column.h"

#include "arrow_help.h"

/* A table of one column, with a schema of its own. */
static pc_arrow_table column_table(struct ArrowSchema *child) {
  pc_arrow_table table = {.name = "t"};
  struct ArrowSchema *schema = help_schema("+s", "");
  help_schema_add(schema, child);
  table.schema = *schema;
  free(schema);
  return table;
}

static struct ArrowSchema *column_list(const char *format, const char *inner) {
  struct ArrowSchema *schema = help_schema(format, "x");
  help_schema_add(schema, help_schema(inner, "item"));
  return schema;
}

static struct ArrowSchema *column_dictionary(const char *index, const char *values) {
  struct ArrowSchema *schema = help_schema(index, "x");
  schema->dictionary = help_schema(values, "");
  return schema;
}

static void expect_type(struct ArrowSchema *child, pc_arrow_kind kind, pc_element_kind number,
                        size_t size, size_t width) {
  pc_arrow_table table = column_table(child);
  pc_arrow_column column;
  pcal_error err;
  if (pc_arrow_column_find(&table, "x", &column, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(column.kind, kind);
  assert_int_equal(column.width, width);
  if (number != 0) {
    assert_int_equal(column.number.kind, number);
    assert_int_equal(column.number.size, size);
    assert_int_equal(column.number.swapped, 0);
  }
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(knows_types) {
  static const struct {
    const char *format;
    pc_element_kind kind;
    size_t size;
  } numbers[] = {{"c", PC_ELEMENT_SIGNED, 1}, {"C", PC_ELEMENT_UNSIGNED, 1},
                 {"s", PC_ELEMENT_SIGNED, 2}, {"S", PC_ELEMENT_UNSIGNED, 2},
                 {"i", PC_ELEMENT_SIGNED, 4}, {"I", PC_ELEMENT_UNSIGNED, 4},
                 {"l", PC_ELEMENT_SIGNED, 8}, {"L", PC_ELEMENT_UNSIGNED, 8},
                 {"e", PC_ELEMENT_FLOAT, 2},  {"f", PC_ELEMENT_FLOAT, 4},
                 {"g", PC_ELEMENT_FLOAT, 8}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    expect_type(help_schema(numbers[i].format, "x"), PC_ARROW_NUMBER, numbers[i].kind,
                numbers[i].size, 1);
  expect_type(help_schema("b", "x"), PC_ARROW_BOOL, 0, 0, 1);
  expect_type(help_schema("u", "x"), PC_ARROW_TEXT, 0, 0, 1);
  expect_type(help_schema("U", "x"), PC_ARROW_TEXT, 0, 0, 1);
  expect_type(help_schema("vu", "x"), PC_ARROW_TEXT, 0, 0, 1);
  expect_type(column_list("+w:12", "f"), PC_ARROW_NUMBER, PC_ELEMENT_FLOAT, 4, 12);
  expect_type(column_dictionary("c", "u"), PC_ARROW_DICTIONARY, PC_ELEMENT_SIGNED, 1, 1);
  expect_type(column_dictionary("I", "U"), PC_ARROW_DICTIONARY, PC_ELEMENT_UNSIGNED, 4, 1);
}

static void expect_unknown_type(struct ArrowSchema *child) {
  pc_arrow_table table = column_table(child);
  pc_arrow_column column;
  pcal_error err;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, &err), PCAL_DATA);
  assert_message(err, "t, column \"x\" has the Arrow type ");
  assert_message(err, "; cast it to floats, integers, booleans, utf8, a dictionary of utf8 or "
                      "lists of numbers");
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(refuses_other_types) {
  static const char *const formats[] = {"z", "vz", "d:10,2", "tdD", "+s", "+m", "", "ff"};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    expect_unknown_type(help_schema(formats[i], "x"));
  expect_unknown_type(column_list("+l", "+l"));
  expect_unknown_type(column_list("+vl", "f"));
  expect_unknown_type(column_list("+w:0", "f"));
  expect_unknown_type(column_list("+w:-1", "f"));
  expect_unknown_type(column_list("+w:", "f"));
  expect_unknown_type(column_list("+w:2", "u"));
  expect_unknown_type(column_dictionary("f", "u"));
  expect_unknown_type(column_dictionary("i", "f"));
}

/* (5), also without a list of buffers. */
TEST(takes_a_column_of_type_null) {
  pc_arrow_table table = column_table(help_schema("n", "x"));
  pc_arrow_column column;
  pc_arrow_part part;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
  struct ArrowArray *batch = help_array(3, 0, 1, NULL, NULL, NULL);
  help_array_add(batch, help_array(3, 0, 0, NULL, NULL, NULL));
  struct ArrowArray *nulls = batch->children[0];
  nulls->null_count = 3;
  free(nulls->buffers);
  nulls->buffers = NULL;
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
  assert_false(pc_arrow_part_full(&part));
  for (size_t row = 0; row < 3; row++)
    assert_true(pc_arrow_part_row_null(&part, row) && pc_arrow_part_null(&part, row, 0));
  nulls->length = 2;
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_DATA);
  batch->release(batch);
  free(batch);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(finds_by_name) {
  pc_arrow_table table = column_table(help_schema("f", "probs"));
  pc_arrow_column column;
  pcal_error err;
  help_schema_add(&table.schema, help_schema("g", "labels"));
  help_schema_add(&table.schema, help_schema("g", NULL));
  assert_int_equal(pc_arrow_column_find(&table, "labels", &column, NULL), PCAL_OK);
  assert_int_equal(column.child, 1);
  assert_string_equal(column.name, "labels");
  assert_int_equal(pc_arrow_column_find(&table, "label", &column, &err), PCAL_USAGE);
  assert_string_equal(err.message, "t has no column \"label\"; did you mean \"labels\"?");
  assert_int_equal(pc_arrow_column_find(&table, "weights", &column, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "t has no column \"weights\"; name one of the 3 in its schema");
  help_schema_add(&table.schema, help_schema("g", "probs"));
  assert_int_equal(pc_arrow_column_find(&table, "probs", &column, &err), PCAL_USAGE);
  assert_string_equal(err.message, "t has 2 columns called \"probs\"; rename them");
  pc_arrow_table_free(&table);
}

/* Batch offset 1, column offset 2, value offset 3, width 2: row 0 has values 3 + 3 * 2. */
TEST(follows_offsets_and_nulls) {
  const float values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const unsigned char batch_bits[] = {0xFB}, row_bits[] = {0xBF},
                      value_bits[] = {0xFF, 0xFD, 0xFF};
  pc_arrow_table table = column_table(column_list("+w:2", "f"));
  pc_arrow_column column;
  pc_arrow_part part;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
  struct ArrowArray *batch = help_array(4, 1, 1, batch_bits, NULL, NULL);
  help_array_add(batch, help_array(5, 2, 1, row_bits, NULL, NULL));
  help_array_add(batch->children[0], help_array(14, 3, 2, value_bits, values, NULL));
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
  assert_false(pc_arrow_part_full(&part));
  for (size_t row = 0; row < 4; row++) {
    float pair[2];
    memcpy(pair, pc_arrow_part_at(&part, row), sizeof pair);
    assert_true(pair[0] == (float)(9 + 2 * row) && pair[1] == (float)(10 + 2 * row));
  }
  const int nulls[] = {1, 0, 1, 1, 0, 0, 1, 1};
  for (size_t i = 0; i < 8; i++)
    assert_int_equal(pc_arrow_part_null(&part, i / 2, i % 2), nulls[i]);
  batch->null_count = batch->children[0]->null_count = 0;
  batch->children[0]->children[0]->null_count = 0;
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
  assert_true(pc_arrow_part_full(&part));
  batch->release(batch);
  free(batch);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(reads_booleans) {
  const unsigned char bits[] = {0xA0, 0x01};
  pc_arrow_table table = column_table(help_schema("b", "x"));
  pc_arrow_column column;
  pc_arrow_part part;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
  struct ArrowArray *batch = help_array(4, 0, 1, NULL, NULL, NULL);
  help_array_add(batch, help_array(4, 5, 2, NULL, bits, NULL));
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
  const int truth[] = {1, 0, 1, 1};
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(pc_arrow_part_true(&part, i), truth[i]);
  batch->release(batch);
  free(batch);
  pc_arrow_table_free(&table);
}

TEST(reads_text) {
  const int32_t narrow[] = {7, 0, 3, 3, 6};
  const int64_t wide[] = {7, 0, 3, 3, 6};
  const char *const words[] = {"cat", "", "dog"};
  for (int large = 0; large < 2; large++) {
    pc_arrow_table table = column_table(help_schema(large ? "U" : "u", "x"));
    pc_arrow_column column;
    pc_arrow_part part;
    pc_slice text;
    pcal_error err;
    assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
    struct ArrowArray *batch = help_array(3, 0, 1, NULL, NULL, NULL);
    const void *offsets = large ? (const void *)wide : narrow;
    help_array_add(batch, help_array(3, 1, 3, NULL, offsets, "catdog"));
    assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
    for (size_t i = 0; i < 3; i++) {
      assert_int_equal(pc_arrow_part_text(&part, i, &text, NULL), PCAL_OK);
      assert_true(pc_slice_is(text, words[i]));
    }
    batch->children[0]->offset = 0;
    assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
    assert_int_equal(pc_arrow_part_text(&part, 0, &text, &err), PCAL_DATA);
    assert_string_equal(err.message, "t, column \"x\": the string offsets are invalid; "
                                     "check the program that produced the Arrow data");
    batch->release(batch);
    free(batch);
    pc_arrow_table_free(&table);
  }
  assert_int_equal(help_arrow_live, 0);
}

/* A text must end before the end of the last one; nothing else says how long the buffer is. */
TEST(refuses_text_beyond_the_last_offset) {
  const int32_t offsets[] = {0, 7, 6};
  pc_arrow_table table = column_table(help_schema("u", "x"));
  pc_arrow_column column;
  pc_arrow_part part;
  pc_slice text;
  pcal_error err;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
  struct ArrowArray *batch = help_array(2, 0, 1, NULL, NULL, NULL);
  help_array_add(batch, help_array(2, 0, 3, NULL, offsets, "catdog"));
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
  assert_int_equal(pc_arrow_part_text(&part, 0, &text, &err), PCAL_DATA);
  assert_string_equal(err.message, "t, column \"x\": the string offsets are invalid; "
                                   "check the program that produced the Arrow data");
  batch->release(batch);
  free(batch);
  pc_arrow_table_free(&table);
}

/* A view of 16 bytes: length, then the text, or its beginning, a buffer and a place there. */
static void column_view(unsigned char out[16], const char *text, int32_t buffer,
                        int32_t place) {
  const int32_t length = (int32_t)strlen(text);
  memset(out, 0, 16);
  memcpy(out, &length, 4);
  memcpy(out + 4, text, length > 12 ? 4 : (size_t)length);
  if (length > 12) {
    memcpy(out + 8, &buffer, 4);
    memcpy(out + 12, &place, 4);
  }
}

TEST(reads_views) {
  static const char *const words[] = {"cat", "", "twelve chars", "thirteen long",
                                      "a long name of a class"};
  static const char first[] = "..thirteen long", second[] = "a long name of a class";
  const int64_t lengths[] = {15, 22};
  unsigned char views[8][16];
  for (size_t i = 0; i < 4; i++)
    column_view(views[i], words[i], 0, 2);
  column_view(views[4], words[4], 1, 0);
  column_view(views[5], words[3], 2, 0);  /* no such buffer */
  column_view(views[6], words[3], 0, 3);  /* runs over its end */
  column_view(views[7], words[3], 0, -1); /* begins before it */
  const void *buffers[] = {NULL, views, first, second, lengths};
  pc_arrow_table table = column_table(help_schema("vu", "x"));
  pc_arrow_column column;
  pc_arrow_part part;
  pc_slice text;
  pcal_error err;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
  struct ArrowArray *batch = help_array(8, 0, 1, NULL, NULL, NULL);
  help_array_add(batch, help_array(8, 0, 5, NULL, NULL, NULL));
  free(batch->children[0]->buffers);
  batch->children[0]->buffers = buffers;
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
  for (size_t i = 0; i < 8; i++) {
    if (i < 5) {
      assert_int_equal(pc_arrow_part_text(&part, i, &text, NULL), PCAL_OK);
      assert_true(pc_slice_is(text, words[i]));
      continue;
    }
    assert_int_equal(pc_arrow_part_text(&part, i, &text, &err), PCAL_DATA);
    assert_string_equal(err.message, "t, column \"x\": the string views are invalid; check "
                                     "the program that produced the Arrow data");
  }
  batch->children[0]->buffers = NULL;
  batch->release(batch);
  free(batch);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(reads_dictionaries) {
  const int8_t indices[] = {1, 0, 2, 3, -1};
  const int32_t offsets[] = {0, 1, 4, 7, 7};
  const unsigned char bits[] = {0x07};
  pc_arrow_table table = column_table(column_dictionary("c", "u"));
  pc_arrow_column column;
  pc_arrow_part part;
  pc_slice text;
  pcal_error err;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
  struct ArrowArray *batch = help_array(5, 0, 1, NULL, NULL, NULL);
  help_array_add(batch, help_array(5, 0, 2, NULL, indices, NULL));
  batch->children[0]->dictionary = help_array(3, 1, 3, bits, offsets, "?catdog");
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, NULL), PCAL_OK);
  const char *const words[] = {"dog", "cat", ""};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(pc_arrow_part_text(&part, i, &text, NULL), PCAL_OK);
    assert_true(pc_slice_is(text, words[i]));
  }
  for (size_t i = 3; i < 5; i++) {
    assert_int_equal(pc_arrow_part_text(&part, i, &text, &err), PCAL_DATA);
    assert_string_equal(err.message, "t, column \"x\": an index is outside the dictionary; "
                                     "check the program that produced the Arrow data");
  }
  batch->release(batch);
  free(batch);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

static void expect_misfit(struct ArrowSchema *child, struct ArrowArray *array) {
  pc_arrow_table table = column_table(child);
  pc_arrow_column column;
  pc_arrow_part part;
  pcal_error err;
  assert_int_equal(pc_arrow_column_find(&table, "x", &column, NULL), PCAL_OK);
  struct ArrowArray *batch = help_array(3, 1, 1, NULL, NULL, NULL);
  help_array_add(batch, array);
  assert_int_equal(pc_arrow_part_find(&column, batch, &part, &err), PCAL_DATA);
  assert_string_equal(err.message, "t, column \"x\": an array does not match its schema; "
                                   "check the program that produced the Arrow data");
  batch->release(batch);
  free(batch);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(refuses_arrays_that_do_not_fit) {
  const double values[8] = {0};
  struct ArrowArray *lists = help_array(4, 0, 1, NULL, NULL, NULL);
  expect_misfit(column_list("+w:2", "g"), lists);
  lists = help_array(4, 0, 1, NULL, NULL, NULL);
  help_array_add(lists, help_array(7, 0, 2, NULL, values, NULL));
  expect_misfit(column_list("+w:2", "g"), lists);
  expect_misfit(help_schema("g", "x"), help_array(3, 0, 2, NULL, values, NULL));
  expect_misfit(help_schema("g", "x"), help_array(4, -1, 2, NULL, values, NULL));
  expect_misfit(help_schema("g", "x"), help_array(4, 0, 1, NULL, values, NULL));
  expect_misfit(help_schema("g", "x"), help_array(4, 0, 2, NULL, NULL, NULL));
  expect_misfit(help_schema("u", "x"), help_array(4, 0, 2, NULL, values, NULL));
  expect_misfit(column_dictionary("c", "u"), help_array(4, 0, 2, NULL, values, NULL));
}
