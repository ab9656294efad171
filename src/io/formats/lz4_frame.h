/* Unpacks LZ4 frames, the default compression of Feather files. */
#ifndef PC_LZ4_FRAME_H
#define PC_LZ4_FRAME_H

#include <stddef.h>

/* Largest ratio of unpacked to packed size: one byte more of a match length is 255 bytes. */
#define PC_LZ4_RATIO_MAX 255

/* Unpacks a frame that yields exactly `size` bytes.  Returns 0 if it does not. */
int pc_lz4_frame_unpack(const unsigned char *packed, size_t length, unsigned char *out,
                        size_t size);

#endif
