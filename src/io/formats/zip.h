/* Zip archives: the directory, and the content of one entry. */
#ifndef PC_ZIP_H
#define PC_ZIP_H

#include "base/memory.h"
#include "io/input_file.h"
#include "io/slice.h"

#define PC_ZIP_STORED 0
#define PC_ZIP_DEFLATED 8

/* Largest ratio of unpacked to packed size that deflate can reach: 258 bytes for 2 bits. */
#define PC_ZIP_RATIO_MAX 1032
/* Largest accepted ratio of an entry above PC_ZIP_FREE bytes. */
#define PC_ZIP_RATIO 200
#define PC_ZIP_FREE (UINT64_C(1) << 28)
/* Largest entry that is unpacked if env->memory_limit is 0. */
#define PC_ZIP_UNPACKED_MAX (UINT64_C(1) << 32)

typedef struct pc_zip_entry {
  pc_slice name; /* inside the archive */
  unsigned flags, method;
  uint32_t crc;
  uint64_t packed, unpacked; /* bytes */
  uint64_t header;           /* offset of its local header */
  uint64_t data;             /* offset of its packed bytes */
} pc_zip_entry;

typedef struct pc_zip {
  pc_zip_entry *entries; /* owned, in directory order */
  size_t count;
} pc_zip;

/* Reads and checks the whole directory.  Fails with PCAL_DATA unless every entry is inside
 * the file, overlaps no other, and agrees with its local header. */
PC_CHECKED pcal_status pc_zip_read(const pc_input_file *bytes, const pcal_env *env, pc_zip *out,
                                   pcal_error *err);
void pc_zip_free(const pcal_env *env, pc_zip *zip);

/* Content of an entry: inside the archive if stored, else in `block`. */
typedef struct pc_zip_content {
  const unsigned char *data;
  size_t length;
  void *block; /* owned by the caller, or NULL */
} pc_zip_content;

/* Unpacks an entry and checks its CRC-32; `name` is used in messages.  Fails with PCAL_DATA
 * if it is encrypted, compressed by another method, damaged, or not of the declared size;
 * and with PCAL_MEMORY, before unpacking, if the declared size is above the limit. */
PC_CHECKED pcal_status pc_zip_unpack(const pc_input_file *bytes, const pc_zip_entry *entry,
                                     const char *name, const pcal_env *env, pc_zip_content *out,
                                     pcal_error *err);

#endif
