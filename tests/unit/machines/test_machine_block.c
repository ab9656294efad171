#include "machine_help.h"

#define BLOCK_ROWS 4

/* The value of a block: params[0] + p_1 + 10 p_2 + 100 p_3 + ..., where row i is (p_i, 1 -
 * p_i).  It changes if a row is in the wrong block or the wrong position. */
static double block_value(const double *params, const pc_pair_rows *rows) {
  double value = params[0], place = 1;
  for (size_t i = 0; i < rows->count; i++, place *= 10) {
    assert_same(rows->weights[i], 1.0);
    value += place * *pc_pair_prob(rows, i, 0) + 1000000.0 * rows->labels[i];
  }
  return value;
}

static machine_case block_case(size_t rows) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_BLOCK;
  need.block.value = block_value;
  need.block.rows = rows;
  need.block.params[0] = 0.5;
  return machine_case_make(&pc_machine_block, &need, 2);
}

/* Row i is (i/1024, 1 - i/1024), with label i % 2. */
static void block_feed(const machine_case *about, void *state, const uint64_t *ids,
                       size_t count) {
  double probs[64];
  int32_t labels[32];
  for (size_t i = 0; i < count; i++) {
    probs[2 * i] = (double)ids[i] / 1024;
    probs[2 * i + 1] = 1 - probs[2 * i];
    labels[i] = (int32_t)(ids[i] % 2);
  }
  const pc_rows rows = {
      .count = count, .classes = 2, .ids = ids, .labels = labels, .probs = probs};
  machine_update(about, state, &rows, NULL);
}

static void block_feed_range(const machine_case *about, void *state, uint64_t first,
                             size_t count) {
  uint64_t ids[32];
  for (size_t i = 0; i < count; i++)
    ids[i] = first + i;
  block_feed(about, state, ids, count);
}

static double block_expected(uint64_t block, size_t rows) {
  double value = 0.5, place = 1;
  for (uint64_t i = block * rows; i < (block + 1) * rows; i++, place *= 10)
    value += place * (double)i / 1024 + 1000000.0 * (double)(i % 2);
  return value;
}

static void block_check(const machine_case *about, const void *state, uint64_t first,
                        uint64_t count) {
  double sum = 0.0;
  for (uint64_t b = first; b < first + count; b++)
    sum += block_expected(b, about->need.block.rows);
  pc_evidence evidence = machine_evidence(about, state);
  assert_int_equal(evidence.block.count, count);
  assert_near(evidence.block.sum, sum, 1e-15);
  about->machine->release(&about->env, &evidence);
}

/* Ten rows are two blocks of four; the other two rows wait for theirs. */
TEST(test_complete_blocks_count) {
  const machine_case about = block_case(BLOCK_ROWS);
  void *blocks = machine_state(&about);
  block_check(&about, blocks, 0, 0);
  block_feed_range(&about, blocks, 0, 10);
  block_check(&about, blocks, 0, 2);
  block_feed_range(&about, blocks, 10, 2);
  block_check(&about, blocks, 0, 3);
  about.machine->clear(blocks);
  block_check(&about, blocks, 0, 0);
  about.machine->destroy(&about.env, blocks);
}

/* Blocks begin at multiples of their size, wherever the rows begin. */
TEST(test_blocks_go_by_index) {
  const machine_case about = block_case(BLOCK_ROWS);
  void *blocks = machine_state(&about);
  block_feed_range(&about, blocks, 6, 9); /* 6 .. 14: only 8 .. 11 is complete */
  block_check(&about, blocks, 2, 1);
  about.machine->destroy(&about.env, blocks);
}

/* A missing row spoils its block and no other. */
TEST(test_a_missing_row) {
  static const uint64_t ids[] = {0, 1, 3, 4, 5, 6, 7, 8, 10, 11};
  const machine_case about = block_case(BLOCK_ROWS);
  void *blocks = machine_state(&about);
  block_feed(&about, blocks, ids, UNIT_COUNT(ids));
  block_check(&about, blocks, 1, 1);
  about.machine->destroy(&about.env, blocks);
}

