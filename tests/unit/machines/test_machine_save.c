/* Saving and loading of all machines. */
#include "base/codec.h"
#include "machine_help.h"

#define SAVE_MAX 8192

typedef struct save_bytes {
  unsigned char bytes[SAVE_MAX];
  size_t length;
} save_bytes;

static int save_sink(void *user, const char *bytes, size_t count) {
  save_bytes *out = user;
  assert_true(out->length + count <= SAVE_MAX);
  memcpy(out->bytes + out->length, bytes, count);
  out->length += count;
  return 0;
}

/* The bytes of a state, without the checksum; counting agrees. */
static save_bytes save_state(const machine_case *about, const void *state) {
  save_bytes out = {.length = 0};
  pc_encoder encoder;
  pc_encoder_init(&encoder, NULL, NULL);
  assert_int_equal(about->machine->save(&about->env, state, &encoder, NULL), PCAL_OK);
  const uint64_t counted = encoder.length;
  pc_encoder_init(&encoder, save_sink, &out);
  assert_int_equal(about->machine->save(&about->env, state, &encoder, NULL), PCAL_OK);
  assert_int_equal(encoder.length, counted);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  out.length -= PC_CHECKSUM_BYTES;
  return out;
}

/* Loads bytes that may be wrong; returns whether they were taken. */
static int save_load(const machine_case *about, const pc_saved_totals *totals,
                     const save_bytes *saved, void **out) {
  pc_decoder in;
  void *state = NULL;
  pc_decoder_init(&in, saved->bytes, saved->length);
  assert_int_equal(about->machine->load(&about->env, &about->need, &about->layout, totals, &in,
                                        &state, NULL),
                   PCAL_OK);
  const int fine = !in.failed && pc_decoder_left(&in) == 0;
  if (fine)
    *out = state;
  else if (state != NULL)
    about->machine->destroy(&about->env, state);
  return fine;
}

static pc_saved_totals save_totals(const machine_rows *rows) {
  pc_saved_totals totals = {.rows = rows->count};
  pc_sum_clear(&totals.weight);
  for (size_t i = 0; i < rows->count; i++)
    pc_sum_add(&totals.weight, rows->weighted ? rows->weight[i] : 1.0);
  return totals;
}

/* Saves a state, loads it, and saves it again. */
static void save_round(const machine_case *about, const void *state,
                       const pc_saved_totals *totals) {
  void *loaded = NULL;
  const save_bytes saved = save_state(about, state);
  assert_true(save_load(about, totals, &saved, &loaded));
  const save_bytes again = save_state(about, loaded);
  assert_int_equal(again.length, saved.length);
  assert_memory_equal(again.bytes, saved.bytes, saved.length);
  about->machine->destroy(&about->env, loaded);
}

/* Every shorter piece is refused, with nothing leaked. */
static void save_truncated(const machine_case *about, const void *state,
                           const pc_saved_totals *totals) {
  save_bytes saved = save_state(about, state);
  for (const size_t full = saved.length; saved.length > 0;) {
    void *loaded = NULL;
    saved.length--;
    if (save_load(about, totals, &saved, &loaded))
      fail_msg("%zu of %zu bytes were taken", saved.length, full);
  }
}

/* ---- sum ---- */

static void save_values(const double *params, const pc_rows *rows, size_t begin, size_t count,
                        double *out) {
  (void)rows;
  for (size_t i = 0; i < count; i++)
    out[i] = begin + i == 2 ? (double)INFINITY : params[0] * (double)(begin + i + 1);
}

static machine_case save_sum_case(void) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_SUM;
  need.sum.values = save_values;
  need.sum.value_count = 1;
  need.sum.params[0] = 0.1;
  return machine_case_make(&pc_machine_sum, &need, 3);
}

