/* Edge cases:
 *  1. several compressed files one after another (cat a.gz b.gz) unpack to one, as with gzip
 *     and zstd; other bytes after the end are refused.
 *  2. the buffer grows by half: it never holds more than 1.5 times what was unpacked, so
 *     memory follows what the file really contains, not what it claims.
 *  3. the limits of input_unpack.h are checked while unpacking.
 *  4. the memory of zlib and libzstd comes from the environment; a zstd window above
 *     UNPACK_WINDOW_MAX, the limit of the program zstd, is refused. */
#include "io/input_unpack.h"

#include <inttypes.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>
#ifdef PC_HAVE_ZSTD
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#endif

#include "base/budget.h"

#define UNPACK_STEP ((size_t)1 << 22) /* bytes between checks for interruption */
#define UNPACK_FIRST ((size_t)1 << 16)
#define UNPACK_WINDOW_MAX ((size_t)1 << 27)

/* ---- Names and first bytes ---- */

static const struct {
  const char *extension;
  pc_compression compression;
} unpack_extensions[] = {{".gz", PC_COMPRESSION_GZIP},
                         {".zst", PC_COMPRESSION_ZSTD},
                         {".zstd", PC_COMPRESSION_ZSTD}};

static int unpack_ends_with(const char *name, size_t length, const char *end) {
  const size_t count = strlen(end);
  for (size_t i = 0; i < count && count < length; i++) {
    const char c = name[length - count + i];
    if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != end[i])
      return 0;
  }
  return count < length;
}

/* Index of the extension that a name ends with; the number of extensions if none. */
static size_t unpack_extension(const char *name) {
  size_t i = 0;
  const size_t count = sizeof unpack_extensions / sizeof *unpack_extensions;
  while (i < count && !unpack_ends_with(name, strlen(name), unpack_extensions[i].extension))
    i++;
  return i;
}

pc_compression pc_compression_of_name(const char *name) {
  const size_t i = unpack_extension(name);
  return i < sizeof unpack_extensions / sizeof *unpack_extensions
             ? unpack_extensions[i].compression
             : PC_COMPRESSION_NONE;
}

size_t pc_compression_name_length(const char *name) {
  const size_t i = unpack_extension(name);
  return strlen(name) - (i < sizeof unpack_extensions / sizeof *unpack_extensions
                             ? strlen(unpack_extensions[i].extension)
                             : 0);
}

pc_compression pc_compression_of_bytes(const unsigned char *data, size_t length) {
  if (length >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0)
    return PC_COMPRESSION_GZIP;
  if (length >= 4 && memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0)
    return PC_COMPRESSION_ZSTD;
  return PC_COMPRESSION_NONE;
}

/* ---- The buffer ---- */

typedef struct unpack_job {
  const pc_input_file *bytes;
  pcal_env env; /* counts blocks as unpacked data */
  size_t taken; /* packed bytes read */
  pc_unpacked *out;
  size_t capacity;
} unpack_job;

static pcal_status unpack_damaged(const unpack_job *job, const char *what, pcal_error *err) {
  return pc_fail(err, PCAL_DATA, "%s is damaged: %s; copy or write the file again",
                 job->bytes->name, what);
}

static pcal_status unpack_check_size(const unpack_job *job, size_t length, pcal_error *err) {
  const pc_input_file *bytes = job->bytes;
  const uint64_t given = bytes->env->memory_limit;
  const uint64_t limit = given > 0 ? given : PC_UNPACK_MAX;
  if (length > PC_UNPACK_FREE && length / PC_UNPACK_RATIO > bytes->length)
    return pc_fail(err, PCAL_MEMORY,
                   "%s unpacks from %zu to more than %zu bytes, over %d times as many; unpack "
                   "it yourself if you trust it",
                   bytes->name, bytes->length, length, PC_UNPACK_RATIO);
  if (length > limit)
    return pc_fail(err, PCAL_MEMORY,
                   "%s unpacks to more than the limit of %" PRIu64
                   " bytes; unpack it to a file, which is read in pieces, or raise "
                   "{memory_limit}",
                   bytes->name, limit);
  return PCAL_OK;
}

/* Makes room for more unpacked bytes. */
static pcal_status unpack_grow(unpack_job *job, pcal_error *err) {
  const size_t wanted = job->capacity == 0 ? UNPACK_FIRST : job->capacity + job->capacity / 2;
  PC_TRY(pc_check_interrupt(job->bytes->env, err));
  PC_TRY(pc_input_file_check(job->bytes, err));
  PC_TRY(unpack_check_size(job, job->out->length, err));
  if (job->out->length < job->capacity)
    return PCAL_OK;
  void *grown = pc_resize(&job->env, job->out->data, wanted, 1);
  if (grown == NULL)
    return pc_fail_memory(err, "unpacking a file");
  job->out->data = grown;
  job->capacity = wanted;
  return PCAL_OK;
}

static size_t unpack_step(size_t left) {
  return left < UNPACK_STEP ? left : UNPACK_STEP;
}

/* ---- gzip ---- */

static void *unpack_alloc(void *user, unsigned count, unsigned size) {
  return pc_alloc(user, count, size);
}

static void unpack_free(void *user, void *block) {
  pc_free(user, block);
}

