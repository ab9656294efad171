/* Format: a byte other than 0 stands for itself; a 0 followed by a byte n stands for n zeros,
 * 1 <= n <= 255.
 *
 * Edge cases:
 *   (1) the bytes are those of a saved state, so that packing loses nothing;
 *   (2) a plan cannot be packed if the state of a machine cannot be saved, or if states depend
 *       on each other (shared grids, and grids filled by a curve). */
#include "measure/packed_group.h"

#include <string.h>

int pc_group_state_packable(const pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    if (slot->machine->save == NULL || slot->machine->load == NULL ||
        slot->curve != PC_NO_SLOT || slot->shared_grid != PC_NO_SLOT)
      return 0;
  }
  return 1;
}

/* ---- packing ---- */

typedef struct packed_sink {
  const pcal_env *env;
  pc_packed_group *packed;
  size_t capacity; /* bytes */
  size_t zeros;    /* pending: not written yet */
} packed_sink;

static int packed_room(packed_sink *sink, size_t more) {
  const size_t used = sink->packed == NULL ? 0 : sink->packed->used;
  if (sink->packed != NULL && used + more <= sink->capacity)
    return 1;
  const size_t wanted = used + more + sink->capacity / 2;
  pc_packed_group *grown = pc_resize(sink->env, sink->packed, 1, sizeof *grown + wanted);
  if (grown == NULL)
    return 0;
  if (sink->packed == NULL)
    *grown = (pc_packed_group){.used = 0};
  sink->packed = grown;
  sink->capacity = wanted;
  return 1;
}

static void packed_flush(packed_sink *sink) {
  if (sink->zeros == 0)
    return;
  sink->packed->bytes[sink->packed->used++] = 0;
  sink->packed->bytes[sink->packed->used++] = (unsigned char)sink->zeros;
  sink->zeros = 0;
}

static int packed_take(void *user, const char *bytes, size_t count) {
  packed_sink *sink = user;
  if (!packed_room(sink, 2 * count + 2))
    return 1;
  for (size_t i = 0; i < count; i++) {
    if (bytes[i] == 0 && ++sink->zeros < 255)
      continue;
    packed_flush(sink);
    if (bytes[i] != 0)
      sink->packed->bytes[sink->packed->used++] = (unsigned char)bytes[i];
  }
  sink->packed->length += count;
  return 0;
}

pcal_status pc_group_state_pack(const pc_group_states *groups, const pc_group_state *state,
                                pc_packed_group **out, pcal_error *err) {
  const pcal_env env = pc_env_for_use(groups->env, PC_MEMORY_GROUPS);
  packed_sink sink = {.env = &env};
  pc_encoder encoder;
  pc_encoder_init(&encoder, packed_take, &sink);
  pcal_status status = pc_group_state_save(groups, state, &encoder, err);
  if (status == PCAL_OK && pc_encoder_finish(&encoder, NULL) != PCAL_OK)
    status = pc_fail_memory(err, "keeping the states of groups");
  if (status != PCAL_OK) {
    pc_free(&env, sink.packed);
    return status;
  }
  packed_flush(&sink);
  sink.packed->rows = state->totals.rows;
  sink.packed->weight = pc_sum_value(&state->totals.weight);
  pc_packed_group *exact = pc_resize(&env, sink.packed, 1, sizeof *exact + sink.packed->used);
  if (exact == NULL) {
    pc_free(&env, sink.packed);
    return pc_fail_memory(err, "keeping the states of groups");
  }
  *out = exact;
  return PCAL_OK;
}

pcal_status pc_packed_group_copy(const pcal_env *env, const pc_packed_group *packed,
                                 pc_packed_group **out, pcal_error *err) {
  const pcal_env held = pc_env_for_use(env, PC_MEMORY_GROUPS);
  const size_t size = sizeof *packed + packed->used;
  pc_packed_group *copy = pc_alloc_raw(&held, 1, size);
  if (copy == NULL)
    return pc_fail_memory(err, "keeping the states of groups");
  memcpy(copy, packed, size);
  *out = copy;
  return PCAL_OK;
}

/* ---- unpacking ---- */

static void packed_expand(const pc_packed_group *packed, unsigned char *out) {
  for (size_t i = 0; i < packed->used; i++) {
    if (packed->bytes[i] != 0) {
      *out++ = packed->bytes[i];
      continue;
    }
    const size_t zeros = packed->bytes[++i];
    memset(out, 0, zeros);
    out += zeros;
  }
}

pcal_status pc_packed_group_unpack(const pc_group_states *groups, const pc_packed_group *packed,
                                   pc_group_state **out, pcal_error *err) {
  unsigned char *bytes = pc_alloc_raw(groups->env, packed->length, 1);
  if (bytes == NULL)
    return pc_fail_memory(err, "preparing states");
  packed_expand(packed, bytes);
  pc_decoder in;
  pc_decoder_init(&in, bytes, packed->length - PC_CHECKSUM_BYTES);
  const pcal_status status = pc_group_state_load(groups, &in, out, err);
  pc_free(groups->env, bytes);
  if (status == PCAL_OK && *out == NULL)
    return pc_fail(err, PCAL_INTERNAL, "the state of a group could not be read back");
  return status;
}

void pc_packed_group_save(const pc_packed_group *packed, pc_encoder *out) {
  static const unsigned char zeros[255];
  const size_t length = packed->length - PC_CHECKSUM_BYTES;
  size_t written = 0;
  for (size_t i = 0; i < packed->used && written < length; i++) {
    const int run = packed->bytes[i] == 0;
    const size_t count = run ? packed->bytes[++i] : 1, left = length - written;
    pc_encode_bytes(out, run ? zeros : &packed->bytes[i], count < left ? count : left);
    written += count;
  }
}
