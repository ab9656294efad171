#include "curve/logit_sums.h"

#include <math.h>

#include "kernels/lane_math.h"
#include "kernels/softmax.h"

#define LOGIT_UNIT 0x1p44
#define LOGIT_TERM_MAX 0x1p18
#define LOGIT_ROWS_MAX ((uint64_t)1 << 62)

double pc_log_odds(double p) {
  const double rest = 1.0 - p, up = p < 0x1p-1000 ? 0x1p60 : 1.0; /* avoid subnormals */
  const double log_p = pc_lane_log(p * up) - (up > 1.0 ? 60 * 0x1.62e42fefa39efp-1 : 0.0);
  return log_p - (pc_lane_log(rest) + (-p - (rest - 1.0)) / rest);
}

int pc_logit_points_equal(const pc_logit_point *a, const pc_logit_point *b) {
  return a->intercept == b->intercept && a->slope == b->slope && a->clip == b->clip;
}

pc_logit_sums pc_logit_sums_none(pc_logit_point at) {
  return (pc_logit_sums){.at = at, .low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};
}

/* ---- adding ---- */

/* Adds `weight` copies of a term; the part of a fractional weight is rounded by itself. */
static void logit_add(pc_int128 *sum, double weight, double term) {
  const double clamped = fmin(fmax(term, -LOGIT_TERM_MAX), LOGIT_TERM_MAX) * LOGIT_UNIT;
  const int64_t units = (int64_t)(clamped + copysign(0.5, clamped)), whole = (int64_t)weight;
  *sum += (pc_int128)whole * units + (int64_t)((weight - (double)whole) * (double)units);
}

static void logit_add_certain(pc_logit_sums *sums, double p, double misses, double hits) {
  pc_fixed_add_weighted(&sums->certain, misses, 1.0);
  pc_fixed_add_weighted(&sums->certain, hits, 1.0);
  sums->refuted |= p <= 0.0 ? hits > 0 : misses > 0;
}

static void logit_see(pc_logit_sums *sums, double score, int hit) {
  sums->low[hit] = fmin(sums->low[hit], score);
  sums->high[hit] = fmax(sums->high[hit], score);
}

void pc_logit_sums_add(pc_logit_sums *sums, double score, double misses, double hits) {
  const double clip = sums->at.clip, p = fmin(fmax(score, clip), 1.0 - clip);
  const double weight = misses + hits;
  sums->rows += (uint64_t)weight;
  if (p <= 0.0 || p >= 1.0) {
    logit_add_certain(sums, p, misses, hits);
    return;
  }
  const double x = pc_log_odds(p), t = sums->at.intercept + sums->at.slope * x;
  double pair[2];
  const double soft = pc_sigmoid_pair(t, pair), rate = pair[1]; /* log(1 + exp(-|t|)) */
  const double spread = rate * (1.0 - rate);
  if (hits > 0) {
    logit_see(sums, score, 1);
    logit_add(&sums->likelihood, hits, -(soft + fmax(-t, 0.0)));
    logit_add(&sums->gradient[0], hits, 1.0 - rate);
    logit_add(&sums->gradient[1], hits, (1.0 - rate) * x);
  }
  if (misses > 0) {
    logit_see(sums, score, 0);
    logit_add(&sums->likelihood, misses, -(soft + fmax(t, 0.0)));
    logit_add(&sums->gradient[0], misses, -rate);
    logit_add(&sums->gradient[1], misses, -rate * x);
  }
  logit_add(&sums->hessian[0], weight, spread);
  logit_add(&sums->hessian[1], weight, spread * x);
  logit_add(&sums->hessian[2], weight, spread * x * x);
}

pc_logit_sums *pc_logit_sums_list(const pcal_env *env, const pc_logit_point *points,
                                  size_t count) {
  pc_logit_sums *list = pc_alloc(env, count, sizeof *list);
  for (size_t i = 0; list != NULL && i < count; i++)
    list[i] = pc_logit_sums_none(points[i]);
  return list;
}

