/* Evidence against calibration that may be looked at after every row: a mixture of bets whose
 * capital is an e-value at any time. */
#ifndef PC_CALIBRATION_BETS_H
#define PC_CALIBRATION_BETS_H

#include <stdint.h>

#include "base/codec.h"

#define PC_BETS_SHIFTS 11 /* of the log-odds, 0 among them */
#define PC_BETS_SLOPES 9  /* of the log-odds, 1 among them */
#define PC_BETS_BINS 10   /* of the score, of equal width */
#define PC_BETS_MAPS (PC_BETS_SHIFTS * PC_BETS_SLOPES)
#define PC_BETS_IN_BINS (PC_BETS_BINS * PC_BETS_SHIFTS)
#define PC_BETS_COUNT (PC_BETS_MAPS + PC_BETS_IN_BINS)

/* A positive number mantissa 2^(512 exponent), or infinity, or 0. */
typedef struct pc_wide_number {
  double mantissa;
  int64_t exponent;
} pc_wide_number;

typedef struct pc_calibration_bets {
  uint64_t rows;
  uint64_t contradictions; /* rows whose outcome had the predicted probability 0 */
  pc_wide_number capital[PC_BETS_COUNT]; /* of each bet, over all rows at which it may start */
  pc_wide_number now, highest;           /* the e-value, and the highest one so far */
  uint64_t highest_rows;                 /* rows after which it was highest */
} pc_calibration_bets;

/* The bet that holds the most capital. */
typedef struct pc_leading_bet {
  int in_bin;          /* 0: on all rows */
  double low, high;    /* of the bin */
  double shift, slope; /* of the log-odds; a bet in a bin has slope 1 */
} pc_leading_bet;

void pc_bets_init(pc_calibration_bets *bets);

/* Adds the outcome of an event (0 or 1) whose probability was predicted as `score`. */
void pc_bets_add_event(pc_calibration_bets *bets, double score, int outcome);

/* Adds a value of the probability integral transform, which is uniform under calibration. */
void pc_bets_add_pit(pc_calibration_bets *bets, double value);

double pc_wide_log(pc_wide_number number); /* natural logarithm */
pc_leading_bet pc_bets_leading(const pc_calibration_bets *bets);

void pc_bets_encode(const pc_calibration_bets *bets, pc_encoder *out);
void pc_bets_decode(pc_calibration_bets *bets, pc_decoder *in);

#endif
