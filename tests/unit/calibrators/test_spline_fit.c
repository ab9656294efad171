/* Against another basis of the same splines, solved another way. */
#include "calibrators/spline/spline_fit.h"

#include "../unit.h"
#include "base/rng.h"

#define ENTRIES 600 /* more than are looked at together */
#define KNOTS 7

typedef struct hand {
  double score[ENTRIES], weight[ENTRIES], hits[ENTRIES];
  pc_curve_table table;
} hand;

/* Sorted scores, some of them tied; outcomes are rarer than predicted. */
static void draw(hand *to, size_t count, uint64_t seed, int tied) {
  const pc_rng rng = {seed, 1};
  to->table = (pc_curve_table){
      .count = count, .score = to->score, .weight = to->weight, .hits = to->hits};
  for (size_t i = 0; i < count; i++) {
    to->score[i] = ((double)i + pc_rng_uniform(&rng, 2 * i)) / (double)count;
    to->weight[i] = tied ? 1 + (double)(i % 4) : 1;
    to->hits[i] = 0;
    for (size_t w = 0; w < (size_t)to->weight[i]; w++)
      to->hits[i] += pc_rng_uniform(&rng, 10000 + 4 * i + w) < to->score[i] * to->score[i];
    to->table.total += to->weight[i];
  }
}

/* Fits to a copy of the table, which has room for `room` entries and may be taken over. */
static pcal_status fit_with_room(const pcal_env *env, const pc_spline_rule *rule,
                                 const pc_curve_table *rows, size_t room, double *values,
                                 pc_line_map *line, pc_spline_fit_result *report,
                                 pcal_error *err) {
  pc_curve_table copy;
  pc_arena scratch;
  PC_TRY(pc_arena_open(&scratch, env, err));
  pcal_status status = pc_curve_table_room(env, room, &copy, err);
  if (status != PCAL_OK) {
    pc_arena_close(&scratch);
    return status;
  }
  copy.count = rows->count;
  copy.total = rows->total;
  memcpy(copy.score, rows->score, rows->count * sizeof(double));
  memcpy(copy.weight, rows->weight, rows->count * sizeof(double));
  memcpy(copy.hits, rows->hits, rows->count * sizeof(double));
  status = pc_spline_fit(env, &scratch.env, rule, &copy, values, line, report, err);
  pc_curve_table_free(env, &copy);
  pc_arena_close(&scratch);
  return status;
}

static pcal_status fit(const pcal_env *env, const pc_spline_rule *rule,
                       const pc_curve_table *rows, double *values, pc_line_map *line,
                       pc_spline_fit_result *report, pcal_error *err) {
  return fit_with_room(env, rule, rows, rows->count, values, line, report, err);
}

/* ---- Truncated powers ---- */

static double power3(double x, size_t knot) {
  const double u = x - (double)knot / (KNOTS - 1);
  return u > 0 ? u * u * u : 0;
}

static double power3_slope(double x, size_t knot) {
  const double u = x - (double)knot / (KNOTS - 1);
  return u > 0 ? 3 * u * u : 0;
}

/* Function b of a basis of the splines of each run-out: natural; no third derivative in the
 * outer intervals; no knot after the first interval and before the last one. */
static double basis(pc_runout runout, size_t b, double x, int slope) {
  double (*const cube)(double, size_t) = slope ? power3_slope : power3;
  const size_t last = KNOTS - 1;
  if (b == 0)
    return slope ? 0 : 1;
  if (b == 1)
    return slope ? 1 : x;
  if (runout == PC_RUNOUT_NATURAL) {
    const size_t j = b - 2;
    const double own = (cube(x, j) - cube(x, last)) / ((double)(last - j) / last);
    const double end = (cube(x, last - 1) - cube(x, last)) * last;
    return own - end;
  }
  if (b == 2)
    return slope ? 2 * x : x * x;
  if (runout == PC_RUNOUT_QUADRATIC)
    return cube(x, b - 2) - cube(x, last - 1);
  if (b == 3)
    return slope ? 3 * x * x : x * x * x;
  return cube(x, b - 2);
}

