/* Bin indices: see bin_index.h.  No branch depends on a score: every score is compared with
 * every cut, unless the cuts are evenly spaced and no score is close to one. */
#include "kernels/bin_index.h"

#include <math.h>

#include "base/float_bits.h"
#include "kernels/row_kernels.h"
#include "kernels/variant.h"

#define BIN_INDEX_EVEN_OFF 1e-7

/* PC_LANES scores. */
static void bin_index_cells(const double *restrict score, const double *restrict cuts,
                            size_t cut_count, int32_t *restrict out) {
  double above[PC_LANES] = {0.0};
  for (size_t c = 0; c < cut_count; c++)
    for (size_t l = 0; l < PC_LANES; l++)
      above[l] += score[l] > cuts[c] ? 1.0 : 0.0;
  for (size_t l = 0; l < PC_LANES; l++)
    out[l] = (int32_t)above[l];
}

/* True if the cuts are i / (cut_count + 1) up to rounding. */
static int bin_index_are_even(const double *cuts, size_t cut_count) {
  double most = 0.0;
  for (size_t c = 0; c < cut_count; c++) {
    const double off = fabs(cuts[c] * (double)(cut_count + 1) - (double)(c + 1));
    most = off > most ? off : most;
  }
  return most < BIN_INDEX_EVEN_OFF;
}

/* Cells for evenly spaced cuts; 0 if a score is so close to a cut that its cell is
 * uncertain. */
static int bin_index_even_cells(const double *restrict score, size_t count, size_t cut_count,
                                int32_t *restrict out) {
  const double cells = (double)(cut_count + 1), last = cells - 0.5, shift = 0x1.8p52;
  uint64_t near = 0;
  for (size_t i = 0; i < count; i++) {
    const double all = score[i] * cells, least = all > 0.5 ? all : 0.5;
    const double place = least < last ? least : last;
    const double off = fabs(place - ((place + shift) - shift));
    near |= off < 2 * BIN_INDEX_EVEN_OFF;
    out[i] = (int32_t)place;
  }
  return near == 0;
}

static void bin_index_place(const double *restrict score, size_t count, double units,
                            const double *restrict cuts, size_t cut_count,
                            pc_bin_index_rows *restrict out) {
  const size_t whole = count / PC_LANES * PC_LANES;
  double last[PC_LANES] = {0.0};
  const int done = bin_index_are_even(cuts, cut_count) &&
                   bin_index_even_cells(score, count, cut_count, out->cell);
  for (size_t i = 0; !done && i < whole; i += PC_LANES)
    bin_index_cells(score + i, cuts, cut_count, out->cell + i);
  for (size_t i = whole; i < count; i++)
    last[i - whole] = score[i];
  if (!done && whole < count)
    bin_index_cells(last, cuts, cut_count, out->cell + whole);
  for (size_t i = 0; i < count; i++) {
    out->score[i] = (int64_t)(score[i] * units);
    out->square[i] = (int64_t)(score[i] * score[i] * units);
  }
}

#define BIN_INDEX_EVEN(name, type)                                            \
  static void name(const type *restrict score, size_t count, int32_t buckets, \
                   int32_t *restrict out) {                                   \
    const type most = (type)buckets;                                          \
    for (size_t i = 0; i < count; i++) {                                      \
      const type place = score[i] * most, least = place > 0 ? place : 0;      \
      out[i] = (int32_t)(least < most ? least : most);                        \
    }                                                                         \
  }

BIN_INDEX_EVEN(bin_index_even_f32, float)
BIN_INDEX_EVEN(bin_index_even_f64, double)

static void bin_index_offsets_f32(const float *restrict score, const int32_t *restrict label,
                                  size_t count, const pc_bin_offset_rule *rule,
                                  uint32_t *restrict place, pc_bin_offset *restrict out) {
  const float buckets = rule->buckets, width = 1 / buckets, units = rule->units;
  const uint64_t one = rule->one;
  const unsigned square = rule->square;
  for (size_t i = 0; i < count; i++) {
    const float given = score[i], least = given > 0 ? given : 0, here = least < 1 ? least : 1;
    const int32_t bucket = (int32_t)(here * buckets);
    const float beyond = here - (float)bucket * width;
    const uint64_t offset = (uint32_t)(int32_t)(beyond * units);
    place[i] = 2 * (uint32_t)bucket + ((uint32_t)label[i] & 1);
    out[i].offset = one + offset;
    out[i].square = offset * offset >> square;
  }
}

