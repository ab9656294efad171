#include "calibrators/fit_round_bytes.h"

#include <string.h>

#include "base/rng.h"
#include "data/rows.h"
#include "measure/results.h"

#define FIT_ROUND_ANSWER_BYTES 8
#define FIT_ROUND_NAME_BYTES 4

static const pc_envelope fit_request_envelope = {
    .magic = "PCALFREQ",
    .version = 2,
    .noun = "request",
    .origin = "is not a request of rounds; pcal_rounds_request writes one",
    .saved = "was written",
    .remedy = "ask for it again",
};

static const pc_envelope fit_answer_envelope = {
    .magic = "PCALFTAL",
    .version = 2,
    .noun = "tally",
    .origin = "is not a tally; pcal_rounds_worker_tally writes one",
    .saved = "was written",
    .remedy = "answer the request again",
};

static int fit_round_begins(const pc_envelope *kind, const void *bytes, size_t length) {
  return length >= PC_ENVELOPE_MAGIC_BYTES &&
         memcmp(bytes, kind->magic, PC_ENVELOPE_MAGIC_BYTES) == 0;
}

int pc_fit_request_is(const void *bytes, size_t length) {
  return fit_round_begins(&fit_request_envelope, bytes, length);
}

int pc_fit_answer_is(const void *bytes, size_t length) {
  return fit_round_begins(&fit_answer_envelope, bytes, length);
}

/* ---- The shape of the data ---- */

pcal_status pc_fit_data_shape_copy(const pcal_env *env, pcal_kind kind, size_t columns,
                                   const double *levels, const char *const *class_names,
                                   pc_fit_data_shape *out, pcal_error *err) {
  *out = (pc_fit_data_shape){.kind = kind, .columns = columns};
  for (size_t i = 0; kind == PCAL_QUANTILES && levels != NULL && i < columns; i++)
    out->levels[i] = levels[i];
  return class_names == NULL
             ? PCAL_OK
             : pc_name_list_copy(env, class_names, columns, &out->class_names, err);
}

void pc_fit_data_shape_free(const pcal_env *env, pc_fit_data_shape *shape) {
  pc_name_list_free(env, shape->class_names, shape->columns);
  *shape = (pc_fit_data_shape){0};
}

static int fit_data_shape_same_names(const pc_fit_data_shape *a, const pc_fit_data_shape *b) {
  int same = (a->class_names == NULL) == (b->class_names == NULL);
  for (size_t c = 0; same && a->class_names != NULL && c < a->columns; c++)
    same = strcmp(a->class_names[c], b->class_names[c]) == 0;
  return same;
}

pcal_status pc_fit_data_shape_check(const pc_fit_data_shape *a, const pc_fit_data_shape *b,
                                    pcal_error *err) {
  if (a->kind != b->kind || a->columns != b->columns)
    return pc_fail(err, PCAL_USAGE,
                   "some rows have %zu columns of the kind %s and others %zu of the kind %s; "
                   "give all workers the same columns",
                   a->columns, pcal_kind_name(a->kind), b->columns, pcal_kind_name(b->kind));
  if (memcmp(a->levels, b->levels, sizeof a->levels) != 0)
    return pc_fail(err, PCAL_USAGE,
                   "the levels of the quantiles differ between workers; give all the same");
  return fit_data_shape_same_names(a, b)
             ? PCAL_OK
             : pc_fail(err, PCAL_USAGE,
                       "the names of the classes differ between workers; give all the same "
                       "columns in the same order");
}

static void fit_data_shape_encode(pc_encoder *out, const pc_fit_data_shape *shape) {
  pc_encode_u8(out, (unsigned)shape->kind);
  pc_encode_u64(out, shape->columns);
  if (shape->kind == PCAL_QUANTILES)
    pc_encode_doubles(out, shape->levels, shape->columns);
  pc_encode_u8(out, shape->class_names != NULL);
  for (size_t c = 0; shape->class_names != NULL && c < shape->columns; c++)
    pc_encode_text(out, shape->class_names[c]);
}

