#include "curve/score_key.h"

#include <math.h>

double pc_decode_score_step(pc_decoder *in, uint64_t *key) {
  const pc_uint128 step = pc_decode_varint(in);
  pc_decoder_expect(in, step <= UINT64_MAX - *key);
  *key += in->failed ? 0 : (uint64_t)step;
  const double score = pc_score_of_key(*key);
  pc_decoder_expect(in, fabs(score) < PC_SCORE_END);
  return score;
}
