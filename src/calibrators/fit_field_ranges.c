/* The field of a tally that holds ranges of scores (fit_tally.h). */
#include "calibrators/fit_field.h"

static pcal_status field_ranges_misfit(pcal_error *err) {
  return pc_fail(
      err, PCAL_DATA,
      "the request or a tally is damaged: its ranges of scores do not fit; begin the "
      "rounds again");
}

/* Sets *out to the ranges of a field, at first without rows. */
static pcal_status field_ranges_open(const pcal_env *env, pc_fit_field *field,
                                     pc_sparse_tally **out, pcal_error *err) {
  if (field->items == NULL) {
    field->items = pc_alloc(env, 1, sizeof(pc_sparse_tally));
    if (field->items == NULL)
      return pc_fail_memory(err, "collecting a tally");
    ((pc_sparse_tally *)field->items)->env = env;
    field->count = field->capacity = 1;
  }
  *out = field->items;
  return PCAL_OK;
}

pcal_status pc_fit_field_merge_ranges(const pcal_env *env, pc_fit_field *into,
                                      const pc_sparse_tally *from, pcal_error *err) {
  pc_sparse_tally *ranges = NULL;
  if (from == NULL)
    return PCAL_OK;
  PC_TRY(field_ranges_open(env, into, &ranges, err));
  return pc_sparse_tally_merge(ranges, from, err);
}

void pc_fit_field_encode_ranges(pc_encoder *out, const pc_fit_field *field) {
  if (field->items != NULL)
    pc_encode_sparse_tally(out, field->items);
}

pcal_status pc_fit_field_decode_ranges(pc_decoder *in, const pcal_env *env, pc_fit_field *field,
                                       size_t count, pcal_error *err) {
  pc_sparse_tally *ranges = NULL;
  pc_decoder_expect(in, count <= 1);
  if (count == 0 || in->failed)
    return PCAL_OK;
  PC_TRY(field_ranges_open(env, field, &ranges, err));
  return pc_decode_sparse_tally(in, env, ranges, err);
}

pcal_status pc_fit_field_ranges(pc_fit_fields *fields, pc_bucket_tally *tally,
                                pcal_error *err) {
  const pc_fit_field like = {.kind = PC_FIT_RANGES};
  const pcal_env *env = fields->tally->env;
  pc_fit_field *field = NULL;
  pc_sparse_tally sparse;
  int fits = 1;
  PC_TRY(pc_fit_field_next(fields, &like, &field, err));
  if (tally == NULL || (fields->taking && field->items == NULL))
    return PCAL_OK;
  if (fields->taking) {
    PC_TRY(pc_sparse_tally_fill(field->items, tally, &fits, err));
    return fits ? PCAL_OK : field_ranges_misfit(err);
  }
  PC_TRY(pc_sparse_tally_new(env, tally, &sparse, err));
  const pcal_status status = pc_fit_field_merge_ranges(env, field, &sparse, err);
  pc_sparse_tally_free(&sparse);
  return status;
}
