#include "curve/bucket_curve.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "curve/point_masses.h"

#define FLOAT16_LEAST 0x1p-4 /* from here on 16-bit floats are at least 2^-14 apart */
#define WHOLE_SHIFT 63       /* one sub-bucket: keys are less than 2^63 apart */
#define FLOAT_SHIFT 29       /* neighbouring float32 are 2^29 doubles apart */

/* If all scores are float32, the number of sub-buckets is divided by this, since the next pass
 * can count single values. */
#define FLOAT_SHARE 4

static uint64_t bucket_curve_distance(double low, double high) {
  return pc_score_key(high) - pc_score_key(low);
}

static int bucket_curve_single(const pc_segment *segment) {
  return segment->low == segment->high;
}

pcal_status pc_bucket_curve_new(const pcal_env *env, const pc_bucket_tally *tally,
                                pc_bucket_curve *out, pcal_error *err) {
  *out = (pc_bucket_curve){.env = env, .layout = tally->layout};
  out->segments = pc_alloc_raw(env, pc_bucket_tally_segments_max(tally), sizeof *out->segments);
  if (out->segments == NULL)
    return pc_fail_memory(err, "building a curve");
  out->count = pc_bucket_tally_read_segments(tally, out->segments);
  for (size_t i = 0; i < out->count; i++)
    out->total += out->segments[i].rows;
  return PCAL_OK;
}

pcal_status pc_bucket_curve_copy(const pc_bucket_curve *curve, pc_bucket_curve *out,
                                 pcal_error *err) {
  pc_segment *segments = pc_alloc_raw(curve->env, curve->count, sizeof *segments);
  if (segments == NULL)
    return pc_fail_memory(err, "building a curve");
  memcpy(segments, curve->segments, curve->count * sizeof *segments);
  *out = *curve;
  out->segments = segments;
  out->logits = NULL;
  out->logit_count = 0;
  return PCAL_OK;
}

void pc_bucket_curve_close_float16(pc_bucket_curve *curve) {
  for (size_t i = 0; !curve->layout.by_bits && i < curve->count; i++) {
    pc_segment *segment = &curve->segments[i];
    const pc_int128 rows = (pc_int128)segment->rows;
    if (!(segment->low >= FLOAT16_LEAST) || segment->low == segment->high ||
        segment->score.units % rows != 0)
      continue;
    const pc_fixed one = {segment->score.units / rows};
    const double score = pc_fixed_value(&one);
    if (score >= segment->low && score <= segment->high)
      segment->low = segment->high = score;
  }
}

void pc_bucket_curve_free(pc_bucket_curve *curve) {
  if (curve->env != NULL) {
    pc_free(curve->env, curve->segments);
    pc_free(curve->env, curve->logits);
  }
  *curve = (pc_bucket_curve){0};
}

/* ---- targets ---- */

/* The number of ends inside a segment, from ends[*at] on; moves *at past the ends before it. */
static size_t bucket_curve_ends_inside(const pc_segment *segment, const double *ends,
                                       size_t end_count, size_t *at) {
  size_t inside = 0;
  while (*at < end_count && ends[*at] < segment->low)
    (*at)++;
  while (*at + inside < end_count && ends[*at + inside] < segment->high)
    inside++;
  return inside;
}

size_t pc_bucket_curve_count_cut(const pc_bucket_curve *curve, const double *ends,
                                 size_t end_count) {
  size_t cuts = 0, at = 0;
  for (size_t i = 0; i < curve->count; i++)
    cuts += bucket_curve_ends_inside(&curve->segments[i], ends, end_count, &at) > 0;
  return cuts;
}

/* Totals over all segments, from which the action for each target is chosen. */
typedef struct refine_plan {
  const pc_bucket_curve *curve;
  const pc_refine_request *request;
  size_t pieces, wanted; /* targets in all, and targets wanted score by score */
  uint64_t parts;        /* sub-buckets that these ask for, and ends inside them */
  uint64_t rows, floats; /* in wanted segments: rows, and float32 numbers that exist there */
  size_t end;            /* segments from here on wait for a later pass */
  size_t room;    /* sub-buckets for a target that is split; with a limit: for each that it asks
                     for */
  size_t twice;   /* targets in segments before this one get twice as many */
  size_t singles; /* sub-buckets for all targets that are counted */
} refine_plan;

static int refine_plan_wants(const refine_plan *plan, size_t i) {
  return plan->request->wanted[i] && !bucket_curve_single(&plan->curve->segments[i]);
}