TEST(test_sums) {
  const machine_case about = save_sum_case();
  const uint64_t ids[] = {10, 11, 12, 13};
  const pc_rows rows = {.count = 4, .classes = 3, .ids = ids};
  machine_rows four = {.count = 4};
  const pc_saved_totals totals = save_totals(&four);
  void *sum = machine_state(&about), *loaded = NULL;
  machine_update(&about, sum, &rows, NULL);
  save_round(&about, sum, &totals);
  save_truncated(&about, sum, &totals);
  const save_bytes saved = save_state(&about, sum);
  assert_true(save_load(&about, &totals, &saved, &loaded));
  pc_evidence evidence = machine_evidence(&about, loaded);
  assert_same(evidence.sum.value[0], 7 * 0.1); /* 0.1 + 0.2 + 0.4, rounded once */
  assert_same(evidence.sum.infinite[0], 1.0);
  assert_int_equal(evidence.sum.infinite_row[0], 12);
  about.machine->destroy(&about.env, loaded);
  about.machine->destroy(&about.env, sum);
}

/* A row with an infinite value needs an index, and an index needs such a row. */
TEST(test_sums_whose_parts_contradict_each_other) {
  const machine_case about = save_sum_case();
  machine_rows none = {.count = 0};
  const pc_saved_totals totals = save_totals(&none);
  void *sum = machine_state(&about), *loaded = NULL;
  save_bytes saved = save_state(&about, sum);
  assert_true(save_load(&about, &totals, &saved, &loaded));
  about.machine->destroy(&about.env, loaded);
  saved.bytes[saved.length - 1] = 0; /* of the index of the first infinite row */
  assert_false(save_load(&about, &totals, &saved, &loaded));
  about.machine->destroy(&about.env, sum);
}

/* Sums at the edge of what is taken can be merged a few times, never overflow. */
TEST(test_sums_too_large_to_be_added) {
  const machine_case about = save_sum_case();
  machine_rows none = {.count = 0};
  const pc_saved_totals totals = save_totals(&none);
  void *sum = machine_state(&about), *loaded = NULL;
  save_bytes saved = save_state(&about, sum);
  saved.bytes[9] = 0x20; /* top limb 2^61 */
  pcal_error err;
  assert_true(save_load(&about, &totals, &saved, &loaded));
  machine_merge(&about, sum, loaded);
  machine_merge(&about, sum, loaded);
  assert_int_equal(about.machine->prepare(&about.env, sum, loaded, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "the sums are too large to be added");
  about.machine->destroy(&about.env, loaded);
  about.machine->destroy(&about.env, sum);
}

/* ---- grid ---- */

static machine_case save_grid_case(size_t bins) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = PC_VIEW_RANK;
  need.view.index = 1;
  need.grid.rule = PC_EDGES_RIGHT;
  need.grid.bins = bins;
  need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  return machine_case_make(&pc_machine_grid, &need, 3);
}

TEST(test_grids) {
  machine_rows rows = {.score = {0.1, 0.6, 0.7, 1.0},
                       .weight = {1, 2.5, 0.25, 3},
                       .hit = {0, 1, 0, 1},
                       .count = 4,
                       .weighted = 1};
  const machine_case about = save_grid_case(2);
  const pc_saved_totals totals = save_totals(&rows);
  void *grid = machine_state(&about), *loaded = NULL;
  machine_feed(&about, grid, &rows);
  save_round(&about, grid, &totals);
  save_truncated(&about, grid, &totals);
  const save_bytes saved = save_state(&about, grid);
  assert_int_equal(saved.length, 2 * 80);
  assert_true(save_load(&about, &totals, &saved, &loaded));
  pc_evidence evidence = machine_evidence(&about, loaded);
  assert_int_equal(evidence.grid.bin_count, 2);
  assert_same(evidence.grid.bins[1].weight, 5.75);
  assert_same(evidence.grid.bins[1].hits, 5.5);
  assert_near(evidence.grid.bins[1].score, 0.6 * 2.5 + 0.7 * 0.25 + 3, 1e-15);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, loaded);
  about.machine->destroy(&about.env, grid);
}

