#include "io/formats/arrow_wrap.h"

#include "arrow_help.h"
#include "io/formats/arrow_table.h"

static const double plain_values[] = {1, 2, 3};

TEST(wraps_and_releases_both) {
  static const char *const names[][2] = {{"y", "y"}, {"", "values"}, {NULL, "values"}};
  for (size_t i = 0; i < 3; i++) {
    const pcal_env env = help_plain_env();
    struct ArrowSchema *schema = help_schema("g", names[i][0]);
    struct ArrowArray *array = help_array(2, 1, 2, NULL, plain_values, NULL);
    assert_int_equal(pc_arrow_wrap_schema(schema, &env, NULL), PCAL_OK);
    assert_int_equal(pc_arrow_wrap_array(array, &env, NULL), PCAL_OK);
    assert_string_equal(schema->format, "+s");
    assert_int_equal(schema->n_children, 1);
    assert_string_equal(schema->children[0]->format, "g");
    assert_string_equal(schema->children[0]->name, names[i][1]);
    assert_int_equal(array->length, 2);
    assert_int_equal(array->offset, 0);
    assert_int_equal(array->null_count, 0);
    assert_int_equal(array->children[0]->offset, 1);
    assert_ptr_equal(array->children[0]->buffers[1], plain_values);
    assert_int_equal(help_arrow_live, 2);
    schema->release(schema);
    array->release(array);
    assert_null(schema->release);
    assert_null(array->release);
    assert_int_equal(help_arrow_live, 0);
    free(schema);
    free(array);
  }
}

static struct ArrowSchema *plain_schema(void) {
  return help_schema("g", "");
}

static struct ArrowArray *plain_batch(int64_t index) {
  return index < 2 ? help_array(index + 1, 0, 2, NULL, plain_values, NULL) : NULL;
}

static pcal_status plain_scenario(const pcal_env *env, void *user, pcal_error *err) {
  help_stream data = {plain_schema, plain_batch, 0, 0, 0};
  struct ArrowArrayStream stream = help_stream_make(&data);
  const struct ArrowArray *batch = NULL;
  pc_arrow_table table;
  (void)user;
  pc_arrow_table_take(&stream, NULL, NULL, &table);
  table.takes_plain = 1;
  pcal_status status = pc_arrow_table_open(&table, "t", env, err);
  if (status == PCAL_OK)
    status = pc_arrow_table_batch(&table, 1, &batch, err);
  if (status == PCAL_OK)
    assert_int_equal(batch->length, 2);
  pc_arrow_table_free(&table);
  assert_int_equal(help_arrow_live, 0);
  return status;
}

TEST(tables_take_plain_streams_or_nothing) {
  help_fail_each_allocation(plain_scenario, NULL);
}
