/* Layouts:
 *   text    length (u32), bytes
 *   double  its IEEE 754 bits (u64)
 *   sum     index of the lowest limb that is not 0 (u8), number of limbs up to the highest
 *           (u8), these limbs (u32 each), the signed top limb (u64)
 *   fixed   the 128-bit number in two's complement, low half first
 *   varint  7 bits to a byte, low bits first; the highest bit of a byte says that more follow */
#include "base/codec.h"

#include "base/assert.h"

#define CODEC_LOW_LIMBS (PC_SUM_LIMBS - 1)
#define CODEC_VARINT_BITS 126
#define CODEC_VARINT_MORE 128

/* ---- encoding ---- */

void pc_encoder_init(pc_encoder *encoder, pcal_sink sink, void *user) {
  encoder->sink = sink;
  encoder->user = user;
  encoder->length = 0;
  encoder->failed = 0;
  encoder->used = 0;
  pc_checksum_start(&encoder->checksum);
}

static void codec_flush(pc_encoder *encoder) {
  pc_checksum_add(&encoder->checksum, encoder->buffer, encoder->used);
  if (!encoder->failed && encoder->used > 0 &&
      encoder->sink(encoder->user, (const char *)encoder->buffer, encoder->used) != 0)
    encoder->failed = 1;
  encoder->used = 0;
}

static void codec_put(pc_encoder *encoder, uint64_t value, size_t bytes) {
  encoder->length += bytes;
  if (encoder->sink == NULL)
    return;
  if (encoder->used + bytes > sizeof encoder->buffer)
    codec_flush(encoder);
  pc_assert(encoder->used + bytes <= sizeof encoder->buffer);
  for (size_t b = 0; b < bytes; b++)
    encoder->buffer[encoder->used++] = (unsigned char)(value >> (8 * b));
}

void pc_encode_u8(pc_encoder *encoder, unsigned value) {
  codec_put(encoder, value, 1);
}

void pc_encode_u32(pc_encoder *encoder, uint32_t value) {
  codec_put(encoder, value, 4);
}

void pc_encode_u64(pc_encoder *encoder, uint64_t value) {
  codec_put(encoder, value, 8);
}

void pc_encode_bytes(pc_encoder *encoder, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++)
    codec_put(encoder, at[i], 1);
}

void pc_encode_text(pc_encoder *encoder, const char *text) {
  const size_t length = strlen(text);
  pc_encode_u32(encoder, (uint32_t)length);
  pc_encode_bytes(encoder, text, length);
}

void pc_encode_doubles(pc_encoder *encoder, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    codec_put(encoder, pc_double_bits(values[i]), 8);
}

void pc_encode_sum(pc_encoder *encoder, const pc_sum *sum) {
  pc_sum normal;
  pc_sum_clear(&normal);
  pc_sum_merge(&normal, sum);
  size_t low = 0, high = CODEC_LOW_LIMBS;
  while (low < high && normal.limb[low] == 0)
    low++;
  while (high > low && normal.limb[high - 1] == 0)
    high--;
  pc_encode_u8(encoder, low == high ? 0 : (unsigned)low);
  pc_encode_u8(encoder, (unsigned)(high - low));
  for (size_t i = low; i < high; i++)
    pc_encode_u32(encoder, (uint32_t)normal.limb[i]);
  pc_encode_u64(encoder, (uint64_t)normal.limb[CODEC_LOW_LIMBS]);
}

void pc_encode_fixed(pc_encoder *encoder, const pc_fixed *sum) {
  const pc_uint128 units = (pc_uint128)sum->units;
  pc_encode_u64(encoder, (uint64_t)units);
  pc_encode_u64(encoder, (uint64_t)(units >> 64));
}

void pc_encode_varint(pc_encoder *encoder, pc_uint128 value) {
  for (; value >= CODEC_VARINT_MORE; value >>= 7)
    codec_put(encoder, (uint64_t)(value % CODEC_VARINT_MORE) | CODEC_VARINT_MORE, 1);
  codec_put(encoder, (uint64_t)value, 1);
}

void pc_encode_skip(pc_encoder *encoder, uint64_t count) {
  pc_assert(encoder->sink == NULL);
  encoder->length += count;
}

