/* Edge cases:
 *  1. a regular file is mapped if env->map_files is set and mapping succeeds; otherwise it
 *     is read.
 *  2. a regular file of length 0 is read like a stream, since generated files, such as those in
 *     /proc, have length 0; if nothing can be read the file is empty.
 *  3. devices are refused, since they may never end, except terminals and devices that end
 *     at once, such as /dev/null, which counts as empty.
 *  4. a file that grows is read up to its length at opening. */
#include "io/input_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/executor.h"
#include "io/input_unpack.h"
#include "io/output_journal.h"
#include "system/paths.h"

#define INPUT_FILE_SLICE ((size_t)2 << 20) /* bytes of a mapping that a task gives back */
#define INPUT_FILE_FORGET_COST 0.05        /* nanoseconds per byte, for the executor */

#define INPUT_FILE_FIRST_BLOCK 65536
#define INPUT_FILE_STEP ((size_t)8 << 20) /* bytes between checks for interruption */

static pcal_status input_file_fail_errno(const char *name, int code, pcal_error *err) {
  char reason[PC_SYSTEM_TEXT];
  const pc_error_kind kind = pc_error_classify(code);
  if (kind == PC_ERROR_MISSING)
    return pc_fail(err, PCAL_IO, "%s: there is no such file; check the name", name);
  if (kind == PC_ERROR_DENIED)
    return pc_fail(err, PCAL_IO, "%s: no permission to read the file; change its mode", name);
  if (kind == PC_ERROR_NOT_A_FILE)
    return pc_fail(err, PCAL_IO, "%s is a socket or a device, not a file; name a file", name);
  return pc_fail(err, PCAL_IO, "%s: the file could not be read (%s); check the file system",
                 name, pc_error_text(code, reason));
}

static pcal_status input_file_within_limit(const pc_input_file *bytes, size_t needed,
                                           pcal_error *err) {
  const uint64_t limit = bytes->env->memory_limit;
  if (limit == 0 || needed <= limit)
    return PCAL_OK;
  return pc_fail(err, PCAL_MEMORY,
                 "%s holds more than the memory limit of %" PRIu64
                 " bytes; write it to a file, which is read piece by piece, or raise "
                 "{memory_limit}",
                 bytes->name, limit);
}

static pcal_status input_file_grow(pc_input_file *bytes, size_t *capacity, pcal_error *err) {
  const pcal_env env = pc_env_for_use(bytes->env, PC_MEMORY_STREAM);
  const size_t wanted = *capacity == 0 ? INPUT_FILE_FIRST_BLOCK : *capacity + *capacity / 2;
  void *grown = pc_resize(&env, bytes->block, wanted, 1);
  if (grown == NULL)
    return pc_fail_memory(err, "reading a stream");
  bytes->block = grown;
  bytes->data = grown;
  *capacity = wanted;
  return PCAL_OK;
}

static pcal_status input_file_read_stream(pc_input_file *bytes, int descriptor,
                                          pcal_error *err) {
  size_t capacity = 0;
  bytes->kind = PC_INPUT_FILE_STREAM;
  for (;;) {
    if (bytes->length == capacity)
      PC_TRY(input_file_grow(bytes, &capacity, err));
    PC_TRY(pc_check_interrupt(bytes->env, err));
    const int64_t got = pc_file_read(descriptor, (char *)bytes->block + bytes->length,
                                     capacity - bytes->length);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return input_file_fail_errno(bytes->name, errno, err);
    if (got == 0)
      return PCAL_OK;
    bytes->length += (size_t)got;
    PC_TRY(input_file_within_limit(bytes, bytes->length, err));
  }
}

/* True for a device other than a terminal that yields bytes. */
static int input_file_is_device(int descriptor) {
  pc_file_info about;
  char first;
  if (pc_file_describe(descriptor, &about) != 0)
    return 0;
  return about.kind == PC_FILE_BLOCK_DEVICE ||
         (about.kind == PC_FILE_CHARACTER_DEVICE && !pc_file_is_terminal(descriptor) &&
          pc_file_read(descriptor, &first, 1) > 0);
}

static pcal_status input_file_read_all(pc_input_file *bytes, int descriptor, pcal_error *err) {
  if (input_file_is_device(descriptor))
    return pc_fail(err, PCAL_IO, "%s is a device, not a file; name a file or a pipe",
                   bytes->name);
  return input_file_read_stream(bytes, descriptor, err);
}

