/* Edge cases:
 *  1. a stored entry is used in place; its packed and unpacked sizes must be equal.
 *  2. the declared size is checked before unpacking: at most PC_ZIP_RATIO_MAX times the
 *     packed size, the limit of deflate; above PC_ZIP_FREE bytes at most PC_ZIP_RATIO times;
 *     and at most env->memory_limit or, without one, PC_ZIP_UNPACKED_MAX.
 *  3. unpacking stops at the declared size, where the packed bytes must end too.
 *  4. the CRC-32 of stored entries is checked as well, which reads them once.
 *  5. zlib allocates from the environment. */
#include <inttypes.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/budget.h"
#include "io/formats/zip.h"

#define ZIP_UNPACK_STEP (1u << 24) /* bytes between checks for interruption */
#define ZIP_UNPACK_ENCRYPTED (1u | 1u << 6 | 1u << 13)

/* An entry being unpacked. */
typedef struct zip_unpack_job {
  const pc_input_file *bytes;
  const pc_zip_entry *entry;
  const char *name;
  const pcal_env *env;
} zip_unpack_job;

static void *zip_unpack_alloc(void *user, unsigned count, unsigned size) {
  return pc_alloc(user, count, size);
}

static void zip_unpack_free(void *user, void *block) {
  pc_free(user, block);
}

static pcal_status zip_unpack_damaged(const zip_unpack_job *job, const char *what,
                                      pcal_error *err) {
  return pc_fail(err, PCAL_DATA, "%s is damaged: %s; copy or write the file again", job->name,
                 what);
}

static pcal_status zip_unpack_check_method(const zip_unpack_job *job, pcal_error *err) {
  const pc_zip_entry *entry = job->entry;
  if ((entry->flags & ZIP_UNPACK_ENCRYPTED) != 0)
    return pc_fail(err, PCAL_DATA, "%s is encrypted; write the file without a password",
                   job->name);
  if (entry->method != PC_ZIP_STORED && entry->method != PC_ZIP_DEFLATED)
    return pc_fail(err, PCAL_DATA,
                   "%s is compressed by method %u; write it with numpy.savez or "
                   "numpy.savez_compressed",
                   job->name, entry->method);
  if (entry->method == PC_ZIP_STORED && entry->packed != entry->unpacked)
    return zip_unpack_damaged(job, "it is stored, but its two sizes differ", err);
  return PCAL_OK;
}

static pcal_status zip_unpack_check_size(const zip_unpack_job *job, pcal_error *err) {
  const pc_zip_entry *entry = job->entry;
  const uint64_t limit =
      job->env->memory_limit > 0 ? job->env->memory_limit : PC_ZIP_UNPACKED_MAX;
  if (entry->unpacked / PC_ZIP_RATIO_MAX > entry->packed)
    return pc_fail(err, PCAL_DATA,
                   "%s claims to unpack from %" PRIu64 " to %" PRIu64
                   " bytes, more than deflate can compress; the file is damaged or "
                   "malicious, so do not trust it",
                   job->name, entry->packed, entry->unpacked);
  if (entry->unpacked > PC_ZIP_FREE && entry->unpacked / PC_ZIP_RATIO > entry->packed)
    return pc_fail(err, PCAL_MEMORY,
                   "%s unpacks from %" PRIu64 " to %" PRIu64
                   " bytes, more than %d times as many; write the file with numpy.savez, which "
                   "is read in place",
                   job->name, entry->packed, entry->unpacked, PC_ZIP_RATIO);
  if (entry->unpacked > limit || entry->unpacked > SIZE_MAX / 2)
    return pc_fail(err, PCAL_MEMORY,
                   "%s unpacks to %" PRIu64 " bytes, more than the limit of %" PRIu64
                   "; write the file with numpy.savez, which is read in place",
                   job->name, entry->unpacked, limit);
  return PCAL_OK;
}