/* Upper bound on the number of float32 values between two scores.  Near 0, where they are not
 * evenly spaced, returns more than can be counted. */
static uint64_t bucket_curve_floats(double low, double high) {
  if (low < FLT_MIN)
    return PC_REFINE_COUNTED_MAX + 1;
  return (bucket_curve_distance(low, high) >> FLOAT_SHIFT) + 2;
}

/* Sub-buckets that a wanted segment asks for. */
static uint64_t refine_plan_asked(const refine_plan *plan, size_t i) {
  const pc_segment *segment = &plan->curve->segments[i];
  const size_t most = (size_t)1 << plan->request->wanted[i];
  const unsigned shift = pc_bucket_shift(segment->low, segment->high, most);
  return (bucket_curve_distance(segment->low, segment->high) >> shift) + 1;
}

/* Gives each wanted segment what it asks for, times the same power of 2.  With the sub-buckets that
 * are left over, the first segments get twice as many. */
static void refine_plan_divide(refine_plan *plan, size_t fine) {
  const uint64_t times = plan->parts == 0 ? 1 : fine / plan->parts;
  plan->room = 1;
  while (2 * plan->room <= times)
    plan->room *= 2;
  uint64_t left = fine > plan->room * plan->parts ? fine - plan->room * plan->parts : 0;
  for (; plan->twice < plan->end && left > 0; plan->twice++) {
    const int wanted = refine_plan_wants(plan, plan->twice);
    const uint64_t more = wanted ? plan->room * refine_plan_asked(plan, plan->twice) : 0;
    left -= more < left ? more : left;
  }
}

static void refine_plan_set_room(refine_plan *plan) {
  const pc_refine_request *request = plan->request;
  const size_t tallies = request->workers < 1 ? 1 : request->workers;
  plan->singles = PC_REFINE_COUNTED_MAX / tallies;
  if (request->split_limit > 0) {
    refine_plan_divide(plan, request->split_limit);
    return;
  }
  const size_t fine = plan->curve->layout.fine / (request->all_float32 ? FLOAT_SHARE : 1);
  const size_t share = plan->wanted == 0 ? 2 : fine / tallies / plan->wanted;
  plan->room = share < 2 ? 2 : share;
}

/* Sub-buckets for a target in a segment that is split. */
static size_t refine_plan_parts(const refine_plan *plan, size_t segment) {
  const unsigned bits = plan->request->split_limit > 0 ? plan->request->wanted[segment] : 0;
  return plan->room << bits << (segment < plan->twice);
}

static refine_plan refine_plan_new(const pc_bucket_curve *curve,
                                   const pc_refine_request *request) {
  refine_plan plan = {.curve = curve, .request = request, .end = curve->count};
  size_t at = 0;
  for (size_t i = 0; i < plan.end; i++) {
    const pc_segment *segment = &curve->segments[i];
    const size_t ends =
        bucket_curve_ends_inside(segment, request->ends, request->end_count, &at);
    const int wanted = refine_plan_wants(&plan, i);
    const uint64_t parts = wanted ? ends + refine_plan_asked(&plan, i) : 0;
    if (request->split_limit > 0 && plan.parts > 0 &&
        plan.parts + parts > request->split_limit) {
      plan.end = i;
      break;
    }
    plan.pieces += ends > 0 || wanted ? ends + 1 : 0;
    plan.wanted += wanted ? ends + 1 : 0;
    plan.parts += parts;
    plan.rows += wanted ? segment->rows : 0;
    plan.floats += wanted ? bucket_curve_floats(segment->low, segment->high) + 2 * ends : 0;
  }
  refine_plan_set_room(&plan);
  return plan;
}

static pc_refine_action refine_plan_action(const refine_plan *plan, size_t i, size_t ends) {
  if (!refine_plan_wants(plan, i))
    return ends > 0 ? PC_REFINE_SPLIT : PC_REFINE_NOTHING;
  if (plan->rows <= plan->request->keep_limit)
    return PC_REFINE_KEEP;
  return plan->request->all_float32 && plan->floats <= plan->singles ? PC_REFINE_COUNT
                                                                     : PC_REFINE_SPLIT;
}

/* The largest float32 not above a positive double. */
static double bucket_curve_float_below(double score) {
  return pc_double_from_bits(pc_double_bits(score) >> FLOAT_SHIFT << FLOAT_SHIFT);
}

