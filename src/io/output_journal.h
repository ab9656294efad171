/* Lists of files that are about to get their names together.
 *
 * Two files cannot be renamed at once.  Before the first one is, a list of all of them lies
 * beside each (.NAME.pending), on the disk.  Whoever finds these lists later, because the
 * program was killed or the power failed in between, renames what is left: the files become new
 * together.  As long as not all lists are there, nothing has been renamed, and nothing is.
 *
 * A list is followed only if it belongs to the user and nobody else could write it, and only
 * from temporary names to names in the same directory. */
#ifndef PC_OUTPUT_JOURNAL_H
#define PC_OUTPUT_JOURNAL_H

#include "base/text.h"

typedef struct pc_journal_entry {
  const char *temporary, *target;
} pc_journal_entry;

/* Writes a list beside each target, and waits until they are on the disk.  0, or an errno. */
int pc_output_journal_write(const pc_journal_entry *files, size_t count, const pcal_env *env);

/* Removes the lists. */
void pc_output_journal_remove(const pc_journal_entry *files, size_t count, const pcal_env *env);

/* Finishes what a list beside this file says, if there is one; failures are ignored. */
void pc_output_journal_replay(const char *path, const pcal_env *env);

#endif
