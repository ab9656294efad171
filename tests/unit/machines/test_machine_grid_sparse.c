/* Sparse grids against ordinary ones, fed in step: the same saved bytes and the same bins. */
#include "machine_help.h"

#include "base/codec.h"
#include "base/rng.h"
#include "base/text.h"
#include "machines/machine_grid_sparse.h"

#define SPARSE_CLASSES 1000
#define SPARSE_ROWS 60

typedef struct sparse_data {
  double probs[SPARSE_ROWS * SPARSE_CLASSES], weights[SPARSE_ROWS], score[SPARSE_ROWS];
  int32_t labels[SPARSE_ROWS];
  uint32_t part[SPARSE_ROWS];
  uint8_t hit[SPARSE_ROWS];
} sparse_data;

/* Rows of one large class, a middling one, and a small rest. */
static sparse_data *sparse_make(void) {
  sparse_data *data = calloc(1, sizeof *data);
  const pc_rng rng = {7, 3};
  assert_non_null(data);
  for (size_t i = 0; i < SPARSE_ROWS; i++) {
    double *row = data->probs + i * SPARSE_CLASSES;
    const size_t top = pc_rng_bits(&rng, i) % 20, next = (top + 1 + i % 7) % SPARSE_CLASSES;
    const double large = 0.3 + 0.5 * pc_rng_uniform(&rng, 1000 + i);
    for (size_t j = 0; j < SPARSE_CLASSES; j++)
      row[j] = (0.8 - large) / SPARSE_CLASSES * (double)(j % 3);
    row[top] = large;
    row[next] = 0.2;
    data->labels[i] = (int32_t)(i % 4 == 0 ? i : i % 2 == 0 ? top : next);
    data->weights[i] = 0.5 * (double)(1 + i % 6);
    data->score[i] = large;
    data->part[i] = (uint32_t)top;
    data->hit[i] = (size_t)data->labels[i] == top;
  }
  return data;
}

/* A sparse state and an ordinary one with the same rows. */
typedef struct sparse_pair {
  machine_case sparse, plain;
  void *states[2];
} sparse_pair;

static sparse_pair sparse_new(int by_label, size_t bins) {
  pc_need need;
  sparse_pair pair;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = by_label ? PC_VIEW_RANK : PC_VIEW_CLASSES;
  need.view.index = by_label;
  need.view.by_label = by_label;
  need.grid.rule = PC_EDGES_RIGHT;
  need.grid.bins = bins;
  pair.sparse = machine_case_make(&pc_machine_grid_sparse, &need, SPARSE_CLASSES);
  pair.plain = machine_case_make(&pc_machine_grid, &need, SPARSE_CLASSES);
  pair.states[0] = machine_state(&pair.sparse);
  pair.states[1] = machine_state(&pair.plain);
  return pair;
}

static void sparse_free(sparse_pair *pair) {
  pair->sparse.machine->destroy(&pair->sparse.env, pair->states[0]);
  pair->plain.machine->destroy(&pair->plain.env, pair->states[1]);
}

static void sparse_add(sparse_pair *pair, sparse_data *data, size_t begin, size_t count,
                       int weighted) {
  const pc_rows rows = {.count = count,
                        .classes = SPARSE_CLASSES,
                        .labels = data->labels + begin,
                        .weights = weighted ? data->weights + begin : NULL,
                        .probs = data->probs + begin * SPARSE_CLASSES};
  const pc_view_columns columns = {.score = data->score + begin,
                                   .hit = data->hit + begin,
                                   .part = pair->plain.need.view.by_label ? data->part + begin
                                                                          : NULL};
  machine_update(&pair->sparse, pair->states[0], &rows, &columns);
  machine_update(&pair->plain, pair->states[1], &rows, &columns);
}

static void sparse_join(sparse_pair *into, const sparse_pair *from) {
  machine_merge(&into->sparse, into->states[0], from->states[0]);
  machine_merge(&into->plain, into->states[1], from->states[1]);
}

static int sparse_sink(void *user, const char *bytes, size_t count) {
  pc_text_add_bytes(user, bytes, count);
  return 0;
}

static void sparse_save(const machine_case *about, const void *state, pc_text *out) {
  pc_encoder encoder;
  pc_text_init(out, &about->env);
  pc_encoder_init(&encoder, sparse_sink, out);
  assert_int_equal(about->machine->save(&about->env, state, &encoder, NULL), PCAL_OK);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
}

static void sparse_same_bins(const sparse_pair *pair) {
  pc_evidence found = machine_evidence(&pair->sparse, pair->states[0]);
  pc_evidence expected = machine_evidence(&pair->plain, pair->states[1]);
  const size_t bins = expected.grid.bin_count;
  pc_bin space[64];
  assert_int_equal(found.grid.part_count, expected.grid.part_count);
  assert_int_equal(found.grid.bin_count, bins);
  for (size_t p = 0; p < found.grid.part_count; p++) {
    const pc_bin *own = space;
    if (found.grid.bins == NULL)
      found.grid.read(found.grid.state, p, space);
    else
      own = found.grid.bins + p * bins;
    for (size_t b = 0; b < bins; b++) {
      assert_same(own[b].low, expected.grid.bins[p * bins + b].low);
      assert_same(own[b].weight, expected.grid.bins[p * bins + b].weight);
      assert_same(own[b].hits, expected.grid.bins[p * bins + b].hits);
      assert_same(own[b].score, expected.grid.bins[p * bins + b].score);
    }
  }
  pair->sparse.machine->release(&pair->sparse.env, &found);
  pair->plain.machine->release(&pair->plain.env, &expected);
}

