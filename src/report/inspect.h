/* What is in a file or a data set, and what in it would keep it from being measured. */
#ifndef PC_INSPECT_H
#define PC_INSPECT_H

#include "core/text.h"
#include "data/rows.h"
#include "io/reader.h"

/* problems receives the number of faults found; a file that cannot be read at all is an
 * error instead. */
PC_CHECKED pcal_status pc_inspect_file(const char *file, int header, const pcal_env *env,
                                       pcal_format format, pc_text *out, size_t *problems,
                                       pcal_error *err);
/* The same for a container as a whole: what it holds, one line each. */
PC_CHECKED pcal_status pc_inspect_members(const pc_bytes *bytes, const pc_format *container,
                                          const pc_names *names, const pcal_env *env,
                                          pcal_format format, pc_text *out, pcal_error *err);
PC_CHECKED pcal_status pc_inspect_source(pcal_source *source, const pcal_env *env,
                                         pcal_format format, pc_text *out, size_t *problems,
                                         pcal_error *err);

#endif