static uint64_t bin_index_offsets_f64(const double *restrict score,
                                      const int32_t *restrict label, size_t count,
                                      const pc_bin_offset_rule *rule, uint32_t *restrict place,
                                      pc_bin_offset *restrict out, uint64_t *restrict fine) {
  const uint64_t one = rule->one;
  uint64_t any = 0;
  for (size_t i = 0; i < count; i++) {
    const double given = score[i], least = given > 0 ? given : 0, here = least < 1 ? least : 1;
    const uint64_t units = (uint64_t)(int64_t)(here * 0x1p61);
    const uint64_t square = (uint64_t)(int64_t)(here * here * 0x1p53);
    const uint64_t bucket = units >> 47, offset = units >> 24 & 0x7fffff;
    fine[i] = units & 0xffffff;
    any |= fine[i];
    place[i] = 2 * (uint32_t)bucket + ((uint32_t)label[i] & 1);
    out[i].offset = one + offset;
    out[i].square = square - bucket * ((bucket << 25) + (offset << 3));
  }
  return any;
}

#define BIN_INDEX_BLOCK 64 /* scores */

/* Buckets as whole words: gcc does not narrow them in the same loop. */
static void bin_index_class_block(const double *restrict score, size_t count,
                                  const pc_class_bucket_rule *rule, uint64_t *restrict out) {
  const unsigned shift0 = rule->shift[0], shift1 = rule->shift[1], shift2 = rule->shift[2];
  const uint64_t bits0 = pc_double_bits(rule->base[0]) >> shift0;
  const uint64_t bits1 = pc_double_bits(rule->base[1]) >> shift1;
  const uint64_t bits2 = pc_double_bits(rule->base[2]) >> shift2;
  const double base0 = rule->base[0], base1 = rule->base[1], base2 = rule->base[2];
  const uint64_t first0 = rule->first[0] - bits0, first1 = rule->first[1] - bits1;
  const uint64_t first2 = rule->first[2] - bits2, one = rule->one;
  for (size_t i = 0; i < count; i++) {
    const double here = score[i], some = here > base0 ? here : base0;
    const uint64_t bits = pc_double_bits(some);
    const uint64_t upper = first2 + (bits >> shift2);
    uint64_t at = some < base1 ? first0 + (bits >> shift0) : first1 + (bits >> shift1);
    at = some < base2 ? at : upper;
    at = here < 1 ? at : one;
    at = here > 1 ? one + 1 : at;
    at = here > 0 ? at : 1;
    out[i] = here < 0 ? 0 : at;
  }
}

static void bin_index_class_buckets(const double *restrict score, size_t count,
                                    const pc_class_bucket_rule *rule, uint16_t *restrict out) {
  for (size_t begin = 0; begin < count; begin += BIN_INDEX_BLOCK) {
    const size_t left = count - begin, some = left < BIN_INDEX_BLOCK ? left : BIN_INDEX_BLOCK;
    uint64_t found[BIN_INDEX_BLOCK];
    bin_index_class_block(score + begin, some, rule, found);
    for (size_t i = 0; i < some; i++)
      out[begin + i] = (uint16_t)found[i];
  }
}

static void bin_index_class_cells(const double *restrict score, size_t count,
                                  const pc_class_cell_rule *rule, int32_t *restrict cell,
                                  int64_t *restrict units) {
  const double cells = rule->cells, most = rule->most, last = rule->last;
  const double anchor = rule->anchor, one = rule->units, shift = 0x1.8p52;
  const int32_t near = rule->near;
  const int64_t zero = (int64_t)pc_double_bits(anchor);
  for (size_t i = 0; i < count; i++) {
    const double here = score[i], all = here * cells, least = all > 0.5 ? all : 0.5;
    const double place = least < most ? least : most;
    const double off = fabs(place - ((place + shift) - shift));
    const int32_t at = (int32_t)place;
    const int64_t rounded = (int64_t)pc_double_bits(here + anchor) - zero;
    const int64_t truncated = (int64_t)(here * one);
    cell[i] = off < 2 * BIN_INDEX_EVEN_OFF ? near : at;
    units[i] = here <= last ? rounded : truncated;
  }
}

const pc_bin_index_kernels PC_VARIANT_TABLE(pc_bin_index_kernels) = {
    .place = bin_index_place,
    .even_f32 = bin_index_even_f32,
    .even_f64 = bin_index_even_f64,
    .offsets_f32 = bin_index_offsets_f32,
    .offsets_f64 = bin_index_offsets_f64,
    .class_buckets = bin_index_class_buckets,
    .class_cells = bin_index_class_cells,
};
