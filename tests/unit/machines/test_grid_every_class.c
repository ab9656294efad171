/* Grids over every class of a row, against the grid of each class by itself. */
#include "machine_help.h"

#include "base/rng.h"
#include "emulated.h"
#include "machines/grid_cells.h"

#define SPREAD_ROWS 5000 /* more than the columns hold at once */
#define SPREAD_CLASSES 19
#define SPREAD_UNIT 0x1p-50

typedef struct spread_data {
  double probs[SPREAD_ROWS * SPREAD_CLASSES], weights[SPREAD_ROWS];
  int32_t labels[SPREAD_ROWS];
} spread_data;

/* Rows with one large class, a few middling ones, exact zeros and ones. */
static spread_data *spread_make(void) {
  spread_data *data = calloc(1, sizeof *data);
  const pc_rng rng = {23, 5};
  for (size_t i = 0; i < SPREAD_ROWS; i++) {
    double *row = data->probs + i * SPREAD_CLASSES, sum = 0.0;
    for (size_t j = 0; j < SPREAD_CLASSES; j++) {
      const double u = pc_rng_uniform(&rng, i * SPREAD_CLASSES + j);
      row[j] = u < 0.1 ? 0.0 : pow(u, 8.0);
      sum += row[j];
    }
    for (size_t j = 0; j < SPREAD_CLASSES; j++)
      row[j] = i % 50 == 0 ? (double)(j == i % SPREAD_CLASSES) : row[j] / sum;
    data->labels[i] = (int32_t)(pc_rng_bits(&rng, 1000000 + i) % SPREAD_CLASSES);
    data->weights[i] = (double)(1 + pc_rng_bits(&rng, 2000000 + i) % 6);
  }
  return data;
}

static pc_rows spread_rows(const spread_data *data, size_t begin, size_t count, int weighted) {
  return (pc_rows){.count = count,
                   .classes = SPREAD_CLASSES,
                   .labels = data->labels + begin,
                   .weights = weighted ? data->weights + begin : NULL,
                   .probs = data->probs + begin * SPREAD_CLASSES};
}

static machine_case spread_case(pc_view_kind kind, pc_edge_rule rule, size_t bins,
                                double threshold) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = (int32_t)kind;
  need.grid.rule = rule;
  need.grid.bins = bins;
  need.grid.threshold = threshold;
  need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  return machine_case_make(&pc_machine_grid, &need, SPREAD_CLASSES);
}

/* The same from columns of one class. */
static void spread_one_class(const machine_case *about, void *grid, const pc_rows *rows,
                             size_t class_index) {
  double score[SPREAD_ROWS];
  uint8_t hit[SPREAD_ROWS];
  for (size_t i = 0; i < rows->count; i++) {
    score[i] = rows->probs[i * SPREAD_CLASSES + class_index];
    hit[i] = (size_t)rows->labels[i] == class_index;
  }
  const pc_view_columns columns = {.score = score, .hit = hit};
  machine_update(about, grid, rows, &columns);
}

static void spread_alike(const pc_bin *found, const pc_bin *expected) {
  const double error = SPREAD_UNIT * (expected->weight + 1);
  assert_same(found->low, expected->low);
  assert_same(found->weight, expected->weight);
  assert_same(found->hits, expected->hits);
  assert_true(fabs(found->score - expected->score) <= error);
  assert_true(fabs(found->score_square - expected->score_square) <= error);
  assert_true(fabs(found->score_hit - expected->score_hit) <= error);
}

