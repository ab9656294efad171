/* An e-process for calibration.
 *
 * Null:     P(Y_t = 1 | p_t, rows before t) = p_t; of a prediction of a number: its PIT u_t is
 *           uniform given the rows before t.
 * Formula:  bet i replaces p by q_i(p) and multiplies its capital in row t by the likelihood ratio
 *             r_i = q_i / p if Y = 1, (1 - q_i) / (1 - p) if Y = 0,
 *           whose mean is 1 under the null.  The bets:
 *             maps      logit q = a + b logit p, a in {0, +-0.1, +-0.2, +-0.4, +-0.8, +-1.6},
 *                       b in {1/3, 1/2, 0.7, 0.85, 1, 1.2, 1.5, 2, 3};
 *             in bins   logit q = a + logit p if p lies in one of ten bins, else no bet.
 *           Of u: maps have the density of Phi(a + b^-1 Z) at u, Z normal; in bins, the event is
 *           "u lies in the bin", of probability 1/10.
 *           A bet may start before any row s >= 0, with weight w_0 = 1/2 and
 *           w_s = (1/log2(s + 1) - 1/log2(s + 2)) / 2, so that errors that begin late are found:
 *             M_i <- r_i (M_i + w_t),    e_t = sum_i pi_i M_i + sum_{s > t} w_s,
 *           with pi_i = 1/2 spread over the maps, 1/2 over the bets in bins.
 *           e is a nonnegative martingale of mean 1 under the null, so
 *           P(e_t >= 1/alpha for some t) <= alpha (Ville 1939).
 * Edge cases:
 *   1. a score of exactly 0 or 1: no bet changes if it came true; if not, e is infinite.
 *   2. the map a = 0, b = 1 is the null; it and shifts of 0 in bins are left out.
 *   3. capital above 2^512 counts in a wide exponent; the weight of a late start is then
 *      negligible and not added.
 *   4. PIT values below 2^-53 count as 2^-53, those above 1 - 2^-53 as that, which lowers e.
 *   5. a score of 1 belongs to the last bin.
 *   6. a likelihood ratio above 2^500 counts as 2^500, which only lowers e.
 *   7. the order of the rows matters: bets know only the rows before.
 * Source:   Arnold, Henzi & Ziegel, Sequentially valid tests for forecast calibration, Annals of
 *           Applied Statistics 17 (2023), section 3; mixtures: Vovk & Wang 2021, Ramdas et al.
 *           2023.
 * Cost:     about 200 multiplications, 99 divisions and 10 exponentials for each row. */
#include "watch/calibration_bets.h"

#include <math.h>

#include "base/elementary.h"
#include "base/normal.h"

#define BETS_WIDE 0x1p512
#define BETS_EXPONENT_MAX ((int64_t)1 << 48) /* of numbers in a state file */
#define BETS_BIN_SHARE (0.5 / (PC_BETS_BINS * (PC_BETS_SHIFTS - 1)))
#define BETS_MAP_SHARE (0.5 / (PC_BETS_MAPS - 1))
#define BETS_PIT_LEAST 0x1p-53
#define BETS_FACTOR_MAX 0x1p500
#define BETS_LN2 0.6931471805599453

static const double bets_shifts[PC_BETS_SHIFTS] = {0,   -0.1, 0.1, -0.2, 0.2, -0.4,
                                                   0.4, -0.8, 0.8, -1.6, 1.6};
static const double bets_slopes[PC_BETS_SLOPES] = {1, 1.0 / 3, 0.5, 0.7, 0.85, 1.2, 1.5, 2, 3};

/* exp(-a) for each shift a */
static const double bets_odds_shifts[PC_BETS_SHIFTS] = {1,
                                                        1.1051709180756477,
                                                        0.9048374180359595,
                                                        1.2214027581601699,
                                                        0.8187307530779818,
                                                        1.4918246976412703,
                                                        0.6703200460356393,
                                                        2.225540928492468,
                                                        0.4493289641172216,
                                                        4.953032424395115,
                                                        0.20189651799465538};

/* ---- Wide numbers ---- */

/* Requires factor in [0, BETS_FACTOR_MAX]. */
static void wide_times(pc_wide_number *number, double factor) {
  number->mantissa *= factor;
  if (number->mantissa >= BETS_WIDE) {
    number->mantissa /= BETS_WIDE;
    number->exponent++;
  } else if (number->exponent > 0 && number->mantissa < 1) {
    number->mantissa *= BETS_WIDE;
    number->exponent--;
  }
}

static int wide_above(pc_wide_number a, pc_wide_number b) {
  return a.exponent != b.exponent ? a.exponent > b.exponent : a.mantissa > b.mantissa;
}

double pc_wide_log(pc_wide_number number) {
  if (isinf(number.mantissa))
    return INFINITY;
  return pc_log(number.mantissa) + (double)number.exponent * 512.0 * BETS_LN2;
}

