#include "curve/bucket_curve.h"

#include <float.h>
#include <math.h>

#include "curve/point_masses.h"

#define COARSE_WHOLE_SHIFT 63 /* leaves one sub-bucket: keys are less than 2^63 apart */
#define COARSE_FLOAT_SHIFT 29 /* neighbouring float32 are 2^29 doubles apart */
#define COARSE_NARROW_SHARE 4 /* fewer sub-buckets for float32: the next pass counts them */

static uint64_t coarse_distance(double low, double high) {
  return pc_score_key(high) - pc_score_key(low);
}

static int coarse_single(const pc_segment *segment) {
  return segment->low == segment->high;
}

pcal_status pc_bucket_curve_new(const pcal_env *env, const pc_bucket_tally *tally,
                                pc_bucket_curve *out, pcal_error *err) {
  *out = (pc_bucket_curve){.env = env, .ruler = tally->ruler, .rest = tally->rest};
  out->segments = pc_alloc_raw(env, pc_bucket_tally_segments_max(tally), sizeof *out->segments);
  if (out->segments == NULL)
    return pc_fail_memory(err, "building a curve");
  out->count = pc_bucket_tally_read_segments(tally, out->segments);
  for (size_t i = 0; i < out->count; i++)
    out->total += out->segments[i].rows;
  return PCAL_OK;
}

void pc_bucket_curve_free(pc_bucket_curve *coarse) {
  if (coarse->env != NULL)
    pc_free(coarse->env, coarse->segments);
  *coarse = (pc_bucket_curve){0};
}

/* ---- aiming ---- */

void pc_refine_targets_free(pc_refine_targets *targets) {
  if (targets->env == NULL)
    return;
  pc_free(targets->env, targets->list);
  pc_free(targets->env, targets->wanted);
  pc_free(targets->env, targets->reach);
  *targets = (pc_refine_targets){0};
}

static pcal_status coarse_targets_new(const pc_bucket_curve *coarse, size_t count,
                                      pc_refine_targets *out, pcal_error *err) {
  const pcal_env *env = coarse->env;
  *out = (pc_refine_targets){.env = env, .ruler = coarse->ruler};
  out->list = pc_alloc(env, count, sizeof *out->list);
  out->wanted = pc_alloc(env, coarse->ruler.count, sizeof *out->wanted);
  out->reach = pc_alloc(env, coarse->ruler.count + 1, sizeof *out->reach);
  if (out->list != NULL && out->wanted != NULL && out->reach != NULL)
    return PCAL_OK;
  pc_refine_targets_free(out);
  return pc_fail_memory(err, "refining a curve");
}

/* The number of ends that cut a segment, from *at on, which moves past those before it. */
static size_t coarse_ends_inside(const pc_segment *segment, const double *ends,
                                 size_t end_count, size_t *at) {
  size_t inside = 0;
  while (*at < end_count && ends[*at] < segment->low)
    (*at)++;
  while (*at + inside < end_count && ends[*at + inside] < segment->high)
    inside++;
  return inside;
}

size_t pc_bucket_curve_count_cut(const pc_bucket_curve *coarse, const double *ends,
                                 size_t end_count) {
  size_t cuts = 0, at = 0;
  for (size_t i = 0; i < coarse->count; i++)
    cuts += coarse_ends_inside(&coarse->segments[i], ends, end_count, &at) > 0;
  return cuts;
}

/* What is to be done, before it is laid out. */
typedef struct coarse_plan {
  const pc_bucket_curve *coarse;
  const pc_refine_request *wish;
  size_t pieces, wanted; /* of all segments, and of those wanted score by score */
  uint64_t rows, floats; /* in wanted segments: rows, and float32 that exist there */
  size_t room;           /* sub-buckets for a piece that is split */
  size_t singles;        /* and for all that are counted */
} coarse_plan;

static int coarse_wants(const coarse_plan *plan, size_t i) {
  return plan->wish->wanted[i] && !coarse_single(&plan->coarse->segments[i]);
}

/* How many float32 lie between two scores, or a little more; too many next to 0, where they are
 * not evenly spaced. */