void pc_logit_sums_add_rows(pc_logit_sums *sums, size_t points, const double *score,
                            const uint8_t *hits, int hit, const double *weight, size_t count) {
  for (size_t p = 0; p < points; p++)
    for (size_t i = 0; i < count; i++) {
      const double rows = weight == NULL ? 1.0 : fmin(weight[i], (double)LOGIT_ROWS_MAX);
      const int is_hit = hits == NULL ? hit : hits[i];
      pc_logit_sums_add(&sums[p], score[i], is_hit ? 0.0 : rows, is_hit ? rows : 0.0);
    }
}

void pc_logit_sums_merge(pc_logit_sums *into, const pc_logit_sums *from) {
  into->rows += from->rows;
  into->likelihood += from->likelihood;
  into->certain.units += from->certain.units;
  into->refuted |= from->refuted;
  for (int i = 0; i < 3; i++)
    into->hessian[i] += from->hessian[i];
  for (int i = 0; i < 2; i++) {
    into->gradient[i] += from->gradient[i];
    into->low[i] = fmin(into->low[i], from->low[i]);
    into->high[i] = fmax(into->high[i], from->high[i]);
  }
}

double pc_logit_sums_value(pc_int128 units) {
  const pc_fixed sum = {units};
  return pc_fixed_value(&sum) * (PC_FIXED_ONE / LOGIT_UNIT);
}

/* ---- bytes ---- */

void pc_encode_logit_point(pc_encoder *out, const pc_logit_point *point) {
  const double numbers[3] = {point->intercept, point->slope, point->clip};
  pc_encode_doubles(out, numbers, 3);
}

void pc_decode_logit_point(pc_decoder *in, pc_logit_point *out) {
  double numbers[3] = {0};
  pc_decode_doubles(in, numbers, 3);
  pc_decoder_expect(in, isfinite(numbers[0]) && isfinite(numbers[1]) && numbers[2] >= 0 &&
                            numbers[2] <= 0.5);
  *out = (pc_logit_point){numbers[0], numbers[1], numbers[2]};
}

static void logit_encode_signed(pc_encoder *out, pc_int128 value) {
  const pc_uint128 size = (pc_uint128)(value < 0 ? -value : value);
  pc_encode_varint(out, size << 1 | (value < 0));
}

/* The size of a sum is at most `most`. */
static pc_int128 logit_decode_signed(pc_decoder *in, pc_uint128 most) {
  const pc_uint128 coded = pc_decode_varint(in);
  pc_decoder_expect(in, coded >> 1 <= most);
  return in->failed ? 0 : coded & 1 ? -(pc_int128)(coded >> 1) : (pc_int128)(coded >> 1);
}

void pc_encode_logit_sums(pc_encoder *out, const pc_logit_sums *sums) {
  const double ends[4] = {sums->low[0], sums->low[1], sums->high[0], sums->high[1]};
  pc_encode_logit_point(out, &sums->at);
  pc_encode_varint(out, sums->rows);
  logit_encode_signed(out, sums->likelihood);
  for (int i = 0; i < 2; i++)
    logit_encode_signed(out, sums->gradient[i]);
  for (int i = 0; i < 3; i++)
    logit_encode_signed(out, sums->hessian[i]);
  logit_encode_signed(out, sums->certain.units);
  pc_encode_u8(out, sums->refuted != 0);
  pc_encode_doubles(out, ends, 4);
}

void pc_decode_logit_sums(pc_decoder *in, pc_logit_sums *out) {
  double ends[4] = {0};
  *out = (pc_logit_sums){0};
  pc_decode_logit_point(in, &out->at);
  const pc_uint128 rows = pc_decode_varint(in);
  pc_decoder_expect(in, rows <= LOGIT_ROWS_MAX);
  const pc_uint128 most = in->failed ? 0 : rows << 62;
  out->rows = in->failed ? 0 : (uint64_t)rows;
  out->likelihood = logit_decode_signed(in, most);
  for (int i = 0; i < 2; i++)
    out->gradient[i] = logit_decode_signed(in, most);
  for (int i = 0; i < 3; i++)
    out->hessian[i] = logit_decode_signed(in, most);
  out->certain.units = logit_decode_signed(in, most >> 1);
  out->refuted = pc_decode_u8(in) != 0;
  pc_decode_doubles(in, ends, 4);
  for (int i = 0; i < 2; i++) {
    out->low[i] = ends[i];
    out->high[i] = ends[2 + i];
    pc_decoder_expect(in, !isnan(ends[i]) && !isnan(ends[2 + i]));
  }
}
