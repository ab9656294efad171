#include "base/envelope.h"

#include <string.h>

static pcal_status envelope_version(const pc_envelope *kind, pc_decoder *in, const char *name,
                                    pcal_error *err) {
  const uint32_t version = pc_decode_u32(in);
  if (version > kind->version)
    return pc_fail(err, PCAL_DATA,
                   "%s %-s by a newer propercal: its format is %lu, and this program "
                   "reads %lu; update it or %-s",
                   name, kind->saved, (unsigned long)version, (unsigned long)kind->version,
                   kind->remedy);
  if (version > 0 && version < kind->version)
    return pc_fail(err, PCAL_DATA,
                   "%s %-s by an older propercal: its format is %lu, and this program "
                   "reads %lu; %-s",
                   name, kind->saved, (unsigned long)version, (unsigned long)kind->version,
                   kind->remedy);
  return version == 0 && !in->failed ? pc_envelope_misfit(kind, name, err) : PCAL_OK;
}

static pcal_status envelope_length(const pc_envelope *kind, pc_decoder *in, size_t length,
                                   const char *name, pcal_error *err) {
  const uint64_t stated = pc_decode_u64(in);
  if (length < PC_ENVELOPE_HEAD_BYTES + PC_CHECKSUM_BYTES)
    return pc_fail(err, PCAL_DATA, "%s is cut off after %zu bytes; copy it again or %-s", name,
                   length, kind->remedy);
  if (stated > length)
    return pc_fail(err, PCAL_DATA,
                   "%s is cut off: %zu of %llu bytes are there; copy it again or %-s", name,
                   length, (unsigned long long)stated, kind->remedy);
  if (stated < length)
    return pc_fail(err, PCAL_DATA,
                   "%s has %llu bytes after the end of the %-s; copy it again or %-s", name,
                   (unsigned long long)(length - stated), kind->noun, kind->remedy);
  return PCAL_OK;
}

static pcal_status envelope_checksum(const pc_envelope *kind, const unsigned char *bytes,
                                     size_t body, const char *name, pcal_error *err) {
  pc_decoder end;
  pc_checksum checksum;
  pc_decoder_init(&end, bytes + body, PC_CHECKSUM_BYTES);
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, bytes, body);
  if (pc_decode_u32(&end) == pc_checksum_value(&checksum))
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "%s is damaged: its checksum does not match; copy it again or %-s", name,
                 kind->remedy);
}

pcal_status pc_envelope_open(const pc_envelope *kind, const void *bytes, size_t length,
                             const char *name, pc_decoder *in, pcal_error *err) {
  const size_t known = length < PC_ENVELOPE_MAGIC_BYTES ? length : PC_ENVELOPE_MAGIC_BYTES;
  if (length == 0 || memcmp(bytes, kind->magic, known) != 0)
    return pc_fail(err, PCAL_DATA, "%s %-s", name, kind->origin);
  pc_decoder_init(in, (const unsigned char *)bytes + known, length - known);
  PC_TRY(envelope_version(kind, in, name, err));
  PC_TRY(envelope_length(kind, in, length, name, err));
  PC_TRY(envelope_checksum(kind, bytes, length - PC_CHECKSUM_BYTES, name, err));
  in->end -= PC_CHECKSUM_BYTES;
  return PCAL_OK;
}

pcal_status pc_envelope_misfit(const pc_envelope *kind, const char *name, pcal_error *err) {
  return pc_fail(err, PCAL_DATA, "%s is damaged: its contents contradict each other; %-s", name,
                 kind->remedy);
}

void pc_envelope_begin(const pc_envelope *kind, uint64_t length, pc_encoder *out) {
  pc_encode_bytes(out, kind->magic, PC_ENVELOPE_MAGIC_BYTES);
  pc_encode_u32(out, kind->version);
  pc_encode_u64(out, length);
}
