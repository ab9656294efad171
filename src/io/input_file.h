/* The bytes of a file: the one place that opens, maps and looks at files for reading. */
#ifndef PC_INPUT_FILE_H
#define PC_INPUT_FILE_H

#include "base/memory.h"

typedef enum pc_input_file_kind {
  PC_INPUT_FILE_CLOSED = 0,
  PC_INPUT_FILE_BORROWED, /* somebody else's memory */
  PC_INPUT_FILE_STREAM,   /* read to its end into memory: standard input, pipes, terminals */
  PC_INPUT_FILE_MAPPED,   /* a regular file, mapped */
  PC_INPUT_FILE_READ,     /* a regular file, read into memory */
  PC_INPUT_FILE_WINDOWS /* a regular file of which only the beginning is in memory: the rest is for
                        pc_input_file_read_at */
} pc_input_file_kind;

typedef struct pc_input_file {
  pc_input_file_kind kind;
  const pcal_env *env;
  const char *name; /* for sentences: the path, or "standard input" */
  const unsigned char *data;
  size_t length; /* never 0; of the file, also where not all of it is in memory */
  void *block;   /* what to release: memory or mapping */
  char *owned_name;
  int descriptor; /* of a file that is mapped or read by windows, else -1 */
} pc_input_file;

/* Files up to this size are read as a whole. */
#define PC_INPUT_FILE_WHOLE ((size_t)64 << 20)
/* Of larger ones that are read by windows, so much is in memory. */
#define PC_INPUT_FILE_HEAD ((size_t)1 << 20)

/* Opens a file; "-" is standard input.  Regular files are mapped if env->map_files says so,
 * else read; those beyond PC_INPUT_FILE_WHOLE that are called .npy are left for pc_input_file_read_at.
 * env must outlive the bytes.  Fails with PCAL_IO when it cannot be read, PCAL_DATA when it is
 * empty, PCAL_MEMORY when a stream does not fit the memory or env->memory_limit. */
PC_CHECKED pcal_status pc_input_file_open(const char *path, const pcal_env *env,
                                          pc_input_file *out, pcal_error *err);

/* Reads bytes [offset, offset + count) of a file that is read by windows.  Fails with PCAL_IO
 * when the file has become shorter. */
PC_CHECKED pcal_status pc_input_file_read_at(const pc_input_file *bytes, size_t offset,
                                             size_t count, void *out, pcal_error *err);

/* Bytes in memory under a name; both must outlive out. */
void pc_input_file_from_memory(const char *name, const void *data, size_t length,
                               pc_input_file *out);

/* Fails with PCAL_IO when a mapped file has become shorter.  To be called before a window of
 * it is touched, and once more at the end: what was cut off inside a page reads as zeros. */
PC_CHECKED pcal_status pc_input_file_check(const pc_input_file *bytes, pcal_error *err);

void pc_input_file_close(pc_input_file *bytes);

/* Is there a file of this name that is not a directory? */
int pc_input_file_exists(const char *path);

#endif
