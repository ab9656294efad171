#include "curve/refine_targets.h"

#include <string.h>

#include "curve/point_masses.h"
#include "curve/score_key.h"

#define TARGETS_LEVEL_MAX 30
#define TARGETS_SHIFT_MAX 63
#define TARGETS_SPLIT_MAX ((size_t)1 << 22)
#define TARGETS_BYTES 4 /* of one target, at least */

size_t pc_refine_sub_bucket(const pc_refine_targets *targets, const pc_refine_target *target,
                            double score) {
  if (target->action == PC_REFINE_CELLS)
    return (size_t)(pc_point_cell(score, targets->level) -
                    pc_point_cell(target->low, targets->level));
  return (size_t)((pc_score_key(score) - pc_score_key(target->low)) >> target->shift);
}

void pc_refine_targets_free(pc_refine_targets *targets) {
  if (targets->env == NULL)
    return;
  pc_free(targets->env, targets->list);
  pc_free(targets->env, targets->wanted);
  pc_free(targets->env, targets->reach);
  *targets = (pc_refine_targets){0};
}

pcal_status pc_refine_targets_new(const pcal_env *env, const pc_bucket_layout *layout,
                                  size_t count, pc_refine_targets *out, pcal_error *err) {
  *out = (pc_refine_targets){.env = env, .layout = *layout};
  out->list = pc_alloc(env, count, sizeof *out->list);
  out->wanted = pc_alloc(env, layout->count, sizeof *out->wanted);
  out->reach = pc_alloc(env, layout->count + 1, sizeof *out->reach);
  if (out->list != NULL && out->wanted != NULL && out->reach != NULL)
    return PCAL_OK;
  pc_refine_targets_free(out);
  return pc_fail_memory(err, "refining a curve");
}

void pc_refine_targets_append(pc_refine_targets *targets, pc_refine_target target) {
  size_t *pool = target.action == PC_REFINE_COUNT ? &targets->counted : &targets->split;
  target.first = *pool;
  if (target.action != PC_REFINE_KEEP)
    target.parts = pc_refine_sub_bucket(targets, &target, target.high) + 1;
  *pool += target.parts;
  targets->list[targets->count++] = target;
}

void pc_refine_targets_index(pc_refine_targets *targets) {
  const pc_bucket_layout *layout = &targets->layout;
  size_t t = 0;
  for (size_t b = 0; b <= layout->count; b++) {
    while (t < targets->count && pc_bucket_of(layout, targets->list[t].high) < b)
      t++;
    targets->reach[b] = (uint32_t)t;
  }
  for (t = 0; t < targets->count; t++) {
    const size_t last = pc_bucket_of(layout, targets->list[t].high);
    for (size_t b = pc_bucket_of(layout, targets->list[t].low); b <= last; b++)
      targets->wanted[b] = 1;
  }
}

uint64_t pc_refine_targets_bytes(const pc_refine_targets *targets) {
  const uint64_t bucket = sizeof *targets->wanted + sizeof *targets->reach;
  return targets->count == 0 ? 0
                             : targets->count * (uint64_t)sizeof *targets->list +
                                   targets->layout.count * bucket +
                                   targets->split * (uint64_t)sizeof(pc_segment) +
                                   targets->counted * (uint64_t)(2 * sizeof(uint64_t));
}

/* ---- bytes ---- */

void pc_encode_refine_targets(pc_encoder *out, const pc_refine_targets *targets) {
  uint64_t before = 0;
  pc_encode_u8(out, targets->level);
  pc_encode_u8(out, (unsigned)targets->point_count);
  for (size_t i = 0; i < targets->point_count; i++)
    pc_encode_logit_point(out, &targets->points[i]);
  pc_encode_varint(out, targets->count);
  for (size_t t = 0; t < targets->count; t++) {
    const pc_refine_target *target = &targets->list[t];
    const uint64_t low = pc_score_key(target->low), high = pc_score_key(target->high);
    pc_encode_varint(out, low - before);
    pc_encode_varint(out, high - low);
    pc_encode_u8(out, (unsigned)target->action);
    pc_encode_u8(out, target->shift);
    before = high;
  }
}

/* Sub-buckets of a target of PC_REFINE_SPLIT or PC_REFINE_CELLS, less 1. */
static uint64_t refine_targets_span(const pc_refine_targets *targets,
                                    const pc_refine_target *target) {
  return target->action == PC_REFINE_CELLS
             ? pc_refine_sub_bucket(targets, target, target->high)
             : (pc_score_key(target->high) - pc_score_key(target->low)) >> target->shift;
}

static void refine_targets_decode_one(pc_decoder *in, pc_refine_targets *out, uint64_t *key) {
  pc_refine_target target = {0};
  const uint64_t before = *key;
  target.low = pc_decode_score_step(in, key);
  pc_decoder_expect(in, out->count == 0 || *key > before);
  target.high = pc_decode_score_step(in, key);
  const unsigned action = pc_decode_u8(in);
  target.shift = pc_decode_u8(in);
  pc_decoder_expect(in, action >= PC_REFINE_KEEP && action <= PC_REFINE_CELLS &&
                            target.shift <= TARGETS_SHIFT_MAX &&
                            (action != PC_REFINE_CELLS || out->level > 0));
  if (in->failed)
    return;
  target.action = (pc_refine_action)action;
  pc_decoder_expect(in, target.action == PC_REFINE_KEEP ||
                            refine_targets_span(out, &target) <
                                TARGETS_SPLIT_MAX - out->split - out->counted);
  if (!in->failed)
    pc_refine_targets_append(out, target);
}

pcal_status pc_decode_refine_targets(pc_decoder *in, const pcal_env *env,
                                     const pc_bucket_layout *layout, pc_refine_targets *out,
                                     pcal_error *err) {
  const unsigned level = pc_decode_u8(in), points = pc_decode_u8(in);
  pc_logit_point point[PC_REFINE_POINTS_MAX];
  *out = (pc_refine_targets){0};
  pc_decoder_expect(in, level <= TARGETS_LEVEL_MAX && points <= PC_REFINE_POINTS_MAX);
  for (unsigned i = 0; !in->failed && i < points; i++)
    pc_decode_logit_point(in, &point[i]);
  const pc_uint128 count = pc_decode_varint(in);
  pc_decoder_expect(in, count <= pc_decoder_left(in) / TARGETS_BYTES);
  if (in->failed || (count == 0 && points == 0))
    return PCAL_OK;
  PC_TRY(pc_refine_targets_new(env, layout, (size_t)count, out, err));
  out->level = level;
  out->point_count = points;
  memcpy(out->points, point, points * sizeof *point);
  uint64_t key = 0;
  for (size_t t = 0; t < (size_t)count && !in->failed; t++)
    refine_targets_decode_one(in, out, &key);
  pc_refine_targets_index(out);
  return PCAL_OK;
}
