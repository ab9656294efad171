/* The struct behind pcal_output, shared by output_file.c and output_file_group.c. */
#ifndef PC_OUTPUT_FILE_STATE_H
#define PC_OUTPUT_FILE_STATE_H

#include "io/output_file.h"

struct pcal_output {
  pcal_env env;
  char *name;      /* as given, for messages */
  char *target;    /* symbolic links resolved; NULL if written directly */
  char *temporary; /* path in the directory of the target; exists if `named` */
  int may_be_nameless, nameless, named;
  int descriptor; /* -1: not open */
  int failure;    /* errno of the first failure, or 0 */
  char *buffer;
  size_t used;
};

pcal_status pc_output_file_fail(const char *name, int code, pcal_error *err);

/* Length of the directory part of a path, including the slash. */
size_t pc_output_file_directory(const char *path);

/* Writes all bytes, however few each call takes.  Returns 0 or an errno. */
int pc_output_file_write_all(int descriptor, const char *bytes, size_t count);

/* Gives a nameless file a temporary name; returns 0 and sets errno on failure. */
int pc_output_file_take_name(pcal_output *output);

/* Syncs the directory of a path; failures are ignored. */
void pc_output_file_sync_directory(const char *path);

#endif