/* ---- Starts ---- */

/* Weight of starts after the first `rows` rows. */
static double bets_late_starts(uint64_t rows) {
  return rows == 0 ? 1.0 : 0.5 * pc_log(2.0) / pc_log((double)rows + 1.0);
}

static double bets_start(uint64_t row) {
  return bets_late_starts(row) - bets_late_starts(row + 1);
}

void pc_bets_init(pc_calibration_bets *bets) {
  *bets = (pc_calibration_bets){.now = {1, 0}, .highest = {1, 0}};
}

/* ---- Rows ---- */

static void bets_bet(pc_wide_number *capital, double start, double factor) {
  if (capital->exponent == 0)
    capital->mantissa += start;
  wide_times(capital, factor < BETS_FACTOR_MAX ? factor : BETS_FACTOR_MAX);
}

static pc_wide_number bets_total(const pc_calibration_bets *bets) {
  int64_t top = 0;
  double sum = 0;
  for (size_t i = 0; i < PC_BETS_COUNT; i++)
    top = bets->capital[i].exponent > top ? bets->capital[i].exponent : top;
  for (size_t i = 0; i < PC_BETS_COUNT; i++) {
    const int64_t below = top - bets->capital[i].exponent;
    const double share = i < PC_BETS_MAPS ? BETS_MAP_SHARE : BETS_BIN_SHARE;
    if (below <= 1)
      sum += share *
             (below == 0 ? bets->capital[i].mantissa : bets->capital[i].mantissa / BETS_WIDE);
  }
  if (top == 0)
    sum += bets_late_starts(bets->rows);
  return (pc_wide_number){sum, top};
}

/* Counts the row that the capital contains now. */
static void bets_close_row(pc_calibration_bets *bets) {
  bets->rows++;
  bets->now =
      bets->contradictions > 0 ? (pc_wide_number){INFINITY, INT64_MAX} : bets_total(bets);
  if (wide_above(bets->now, bets->highest)) {
    bets->highest = bets->now;
    bets->highest_rows = bets->rows;
  }
}

/* Bets on one bin of an event with odds x = (1 - p) / p. */
static void bets_in_bin(pc_calibration_bets *bets, size_t bin, double start, double odds,
                        int outcome) {
  pc_wide_number *capital = bets->capital + PC_BETS_MAPS + bin * PC_BETS_SHIFTS;
  const double p = 1 / (1 + odds), rest = 1 / (1 + 1 / odds);
  for (size_t a = 1; a < PC_BETS_SHIFTS; a++) {
    const double shifted = odds * bets_odds_shifts[a];
    bets_bet(&capital[a], start,
             outcome ? 1 / (1 + shifted) / p : 1 / (1 + 1 / shifted) / rest);
  }
}

/* Bets in bins that do not take part in a row only gain the weight of the start. */
static void bets_in_other_bins(pc_calibration_bets *bets, size_t bin, double start) {
  for (size_t b = 0; b < PC_BETS_BINS; b++)
    for (size_t a = 1; b != bin && a < PC_BETS_SHIFTS; a++)
      bets_bet(&bets->capital[PC_BETS_MAPS + b * PC_BETS_SHIFTS + a], start, 1);
}

static size_t bets_bin(double score) {
  const size_t bin = (size_t)(score * PC_BETS_BINS);
  return bin < PC_BETS_BINS ? bin : PC_BETS_BINS - 1;
}

void pc_bets_add_event(pc_calibration_bets *bets, double score, int outcome) {
  const double start = bets_start(bets->rows);
  const double odds = (1 - score) / score, logit = -pc_log(odds);
  if (score <= 0 || score >= 1 || odds == 0 || isinf(odds)) {
    bets->contradictions += outcome != (score >= 0.5);
    for (size_t i = 1; i < PC_BETS_COUNT; i++)
      if (i < PC_BETS_MAPS || (i - PC_BETS_MAPS) % PC_BETS_SHIFTS > 0)
        bets_bet(&bets->capital[i], start, 1);
    bets_close_row(bets);
    return;
  }
  const double p = 1 / (1 + odds), rest = 1 / (1 + 1 / odds);
  for (size_t b = 0; b < PC_BETS_SLOPES; b++) {
    const double sloped = b == 0 ? odds : pc_exp(-bets_slopes[b] * logit);
    for (size_t a = b == 0; a < PC_BETS_SHIFTS; a++) {
      const double x = sloped * bets_odds_shifts[a];
      bets_bet(&bets->capital[b * PC_BETS_SHIFTS + a], start,
               outcome ? 1 / (1 + x) / p : 1 / (1 + 1 / x) / rest);
    }
  }
  bets_in_bin(bets, bets_bin(score), start, odds, outcome);
  bets_in_other_bins(bets, bets_bin(score), start);
  bets_close_row(bets);
}

