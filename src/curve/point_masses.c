#include "curve/point_masses.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/executor.h"
#include "curve/kde_grid.h"

void pc_point_masses_free(const pcal_env *env, pc_point_masses *masses) {
  pc_free(env, masses->at);
  pc_free(env, masses->mass);
  *masses = (pc_point_masses){0};
}

/* ---- cells ---- */

int64_t pc_point_cell(double score, unsigned level) {
  if (level == PC_KDE_GRID_CELLS)
    return pc_kde_cell(score);
  const int64_t cells = INT64_C(1) << level;
  return score >= 1 ? cells : score > 0 ? (int64_t)(score * (double)cells) : 0;
}

size_t pc_point_cell_count(unsigned level) {
  return level == PC_KDE_GRID_CELLS ? PC_KDE_CELLS : ((size_t)1 << level) + 1;
}

/* Rows of one outcome in one cell. */
typedef struct point_rows {
  double weight;
  pc_fixed score;
  pc_int128 square; /* sum of squared scores, in units of 2^-53 (segment.h) */
} point_rows;

static void point_add_segment(const pc_segment *segment, point_rows rows[2]) {
  const pc_int128 one = pc_segment_square(segment->low);
  const int closed = segment->low == segment->high;
  const pc_int128 all = closed ? one * segment->rows : segment->square;
  const pc_int128 hits = closed ? one * segment->hits : segment->hit_square;
  rows[0].square += all - hits;
  rows[1].square += hits;
  rows[0].score.units += segment->score.units - segment->hit_score.units;
  rows[1].score.units += segment->hit_score.units;
  rows[0].weight += (double)(int64_t)(segment->rows - segment->hits);
  rows[1].weight += (double)(int64_t)segment->hits;
}

/* Exact for whole weights. */
static pc_int128 point_times(int64_t square, double weight) {
  return weight == floor(weight) && weight < 0x1p62
             ? (pc_int128)square * (pc_int128)(int64_t)weight
             : (pc_int128)((double)square * weight);
}

static void point_add(const pc_curve_table *table, size_t i, point_rows rows[2]) {
  if (table->form == PC_CURVE_SEGMENTS) {
    point_add_segment(&table->segments[i], rows);
    return;
  }
  if (table->weight[i] == 1.0 &&
      (table->hits[i] == 0.0 || table->hits[i] == 1.0)) { /* the common case, faster */
    point_rows *one = &rows[table->hits[i] == 1.0];
    pc_fixed_add(&one->score, table->score[i]);
    one->square += pc_segment_square(table->score[i]);
    one->weight += 1.0;
    return;
  }
  const pc_fixed hit_sum = pc_curve_table_hit_sum(table, i);
  const double hits = pc_curve_table_hits(table, i);
  rows[0].score.units += pc_curve_table_score_sum(table, i).units - hit_sum.units;
  rows[1].score.units += hit_sum.units;
  rows[0].weight += pc_curve_table_weight(table, i) - hits;
  rows[1].weight += hits;
  const int64_t square = pc_segment_square(table->score[i]);
  rows[0].square += point_times(square, table->weight[i] - hits);
  rows[1].square += point_times(square, hits);
}

pc_int128 pc_point_hit_square(const pc_curve_table *table) {
  point_rows rows[2] = {{0.0, {0}, 0}, {0.0, {0}, 0}};
  for (size_t i = 0; i < table->count; i++)
    point_add(table, i, rows);
  return rows[1].square;
}

/* ---- masses ---- */

static void point_put(pc_point_masses *out, double at, double mass) {
  if (mass == 0.0)
    return;
  out->at[out->count] = at < 0.0 ? 0.0 : at > 1.0 ? 1.0 : at;
  out->mass[out->count++] = mass;
}

/* Sums of residuals, and of their absolute values. */
typedef struct point_sums {
  pc_fixed net, size;
} point_sums;

static void point_sums_add(point_sums *sums, pc_fixed residual) {
  sums->net.units += residual.units;
  sums->size.units += residual.units < 0 ? -residual.units : residual.units;
}

/* Writes the two masses of a cell, the lower one first; not divided by the total weight. */
static void point_put_cell(pc_point_masses *out, const point_rows rows[2], point_sums *sums) {
  double at[2] = {0.0, 0.0}, mass[2] = {0.0, 0.0};
  for (int hit = 0; hit < 2; hit++) {
    if (rows[hit].weight <= 0)
      continue;
    pc_fixed residual = {rows[hit].score.units};
    at[hit] = pc_fixed_value(&residual) / rows[hit].weight;
    if (hit)
      pc_fixed_add_weighted(&residual, rows[hit].weight, -1.0);
    mass[hit] = pc_fixed_value(&residual);
    point_sums_add(sums, residual);
  }
  const int first = at[1] < at[0];
  point_put(out, at[first], mass[first]);
  point_put(out, at[!first], mass[!first]);
}

