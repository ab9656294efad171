/* Pieces of text inside a file, and their form inside a sentence. */
#ifndef PC_SLICE_H
#define PC_SLICE_H

#include <stddef.h>

/* Borrowed, without a NUL at the end. */
typedef struct pc_slice {
  const char *bytes;
  size_t length;
} pc_slice;

#define PC_CLIP_MAX 64

pc_slice pc_slice_of(const char *text);
int pc_slice_is(pc_slice slice, const char *text);

/* Without the spaces, and other bytes listed in `also`, at both ends. */
pc_slice pc_slice_trim(pc_slice slice, const char *also);

/* Empty, NA, NaN, nan, null or None. */
int pc_slice_is_missing(pc_slice slice);

/* Valid UTF-8 without NUL bytes. */
int pc_slice_is_utf8(pc_slice slice);

/* Holds semicolons but no commas, as a whole line whose cells semicolons separate. */
int pc_slice_has_only_semicolons(pc_slice slice);

#define PC_SEMICOLON_REMEDY "save the file with commas, or with tabs as .tsv"

/* Copies what can be shown: at most PC_CLIP_MAX - 1 bytes, "..." at the end when shortened,
 * '?' in place of control characters and broken UTF-8.  Returns out. */
const char *pc_clip(pc_slice slice, char out[PC_CLIP_MAX]);

#endif
