/* Input files: the only place that opens, maps and reads files. */
#ifndef PC_INPUT_FILE_H
#define PC_INPUT_FILE_H

#include "base/memory.h"

typedef enum pc_input_file_kind {
  PC_INPUT_FILE_CLOSED = 0,
  PC_INPUT_FILE_BORROWED, /* memory of the caller */
  PC_INPUT_FILE_STREAM,   /* standard input, pipe or terminal, read to its end */
  PC_INPUT_FILE_MAPPED,   /* a regular file, mapped */
  PC_INPUT_FILE_READ,     /* a regular file, read into memory */
  PC_INPUT_FILE_WINDOWS /* a regular file; only its beginning is in memory, the rest is read by
                           pc_input_file_read_at */
} pc_input_file_kind;

typedef struct pc_input_file {
  pc_input_file_kind kind;
  const pcal_env *env;
  const char *name; /* for messages: the path, or "standard input" */
  const unsigned char *data;
  size_t length; /* of the whole file, never 0 */
  void *block;   /* owned memory or mapping */
  char *owned_name;
  int descriptor;     /* of a mapped file or one read by windows, else -1 */
  const char *format; /* borrowed: format of a file whose name says none; NULL: not given */
} pc_input_file;

/* Files up to this size are read into memory as a whole. */
#define PC_INPUT_FILE_WHOLE ((size_t)64 << 20)
/* Bytes kept in memory of a file read by windows. */
#define PC_INPUT_FILE_HEAD ((size_t)1 << 20)

/* Opens a file; "-" is standard input.  Regular files are mapped if env->map_files is set,
 * else read; .npy files above PC_INPUT_FILE_WHOLE are read by windows.  Files called .gz or .zst,
 * and streams that begin as such files do, are unpacked (input_unpack.h).  env must outlive the
 * result.  Fails with PCAL_IO if the file cannot be read, PCAL_DATA if it is empty,
 * PCAL_MEMORY if it exceeds the memory or env->memory_limit. */
PC_CHECKED pcal_status pc_input_file_open(const char *path, const pcal_env *env,
                                          pc_input_file *out, pcal_error *err);

/* Reads bytes [offset, offset + count) of a file read by windows.  Fails with PCAL_IO if the
 * file was truncated. */
PC_CHECKED pcal_status pc_input_file_read_at(const pc_input_file *bytes, size_t offset,
                                             size_t count, void *out, pcal_error *err);

/* Treats bytes in memory as a file called `name`; both must outlive *out. */
void pc_input_file_from_memory(const char *name, const void *data, size_t length,
                               pc_input_file *out);

/* Fails with PCAL_IO if a mapped file was truncated.  Call it before each window and once
 * more after the last: truncated bytes of the last page read as zeros. */
PC_CHECKED pcal_status pc_input_file_check(const pc_input_file *bytes, pcal_error *err);

/* Gives back the pages of a mapped file, with all threads of env: closing it is then quick. */
void pc_input_file_forget(const pc_input_file *bytes, const pcal_env *env);

void pc_input_file_close(pc_input_file *bytes);

/* True if the path exists and is not a directory. */
int pc_input_file_exists(const char *path);

#endif