void pc_bets_add_pit(pc_calibration_bets *bets, double value) {
  const double start = bets_start(bets->rows);
  const double u = fmin(fmax(value, BETS_PIT_LEAST), 1 - BETS_PIT_LEAST);
  const double z = pc_normal_quantile(u);
  for (size_t b = 0; b < PC_BETS_SLOPES; b++)
    for (size_t a = b == 0; a < PC_BETS_SHIFTS; a++) {
      const double scaled = (z - bets_shifts[a]) * bets_slopes[b];
      bets_bet(&bets->capital[b * PC_BETS_SHIFTS + a], start,
               bets_slopes[b] * pc_exp(0.5 * (z * z - scaled * scaled)));
    }
  for (size_t b = 0; b < PC_BETS_BINS; b++)
    bets_in_bin(bets, b, start, PC_BETS_BINS - 1.0, bets_bin(u) == b);
  bets_close_row(bets);
}

/* ---- Reading ---- */

pc_leading_bet pc_bets_leading(const pc_calibration_bets *bets) {
  size_t best = 1;
  for (size_t i = 2; i < PC_BETS_COUNT; i++) {
    const double share = i < PC_BETS_MAPS ? BETS_MAP_SHARE : BETS_BIN_SHARE;
    const double best_share = best < PC_BETS_MAPS ? BETS_MAP_SHARE : BETS_BIN_SHARE;
    const pc_wide_number mine = {share * bets->capital[i].mantissa, bets->capital[i].exponent};
    const pc_wide_number other = {best_share * bets->capital[best].mantissa,
                                  bets->capital[best].exponent};
    if (wide_above(mine, other))
      best = i;
  }
  if (best < PC_BETS_MAPS)
    return (pc_leading_bet){0, 0, 1, bets_shifts[best % PC_BETS_SHIFTS],
                            bets_slopes[best / PC_BETS_SHIFTS]};
  const size_t bin = (best - PC_BETS_MAPS) / PC_BETS_SHIFTS;
  return (pc_leading_bet){1, (double)bin / PC_BETS_BINS, (double)(bin + 1) / PC_BETS_BINS,
                          bets_shifts[(best - PC_BETS_MAPS) % PC_BETS_SHIFTS], 1};
}

static void bets_encode_number(pc_wide_number number, pc_encoder *out) {
  pc_encode_doubles(out, &number.mantissa, 1);
  pc_encode_u64(out, (uint64_t)number.exponent);
}

static void bets_decode_number(pc_wide_number *number, pc_decoder *in) {
  pc_decode_doubles(in, &number->mantissa, 1);
  number->exponent = (int64_t)pc_decode_u64(in);
  pc_decoder_expect(in, number->mantissa >= 0 && number->exponent >= 0);
}

/* Infinite exactly if an event of probability 0 has occurred. */
static void bets_decode_total(pc_wide_number *number, uint64_t contradictions, pc_decoder *in) {
  bets_decode_number(number, in);
  pc_decoder_expect(in, contradictions > 0 ? isinf(number->mantissa)
                                           : number->mantissa > 0 && !isinf(number->mantissa) &&
                                                 number->exponent <= BETS_EXPONENT_MAX);
}

/* The total follows from the bets, and the highest one is not below it. */
static int bets_agree(const pc_calibration_bets *bets) {
  const pc_wide_number total = bets_total(bets);
  return bets->contradictions > 0 ||
         (total.mantissa == bets->now.mantissa && total.exponent == bets->now.exponent &&
          !wide_above(bets->now, bets->highest));
}

void pc_bets_encode(const pc_calibration_bets *bets, pc_encoder *out) {
  pc_encode_u64(out, bets->rows);
  pc_encode_u64(out, bets->contradictions);
  for (size_t i = 0; i < PC_BETS_COUNT; i++)
    bets_encode_number(bets->capital[i], out);
  bets_encode_number(bets->now, out);
  bets_encode_number(bets->highest, out);
  pc_encode_u64(out, bets->highest_rows);
}

void pc_bets_decode(pc_calibration_bets *bets, pc_decoder *in) {
  bets->rows = pc_decode_u64(in);
  bets->contradictions = pc_decode_u64(in);
  for (size_t i = 0; i < PC_BETS_COUNT; i++) {
    bets_decode_number(&bets->capital[i], in);
    pc_decoder_expect(in, bets->capital[i].mantissa < BETS_WIDE &&
                              bets->capital[i].exponent <= BETS_EXPONENT_MAX);
  }
  bets_decode_total(&bets->now, bets->contradictions, in);
  bets_decode_total(&bets->highest, bets->contradictions, in);
  bets->highest_rows = pc_decode_u64(in);
  pc_decoder_expect(in, bets->highest_rows <= bets->rows);
  pc_decoder_expect(in, in->failed || bets_agree(bets));
}