static pcal_status fit_data_shape_decode(pc_decoder *in, const pcal_env *env,
                                         pc_fit_data_shape *out, pcal_error *err) {
  const unsigned kind = pc_decode_u8(in);
  const uint64_t columns = pc_decode_u64(in);
  pc_decoder_expect(in, kind >= PCAL_PROBABILITY && kind <= PCAL_SAMPLES && columns > 0 &&
                            columns <= PC_CLASSES_MAX);
  pc_decoder_expect(in, kind != PCAL_QUANTILES || columns <= PCAL_LEVELS_MAX);
  if (kind == PCAL_QUANTILES && !in->failed)
    pc_decode_doubles(in, out->levels, (size_t)columns);
  const unsigned named = pc_decode_u8(in);
  pc_decoder_expect(in, named <= 1 &&
                            (!named || columns <= pc_decoder_left(in) / FIT_ROUND_NAME_BYTES));
  if (in->failed)
    return PCAL_OK;
  out->kind = (pcal_kind)kind;
  out->columns = (size_t)columns;
  if (!named)
    return PCAL_OK;
  out->class_names = pc_alloc(env, out->columns, sizeof *out->class_names);
  if (out->class_names == NULL)
    return pc_fail_memory(err, "reading a request");
  for (size_t c = 0; c < out->columns && !in->failed; c++) {
    out->class_names[c] = pc_decode_text(in, env);
    if (out->class_names[c] == NULL && !in->failed)
      return pc_fail_memory(err, "reading a request");
  }
  return PCAL_OK;
}

/* ---- Requests ---- */

void pc_fit_request_free(pc_fit_request *request) {
  if (request->env == NULL)
    return;
  for (size_t a = 0; a < request->count; a++)
    pc_fit_tally_free(&request->answers[a]);
  pc_free(request->env, request->answers);
  pc_free(request->env, request->method);
  pc_fit_data_shape_free(request->env, &request->shape);
  *request = (pc_fit_request){0};
}

static pcal_status fit_request_write_all(const pc_fit_request *request, uint64_t length,
                                         pc_encoder *out, pcal_error *err) {
  pc_envelope_begin(&fit_request_envelope, length, out);
  pc_encode_u32(out, request->round);
  pc_encode_text(out, request->method);
  pc_encode_u8(out, request->normalize != 0);
  pc_encode_u8(out, request->skip_missing != 0);
  pc_encode_u64(out, request->seed);
  pc_encode_u64(out, request->count);
  if (request->count > 0)
    fit_data_shape_encode(out, &request->shape);
  for (size_t a = 0; a < request->count; a++)
    pc_encode_fit_tally(out, &request->answers[a]);
  return pc_encoder_finish(out, err);
}

pcal_status pc_fit_request_write(const pc_fit_request *request, pcal_sink sink, void *user,
                                 pcal_error *err) {
  pc_encoder encoder;
  pc_encoder_init(&encoder, NULL, NULL);
  PC_TRY(fit_request_write_all(request, 0, &encoder, err));
  const uint64_t length = encoder.length;
  pc_encoder_init(&encoder, sink, user);
  return fit_request_write_all(request, length, &encoder, err);
}

static pcal_status fit_request_read_answers(pc_decoder *in, pc_fit_request *out,
                                            pcal_error *err) {
  const size_t count = pc_decode_count(in, FIT_ROUND_ANSWER_BYTES);
  if (count == 0 || in->failed)
    return PCAL_OK;
  PC_TRY(fit_data_shape_decode(in, out->env, &out->shape, err));
  out->answers = in->failed ? NULL : pc_alloc(out->env, count, sizeof *out->answers);
  if (out->answers == NULL)
    return in->failed ? PCAL_OK : pc_fail_memory(err, "reading a request");
  for (out->capacity = count; out->count < count && !in->failed;) {
    pc_fit_tally *answer = &out->answers[out->count++];
    pc_fit_tally_init(answer, out->env);
    PC_TRY(pc_decode_fit_tally(in, answer, err));
  }
  return PCAL_OK;
}

pcal_status pc_fit_request_read(const void *bytes, size_t length, const char *name,
                                const pcal_env *env, pc_fit_request *out, pcal_error *err) {
  pc_decoder in;
  *out = (pc_fit_request){.env = env};
  PC_TRY(pc_envelope_open(&fit_request_envelope, bytes, length, name, &in, err));
  out->id = pc_hash_bytes(bytes, length);
  out->round = pc_decode_u32(&in);
  out->method = pc_decode_text(&in, env);
  if (out->method == NULL && !in.failed)
    return pc_fail_memory(err, "reading a request");
  const unsigned normalize = pc_decode_u8(&in), skip = pc_decode_u8(&in);
  pc_decoder_expect(&in, out->round > 0 && (normalize | skip) <= 1);
  out->normalize = normalize == 1;
  out->skip_missing = skip == 1;
  out->seed = pc_decode_u64(&in);
  PC_TRY(fit_request_read_answers(&in, out, err));
  return in.failed || pc_decoder_left(&in) > 0
             ? pc_envelope_misfit(&fit_request_envelope, name, err)
             : PCAL_OK;
}

