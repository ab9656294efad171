/* Saving a watch.  The layout, in order:
 *
 *   header     magic "PCALWTCH", format version (u32), length with the checksum (u64)
 *   alpha      (double)
 *   scores     started (u8), kind (u8), columns (u64)
 *   rows       normalized, skipped, at the first alarm (u64)
 *   bets       rows, contradictions (u64), capital of each bet, now, highest (double and u64),
 *              rows when highest (u64)
 *   bins       rows, hits (u64), sum of scores (fixed)
 *   parts      number (u64), hash of each (u64)
 *   abstained  rows without an answer (u64); absent if there are none
 *   checksum   CRC-32C of all bytes before (u32)
 *
 * The version must change whenever old bytes would be read differently, also if the bets change. */
#include <math.h>

#include "base/envelope.h"
#include "watch/watch.h"

#define WATCH_ROWS_MAX (UINT64_C(1) << 56)

static const pc_envelope watch_envelope = {
    .magic = "PCALWTCH",
    .version = 1,
    .noun = "state",
    .origin = "is not the state of a watch; choose another file",
    .saved = "was saved",
    .remedy = "start a new state",
};

static pcal_status watch_encode(const pcal_watch *watch, uint64_t length, pc_encoder *out,
                                pcal_error *err) {
  pc_envelope_begin(&watch_envelope, length, out);
  pc_encode_doubles(out, &watch->alpha, 1);
  pc_encode_u8(out, watch->started != 0);
  pc_encode_u8(out, (unsigned)watch->kind);
  pc_encode_u64(out, watch->columns);
  pc_encode_u64(out, watch->normalized);
  pc_encode_u64(out, watch->skipped);
  pc_encode_u64(out, watch->alarm_rows);
  pc_bets_encode(&watch->bets, out);
  for (size_t b = 0; b < PC_BETS_BINS; b++) {
    pc_encode_u64(out, watch->bins[b].rows);
    pc_encode_u64(out, watch->bins[b].hits);
    pc_encode_fixed(out, &watch->bins[b].scores);
  }
  pc_encode_u64(out, watch->part_count);
  for (size_t p = 0; p < watch->part_count; p++)
    pc_encode_u64(out, watch->parts[p]);
  if (watch->abstained > 0)
    pc_encode_u64(out, watch->abstained);
  return pc_encoder_finish(out, err);
}

pcal_status pc_watch_save(const pcal_watch *watch, pcal_sink sink, void *user,
                          pcal_error *err) {
  pc_encoder encoder;
  pc_encoder_init(&encoder, NULL, NULL);
  PC_TRY(watch_encode(watch, 0, &encoder, err));
  const uint64_t length = encoder.length;
  pc_encoder_init(&encoder, sink, user);
  return watch_encode(watch, length, &encoder, err);
}

/* True if so many rows can be, with room for more. */
static int watch_is_row_count(uint64_t rows) {
  return rows <= WATCH_ROWS_MAX;
}

static void watch_decode_bins(pcal_watch *watch, pc_decoder *in) {
  uint64_t rows = 0;
  for (size_t b = 0; b < PC_BETS_BINS; b++) {
    pc_watch_bin *bin = &watch->bins[b];
    bin->rows = pc_decode_u64(in);
    bin->hits = pc_decode_u64(in);
    pc_decode_fixed(in, &bin->scores);
    pc_decoder_expect(in, watch_is_row_count(bin->rows) && bin->hits <= bin->rows);
    pc_decoder_expect(in, bin->scores.units >= 0 &&
                              bin->scores.units <= (pc_int128)bin->rows * pc_fixed_units(1.0));
    rows += bin->rows;
  }
  pc_decoder_expect(in, rows == watch->bets.rows);
}

static pcal_status watch_decode_parts(pcal_watch *watch, pc_decoder *in, pcal_error *err) {
  const size_t count = pc_decode_count(in, sizeof *watch->parts);
  pc_decoder_expect(in, count <= PC_WATCH_PARTS_MAX);
  if (in->failed || count == 0)
    return PCAL_OK;
  watch->parts = pc_alloc_raw(&watch->env, count, sizeof *watch->parts);
  if (watch->parts == NULL)
    return pc_fail_memory(err, "loading a watch");
  watch->part_capacity = watch->part_count = count;
  for (size_t p = 0; p < count; p++)
    watch->parts[p] = pc_decode_u64(in);
  return PCAL_OK;
}

static void watch_decode_abstained(pcal_watch *watch, pc_decoder *in) {
  if (in->failed || pc_decoder_left(in) == 0)
    return;
  watch->abstained = pc_decode_u64(in);
  pc_decoder_expect(in, watch->abstained > 0 && watch->abstained <= watch->bets.rows &&
                            watch->kind == PCAL_CONFIDENCE);
}

static pcal_status watch_decode(pcal_watch *watch, const char *name, pc_decoder *in,
                                pcal_error *err) {
  pc_decode_doubles(in, &watch->alpha, 1);
  pc_decoder_expect(in, watch->alpha > 0 && watch->alpha < 1);
  watch->started = (int)pc_decode_u8(in);
  watch->kind = (pcal_kind)pc_decode_u8(in);
  watch->columns = pc_decode_u64(in);
  watch->normalized = pc_decode_u64(in);
  watch->skipped = pc_decode_u64(in);
  watch->alarm_rows = pc_decode_u64(in);
  pc_bets_decode(&watch->bets, in);
  pc_decoder_expect(in, watch->started <= 1 && watch->alarm_rows <= watch->bets.rows);
  pc_decoder_expect(in, watch->bets.rows == 0 || watch->started);
  pc_decoder_expect(in, watch_is_row_count(watch->bets.rows) &&
                            watch->bets.contradictions <= watch->bets.rows &&
                            watch_is_row_count(watch->normalized) &&
                            watch_is_row_count(watch->skipped));
  pc_decoder_expect(in, !watch->started ||
                            (watch->kind >= PCAL_PROBABILITY && watch->kind <= PCAL_MEAN_STD));
  watch_decode_bins(watch, in);
  PC_TRY(watch_decode_parts(watch, in, err));
  watch_decode_abstained(watch, in);
  return in->failed || pc_decoder_left(in) > 0 ? pc_envelope_misfit(&watch_envelope, name, err)
                                               : PCAL_OK;
}

pcal_status pc_watch_load(const void *bytes, size_t length, const char *name,
                          const pcal_env *env, pcal_watch **out, pcal_error *err) {
  pcal_watch *watch = NULL;
  pc_decoder in;
  PC_TRY(pc_envelope_open(&watch_envelope, bytes, length, name, &in, err));
  PC_TRY(pc_watch_new(0.5, env, &watch, err));
  const pcal_status status = watch_decode(watch, name, &in, err);
  if (status != PCAL_OK)
    pc_watch_free(watch);
  else
    *out = watch;
  return status;
}
