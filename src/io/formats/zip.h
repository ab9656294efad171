/* Zip archives: their directory, and the bytes of one entry. */
#ifndef PC_ZIP_H
#define PC_ZIP_H

#include "base/memory.h"
#include "io/input_file.h"
#include "io/slice.h"

#define PC_ZIP_STORED 0
#define PC_ZIP_DEFLATED 8

/* Deflate writes at most 258 bytes for 2 bits, so no honest entry grows more than this. */
#define PC_ZIP_RATIO_MAX 1032
/* How much larger than packed an entry of more than PC_ZIP_FREE bytes may be. */
#define PC_ZIP_RATIO 200
#define PC_ZIP_FREE (UINT64_C(1) << 28)
/* The largest entry that is unpacked into memory when env->memory_limit is 0. */
#define PC_ZIP_UNPACKED_MAX (UINT64_C(1) << 32)

typedef struct pc_zip_entry {
  pc_slice name; /* inside the archive */
  unsigned flags, method;
  uint32_t crc;
  uint64_t packed, unpacked; /* bytes */
  uint64_t header;           /* where its local header begins */
  uint64_t data;             /* where its packed bytes begin */
} pc_zip_entry;

typedef struct pc_zip {
  pc_zip_entry *entries; /* owned, in the order of the directory */
  size_t count;
} pc_zip;

/* Reads and checks the whole directory: every entry lies inside the file, apart from all
 * others, and its local header says the same.  Fails with PCAL_DATA. */
PC_CHECKED pcal_status pc_zip_read(const pc_input_file *bytes, const pcal_env *env, pc_zip *out,
                                   pcal_error *err);
void pc_zip_free(const pcal_env *env, pc_zip *zip);

/* What an entry holds: inside the archive when it is stored, else in memory of its own. */
typedef struct pc_zip_content {
  const unsigned char *data;
  size_t length;
  void *block; /* to be freed, or NULL */
} pc_zip_content;

/* Unpacks an entry and checks its CRC-32; `name` is used in sentences.  Fails with PCAL_DATA
 * when it is encrypted, packed in another way, damaged or not as long as declared, and with
 * PCAL_MEMORY, before anything is unpacked, when its declared size is beyond the limit. */
PC_CHECKED pcal_status pc_zip_unpack(const pc_input_file *bytes, const pc_zip_entry *entry,
                                     const char *name, const pcal_env *env, pc_zip_content *out,
                                     pcal_error *err);

#endif