static int input_file_map(pc_input_file *bytes, int descriptor, size_t length) {
  void *mapping = pc_file_map(descriptor, length);
  if (mapping == NULL)
    return 0;
  bytes->kind = PC_INPUT_FILE_MAPPED;
  bytes->block = mapping;
  bytes->data = mapping;
  bytes->length = length;
  bytes->descriptor = descriptor;
  return 1;
}

static pcal_status input_file_shrank(const pc_input_file *bytes, size_t now, pcal_error *err) {
  return pc_fail(
      err, PCAL_IO,
      "%s shrank from %zu to %zu bytes while it was being read; try again when nothing "
      "writes to it",
      bytes->name, bytes->length, now);
}

static pcal_status input_file_fill(const pc_input_file *bytes, int descriptor, size_t offset,
                                   size_t count, char *out, pcal_error *err) {
  for (size_t done = 0; done < count;) {
    PC_TRY(pc_check_interrupt(bytes->env, err));
    const size_t left = count - done, some = left < INPUT_FILE_STEP ? left : INPUT_FILE_STEP;
    const int64_t got = pc_file_read_at(descriptor, out + done, some, offset + done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return input_file_fail_errno(bytes->name, errno, err);
    if (got == 0)
      return input_file_shrank(bytes, offset + done, err);
    done += (size_t)got;
  }
  return PCAL_OK;
}

pcal_status pc_input_file_read_at(const pc_input_file *bytes, size_t offset, size_t count,
                                  void *out, pcal_error *err) {
  return input_file_fill(bytes, bytes->descriptor, offset, count, out, err);
}

static int input_file_is_npy(const char *name) {
  const size_t length = strlen(name);
  return length > 4 && strcmp(name + length - 4, ".npy") == 0;
}

/* Reads a regular file into memory.  Of a large .npy file only the beginning is read, and bytes
 * takes ownership of the descriptor. */
static pcal_status input_file_read_regular(pc_input_file *bytes, int descriptor, size_t length,
                                           pcal_error *err) {
  const int windows = length > PC_INPUT_FILE_WHOLE && input_file_is_npy(bytes->name);
  const size_t count = windows ? PC_INPUT_FILE_HEAD : length;
  const uint64_t limit = bytes->env->memory_limit;
  if (limit > 0 && count > limit)
    return pc_fail(
        err, PCAL_MEMORY,
        "%s has %zu bytes, more than the memory limit of %" PRIu64
        "; save the numbers as .npy, which is read piece by piece, or raise the limit",
        bytes->name, count, limit);
  bytes->block = pc_alloc_raw(bytes->env, count, 1);
  if (bytes->block == NULL)
    return pc_fail_memory(err, "reading a file");
  bytes->kind = windows ? PC_INPUT_FILE_WINDOWS : PC_INPUT_FILE_READ;
  bytes->data = bytes->block;
  bytes->length = length;
  if (windows)
    bytes->descriptor = descriptor;
  return input_file_fill(bytes, descriptor, 0, count, bytes->block, err);
}

/* Takes ownership of the descriptor if the file is mapped or read by windows. */
static pcal_status input_file_read_file(pc_input_file *bytes, int descriptor, pcal_error *err) {
  pc_file_info about;
  if (pc_file_describe(descriptor, &about) != 0)
    return input_file_fail_errno(bytes->name, errno, err);
  if (about.kind == PC_FILE_DIRECTORY)
    return pc_fail(err, PCAL_IO, "%s is a directory; name a file in it", bytes->name);
  const int regular = about.kind == PC_FILE_REGULAR && about.size > 0 && about.size <= SIZE_MAX;
  if (regular && bytes->env->map_files && input_file_map(bytes, descriptor, (size_t)about.size))
    return PCAL_OK;
  if (regular)
    return input_file_read_regular(bytes, descriptor, (size_t)about.size, err);
  return input_file_read_all(bytes, descriptor, err);
}

static pcal_status input_file_open_path(pc_input_file *bytes, const char *path,
                                        pcal_error *err) {
  int descriptor;
  do {
    PC_TRY(pc_check_interrupt(bytes->env, err));
    descriptor = pc_file_open(path);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0)
    return input_file_fail_errno(bytes->name, errno, err);
  const pcal_status status = input_file_read_file(bytes, descriptor, err);
  if (bytes->descriptor < 0)
    pc_file_close(descriptor);
  return status;
}

/* Frees the content, and keeps the name. */
static void input_file_drop(pc_input_file *bytes) {
  if (bytes->kind == PC_INPUT_FILE_MAPPED)
    pc_file_unmap(bytes->block, bytes->length);
  else if (bytes->kind != PC_INPUT_FILE_BORROWED && bytes->block != NULL)
    pc_free(bytes->env, bytes->block);
  if (bytes->descriptor >= 0 && bytes->kind != PC_INPUT_FILE_CLOSED)
    pc_file_close(bytes->descriptor);
  bytes->descriptor = -1;
  bytes->block = NULL;
}

static pcal_status input_file_forget_slice(void *user, size_t index, size_t worker,
                                           pcal_error *err) {
  const pc_input_file *bytes = user;
  const size_t begin = index * INPUT_FILE_SLICE, left = bytes->length - begin;
  (void)worker;
  (void)err;
  pc_file_map_forget((char *)bytes->block + begin,
                     left < INPUT_FILE_SLICE ? left : INPUT_FILE_SLICE);
  return PCAL_OK;
}

void pc_input_file_forget(const pc_input_file *bytes, const pcal_env *env) {
  pc_input_file some = *bytes;
  const size_t slices = (bytes->length - 1) / INPUT_FILE_SLICE + 1;
  if (bytes->kind == PC_INPUT_FILE_MAPPED && slices > 1)
    pc_run_quietly(env, slices, INPUT_FILE_FORGET_COST * (double)bytes->length,
                   input_file_forget_slice, &some);
}

/* Replaces the content of a compressed file by what it unpacks to. */
static pcal_status input_file_unpack(pc_input_file *bytes, pcal_error *err) {
  const int is_stream = bytes->kind == PC_INPUT_FILE_STREAM;
  pc_compression compression = pc_compression_of_name(bytes->name);
  pc_unpacked unpacked;
  if (compression == PC_COMPRESSION_NONE && is_stream)
    compression = pc_compression_of_bytes(bytes->data, bytes->length);
  if (compression == PC_COMPRESSION_NONE)
    return PCAL_OK;
  PC_TRY(pc_input_unpack(bytes, compression, &unpacked, err));
  input_file_drop(bytes);
  bytes->kind = is_stream ? PC_INPUT_FILE_STREAM : PC_INPUT_FILE_READ;
  bytes->block = unpacked.data;
  bytes->data = unpacked.data;
  bytes->length = unpacked.length;
  return PCAL_OK;
}

static pcal_status input_file_not_empty(const pc_input_file *bytes, pcal_error *err) {
  return bytes->length > 0
             ? PCAL_OK
             : pc_fail(err, PCAL_DATA, "%s is empty; give a file with at least one row",
                       bytes->name);
}

pcal_status pc_input_file_open(const char *path, const pcal_env *env, pc_input_file *out,
                               pcal_error *err) {
  const int is_input = strcmp(path, "-") == 0;
  *out = (pc_input_file){.env = env, .descriptor = -1};
  out->owned_name = pc_copy_text(env, is_input ? "standard input" : path);
  if (out->owned_name == NULL)
    return pc_fail_memory(err, "opening a file");
  out->name = out->owned_name;
  if (!is_input)
    pc_output_journal_replay(path, env);
  pcal_status status = is_input ? input_file_read_all(out, PC_STANDARD_INPUT, err)
                                : input_file_open_path(out, path, err);
  if (status == PCAL_OK)
    status = input_file_not_empty(out, err);
  if (status == PCAL_OK)
    status = input_file_unpack(out, err);
  if (status == PCAL_OK)
    status = input_file_not_empty(out, err);
  if (status != PCAL_OK)
    pc_input_file_close(out);
  return status;
}

void pc_input_file_from_memory(const char *name, const void *data, size_t length,
                               pc_input_file *out) {
  *out = (pc_input_file){.kind = PC_INPUT_FILE_BORROWED, .descriptor = -1};
  out->name = name;
  out->data = data;
  out->length = length;
}

pcal_status pc_input_file_check(const pc_input_file *bytes, pcal_error *err) {
  pc_file_info about;
  if (bytes->kind != PC_INPUT_FILE_MAPPED && bytes->kind != PC_INPUT_FILE_WINDOWS)
    return PCAL_OK;
  if (pc_file_describe(bytes->descriptor, &about) != 0)
    return input_file_fail_errno(bytes->name, errno, err);
  if (about.size >= bytes->length)
    return PCAL_OK;
  return input_file_shrank(bytes, (size_t)about.size, err);
}

void pc_input_file_close(pc_input_file *bytes) {
  input_file_drop(bytes);
  if (bytes->owned_name != NULL)
    pc_free(bytes->env, bytes->owned_name);
  *bytes = (pc_input_file){.descriptor = -1};
}

int pc_input_file_exists(const char *path) {
  pc_file_info about;
  return pc_path_describe(path, &about) == 0 && about.kind != PC_FILE_DIRECTORY;
}