/* A cell, from `low` on. */
typedef struct point_cell {
  double low, width;
} point_cell;

/* Two places with shares of the rows of one outcome, whose mean is `mean` and whose variance is
 * that of the scores: the upper end of the cell, and one below the mean.  No variance fits a
 * larger distance: both lie in the cell. */
static void point_pair(const point_rows *rows, const point_cell *cell, double mean,
                       double at[2], double share[2]) {
  const double low = cell->low, above = fmax(mean - low, 0.0), left = cell->width - above;
  const double second =
      (double)rows->square / PC_SEGMENT_SQUARE_ONE / rows->weight - 2 * low * mean + low * low;
  const double variance = fmin(fmax(second - above * above, 0.0), above * left);
  at[0] = at[1] = mean;
  share[0] = 1.0;
  share[1] = 0.0;
  if (!(left > 0.0) || !(variance > 0.0))
    return;
  at[0] = mean - variance / left;
  at[1] = low + cell->width;
  share[1] = variance / (variance + left * left);
  share[0] = 1.0 - share[1];
}

/* The same for a narrow cell: two masses for each outcome, the lowest first. */
static void point_put_narrow(pc_point_masses *out, const point_rows rows[2],
                             const point_cell *cell, point_sums *sums) {
  double at[4], mass[4];
  size_t count = 0;
  for (int hit = 0; hit < 2; hit++) {
    double places[2], share[2];
    if (rows[hit].weight <= 0)
      continue;
    pc_fixed residual = {rows[hit].score.units};
    point_pair(&rows[hit], cell, pc_fixed_value(&residual) / rows[hit].weight, places, share);
    if (hit)
      pc_fixed_add_weighted(&residual, rows[hit].weight, -1.0);
    point_sums_add(sums, residual);
    for (int i = 0; i < 2; i++) {
      size_t place = count++;
      for (; place > 0 && at[place - 1] > places[i]; place--) {
        at[place] = at[place - 1];
        mass[place] = mass[place - 1];
      }
      at[place] = places[i];
      mass[place] = rows[hit].weight * share[i] * (places[i] - hit);
    }
  }
  for (size_t i = 0; i < count; i++)
    point_put(out, at[i], mass[i]);
}

/* Cells are divided among tasks.  A task writes to its own part of the memory of all masses. */
#define POINT_TASKS 64
#define POINT_TASK_ENTRIES 4096
#define POINT_ENTRY_COST 25.0 /* nanoseconds, for the executor */

typedef struct point_work {
  const pc_curve_table *table;
  unsigned level;
  double total;
  size_t tasks;
  size_t begin[POINT_TASKS + 1]; /* entries; each task begins with a new cell */
  pc_point_masses parts[POINT_TASKS];
  point_sums sums[POINT_TASKS];
} point_work;

static int point_is_narrow(unsigned level) {
  return level > PC_POINT_JOIN_LEVEL;
}

/* Masses of a cell, at most. */
static size_t point_per_cell(unsigned level) {
  return point_is_narrow(level) ? 4 : 2;
}

static int64_t point_cell_at(const point_work *work, size_t i) {
  return pc_point_cell(pc_curve_table_low(work->table, i), work->level);
}

static pcal_status point_task(void *user, size_t task, size_t worker, pcal_error *err) {
  point_work *work = user;
  const pc_curve_table *table = work->table;
  pc_point_masses *out = &work->parts[task];
  (void)worker;
  (void)err;
  for (size_t i = work->begin[task]; i < work->begin[task + 1];) {
    point_rows rows[2] = {{0.0, {0}, 0}, {0.0, {0}, 0}};
    const int64_t cell = point_cell_at(work, i);
    const double width = ldexp(1.0, -(int)work->level);
    const point_cell bounds = {(double)cell * width, width};
    for (; i < table->count && point_cell_at(work, i) == cell; i++)
      point_add(table, i, rows);
    if (point_is_narrow(work->level))
      point_put_narrow(out, rows, &bounds, &work->sums[task]);
    else
      point_put_cell(out, rows, &work->sums[task]);
  }
  for (size_t i = 0; i < out->count; i++)
    out->mass[i] /= work->total;
  return PCAL_OK;
}

/* Divides the entries.  A task writes after room for two masses for each earlier entry, or for
 * each earlier cell where those are fewer. */