/* 32 rows in pieces of every size, every piece in a state of its own, merged in any order. */
TEST(test_any_cut_and_any_order) {
  for (size_t rows = 2; rows <= 9; rows++)
    for (size_t piece = 1; piece <= 32; piece++)
      for (size_t step = 1; step <= 3; step += 2) {
        const machine_case about = block_case(rows);
        const size_t pieces = (32 + piece - 1) / piece;
        void *whole = machine_state(&about);
        for (size_t p = 0; p < pieces; p++) {
          const size_t at = (pieces % step == 0 && step > 1 ? p : p * step % pieces) * piece;
          void *part = machine_state(&about);
          block_feed_range(&about, part, at, at + piece < 32 ? piece : 32 - at);
          machine_merge(&about, whole, part);
          about.machine->destroy(&about.env, part);
        }
        block_check(&about, whole, 0, 32 / rows);
        about.machine->destroy(&about.env, whole);
      }
}

/* As rows of two groups that alternate: nothing is complete until the groups are merged. */
TEST(test_interleaved_rows) {
  static const uint64_t even[] = {0, 2, 4, 6, 8, 10}, odd[] = {1, 3, 5, 7, 9, 11};
  const machine_case about = block_case(BLOCK_ROWS);
  void *left = machine_state(&about), *right = machine_state(&about);
  block_feed(&about, left, even, 6);
  block_feed(&about, right, odd, 6);
  block_check(&about, left, 0, 0);
  block_check(&about, right, 0, 0);
  machine_merge(&about, left, right);
  block_check(&about, left, 0, 3);
  about.machine->destroy(&about.env, left);
  about.machine->destroy(&about.env, right);
}

/* Complete blocks are freed: 20000 rows pass through a memory limit of 16 rows. */
TEST(test_little_is_kept) {
  machine_case about = block_case(BLOCK_ROWS);
  about.env.memory_limit = 16 * (2 * sizeof(double) + 12);
  void *whole = machine_state(&about), *part = machine_state(&about);
  for (uint64_t first = 0; first < 20000; first += 25) {
    about.machine->clear(part);
    block_feed_range(&about, part, first, 25);
    machine_merge(&about, whole, part);
  }
  pc_evidence evidence = machine_evidence(&about, whole);
  assert_int_equal(evidence.block.count, 5000);
  about.machine->destroy(&about.env, whole);
  about.machine->destroy(&about.env, part);
}

TEST(test_limit_of_memory) {
  static const uint64_t ids[] = {0, 4};
  static const double probs[] = {0.5, 0.5, 0.25, 0.75};
  static const int32_t labels[] = {1, 0};
  const pc_rows rows = {.count = 2, .classes = 2, .ids = ids, .labels = labels, .probs = probs};
  machine_case about = block_case(BLOCK_ROWS);
  pcal_error err;
  about.env.memory_limit = 2 * (2 * sizeof(double) + 12) - 1;
  void *blocks = machine_state(&about);
  assert_int_equal(about.machine->update(&about.env, blocks, &rows, NULL, &err), PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "keeping the rows takes 1 MB, beyond the memory limit of 0 MB; make the "
                  "blocks smaller, or measure without groups");
  about.machine->destroy(&about.env, blocks);
}

static pcal_status block_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static const uint64_t ids[] = {0, 1, 2, 3, 4, 5};
  static const double probs[12] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  static const int32_t labels[6] = {0};
  pc_rows rows = {.count = 6, .classes = 2, .ids = ids, .labels = labels, .probs = probs};
  machine_case *about = user;
  void *blocks = NULL, *more = NULL;
  pc_evidence evidence;
  about->env = pc_env_resolve(env);
  pcal_status status =
      about->machine->create(&about->env, &about->need, &about->layout, &blocks, err);
  if (status == PCAL_OK)
    status = about->machine->create(&about->env, &about->need, &about->layout, &more, err);
  if (status == PCAL_OK)
    status = about->machine->update(&about->env, blocks, &rows, NULL, err);
  rows.ids = (const uint64_t[]){6, 7, 8, 9, 10, 11};
  if (status == PCAL_OK)
    status = about->machine->update(&about->env, more, &rows, NULL, err);
  if (status == PCAL_OK)
    status = about->machine->prepare(&about->env, blocks, more, err);
  if (status == PCAL_OK)
    about->machine->merge(blocks, more);
  if (status == PCAL_OK)
    status = about->machine->finish(&about->env, blocks, &evidence, err);
  if (status == PCAL_OK)
    assert_int_equal(evidence.block.count, 3);
  if (blocks != NULL)
    about->machine->destroy(&about->env, blocks);
  if (more != NULL)
    about->machine->destroy(&about->env, more);
  return status;
}

TEST(test_runs_out_of_memory) {
  machine_case about = block_case(BLOCK_ROWS);
  unit_fail_each_allocation(block_scenario, &about);
}
