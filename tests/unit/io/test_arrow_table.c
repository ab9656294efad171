#include "io/formats/arrow_table.h"

#include "arrow_help.h"

static const double table_values[] = {1, 2, 3};

static struct ArrowSchema *table_schema(void) {
  struct ArrowSchema *schema = help_schema("+s", "");
  help_schema_add(schema, help_schema("g", "a"));
  return schema;
}

static struct ArrowArray *table_array(int64_t rows) {
  struct ArrowArray *array = help_array(rows, 0, 1, NULL, NULL, NULL);
  help_array_add(array, help_array(rows, 0, 2, NULL, table_values, NULL));
  return array;
}

/* Lengths 0, 2, 0, 3. */
static struct ArrowArray *table_batch(int64_t index) {
  return index < 4 ? table_array(index % 2 == 0 ? 0 : index == 1 ? 2 : 3) : NULL;
}

static struct ArrowArray *table_nothing(int64_t index) {
  return index < 2 ? table_array(0) : NULL;
}

static struct ArrowArray *table_endless(int64_t index) {
  return table_array(index == 5 ? 1 : 0);
}

static struct ArrowArray *table_misfit(int64_t index) {
  struct ArrowArray *array = table_array(1);
  help_array_add(array, help_array(1, 0, 2, NULL, table_values, NULL));
  return index < 1 ? array : NULL;
}

static struct ArrowSchema *table_list_schema(void) {
  return help_schema("+l", "");
}

static pc_arrow_table table_take(help_stream *data) {
  struct ArrowArrayStream stream = help_stream_make(data);
  pc_arrow_table table;
  pc_arrow_table_take(&stream, NULL, NULL, &table);
  assert_null(stream.release);
  return table;
}

TEST(pulls_batches_when_wanted) {
  const pcal_env env = help_plain_env();
  help_stream data = {table_schema, table_batch, 0, 0, 0};
  pc_arrow_table table = table_take(&data);
  const struct ArrowArray *batch = NULL;
  assert_int_equal(pc_arrow_table_open(&table, "t", &env, NULL), PCAL_OK);
  assert_int_equal(table.rows, 2);
  assert_int_equal(data.next, 2);
  assert_false(pc_arrow_table_ended(&table));
  assert_int_equal(pc_arrow_table_batch(&table, 0, &batch, NULL), PCAL_OK);
  assert_int_equal(batch->length, 2);
  assert_int_equal(pc_arrow_table_batch(&table, 1, &batch, NULL), PCAL_OK);
  assert_int_equal(batch->length, 3);
  assert_int_equal(pc_arrow_table_batch(&table, 2, &batch, NULL), PCAL_OK);
  assert_null(batch);
  assert_true(pc_arrow_table_ended(&table));
  assert_int_equal(table.rows, 5);
  assert_int_equal(help_arrow_live, 2 + 2 * 2); /* empty batches are released */
  assert_int_equal(pc_arrow_table_batch(&table, 0, &batch, NULL), PCAL_OK);
  assert_int_equal(batch->length, 2);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(takes_one_array) {
  const pcal_env env = help_plain_env();
  struct ArrowSchema *schema = table_schema();
  struct ArrowArray *array = table_array(3);
  const struct ArrowArray *batch = NULL;
  pc_arrow_table table;
  pc_arrow_table_take(NULL, schema, array, &table);
  assert_true(schema->release == NULL && array->release == NULL);
  free(schema);
  free(array);
  assert_int_equal(pc_arrow_table_open(&table, "t", &env, NULL), PCAL_OK);
  assert_true(pc_arrow_table_ended(&table));
  assert_int_equal(table.rows, 3);
  assert_int_equal(pc_arrow_table_batch(&table, 0, &batch, NULL), PCAL_OK);
  assert_ptr_equal(batch->children[0]->buffers[1], table_values);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}

TEST(releases_what_is_never_opened) {
  struct ArrowSchema *schema = table_schema();
  struct ArrowArray *array = table_array(3);
  help_stream data = {table_schema, table_batch, 0, 0, 0};
  pc_arrow_table table = table_take(&data);
  pc_arrow_table_free(&table);
  pc_arrow_table_take(NULL, schema, array, &table);
  pc_arrow_table_free(&table);
  pc_arrow_table_free(&table);
  free(schema);
  free(array);
  assert_int_equal(help_arrow_live, 0);
}

static void expect_refused(help_stream data, pcal_status wanted, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pc_arrow_table table = table_take(&data);
  const struct ArrowArray *batch = NULL;
  pcal_error err;
  pcal_status status = pc_arrow_table_open(&table, "t", &env, &err);
  if (status == PCAL_OK)
    status = pc_arrow_table_batch(&table, 9, &batch, &err);
  assert_int_equal(status, wanted);
  assert_string_equal(err.message, sentence);
  pc_arrow_table_free(&table);
  assert_int_equal(counter.live, 0);
  assert_int_equal(help_arrow_live, 0);
}

TEST(refuses_bad_streams) {
  expect_refused((help_stream){table_schema, table_batch, 0, 0, 1}, PCAL_IO,
                 "t: the Arrow stream failed (error 22); check the program that produced "
                 "it");
  expect_refused((help_stream){table_schema, table_batch, 0, 1, 0}, PCAL_IO,
                 "t: the Arrow stream failed (the disk is gone); check the program that "
                 "produced it");
  expect_refused((help_stream){table_schema, table_batch, 0, 4, 0}, PCAL_IO,
                 "t: the Arrow stream failed (the disk is gone); check the program that "
                 "produced it");
  expect_refused((help_stream){table_list_schema, table_batch, 0, 0, 0}, PCAL_DATA,
                 "t contains Arrow arrays of type +l, not record batches; give a table of "
                 "columns");
  expect_refused((help_stream){table_schema, table_nothing, 0, 0, 0}, PCAL_DATA,
                 "t has no rows; give at least one");
  expect_refused((help_stream){table_schema, table_endless, 0, 0, 0}, PCAL_DATA,
                 "t: the Arrow stream delivered 100000 batches without rows in succession; "
                 "check the program that produced it");
  expect_refused((help_stream){table_schema, table_endless, 6, 0, 0}, PCAL_DATA,
                 "t: the Arrow stream delivered 100000 batches without rows in succession; "
                 "check the program that produced it");
  expect_refused((help_stream){table_schema, table_misfit, 0, 0, 0}, PCAL_DATA,
                 "t: an Arrow batch does not match its schema; check the program that "
                 "produced it");
}

static int table_interrupt(void *user) {
  return ++*(int *)user == 3;
}

TEST(stops_when_interrupted) {
  pcal_env env = help_plain_env();
  int looks = 0;
  env.interrupted = table_interrupt;
  env.user = &looks;
  help_stream data = {table_schema, table_batch, 0, 0, 0};
  pc_arrow_table table = table_take(&data);
  const struct ArrowArray *batch = NULL;
  assert_int_equal(pc_arrow_table_open(&table, "t", &env, NULL), PCAL_OK);
  assert_int_equal(pc_arrow_table_batch(&table, 9, &batch, NULL), PCAL_INTERRUPTED);
  assert_int_equal(pc_arrow_table_batch(&table, 1, &batch, NULL), PCAL_OK);
  assert_int_equal(batch->length, 3);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
}
