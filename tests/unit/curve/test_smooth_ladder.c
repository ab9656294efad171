/* Roots on a ladder of kernel widths against bisection on the fine grid of curve/smooth.h. */
#include "unit.h"

#include "base/rng.h"
#include "curve/smooth.h"
#include "curve/smooth_ladder.h"

#define LADDER_ROWS 400

/* A curve of single scores, each of them a range, with gaps of three kinds. */
typedef struct ladder_case {
  size_t begin[LADDER_ROWS + 1];
  double score[LADDER_ROWS];
  double rows[LADDER_ROWS + 1], scores[LADDER_ROWS + 1];
  double gap[PC_GAP_PARTS][LADDER_ROWS + 1];
  uint32_t cells[PC_PREFIX_CELLS + 1];
  pc_prefix_gaps gaps;
  pc_curve_prefix prefix;
} ladder_case;

static void ladder_sums(ladder_case *at, const double gap[PC_GAP_PARTS][LADDER_ROWS]) {
  for (size_t i = 0; i < LADDER_ROWS; i++) {
    at->rows[i + 1] = at->rows[i] + 1.0;
    at->scores[i + 1] = at->scores[i] + at->score[i];
    for (size_t p = 0; p < PC_GAP_PARTS; p++)
      at->gap[p][i + 1] = at->gap[p][i] + gap[p][i];
  }
}

/* Scores (i + 1/2) / rows, in cells of their own; drawn outcomes.  bias: of the data. */
static void ladder_make(ladder_case *at, double bias, uint64_t seed) {
  static double gap[PC_GAP_PARTS][LADDER_ROWS];
  const pc_rng rng = {seed, 1};
  memset(at, 0, sizeof *at);
  for (size_t i = 0; i < LADDER_ROWS; i++) {
    const double s = at->score[i] = ((double)i + 0.5) / LADDER_ROWS;
    at->begin[i] = i;
    gap[PC_GAP_DATA][i] = s - (pc_rng_uniform(&rng, i) < s - bias ? 1.0 : 0.0);
    gap[PC_GAP_REPLICA][i] = s - (pc_rng_uniform(&rng, LADDER_ROWS + i) < s ? 1.0 : 0.0);
    gap[PC_GAP_SHIFT][i] = pc_gap_tilt(s);
  }
  at->begin[LADDER_ROWS] = LADDER_ROWS;
  ladder_sums(at, (const double(*)[LADDER_ROWS])gap);
  size_t next = 0;
  for (size_t c = 0; c <= PC_PREFIX_CELLS; c++) {
    while (next < LADDER_ROWS && at->score[next] * (1 << PC_PREFIX_LEVEL) < (double)c)
      next++;
    at->cells[c] = (uint32_t)(c == PC_PREFIX_CELLS ? LADDER_ROWS : next);
  }
  for (size_t p = 0; p < PC_GAP_PARTS; p++)
    at->gaps.gap[p] = at->gap[p];
  at->prefix = (pc_curve_prefix){.count = LADDER_ROWS,
                                 .begin = at->begin,
                                 .score = at->score,
                                 .sums = {.rows = at->rows, .scores = at->scores},
                                 .cells = at->cells,
                                 .gaps = &at->gaps};
}