static void bucket_curve_target_piece(pc_refine_targets *out, const refine_plan *plan,
                                      size_t segment, double low, double high,
                                      pc_refine_action action) {
  pc_refine_target target = {.segment = segment, .low = low, .high = high, .action = action};
  if (action == PC_REFINE_COUNT) {
    target.low = bucket_curve_float_below(low);
    target.shift = FLOAT_SHIFT;
  } else {
    target.shift = refine_plan_wants(plan, segment)
                       ? pc_bucket_shift(low, high, refine_plan_parts(plan, segment))
                       : WHOLE_SHIFT;
  }
  pc_refine_targets_append(out, target);
}

pcal_status pc_bucket_curve_targets(const pc_bucket_curve *curve,
                                    const pc_refine_request *request, pc_refine_targets *out,
                                    pcal_error *err) {
  const refine_plan plan = refine_plan_new(curve, request);
  PC_TRY(pc_refine_targets_new(curve->env, &curve->layout, plan.pieces, out, err));
  size_t at = 0;
  for (size_t i = 0; i < plan.end; i++) {
    const pc_segment *segment = &curve->segments[i];
    const size_t ends =
        bucket_curve_ends_inside(segment, request->ends, request->end_count, &at);
    const pc_refine_action action = refine_plan_action(&plan, i, ends);
    double low = segment->low;
    for (size_t e = at; e < at + ends; e++) {
      bucket_curve_target_piece(out, &plan, i, low, request->ends[e], action);
      low = nextafter(request->ends[e], INFINITY);
    }
    if (action != PC_REFINE_NOTHING)
      bucket_curve_target_piece(out, &plan, i, low, segment->high, action);
  }
  pc_refine_targets_index(out);
  return PCAL_OK;
}

/* True if a segment does not lie in one cell, or lacks the squares of narrow ones. */
static int bucket_curve_over_border(const pc_segment *segment, unsigned level) {
  return pc_point_cell(segment->low, level) != pc_point_cell(segment->high, level) ||
         pc_point_lacks_squares(segment, level);
}

pcal_status pc_bucket_curve_cell_targets(const pc_bucket_curve *curve, unsigned level,
                                         size_t most, pc_refine_targets *out, pcal_error *err) {
  size_t count = 0;
  for (size_t i = 0; i < curve->count; i++)
    count += (size_t)bucket_curve_over_border(&curve->segments[i], level);
  PC_TRY(pc_refine_targets_new(curve->env, &curve->layout, count, out, err));
  out->level = level;
  for (size_t i = 0; i < curve->count && out->split < most; i++) {
    const pc_segment *segment = &curve->segments[i];
    if (bucket_curve_over_border(segment, level))
      pc_refine_targets_append(out, (pc_refine_target){.segment = i,
                                                       .low = segment->low,
                                                       .high = segment->high,
                                                       .action = PC_REFINE_CELLS});
  }
  pc_refine_targets_index(out);
  return PCAL_OK;
}

/* ---- changing ---- */

static pcal_status bucket_curve_resize(pc_bucket_curve *curve, size_t count, pcal_error *err) {
  pc_segment *segments = pc_resize(curve->env, curve->segments, count, sizeof *curve->segments);
  if (segments == NULL)
    return pc_fail_memory(err, "refining a curve");
  curve->segments = segments;
  return PCAL_OK;
}

void pc_bucket_curve_merge(pc_bucket_curve *curve, uint8_t *kept) {
  size_t count = 0;
  for (size_t i = 0; i < curve->count; i++) {
    if (count > 0 && !kept[i] && !kept[count - 1]) {
      pc_segment_join(&curve->segments[count - 1], &curve->segments[i]);
      continue;
    }
    curve->segments[count] = curve->segments[i];
    kept[count++] = kept[i];
  }
  curve->count = count;
}

pcal_status pc_bucket_curve_shrink(pc_bucket_curve *curve, pcal_error *err) {
  return bucket_curve_resize(curve, curve->count, err);
}

pc_curve_table pc_bucket_curve_table(const pc_bucket_curve *curve) {
  return (pc_curve_table){.form = PC_CURVE_SEGMENTS,
                          .count = curve->count,
                          .total = (double)curve->total,
                          .segments = curve->segments,
                          .logits = curve->logits,
                          .logit_count = curve->logit_count};
}

pc_curve_table pc_bucket_curve_take_table(pc_bucket_curve *curve) {
  pc_curve_table table = pc_bucket_curve_table(curve);
  table.owned_segments = curve->segments;
  *curve = (pc_bucket_curve){0};
  return table;
}
