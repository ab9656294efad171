/* The outside of bytes that leave the process: magic (8 bytes), format version (u32), length of
 * everything (u64), content, CRC-32C of all bytes before (u32). */
#ifndef PC_ENVELOPE_H
#define PC_ENVELOPE_H

#include "base/codec.h"

#define PC_ENVELOPE_MAGIC_BYTES 8
#define PC_ENVELOPE_HEAD_BYTES 20 /* magic, version, length */

/* A kind of such bytes, and the words of its messages. */
typedef struct pc_envelope {
  const char *magic;
  uint32_t version;
  const char *noun;   /* "state" */
  const char *origin; /* "is not a saved state; {save_state} creates one" */
  const char *saved;  /* "was saved": by a newer propercal */
  const char *remedy; /* "measure the part again" */
} pc_envelope;

/* Checks the outside; leaves the content in *in.  Messages (PCAL_DATA) begin with `name`. */
PC_CHECKED pcal_status pc_envelope_open(const pc_envelope *kind, const void *bytes,
                                        size_t length, const char *name, pc_decoder *in,
                                        pcal_error *err);

/* The error of contents that contradict each other. */
PC_CHECKED pcal_status pc_envelope_misfit(const pc_envelope *kind, const char *name,
                                          pcal_error *err);

/* Encodes magic, version and length; pc_encoder_finish adds the checksum. */
void pc_envelope_begin(const pc_envelope *kind, uint64_t length, pc_encoder *out);

#endif