static void point_divide(point_work *work, const pc_point_masses *all) {
  const size_t count = work->table->count, most = count / POINT_TASK_ENTRIES + 1;
  const int by_cell = count > ((size_t)1 << work->level);
  work->tasks = most < POINT_TASKS ? most : POINT_TASKS;
  for (size_t t = 0; t <= work->tasks; t++) {
    size_t at = t == work->tasks ? count : count / work->tasks * t;
    if (t > 0 && at < work->begin[t - 1])
      at = work->begin[t - 1];
    while (at > 0 && at < count && point_cell_at(work, at) == point_cell_at(work, at - 1))
      at++;
    work->begin[t] = at;
    if (t < work->tasks && at < count) {
      const size_t place =
          point_per_cell(work->level) * (by_cell ? (size_t)point_cell_at(work, at) : at);
      work->parts[t] = (pc_point_masses){.at = all->at + place, .mass = all->mass + place};
    }
  }
}

static pcal_status point_cells(const pcal_env *env, const pc_curve_table *table, unsigned level,
                               pc_point_masses *out, point_sums *sums, pcal_error *err) {
  point_work work = {
      .table = table, .level = level, .total = table->total > 0 ? table->total : 1.0};
  point_divide(&work, out);
  PC_TRY(
      pc_run(env, work.tasks, POINT_ENTRY_COST * (double)table->count, point_task, &work, err));
  for (size_t t = 0; t < work.tasks; t++) {
    const pc_point_masses *part = &work.parts[t];
    if (part->count == 0)
      continue;
    memmove(out->at + out->count, part->at, part->count * sizeof *out->at);
    memmove(out->mass + out->count, part->mass, part->count * sizeof *out->mass);
    out->count += part->count;
    sums->net.units += work.sums[t].net.units;
    sums->size.units += work.sums[t].size.units;
  }
  return PCAL_OK;
}

/* The masses of a cell of a replica, from differences of prefix sums: accurate enough for one
 * of many replicas. */
static void point_replica_cell(const pc_curve_prefix *prefix, size_t begin, size_t end,
                               double total, pc_point_masses *out) {
  const double hits = pc_curve_prefix_hits(prefix, end) - pc_curve_prefix_hits(prefix, begin);
  const double rows = prefix->sums.rows[end] - prefix->sums.rows[begin], misses = rows - hits;
  if (prefix->gaps != NULL) { /* hits are not counts: one mass at the mean score */
    const double score = prefix->sums.scores[end] - prefix->sums.scores[begin];
    point_put(out, rows > 0 ? score / rows : 0.0, (score - hits) / total);
    return;
  }
  const double hit_score = prefix->sums.hit_scores[end] - prefix->sums.hit_scores[begin];
  const double miss_score = prefix->sums.scores[end] - prefix->sums.scores[begin] - hit_score;
  const double at[2] = {misses > 0 ? miss_score / misses : 0.0,
                        hits > 0 ? hit_score / hits : 0.0};
  const double mass[2] = {misses > 0 ? miss_score / total : 0.0,
                          hits > 0 ? (hit_score - hits) / total : 0.0};
  const int first = at[1] < at[0];
  point_put(out, at[first], mass[first]);
  point_put(out, at[!first], mass[!first]);
}

static void point_replica_cells(const pc_curve_table *table, unsigned level,
                                pc_point_masses *out) {
  const pc_curve_prefix *prefix = table->prefix;
  const size_t step = (size_t)1 << (PC_PREFIX_LEVEL - level);
  for (size_t cell = 0; cell < PC_PREFIX_CELLS; cell += step) {
    const size_t last = cell + step < PC_PREFIX_CELLS ? cell + step : PC_PREFIX_CELLS;
    const size_t begin = prefix->cells[cell], end = prefix->cells[last];
    if (begin < end)
      point_replica_cell(prefix, begin, end, table->total, out);
  }
  for (size_t i = 0; i < out->count; i++) {
    out->net += out->mass[i];
    out->size += fabs(out->mass[i]);
  }
}

static void point_scores(const pc_curve_table *table, pc_point_masses *out, point_sums *sums) {
  const double total = table->total > 0 ? table->total : 1.0;
  for (size_t i = 0; i < table->count; i++) {
    pc_fixed residual = pc_curve_table_score_sum(table, i);
    pc_fixed_add_weighted(&residual, pc_curve_table_hits(table, i), -1.0);
    point_put(out, pc_curve_table_low(table, i), pc_fixed_value(&residual));
    point_sums_add(sums, residual);
  }
  for (size_t i = 0; i < out->count; i++)
    out->mass[i] /= total;
}