/* Weighted least squares by orthogonalising columns twice. */
static void least_squares(pc_runout runout, size_t n, const double *x, const double *y,
                          const double *w, double *coefficient) {
  static long double q[KNOTS][ENTRIES], r[KNOTS][KNOTS];
  long double t[ENTRIES], z[KNOTS];
  memset(r, 0, sizeof r);
  for (size_t b = 0; b < KNOTS; b++) {
    for (size_t i = 0; i < n; i++)
      t[i] = sqrtl(w[i]) * basis(runout, b, x[i], 0);
    for (int twice = 0; twice < 2; twice++)
      for (size_t c = 0; c < b; c++) {
        long double dot = 0;
        for (size_t i = 0; i < n; i++)
          dot += q[c][i] * t[i];
        r[c][b] += dot;
        for (size_t i = 0; i < n; i++)
          t[i] -= dot * q[c][i];
      }
    long double norm = 0;
    for (size_t i = 0; i < n; i++)
      norm += t[i] * t[i];
    r[b][b] = sqrtl(norm);
    for (size_t i = 0; i < n; i++)
      q[b][i] = t[i] / r[b][b];
    z[b] = 0;
    for (size_t i = 0; i < n; i++)
      z[b] += q[b][i] * sqrtl(w[i]) * y[i];
  }
  for (size_t b = KNOTS; b > 0; b--) {
    long double sum = z[b - 1];
    for (size_t c = b; c < KNOTS; c++)
      sum -= r[b - 1][c] * coefficient[c];
    coefficient[b - 1] = (double)(sum / r[b - 1][b - 1]);
  }
}

/* The map at every entry, from the definition. */
static void expected_map(const hand *from, pc_runout runout, int cumulative, double *out) {
  const size_t n = from->table.count;
  const double total = from->table.total;
  double x[ENTRIES], a[ENTRIES], y[ENTRIES], coefficient[KNOTS], before = 0, sum = 0;
  for (size_t i = 0; i < n; i++) {
    const double w = from->weight[i];
    a[i] = cumulative ? (before + 1) / total : before / (total - 1);
    x[i] = cumulative ? (before + w) / total : (before + w - 1) / (total - 1);
    sum += from->hits[i] - (cumulative ? 0 : w * from->score[i]);
    y[i] = sum / total;
    before += w;
  }
  least_squares(runout, n, x, y, from->weight, coefficient);
  for (size_t i = 0; i < n; i++) {
    double map = cumulative ? 0 : from->score[i];
    for (size_t b = 0; b < KNOTS; b++)
      map += coefficient[b] *
             (x[i] > a[i] + 1e-12
                  ? (basis(runout, b, x[i], 0) - basis(runout, b, a[i], 0)) / (x[i] - a[i])
                  : basis(runout, b, x[i], 1));
    out[i] = fmin(fmax(map, 0), 1);
  }
}

TEST(agrees_with_another_basis) {
  const pcal_env env = pc_env_resolve(NULL);
  for (int tied = 0; tied < 2; tied++)
    for (int runout = PC_RUNOUT_NATURAL; runout <= PC_RUNOUT_CUBIC; runout++)
      for (int cumulative = 0; cumulative < 2; cumulative++) {
        hand from;
        double expected[ENTRIES], values[KNOTS];
        draw(&from, ENTRIES, 17 + (uint64_t)runout, tied);
        const pc_spline_rule rule = {.knots = KNOTS,
                                     .runout = (pc_runout)runout,
                                     .cumulative = cumulative,
                                     .points = ENTRIES};
        pc_line_map line = {0};
        pc_spline_fit_result report;
        assert_int_equal(fit(&env, &rule, &from.table, values, &line, &report, NULL), PCAL_OK);
        expected_map(&from, (pc_runout)runout, cumulative, expected);
        assert_int_equal(line.count, ENTRIES);
        assert_int_equal(report.rank, KNOTS);
        for (size_t i = 0; i < ENTRIES; i++) {
          assert_same(line.score[i], from.score[i]);
          assert_true(fabs(line.value[i] - expected[i]) < 1e-9);
        }
        pc_free(&env, line.score);
      }
}

/* ---- Constraints ---- */

typedef struct constrained {
  const hand *from;
  pc_spline_space space;
} constrained;

/* The map of entry i, unclipped, and the mean square, for values at the knots. */
static double map_at(const constrained *about, const double *values, size_t i) {
  const hand *from = about->from;
  double bends[KNOTS], before = 0;
  for (size_t j = 0; j < i; j++)
    before += from->weight[j];
  pc_spline_second_derivatives(&about->space, values, bends);
  return from->score[i] +
         pc_spline_mean_slope(&about->space, before / (from->table.total - 1),
                              (before + from->weight[i] - 1) / (from->table.total - 1), values,
                              bends);
}