/* For CLASSES class by class, for POOLED all classes into one grid. */
static void spread_compare(pc_view_kind kind, pc_edge_rule rule, size_t bins, double threshold,
                           int weighted) {
  spread_data *data = spread_make();
  const pc_rows rows = spread_rows(data, 0, SPREAD_ROWS, weighted);
  const machine_case about = spread_case(kind, rule, bins, threshold);
  const machine_case plain = spread_case(PC_VIEW_CLASS, rule, bins, threshold);
  void *grid = machine_state(&about), *one = machine_state(&plain);
  machine_update(&about, grid, &rows, NULL);
  pc_evidence found = machine_evidence(&about, grid);
  const size_t count = found.grid.bin_count;
  assert_int_equal(found.grid.part_count, kind == PC_VIEW_CLASSES ? SPREAD_CLASSES : 1);
  for (size_t j = 0; j < SPREAD_CLASSES; j++) {
    if (kind == PC_VIEW_CLASSES)
      plain.machine->clear(one);
    spread_one_class(&plain, one, &rows, j);
    if (kind == PC_VIEW_POOLED && j + 1 < SPREAD_CLASSES)
      continue;
    pc_evidence expected = machine_evidence(&plain, one);
    const size_t part = kind == PC_VIEW_CLASSES ? j : 0;
    for (size_t b = 0; b < count; b++)
      spread_alike(&found.grid.bins[part * count + b], &expected.grid.bins[b]);
    plain.machine->release(&plain.env, &expected);
  }
  about.machine->release(&about.env, &found);
  about.machine->destroy(&about.env, grid);
  plain.machine->destroy(&plain.env, one);
  free(data);
}

TEST(test_as_each_class_by_itself) {
  static const struct {
    pc_edge_rule rule;
    size_t bins;
    double threshold;
  } tried[] = {
      {PC_EDGES_RIGHT, 15, 0},     {PC_EDGES_RIGHT, 1, 0},     {PC_EDGES_RIGHT, 2, 0},
      {PC_EDGES_OWN_ONE, 15, 0},   {PC_EDGES_LEFT, 10, 0},     {PC_EDGES_GUO, 5, 0},
      {PC_EDGES_KULL, 6, 0},       {PC_EDGES_RIGHT, 2000, 0},  {PC_EDGES_RIGHT, 15, 0.01},
      {PC_EDGES_OWN_ONE, 1, 0.01}, {PC_EDGES_RIGHT, 15, 0.25},
  };
  for (size_t t = 0; t < UNIT_COUNT(tried); t += emulated() ? 2 : 1)
    for (int weighted = emulated() ? 1 : 0; weighted < 2; weighted++) {
      spread_compare(PC_VIEW_CLASSES, tried[t].rule, tried[t].bins, tried[t].threshold,
                     weighted);
      spread_compare(PC_VIEW_POOLED, tried[t].rule, tried[t].bins, tried[t].threshold,
                     weighted);
    }
}

static void spread_same_bins(const machine_case *about, void *left, void *right) {
  pc_evidence a = machine_evidence(about, left), b = machine_evidence(about, right);
  assert_memory_equal(a.grid.bins, b.grid.bins,
                      a.grid.part_count * a.grid.bin_count * sizeof *a.grid.bins);
  about->machine->release(&about->env, &a);
  about->machine->release(&about->env, &b);
}

/* Whole weights against rows written out, bit by bit, in one piece and in many. */
static void spread_same_bits(const machine_case *about) {
  spread_data *data = spread_make();
  const pc_rows whole = spread_rows(data, 0, SPREAD_ROWS, 1);
  void *weighted = machine_state(about), *copies = machine_state(about);
  void *piece = machine_state(about);
  machine_update(about, weighted, &whole, NULL);
  for (size_t i = 0; i < SPREAD_ROWS; i++) {
    const pc_rows row = spread_rows(data, i, 1, 0);
    void *into = i % 3 == 0 ? piece : copies;
    for (double w = 0; w < data->weights[i]; w++)
      machine_update(about, into, &row, NULL);
    if (i % 1000 != 0)
      continue;
    machine_merge(about, copies, piece);
    about->machine->clear(piece);
  }
  machine_merge(about, copies, piece);
  spread_same_bins(about, weighted, copies);
  about->machine->destroy(&about->env, weighted);
  about->machine->destroy(&about->env, copies);
  about->machine->destroy(&about->env, piece);
  free(data);
}

