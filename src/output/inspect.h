/* What is in a file or a data set, and what in it would keep it from being measured. */
#ifndef PC_INSPECT_H
#define PC_INSPECT_H

#include "base/text.h"
#include "data/rows.h"
#include "io/reader.h"

/* problems receives the number of faults found; a file that cannot be read at all is an
 * error instead. */
PC_CHECKED pcal_status pc_inspect_file(const char *file, int header, const pcal_env *env,
                                       pcal_format format, pc_text *out, size_t *problems,
                                       pcal_error *err);
/* The same for a container as a whole: what it holds, one line each. */
PC_CHECKED pcal_status pc_inspect_members(const pc_input_file *bytes,
                                          const pc_file_format *container,
                                          const pc_name_table *names, const pcal_env *env,
                                          pcal_format format, pc_text *out, pcal_error *err);
PC_CHECKED pcal_status pc_inspect_source(pcal_source *source, const pcal_env *env,
                                         pcal_format format, pc_text *out, size_t *problems,
                                         pcal_error *err);

/* What is wrong with the rows of a data set, and with its labels. */
#define PC_FAULTS_SHOWN 5

typedef struct pc_faults {
  uint64_t rows, bad;
  pcal_error shown[PC_FAULTS_SHOWN]; /* the first of the bad ones */
  size_t classes, absent; /* classes that never occur; both 0 where labels are none */
} pc_faults;

PC_CHECKED pcal_status pc_inspect_faults(pcal_source *source, const pcal_env *env,
                                         pc_faults *out, pcal_error *err);

#endif