/* Unpacks one gzip member; job->taken moves past it. */
static pcal_status unpack_gzip_member(unpack_job *job, z_stream *stream, pcal_error *err) {
  const pc_input_file *bytes = job->bytes;
  pc_unpacked *out = job->out;
  int code = Z_OK;
  while (code == Z_OK) {
    PC_TRY(unpack_grow(job, err));
    const size_t in = unpack_step(bytes->length - job->taken);
    const size_t room = unpack_step(job->capacity - out->length);
    stream->next_in = bytes->data + job->taken;
    stream->avail_in = (unsigned)in;
    stream->next_out = out->data + out->length;
    stream->avail_out = (unsigned)room;
    code = inflate(stream, Z_NO_FLUSH);
    job->taken += in - stream->avail_in;
    out->length += room - stream->avail_out;
  }
  if (code == Z_MEM_ERROR)
    return pc_fail_memory(err, "unpacking a file");
  if (code == Z_BUF_ERROR)
    return unpack_damaged(job, "its end is missing", err);
  return code == Z_STREAM_END ? PCAL_OK
                              : unpack_damaged(job, "its packed bytes cannot be unpacked", err);
}

static pcal_status unpack_gzip_members(unpack_job *job, z_stream *stream, pcal_error *err) {
  const pc_input_file *bytes = job->bytes;
  do {
    if (pc_compression_of_bytes(bytes->data + job->taken, bytes->length - job->taken) !=
        PC_COMPRESSION_GZIP)
      return unpack_damaged(job, "bytes that are not gzip follow its end", err);
    inflateReset(stream);
    PC_TRY(unpack_gzip_member(job, stream, err));
  } while (job->taken < bytes->length);
  return PCAL_OK;
}

static pcal_status unpack_gzip(unpack_job *job, pcal_error *err) {
  z_stream stream = {.zalloc = unpack_alloc, .zfree = unpack_free, .opaque = &job->env};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) /* 16: with the header of gzip */
    return pc_fail_memory(err, "unpacking a file");
  const pcal_status status = unpack_gzip_members(job, &stream, err);
  inflateEnd(&stream);
  return status;
}

/* ---- zstd ---- */

#ifdef PC_HAVE_ZSTD
static pcal_status unpack_zstd_frame(unpack_job *job, ZSTD_DStream *stream, pcal_error *err) {
  const pc_input_file *bytes = job->bytes;
  pc_unpacked *out = job->out;
  size_t more = 1;
  while (more != 0) {
    PC_TRY(unpack_grow(job, err));
    ZSTD_inBuffer in = {bytes->data + job->taken, unpack_step(bytes->length - job->taken), 0};
    ZSTD_outBuffer room = {out->data + out->length, unpack_step(job->capacity - out->length),
                           0};
    more = ZSTD_decompressStream(stream, &room, &in);
    if (ZSTD_isError(more))
      return unpack_damaged(job, "its packed bytes cannot be unpacked", err);
    job->taken += in.pos;
    out->length += room.pos;
    if (more != 0 && in.pos == 0 && room.pos == 0)
      return unpack_damaged(job, "its end is missing", err);
  }
  return PCAL_OK;
}

/* Unpacks one frame in a workspace of the environment. */
static pcal_status unpack_zstd_one(unpack_job *job, pcal_error *err) {
  const unsigned char *frame = job->bytes->data + job->taken;
  const size_t left = job->bytes->length - job->taken;
  const size_t needed = ZSTD_estimateDStreamSize_fromFrame(frame, left);
  if (ZSTD_isError(needed))
    return unpack_damaged(job,
                          job->taken == 0 ? "it does not begin with a zstd frame"
                                          : "bytes that are not zstd follow its end",
                          err);
  if (needed > 2 * UNPACK_WINDOW_MAX)
    return pc_fail(err, PCAL_MEMORY,
                   "%s needs a zstd window of more than %zu bytes; compress it without --long",
                   job->bytes->name, UNPACK_WINDOW_MAX);
  void *workspace = pc_alloc_raw(&job->env, needed, 1);
  if (workspace == NULL)
    return pc_fail_memory(err, "unpacking a file");
  ZSTD_DStream *stream = ZSTD_initStaticDStream(workspace, needed);
  pcal_status status = PCAL_OK;
  if (stream == NULL)
    status = unpack_damaged(job, "its zstd frame has an unknown form", err);
  if (status == PCAL_OK) {
    ZSTD_DCtx_setMaxWindowSize(stream, UNPACK_WINDOW_MAX);
    status = unpack_zstd_frame(job, stream, err);
  }
  pc_free(&job->env, workspace);
  return status;
}

static pcal_status unpack_zstd(unpack_job *job, pcal_error *err) {
  while (job->taken < job->bytes->length)
    PC_TRY(unpack_zstd_one(job, err));
  return PCAL_OK;
}
#else
static pcal_status unpack_zstd(unpack_job *job, pcal_error *err) {
  return pc_fail(
      err, PCAL_USAGE,
      "%s is compressed by zstd, which this build of propercal cannot read; unpack it "
      "with zstd -d, or build propercal where libzstd is installed",
      job->bytes->name);
}
#endif

pcal_status pc_input_unpack(const pc_input_file *bytes, pc_compression compression,
                            pc_unpacked *out, pcal_error *err) {
  *out = (pc_unpacked){0};
  unpack_job job = {
      .bytes = bytes, .env = pc_env_for_use(bytes->env, PC_MEMORY_UNPACKED), .out = out};
  if (pc_compression_of_bytes(bytes->data, bytes->length) != compression)
    return pc_fail(err, PCAL_DATA, "%s is not compressed by %s; give it its right extension",
                   bytes->name, compression == PC_COMPRESSION_GZIP ? "gzip" : "zstd");
  const pcal_status status =
      compression == PC_COMPRESSION_GZIP ? unpack_gzip(&job, err) : unpack_zstd(&job, err);
  if (status != PCAL_OK) {
    pc_free(&job.env, out->data);
    *out = (pc_unpacked){0};
  }
  return status;
}
