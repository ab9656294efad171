/* Journal of the renames that commit several output files together.
 *
 * Several files cannot be renamed atomically.  Before the first rename, a journal that lists
 * all of them is written next to each target (.NAME.pending).  If the program is killed or
 * the power fails before the last rename, the next process that opens one of the files
 * replays the journal.  As long as some journals are missing, nothing has been renamed, and
 * nothing is replayed.
 *
 * A journal is replayed only if it belongs to the user and nobody else can write it, and
 * only renames temporary names to names in the same directory. */
#ifndef PC_OUTPUT_JOURNAL_H
#define PC_OUTPUT_JOURNAL_H

#include "base/text.h"

typedef struct pc_journal_entry {
  const char *temporary, *target;
} pc_journal_entry;

/* Writes a journal next to each target and syncs it.  Returns 0 or an errno. */
int pc_output_journal_write(const pc_journal_entry *files, size_t count, const pcal_env *env);

/* Removes the journals. */
void pc_output_journal_remove(const pc_journal_entry *files, size_t count, const pcal_env *env);

/* Replays the journal next to this file, if there is one; failures are ignored. */
void pc_output_journal_replay(const char *path, const pcal_env *env);

#endif
