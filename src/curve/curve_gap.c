#include "curve/curve_gap.h"

#include <math.h>

#include "base/executor.h"
#include "curve/curve_cursor.h"
#include "kernels/dispatch.h"

#define GAP_BLOCK ((size_t)1 << 12) /* entries that a task reads */
#define GAP_ENTRY_COST 8.0          /* nanoseconds, for the executor */
#define GAP_PIECE_BITS 12           /* a mark asks for at most 2^12 pieces */

/* ---- tables of scores and of segments: exact sums ---- */

/* The gap after entry i, given the gap before it. */
static pc_fixed gap_step(const pc_curve_table *table, size_t i, pc_fixed running) {
  if (table->form == PC_CURVE_SEGMENTS) {
    const pc_int128 one = pc_fixed_units(1.0);
    running.units += table->segments[i].score.units - one * (pc_int128)table->segments[i].hits;
    return running;
  }
  pc_fixed_add_weighted(&running, table->weight[i], table->score[i]);
  pc_fixed_add_weighted(&running, table->hits[i], -1.0);
  return running;
}

/* Entries [begin, end) of a table. */
typedef struct gap_block {
  size_t begin, end;
  pc_fixed before; /* the gap before the first entry */
  double gap;      /* the widest, */
  size_t best;     /* after which entry it is found first, */
  size_t marked;   /* and how many entries were marked */
} gap_block;

/* Finds the first entry after which the gap, as a double, is largest; the block is not empty. */
static void gap_find_widest(const pc_curve_table *table, gap_block *block) {
  pc_fixed running = block->before, widest = {0};
  for (size_t i = block->begin; i < block->end; i++) {
    running = gap_step(table, i, running);
    const pc_fixed size = {running.units < 0 ? -running.units : running.units};
    if (i > block->begin && size.units <= widest.units)
      continue;
    const double here = pc_fixed_value(&running);
    widest = size;
    if (i == block->begin || fabs(here) > fabs(block->gap)) {
      block->gap = here;
      block->best = i;
    }
  }
}

/* The same of a whole table, which is not empty. */
static size_t gap_widest(const pc_curve_table *table, double *gap) {
  gap_block all = {.end = table->count};
  gap_find_widest(table, &all);
  *gap = all.gap;
  return all.best;
}

/* The largest size that the gap can have inside a segment, `before` being the gap before it. */
static double gap_segment_bound(const pc_segment *segment, pc_fixed before) {
  const pc_int128 one = pc_fixed_units(1.0), hits = segment->hit_score.units;
  const pc_int128 up = before.units + (segment->score.units - hits);
  const pc_int128 down = before.units + hits - one * (pc_int128)segment->hits;
  const pc_int128 high = up < 0 ? -up : up, low = down < 0 ? -down : down;
  const pc_fixed bound = {high > low ? high : low};
  return pc_fixed_value(&bound);
}

/* The least n such that none of 2^n equal pieces of an entry could hold a gap wider than `gap`.
 * The gaps at the ends of the entry are at most `ends`, and a gap inside is at most `bound`. */
static uint8_t gap_piece_bits(double gap, double ends, double bound) {
  const double pieces = (bound - ends) / (gap - ends);
  uint8_t bits = 1;
  while (bits < GAP_PIECE_BITS && !(pieces <= (double)(1u << bits)))
    bits++;
  return bits;
}

/* Marks the open entries of a block inside which the gap could be wider than `gap`, and
 * entry `widest`. */
static void gap_mark(const pc_curve_table *table, double gap, size_t widest, gap_block *block,
                     uint8_t *wanted) {
  pc_fixed before = block->before;
  for (size_t i = block->begin; i < block->end; i++) {
    const pc_fixed after = gap_step(table, i, before);
    const double bound =
        pc_curve_table_open(table, i) ? gap_segment_bound(&table->segments[i], before) : 0.0;
    if (pc_curve_table_open(table, i) && (i == widest || bound >= fabs(gap))) {
      const double ends = fmax(fabs(pc_fixed_value(&before)), fabs(pc_fixed_value(&after)));
      const uint8_t bits = gap_piece_bits(fabs(gap), ends, bound);
      block->marked += !wanted[i];
      wanted[i] = bits > wanted[i] ? bits : wanted[i];
    }
    before = after;
  }
}

/* A table that several threads read, block by block: the sum of each block, its widest gap,
 * its marks. */
typedef struct gap_blocks {
  const pc_curve_table *table;
  gap_block *list;
  double gap;
  size_t widest;
  uint8_t *wanted;
} gap_blocks;