pcal_status pc_encoder_finish(pc_encoder *encoder, pcal_error *err) {
  if (encoder->sink == NULL) {
    pc_encode_skip(encoder, PC_CHECKSUM_BYTES);
    return PCAL_OK;
  }
  codec_flush(encoder);
  pc_encode_u32(encoder, pc_checksum_value(&encoder->checksum));
  codec_flush(encoder);
  return encoder->failed ? pc_fail(err, PCAL_IO, "the output could not be written") : PCAL_OK;
}

/* ---- decoding ---- */

void pc_decoder_init(pc_decoder *decoder, const void *bytes, size_t count) {
  decoder->at = bytes;
  decoder->end = decoder->at + count;
  decoder->failed = 0;
}

size_t pc_decoder_left(const pc_decoder *decoder) {
  return (size_t)(decoder->end - decoder->at);
}

void pc_decoder_fail(pc_decoder *decoder) {
  decoder->failed = 1;
  decoder->at = decoder->end;
}

void pc_decoder_expect(pc_decoder *decoder, int condition) {
  if (!condition)
    pc_decoder_fail(decoder);
}

static uint64_t codec_take(pc_decoder *decoder, size_t bytes) {
  uint64_t value = 0;
  if (pc_decoder_left(decoder) < bytes) {
    pc_decoder_fail(decoder);
    return 0;
  }
  for (size_t b = 0; b < bytes; b++)
    value |= (uint64_t)*decoder->at++ << (8 * b);
  return value;
}

unsigned pc_decode_u8(pc_decoder *decoder) {
  return (unsigned)codec_take(decoder, 1);
}

uint32_t pc_decode_u32(pc_decoder *decoder) {
  return (uint32_t)codec_take(decoder, 4);
}

uint64_t pc_decode_u64(pc_decoder *decoder) {
  return codec_take(decoder, 8);
}

size_t pc_decode_count(pc_decoder *decoder, size_t least) {
  const uint64_t count = pc_decode_u64(decoder);
  if (count <= pc_decoder_left(decoder) / least)
    return (size_t)count;
  pc_decoder_fail(decoder);
  return 0;
}

void pc_decode_bytes(pc_decoder *decoder, void *out, size_t count) {
  if (count > pc_decoder_left(decoder)) {
    pc_decoder_fail(decoder);
    memset(out, 0, count);
  } else if (count > 0) {
    memcpy(out, decoder->at, count);
    decoder->at += count;
  }
}

void pc_decode_doubles(pc_decoder *decoder, double *out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = pc_double_from_bits(codec_take(decoder, 8));
}

char *pc_decode_text(pc_decoder *decoder, const pcal_env *env) {
  const size_t length = pc_decode_u32(decoder);
  pc_decoder_expect(decoder, length <= pc_decoder_left(decoder) &&
                                 memchr(decoder->at, 0, length) == NULL);
  char *text = decoder->failed ? NULL : pc_alloc_raw(env, length + 1, 1);
  if (text == NULL)
    return NULL;
  pc_decode_bytes(decoder, text, length);
  text[length] = '\0';
  return text;
}

void pc_decode_sum(pc_decoder *decoder, pc_sum *out) {
  pc_sum_clear(out);
  const size_t low = pc_decode_u8(decoder), count = pc_decode_u8(decoder);
  pc_decoder_expect(decoder, low + count <= CODEC_LOW_LIMBS);
  for (size_t i = 0; i < count && !decoder->failed; i++)
    out->limb[low + i] = (int64_t)pc_decode_u32(decoder);
  out->limb[CODEC_LOW_LIMBS] = (int64_t)pc_decode_u64(decoder);
  out->pending = 1;
  pc_decoder_expect(decoder, pc_sum_addable(out, out));
  if (decoder->failed)
    pc_sum_clear(out);
}

void pc_decode_fixed(pc_decoder *decoder, pc_fixed *out) {
  const uint64_t low = pc_decode_u64(decoder), high = pc_decode_u64(decoder);
  out->units = (pc_int128)((pc_uint128)high << 64 | low);
  pc_decoder_expect(decoder, pc_fixed_addable(out, out));
  if (decoder->failed)
    out->units = 0;
}

pc_uint128 pc_decode_varint(pc_decoder *decoder) {
  pc_uint128 value = 0;
  for (unsigned shift = 0; shift < CODEC_VARINT_BITS; shift += 7) {
    const unsigned byte = pc_decode_u8(decoder);
    value |= (pc_uint128)(byte % CODEC_VARINT_MORE) << shift;
    if (byte < CODEC_VARINT_MORE)
      return value;
  }
  pc_decoder_fail(decoder);
  return 0;
}