static pcal_status zip_unpack_check_crc(const zip_unpack_job *job, const unsigned char *data,
                                        uint64_t length, pcal_error *err) {
  uLong crc = crc32(0, NULL, 0);
  for (uint64_t at = 0; at < length;) {
    const uint64_t left = length - at;
    const unsigned step = left < ZIP_UNPACK_STEP ? (unsigned)left : ZIP_UNPACK_STEP;
    PC_TRY(pc_check_interrupt(job->env, err));
    PC_TRY(pc_input_file_check(job->bytes, err));
    crc = crc32(crc, data + at, step);
    at += step;
  }
  PC_TRY(pc_input_file_check(job->bytes, err));
  if (crc != job->entry->crc)
    return zip_unpack_damaged(job, "its CRC-32 is not the one that was written", err);
  return PCAL_OK;
}

/* Unpacks into the block, step by step. */
static pcal_status zip_unpack_inflate(const zip_unpack_job *job, z_stream *stream,
                                      unsigned char *block, pcal_error *err) {
  const unsigned char *packed = job->bytes->data + job->entry->data;
  uint64_t in_left = job->entry->packed, out_left = job->entry->unpacked;
  int code = Z_OK;
  unsigned char beyond;
  while (code == Z_OK) {
    PC_TRY(pc_check_interrupt(job->env, err));
    PC_TRY(pc_input_file_check(job->bytes, err));
    const unsigned in = in_left < ZIP_UNPACK_STEP ? (unsigned)in_left : ZIP_UNPACK_STEP;
    const unsigned out = out_left < ZIP_UNPACK_STEP ? (unsigned)out_left : ZIP_UNPACK_STEP;
    stream->next_in = packed;
    stream->avail_in = in;
    stream->next_out = out > 0 ? block : &beyond;
    stream->avail_out = out > 0 ? out : 1;
    code = inflate(stream, Z_NO_FLUSH);
    const unsigned taken = in - stream->avail_in;
    const unsigned given = (out > 0 ? out : 1) - stream->avail_out;
    if (code == Z_MEM_ERROR)
      return pc_fail_memory(err, "unpacking an array");
    if (given > out_left)
      return zip_unpack_damaged(job, "it unpacks to more than its declared size", err);
    packed += taken;
    in_left -= taken;
    block += given;
    out_left -= given;
  }
  if (code != Z_STREAM_END)
    return zip_unpack_damaged(job, "its packed bytes cannot be unpacked", err);
  if (out_left > 0 || in_left > 0)
    return zip_unpack_damaged(job, "it is not as long as declared", err);
  return PCAL_OK;
}

static pcal_status zip_unpack_deflated(const zip_unpack_job *job, pc_zip_content *out,
                                       pcal_error *err) {
  pcal_env env = pc_env_for_use(job->env, PC_MEMORY_UNPACKED);
  z_stream stream = {.zalloc = zip_unpack_alloc, .zfree = zip_unpack_free, .opaque = &env};
  out->length = (size_t)job->entry->unpacked;
  out->block = pc_alloc_raw(&env, out->length, 1);
  out->data = out->block;
  if (out->block == NULL || inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return pc_fail_memory(err, "unpacking an array");
  const pcal_status status = zip_unpack_inflate(job, &stream, out->block, err);
  inflateEnd(&stream);
  PC_TRY(status);
  return zip_unpack_check_crc(job, out->data, out->length, err);
}

pcal_status pc_zip_unpack(const pc_input_file *bytes, const pc_zip_entry *entry,
                          const char *name, const pcal_env *env, pc_zip_content *out,
                          pcal_error *err) {
  const zip_unpack_job job = {bytes, entry, name, env};
  *out = (pc_zip_content){0};
  PC_TRY(zip_unpack_check_method(&job, err));
  if (entry->method == PC_ZIP_STORED) {
    out->data = bytes->data + entry->data;
    out->length = (size_t)entry->unpacked;
    return zip_unpack_check_crc(&job, out->data, out->length, err);
  }
  PC_TRY(zip_unpack_check_size(&job, err));
  const pcal_status status = zip_unpack_deflated(&job, out, err);
  if (status != PCAL_OK) {
    pc_free(env, out->block);
    *out = (pc_zip_content){0};
  }
  return status;
}