static void sparse_same(const sparse_pair *pair) {
  pc_text found, expected;
  sparse_save(&pair->sparse, pair->states[0], &found);
  sparse_save(&pair->plain, pair->states[1], &expected);
  assert_int_equal(found.length, expected.length);
  assert_memory_equal(found.bytes, expected.bytes, found.length);
  pc_text_free(&found);
  pc_text_free(&expected);
  sparse_same_bins(pair);
}

/* True if the state is still sparse. */
static int sparse_stays(const sparse_pair *pair) {
  pc_evidence evidence = machine_evidence(&pair->sparse, pair->states[0]);
  const int sparse = evidence.grid.bins == NULL;
  pair->sparse.machine->release(&pair->sparse.env, &evidence);
  return sparse;
}

TEST(test_merges_of_every_kind) {
  sparse_data *data = sparse_make();
  for (int by_label = 0; by_label < 2; by_label++) {
    sparse_pair all = sparse_new(by_label, 15), more = sparse_new(by_label, 15);
    sparse_same(&all);
    sparse_add(&all, data, 0, 20, 0);
    sparse_same(&all);
    sparse_add(&more, data, 20, 20, 0);
    sparse_join(&all, &more); /* both sparse */
    assert_true(sparse_stays(&all));
    sparse_same(&all);
    more.sparse.machine->clear(more.states[0]);
    more.plain.machine->clear(more.states[1]);
    sparse_same(&more);
    sparse_add(&more, data, 5, 3, 0);
    sparse_same(&more);
    sparse_add(&more, data, 40, 20, 1); /* weights */
    assert_false(sparse_stays(&more));
    sparse_same(&more);
    sparse_join(&all, &more); /* sparse and ordinary */
    assert_false(sparse_stays(&all));
    sparse_same(&all);
    sparse_join(&all, &more); /* both ordinary */
    sparse_pair last = sparse_new(by_label, 15);
    sparse_add(&last, data, 0, 30, 0);
    sparse_join(&all, &last); /* ordinary and sparse */
    assert_true(sparse_stays(&last));
    sparse_same(&all);
    all.sparse.machine->clear(all.states[0]);
    all.plain.machine->clear(all.states[1]);
    sparse_same(&all);
    sparse_free(&all);
    sparse_free(&more);
    sparse_free(&last);
  }
  free(data);
}

/* More rows than column sums hold, in updates and in merges. */
TEST(test_many_rows_make_it_ordinary) {
  sparse_data *data = sparse_make();
  sparse_pair all = sparse_new(0, 3), more = sparse_new(0, 3);
  for (int i = 0; i < 60; i++)
    sparse_add(&more, data, 0, SPARSE_ROWS, 0);
  for (int i = 0; i < 10; i++)
    sparse_add(&all, data, 0, SPARSE_ROWS, 0);
  assert_true(sparse_stays(&all) && sparse_stays(&more));
  sparse_join(&all, &more);
  assert_false(sparse_stays(&all));
  sparse_same(&all);
  for (int i = 0; i < 10; i++)
    sparse_add(&more, data, 0, SPARSE_ROWS, 0);
  assert_false(sparse_stays(&more));
  sparse_same(&more);
  sparse_free(&all);
  sparse_free(&more);
  free(data);
}

static pcal_status sparse_scenario(const pcal_env *env, void *user, pcal_error *err) {
  sparse_data *data = user;
  sparse_pair about = sparse_new(0, 15);
  const pc_machine *machine = &pc_machine_grid_sparse;
  const pc_rows rows = {
      .count = 30, .classes = SPARSE_CLASSES, .labels = data->labels, .probs = data->probs};
  void *states[2] = {NULL, NULL};
  pc_rows weighted = rows;
  weighted.weights = data->weights;
  pcal_status status = PCAL_OK;
  for (int i = 0; i < 2 && status == PCAL_OK; i++)
    status = machine->create(env, &about.plain.need, &about.plain.layout, &states[i], err);
  for (int i = 0; i < 2 && status == PCAL_OK; i++)
    status = machine->update(env, states[i], &rows, NULL, err);
  if (status == PCAL_OK)
    status = machine->prepare(env, states[0], states[1], err);
  if (status == PCAL_OK)
    status = machine->update(env, states[1], &weighted, NULL, err);
  if (status == PCAL_OK)
    status = machine->prepare(env, states[0], states[1], err);
  for (int i = 0; i < 2; i++)
    machine->destroy(env, states[i]);
  sparse_free(&about);
  return status;
}

TEST(test_out_of_memory) {
  sparse_data *data = sparse_make();
  unit_fail_each_allocation(sparse_scenario, data);
  free(data);
}

TEST(test_which_grids_are_sparse) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = PC_VIEW_CLASSES;
  need.grid.bins = 15;
  const pc_layout few = {PCAL_PROBABILITY, 10000, 10000};
  const pc_layout many = {PCAL_PROBABILITY, 100000, 100000};
  assert_false(pc_grid_is_sparse(&need, &few));
  assert_true(pc_grid_is_sparse(&need, &many));
  need.grid.moments = PC_MOMENT_SQUARE;
  assert_false(pc_grid_is_sparse(&need, &many));
  need.grid.moments = 0;
  need.grid.threshold = 0.1;
  assert_false(pc_grid_is_sparse(&need, &many));
}