static uint64_t coarse_floats(double low, double high) {
  if (low < FLT_MIN)
    return PC_REFINE_COUNTED_MAX + 1;
  return (coarse_distance(low, high) >> COARSE_FLOAT_SHIFT) + 2;
}

static coarse_plan coarse_plan_make(const pc_bucket_curve *coarse,
                                    const pc_refine_request *wish) {
  coarse_plan plan = {.coarse = coarse, .wish = wish};
  size_t at = 0;
  for (size_t i = 0; i < coarse->count; i++) {
    const pc_segment *segment = &coarse->segments[i];
    const size_t ends = coarse_ends_inside(segment, wish->ends, wish->end_count, &at);
    const int wanted = coarse_wants(&plan, i);
    plan.pieces += ends > 0 || wanted ? ends + 1 : 0;
    plan.wanted += wanted ? ends + 1 : 0;
    plan.rows += wanted ? segment->rows : 0;
    plan.floats += wanted ? coarse_floats(segment->low, segment->high) + 2 * ends : 0;
  }
  const size_t tallies = wish->workers < 1 ? 1 : wish->workers;
  const size_t parts = coarse->ruler.fine / (wish->narrow ? COARSE_NARROW_SHARE : 1);
  const size_t share = plan.wanted == 0 ? 2 : parts / tallies / plan.wanted;
  plan.room = share < 2 ? 2 : share;
  plan.singles = PC_REFINE_COUNTED_MAX / tallies;
  return plan;
}

static pc_refine_action coarse_choose(const coarse_plan *plan, size_t i, size_t ends) {
  if (!coarse_wants(plan, i))
    return ends > 0 ? PC_REFINE_SPLIT : PC_REFINE_NOTHING;
  if (plan->rows <= plan->wish->keep_limit)
    return PC_REFINE_KEEP;
  return plan->wish->narrow && plan->floats <= plan->singles ? PC_REFINE_COUNT
                                                             : PC_REFINE_SPLIT;
}

/* The largest float32 up to a positive double. */
static double coarse_float_below(double score) {
  return pc_double_from_bits(pc_double_bits(score) >> COARSE_FLOAT_SHIFT << COARSE_FLOAT_SHIFT);
}

/* Adds a target, and the sub-buckets that its fate asks for. */
static void coarse_add_target(pc_refine_targets *out, pc_refine_target target) {
  size_t *pool = target.fate == PC_REFINE_COUNT ? &out->counted : &out->split;
  target.first = *pool;
  if (target.fate != PC_REFINE_KEEP)
    target.parts = pc_refine_sub_bucket(out, &target, target.high) + 1;
  *pool += target.parts;
  out->list[out->count++] = target;
}

static void coarse_aim_at(pc_refine_targets *out, const coarse_plan *plan, size_t segment,
                          double low, double high, pc_refine_action fate) {
  pc_refine_target target = {.segment = segment, .low = low, .high = high, .fate = fate};
  if (fate == PC_REFINE_COUNT) {
    target.low = coarse_float_below(low);
    target.shift = COARSE_FLOAT_SHIFT;
  } else {
    target.shift = coarse_wants(plan, segment) ? pc_bucket_shift(low, high, plan->room)
                                               : COARSE_WHOLE_SHIFT;
  }
  coarse_add_target(out, target);
}

/* Where in the list to look for the scores of a bucket. */
static void coarse_index(pc_refine_targets *targets) {
  const pc_bucket_layout *ruler = &targets->ruler;
  size_t t = 0;
  for (size_t b = 0; b <= ruler->count; b++) {
    while (t < targets->count && pc_bucket_of(ruler, targets->list[t].high) < b)
      t++;
    targets->reach[b] = (uint32_t)t;
  }
  for (t = 0; t < targets->count; t++) {
    const size_t last = pc_bucket_of(ruler, targets->list[t].high);
    for (size_t b = pc_bucket_of(ruler, targets->list[t].low); b <= last; b++)
      targets->wanted[b] = 1;
  }
}