TEST(test_grids_that_cannot_be) {
  machine_rows none = {.count = 0};
  const machine_case about = save_grid_case(1);
  const pc_saved_totals totals = save_totals(&none);
  void *grid = machine_state(&about), *loaded = NULL;
  for (size_t field = 0; field < 5; field++) {
    save_bytes saved = save_state(&about, grid);
    saved.bytes[16 * field + 15] = 0xFF; /* negative: hits, weights and squares never are */
    const int may_be_negative = field == 2 || field == 4;
    const int taken = save_load(&about, &totals, &saved, &loaded);
    assert_int_equal(taken, may_be_negative);
    if (taken)
      about.machine->destroy(&about.env, loaded);
  }
  save_bytes saved = save_state(&about, grid);
  saved.bytes[16] = 1; /* more hits than rows */
  assert_false(save_load(&about, &totals, &saved, &loaded));
  about.machine->destroy(&about.env, grid);
}

/* Many bins take memory only when there are bytes for them. */
TEST(test_grids_ask_for_no_more_than_their_bytes) {
  unit_memory memory = {0};
  machine_rows none = {.count = 0};
  machine_case about = save_grid_case(PC_BINS_MAX);
  const pc_saved_totals totals = save_totals(&none);
  const save_bytes few = {.length = 800};
  void *loaded = NULL;
  about.env = unit_env(&memory);
  assert_false(save_load(&about, &totals, &few, &loaded));
  assert_int_equal(atomic_load(&memory.calls), 0);
}

/* ---- curve ---- */

static machine_case save_curve_case(int by_label, size_t classes) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_CURVE;
  need.view.kind = PC_VIEW_RANK;
  need.view.index = 1;
  need.view.by_label = by_label;
  return machine_case_make(&pc_machine_curve, &need, classes);
}

TEST(test_curves) {
  machine_rows rows = {.score = {0.9, 0.2, 0.9, -0.0},
                       .weight = {2, 1, 0.5, 1},
                       .hit = {1, 0, 1, 0},
                       .part = {2, 0, 2, 1},
                       .count = 4,
                       .weighted = 1};
  const machine_case about = save_curve_case(1, 3);
  const pc_saved_totals totals = save_totals(&rows);
  void *curve = machine_state(&about), *loaded = NULL;
  machine_feed(&about, curve, &rows);
  save_round(&about, curve, &totals);
  save_truncated(&about, curve, &totals);
  const save_bytes saved = save_state(&about, curve);
  assert_int_equal(saved.length, 6 * 9 + 4 * 8 + 2 * 8); /* weights only where not all 1 */
  assert_true(save_load(&about, &totals, &saved, &loaded));
  pc_evidence evidence = machine_evidence(&about, loaded);
  assert_int_equal(evidence.curve.parts[2].count, 1);
  assert_same(evidence.curve.parts[2].weight[0], 2.5);
  assert_same(evidence.curve.parts[2].hits[0], 2.5);
  assert_same(evidence.curve.parts[1].score[0], 0.0);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, loaded);
  about.machine->destroy(&about.env, curve);
}

/* The same rows in another order, with weights of one, in pieces, after a clear. */
TEST(test_curves_do_not_tell_their_history) {
  machine_rows rows = {.score = {0.9, 0.2, 0.9, 0.5}, .hit = {1, 0, 1, 0}, .count = 4};
  machine_rows head = {.score = {0.5, 0.9}, .weight = {1, 1}, .hit = {0, 1}, .count = 2};
  machine_rows tail = {.score = {0.2, 0.9}, .hit = {0, 1}, .count = 2};
  const machine_case about = save_curve_case(0, 3);
  void *plain = machine_state(&about), *other = machine_state(&about);
  void *piece = machine_state(&about);
  head.weighted = 1;
  machine_feed(&about, plain, &rows);
  machine_feed(&about, piece, &head);
  about.machine->clear(piece);
  machine_feed(&about, piece, &tail);
  machine_feed(&about, other, &head);
  machine_merge(&about, other, piece);
  const save_bytes first = save_state(&about, plain), second = save_state(&about, other);
  assert_int_equal(first.length, second.length);
  assert_memory_equal(first.bytes, second.bytes, first.length);
  about.machine->destroy(&about.env, plain);
  about.machine->destroy(&about.env, other);
  about.machine->destroy(&about.env, piece);
}