/* The sum of a block, which stands in `before` until all are known. */
static pcal_status gap_sum_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const gap_blocks *all = user;
  gap_block *block = &all->list[index];
  (void)worker;
  (void)err;
  for (size_t i = block->begin; i < block->end; i++)
    block->before = gap_step(all->table, i, block->before);
  return PCAL_OK;
}

static pcal_status gap_widest_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const gap_blocks *all = user;
  (void)worker;
  (void)err;
  gap_find_widest(all->table, &all->list[index]);
  return PCAL_OK;
}

static pcal_status gap_mark_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const gap_blocks *all = user;
  (void)worker;
  (void)err;
  gap_mark(all->table, all->gap, all->widest, &all->list[index], all->wanted);
  return PCAL_OK;
}

static void gap_add_up(gap_blocks *all, size_t count) {
  pc_fixed before = {0};
  for (size_t b = 0; b < count; b++) {
    const pc_fixed own = all->list[b].before;
    all->list[b].before = before;
    before.units += own.units;
  }
}

/* Finds the widest gap of all blocks; of equal ones the first. */
static void gap_choose(gap_blocks *all, size_t count) {
  all->gap = all->list[0].gap;
  all->widest = all->list[0].best;
  for (size_t b = 1; b < count; b++)
    if (fabs(all->list[b].gap) > fabs(all->gap)) {
      all->gap = all->list[b].gap;
      all->widest = all->list[b].best;
    }
}

static pcal_status gap_run_blocks(gap_blocks *all, size_t count, pcal_error *err) {
  const pcal_env *team = all->table->team;
  const double cost = GAP_ENTRY_COST * (double)all->table->count;
  for (size_t b = 0; b < count; b++) {
    const size_t end = (b + 1) * GAP_BLOCK;
    all->list[b].begin = b * GAP_BLOCK;
    all->list[b].end = end < all->table->count ? end : all->table->count;
  }
  PC_TRY(pc_run(team, count, cost, gap_sum_task, all, err));
  gap_add_up(all, count);
  PC_TRY(pc_run(team, count, cost, gap_widest_task, all, err));
  gap_choose(all, count);
  return all->wanted == NULL ? PCAL_OK : pc_run(team, count, cost, gap_mark_task, all, err);
}

/* Reads a table by blocks and counts the marks; 0 if it has no other threads or there is no
 * memory for blocks, and then the caller reads the table itself. */
static int gap_in_blocks(const pc_curve_table *table, gap_blocks *all, size_t *marked) {
  const size_t count = (table->count + GAP_BLOCK - 1) / GAP_BLOCK;
  *marked = 0;
  if (table->team == NULL || count < 2 || pc_worker_count(table->team) < 2)
    return 0;
  all->table = table;
  all->list = pc_alloc(table->team, count, sizeof *all->list);
  if (all->list == NULL)
    return 0;
  const pcal_status status = gap_run_blocks(all, count, NULL);
  for (size_t b = 0; b < count; b++)
    *marked += all->list[b].marked;
  pc_free(table->team, all->list);
  return status == PCAL_OK;
}

size_t pc_curve_gap_wants(const pc_curve_table *table, uint8_t *wanted) {
  gap_block whole = {.end = table->count};
  gap_blocks all = {.wanted = wanted};
  size_t marked;
  double gap = 0.0;
  if (gap_in_blocks(table, &all, &marked))
    return marked;
  const size_t widest = table->count == 0 ? 0 : gap_widest(table, &gap);
  gap_mark(table, gap, widest, &whole, wanted);
  return marked + whole.marked;
}

/* ---- replicas: sums in doubles, resolved range by range ---- */

/* Looks at every distinct score of range r. */
static void gap_inside_range(const pc_curve_prefix *prefix, size_t r, pc_gap *widest) {
  pc_curve_cursor cursor = pc_curve_prefix_at(prefix, r);
  while (cursor.entry < prefix->begin[r + 1]) {
    const double before = cursor.rows;
    pc_curve_prefix_next(prefix, &cursor);
    const double gap = cursor.scores - cursor.hits, at = prefix->score[cursor.entry - 1];
    const double more = fabs(gap) - fabs(widest->value);
    if (cursor.rows > before && (more > 0 || (more == 0 && !(at >= widest->at))))
      *widest = (pc_gap){gap, at};
  }
}