pcal_status pc_bucket_curve_targets(const pc_bucket_curve *coarse,
                                    const pc_refine_request *wish, pc_refine_targets *out,
                                    pcal_error *err) {
  const coarse_plan plan = coarse_plan_make(coarse, wish);
  PC_TRY(coarse_targets_new(coarse, plan.pieces, out, err));
  size_t at = 0;
  for (size_t i = 0; i < coarse->count; i++) {
    const pc_segment *segment = &coarse->segments[i];
    const size_t ends = coarse_ends_inside(segment, wish->ends, wish->end_count, &at);
    const pc_refine_action fate = coarse_choose(&plan, i, ends);
    double low = segment->low;
    for (size_t e = at; e < at + ends; e++) {
      coarse_aim_at(out, &plan, i, low, wish->ends[e], fate);
      low = nextafter(wish->ends[e], INFINITY);
    }
    if (fate != PC_REFINE_NOTHING)
      coarse_aim_at(out, &plan, i, low, segment->high, fate);
  }
  coarse_index(out);
  return PCAL_OK;
}

static int coarse_over_border(const pc_segment *segment, unsigned level) {
  return pc_point_cell(segment->low, level) != pc_point_cell(segment->high, level);
}

pcal_status pc_bucket_curve_cell_targets(const pc_bucket_curve *coarse, unsigned level,
                                         pc_refine_targets *out, pcal_error *err) {
  size_t count = 0;
  for (size_t i = 0; i < coarse->count; i++)
    count += (size_t)coarse_over_border(&coarse->segments[i], level);
  PC_TRY(coarse_targets_new(coarse, count, out, err));
  out->level = level;
  for (size_t i = 0; i < coarse->count; i++) {
    const pc_segment *segment = &coarse->segments[i];
    if (coarse_over_border(segment, level))
      coarse_add_target(out, (pc_refine_target){.segment = i,
                                                .low = segment->low,
                                                .high = segment->high,
                                                .fate = PC_REFINE_CELLS});
  }
  coarse_index(out);
  return PCAL_OK;
}

/* ---- refining ---- */

/* What a pass has found: its tally, and the kept scores in ascending order. */
typedef struct coarse_fresh {
  const pc_bucket_tally *tally;
  pc_curve_table kept;
  size_t left; /* kept scores that are not placed yet, the highest first */
} coarse_fresh;

static pcal_status coarse_sort_kept(const pc_bucket_tally *tally, pc_curve_table *out,
                                    pcal_error *err) {
  const pc_outcome_column misses = {tally->kept[0], NULL, tally->kept_count[0]};
  const pc_outcome_column hits = {tally->kept[1], NULL, tally->kept_count[1]};
  return pc_curve_table_new(tally->env, &misses, &hits, out, err);
}

static pc_segment coarse_single_score(double score, uint64_t rows, uint64_t hits) {
  pc_segment out = pc_segment_none;
  pc_segment_add(&out, score, rows, hits);
  return out;
}

/* The rows of sub-bucket `part` of a target. */
static uint64_t coarse_part_rows(const pc_bucket_tally *tally, const pc_refine_target *target,
                                 size_t part) {
  const size_t place = target->first + part;
  return target->fate == PC_REFINE_COUNT
             ? tally->counts[2 * place] + tally->counts[2 * place + 1]
             : tally->segments[place].rows;
}

static pc_segment coarse_part(const pc_bucket_tally *tally, const pc_refine_target *target,
                              size_t part) {
  const size_t place = target->first + part;
  const uint64_t bits = pc_double_bits(target->low) + ((uint64_t)part << COARSE_FLOAT_SHIFT);
  if (target->fate != PC_REFINE_COUNT)
    return tally->segments[place];
  return coarse_single_score(pc_double_from_bits(bits), coarse_part_rows(tally, target, part),
                             tally->counts[2 * place + 1]);
}

/* The next kept score from above that lies in a target, or NULL. */
static const double *coarse_kept_in(const coarse_fresh *fresh, const pc_refine_target *target) {
  if (target->fate != PC_REFINE_KEEP || fresh->left == 0 ||
      fresh->kept.score[fresh->left - 1] < target->low)
    return NULL;
  return &fresh->kept.score[fresh->left - 1];
}