TEST(test_curves_that_cannot_be) {
  static const double scores[] = {(double)NAN, (double)INFINITY, -4.0, 4.0};
  static const double weights[] = {0.0, -1.0, (double)NAN, (double)INFINITY, 3.0};
  machine_rows rows = {.score = {0.5}, .weight = {2}, .count = 1, .weighted = 1};
  const machine_case about = save_curve_case(0, 3);
  pc_saved_totals totals = save_totals(&rows);
  void *curve = machine_state(&about), *loaded = NULL;
  machine_feed(&about, curve, &rows);
  const save_bytes good = save_state(&about, curve);
  for (size_t i = 0; i < UNIT_COUNT(scores) + UNIT_COUNT(weights); i++) {
    const int in_score = i < UNIT_COUNT(scores);
    double wrong = in_score ? scores[i] : weights[i - UNIT_COUNT(scores)];
    unit_native_order(&wrong, sizeof wrong, 1);
    save_bytes saved = good;
    memcpy(saved.bytes + 9 + (in_score ? 0 : 8), &wrong, sizeof wrong);
    assert_false(save_load(&about, &totals, &saved, &loaded));
  }
  save_bytes saved = good;
  saved.bytes[8] = 2; /* weighted: neither yes nor no */
  assert_false(save_load(&about, &totals, &saved, &loaded));
  totals.rows = 2;
  assert_false(save_load(&about, &totals, &good, &loaded));
  about.machine->destroy(&about.env, curve);
}

TEST(test_curves_ask_for_no_more_than_their_bytes) {
  unit_memory memory = {0};
  machine_rows none = {.count = 0};
  machine_case about = save_curve_case(1, 1000000);
  const pc_saved_totals totals = save_totals(&none);
  save_bytes few = {.length = SAVE_MAX};
  void *loaded = NULL;
  about.env = unit_env(&memory);
  assert_false(save_load(&about, &totals, &few, &loaded));
  assert_int_equal(atomic_load(&memory.calls), 0);
  about = save_curve_case(0, 3);
  about.env = unit_env(&memory);
  memset(few.bytes, 0xFF, 8);
  assert_false(save_load(&about, &totals, &few, &loaded));
  assert_int_equal(atomic_load(&memory.calls), 2); /* the state and its two stores */
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(test_curves_keep_the_memory_limit) {
  machine_rows rows = {.score = {0.5, 0.6, 0.7}, .count = 3};
  machine_case about = save_curve_case(0, 3);
  const pc_saved_totals totals = save_totals(&rows);
  void *curve = machine_state(&about), *loaded = NULL;
  machine_feed(&about, curve, &rows);
  const save_bytes saved = save_state(&about, curve);
  pc_decoder in;
  pcal_error err;
  about.env.memory_limit = 16;
  pc_decoder_init(&in, saved.bytes, saved.length);
  assert_int_equal(
      about.machine->load(&about.env, &about.need, &about.layout, &totals, &in, &loaded, &err),
      PCAL_MEMORY);
  about.machine->destroy(&about.env, loaded);
  about.machine->destroy(&about.env, curve);
}

/* ---- block ---- */

static double save_block_value(const double *params, const pc_pair_rows *rows) {
  return params[0] * *pc_pair_prob(rows, 0, 0) - *pc_pair_prob(rows, 1, 0);
}

static machine_case save_block_case(void) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_BLOCK;
  need.block.value = save_block_value;
  need.block.rows = 2;
  need.block.params[0] = 3;
  return machine_case_make(&pc_machine_block, &need, 2);
}