/* ---- Tallies ---- */

void pc_fit_answer_free(pc_fit_answer *answer) {
  if (answer->env == NULL)
    return;
  pc_fit_tally_free(&answer->tally);
  pc_fit_data_shape_free(answer->env, &answer->shape);
  *answer = (pc_fit_answer){.env = answer->env};
}

static pcal_status fit_answer_write_all(const pc_fit_answer *answer, uint64_t length,
                                        pc_encoder *out, pcal_error *err) {
  pc_envelope_begin(&fit_answer_envelope, length, out);
  pc_encode_u64(out, answer->id);
  pc_encode_u8(out, answer->any != 0);
  pc_encode_row_fingerprint(out, &answer->rows);
  if (answer->any) {
    fit_data_shape_encode(out, &answer->shape);
    pc_encode_fit_tally(out, &answer->tally);
  }
  return pc_encoder_finish(out, err);
}

pcal_status pc_fit_answer_write(const pc_fit_answer *answer, pcal_sink sink, void *user,
                                pcal_error *err) {
  pc_encoder encoder;
  pc_encoder_init(&encoder, NULL, NULL);
  PC_TRY(fit_answer_write_all(answer, 0, &encoder, err));
  const uint64_t length = encoder.length;
  pc_encoder_init(&encoder, sink, user);
  return fit_answer_write_all(answer, length, &encoder, err);
}

pcal_status pc_fit_answer_read(const void *bytes, size_t length, const char *name,
                               const pcal_env *env, pc_fit_answer *out, pcal_error *err) {
  pc_decoder in;
  *out = (pc_fit_answer){.env = env};
  pc_fit_tally_init(&out->tally, env);
  PC_TRY(pc_envelope_open(&fit_answer_envelope, bytes, length, name, &in, err));
  out->id = pc_decode_u64(&in);
  const unsigned any = pc_decode_u8(&in);
  pc_decoder_expect(&in, any <= 1);
  pc_decode_row_fingerprint(&in, &out->rows);
  if (any == 1 && !in.failed) {
    out->any = 1;
    PC_TRY(fit_data_shape_decode(&in, env, &out->shape, err));
    PC_TRY(pc_decode_fit_tally(&in, &out->tally, err));
  }
  return in.failed || pc_decoder_left(&in) > 0
             ? pc_envelope_misfit(&fit_answer_envelope, name, err)
             : PCAL_OK;
}

pcal_status pc_fit_answer_rows(const void *bytes, size_t length, const char *name,
                               pc_row_fingerprint *out, pcal_error *err) {
  pc_decoder in;
  PC_TRY(pc_envelope_open(&fit_answer_envelope, bytes, length, name, &in, err));
  pc_decode_u64(&in); /* id */
  pc_decode_u8(&in);  /* whether there are rows */
  pc_decode_row_fingerprint(&in, out);
  return in.failed ? pc_envelope_misfit(&fit_answer_envelope, name, err) : PCAL_OK;
}

pcal_status pc_fit_answer_merge(pc_fit_answer *into, pc_fit_answer *from, pcal_error *err) {
  if (into->id != from->id)
    return pc_fail(err, PCAL_USAGE,
                   "the tallies answer different requests; merge those of one round only");
  if (into->any && from->any) {
    PC_TRY(pc_fit_data_shape_check(&into->shape, &from->shape, err));
    PC_TRY(pc_fit_tally_merge(&into->tally, &from->tally, err));
  } else if (from->any) {
    into->any = 1;
    into->shape = from->shape;
    into->tally = from->tally;
    from->any = 0;
    from->shape = (pc_fit_data_shape){0};
    pc_fit_tally_init(&from->tally, from->env);
  }
  pc_row_fingerprint_merge(&into->rows, &from->rows);
  return PCAL_OK;
}