static size_t point_room(const pc_curve_table *table, unsigned level) {
  if (level == PC_EACH_SCORE)
    return table->count;
  const size_t cells = pc_point_cell_count(level);
  return point_per_cell(level) * (table->count < cells ? table->count : cells);
}

pcal_status pc_point_masses_new(const pcal_env *env, const pc_curve_table *table,
                                unsigned level, pc_point_masses *out, pcal_error *err) {
  const size_t room = point_room(table, level);
  *out = (pc_point_masses){.at = pc_alloc_raw(env, room, sizeof(double)),
                           .mass = pc_alloc_raw(env, room, sizeof(double))};
  if (out->at == NULL || out->mass == NULL) {
    pc_point_masses_free(env, out);
    return pc_fail_memory(err, "smoothing a curve");
  }
  if (table->form == PC_CURVE_REPLICA) {
    point_replica_cells(table, level, out);
    return PCAL_OK;
  }
  point_sums sums = {{0}, {0}};
  pcal_status status = PCAL_OK;
  if (level == PC_EACH_SCORE)
    point_scores(table, out, &sums);
  else
    status = point_cells(env, table, level, out, &sums, err);
  if (status != PCAL_OK) {
    pc_point_masses_free(env, out);
    return status;
  }
  const double total = table->total > 0 ? table->total : 1.0;
  out->net = pc_fixed_value(&sums.net) / total;
  out->size = pc_fixed_value(&sums.size) / total;
  return PCAL_OK;
}

/* ---- tables of scores ---- */

static void point_scores_put(pc_curve_table *out, double score, double weight, double hits) {
  const int joined = out->count > 0 && !(score > out->score[out->count - 1]);
  const size_t at = joined ? out->count - 1 : out->count;
  out->score[at] = joined ? out->score[at] : score;
  out->weight[at] = (joined ? out->weight[at] : 0.0) + weight;
  out->hits[at] = (joined ? out->hits[at] : 0.0) + hits;
  out->count = at + 1;
}

static void point_scores_cell(const point_rows rows[2], pc_curve_table *out) {
  double at[2] = {INFINITY, INFINITY};
  for (int hit = 0; hit < 2; hit++)
    if (rows[hit].weight > 0)
      at[hit] = pc_fixed_value(&rows[hit].score) / rows[hit].weight;
  const int first = at[1] < at[0];
  for (int i = 0; i < 2; i++) {
    const int hit = i ^ first;
    if (rows[hit].weight > 0)
      point_scores_put(out, at[hit], rows[hit].weight, hit ? rows[hit].weight : 0.0);
  }
}

/* The mean score of each range of a replica. */
static void point_scores_replica(const pc_curve_prefix *prefix, pc_curve_table *out) {
  const pc_prefix_sums *sums = &prefix->sums;
  for (size_t r = 0; r < prefix->count; r++) {
    const double rows = sums->rows[r + 1] - sums->rows[r];
    if (rows > 0)
      point_scores_put(out, (sums->scores[r + 1] - sums->scores[r]) / rows, rows,
                       sums->hits[r + 1] - sums->hits[r]);
  }
}

pcal_status pc_point_scores(const pcal_env *env, const pc_curve_table *table, unsigned level,
                            pc_curve_table *out, pcal_error *err) {
  const int replica = table->form == PC_CURVE_REPLICA;
  PC_TRY(pc_curve_table_room(env, replica ? table->count : point_room(table, level), out, err));
  out->total = table->total;
  if (replica) {
    point_scores_replica(table->prefix, out);
    return PCAL_OK;
  }
  for (size_t i = 0; level == PC_EACH_SCORE && i < table->count; i++)
    point_scores_put(out, pc_curve_table_low(table, i), pc_curve_table_weight(table, i),
                     pc_curve_table_hits(table, i));
  for (size_t i = 0; level != PC_EACH_SCORE && i < table->count;) {
    point_rows rows[2] = {{0.0, {0}, 0}, {0.0, {0}, 0}};
    const int64_t cell = pc_point_cell(pc_curve_table_low(table, i), level);
    for (; i < table->count && pc_point_cell(pc_curve_table_low(table, i), level) == cell; i++)
      point_add(table, i, rows);
    point_scores_cell(rows, out);
  }
  return PCAL_OK;
}

/* True if an open entry crosses a cell border, or lacks squares. */
static int point_wants_entry(const pc_curve_table *table, size_t i, unsigned level) {
  return pc_point_cell(pc_curve_table_low(table, i), level) !=
             pc_point_cell(pc_curve_table_high(table, i), level) ||
         (table->form == PC_CURVE_SEGMENTS &&
          pc_point_lacks_squares(&table->segments[i], level));
}