/* Counts what was found in a target: segments and rows. */
static void coarse_count_found(coarse_fresh *fresh, const pc_refine_target *target,
                               size_t *segments, uint64_t *rows) {
  for (size_t part = 0; part < target->parts; part++) {
    const uint64_t here = coarse_part_rows(fresh->tally, target, part);
    *segments += here > 0;
    *rows += here;
  }
  for (; coarse_kept_in(fresh, target) != NULL; fresh->left--) {
    *segments += 1;
    *rows += (uint64_t)fresh->kept.weight[fresh->left - 1];
  }
}

/* Writes what was found in a target downwards from `end`; returns where it begins. */
static pc_segment *coarse_place_found(coarse_fresh *fresh, const pc_refine_target *target,
                                      pc_segment *end) {
  for (size_t part = target->parts; part-- > 0;)
    if (coarse_part_rows(fresh->tally, target, part) > 0)
      *--end = coarse_part(fresh->tally, target, part);
  for (; coarse_kept_in(fresh, target) != NULL; fresh->left--)
    *--end = coarse_single_score(fresh->kept.score[fresh->left - 1],
                                 (uint64_t)fresh->kept.weight[fresh->left - 1],
                                 (uint64_t)fresh->kept.hits[fresh->left - 1]);
  return end;
}

/* How many segments there will be; 0 when a target does not have the rows that it had. */
static size_t coarse_count_woven(const pc_bucket_curve *coarse, coarse_fresh *fresh) {
  const pc_refine_targets *targets = fresh->tally->targets;
  size_t count = coarse->count;
  for (size_t t = targets->count; t > 0; count--) {
    const size_t segment = targets->list[t - 1].segment;
    uint64_t rows = 0;
    for (; t > 0 && targets->list[t - 1].segment == segment; t--)
      coarse_count_found(fresh, &targets->list[t - 1], &count, &rows);
    if (rows != coarse->segments[segment].rows)
      return 0;
  }
  return count;
}

/* Everything outside the targets as it was, and what was found in their place.  From the end,
 * because every segment becomes at least one. */
static void coarse_weave(pc_bucket_curve *coarse, coarse_fresh *fresh, size_t count) {
  const pc_refine_targets *targets = fresh->tally->targets;
  pc_segment *end = coarse->segments + count;
  size_t t = targets->count;
  for (size_t i = coarse->count; i-- > 0;) {
    if (t == 0 || targets->list[t - 1].segment != i)
      *--end = coarse->segments[i];
    for (; t > 0 && targets->list[t - 1].segment == i; t--)
      end = coarse_place_found(fresh, &targets->list[t - 1], end);
  }
  coarse->count = count;
}

static pcal_status coarse_grow(pc_bucket_curve *coarse, size_t count, pcal_error *err) {
  pc_segment *segments =
      pc_resize(coarse->env, coarse->segments, count, sizeof *coarse->segments);
  if (segments == NULL)
    return pc_fail_memory(err, "refining a curve");
  coarse->segments = segments;
  return PCAL_OK;
}

pcal_status pc_bucket_curve_refine(pc_bucket_curve *coarse, const pc_bucket_tally *tally,
                                   pcal_error *err) {
  coarse_fresh fresh = {.tally = tally};
  PC_TRY(coarse_sort_kept(tally, &fresh.kept, err));
  fresh.left = fresh.kept.count;
  const size_t count = coarse_count_woven(coarse, &fresh);
  pcal_status status =
      count == 0 ? pc_fail(err, PCAL_IO,
                           "the data changed while they were being read; try again when "
                           "nothing writes to them")
                 : coarse_grow(coarse, count, err);
  fresh.left = fresh.kept.count;
  if (status == PCAL_OK)
    coarse_weave(coarse, &fresh, count);
  pc_curve_table_free(tally->env, &fresh.kept);
  return status;
}

pc_curve_table pc_bucket_curve_table(const pc_bucket_curve *coarse) {
  return (pc_curve_table){
      .count = coarse->count, .total = (double)coarse->total, .segments = coarse->segments};
}

pc_curve_table pc_bucket_curve_take_table(pc_bucket_curve *coarse) {
  pc_curve_table table = pc_bucket_curve_table(coarse);
  table.owned = coarse->segments;
  *coarse = (pc_bucket_curve){0};
  return table;
}