static const uint64_t save_ids[] = {3, 4, 5, 8, 11};

/* One block, and the rows 3, 8 and 11 whose neighbours have not come. */
static void *save_blocks(const machine_case *about) {
  static const double probs[] = {0.5, 0.5, 0.25, 0.75, 0.125, 0.875, 1, 0, 0, 1};
  static const int32_t labels[] = {1, 0, 1, 0, 1};
  const pc_rows rows = {
      .count = 5, .classes = 2, .ids = save_ids, .labels = labels, .probs = probs};
  void *blocks = machine_state(about);
  machine_update(about, blocks, &rows, NULL);
  return blocks;
}

TEST(test_blocks) {
  machine_rows five = {.count = 5};
  const machine_case about = save_block_case();
  const pc_saved_totals totals = save_totals(&five);
  void *blocks = save_blocks(&about), *loaded = NULL;
  save_round(&about, blocks, &totals);
  save_truncated(&about, blocks, &totals);
  const save_bytes saved = save_state(&about, blocks);
  assert_true(save_load(&about, &totals, &saved, &loaded));
  pc_evidence evidence = machine_evidence(&about, loaded);
  assert_int_equal(evidence.block.count, 1);
  assert_same(evidence.block.sum, 3 * 0.25 - 0.125);
  about.machine->destroy(&about.env, loaded);
  about.machine->destroy(&about.env, blocks);
}

/* In one piece, and in two of which the second comes first. */
TEST(test_blocks_do_not_tell_their_history) {
  static const double probs[] = {0.5, 0.5, 0.25, 0.75, 0.125, 0.875, 1, 0, 0, 1};
  static const int32_t labels[] = {1, 0, 1, 0, 1};
  const machine_case about = save_block_case();
  void *plain = save_blocks(&about), *other = machine_state(&about);
  void *piece = machine_state(&about);
  pc_rows rows = {.count = 2, .classes = 2, .ids = save_ids, .labels = labels, .probs = probs};
  machine_update(&about, piece, &rows, NULL);
  rows = (pc_rows){
      .count = 3, .classes = 2, .ids = save_ids + 2, .labels = labels + 2, .probs = probs + 4};
  machine_update(&about, other, &rows, NULL);
  machine_merge(&about, other, piece);
  const save_bytes first = save_state(&about, plain), second = save_state(&about, other);
  assert_int_equal(first.length, second.length);
  assert_memory_equal(first.bytes, second.bytes, first.length);
  about.machine->destroy(&about.env, plain);
  about.machine->destroy(&about.env, other);
  about.machine->destroy(&about.env, piece);
}

static void save_block_refuses(const machine_case *about, const pc_saved_totals *totals,
                               const save_bytes *good, size_t at, const void *bytes,
                               size_t count) {
  save_bytes saved = *good;
  void *loaded = NULL;
  memcpy(saved.bytes + at, bytes, count);
  assert_false(save_load(about, totals, &saved, &loaded));
}

TEST(test_blocks_that_cannot_be) {
  static const double probs[] = {(double)NAN, (double)INFINITY, -0.2, 1.2};
  const machine_case about = save_block_case();
  machine_rows five = {.count = 5};
  pc_saved_totals totals = save_totals(&five);
  void *blocks = save_blocks(&about), *loaded = NULL;
  const save_bytes good = save_state(&about, blocks);
  const size_t row = 8 + 4 + 2 * 8, first = good.length - 3 * row;
  for (size_t i = 0; i < UNIT_COUNT(probs); i++) {
    double wrong = probs[i];
    unit_native_order(&wrong, sizeof wrong, 1);
    save_block_refuses(&about, &totals, &good, first + 12, &wrong, sizeof wrong);
  }
  save_block_refuses(&about, &totals, &good, first, "\x08", 1); /* the index of the next */
  save_block_refuses(&about, &totals, &good, first, "\x09", 1); /* and one behind it */
  save_block_refuses(&about, &totals, &good, first + row, "\x0a", 1); /* a block: 10, 11 */
  save_block_refuses(&about, &totals, &good, first + 8, "\x02", 1);   /* a class too many */
  save_block_refuses(&about, &totals, &good, 0, "\x02", 1); /* more blocks than rows for them */
  assert_true(save_load(&about, &totals, &good, &loaded));
  about.machine->destroy(&about.env, loaded);
  totals.rows = 6;
  assert_false(save_load(&about, &totals, &good, &loaded));
  about.machine->destroy(&about.env, blocks);
}