TEST(test_weights_pieces_and_merges) {
  for (int what = 0; what < 4; what++) {
    const machine_case about = spread_case(what & 1 ? PC_VIEW_POOLED : PC_VIEW_CLASSES,
                                           PC_EDGES_RIGHT, 15, what & 2 ? 0.001 : 0.0);
    spread_same_bits(&about);
  }
}

/* Grids without moments and with few classes add several rows at once; rows of weight 1 are added
 * one by one.  Some scores lie on edges. */
static void spread_at_once(pc_edge_rule rule, size_t bins) {
  spread_data *data = spread_make();
  machine_case about = spread_case(PC_VIEW_CLASSES, rule, bins, 0.0);
  about.need.grid.moments = 0;
  for (size_t i = 0; i < SPREAD_ROWS; i++) {
    data->weights[i] = 1.0;
    for (size_t j = 0; i % 7 == 0 && j < SPREAD_CLASSES; j++)
      data->probs[i * SPREAD_CLASSES + j] =
          (double)((i + j) % (bins + 1)) / (double)bins + (double)((int)j - 9) * 0x1p-53;
  }
  const pc_rows plain = spread_rows(data, 0, SPREAD_ROWS, 0);
  const pc_rows weighted = spread_rows(data, 0, SPREAD_ROWS, 1);
  void *once = machine_state(&about), *single = machine_state(&about);
  machine_update(&about, once, &plain, NULL);
  machine_update(&about, single, &weighted, NULL);
  machine_same_bins(&about, once, single);
  about.machine->destroy(&about.env, once);
  about.machine->destroy(&about.env, single);
  free(data);
}

TEST(test_rows_at_once) {
  static const pc_edge_rule rules[] = {PC_EDGES_RIGHT, PC_EDGES_LEFT, PC_EDGES_OWN_ONE,
                                       PC_EDGES_GUO, PC_EDGES_NETCAL};
  static const size_t bins[] = {1, 2, 3, 15, 30, 40};
  for (size_t r = 0; r < UNIT_COUNT(rules); r++)
    for (size_t b = 0; b < UNIT_COUNT(bins); b++)
      spread_at_once(rules[r], bins[b]);
}

static pcal_status spread_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const spread_data *data = user;
  const machine_case about = spread_case(PC_VIEW_CLASSES, PC_EDGES_RIGHT, 3, 0.001);
  const pc_rows plain = spread_rows(data, 0, 10, 0), weighted = spread_rows(data, 10, 10, 1);
  void *left = NULL, *right = NULL;
  pcal_status status = pc_machine_grid.create(env, &about.need, &about.layout, &left, err);
  if (status == PCAL_OK)
    status = pc_machine_grid.create(env, &about.need, &about.layout, &right, err);
  if (status == PCAL_OK)
    status = pc_machine_grid.update(env, left, &plain, NULL, err);
  if (status == PCAL_OK)
    status = pc_machine_grid.update(env, right, &weighted, NULL, err);
  if (status == PCAL_OK)
    status = pc_machine_grid.prepare(env, left, right, err);
  if (left != NULL)
    pc_machine_grid.destroy(env, left);
  if (right != NULL)
    pc_machine_grid.destroy(env, right);
  return status;
}

TEST(test_out_of_memory) {
  spread_data *data = spread_make();
  unit_fail_each_allocation(spread_scenario, data);
  free(data);
}

TEST(test_memory_limit) {
  machine_case about = spread_case(PC_VIEW_CLASSES, PC_EDGES_RIGHT, 1000, 0);
  void *grid = NULL;
  pcal_error err;
  about.env.memory_limit = 1000;
  assert_int_equal(about.machine->create(&about.env, &about.need, &about.layout, &grid, &err),
                   PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "keeping the bins of all classes takes 2 MB, beyond the memory limit of 0 "
                  "MB; ask for fewer bins");
}
