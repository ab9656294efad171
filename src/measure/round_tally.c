#include "measure/round_tally.h"

#include "measure/round_request.h"
#include "measure/saved_state.h"

#define TALLY_PART_BYTES 5

static const pc_envelope round_tally_envelope = {
    .magic = "PCALTALY",
    .version = 4,
    .noun = "tally",
    .origin = "is not a tally; pcal_rounds_worker_tally writes one",
    .saved = "was written",
    .remedy = "answer the request again",
};

void pc_round_tally_free(pc_round_tally *tally) {
  for (size_t p = 0; tally->parts != NULL && p < tally->part_count; p++)
    pc_sparse_tally_free(&tally->parts[p]);
  if (tally->parts != NULL)
    pc_free(tally->env, tally->parts);
  pc_measure_free(tally->measure);
  pc_round_draws_free(&tally->draws);
  *tally = (pc_round_tally){.env = tally->env};
}

pcal_status pc_round_tally_room(pc_round_tally *tally, size_t count, pcal_error *err) {
  tally->parts = pc_alloc(tally->env, count, sizeof *tally->parts);
  if (tally->parts == NULL)
    return pc_fail_memory(err, "collecting a tally");
  tally->part_count = count;
  return PCAL_OK;
}

void pc_round_forget_rows(pcal_measure *measure) {
  pc_row_ranges *seen = &measure->seen;
  seen->range_count = 0;
  for (size_t g = 0; g < seen->group_count; g++)
    if (seen->first_rows[g] != PCAL_NO_ROW)
      seen->first_rows[g] = 0;
}

/* ---- writing ---- */

static int round_tally_forward(void *user, const char *bytes, size_t count) {
  pc_encode_bytes(user, bytes, count);
  return 0;
}

static int round_tally_count(void *user, const char *bytes, size_t count) {
  (void)bytes;
  pc_encode_skip(user, count);
  return 0;
}

static pcal_status round_tally_write_all(const pc_round_tally *tally, uint64_t length,
                                         pc_encoder *out, pcal_error *err) {
  pc_envelope_begin(&round_tally_envelope, length, out);
  pc_encode_u64(out, tally->id);
  pc_encode_u8(out, (unsigned)tally->content);
  pc_encode_row_fingerprint(out, &tally->rows);
  if (tally->measure != NULL)
    PC_TRY(pc_state_save(
        tally->measure, out->sink == NULL ? round_tally_count : round_tally_forward, out, err));
  if (tally->content == PC_ROUND_TARGETS)
    pc_encode_u64(out, tally->part_count);
  for (size_t p = 0; p < tally->part_count; p++)
    pc_encode_sparse_tally(out, &tally->parts[p]);
  if (tally->content == PC_ROUND_DRAWS)
    pc_encode_round_draws(out, &tally->draws);
  return pc_encoder_finish(out, err);
}

pcal_status pc_round_tally_write(const pc_round_tally *tally, pcal_sink sink, void *user,
                                 pcal_error *err) {
  pc_encoder encoder;
  pc_encoder_init(&encoder, NULL, NULL);
  PC_TRY(round_tally_write_all(tally, 0, &encoder, err));
  const uint64_t length = encoder.length;
  pc_encoder_init(&encoder, sink, user);
  return round_tally_write_all(tally, length, &encoder, err);
}

/* ---- reading ---- */

static pcal_status round_tally_read_parts(pc_decoder *in, pc_round_tally *out,
                                          pcal_error *err) {
  const size_t count = pc_decode_count(in, TALLY_PART_BYTES);
  if (in->failed)
    return PCAL_OK;
  PC_TRY(pc_round_tally_room(out, count, err));
  for (size_t p = 0; p < count && !in->failed; p++)
    PC_TRY(pc_decode_sparse_tally(in, out->env, &out->parts[p], err));
  return PCAL_OK;
}

static pcal_status round_tally_read_state(pc_decoder *in, const char *name, pc_round_tally *out,
                                          pcal_error *err) {
  const size_t left = pc_decoder_left(in);
  const pcal_status status = pc_state_load_adapted(
      in->at, left, name,
      out->content == PC_ROUND_BUCKETS ? pc_round_plan_use_buckets : pc_round_plan_drop_rows,
      out->env, &out->measure, err);
  in->at = in->end;
  return status;
}

pcal_status pc_round_tally_read(const void *bytes, size_t length, const char *name,
                                const pcal_env *env, pc_round_tally *out, pcal_error *err) {
  pc_decoder in;
  *out = (pc_round_tally){.env = env};
  PC_TRY(pc_envelope_open(&round_tally_envelope, bytes, length, name, &in, err));
  out->id = pc_decode_u64(&in);
  const unsigned content = pc_decode_u8(&in);
  pc_decoder_expect(&in, content <= PC_ROUND_DRAWS);
  pc_decode_row_fingerprint(&in, &out->rows);
  out->content = in.failed ? PC_ROUND_EMPTY : (pc_round_content)content;
  if (out->content == PC_ROUND_TARGETS)
    PC_TRY(round_tally_read_parts(&in, out, err));
  else if (out->content == PC_ROUND_DRAWS)
    PC_TRY(pc_decode_round_draws(&in, env, &out->draws, err));
  else if (out->content != PC_ROUND_EMPTY)
    PC_TRY(round_tally_read_state(&in, name, out, err));
  return in.failed || pc_decoder_left(&in) > 0
             ? pc_envelope_misfit(&round_tally_envelope, name, err)
             : PCAL_OK;
}

pcal_status pc_round_tally_rows(const void *bytes, size_t length, const char *name,
                                pc_row_fingerprint *out, pcal_error *err) {
  pc_decoder in;
  PC_TRY(pc_envelope_open(&round_tally_envelope, bytes, length, name, &in, err));
  pc_decode_u64(&in); /* id */
  pc_decode_u8(&in);  /* content */
  pc_decode_row_fingerprint(&in, out);
  return in.failed ? pc_envelope_misfit(&round_tally_envelope, name, err) : PCAL_OK;
}

/* ---- merging ---- */

static void round_tally_take(pc_round_tally *into, pc_round_tally *from) {
  into->content = from->content;
  into->measure = from->measure;
  into->parts = from->parts;
  into->part_count = from->part_count;
  into->draws = from->draws;
  from->draws = (pc_round_draws){0};
  from->content = PC_ROUND_EMPTY;
  from->measure = NULL;
  from->parts = NULL;
  from->part_count = 0;
}

static pcal_status round_tally_merge_content(pc_round_tally *into, const pc_round_tally *from,
                                             pcal_error *err) {
  if (into->measure != NULL)
    return pc_measure_merge(into->measure, from->measure, err);
  if (into->content == PC_ROUND_DRAWS)
    return pc_round_draws_merge(&into->draws, &from->draws, err);
  for (size_t p = 0; p < into->part_count; p++)
    PC_TRY(pc_sparse_tally_merge(&into->parts[p], &from->parts[p], err));
  return PCAL_OK;
}

pcal_status pc_round_tally_merge(pc_round_tally *into, pc_round_tally *from, pcal_error *err) {
  const int any = into->content != PC_ROUND_EMPTY, other = from->content != PC_ROUND_EMPTY;
  if (into->id != from->id ||
      (any && other &&
       (into->content != from->content || into->part_count != from->part_count)))
    return pc_fail(err, PCAL_USAGE,
                   "the tallies answer different requests; merge those of one round only");
  if (any && other)
    PC_TRY(round_tally_merge_content(into, from, err));
  else if (other)
    round_tally_take(into, from);
  pc_row_fingerprint_merge(&into->rows, &from->rows);
  return PCAL_OK;
}