TEST(test_pairs_cannot_be_saved) {
  assert_false(pc_machine_is_saved(&pc_machine_pair));
  assert_true(pc_machine_is_saved(&pc_machine_block));
}

/* ---- every class of a row ---- */

static const double save_probs[] = {0.5, 0.25, 0.25, 0, 1, 0, 0.0625, 0.0625, 0.875};
static const int32_t save_labels[] = {1, 1, 2};
static const double save_weights[] = {2, 1, 0.5};

static machine_case save_spread_case(pc_machine_kind machine, pc_view_kind kind,
                                     double threshold) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = machine;
  need.view.kind = (int32_t)kind;
  need.grid.rule = PC_EDGES_RIGHT;
  need.grid.bins = 2;
  need.grid.threshold = threshold;
  need.grid.moments = machine == PC_GRID ? PC_MOMENT_SQUARE : 0;
  return machine_case_make(pc_machine_of(machine), &need, 3);
}

TEST(test_every_class) {
  for (int what = 0; what < 12; what++) {
    const machine_case about =
        save_spread_case(what & 1 ? PC_GRID : PC_CURVE,
                         what & 2 ? PC_VIEW_POOLED : PC_VIEW_CLASSES, what & 4 ? 0.1 : 0.0);
    const pc_rows rows = {.count = 3,
                          .classes = 3,
                          .labels = save_labels,
                          .weights = what >= 8 ? save_weights : NULL,
                          .probs = save_probs};
    machine_rows same = {.weight = {2, 1, 0.5}, .count = 3, .weighted = what >= 8};
    const pc_saved_totals totals = save_totals(&same);
    void *before = machine_state(&about), *loaded = NULL;
    machine_update(&about, before, &rows, NULL);
    save_round(&about, before, &totals);
    save_truncated(&about, before, &totals);
    const save_bytes saved = save_state(&about, before);
    assert_true(save_load(&about, &totals, &saved, &loaded));
    machine_update(&about, loaded, &rows, NULL); /* a loaded state goes on */
    machine_merge(&about, before, before);
    const save_bytes twice = save_state(&about, before), again = save_state(&about, loaded);
    assert_int_equal(twice.length, again.length);
    assert_memory_equal(twice.bytes, again.bytes, twice.length);
    about.machine->destroy(&about.env, loaded);
    about.machine->destroy(&about.env, before);
  }
}

/* A curve over classes has each row once for each class. */
TEST(test_every_class_must_be_there) {
  const machine_case about = save_spread_case(PC_CURVE, PC_VIEW_CLASSES, 0);
  const machine_case pooled = save_spread_case(PC_CURVE, PC_VIEW_POOLED, 0);
  const pc_rows rows = {.count = 3, .classes = 3, .labels = save_labels, .probs = save_probs};
  machine_rows fewer = {.count = 2};
  const pc_saved_totals wrong = save_totals(&fewer);
  void *curve = machine_state(&about), *all = machine_state(&pooled), *loaded = NULL;
  machine_update(&about, curve, &rows, NULL);
  machine_update(&pooled, all, &rows, NULL);
  const save_bytes saved = save_state(&about, curve), together = save_state(&pooled, all);
  assert_false(save_load(&about, &wrong, &saved, &loaded));
  assert_false(save_load(&pooled, &wrong, &together, &loaded));
  about.machine->destroy(&about.env, curve);
  pooled.machine->destroy(&pooled.env, all);
}