static double objective(const constrained *about, const double *values) {
  const hand *from = about->from;
  double bends[KNOTS], before = 0, sum = 0, square = 0;
  pc_spline_second_derivatives(&about->space, values, bends);
  for (size_t j = 0; j < from->table.count; j++) {
    before += from->weight[j];
    sum += from->hits[j] - from->weight[j] * from->score[j];
    const pc_spline_form at =
        pc_spline_value(&about->space, (before - 1) / (from->table.total - 1));
    const double gap = pc_spline_evaluate(&at, values, bends) - sum / from->table.total;
    square += from->weight[j] * gap * gap;
  }
  return square / from->table.total / 2;
}

/* The result is feasible, and its gradient is a sum of active normals with nonnegative factors.
 * Derivatives by differences are exact for quadratic and linear functions. */
TEST(constrained_is_optimal) {
  const pcal_env env = pc_env_resolve(NULL);
  for (uint64_t seed = 0; seed < 6; seed++) {
    hand from;
    draw(&from, 40, seed, seed % 2 == 1);
    constrained about = {.from = &from};
    const pc_spline_rule rule = {
        .knots = KNOTS, .runout = PC_RUNOUT_NATURAL, .constrained = 1, .points = ENTRIES};
    double values[KNOTS], gradient[KNOTS], normal[40][KNOTS], u[40] = {0}, left[KNOTS];
    size_t active = 0;
    pc_line_map line = {0};
    pc_spline_fit_result report;
    assert_int_equal(pc_spline_space_new(&env, KNOTS, PC_RUNOUT_NATURAL, &about.space, NULL),
                     PCAL_OK);
    assert_int_equal(fit(&env, &rule, &from.table, values, &line, &report, NULL), PCAL_OK);
    assert_false(report.stopped);
    for (size_t c = 0; c < KNOTS; c++) {
      double up[KNOTS], down[KNOTS];
      memcpy(up, values, sizeof up);
      memcpy(down, values, sizeof down);
      up[c] += 0.5;
      down[c] -= 0.5;
      gradient[c] = objective(&about, up) - objective(&about, down);
    }
    for (size_t i = 0; i < from.table.count; i++) {
      const double map = map_at(&about, values, i);
      assert_true(map > -1e-10 && map < 1 + 1e-10);
      if (fmin(map, 1 - map) > 1e-7)
        continue;
      for (size_t c = 0; c < KNOTS; c++) {
        double up[KNOTS];
        memcpy(up, values, sizeof up);
        up[c] += 1;
        normal[active][c] = (map_at(&about, up, i) - map) * (map < 0.5 ? 1 : -1);
      }
      active++;
    }
    for (int round = 0; round < 100000; round++)
      for (size_t a = 0; a < active; a++) {
        double dot = 0, square = 0;
        for (size_t c = 0; c < KNOTS; c++) {
          double rest = gradient[c];
          for (size_t d = 0; d < active; d++)
            rest -= u[d] * normal[d][c];
          dot += rest * normal[a][c];
          square += normal[a][c] * normal[a][c];
        }
        u[a] = fmax(u[a] + dot / square, 0);
      }
    double norm = 0;
    for (size_t c = 0; c < KNOTS; c++) {
      left[c] = gradient[c];
      for (size_t d = 0; d < active; d++)
        left[c] -= u[d] * normal[d][c];
      norm += left[c] * left[c];
    }
    assert_true(sqrt(norm) < 1e-7);
    assert_true(active > 0 || report.iterations == 0);
    pc_free(&env, line.score);
    pc_spline_space_free(&env, &about.space);
  }
}

/* ---- Few rows ---- */

static double only_value(const hand *from, const pc_spline_rule *rule, size_t entry) {
  const pcal_env env = pc_env_resolve(NULL);
  double values[KNOTS];
  pc_line_map line = {0};
  pc_spline_fit_result report;
  assert_int_equal(fit(&env, rule, &from->table, values, &line, &report, NULL), PCAL_OK);
  const double value = line.value[entry];
  assert_true(report.rank < KNOTS);
  pc_free(&env, line.score);
  return value;
}

/* Constant scores become their frequency: the slope over all places is the mean error. */
TEST(constant_scores) {
  hand from = {.score = {0.75}, .weight = {8}, .hits = {4}};
  from.table = (pc_curve_table){
      .count = 1, .score = from.score, .weight = from.weight, .hits = from.hits, .total = 8};
  pc_spline_rule rule = {.knots = KNOTS, .points = 10};
  assert_near(only_value(&from, &rule, 0), 0.5, 1e-9);
  from.weight[0] = from.hits[0] = from.table.total = 1;
  assert_near(only_value(&from, &rule, 0), 1.0, 1e-9);
  from.weight[0] = from.hits[0] = from.table.total = 0.25;
  assert_near(only_value(&from, &rule, 0), 1.0, 1e-9);
  from.hits[0] = 0;
  rule.constrained = 1;
  assert_true(only_value(&from, &rule, 0) <= 1e-6);
}