#define POINT_BLOCK ((size_t)1 << 12) /* entries that a task reads */
#define POINT_WANTS_COST 8.0          /* nanoseconds per entry, for the executor */

/* The user data of point_wants_task: entries that cross a cell border, block by block. */
typedef struct point_wants {
  const pc_curve_table *table;
  unsigned level;
  uint8_t *wanted;
  atomic_size_t count;
} point_wants;

static pcal_status point_wants_task(void *user, size_t index, size_t worker, pcal_error *err) {
  point_wants *all = user;
  const pc_curve_table *table = all->table;
  const size_t begin = index * POINT_BLOCK, left = table->count - begin;
  const size_t end = begin + (left < POINT_BLOCK ? left : POINT_BLOCK);
  size_t count = 0;
  (void)worker;
  (void)err;
  for (size_t i = begin; i < end; i++) {
    if (!pc_curve_table_open(table, i) ||
        (all->level != PC_EACH_SCORE && !point_wants_entry(table, i, all->level)))
      continue;
    count += all->wanted == NULL || !all->wanted[i];
    if (all->wanted != NULL)
      all->wanted[i] = 1;
  }
  atomic_fetch_add(&all->count, count);
  return PCAL_OK;
}

size_t pc_point_masses_wants(const pc_curve_table *table, unsigned level, uint8_t *wanted) {
  point_wants all = {.table = table, .level = level, .wanted = wanted};
  const size_t blocks = (table->count + POINT_BLOCK - 1) / POINT_BLOCK;
  atomic_init(&all.count, 0);
  int done = table->team != NULL && blocks > 1 &&
             pc_run(table->team, blocks, POINT_WANTS_COST * (double)table->count,
                    point_wants_task, &all, NULL) == PCAL_OK;
  for (size_t b = 0; !done && b < blocks; b++)
    done = point_wants_task(&all, b, 0, NULL) != PCAL_OK;
  return atomic_load(&all.count);
}

/* In a cell of width w, with m the mean of the scores s of one outcome and residuals r = s or
 * s - 1, Taylor's theorem gives
 *   |sum r K(t, s) - (sum r) K(t, m)| <= |sum r (s - m)| |K'| + sum |r| (s - m)^2 |K''| / 2.
 * Here sum r (s - m) = sum (s - m)^2 <= n w^2 / 4, and |r| varies by at most w.  Over t the
 * derivatives integrate to sqrt(2/pi) / sigma and 4 phi(1) / sigma^2.  With u = 1 / sigma the
 * error is at most w^2 / 4 (POINT_FIRST u + POINT_SECOND size u^2). */
#define POINT_FIRST 0.79788456080286541
#define POINT_SECOND 0.96788289807657284

/* In a narrow cell the scores of one outcome and its two masses have the same mean and
 * variance, so that with f(s) = r(s) K(t, s) both differ from the same parabola around the
 * middle of the cell by at most |f3| (w / 2)^3 / 6 for a row, f3 = r K3 + 3 K2 the third
 * derivative.  Over t |K3| integrates to 1.5101 / sigma^3.  The error is at most
 *   w^3 (POINT_THIRD size u^3 + POINT_THIRD_OTHER u^2). */
#define POINT_THIRD (1.5101 / 24)
#define POINT_THIRD_OTHER (3 * POINT_SECOND / 24)
#define POINT_BISECTIONS 60

static double point_narrow_sigma(double size, double width, double error) {
  const double bound = error / (width * width * width);
  double low = 0.0, high = 1 / width; /* of u; cells are never wider than sigma */
  for (int i = 0; i < POINT_BISECTIONS; i++) {
    const double u = 0.5 * (low + high);
    if (u * u * (POINT_THIRD * size * u + POINT_THIRD_OTHER) <= bound)
      low = u;
    else
      high = u;
  }
  return 1 / low;
}

double pc_point_masses_sigma(const pc_point_masses *masses, unsigned level, double error) {
  if (level == PC_EACH_SCORE)
    return 0.0;
  if (point_is_narrow(level))
    return point_narrow_sigma(masses->size + ldexp(1.0, -(int)level), ldexp(1.0, -(int)level),
                              error);
  const double width = ldexp(1.0, -(int)level), bound = 4 * error / (width * width);
  const double second = (masses->size + width) * POINT_SECOND / 2;
  return (POINT_FIRST + sqrt(POINT_FIRST * POINT_FIRST + 4 * second * bound)) / (2 * bound);
}