/* The largest size that the gap can have inside range r. */
static double gap_range_bound(const pc_curve_prefix *prefix, size_t r) {
  const double before = prefix->sums.scores[r] - pc_curve_prefix_hits(prefix, r);
  const double of_hits = prefix->sums.hit_scores == NULL
                             ? 0.0
                             : prefix->sums.hit_scores[r + 1] - prefix->sums.hit_scores[r];
  const double up = before + (prefix->sums.scores[r + 1] - prefix->sums.scores[r]) - of_hits;
  const double down = before -
                      (pc_curve_prefix_hits(prefix, r + 1) - pc_curve_prefix_hits(prefix, r)) +
                      of_hits;
  return fmax(up, -down);
}

#define GAP_LANES 8 /* ranges that are looked at together */

/* The largest absolute value. */
static double gap_largest(const double *values, size_t count) {
  double most[GAP_LANES] = {0.0}, largest = 0.0;
  size_t i = 0;
  for (; i + GAP_LANES <= count; i += GAP_LANES)
    for (size_t k = 0; k < GAP_LANES; k++)
      most[k] = fabs(values[i + k]) > most[k] ? fabs(values[i + k]) : most[k];
  for (; i < count; i++)
    largest = fabs(values[i]) > largest ? fabs(values[i]) : largest;
  for (size_t k = 0; k < GAP_LANES; k++)
    largest = most[k] > largest ? most[k] : largest;
  return largest;
}

/* Inside range r the gap moves from before[r] to before[r + 1] on a way no longer than move[r]:
 * where it is x it has come |x - before| and has |x - next| to go, so |x| is at most half of
 * |before| + |next| + move. */
static double gap_point_bound(const double *before, const double *move, size_t r) {
  return 0.5 * (fabs(before[r]) + fabs(before[r + 1]) + move[r]) * (1 + 0x1p-40);
}

/* The first range from r on that may have a gap of at least `least`; `count`: none. */
static size_t gap_next_range(const double *before, const double *move, size_t r, size_t count,
                             double least) {
  for (; r + GAP_LANES <= count; r += GAP_LANES) {
    int found = 0;
    for (size_t k = 0; k < GAP_LANES; k++)
      found |= gap_point_bound(before, move, r + k) >= least;
    if (found)
      break;
  }
  while (r < count && !(gap_point_bound(before, move, r) >= least))
    r++;
  return r;
}

/* The same for hits that are computed from gaps. */
static pc_gap gap_of_point(const pc_curve_prefix *prefix) {
  const pc_prefix_gaps *gaps = prefix->gaps;
  const pc_convolve_kernels *kernels = pc_kernels_best()->convolve;
  const size_t count = prefix->count;
  double factor[PC_GAP_PARTS];
  double *before = gaps->spare, *move = before + count + 1;
  pc_gap widest = {0.0, (double)NAN};
  for (size_t p = 0; p < PC_GAP_PARTS; p++)
    factor[p] = fabs(gaps->factor[p]);
  kernels->blend(gaps->gap, gaps->factor, count + 1, before);
  kernels->blend(gaps->size, factor, count, move);
  /* Sums inside a range round differently. */
  const double least = gap_largest(before + 1, count) * (1 - 0x1p-40);
  for (size_t r = 0;
       (r = gap_next_range(before, move, r, count, fmax(least, fabs(widest.value)))) < count;
       r++)
    gap_inside_range(prefix, r, &widest);
  return widest;
}

static pc_gap gap_of_replica(const pc_curve_prefix *prefix) {
  if (prefix->gaps != NULL)
    return gap_of_point(prefix);
  double least = 0.0; /* the largest gap at the end of a range */
  for (size_t r = 1; r <= prefix->count; r++)
    least = fmax(least, fabs(prefix->sums.scores[r] - pc_curve_prefix_hits(prefix, r)));
  least *= 1 - 0x1p-40; /* sums inside a range round differently */
  pc_gap widest = {0.0, (double)NAN};
  for (size_t r = 0; r < prefix->count; r++)
    if (gap_range_bound(prefix, r) >= fmax(least, fabs(widest.value)))
      gap_inside_range(prefix, r, &widest);
  return widest;
}

pc_gap pc_curve_gap(const pc_curve_table *table) {
  pc_gap gap = {0.0, (double)NAN};
  if (table->form == PC_CURVE_REPLICA)
    return table->total > 0 ? gap_of_replica(table->prefix) : gap;
  gap_blocks all = {.wanted = NULL};
  size_t marked;
  if (table->count > 0 && gap_in_blocks(table, &all, &marked))
    return (pc_gap){all.gap, pc_curve_table_high(table, all.widest)};
  if (table->count > 0)
    gap.at = pc_curve_table_high(table, gap_widest(table, &gap.value));
  return gap;
}