/* Of many entries, equally spaced ones become points, with the first and the last. */
TEST(long_tables_are_thinned) {
  const pcal_env env = pc_env_resolve(NULL);
  hand from;
  double values[KNOTS];
  draw(&from, ENTRIES, 3, 0);
  pc_spline_rule rule = {.knots = KNOTS, .points = 8};
  pc_line_map line = {0}, full = {0};
  pc_spline_fit_result report;
  assert_int_equal(fit(&env, &rule, &from.table, values, &line, &report, NULL), PCAL_OK);
  rule.points = ENTRIES;
  assert_int_equal(fit(&env, &rule, &from.table, values, &full, &report, NULL), PCAL_OK);
  assert_int_equal(line.count, 8);
  for (size_t i = 0; i < 8; i++) {
    assert_same(line.score[i], from.score[i * (ENTRIES - 1) / 7]);
    assert_same(line.value[i], full.value[i * (ENTRIES - 1) / 7]);
  }
  pc_free(&env, line.score);
  pc_free(&env, full.score);
}

/* The result is the same whether or not the map takes over the memory of the table. */
TEST(reused_memory_does_not_matter) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_spline_rule rule = {.knots = KNOTS, .points = 2 * ENTRIES};
  static const size_t rooms[] = {ENTRIES, 2 * ENTRIES - 1, 2 * ENTRIES + 3, 3 * ENTRIES};
  hand from;
  double values[KNOTS], first[KNOTS];
  pc_line_map line = {0};
  pc_spline_fit_result report;
  draw(&from, ENTRIES, 4, 1);
  assert_int_equal(fit(&env, &rule, &from.table, first, &line, &report, NULL), PCAL_OK);
  for (size_t r = 0; r < UNIT_COUNT(rooms); r++) {
    pc_line_map other = {0};
    assert_int_equal(
        fit_with_room(&env, &rule, &from.table, rooms[r], values, &other, &report, NULL),
        PCAL_OK);
    assert_int_equal(other.count, ENTRIES);
    assert_memory_equal(values, first, sizeof values);
    assert_memory_equal(other.score, from.score, ENTRIES * sizeof(double));
    assert_memory_equal(other.value, line.value, ENTRIES * sizeof(double));
    pc_free(&env, other.score);
  }
  pc_free(&env, line.score);
}

/* Clips the values of a map to [0, 1]; returns the number of clipped ones. */
static size_t clip_line(pc_line_map *line) {
  size_t outside = 0;
  for (size_t i = 0; i < line->count; i++) {
    outside += line->value[i] < 0 || line->value[i] > 1;
    line->value[i] = fmin(fmax(line->value[i], 0), 1);
  }
  return outside;
}

/* As published: the value just above an entry is that of the next one, and at the next one that
 *               of
 * the entry; the caller clips values to [0, 1]. */
TEST(published_interpolation) {
  const pcal_env env = pc_env_resolve(NULL);
  hand from;
  double values[KNOTS];
  draw(&from, 50, 9, 0);
  pc_spline_rule rule = {.knots = KNOTS, .points = ENTRIES};
  pc_line_map right = {0}, wrong = {0};
  pc_spline_fit_result report;
  assert_int_equal(fit(&env, &rule, &from.table, values, &right, &report, NULL), PCAL_OK);
  rule.published = 1;
  assert_int_equal(fit(&env, &rule, &from.table, values, &wrong, &report, NULL), PCAL_OK);
  assert_int_equal(clip_line(&right), 0);
  assert_true(clip_line(&wrong) > 0);
  for (size_t i = 1; i + 1 < 50; i++) {
    const double at = from.score[i], before = from.score[i - 1];
    assert_near(pc_line_map_value(&wrong, at), right.value[i - 1], 1e-12);
    const double place = before + 0.25 * (at - before);
    assert_near(pc_line_map_value(&wrong, place),
                0.25 * right.value[i - 1] + 0.75 * right.value[i], 1e-9);
  }
  assert_same(pc_line_map_value(&wrong, from.score[0] / 2), right.value[0]);
  assert_same(pc_line_map_value(&wrong, from.score[49]), right.value[49]);
  assert_same(pc_line_map_value(&wrong, 1.0), right.value[49]);
  pc_free(&env, right.score);
  pc_free(&env, wrong.score);
}
