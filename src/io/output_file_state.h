/* Inside an output file, for the files that commit it: output_file.c and output_file_group.c. */
#ifndef PC_OUTPUT_FILE_STATE_H
#define PC_OUTPUT_FILE_STATE_H

#include "io/output_file.h"

struct pcal_output {
  pcal_env env;
  char *name;      /* as given, for sentences */
  char *target;    /* links resolved; NULL when written directly */
  char *temporary; /* a name beside the target, in use if `named` */
  int may_be_nameless, nameless, named;
  int descriptor; /* -1: not open */
  int failure;    /* errno of the first failure, or 0 */
  char *buffer;
  size_t used;
};

pcal_status pc_output_file_fail(const char *name, int code, pcal_error *err);

/* Bytes of the directory part, with the slash. */
size_t pc_output_file_directory(const char *path);

/* Gives a file without a name a temporary one; 0 when that fails, with errno. */
int pc_output_file_take_name(pcal_output *output);

/* Makes changes of names in the directory of a path last; not every file system can do it. */
void pc_output_file_sync_directory(const char *path);

#endif
