/* Unpacks compressed input files: gzip, and zstd where libzstd was found at build time. */
#ifndef PC_INPUT_UNPACK_H
#define PC_INPUT_UNPACK_H

#include "io/input_file.h"

typedef enum pc_compression {
  PC_COMPRESSION_NONE,
  PC_COMPRESSION_GZIP,
  PC_COMPRESSION_ZSTD
} pc_compression;

/* The compression that an extension names: ".gz", ".zst" or ".zstd", in any case. */
pc_compression pc_compression_of_name(const char *name);

/* The compression that the first bytes show. */
pc_compression pc_compression_of_bytes(const unsigned char *data, size_t length);

/* Length of a file name without the extension of its compression. */
size_t pc_compression_name_length(const char *name);

/* Unpacked bytes are at most PC_UNPACK_RATIO times the packed ones, above PC_UNPACK_FREE bytes,
 * and at most env->memory_limit or, without one, PC_UNPACK_MAX. */
#define PC_UNPACK_RATIO 200
#define PC_UNPACK_FREE (UINT64_C(1) << 28)
#define PC_UNPACK_MAX (UINT64_C(1) << 32)

typedef struct pc_unpacked {
  unsigned char *data; /* owned by the caller, from the allocator of the file's environment */
  size_t length;
} pc_unpacked;

/* Unpacks the whole file.  Fails with PCAL_DATA if it is not compressed in that way or damaged,
 * with PCAL_MEMORY above the limits, and with PCAL_USAGE for zstd in a build without it. */
PC_CHECKED pcal_status pc_input_unpack(const pc_input_file *bytes, pc_compression compression,
                                       pc_unpacked *out, pcal_error *err);

#endif
