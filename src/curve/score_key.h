/* Keys of scores: integers in the order of the scores. */
#ifndef PC_SCORE_KEY_H
#define PC_SCORE_KEY_H

#include "base/codec.h"

#define PC_SCORE_END 4.0 /* bound on the size of scores: base/sum.h */

/* Maps ascending doubles (without -0) to ascending integers. */
static inline uint64_t pc_score_key(double score) {
  const uint64_t bits = pc_double_bits(score);
  return bits ^ ((bits >> 63) != 0 ? UINT64_MAX : (uint64_t)1 << 63);
}

/* The score of a key. */
static inline double pc_score_of_key(uint64_t key) {
  return pc_double_from_bits((key >> 63) != 0 ? key ^ (uint64_t)1 << 63 : ~key);
}

/* The score whose key is a decoded step (varint) above *key, which moves there.  Scores that
 * cannot be fail the decoder. */
double pc_decode_score_step(pc_decoder *in, uint64_t *key);

#endif
