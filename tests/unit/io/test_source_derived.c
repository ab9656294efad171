/* Rows made from those of another source: windows, counting, names, rewinding. */
#include "../unit.h"
#include "io/source.h"

#define DERIVED_ROWS 10

typedef struct derived_case {
  double scores[DERIVED_ROWS];
  int32_t labels[DERIVED_ROWS];
  double made[DERIVED_ROWS];
  int only_even;
  size_t largest; /* window that a step was given */
} derived_case;

/* Doubles every score; leaves odd rows out where asked to. */
static pcal_status derived_step(void *user, const pcal_batch *from, pcal_batch *to,
                                pcal_error *err) {
  derived_case *data = user;
  (void)err;
  data->largest = from->rows > data->largest ? from->rows : data->largest;
  to->rows = 0;
  for (size_t i = 0; i < from->rows; i++)
    if (!data->only_even || (from->first_row + i) % 2 == 0)
      data->made[to->rows++] = 2.0 * ((const double *)from->scores)[i];
  to->scores = data->made;
  to->kind = PCAL_LOGIT;
  return PCAL_OK;
}

static pcal_source *derived_base(derived_case *data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *base = NULL;
  for (int i = 0; i < DERIVED_ROWS; i++) {
    data->scores[i] = i / 16.0;
    data->labels[i] = i % 2;
  }
  batch.type = PCAL_F64;
  batch.rows = DERIVED_ROWS;
  batch.columns = 1;
  batch.scores = data->scores;
  batch.row_stride = batch.column_stride = sizeof(double);
  batch.labels = data->labels;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &base, NULL), PCAL_OK);
  return base;
}

static pcal_source *derived_open(derived_case *data, pcal_source *base) {
  const pc_source_derived derived = {.base = base,
                                     .step = derived_step,
                                     .user = data,
                                     .kind = PCAL_LOGIT,
                                     .type = PCAL_F64,
                                     .columns = 1,
                                     .window = 3,
                                     .thinned = data->only_even};
  pcal_source *source = NULL;
  assert_int_equal(pc_source_derive(&derived, NULL, &source, NULL), PCAL_OK);
  return source;
}

/* Reads everything; returns the number of rows, each checked. */
static size_t derived_read(pcal_source *source, int only_even) {
  size_t rows = 0;
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    assert_int_equal(pcal_source_next(source, 100, &batch, NULL), PCAL_OK);
    if (batch.rows == 0)
      return rows;
    assert_int_equal(batch.first_row, rows);
    assert_int_equal(batch.kind, PCAL_LOGIT);
    for (size_t i = 0; i < batch.rows; i++, rows++)
      assert_same(((const double *)batch.scores)[i],
                  (double)(only_even ? 2 * rows : rows) / 8.0);
  }
}

TEST(derived_all_rows) {
  derived_case data = {.only_even = 0};
  pcal_source *base = derived_base(&data), *source = derived_open(&data, base);
  pcal_shape shape = PCAL_SHAPE_INIT;
  pcal_source_get_shape(source, &shape);
  assert_int_equal(shape.row_count, DERIVED_ROWS);
  assert_int_equal(shape.kind, PCAL_LOGIT);
  assert_true(shape.labelled);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(derived_read(source, 0), DERIVED_ROWS);
    assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  }
  assert_int_equal(data.largest, 3);
  pcal_source_free(source);
  pcal_source_free(base);
}

TEST(derived_fewer_rows) {
  derived_case data = {.only_even = 1};
  pcal_source *base = derived_base(&data), *source = derived_open(&data, base);
  pcal_shape shape = PCAL_SHAPE_INIT;
  pcal_source_get_shape(source, &shape);
  assert_true(shape.row_count == PCAL_NO_ROW);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(derived_read(source, 1), DERIVED_ROWS / 2);
    assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  }
  pcal_source_free(source);
  pcal_source_free(base);
}
