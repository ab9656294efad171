/* Slices of text, and their display in messages. */
#ifndef PC_SLICE_H
#define PC_SLICE_H

#include <stddef.h>

/* Borrowed; not terminated by NUL. */
typedef struct pc_slice {
  const char *bytes;
  size_t length;
} pc_slice;

#define PC_CLIP_MAX 64

pc_slice pc_slice_of(const char *text);
int pc_slice_is(pc_slice slice, const char *text);

/* Removes spaces, and the bytes in `also`, at both ends. */
pc_slice pc_slice_trim(pc_slice slice, const char *also);

/* True for an empty text, NA, NaN, nan, null and None. */
int pc_slice_is_missing(pc_slice slice);

/* True for valid UTF-8 without NUL bytes. */
int pc_slice_is_utf8(pc_slice slice);

/* Copies a slice for display: at most PC_CLIP_MAX - 1 bytes, with "..." if shortened and '?'
 * for control characters and invalid UTF-8.  Returns out. */
const char *pc_clip(pc_slice slice, char out[PC_CLIP_MAX]);

#endif
