/* Writes the header of a .npy file. */
#ifndef PC_NPY_WRITE_H
#define PC_NPY_WRITE_H

#include "base/error.h"

/* As pcal_npy_header_write of propercal.h, for arguments that are not NULL. */
PC_CHECKED pcal_status pc_npy_header_write(const char *type, uint64_t rows, size_t columns,
                                           pcal_sink sink, void *user, pcal_error *err);

#endif
