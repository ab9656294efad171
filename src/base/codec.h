/* Encodes values as little-endian bytes and decodes them.
 *
 * Single calls report no failure.  After its sink refuses bytes, or after it meets an
 * impossible value, an encoder or decoder is `failed`: encoding then does nothing and decoding
 * returns 0. */
#ifndef PC_CODEC_H
#define PC_CODEC_H

#include "base/checksum.h"
#include "base/memory.h"
#include "base/sum.h"

typedef struct pc_encoder {
  pcal_sink sink; /* NULL: bytes are only counted */
  void *user;
  uint64_t length; /* bytes so far */
  int failed;
  pc_checksum checksum;
  size_t used;
  unsigned char buffer[4096];
} pc_encoder;

void pc_encoder_init(pc_encoder *encoder, pcal_sink sink, void *user);
void pc_encode_u8(pc_encoder *encoder, unsigned value);
void pc_encode_u32(pc_encoder *encoder, uint32_t value);
void pc_encode_u64(pc_encoder *encoder, uint64_t value);
void pc_encode_bytes(pc_encoder *encoder, const void *bytes, size_t count);
void pc_encode_text(pc_encoder *encoder, const char *text);
void pc_encode_doubles(pc_encoder *encoder, const double *values, size_t count);
/* Equal sums give equal bytes, whatever the order of their additions. */
void pc_encode_sum(pc_encoder *encoder, const pc_sum *sum);
void pc_encode_fixed(pc_encoder *encoder, const pc_fixed *sum);
/* 7 bits to a byte, low bits first; below 2^126. */
void pc_encode_varint(pc_encoder *encoder, pc_uint128 value);
/* Counts bytes without writing them; only for encoders without a sink. */
void pc_encode_skip(pc_encoder *encoder, uint64_t count);
/* Appends the checksum of all bytes so far and flushes the buffer.  PCAL_IO if the sink refused
 * bytes. */
PC_CHECKED pcal_status pc_encoder_finish(pc_encoder *encoder, pcal_error *err);

/* Bytes of a checksum. */
#define PC_CHECKSUM_BYTES 4

typedef struct pc_decoder {
  const unsigned char *at, *end;
  int failed;
} pc_decoder;

void pc_decoder_init(pc_decoder *decoder, const void *bytes, size_t count);
size_t pc_decoder_left(const pc_decoder *decoder);
void pc_decoder_fail(pc_decoder *decoder);
/* Marks the decoder as failed unless the condition holds. */
void pc_decoder_expect(pc_decoder *decoder, int condition);

unsigned pc_decode_u8(pc_decoder *decoder);
uint32_t pc_decode_u32(pc_decoder *decoder);
uint64_t pc_decode_u64(pc_decoder *decoder);
/* Decodes a number of items, each of at least `least` bytes; fails if fewer bytes are left. */
size_t pc_decode_count(pc_decoder *decoder, size_t least);
void pc_decode_bytes(pc_decoder *decoder, void *out, size_t count);
void pc_decode_doubles(pc_decoder *decoder, double *out, size_t count);
/* Returns a copy that the caller frees with pc_free; NULL if the decoder failed or memory ran
 * out.  Fails on a text that contains a zero byte. */
char *pc_decode_text(pc_decoder *decoder, const pcal_env *env);
/* Fails on sums so large that merging two of them could overflow. */
void pc_decode_sum(pc_decoder *decoder, pc_sum *out);
void pc_decode_fixed(pc_decoder *decoder, pc_fixed *out);
pc_uint128 pc_decode_varint(pc_decoder *decoder);

#endif
