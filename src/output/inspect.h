/* Inspection of files and data sets: contents, and values that cannot be measured. */
#ifndef PC_INSPECT_H
#define PC_INSPECT_H

#include "base/text.h"
#include "data/rows.h"
#include "io/reader.h"

/* Describes a file; *problems: number of faults found.  Fails if the file cannot be read. */
PC_CHECKED pcal_status pc_inspect_file(const char *file, int header, const pcal_env *env,
                                       pcal_format format, pc_text *out, size_t *problems,
                                       pcal_error *err);
/* Lists the members of a container file, one on each line. */
PC_CHECKED pcal_status pc_inspect_members(const pc_input_file *bytes,
                                          const pc_file_format *container,
                                          const pc_name_table *names, const pcal_env *env,
                                          pcal_format format, pc_text *out, pcal_error *err);
/* Describes a data set; every row goes through the checks of measuring. */
PC_CHECKED pcal_status pc_inspect_source(pcal_source *source, const pcal_env *env,
                                         pcal_format format, pc_text *out, size_t *problems,
                                         pcal_error *err);

/* Faults of the rows and labels of a data set. */
#define PC_FAULTS_SHOWN 5

typedef struct pc_faults {
  uint64_t rows, bad;
  pcal_error shown[PC_FAULTS_SHOWN]; /* the first faults */
  size_t classes, absent; /* absent: classes that never occur; both 0 without labels */
} pc_faults;

PC_CHECKED pcal_status pc_inspect_faults(pcal_source *source, const pcal_env *env,
                                         pc_faults *out, pcal_error *err);

#endif