/* The same root by bisection. */
static double ladder_expected(const ladder_case *at) {
  double place[LADDER_ROWS], mass[LADDER_ROWS], low = 0x1p-12, high = 1.0;
  pc_point_masses masses = {.count = LADDER_ROWS, .at = place, .mass = mass};
  for (size_t i = 0; i < LADDER_ROWS; i++) {
    place[i] = at->score[i];
    mass[i] = 0.0;
    for (size_t p = 0; p < PC_GAP_PARTS; p++)
      mass[i] += at->gaps.factor[p] * (at->gap[p][i + 1] - at->gap[p][i]) / LADDER_ROWS;
  }
  for (int step = 0; step < 40; step++) {
    const double middle = 0.5 * (low + high);
    if (pc_smooth_norm(NULL, &masses, middle, PC_SMOOTH_FINE) >= middle)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static double ladder_root(const pcal_env *env, pc_smooth_ladder *ladder,
                          const ladder_case *at) {
  double root;
  assert_int_equal(pc_smooth_ladder_root(env, ladder, &at->prefix, LADDER_ROWS, &root, NULL),
                   PCAL_OK);
  return root;
}

static pc_smooth_ladder *ladder_open(const pcal_env *env) {
  pc_smooth_ladder *ladder = NULL;
  assert_int_equal(pc_smooth_ladder_new(env, &ladder, NULL), PCAL_OK);
  return ladder;
}

static void ladder_set(ladder_case *at, double data, double replica, double shift) {
  at->gaps.factor[PC_GAP_DATA] = data;
  at->gaps.factor[PC_GAP_REPLICA] = replica;
  at->gaps.factor[PC_GAP_SHIFT] = shift;
}

TEST(test_roots) {
  static ladder_case at;
  const pcal_env env = pc_env_resolve(NULL);
  static const double factors[][3] = {
      {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.5, 1.2, 0.0}, {-0.4, 1.0, 0.3}, {2.0, 0.3, -0.1}};
  for (uint64_t seed = 1; seed <= 3; seed++) {
    pc_smooth_ladder *ladder = ladder_open(&env);
    ladder_make(&at, 0.05 * (double)seed, seed);
    for (size_t f = 0; f < UNIT_COUNT(factors); f++) {
      ladder_set(&at, factors[f][0], factors[f][1], factors[f][2]);
      const double expected = ladder_expected(&at);
      assert_near(ladder_root(&env, ladder, &at), expected, 2e-3);
    }
    pc_smooth_ladder_free(&env, ladder);
  }
}

/* A new replica, in any order, gives the bits of a fresh ladder. */
TEST(test_new_replica) {
  static ladder_case one, two;
  const pcal_env env = pc_env_resolve(NULL);
  pc_smooth_ladder *ladder = ladder_open(&env), *fresh = ladder_open(&env);
  ladder_make(&one, 0.1, 5);
  ladder_make(&two, 0.1, 5);
  ladder_set(&one, 0.3, 1.0, 0.0);
  ladder_set(&two, 0.3, 1.0, 0.0);
  for (size_t i = 0; i <= LADDER_ROWS; i++)
    two.gap[PC_GAP_REPLICA][i] *= -1.5;
  const double first = ladder_root(&env, ladder, &one);
  pc_smooth_ladder_renew(ladder);
  const double second = ladder_root(&env, ladder, &two);
  assert_same(second, ladder_root(&env, fresh, &two));
  assert_true(first != second);
  pc_smooth_ladder_free(&env, ladder);
  pc_smooth_ladder_free(&env, fresh);
}

TEST(test_edge_cases) {
  static ladder_case at;
  const pcal_env env = pc_env_resolve(NULL);
  pc_smooth_ladder *ladder = ladder_open(&env);
  ladder_make(&at, 0.0, 9);
  ladder_set(&at, 0.0, 0.0, 0.0); /* no gaps */
  assert_same(ladder_root(&env, ladder, &at), 0.0);
  ladder_set(&at, 0.0, 0.0, 1.2); /* one sign: the mean, 1/6 of the factor */
  assert_near(ladder_root(&env, ladder, &at), 0.2, 1e-5);
  ladder_set(&at, 0.0, 0.0, 12.0); /* above 1 */
  assert_near(ladder_root(&env, ladder, &at), 2.0, 1e-4);
  ladder_set(&at, 0.0, 1e-4, 0.0); /* below the ladder */
  assert_true(isnan(ladder_root(&env, ladder, &at)));
  pc_smooth_ladder_free(&env, ladder);
}
