/* Output files, written atomically: the only place that writes files. */
#ifndef PC_OUTPUT_FILE_H
#define PC_OUTPUT_FILE_H

#include "base/memory.h"

/* As the pcal_output calls of propercal.h, for arguments that are not NULL. */
PC_CHECKED pcal_status pc_output_file_open(const char *path, const pcal_env *env,
                                           pcal_output **out, pcal_error *err);
/* The same, but always with a named temporary file, as on systems without O_TMPFILE; for
 * tests. */
PC_CHECKED pcal_status pc_output_file_open_named(const char *path, const pcal_env *env,
                                                 pcal_output **out, pcal_error *err);
int pc_output_file_sink(pcal_output *output, const char *bytes, size_t count);
const char *pc_output_file_temporary(const pcal_output *output);
PC_CHECKED pcal_status pc_output_file_flush(pcal_output *output, pcal_error *err);
PC_CHECKED pcal_status pc_output_file_commit(pcal_output *output, pcal_error *err);
PC_CHECKED pcal_status pc_output_file_commit_all(pcal_output *const *outputs, size_t count,
                                                 pcal_error *err);
void pc_output_file_discard(pcal_output *output);

#endif
