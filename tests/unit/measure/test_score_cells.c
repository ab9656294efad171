/* Cells of curves: bytes and back, and lists that are refused. */
#include "../unit.h"

#include "measure/replicas/score_cells.h"
#include "sinks.h"

static void cells_bytes(const pc_score_cell_lists *lists, sink_bytes *out) {
  pc_encoder encoder;
  pc_encoder_init(&encoder, sink_collect, out);
  pc_encode_score_cells(&encoder, lists);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
}

/* Reads the lists back; returns 0 if they are refused. */
static int cells_read(const pc_score_cell_lists *lists, pc_score_cell_lists *out) {
  const pcal_env env = pc_env_resolve(NULL);
  sink_bytes bytes = {0};
  pc_decoder decoder;
  cells_bytes(lists, &bytes);
  pc_decoder_init(&decoder, bytes.bytes, bytes.length);
  assert_int_equal(pc_decode_score_cells(&decoder, &env, out, NULL), PCAL_OK);
  free(bytes.bytes);
  return !decoder.failed;
}

static void cells_drop(pc_score_cell_lists *lists) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_score_cells_free(&env, lists);
}

TEST(bytes_and_back) {
  double one[] = {0.25, 0.5, 1}, two[] = {1}, three[] = {0, 1};
  pc_score_cells list[] = {{.slot = 1, .parts = 1, .count = 3, .ends = one},
                           {.slot = 4, .parts = 1, .count = 1, .ends = two},
                           {.slot = 5, .parts = 1, .count = 2, .ends = three}};
  const pc_score_cell_lists lists = {list, 3}, none = {NULL, 0};
  pc_score_cell_lists back;
  assert_true(cells_read(&lists, &back));
  assert_int_equal(back.count, 3);
  assert_same(pc_score_cells_of(&back, 1)->ends[1], 0.5);
  assert_int_equal(pc_score_cells_of(&back, 4)->count, 1);
  assert_null(pc_score_cells_of(&back, 2));
  assert_null(pc_score_cells_of(NULL, 1));
  cells_drop(&back);
  assert_true(cells_read(&none, &back));
  assert_int_equal(back.count, 0);
  cells_drop(&back);
}

/* Slots ascend; ends ascend from 0 to 1, equal ones are empty cells; a threshold is a score. */
TEST(refused) {
  double good[] = {0.5, 1};
  const double bad[][3] = {
      {-0.25, 0.5, 1}, {0.5, 0.25, 1}, {0.5, 1.5, 1}, {NAN, 0.5, 1}, {0.5, NAN, 1}};
  pc_score_cell_lists back;
  for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
    double ends[3];
    memcpy(ends, bad[i], sizeof ends);
    pc_score_cells list[] = {{.slot = 1, .parts = 1, .count = 3, .ends = ends}};
    assert_false(cells_read(&(const pc_score_cell_lists){list, 1}, &back));
    cells_drop(&back);
  }
  const pc_score_cells cells = {.slot = 1, .parts = 1, .count = 2, .ends = good};
  pc_score_cells twice[] = {cells, cells}, back_again[] = {cells, cells}, beyond[] = {cells};
  back_again[0].slot = 2;
  beyond[0].threshold = 1.5;
  assert_false(cells_read(&(const pc_score_cell_lists){twice, 2}, &back));
  cells_drop(&back);
  assert_false(cells_read(&(const pc_score_cell_lists){back_again, 2}, &back));
  cells_drop(&back);
  assert_false(cells_read(&(const pc_score_cell_lists){beyond, 1}, &back));
  cells_drop(&back);
}

static pcal_status cells_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const sink_bytes *bytes = user;
  const pcal_env resolved = pc_env_resolve(env);
  pc_score_cell_lists lists;
  pc_decoder decoder;
  pc_decoder_init(&decoder, bytes->bytes, bytes->length);
  const pcal_status status = pc_decode_score_cells(&decoder, &resolved, &lists, err);
  pc_score_cells_free(&resolved, &lists);
  return status;
}

TEST(survives_every_failed_allocation_and_cut) {
  double one[] = {0.25, 0.5, 1}, two[] = {0.5, 1};
  pc_score_cells list[] = {{.slot = 0, .parts = 1, .count = 3, .ends = one},
                           {.slot = 1, .parts = 1, .count = 2, .ends = two},
                           {.slot = 2, .parts = 1, .count = 2, .ends = two}};
  sink_bytes bytes = {0};
  cells_bytes(&(const pc_score_cell_lists){list, 3}, &bytes);
  unit_fail_each_allocation(cells_scenario, &bytes);
  const size_t length = bytes.length;
  for (bytes.length = 0; bytes.length < length; bytes.length++)
    assert_int_equal(cells_scenario(NULL, &bytes, NULL), PCAL_OK); /* refused by the decoder */
  free(bytes.bytes);
}
